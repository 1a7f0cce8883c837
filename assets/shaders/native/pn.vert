// Corners of PN triangles: position and normal, with the patch's number and factor.
#version 450

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;

layout(location = 0) out vec4 point_and_factor;
layout(location = 1) out vec3 point_normal;
layout(location = 2) out int patch_number;

layout(std430, set = 0, binding = 0) readonly buffer Table { float factors[]; };

void main() {
    point_and_factor = vec4(position, factors[gl_VertexIndex / 3]);
    point_normal = normal;
    patch_number = gl_VertexIndex / 3;
}
