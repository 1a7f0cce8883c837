//! Culling: whether a patch can be dropped, and dropping it, by factors of 0.
//!
//! The twin of shaders/library/culling.wgsl. Where an input is NaN, the answer is to keep the patch. What lies within
//! rounding of a plane may be answered either way.

use super::process::{IsolineFactors, QuadFactors, TriFactors};
use super::vector::{cross, dot, length, sub};
use super::{Mat4, Vec3};

/// The factors, or 0 for all edges where the patch is culled.
pub fn tess_cull_quad(factors: QuadFactors, cull: bool) -> QuadFactors {
    QuadFactors { edges: if cull { [0.0; 4] } else { factors.edges }, inside: factors.inside }
}

/// The factors, or 0 for all edges where the patch is culled.
pub fn tess_cull_tri(factors: TriFactors, cull: bool) -> TriFactors {
    TriFactors { edges: if cull { [0.0; 3] } else { factors.edges }, inside: factors.inside }
}

/// The factors, or a density of 0 where the patch is culled.
pub fn tess_cull_isoline(factors: IsolineFactors, cull: bool) -> IsolineFactors {
    IsolineFactors { density: if cull { 0.0 } else { factors.density }, detail: factors.detail }
}

/// Whether the triangle turns its back on the eye, or its edge. Its front is where a, b, c go round counter-clockwise, in
/// right-handed coordinates. A triangle of no area counts as turned away, so that it does not keep a patch.
///
/// A patch whose control polygon turns away facet by facet does so itself, unless it bends more than the polygon shows;
/// [`tess_cone_faces_away`] is certain, where the cone is.
pub fn tess_faces_away(a: Vec3, b: Vec3, c: Vec3, eye: Vec3) -> bool {
    dot(cross(sub(b, a), sub(c, a)), sub(a, eye)) >= 0.0
}

/// Whether all of a surface turns its back on the eye: it lies in the sphere around `center`, and each of its normals is
/// within the cone around `axis` (of length 1) whose half angle has this `cosine`. Cones of 90 degrees and more never do.
pub fn tess_cone_faces_away(center: Vec3, radius: f32, axis: Vec3, cosine: f32, eye: Vec3) -> bool {
    let from_eye = sub(center, eye);
    // For a normal n in the cone and a point at v from the eye, dot(v, n) >= 0 as soon as v is within 90 degrees less the
    // half angle of the axis: dot(v, axis) >= sine * |v|. Within that region the difference of the two sides changes by no
    // more than v does, so that the radius is all that the other points of the sphere take away.
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    cosine > 0.0 && dot(from_eye, axis) >= sine * length(from_eye) + radius
}

/// The planes of a view frustum, from the matrix (as columns) that takes points of a space to clip space, with a depth
/// from 0 to w as WebGPU and Direct3D have it: left, right, bottom, top, and the two of depth.
///
/// `dot(plane.xyz, point) + plane.w` is not below 0 inside. Not normalised; the functions below do not need it.
pub fn tess_frustum_planes(clip_from_world: &Mat4) -> [[f32; 4]; 6] {
    let row = |row: usize| clip_from_world.map(|column| column[row]);
    let combine = |a: [f32; 4], b: [f32; 4], sign: f32| std::array::from_fn(|i| a[i] + sign * b[i]);
    let (x, y, z, w) = (row(0), row(1), row(2), row(3));
    [combine(w, x, 1.0), combine(w, x, -1.0), combine(w, y, 1.0), combine(w, y, -1.0), z, combine(w, z, -1.0)]
}

fn sphere_behind(center: Vec3, radius: f32, [x, y, z, w]: [f32; 4]) -> bool {
    dot([x, y, z], center) + w < -(radius * length([x, y, z]))
}

/// Whether the sphere is wholly behind one of the planes, which are those of [`tess_frustum_planes`] or any six that point
/// inwards.
pub fn tess_sphere_outside(center: Vec3, radius: f32, planes: &[[f32; 4]; 6]) -> bool {
    planes.iter().any(|plane| sphere_behind(center, radius, *plane))
}

fn box_behind(low: Vec3, high: Vec3, [x, y, z, w]: [f32; 4]) -> bool {
    // The corner that is furthest in the plane's direction.
    let normal = [x, y, z];
    let corner = std::array::from_fn(|i| if normal[i] > 0.0 { high[i] } else { low[i] });
    dot(normal, corner) + w < 0.0
}

/// Whether the box between the corners `low` and `high` is wholly behind one of the planes.
pub fn tess_box_outside(low: Vec3, high: Vec3, planes: &[[f32; 4]; 6]) -> bool {
    planes.iter().any(|plane| box_behind(low, high, *plane))
}

/// Which planes of the frustum a point in clip space is behind, a bit each, in the order of [`tess_frustum_planes`]. Where
/// the codes of all control points of a patch have a bit in common, all that they span is behind that plane.
pub fn tess_clip_code([x, y, z, w]: [f32; 4]) -> u32 {
    let behind = [x < -w, x > w, y < -w, y > w, z < 0.0, z > w];
    behind.iter().zip(0..).map(|(behind, bit)| u32::from(*behind) << bit).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::vector::transform;

    /// Looks along -z from the origin: 90 degrees, depth from 1 to 100.
    fn perspective() -> Mat4 {
        let (near, far) = (1.0, 100.0);
        let scale = far / (near - far);
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, scale, -1.0], [0.0, 0.0, near * scale, 0.0]]
    }

    #[test]
    fn culled_edges_are_zero_and_insides_stay() {
        let quad = QuadFactors { edges: [1.0, 2.0, 3.0, 4.0], inside: [5.0, 6.0] };
        assert_eq!(tess_cull_quad(quad, false), quad);
        assert_eq!(tess_cull_quad(quad, true), QuadFactors { edges: [0.0; 4], inside: [5.0, 6.0] });
        let tri = TriFactors { edges: [1.0, 2.0, 3.0], inside: 4.0 };
        assert_eq!(tess_cull_tri(tri, true), TriFactors { edges: [0.0; 3], inside: 4.0 });
        let isoline = IsolineFactors { density: 2.0, detail: 3.0 };
        assert_eq!(tess_cull_isoline(isoline, true), IsolineFactors { density: 0.0, detail: 3.0 });
        assert_eq!(tess_cull_isoline(isoline, false), isoline);
    }

    #[test]
    fn backs_and_fronts() {
        let [a, b, c] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert!(!tess_faces_away(a, b, c, [0.0, 0.0, 1.0]), "counter-clockwise from above");
        assert!(tess_faces_away(a, b, c, [0.0, 0.0, -1.0]));
        assert!(tess_faces_away(a, c, b, [0.0, 0.0, 1.0]));
        assert!(tess_faces_away(a, a, b, [0.0, 0.0, 1.0]), "no area");
        assert!(!tess_faces_away([f32::NAN; 3], b, c, [0.0, 0.0, -1.0]), "NaN keeps");
    }

    #[test]
    fn cones() {
        let axis = [0.0, 0.0, 1.0];
        let away = |cosine, radius, z| tess_cone_faces_away([0.0; 3], radius, axis, cosine, [0.0, 0.0, z]);
        assert!(away(1.0, 0.0, -1.0));
        assert!(!away(1.0, 0.0, 1.0));
        assert!(away(0.9, 0.1, -1.0));
        assert!(!away(0.9, 0.9, -1.0), "the sphere reaches past the eye");
        assert!(!away(0.0, 0.0, -1.0), "half a sphere of normals");
        assert!(!away(f32::NAN, 0.0, -1.0));
        // Right at the limit, a cone of 60 degrees seen from 30 degrees off its back.
        let eye = |degrees: f32| [degrees.to_radians().sin(), 0.0, -degrees.to_radians().cos()];
        assert!(tess_cone_faces_away([0.0; 3], 0.0, axis, 0.5, eye(29.9)));
        assert!(!tess_cone_faces_away([0.0; 3], 0.0, axis, 0.5, eye(30.1)));
    }

    #[test]
    fn frusta() {
        let matrix = perspective();
        let planes = tess_frustum_planes(&matrix);
        for (center, radius, outside) in [
            ([0.0, 0.0, -10.0], 0.0, false),
            ([-11.0, 0.0, -10.0], 0.5, true),
            ([-11.0, 0.0, -10.0], 0.8, false), // the plane leans by 45 degrees: 1 / sqrt(2) away
            ([11.0, 0.0, -10.0], 0.5, true),
            ([0.0, 11.0, -10.0], 0.5, true),
            ([0.0, -11.0, -10.0], 0.5, true),
            ([0.0, 0.0, -0.5], 0.4, true),
            ([0.0, 0.0, -0.5], 0.6, false),
            ([0.0, 0.0, -101.0], 0.5, true),
            ([f32::NAN, 0.0, 0.0], 0.5, false),
        ] {
            assert_eq!(tess_sphere_outside(center, radius, &planes), outside, "sphere {center:?} {radius}");
            let code = tess_clip_code(transform(&matrix, center));
            if radius == 0.0 || outside {
                assert_eq!(code != 0, outside, "point {center:?}: {code}");
            }
        }
        assert!(!tess_box_outside([-100.0, -1.0, -10.0], [100.0, 1.0, -5.0], &planes), "through");
        assert!(tess_box_outside([-100.0, -1.0, -10.0], [-11.0, 1.0, -5.0], &planes), "left of");
        assert!(tess_box_outside([-1.0, -1.0, 1.0], [1.0, 1.0, 5.0], &planes), "behind");
        assert_eq!(tess_clip_code([-2.0, 2.0, -1.0, 1.0]), 0b01_1001);
        assert_eq!(tess_clip_code([2.0, -2.0, 2.0, 1.0]), 0b10_0110);
        assert_eq!(tess_clip_code([f32::NAN; 4]), 0);
    }
}
