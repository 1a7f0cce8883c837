// The surface of assets/shaders/teapot.wgsl: a bicubic Bézier patch, whose edges may be pinched to a point.
#version 450

layout(quads, SPACING, cw) in;

layout(location = 0) in vec3 points[];

layout(push_constant) uniform Camera { mat4 clip_from_world; };

layout(location = 0) out vec3 normal_out;

vec4 bernstein(float t) {
    float s = 1.0 - t;
    return vec4(s * s * s, 3.0 * t * s * s, 3.0 * t * t * s, t * t * t);
}

vec4 slope(float t) {
    float s = 1.0 - t;
    return 3.0 * vec4(-s * s, s * s - 2.0 * t * s, 2.0 * t * s - t * t, t * t);
}

vec3 blend(vec4 u, vec4 v) {
    vec3 sum = vec3(0.0);
    for (int row = 0; row < 4; row++) {
        sum += v[row]
            * (u.x * points[4 * row] + u.y * points[4 * row + 1] + u.z * points[4 * row + 2] + u.w * points[4 * row + 3]);
    }
    return sum;
}

void main() {
    float x = gl_TessCoord.x;
    float y = gl_TessCoord.y;
    vec3 position = blend(bernstein(x), bernstein(y));
    vec3 along_u = blend(slope(x), bernstein(y));
    vec3 along_v = blend(bernstein(x), slope(y));
    // On a pinched edge the direction is that of the mixed derivative, turned on edges 1.
    float small = 1e-4 * distance(points[0], points[15]);
    if (length(along_u) < small) {
        along_u = blend(slope(x), slope(y)) * (y < 0.5 ? 1.0 : -1.0);
    }
    if (length(along_v) < small) {
        along_v = blend(slope(x), slope(y)) * (x < 0.5 ? 1.0 : -1.0);
    }
    vec3 normal = cross(along_u, along_v);
    float size = length(normal);
    normal_out = size > 0.0 ? normal / size : vec3(0.0, 0.0, 1.0);
    gl_Position = clip_from_world * vec4(position, 1.0);
}
