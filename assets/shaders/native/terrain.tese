// Height over a flat grid, as in terrain.wgsl.
#version 450

layout(quads, SPACING, cw) in;

layout(location = 0) in vec3 points[];

layout(push_constant) uniform Camera { mat4 clip_from_world; };

layout(location = 0) out vec3 normal_out;

void main() {
    vec2 at = mix(mix(points[0].xy, points[1].xy, gl_TessCoord.x), mix(points[2].xy, points[3].xy, gl_TessCoord.x),
        gl_TessCoord.y);
    float height = 0.35 * sin(1.7 * at.x) * cos(1.3 * at.y) + 0.11 * sin(4.1 * at.x + 1.0) * sin(3.7 * at.y);
    float along_x = 0.595 * cos(1.7 * at.x) * cos(1.3 * at.y) + 0.451 * cos(4.1 * at.x + 1.0) * sin(3.7 * at.y);
    float along_y = -0.455 * sin(1.7 * at.x) * sin(1.3 * at.y) + 0.407 * sin(4.1 * at.x + 1.0) * cos(3.7 * at.y);
    normal_out = normalize(vec3(-along_x, -along_y, 1.0));
    gl_Position = clip_from_world * vec4(at, height, 1.0);
}
