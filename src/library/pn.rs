//! PN: curved point-normal triangles (Vlachos, Peters, Boyd, Mitchell: Curved PN Triangles, 2001).
//!
//! The twin of shaders/library/pn.wgsl, up to rounding. Normals are of length 1. Corners are those of the tri domain: the
//! first weighs as much as `location[0]`, the second `location[1]`, the third `location[2]`.
//!
//! An edge's curve depends on the points and normals of its two ends alone. Neighbours that share both find the same
//! points on it, bit for bit, whichever way each goes along.

use super::Vec3;
use super::blend::{tess_barycentric, tess_weigh};
use super::vector::{add, dot, normalize_or, scale, sub};

/// The control point a third of the way from `a` to `b`: there on the edge, moved into the tangent plane at `a`.
pub fn tess_pn_edge(a: Vec3, a_normal: Vec3, b: Vec3) -> Vec3 {
    scale(sub(add(scale(a, 2.0), b), scale(a_normal, dot(sub(b, a), a_normal))), 1.0 / 3.0)
}

/// The ten control points of a cubic triangle: the corners; from the first corner to the second the two between, likewise
/// from the second to the third and from the third to the first; the middle. In the paper's names b300, b030, b003, b210,
/// b120, b021, b012, b102, b201, b111.
pub fn tess_pn_points([a, b, c]: [Vec3; 3], [a_normal, b_normal, c_normal]: [Vec3; 3]) -> [Vec3; 10] {
    let ab = tess_pn_edge(a, a_normal, b);
    let ba = tess_pn_edge(b, b_normal, a);
    let bc = tess_pn_edge(b, b_normal, c);
    let cb = tess_pn_edge(c, c_normal, b);
    let ca = tess_pn_edge(c, c_normal, a);
    let ac = tess_pn_edge(a, a_normal, c);
    let edges = scale(add(add(add(ab, ba), add(bc, cb)), add(ca, ac)), 1.0 / 6.0);
    let corners = scale(add(add(a, b), c), 1.0 / 3.0);
    [a, b, c, ab, ba, bc, cb, ca, ac, add(edges, scale(sub(edges, corners), 0.5))]
}

/// The point of the cubic triangle at a domain location.
pub fn tess_pn_position(points: &[Vec3; 10], [u, v, w]: Vec3) -> Vec3 {
    // On an edge all is exactly 0 but what belongs to that edge.
    let corners = tess_barycentric(points[0], points[1], points[2], [u * u * u, v * v * v, w * w * w]);
    let uv = tess_weigh(points[3], 3.0 * (u * u * v), points[4], 3.0 * (v * v * u));
    let vw = tess_weigh(points[5], 3.0 * (v * v * w), points[6], 3.0 * (w * w * v));
    let wu = tess_weigh(points[7], 3.0 * (w * w * u), points[8], 3.0 * (u * u * w));
    add(add(corners, add(add(uv, vw), wu)), scale(points[9], 6.0 * (u * v * w)))
}

/// The normal in the middle of an edge: that of both ends, mirrored where the edge bends to and fro. `a_normal` where
/// nothing is left.
pub fn tess_pn_edge_normal(a: Vec3, a_normal: Vec3, b: Vec3, b_normal: Vec3) -> Vec3 {
    let along = sub(b, a);
    let both = add(a_normal, b_normal);
    let square = dot(along, along);
    // An edge of no length has no direction to mirror in.
    let turn = if square > 0.0 { 2.0 * dot(along, both) / square } else { 0.0 };
    normalize_or(sub(both, scale(along, turn)), a_normal)
}

/// The six control normals of a quadratic triangle: the corners'; first to second, second to third, third to first. In
/// the paper's names n200, n020, n002, n110, n011, n101.
pub fn tess_pn_normals([a, b, c]: [Vec3; 3], [a_normal, b_normal, c_normal]: [Vec3; 3]) -> [Vec3; 6] {
    [
        a_normal,
        b_normal,
        c_normal,
        tess_pn_edge_normal(a, a_normal, b, b_normal),
        tess_pn_edge_normal(b, b_normal, c, c_normal),
        tess_pn_edge_normal(c, c_normal, a, a_normal),
    ]
}

/// The normal of the quadratic triangle at a domain location, of length 1; the first corner's where they cancel out.
///
/// The mixed terms count once, as the paper and the shaders that follow it have them, and not twice as in a Bernstein
/// basis.
pub fn tess_pn_normal(normals: &[Vec3; 6], [u, v, w]: Vec3) -> Vec3 {
    let corners = tess_barycentric(normals[0], normals[1], normals[2], [u * u, v * v, w * w]);
    let edges = tess_barycentric(normals[3], normals[4], normals[5], [u * v, v * w, w * u]);
    normalize_or(add(corners, edges), normals[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::vector::{distance, length};

    const CORNERS: [Vec3; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    fn locations() -> impl Iterator<Item = Vec3> {
        (0..=8).flat_map(|i| (0..=8 - i).map(move |j| [i as f32 / 8.0, j as f32 / 8.0, (8 - i - j) as f32 / 8.0]))
    }

    #[test]
    fn equal_normals_leave_a_triangle_flat() {
        let third = 1.0 / 3.0f32.sqrt();
        let points = tess_pn_points(CORNERS, [[third; 3]; 3]);
        let normals = tess_pn_normals(CORNERS, [[third; 3]; 3]);
        assert!(distance(points[3], [2.0 / 3.0, 1.0 / 3.0, 0.0]) < 1e-6);
        for location in locations() {
            assert!(distance(tess_pn_position(&points, location), location) < 1e-6, "{location:?}");
            assert!(distance(tess_pn_normal(&normals, location), [third; 3]) < 1e-6, "{location:?}");
        }
    }

    #[test]
    fn an_octant_of_a_sphere_bulges() {
        let points = tess_pn_points(CORNERS, CORNERS);
        let normals = tess_pn_normals(CORNERS, CORNERS);
        // (2 a + b - ((b - a) . a) a) / 3 for a = (1, 0, 0), b = (0, 1, 0).
        assert!(distance(points[3], [1.0, 1.0 / 3.0, 0.0]) < 1e-6);
        let half = 0.5f32.sqrt();
        assert!(distance(normals[3], [half, half, 0.0]) < 1e-6);
        for location in locations() {
            let position = tess_pn_position(&points, location);
            let normal = tess_pn_normal(&normals, location);
            // Lowest in the centre: 12/27 of each corner, whose length is 0.7698; highest at the corners.
            assert!((0.7697..=1.0001).contains(&length(position)), "{location:?}: {position:?}");
            assert!(position.iter().sum::<f32>() > 0.9999, "outside of the flat triangle, {location:?}: {position:?}");
            assert!((length(normal) - 1.0).abs() < 1e-6, "{location:?}: {normal:?}");
        }
        // The curve through (1, 0), (1, 1/3), (1/3, 1), (0, 1), half way.
        assert!(distance(tess_pn_position(&points, [0.5, 0.5, 0.0]), [0.625, 0.625, 0.0]) < 1e-6);
        for (corner, location) in CORNERS.into_iter().zip(CORNERS) {
            assert_eq!(tess_pn_position(&points, location), corner, "corners stay");
        }
    }

    #[test]
    fn what_is_degenerate_is_finite() {
        let normals = tess_pn_normals([[1.0; 3]; 3], CORNERS);
        let none = tess_pn_normals(CORNERS, [[0.0; 3]; 3]);
        assert!(normals.iter().chain(&none).flatten().all(|x| x.is_finite()));
        assert!(tess_pn_normal(&none, [0.2, 0.3, 0.5]).iter().all(|x| x.is_finite()));
    }
}
