// The surface of assets/shaders/grid.wgsl: position and normal of a bicubic Bézier patch. With WRITE, 32 bytes an invocation
// go to a ring buffer; with CAPTURE, 48 bytes with location and patch.
#version 450

layout(quads, SPACING, cw) in;

layout(location = 0) in vec3 points[];

layout(push_constant) uniform Camera { mat4 clip_from_world; };

layout(location = 0) out vec3 normal_out;

#ifdef WRITE
layout(std430, set = 0, binding = 1) buffer Count { uint count; };
layout(std430, set = 0, binding = 2) writeonly buffer Ring { vec4 ring[]; };
#endif
#ifdef CAPTURE
layout(location = 1) patch in int number;
layout(std430, set = 0, binding = 1) buffer Count { uint count; };
layout(std430, set = 0, binding = 2) writeonly buffer Captured { uvec4 captured[]; };
#endif

vec4 bernstein(float t) {
    float s = 1.0 - t;
    return vec4(s * s * s, 3.0 * t * s * s, 3.0 * t * t * s, t * t * t);
}

vec4 slope(float t) {
    float s = 1.0 - t;
    return 3.0 * vec4(-s * s, s * s - 2.0 * t * s, 2.0 * t * s - t * t, t * t);
}

void main() {
    vec4 u = bernstein(gl_TessCoord.x);
    vec4 du = slope(gl_TessCoord.x);
    vec4 v = bernstein(gl_TessCoord.y);
    vec4 dv = slope(gl_TessCoord.y);
    vec3 position = vec3(0.0);
    vec3 along_u = vec3(0.0);
    vec3 along_v = vec3(0.0);
    for (int row = 0; row < 4; row++) {
        vec3 p0 = points[4 * row];
        vec3 p1 = points[4 * row + 1];
        vec3 p2 = points[4 * row + 2];
        vec3 p3 = points[4 * row + 3];
        vec3 curve = u.x * p0 + u.y * p1 + u.z * p2 + u.w * p3;
        position += v[row] * curve;
        along_v += dv[row] * curve;
        along_u += v[row] * (du.x * p0 + du.y * p1 + du.z * p2 + du.w * p3);
    }
    vec3 normal = normalize(cross(along_u, along_v));
    normal_out = normal;
    gl_Position = clip_from_world * vec4(position, 1.0);
#ifdef WRITE
    // A power of two of vertices, so that the ring turns by a mask.
    uint place = 2u * (atomicAdd(count, 1u) & (uint(ring.length()) / 2u - 1u));
    ring[place] = vec4(position, normal.x);
    ring[place + 1u] = vec4(normal.yz, 0.0, 0.0);
#endif
#ifdef CAPTURE
    uint place = 3u * atomicAdd(count, 1u);
    if (place + 2u < uint(captured.length())) {
        captured[place] = uvec4(floatBitsToUint(gl_TessCoord), uint(number));
        captured[place + 1u] = uvec4(floatBitsToUint(position), 0u);
        captured[place + 2u] = uvec4(floatBitsToUint(normal), 0u);
    }
#endif
}
