// Curved point-normal triangles, from the paper's formulas (Vlachos, Peters, Boyd, Mitchell, 2001): a cubic triangle for
// positions, a quadratic one for normals. The paper's w, u, v are here a, b, c, the shares of the three corners.
#version 450

layout(triangles, SPACING, cw) in;

layout(location = 0) in vec3 corners[];
layout(location = 1) in vec3 normals[];
layout(location = 2) patch in int number;

layout(std430, set = 0, binding = 1) buffer Count { uint count; };
layout(std430, set = 0, binding = 2) writeonly buffer Captured { uvec4 captured[]; };

// The control point next to corner i on the edge to corner j: b210 and its like.
vec3 edge_point(int i, int j) {
    float w = dot(corners[j] - corners[i], normals[i]);
    return (2.0 * corners[i] + corners[j] - w * normals[i]) / 3.0;
}

// n110 and its like.
vec3 edge_normal(int i, int j) {
    vec3 along = corners[j] - corners[i];
    vec3 both = normals[i] + normals[j];
    float v = 2.0 * dot(along, both) / dot(along, along);
    return normalize(both - v * along);
}

void main() {
    float a = gl_TessCoord.x;
    float b = gl_TessCoord.y;
    float c = gl_TessCoord.z;
    vec3 b210 = edge_point(0, 1);
    vec3 b120 = edge_point(1, 0);
    vec3 b021 = edge_point(1, 2);
    vec3 b012 = edge_point(2, 1);
    vec3 b102 = edge_point(2, 0);
    vec3 b201 = edge_point(0, 2);
    vec3 middle = (b210 + b120 + b021 + b012 + b102 + b201) / 6.0;
    vec3 b111 = middle + (middle - (corners[0] + corners[1] + corners[2]) / 3.0) / 2.0;
    vec3 position = corners[0] * a * a * a + corners[1] * b * b * b + corners[2] * c * c * c
        + 3.0 * (b210 * a * a * b + b120 * a * b * b + b021 * b * b * c + b012 * b * c * c + b102 * a * c * c
            + b201 * a * a * c)
        + 6.0 * b111 * a * b * c;
    vec3 normal = normalize(
        normals[0] * a * a + normals[1] * b * b + normals[2] * c * c + edge_normal(0, 1) * a * b
            + edge_normal(1, 2) * b * c + edge_normal(2, 0) * c * a
    );
    gl_Position = vec4(position, 1.0);
    uint place = 3u * atomicAdd(count, 1u);
    if (place + 2u < uint(captured.length())) {
        captured[place] = uvec4(floatBitsToUint(gl_TessCoord), uint(number));
        captured[place + 1u] = uvec4(floatBitsToUint(position), 0u);
        captured[place + 2u] = uvec4(floatBitsToUint(normal), 0u);
    }
}
