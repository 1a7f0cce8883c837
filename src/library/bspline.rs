//! B-spline: the uniform cubic B-spline basis.
//!
//! The twin of shaders/library/bspline.wgsl, up to rounding. For t from 0 to 1, between the second and the third of four
//! points. At 1 - t stand the same weights in reverse, bit for bit (the derivatives': negated), wherever 1 - t is exact.

/// The four basis functions. They sum up to 1.
pub fn tess_bspline(t: f32) -> [f32; 4] {
    let near = t.min(1.0 - t);
    let far = t.max(1.0 - t);
    let mut weights = [
        far * far * far * (1.0 / 6.0),
        near * near * (0.5 * near - 1.0) + (2.0 / 3.0),
        far * far * (0.5 * far - 1.0) + (2.0 / 3.0),
        near * near * near * (1.0 / 6.0),
    ];
    if t > 0.5 {
        weights.reverse();
    }
    weights
}

/// Their derivatives by t. They sum up to 0.
pub fn tess_bspline_derivative(t: f32) -> [f32; 4] {
    let near = t.min(1.0 - t);
    let far = t.max(1.0 - t);
    let weights = [-0.5 * (far * far), near * (1.5 * near - 2.0), far * (2.0 - 1.5 * far), 0.5 * (near * near)];
    if t > 0.5 {
        let [a, b, c, d] = weights;
        return [-d, -c, -b, -a];
    }
    weights
}

/// How much each of four B-spline points weighs in Bézier point 0 to 3 of the same curve; for a hull function that changes
/// basis. Points beyond 3 are taken as 3.
pub fn tess_bspline_to_bezier(point: u32) -> [f32; 4] {
    match point {
        0 => [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0, 0.0],
        1 => [0.0, 2.0 / 3.0, 1.0 / 3.0, 0.0],
        2 => [0.0, 1.0 / 3.0, 2.0 / 3.0, 0.0],
        _ => [0.0, 1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::bernstein::{tess_bernstein, tess_bernstein_derivative};

    fn assert_near(found: [f32; 4], expected: [f32; 4], of: &str) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{of}: {found} {expected}");
        }
    }

    #[test]
    fn known_values() {
        assert_near(tess_bspline(0.0), [1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0, 0.0], "0");
        assert_near(tess_bspline(0.5), [1.0 / 48.0, 23.0 / 48.0, 23.0 / 48.0, 1.0 / 48.0], "1/2");
        assert_near(tess_bspline(1.0), [0.0, 1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0], "1");
        assert_near(tess_bspline_derivative(0.0), [-0.5, 0.0, 0.5, 0.0], "slope at 0");
    }

    #[test]
    fn the_bezier_points_are_of_the_same_curve() {
        for i in 0..=64 {
            let t = i as f32 / 64.0;
            let through = |weights: [f32; 4]| -> [f32; 4] {
                std::array::from_fn(|k| {
                    weights.iter().zip(0..).map(|(weight, point)| weight * tess_bspline_to_bezier(point)[k]).sum()
                })
            };
            assert_near(through(tess_bernstein(t)), tess_bspline(t), "weights");
            assert_near(through(tess_bernstein_derivative(t)), tess_bspline_derivative(t), "slopes");
            let mut turned = tess_bspline(1.0 - t);
            turned.reverse();
            assert_eq!(turned, tess_bspline(t), "{t} turned round");
            let mut turned = tess_bspline_derivative(1.0 - t).map(|slope| -slope);
            turned.reverse();
            assert_eq!(turned, tess_bspline_derivative(t), "{t} turned round");
        }
    }
}
