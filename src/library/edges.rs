//! Edges: factors of one edge, from what belongs to that edge alone, so that the patches on it agree and no crack opens.
//!
//! The twin of shaders/library/edges.wgsl, up to rounding: WGSL allows some slack to roots, divisions and arc tangents.
//! All factors are from 1 to 64, not rounded; where an input is NaN, 1. Each is the same, bit for bit, from either end.

use super::rounding::tess_clamp_factor;
use super::vector::{add, distance, length, scale, sub, transform};
use super::{Mat4, Vec3};
use crate::tessellator::Partitioning;

/// By the size on screen of the sphere around the edge, which does not change as the view turns.
///
/// `a`, `b` and `eye` in one space. `pixels_per_unit`: pixels that one unit of length covers at distance 1 from the eye,
/// which is half the viewport's height times the projection's `[1][1]`. `segment_pixels`: wanted length of a segment.
pub fn tess_edge_sphere(a: Vec3, b: Vec3, eye: Vec3, pixels_per_unit: f32, segment_pixels: f32) -> f32 {
    let away = length(sub(scale(add(a, b), 0.5), eye)).max(1e-20);
    tess_clamp_factor(distance(a, b) * pixels_per_unit / (away * segment_pixels), Partitioning::Integer)
}

/// As [`tess_edge_sphere`], of the cubic Bézier curve with the control points `a`, `b`, `c`, `d`: by the length of its
/// control polygon, at the distance of the middle of its ends.
pub fn tess_edge_curve([a, b, c, d]: [Vec3; 4], eye: Vec3, pixels_per_unit: f32, segment_pixels: f32) -> f32 {
    let size = (distance(a, b) + distance(c, d)) + distance(b, c);
    let away = length(sub(scale(add(a, d), 0.5), eye)).max(1e-20);
    tess_clamp_factor(size * pixels_per_unit / (away * segment_pixels), Partitioning::Integer)
}

/// Whether a comes first in some order of all points, by their bits.
fn comes_first(a: Vec3, b: Vec3) -> bool {
    a.map(f32::to_bits) < b.map(f32::to_bits)
}

/// By the length of the edge on screen, in pixels.
///
/// `clip_from_world` takes the space of `a` and `b` to clip space, as columns. `viewport`: its width and height in pixels.
/// `segment_pixels`: wanted length of a segment. An edge that reaches behind the eye gets 64, one that lies behind it
/// whole, 1.
pub fn tess_edge_pixels(a: Vec3, b: Vec3, clip_from_world: &Mat4, viewport: [f32; 2], segment_pixels: f32) -> f32 {
    let (first, second) = if comes_first(a, b) { (a, b) } else { (b, a) };
    let p = transform(clip_from_world, first);
    let q = transform(clip_from_world, second);
    if p[3] <= 0.0 || q[3] <= 0.0 {
        return if p[3] <= 0.0 && q[3] <= 0.0 { 1.0 } else { 64.0 };
    }
    let span = |axis: usize| (p[axis] / p[3] - q[axis] / q[3]) * (0.5 * viewport[axis]);
    let (x, y) = (span(0), span(1));
    tess_clamp_factor((x * x + y * y).sqrt() / segment_pixels, Partitioning::Integer)
}

/// By the distance of the edge's middle from the eye: `factors[0]` up to `distances[0]`, `factors[1]` from `distances[1]`
/// on, a straight line between.
pub fn tess_edge_distance(a: Vec3, b: Vec3, eye: Vec3, distances: [f32; 2], factors: [f32; 2]) -> f32 {
    let away = length(sub(scale(add(a, b), 0.5), eye));
    let along = ((away - distances[0]) / (distances[1] - distances[0]).max(1e-20)).clamp(0.0, 1.0);
    tess_clamp_factor(factors[0] * (1.0 - along) + factors[1] * along, Partitioning::Integer)
}

/// As many segments as the cubic Bézier curve with the control points `a`, `b`, `c`, `d` needs to be nowhere further than
/// `tolerance` (same unit as the points) from its chords; 1 where it is straight and evenly paced.
pub fn tess_edge_flatness([a, b, c, d]: [Vec3; 4], tolerance: f32) -> f32 {
    // The curve's second derivative is nowhere longer than 6 times the longer of these, and a chord over a span of h is
    // off by at most an eighth of that times h².
    let bend = length(sub(add(a, c), scale(b, 2.0))).max(length(sub(add(b, d), scale(c, 2.0))));
    tess_clamp_factor((0.75 * bend / tolerance).sqrt(), Partitioning::Integer)
}

/// As many segments as it takes for the normal to turn by at most `step` radians in each, from the normals at the two
/// ends; 1 where they are the same. Normals need not be of length 1, but of the same.
pub fn tess_edge_normals(a: Vec3, b: Vec3, step: f32) -> f32 {
    tess_clamp_factor(2.0 * distance(a, b).atan2(length(add(a, b))) / step, Partitioning::Integer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::bernstein::tess_bernstein;
    use crate::library::blend::tess_blend;

    const EYE: Vec3 = [0.0, 0.0, 10.0];

    #[test]
    fn a_sphere_of_a_unit_at_ten() {
        // 1 unit long, 10 away, 400 pixels a unit at 1: 40 pixels, in segments of 8.
        assert_eq!(tess_edge_sphere([-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], EYE, 400.0, 8.0), 5.0);
        // Turning the edge about its middle changes nothing.
        assert_eq!(tess_edge_sphere([0.0, 0.0, -0.5], [0.0, 0.0, 0.5], EYE, 400.0, 8.0), 5.0);
        assert_eq!(tess_edge_sphere(EYE, EYE, EYE, 400.0, 8.0), 1.0, "an edge that is a point, at the eye");
        assert_eq!(tess_edge_sphere([f32::NAN; 3], EYE, EYE, 400.0, 8.0), 1.0);
        let curve = [[-1.5, 0.0, 0.0], [-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [1.5, 0.0, 0.0]];
        assert_eq!(tess_edge_curve(curve, EYE, 400.0, 8.0), 15.0);
    }

    #[test]
    fn pixels_between_the_ends() {
        // x and y as they are, w the distance along -z from the eye at 0.
        let matrix = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, -1.0], [0.0; 4]];
        let factor = |a, b| tess_edge_pixels(a, b, &matrix, [800.0, 600.0], 10.0);
        assert_eq!(factor([-0.5, 0.0, -1.0], [0.5, 0.0, -1.0]), 40.0);
        assert_eq!(factor([0.0, -0.5, -2.0], [0.0, 0.5, -2.0]), 15.0);
        assert_eq!(factor([0.0, 0.0, 1.0], [0.0, 0.0, -1.0]), 64.0, "reaches behind the eye");
        assert_eq!(factor([0.0, 0.0, 1.0], [5.0, 0.0, 2.0]), 1.0, "behind the eye");
    }

    #[test]
    fn a_straight_line_between_distances() {
        let at = |z: f32| tess_edge_distance([-1.0, 0.0, z], [1.0, 0.0, z], [0.0; 3], [10.0, 20.0], [16.0, 2.0]);
        assert_eq!([at(5.0), at(10.0), at(15.0), at(20.0), at(1e9)], [16.0, 16.0, 9.0, 2.0, 2.0]);
    }

    #[test]
    fn a_flat_edge_is_one_segment_and_a_bent_one_keeps_the_tolerance() {
        let straight = [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [3.0, 3.0, 0.0]];
        assert_eq!(tess_edge_flatness(straight, 1e-3), 1.0);
        let bent = [[0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [2.0, -1.0, 1.0], [3.0, 0.0, 0.0]];
        let tolerance = 0.02;
        let segments = tess_edge_flatness(bent, tolerance).ceil();
        let [a, b, c, d] = bent;
        let at = |t: f32| tess_blend(a, b, c, d, tess_bernstein(t));
        for i in 0..segments as u32 {
            let [from, to] = [i, i + 1].map(|i| at(i as f32 / segments));
            for j in 0..=10 {
                let part = j as f32 / 10.0;
                let on_chord = add(scale(from, 1.0 - part), scale(to, part));
                let off = distance(at((i as f32 + part) / segments), on_chord);
                assert!(off <= tolerance * 1.001, "{off} off in segment {i} of {segments}");
            }
        }
        assert_eq!(tess_edge_flatness(bent, 0.0), 64.0);
    }

    #[test]
    fn normals_that_turn() {
        let right_angle = std::f32::consts::FRAC_PI_2;
        let quarter = tess_edge_normals([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], right_angle / 6.0);
        assert!((quarter - 6.0).abs() < 1e-5, "{quarter}");
        assert_eq!(tess_edge_normals([0.0, 1.0, 0.0], [0.0, 1.0, 0.0], 0.1), 1.0);
    }
}
