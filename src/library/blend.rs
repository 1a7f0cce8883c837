//! Blend: weighted sums of points that turn round exactly.
//!
//! The twin of shaders/library/blend.wgsl, up to rounding, since WGSL allows multiplications and additions to be fused.
//! Turning an edge round only swaps whole values, never roles, so that neighbours that go along a shared edge in opposite
//! directions find the same points on it, bit for bit.

use super::Vec3;
use super::vector::{add, scale};

/// `a * x + b * y`, the same bits as `b * y + a * x`.
pub fn tess_weigh(a: Vec3, x: f32, b: Vec3, y: f32) -> Vec3 {
    add(scale(add(a, b), x.min(y)), scale(if y > x { b } else { a }, (x - y).abs()))
}

/// The sum of four points with their weights. The same bits for the points and weights in reverse.
pub fn tess_blend(a: Vec3, b: Vec3, c: Vec3, d: Vec3, weights: [f32; 4]) -> Vec3 {
    add(tess_weigh(a, weights[0], d, weights[3]), tess_weigh(b, weights[1], c, weights[2]))
}

/// The sum of three points, or attributes, with the three coordinates of a tri domain, none of them negative. On an edge
/// the third point adds exactly nothing, and the same bits come out from both sides.
pub fn tess_barycentric(a: Vec3, b: Vec3, c: Vec3, location: Vec3) -> Vec3 {
    let [u, v, w] = location;
    // The one with the least weight goes last: on an edge, the one opposite.
    if u < v && u < w {
        return add(tess_weigh(b, v, c, w), scale(a, u));
    }
    if v < w {
        return add(tess_weigh(a, u, c, w), scale(b, v));
    }
    add(tess_weigh(a, u, b, v), scale(c, w))
}

/// A bicubic patch: point 4 r + c is in row r and column c; `u` weighs columns, `v` rows. Weights are those of a basis
/// ([`tess_bernstein`](super::bernstein::tess_bernstein), [`tess_bspline`](super::bspline::tess_bspline)) or, for
/// tangents, of its derivative.
pub fn tess_bicubic(points: &[Vec3; 16], u: [f32; 4], v: [f32; 4]) -> Vec3 {
    let row = |r: usize| tess_blend(points[4 * r], points[4 * r + 1], points[4 * r + 2], points[4 * r + 3], u);
    tess_blend(row(0), row(1), row(2), row(3), v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_weigh() {
        assert_eq!(tess_weigh([2.0; 3], 3.0, [10.0; 3], 5.0), [56.0; 3]);
        assert_eq!(tess_weigh([2.0; 3], -3.0, [10.0; 3], 5.0), [44.0; 3]);
        let [a, b, c, d] = [1.0f32, 2.0, 3.0, 4.0].map(|x| [x, -x, 2.0 * x]);
        assert_eq!(tess_blend(a, b, c, d, [8.0, 4.0, 2.0, 1.0]), [26.0, -26.0, 52.0]);
        for location in [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]] {
            let expected = location[0] + 2.0 * location[1] + 3.0 * location[2];
            assert_eq!(tess_barycentric(a, b, c, location)[0], expected, "{location:?}");
        }
        let grid: [Vec3; 16] = std::array::from_fn(|i| [(i % 4) as f32, (i / 4) as f32, 1.0]);
        assert_eq!(tess_bicubic(&grid, [0.0, 0.0, 0.5, 0.5], [0.25, 0.75, 0.0, 0.0]), [2.5, 0.75, 1.0]);
    }
}
