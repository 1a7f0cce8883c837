// A light from the left above, and the normal as a tint.
#version 450

layout(location = 0) in vec3 normal;

layout(location = 0) out vec4 color;

void main() {
    vec3 n = normalize(normal);
    float light = 0.35 + 0.65 * max(dot(n, vec3(-0.48, -0.6, 0.64)), 0.0);
    color = vec4(light * (0.6 + 0.4 * n), 1.0);
}
