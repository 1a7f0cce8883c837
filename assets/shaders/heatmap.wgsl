// Water with the rings of a few drops, as patches of the quad domain whose factors differ much: near and bent they are high.

struct Settings {
    clip_from_world: mat4x4f,
    eye: vec3f,
    // Pixels that one unit of length covers at distance 1 from the eye.
    pixels_per_unit: f32,
    // How far from the surface a chord may be, in pixels.
    tolerance: f32,
    patches_per_threadgroup: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;

// Patches along a side, a power of two, and length of a side.
const SIDE: u32 = 32u;
const LENGTH: f32 = 8.0;

struct Corner {
    // In patches from the water's corner.
    grid: vec2f,
}

struct PatchConstants {
    factors: QuadFactors,
}

struct Surface {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(perspective, centroid) world_position: vec3f,
    @location(1) @interpolate(perspective, centroid) normal: vec3f,
    @location(2) grid: vec2f,
    // Patches are drawn in this order.
    @location(3) @interpolate(flat) patch_id: u32,
}

// Every second bit of a number.
fn even_bits(bits: u32) -> u32 {
    var found = bits & 0x55555555u;
    found = (found | (found >> 1u)) & 0x33333333u;
    found = (found | (found >> 2u)) & 0x0f0f0f0fu;
    found = (found | (found >> 4u)) & 0x00ff00ffu;
    return (found | (found >> 8u)) & 0x0000ffffu;
}

// Patches go along a Z curve rather than row by row: those of a threadgroup, which follow one another, lie together.
fn vertex(id: VertexId) -> Corner {
    let patch_id = id.vertex_index / 4u;
    let cell = vec2u(even_bits(patch_id), even_bits(patch_id >> 1u));
    return Corner(vec2f(cell + vec2u(id.vertex_index >> 1u, id.vertex_index) % 2u));
}

fn hull(point: u32, patch_id: u32) -> Corner {
    return input_point(point);
}

// Where a drop fell, how high its rings are and how far they have come.
const DROPS = array<vec4f, 3>(vec4f(0.4, -1.3, 0.20, 1.5), vec4f(-2.0, 0.9, 0.15, 1.1), vec4f(2.3, 1.6, 0.12, 0.9));
// Of the rings: 2 pi over their distance.
const NARROW: f32 = 13.0;

// The water's slope in x and y, and its height.
fn water(place: vec2f) -> vec3f {
    var drops = DROPS;
    var sum = vec3f(0.0, 0.0, 0.0);
    for (var k = 0; k < 3; k++) {
        let from_drop = place - drops[k].xy;
        let r = length(from_drop);
        let fade = drops[k].z * exp(-r * r / (drops[k].w * drops[k].w));
        let height = fade * cos(NARROW * r);
        let slope = -fade * NARROW * sin(NARROW * r) - 2.0 * r / (drops[k].w * drops[k].w) * height;
        sum += vec3f(slope * from_drop / max(r, 1e-6), height);
    }
    return sum;
}

fn place_of(grid: vec2f) -> vec2f {
    let away = (grid / f32(SIDE) - 0.5) * LENGTH;
    return vec2f(away.x, -away.y);
}

const STEPS: i32 = 4;

// The factor of an edge: as many segments as keep it within the tolerance. Always from the corner with the lesser
// coordinates, so that the patches on both sides get the same bits.
fn edge_factor(a: u32, b: u32) -> f32 {
    let start = min(output_point(a).grid, output_point(b).grid);
    let end = max(output_point(a).grid, output_point(b).grid);
    let step = (end - start) / f32(STEPS);
    var before = water(place_of(start)).z;
    var here = water(place_of(start + step)).z;
    var bend = 0.0;
    for (var k = 2; k <= STEPS; k++) {
        let next = water(place_of(start + f32(k) * step)).z;
        bend = max(bend, abs((next - here) - (here - before)));
        before = here;
        here = next;
    }
    let away = distance(vec3f(place_of(0.5 * (start + end)), 0.0), settings.eye);
    // `bend` is the second difference over a step; a chord over 1/n of the edge is off by up to (STEPS/n)^2 / 8 of it.
    let bend_pixels = bend * settings.pixels_per_unit / away;
    return max(f32(STEPS) * sqrt(bend_pixels / (8.0 * settings.tolerance)), 1.0);
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    // In the order U==0, V==0, U==1, V==1.
    let edges = vec4f(edge_factor(0u, 1u), edge_factor(0u, 2u), edge_factor(2u, 3u), edge_factor(1u, 3u));
    return PatchConstants(QuadFactors(edges, vec2f(max(edges.y, edges.w), max(edges.x, edges.z))));
}

fn domain(location: vec2f, patch_id: u32) -> Surface {
    let grid = output_point(0u).grid + location;
    let place = place_of(grid);
    let found = water(place);
    let world_position = vec3f(place, found.z);
    return Surface(
        settings.clip_from_world * vec4f(world_position, 1.0),
        world_position,
        normalize(vec3f(-found.xy, 1.0)),
        grid,
        patch_id,
    );
}
