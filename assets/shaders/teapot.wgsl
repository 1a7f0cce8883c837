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

// An edge's factor follows from its own four points alone and is the same from either end, so that the two patches on it
// agree and no crack opens between them. What is measured is the edge turned to face the eye: seen end-on it still curves
// sideways. At least 1, since an edge that is pinched to a point has length 0, and a factor of 0 would drop the patch.
fn edge_factor(first: u32, step: u32) -> f32 {
    let a = input_point(first).position;
    let b = input_point(first + step).position;
    let c = input_point(first + 2u * step).position;
    let d = input_point(first + 3u * step).position;
    let size = (distance(a, b) + distance(c, d)) + distance(b, c);
    let away = max(distance(settings.eye, 0.5 * (a + d)), 1e-3);
    return max(1.0, size * settings.pixels_per_unit / (away * settings.segment_pixels));
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

// Neighbours may go along a shared edge in opposite directions, and still have to find the same points on it, bit for
// bit. WGSL leaves it to the compiler to fuse multiplications and additions, so that a * x + d * w need not be what
// d * w + a * x is. What follows therefore turns round exactly: turning t only swaps whole values, never roles.

// The four cubic Bernstein polynomials.
fn bernstein(t: f32) -> vec4f {
    let near = min(t, 1.0 - t);
    let far = max(t, 1.0 - t);
    let weights = vec4f(far * far * far, 3.0 * (far * far * near), 3.0 * (near * near * far), near * near * near);
    return select(weights, weights.wzyx, t > 0.5);
}

// a * x + b * y.
fn weigh(a: vec3f, x: f32, b: vec3f, y: f32) -> vec3f {
    return (a + b) * min(x, y) + select(a, b, y > x) * abs(x - y);
}

fn blend(a: vec3f, b: vec3f, c: vec3f, d: vec3f, weights: vec4f) -> vec3f {
    return weigh(a, weights.x, d, weights.w) + weigh(b, weights.y, c, weights.z);
}

// The derivatives of the Bernstein polynomials.
fn bernstein_derivative(t: f32) -> vec4f {
    let s = 1.0 - t;
    return 3.0 * vec4f(-(s * s), s * s - 2.0 * (s * t), 2.0 * (s * t) - t * t, t * t);
}

fn blend_row(row: u32, weights: vec4f) -> vec3f {
    let first = 4u * row;
    return blend(
        output_point(first).position,
        output_point(first + 1u).position,
        output_point(first + 2u).position,
        output_point(first + 3u).position,
        weights,
    );
}

fn blend_patch(u: vec4f, v: vec4f) -> vec3f {
    return blend(blend_row(0u, u), blend_row(1u, u), blend_row(2u, u), blend_row(3u, u), v);
}

// A derivative this much shorter than the patch is large is rounding, not direction.
const PINCHED: f32 = 1e-4;

fn domain(location: vec2f, patch_id: u32) -> Surface {
    let u = bernstein(location.x);
    let v = bernstein(location.y);
    let du = bernstein_derivative(location.x);
    let dv = bernstein_derivative(location.y);
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
