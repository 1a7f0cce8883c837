// Hands the domain location out: appended to a buffer, and with FEEDBACK as what transform feedback takes of each
// primitive. DOMAIN, SPACING and ORDER are GLSL's own words.
#version 450

layout(DOMAIN, SPACING, ORDER) in;

layout(location = 0) patch in int number;

layout(std430, set = 0, binding = 1) buffer Count { uint count; };
layout(std430, set = 0, binding = 2) writeonly buffer Points { uvec4 points[]; };

#ifdef FEEDBACK
layout(location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) flat out uvec4 vertex;
#endif

void main() {
    uvec4 point = uvec4(floatBitsToUint(gl_TessCoord), uint(number));
    uint place = atomicAdd(count, 1u);
    if (place < uint(points.length())) {
        points[place] = point;
    }
#ifdef FEEDBACK
    vertex = point;
#endif
    gl_Position = vec4(gl_TessCoord.xy, 0.0, 1.0);
}
