//! The camera: where it stands, what it sees.

use glam::{Mat4, Vec3};

use super::Size;

/// A perspective camera. The world's z axis points up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Camera {
    pub(crate) eye: Vec3,
    pub(crate) clip_from_world: Mat4,
    /// Pixels that one unit of length covers at distance 1.
    pub(crate) pixels_per_unit: f32,
}

/// What a camera looks at, and from where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) target: Vec3,
    /// Degrees around the z axis, from the x axis.
    pub(crate) azimuth: f32,
    /// Degrees above the ground.
    pub(crate) elevation: f32,
    pub(crate) distance: f32,
    /// Half the width and height, at the target's distance, that must be in the picture whatever its shape is.
    pub(crate) fits: [f32; 2],
}

impl Camera {
    pub(crate) fn new(view: &View, size: Size) -> Self {
        let (sin, cos) = view.azimuth.to_radians().sin_cos();
        let (up, out) = view.elevation.to_radians().sin_cos();
        let eye = view.target + view.distance * Vec3::new(cos * out, sin * out, up);
        let [width, height] = view.fits;
        let tangent = height.max(width / size.aspect()) / view.distance;
        let project = glam::camera::rh::proj::directx::perspective(
            2.0 * tangent.atan(),
            size.aspect(),
            view.distance * 0.25,
            view.distance * 4.0,
        );
        let look = glam::camera::rh::view::look_at_mat4(eye, view.target, Vec3::Z);
        Self { eye, clip_from_world: project * look, pixels_per_unit: size.height as f32 / (2.0 * tangent) }
    }
}
