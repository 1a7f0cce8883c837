//! What WGSL has built in: arithmetic of vectors of three.

use super::Vec3;

pub(super) fn add(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(super) fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(super) fn scale(a: Vec3, s: f32) -> Vec3 {
    a.map(|x| x * s)
}

pub(super) fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn length(a: Vec3) -> f32 {
    dot(a, a).sqrt()
}

pub(super) fn distance(a: Vec3, b: Vec3) -> f32 {
    length(sub(a, b))
}

/// A matrix, as its columns, times a point with a fourth coordinate of 1.
pub(super) fn transform(columns: &[[f32; 4]; 4], point: Vec3) -> [f32; 4] {
    let [x, y, z] = point;
    let [a, b, c, d] = columns;
    std::array::from_fn(|row| a[row] * x + b[row] * y + c[row] * z + d[row])
}

/// The vector made 1 long, or the other one where it has no direction.
pub(super) fn normalize_or(a: Vec3, other: Vec3) -> Vec3 {
    let size = dot(a, a);
    if size > 0.0 { scale(a, 1.0 / size.sqrt()) } else { other }
}
