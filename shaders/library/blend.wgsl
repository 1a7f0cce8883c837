// Blend: weighted sums of points that turn round exactly.
//
// The twin of src/library/blend.rs.
//
// Neighbours may go along a shared edge in opposite directions, and still have to find the same points on it, bit for
// bit. WGSL leaves it to the compiler to fuse multiplications and additions, so that a * x + b * y need not be what
// b * y + a * x is. Here turning an edge round only swaps whole values, never roles.

// a * x + b * y.
fn tess_weigh(a: vec3f, x: f32, b: vec3f, y: f32) -> vec3f {
    return (a + b) * min(x, y) + select(a, b, y > x) * abs(x - y);
}

// The sum of four points with their weights. The same for the points and weights in reverse.
fn tess_blend(a: vec3f, b: vec3f, c: vec3f, d: vec3f, weights: vec4f) -> vec3f {
    return tess_weigh(a, weights.x, d, weights.w) + tess_weigh(b, weights.y, c, weights.z);
}

// The sum of three points, or attributes, with the three coordinates of a tri domain, none of them negative. On an edge
// the third point adds exactly nothing, and the same comes out from both sides.
fn tess_barycentric(a: vec3f, b: vec3f, c: vec3f, location: vec3f) -> vec3f {
    // The one with the least weight goes last: on an edge, the one opposite.
    if (location.x < location.y && location.x < location.z) {
        return tess_weigh(b, location.y, c, location.z) + a * location.x;
    }
    if (location.y < location.z) {
        return tess_weigh(a, location.x, c, location.z) + b * location.y;
    }
    return tess_weigh(a, location.x, b, location.y) + c * location.z;
}

// A bicubic patch: point 4 r + c is in row r and column c; u weighs columns, v rows. Weights are those of a basis
// (tess_bernstein, tess_bspline) or, for tangents, of its derivative.
fn tess_bicubic(points: array<vec3f, 16>, u: vec4f, v: vec4f) -> vec3f {
    return tess_blend(
        tess_blend(points[0], points[1], points[2], points[3], u),
        tess_blend(points[4], points[5], points[6], points[7], u),
        tess_blend(points[8], points[9], points[10], points[11], u),
        tess_blend(points[12], points[13], points[14], points[15], u),
        v,
    );
}
