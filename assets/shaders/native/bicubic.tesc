// Control points as they are, one factor for all edges and the inside.
#version 450

layout(vertices = 16) out;

layout(location = 0) in vec4 point_and_factor[];
layout(location = 0) out vec3 points[];
#ifdef CAPTURE
layout(location = 1) in int patch_number[];
layout(location = 1) patch out int number;
#endif

void main() {
    points[gl_InvocationID] = point_and_factor[gl_InvocationID].xyz;
    if (gl_InvocationID == 0) {
        float factor = point_and_factor[0].w;
        gl_TessLevelOuter[0] = factor;
        gl_TessLevelOuter[1] = factor;
        gl_TessLevelOuter[2] = factor;
        gl_TessLevelOuter[3] = factor;
        gl_TessLevelInner[0] = factor;
        gl_TessLevelInner[1] = factor;
#ifdef CAPTURE
        number = patch_number[0];
#endif
    }
}
