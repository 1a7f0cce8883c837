// Draws the meshes of the viewer. Vertices are fetched here, so that any output struct will do, and each knows its patch.
// For wires each index is a vertex of its own, so that a triangle knows its corners.

struct View {
    clip_from_world: mat4x4f,
    eye: vec3f,
    shading: u32,
    // Towards the light.
    key: vec3f,
    wireframe: u32,
    // Linear, as all colours here.
    color: vec3f,
    // Corners of a primitive.
    corners: u32,
    // -1 where positions are in clip space, whose z goes away from the eye.
    mirror: f32,
    is_flat: u32,
}

// Where members lie in a vertex, in words, and how many components they have; none where there are none.
override stride: u32;
override position_at: u32;
override position_components: u32;
override normal_at: u32;
override normal_components: u32;
override color_at: u32;
override color_components: u32;
// Whether the draw has an index buffer, and the vertex is told rather than where in the indices it stands.
override is_indexed: bool;
// Whether the target takes what is written as it is, so that it has to be encoded as sRGB here.
override encodes: bool;

const LIT: u32 = 0u;
const PATCHES: u32 = 1u;
const MODES: u32 = 2u;

const ON_CHIP: vec3f = vec3f(0.107, 0.305, 0.672);
const OFF_CHIP: vec3f = vec3f(0.871, 0.262, 0.045);

@group(0) @binding(0) var<uniform> view: View;
@group(1) @binding(0) var<storage, read> vertices: array<u32>;
@group(1) @binding(1) var<storage, read> indices: array<u32>;
// Of each vertex its patch, and in the highest bit whether that went off-chip.
@group(1) @binding(2) var<storage, read> patches: array<u32>;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) @interpolate(perspective, centroid) normal: vec3f,
    @location(2) color: vec3f,
    // Which of the triangle's corners, for the distance to its edges.
    @location(3) corner: vec3f,
    @location(4) @interpolate(flat) patch_bits: u32,
}

fn member(vertex: u32, at: u32, components: u32, missing: vec4f) -> vec4f {
    var value = missing;
    for (var i = 0u; i < min(components, 4u); i++) {
        value[i] = bitcast<f32>(vertices[vertex * stride + at + i]);
    }
    return value;
}

@vertex
fn view_vertex(@builtin(vertex_index) number: u32) -> Corner {
    var vertex = number;
    if !is_indexed {
        vertex = indices[number];
    }
    var corner: Corner;
    let position = member(vertex, position_at, position_components, vec4f(0.0, 0.0, 0.0, 1.0));
    corner.world = position.xyz;
    if view.mirror < 0.0 {
        corner.world = position.xyz / position.w * vec3f(1.0, 1.0, -1.0);
    }
    corner.clip = view.clip_from_world * vec4f(corner.world, 1.0);
    corner.normal = member(vertex, normal_at, normal_components, vec4f()).xyz * vec3f(1.0, 1.0, view.mirror);
    corner.color = view.color;
    if color_components != 0u {
        corner.color = member(vertex, color_at, color_components, vec4f()).xyz;
    }
    corner.corner[number % 3u] = 1.0;
    corner.patch_bits = patches[vertex];
    return corner;
}

// A colour for a number, far from those of the numbers next to it.
fn palette(number: u32) -> vec3f {
    // By the golden ratio, in 32 bits: neighbours lie as far apart on the circle as can be.
    let hue = f32(number * 2654435769u) / 4294967296.0;
    let light = 0.75 + 0.25 * f32((number * 1640531527u) >> 31u);
    return light * (0.42 + 0.32 * cos(6.2831853 * (vec3f(hue) + vec3f(0.0, 0.67, 0.33))));
}

fn encoded(color: vec3f) -> vec3f {
    let light = clamp(color, vec3f(0.0), vec3f(1.0));
    return select(1.055 * pow(light, vec3f(1.0 / 2.4)) - 0.055, light * 12.92, light <= vec3f(0.0031308));
}

@fragment
fn view_fragment(corner: Corner) -> @location(0) vec4f {
    // Derivatives come first, where control flow is still uniform.
    let across = cross(dpdx(corner.world), dpdy(corner.world));
    let slope = sqrt(dpdx(corner.corner) * dpdx(corner.corner) + dpdy(corner.corner) * dpdy(corner.corner));

    var color = corner.color;
    if view.shading == PATCHES {
        color = palette(corner.patch_bits & 0x7fffffffu);
    } else if view.shading == MODES {
        color = select(ON_CHIP, OFF_CHIP, (corner.patch_bits >> 31u) != 0u);
    }
    if view.corners == 3u && !(view.is_flat != 0u && view.shading == LIT) {
        let has_normal = normal_components != 0u && dot(corner.normal, corner.normal) > 1e-30;
        var normal = select(across, corner.normal, has_normal);
        normal *= inverseSqrt(max(dot(normal, normal), 1e-30));
        // Both sides are seen, and the normal of the side that is seen is on the eye's side of the triangle. The triangle
        // tells, since at an outline the normal itself may already point away.
        let away = normalize(corner.world - view.eye);
        let towards = select(across, -across, dot(across, away) > 0.0);
        normal = select(normal, -normal, dot(normal, towards) < 0.0);
        let key = max(dot(normal, view.key), 0.0);
        let facing = max(dot(normal, -away), 0.0);
        let gloss = 0.25 * pow(max(dot(normal, normalize(view.key - away)), 0.0), 60.0);
        color = color * (0.75 * key + 0.3 * facing + 0.1) + select(0.0, gloss, view.shading == LIT);
    }
    if view.wireframe != 0u && view.corners == 3u {
        // Distance to each edge in pixels; the neighbouring triangle draws the other side of a line.
        let edges = corner.corner / max(slope, vec3f(1e-9));
        let nearest = min(edges.x, min(edges.y, edges.z));
        let line = 1.0 - smoothstep(0.1, 1.1, nearest);
        // Triangles of a few pixels would be all line; there the lines fade.
        let height = 1.0 / max(slope.x, max(slope.y, slope.z));
        color = mix(color, color * 0.12, line * 0.9 * smoothstep(1.0, 6.0, height));
    }
    return vec4f(select(color, encoded(color), encodes), 1.0);
}
