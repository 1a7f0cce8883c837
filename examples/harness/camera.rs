//! An orbiting camera. The world's z axis points up.

use glam::{Mat4, Vec3};

/// What a camera looks at, and from where.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub target: Vec3,
    /// Degrees around the z axis, from the x axis.
    pub azimuth: f32,
    /// Degrees above the ground.
    pub elevation: f32,
    pub distance: f32,
    /// Half of what must fit in the picture's height, at the target's distance; also in its width, if that is less.
    pub radius: f32,
}

/// A perspective camera.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    pub eye: Vec3,
    pub clip_from_world: Mat4,
    /// Pixels that one unit of length covers at distance 1.
    pub pixels_per_unit: f32,
}

impl Camera {
    #[must_use]
    pub fn new(view: &View, [width, height]: [u32; 2]) -> Self {
        let aspect = width as f32 / height as f32;
        let (sin, cos) = view.azimuth.to_radians().sin_cos();
        let (up, out) = view.elevation.to_radians().sin_cos();
        let eye = view.target + view.distance * Vec3::new(cos * out, sin * out, up);
        let tangent = view.radius / view.distance / aspect.min(1.0);
        let project = glam::camera::rh::proj::directx::perspective(
            2.0 * tangent.atan(),
            aspect,
            view.distance * 0.05,
            view.distance * 20.0,
        );
        let look = glam::camera::rh::view::look_at_mat4(eye, view.target, Vec3::Z);
        Self { eye, clip_from_world: project * look, pixels_per_unit: height as f32 / (2.0 * tangent) }
    }
}
