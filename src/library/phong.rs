//! Phong: Phong tessellation (Boubekeur, Alexa: Phong Tessellation, 2008).
//!
//! The twin of shaders/library/phong.wgsl, up to rounding. Normals are of length 1. Corners are those of the tri domain.

use super::Vec3;
use super::blend::tess_barycentric;
use super::vector::{add, dot, normalize_or, scale, sub};

/// What a point lacks to the tangent plane at a corner.
fn to_plane(point: Vec3, corner: Vec3, normal: Vec3) -> Vec3 {
    scale(normal, dot(sub(corner, point), normal))
}

/// The point of the flat triangle at a domain location, moved by `strength` towards where its projections onto the
/// tangent planes of the corners meet: 0 leaves it flat, 0.75 is the authors' choice. On an edge it depends on the edge's
/// ends alone and is the same, bit for bit, from both sides.
pub fn tess_phong(
    [a, b, c]: [Vec3; 3],
    [a_normal, b_normal, c_normal]: [Vec3; 3],
    location: Vec3,
    strength: f32,
) -> Vec3 {
    let flat_point = tess_barycentric(a, b, c, location);
    let moved = tess_barycentric(
        to_plane(flat_point, a, a_normal),
        to_plane(flat_point, b, b_normal),
        to_plane(flat_point, c, c_normal),
        location,
    );
    add(flat_point, scale(moved, strength))
}

/// The normal there: the corners', weighed, of length 1; the first corner's where they cancel out.
pub fn tess_phong_normal([a_normal, b_normal, c_normal]: [Vec3; 3], location: Vec3) -> Vec3 {
    normalize_or(tess_barycentric(a_normal, b_normal, c_normal, location), a_normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::vector::distance;

    #[test]
    fn flat_without_strength_and_bulging_with_it() {
        let corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let middle = [0.5, 0.5, 0.0];
        assert_eq!(tess_phong(corners, corners, middle, 0.0), middle);
        // The planes x = 1 and y = 1: the projections are (1, 0.5, 0) and (0.5, 1, 0).
        assert_eq!(tess_phong(corners, corners, middle, 1.0), [0.75, 0.75, 0.0]);
        assert_eq!(tess_phong(corners, corners, [0.0, 0.0, 1.0], 0.75), [0.0, 0.0, 1.0], "corners stay");
        let half = 0.5f32.sqrt();
        assert!(distance(tess_phong_normal(corners, middle), [half, half, 0.0]) < 1e-6);
        assert_eq!(tess_phong_normal([[0.0; 3]; 3], middle), [0.0; 3]);
    }
}
