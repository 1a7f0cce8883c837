// Control points of bicubic patches, 16 a patch, each with its patch's factor.
#version 450

layout(location = 0) in vec3 position;

layout(location = 0) out vec4 point_and_factor;
#ifdef CAPTURE
layout(location = 1) out int patch_number;
#endif

layout(std430, set = 0, binding = 0) readonly buffer Table { float factors[]; };

void main() {
    point_and_factor = vec4(position, factors[gl_VertexIndex / 16]);
#ifdef CAPTURE
    patch_number = gl_VertexIndex / 16;
#endif
}
