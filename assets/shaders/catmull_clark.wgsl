// A bicubic Bézier patch of a subdivision surface. Point 4 r + c lies in row r and column c; u goes along the rows and v
// down the columns. tess_… are functions of patchwave's library.

struct Settings {
    clip_from_world: mat4x4f,
    eye: vec3f,
    // Pixels that one unit of length covers at distance 1 from the eye.
    pixels_per_unit: f32,
    // Wanted length of a segment in pixels.
    segment_pixels: f32,
}

@group(0) @binding(0) var<uniform> settings: Settings;

struct ControlPoint {
    @location(0) position: vec3f,
}

struct PatchConstants {
    factors: QuadFactors,
}

struct Surface {
    @builtin(position) position: vec4f,
    // Centroid, so that at the outline nothing is shaded with a normal from beyond it.
    @location(0) @interpolate(perspective, centroid) world_position: vec3f,
    @location(1) @interpolate(perspective, centroid) normal: vec3f,
}

fn vertex(point: ControlPoint) -> ControlPoint {
    return point;
}

// From the edge's own four points: the same from both sides.
fn edge_factor(first: u32, step: u32) -> f32 {
    return tess_edge_curve(
        input_point(first).position,
        input_point(first + step).position,
        input_point(first + 2u * step).position,
        input_point(first + 3u * step).position,
        settings.eye,
        settings.pixels_per_unit,
        settings.segment_pixels,
    );
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    // In the order U==0, V==0, U==1, V==1.
    let edges = vec4f(edge_factor(0u, 4u), edge_factor(0u, 1u), edge_factor(3u, 4u), edge_factor(12u, 1u));
    return PatchConstants(QuadFactors(edges, vec2f(max(edges.y, edges.w), max(edges.x, edges.z))));
}

fn blend_row(row: u32, weights: vec4f) -> vec3f {
    let first = 4u * row;
    return tess_blend(
        output_point(first).position,
        output_point(first + 1u).position,
        output_point(first + 2u).position,
        output_point(first + 3u).position,
        weights,
    );
}

fn blend_patch(u: vec4f, v: vec4f) -> vec3f {
    return tess_blend(blend_row(0u, u), blend_row(1u, u), blend_row(2u, u), blend_row(3u, u), v);
}

fn domain(location: vec2f, patch_id: u32) -> Surface {
    let u = tess_bernstein(location.x);
    let v = tess_bernstein(location.y);
    let along_u = blend_patch(tess_bernstein_derivative(location.x), v);
    let along_v = blend_patch(u, tess_bernstein_derivative(location.y));
    let world_position = blend_patch(u, v);
    return Surface(
        settings.clip_from_world * vec4f(world_position, 1.0),
        world_position,
        normalize(cross(along_u, along_v)),
    );
}
