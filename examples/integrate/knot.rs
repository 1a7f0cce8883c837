//! The tessellated object's control points.

use std::f32::consts::TAU;

use glam::Vec3;

/// A cage of `RINGS` rings of `AROUND` points along a trefoil knot, and 16 of them for each patch.
pub(crate) fn cage() -> (Vec<[f32; 3]>, Vec<u16>) {
    const RINGS: u16 = 48;
    const AROUND: u16 = 6;
    let curve = |t: f32| {
        let (around, reach) = (Vec3::new((2.0 * t).sin(), 0.0, (2.0 * t).cos()), 1.35 + 0.72 * (3.0 * t).cos());
        (around, Vec3::new(0.0, 0.0, 4.03) + reach * around + 0.72 * (3.0 * t).sin() * Vec3::Y)
    };
    let ring = |i: u16| {
        let t = TAU * f32::from(i) / f32::from(RINGS);
        let tangent = (curve(t + 0.01).1 - curve(t - 0.01).1).normalize();
        let side = tangent.cross(curve(t).0).normalize();
        let up = side.cross(tangent);
        (0..AROUND).map(move |j| {
            let (sin, cos) = (TAU * f32::from(j) / f32::from(AROUND)).sin_cos();
            (curve(t).1 + 0.44 * (cos * side - sin * up)).to_array()
        })
    };
    let patch = |(i, j): (u16, u16)| (0..16).map(move |k: u16| (i + k / 4) % RINGS * AROUND + (j + k % 4) % AROUND);
    let patches = (0..RINGS).flat_map(|i| (0..AROUND).map(move |j| (i, j)));
    ((0..RINGS).flat_map(ring).collect(), patches.flat_map(patch).collect())
}
