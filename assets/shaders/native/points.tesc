// Factors out of a table, by the number that the vertex stage handed on: lavapipe's gl_PrimitiveID starts again at 0
// every few thousand control points.
#version 450

layout(vertices = 1) out;

layout(location = 0) in int patch_number[];
layout(location = 0) patch out int number;

// Four outer and two inner factors a patch, as bits: NaNs and all.
layout(std430, set = 0, binding = 0) readonly buffer Table { uint factors[]; };

void main() {
    int first = 6 * patch_number[0];
    number = patch_number[0];
    for (int i = 0; i < 4; i++) {
        gl_TessLevelOuter[i] = uintBitsToFloat(factors[first + i]);
    }
    for (int i = 0; i < 2; i++) {
        gl_TessLevelInner[i] = uintBitsToFloat(factors[first + 4 + i]);
    }
}
