// Six factors a patch out of a table: each edge has its own.
#version 450

layout(vertices = 4) out;

layout(location = 0) in vec3 point[];
layout(location = 1) in int patch_number[];
layout(location = 0) out vec3 points[];

layout(std430, set = 0, binding = 0) readonly buffer Table { float factors[]; };

void main() {
    points[gl_InvocationID] = point[gl_InvocationID];
    if (gl_InvocationID == 0) {
        int first = 6 * patch_number[0];
        gl_TessLevelOuter[0] = factors[first];
        gl_TessLevelOuter[1] = factors[first + 1];
        gl_TessLevelOuter[2] = factors[first + 2];
        gl_TessLevelOuter[3] = factors[first + 3];
        gl_TessLevelInner[0] = factors[first + 4];
        gl_TessLevelInner[1] = factors[first + 5];
    }
}
