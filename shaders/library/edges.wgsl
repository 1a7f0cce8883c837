// Edges: factors of one edge, from what belongs to that edge alone, so that the patches on it agree and no crack opens.
//
// The twin of src/library/edges.rs. After rounding.wgsl. All factors are from 1 to 64; where an input is NaN, 1.
//
// Each is the same, bit for bit, from either end. WGSL leaves it to the compiler to fuse a multiplication and an
// addition, so that a sum of products may change when its terms change places. What follows adds the ends before anything
// else, multiplies by powers of two where an addition follows, which is exact and thus the same fused or not, takes sums
// of products only of differences, whose sign does not matter, or puts the ends in order first.

// By the size on screen of the sphere around the edge, which does not change as the view turns.
// pixels_per_unit: pixels that one unit of length covers at distance 1, half the viewport's height times the projection's
// [1][1]. segment_pixels: wanted length of a segment.
fn tess_edge_sphere(a: vec3f, b: vec3f, eye: vec3f, pixels_per_unit: f32, segment_pixels: f32) -> f32 {
    let away = max(length(0.5 * (a + b) - eye), 1e-20);
    return tess_clamp_factor(distance(a, b) * pixels_per_unit / (away * segment_pixels), TESS_INTEGER);
}

// As tess_edge_sphere, of the cubic Bézier curve with these control points: by the length of its control polygon.
fn tess_edge_curve(a: vec3f, b: vec3f, c: vec3f, d: vec3f, eye: vec3f, pixels_per_unit: f32, segment_pixels: f32) -> f32 {
    let size = (distance(a, b) + distance(c, d)) + distance(b, c);
    let away = max(length(0.5 * (a + d) - eye), 1e-20);
    return tess_clamp_factor(size * pixels_per_unit / (away * segment_pixels), TESS_INTEGER);
}

// Whether a comes first in some order of all points, by their bits.
fn pw_lib_comes_first(a: vec3f, b: vec3f) -> bool {
    let x = bitcast<vec3u>(a);
    let y = bitcast<vec3u>(b);
    return x.x < y.x || (x.x == y.x && (x.y < y.y || (x.y == y.y && x.z < y.z)));
}

// By the length of the edge on screen, in pixels. viewport: its size in pixels. An edge that reaches behind the eye gets
// the most there is, one that lies behind it whole, 1.
fn tess_edge_pixels(a: vec3f, b: vec3f, clip_from_world: mat4x4f, viewport: vec2f, segment_pixels: f32) -> f32 {
    let a_first = pw_lib_comes_first(a, b);
    let p = clip_from_world * vec4f(select(b, a, a_first), 1.0);
    let q = clip_from_world * vec4f(select(a, b, a_first), 1.0);
    if (p.w <= 0.0 || q.w <= 0.0) {
        return select(64.0, 1.0, p.w <= 0.0 && q.w <= 0.0);
    }
    let pixels = length((p.xy / p.w - q.xy / q.w) * (0.5 * viewport));
    return tess_clamp_factor(pixels / segment_pixels, TESS_INTEGER);
}

// By the distance of the edge's middle from the eye: factors.x up to distances.x, factors.y from distances.y on, a
// straight line between.
fn tess_edge_distance(a: vec3f, b: vec3f, eye: vec3f, distances: vec2f, factors: vec2f) -> f32 {
    let away = length(0.5 * (a + b) - eye);
    let along = clamp((away - distances.x) / max(distances.y - distances.x, 1e-20), 0.0, 1.0);
    return tess_clamp_factor(mix(factors.x, factors.y, along), TESS_INTEGER);
}

// As many segments as the cubic Bézier curve with these control points needs to be nowhere further than the tolerance
// (same unit as the points) from its chords; 1 where it is straight and evenly paced.
fn tess_edge_flatness(a: vec3f, b: vec3f, c: vec3f, d: vec3f, tolerance: f32) -> f32 {
    // The curve's second derivative is nowhere longer than 6 times the longer of these, and a chord over a span of h is
    // off by at most an eighth of that times h².
    let bend = max(length((a + c) - 2.0 * b), length((b + d) - 2.0 * c));
    return tess_clamp_factor(sqrt(0.75 * bend / tolerance), TESS_INTEGER);
}

// As many segments as it takes for the normal to turn by at most `step` radians in each, from the normals at the two
// ends; 1 where they are the same. Normals need not be of length 1, but of the same.
fn tess_edge_normals(a: vec3f, b: vec3f, step: f32) -> f32 {
    return tess_clamp_factor(2.0 * atan2(distance(a, b), length(a + b)) / step, TESS_INTEGER);
}
