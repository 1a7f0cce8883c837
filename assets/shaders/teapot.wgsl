// Bicubic Bézier patches on the quad domain: 16 control points each, edge factors by size on screen, analytic normals.
//
// Control point 4 r + c is in row r and column c; u goes along the rows and v down the columns.

struct Settings {
    clip_from_world: mat4x4f,
    eye: vec3f,
    // Pixels that one unit of length covers at distance 1 from the eye.
    pixels_per_unit: f32,
    // Wanted length of a segment in pixels.
    segment_pixels: f32,
    // The factor of all edges and insides, where factors are not chosen by size.
    factor: f32,
    is_factor_fixed: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;

struct Attributes {
    @location(0) position: vec3f,
}

struct ControlPoint {
    position: vec3f,
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

fn vertex(attributes: Attributes) -> ControlPoint {
    return ControlPoint(attributes.position);
}

// The control points are those of the Bézier basis already; a hull function that changes basis would do it here.
fn hull(point: u32, patch_id: u32) -> ControlPoint {
    return input_point(point);
}

// tess_… are functions of patchwave's library. What they compute of an edge follows from its own points alone and is the
// same from either end, bit for bit, so that the two patches on it agree and no crack opens between them.

// An edge's factor: by the size of the edge turned to face the eye, since seen end-on it still curves sideways.
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
    if settings.is_factor_fixed != 0u {
        return PatchConstants(QuadFactors(vec4f(settings.factor), vec2f(settings.factor)));
    }
    // In the order U==0, V==0, U==1, V==1.
    let edges = vec4f(edge_factor(0u, 4u), edge_factor(0u, 1u), edge_factor(3u, 4u), edge_factor(12u, 1u));
    // Along U run the edges V==0 and V==1, along V the others.
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

// A derivative this much shorter than the patch is large is rounding, not direction.
const PINCHED: f32 = 1e-4;

fn domain(location: vec2f, patch_id: u32) -> Surface {
    let u = tess_bernstein(location.x);
    let v = tess_bernstein(location.y);
    let du = tess_bernstein_derivative(location.x);
    let dv = tess_bernstein_derivative(location.y);
    var along_u = blend_patch(du, v);
    var along_v = blend_patch(u, dv);
    // Where an edge is pinched to a point, as at the lid's top, the derivative along it vanishes. A little way inside it
    // points where the mixed derivative does: the same way from edges 0, the other way from edges 1.
    let size = distance(output_point(0u).position, output_point(15u).position);
    if length(along_u) < PINCHED * size {
        along_u = blend_patch(du, dv) * select(-1.0, 1.0, location.y < 0.5);
    }
    if length(along_v) < PINCHED * size {
        along_v = blend_patch(du, dv) * select(-1.0, 1.0, location.x < 0.5);
    }
    let normal = cross(along_u, along_v);
    let size_squared = dot(normal, normal);

    let world_position = blend_patch(u, v);
    return Surface(
        settings.clip_from_world * vec4f(world_position, 1.0),
        world_position,
        // A patch that is a line or a point has no normal; any will do, and none may be NaN.
        select(vec3f(0.0, 0.0, 1.0), normal * inverseSqrt(size_squared), size_squared > 0.0),
    );
}
