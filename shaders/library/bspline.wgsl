// B-spline: the uniform cubic B-spline basis.
//
// The twin of src/library/bspline.rs. For t from 0 to 1, between the second and the third of four points. At 1 - t stand
// the same weights in reverse, bit for bit (the derivatives': negated), wherever 1 - t is exact.

// The four basis functions.
fn tess_bspline(t: f32) -> vec4f {
    let near = min(t, 1.0 - t);
    let far = max(t, 1.0 - t);
    let weights = vec4f(
        far * far * far * (1.0 / 6.0),
        near * near * (0.5 * near - 1.0) + (2.0 / 3.0),
        far * far * (0.5 * far - 1.0) + (2.0 / 3.0),
        near * near * near * (1.0 / 6.0),
    );
    return select(weights, weights.wzyx, t > 0.5);
}

// Their derivatives by t.
fn tess_bspline_derivative(t: f32) -> vec4f {
    let near = min(t, 1.0 - t);
    let far = max(t, 1.0 - t);
    let weights = vec4f(-0.5 * (far * far), near * (1.5 * near - 2.0), far * (2.0 - 1.5 * far), 0.5 * (near * near));
    return select(weights, -weights.wzyx, t > 0.5);
}

// How much each of four B-spline points weighs in Bézier point 0 to 3 of the same curve; for a hull function that changes
// basis. Points beyond 3 are taken as 3.
fn tess_bspline_to_bezier(point: u32) -> vec4f {
    switch (point) {
        case 0u: { return vec4f(1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0, 0.0); }
        case 1u: { return vec4f(0.0, 2.0 / 3.0, 1.0 / 3.0, 0.0); }
        case 2u: { return vec4f(0.0, 1.0 / 3.0, 2.0 / 3.0, 0.0); }
        default: { return vec4f(0.0, 1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0); }
    }
}
