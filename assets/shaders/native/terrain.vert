// Corners of square patches on the ground, four a patch.
#version 450

layout(location = 0) in vec3 position;

layout(location = 0) out vec3 point;
layout(location = 1) out int patch_number;

void main() {
    point = position;
    patch_number = gl_VertexIndex / 4;
}
