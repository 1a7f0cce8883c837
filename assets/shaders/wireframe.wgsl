// The edges of triangles that have been drawn, over them. Each corner needs to know which corner of its triangle it is, so
// that vertices do not come through the index buffer but are read from both buffers by hand.

@group(0) @binding(0) var<storage, read> vertices: array<u32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;

// Layout of a vertex, in words.
override vertex_words: u32;
override position_word: u32;

// Colour of the lines, linear, and how much they cover.
override red: f32;
override green: f32;
override blue: f32;
override strength: f32;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) corner: vec3f,
}

@vertex
fn vertex_main(@builtin(vertex_index) k: u32) -> Corner {
    let at = indices[k] * vertex_words + position_word;
    let position = bitcast<vec4f>(vec4u(vertices[at], vertices[at + 1u], vertices[at + 2u], vertices[at + 3u]));
    return Corner(position, vec3f(f32(k % 3u == 0u), f32(k % 3u == 1u), f32(k % 3u == 2u)));
}

// Half the width of a line in pixels; the neighbouring triangle draws the other side of it.
const HALF_WIDTH: f32 = 0.55;

@fragment
fn fragment_main(surface: Corner) -> @location(0) vec4f {
    // Distance to each edge in pixels.
    let slope = sqrt(dpdx(surface.corner) * dpdx(surface.corner) + dpdy(surface.corner) * dpdy(surface.corner));
    let away = surface.corner / max(slope, vec3f(1e-9));
    let nearest = min(away.x, min(away.y, away.z));
    let line = 1.0 - smoothstep(HALF_WIDTH - 0.5, HALF_WIDTH + 0.5, nearest);
    // Triangles of a few pixels would be all line; there the lines fade.
    let height = 1.0 / max(slope.x, max(slope.y, slope.z));
    return vec4f(red, green, blue, line * strength * smoothstep(0.5, 5.0, height));
}
