// Bernstein: the cubic Bézier basis.
//
// The twin of src/library/bernstein.rs. For t from 0 to 1. At 1 - t stand the same weights in reverse, bit for bit (the
// derivatives': negated), wherever 1 - t is exact, as it is for domain locations.

// The four cubic Bernstein polynomials.
fn tess_bernstein(t: f32) -> vec4f {
    let near = min(t, 1.0 - t);
    let far = max(t, 1.0 - t);
    let weights = vec4f(far * far * far, 3.0 * (far * far * near), 3.0 * (near * near * far), near * near * near);
    return select(weights, weights.wzyx, t > 0.5);
}

// Their derivatives by t.
fn tess_bernstein_derivative(t: f32) -> vec4f {
    let near = min(t, 1.0 - t);
    let far = max(t, 1.0 - t);
    let middle = 2.0 * (far * near);
    let weights = 3.0 * vec4f(-(far * far), far * far - middle, middle - near * near, near * near);
    return select(weights, -weights.wzyx, t > 0.5);
}
