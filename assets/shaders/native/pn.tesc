// Corners as they are, one factor for all edges and the inside.
#version 450

layout(vertices = 3) out;

layout(location = 0) in vec4 point_and_factor[];
layout(location = 1) in vec3 point_normal[];
layout(location = 2) in int patch_number[];
layout(location = 0) out vec3 corners[];
layout(location = 1) out vec3 normals[];
layout(location = 2) patch out int number;

void main() {
    corners[gl_InvocationID] = point_and_factor[gl_InvocationID].xyz;
    normals[gl_InvocationID] = point_normal[gl_InvocationID];
    if (gl_InvocationID == 0) {
        float factor = point_and_factor[0].w;
        gl_TessLevelOuter[0] = factor;
        gl_TessLevelOuter[1] = factor;
        gl_TessLevelOuter[2] = factor;
        gl_TessLevelInner[0] = factor;
        number = patch_number[0];
    }
}
