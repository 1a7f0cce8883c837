// The same surface with the edges of its triangles. Each corner needs to know which corner of its triangle it is, so that
// vertices are not taken through the index buffer but read from both buffers by hand. No feature is needed for it.

@group(1) @binding(0) var<storage, read> wire_vertices: array<u32>;
@group(1) @binding(1) var<storage, read> wire_indices: array<u32>;

// Layout of a vertex, in words.
override wire_stride: u32;
override wire_position: u32;
override wire_world_position: u32;
override wire_normal: u32;

struct WireSurface {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(perspective, centroid) world_position: vec3f,
    @location(1) @interpolate(perspective, centroid) normal: vec3f,
    @location(2) corner: vec3f,
}

fn wire_word(at: u32) -> f32 {
    return bitcast<f32>(wire_vertices[at]);
}

fn wire_vector(at: u32) -> vec3f {
    return vec3f(wire_word(at), wire_word(at + 1u), wire_word(at + 2u));
}

@vertex
fn wire_vertex(@builtin(vertex_index) k: u32) -> WireSurface {
    let first = wire_indices[k] * wire_stride;
    let position = first + wire_position;
    return WireSurface(
        vec4f(wire_vector(position), wire_word(position + 3u)),
        wire_vector(first + wire_world_position),
        wire_vector(first + wire_normal),
        vec3f(f32(k % 3u == 0u), f32(k % 3u == 1u), f32(k % 3u == 2u)),
    );
}

const WIRE: vec3f = vec3f(0.80, 0.90, 0.93);
// Half the width of a line in pixels; the neighbouring triangle draws the other side of it.
const WIRE_HALF: f32 = 0.55;

@fragment
fn wire_fragment(surface: WireSurface, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let normal = select(-surface.normal, surface.normal, is_front);
    let light = tone(glaze(surface.world_position, normal, !is_front));
    // Distance to each edge in pixels.
    let slope = sqrt(dpdx(surface.corner) * dpdx(surface.corner) + dpdy(surface.corner) * dpdy(surface.corner));
    let away = surface.corner / max(slope, vec3f(1e-9));
    let nearest = min(away.x, min(away.y, away.z));
    let line = 1.0 - smoothstep(WIRE_HALF - 0.5, WIRE_HALF + 0.5, nearest);
    // Triangles of a few pixels would be all line; there the lines fade.
    let height = 1.0 / max(slope.x, max(slope.y, slope.z));
    let strength = select(0.75, 0.3, !is_front) * smoothstep(1.0, 7.0, height);
    return vec4f(mix(light, WIRE, line * strength), 1.0);
}
