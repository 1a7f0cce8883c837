// One control point a patch: its number.
#version 450

layout(location = 0) out int patch_number;

void main() {
    patch_number = gl_VertexIndex;
    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
}
