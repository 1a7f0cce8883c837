//! Bernstein: the cubic Bézier basis.
//!
//! The twin of shaders/library/bernstein.wgsl, up to rounding. For t from 0 to 1. At 1 - t stand the same weights in
//! reverse, bit for bit (the derivatives': negated), wherever 1 - t is exact, as it is for domain locations.

/// The four cubic Bernstein polynomials, the weights of the control points of a Bézier curve. They sum up to 1.
pub fn tess_bernstein(t: f32) -> [f32; 4] {
    let near = t.min(1.0 - t);
    let far = t.max(1.0 - t);
    let mut weights = [far * far * far, 3.0 * (far * far * near), 3.0 * (near * near * far), near * near * near];
    if t > 0.5 {
        weights.reverse();
    }
    weights
}

/// Their derivatives by t. They sum up to 0.
pub fn tess_bernstein_derivative(t: f32) -> [f32; 4] {
    let near = t.min(1.0 - t);
    let far = t.max(1.0 - t);
    let middle = 2.0 * (far * near);
    let weights = [-(far * far), far * far - middle, middle - near * near, near * near].map(|weight| 3.0 * weight);
    if t > 0.5 {
        let [a, b, c, d] = weights;
        return [-d, -c, -b, -a];
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(tess_bernstein(0.0), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(tess_bernstein(0.25), [27.0 / 64.0, 27.0 / 64.0, 9.0 / 64.0, 1.0 / 64.0]);
        assert_eq!(tess_bernstein(0.5), [0.125, 0.375, 0.375, 0.125]);
        assert_eq!(tess_bernstein(0.75), [1.0 / 64.0, 9.0 / 64.0, 27.0 / 64.0, 27.0 / 64.0]);
        assert_eq!(tess_bernstein_derivative(0.0), [-3.0, 3.0, 0.0, 0.0]);
        assert_eq!(tess_bernstein_derivative(0.5), [-0.75, -0.75, 0.75, 0.75]);
        assert_eq!(tess_bernstein_derivative(1.0), [0.0, 0.0, -3.0, 3.0]);
    }

    #[test]
    fn derivatives_are_the_slopes_and_turn_round() {
        for i in 0..=64 {
            let t = i as f32 / 64.0;
            let step = 1.0 / 1024.0;
            let (before, after) = (tess_bernstein(t - step), tess_bernstein(t + step));
            let slopes = tess_bernstein_derivative(t);
            for k in 0..4 {
                let slope = (after[k] - before[k]) / (2.0 * step);
                assert!((slope - slopes[k]).abs() < 1e-3, "weight {k} at {t}: {slope} {}", slopes[k]);
                assert_eq!(tess_bernstein_derivative(1.0 - t)[3 - k], -slopes[k], "{t}");
                assert_eq!(tess_bernstein(1.0 - t)[3 - k], tess_bernstein(t)[k], "{t}");
            }
        }
    }
}
