//! The camera that goes round what is shown.

use std::f32::consts::FRAC_PI_2;

use glam::{Mat4, Vec3};

use crate::scene::Size;
use crate::scene::camera::Camera;

/// Radians that dragging over one point turns.
const TURN: f32 = 0.008;
/// Short of looking straight down, where there is no telling what is up.
const STEEPEST: f32 = FRAC_PI_2 - 0.01;
/// Distances, in radii of what is shown.
const NEAREST: f32 = 0.02;
const FARTHEST: f32 = 20.0;

/// A camera that looks at a point from somewhere on a sphere around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Orbit {
    /// What it looks at.
    target: Vec3,
    /// Radians around the up axis.
    azimuth: f32,
    /// Radians above the plane across the up axis.
    elevation: f32,
    distance: f32,
    /// Radians across the shorter side of the picture.
    field_of_view: f32,
    up: Vec3,
    /// The sphere that holds what is shown.
    center: Vec3,
    radius: f32,
}

impl Orbit {
    /// At `eye`, looking at `target`; what is shown lies within `radius` of `target`. `field_of_view` is in degrees.
    pub(super) fn new(eye: Vec3, target: Vec3, up: Vec3, field_of_view: f32, radius: f32) -> Self {
        let up = up.normalize_or(Vec3::Z);
        let away = eye - target;
        let distance = away.length().max(1e-6);
        let [side, front] = across(up);
        Self {
            target,
            azimuth: away.dot(front).atan2(away.dot(side)),
            elevation: (away.dot(up) / distance).clamp(-1.0, 1.0).asin().clamp(-STEEPEST, STEEPEST),
            distance,
            field_of_view: field_of_view.to_radians(),
            up,
            center: target,
            radius: radius.max(1e-6),
        }
    }

    /// Turns by so many points on the screen, to the right and down.
    pub(super) fn turn(&mut self, [right, down]: [f32; 2]) {
        self.azimuth = (self.azimuth - right * TURN).rem_euclid(std::f32::consts::TAU);
        self.elevation = (self.elevation + down * TURN).clamp(-STEEPEST, STEEPEST);
    }

    /// Shifts so that what it looks at follows the pointer by so many points on a screen whose shorter side has `side` points.
    pub(super) fn shift(&mut self, [right, down]: [f32; 2], side: f32) {
        let per_point = 2.0 * (self.field_of_view / 2.0).tan() * self.distance / side.max(1.0);
        let [to_right, up] = self.screen();
        let moved = self.target + (up * down - to_right * right) * per_point;
        // Not out of sight.
        self.target = self.center + (moved - self.center).clamp_length_max(self.radius * FARTHEST);
    }

    /// Goes nearer by a factor above 1, away by one below it.
    pub(super) fn zoom(&mut self, nearer: f32) {
        if nearer.is_finite() && nearer > 0.0 {
            self.distance = (self.distance / nearer).clamp(self.radius * NEAREST, self.radius * FARTHEST);
        }
    }

    /// From the target to the eye, of length 1.
    fn away(&self) -> Vec3 {
        let [side, front] = across(self.up);
        let (sin, cos) = self.azimuth.sin_cos();
        let (high, out) = self.elevation.sin_cos();
        (side * cos + front * sin) * out + self.up * high
    }

    /// To the right and up on the screen.
    fn screen(&self) -> [Vec3; 2] {
        let ahead = -self.away();
        let right = ahead.cross(self.up).normalize_or_zero();
        [right, right.cross(ahead)]
    }

    /// Towards the light: from the camera's left, above and a little in front.
    pub(super) fn key(&self) -> Vec3 {
        let [right, up] = self.screen();
        (up * 0.9 + self.away() * 0.7 - right * 0.6).normalize_or_zero()
    }

    /// The camera of a picture of this size.
    pub(super) fn camera(&self, size: Size) -> Camera {
        let eye = self.target + self.away() * self.distance;
        let from_center = eye.distance(self.center);
        let reach = self.radius * 1.2;
        let near = (from_center - reach).max(self.radius * NEAREST * 0.1);
        let far = (from_center + reach).max(near * 2.0);
        // Half the height of the picture at distance 1.
        let tangent = (self.field_of_view / 2.0).tan() / size.aspect().min(1.0);
        let project = glam::camera::rh::proj::directx::perspective(2.0 * tangent.atan(), size.aspect(), near, far);
        let look: Mat4 = glam::camera::rh::view::look_at_mat4(eye, self.target, self.up);
        let pixels_per_unit = size.height as f32 / (2.0 * tangent);
        Camera { eye, clip_from_world: project * look, pixels_per_unit }
    }

    /// As a scene file's camera is given to its shader.
    pub(super) fn of_file(&self, camera: &Camera) -> crate::run::camera::Camera {
        let Camera { eye, clip_from_world, pixels_per_unit } = *camera;
        let [_, up] = self.screen();
        crate::run::camera::Camera { eye, ahead: -self.away(), up, clip_from_world, pixels_per_unit }
    }
}

/// Two directions across an axis and each other, such that they and the axis are right-handed; x and y for z.
fn across(up: Vec3) -> [Vec3; 2] {
    let other = if up.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
    let side = (other - up * up.dot(other)).normalize_or(Vec3::X);
    [side, up.cross(side)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { width: 800, height: 600 };

    fn orbit() -> Orbit {
        Orbit::new(Vec3::new(3.0, -4.0, 2.0), Vec3::new(0.5, 0.0, 1.0), Vec3::Z, 40.0, 2.0)
    }

    fn on_screen(orbit: &Orbit, point: Vec3) -> Vec3 {
        orbit.camera(SIZE).clip_from_world.project_point3(point)
    }

    #[test]
    fn it_stands_where_it_was_put() {
        for up in [Vec3::Z, Vec3::Y, Vec3::X, Vec3::new(1.0, 1.0, 0.5)] {
            let (eye, target) = (Vec3::new(3.0, -4.0, 2.0), Vec3::new(0.5, 0.0, 1.0));
            let orbit = Orbit::new(eye, target, up, 40.0, 2.0);
            assert!(orbit.camera(SIZE).eye.distance(eye) < 1e-4, "{up}");
            let seen = on_screen(&orbit, target);
            assert!(seen.x.abs() < 1e-4 && seen.y.abs() < 1e-4 && (0.0..1.0).contains(&seen.z), "{up} {seen}");
            assert!(on_screen(&orbit, target + orbit.up * 0.2).y > 0.0, "up is up");
        }
    }

    #[test]
    fn dragging_takes_the_near_side_along() {
        let mut orbit = orbit();
        let near = orbit.target + orbit.away();
        orbit.turn([20.0, 0.0]);
        assert!(on_screen(&orbit, near).x > 0.01, "to the right");
        let mut orbit = self::orbit();
        orbit.turn([0.0, 20.0]);
        assert!(on_screen(&orbit, near).y < -0.01, "down");
    }

    #[test]
    fn it_neither_turns_over_nor_leaves() {
        let mut orbit = orbit();
        orbit.turn([0.0, 1e6]);
        assert!(orbit.camera(SIZE).clip_from_world.is_finite());
        for nearer in [1e9, 1e-9, 0.0, -1.0, f32::NAN, f32::INFINITY] {
            orbit.zoom(nearer);
            assert!((0.02 * 2.0..=20.0 * 2.0).contains(&orbit.distance), "{nearer}");
        }
        orbit.shift([1e9, -1e9], 0.0);
        assert!(orbit.target.distance(orbit.center) <= 40.1);
        assert!(orbit.camera(SIZE).clip_from_world.is_finite());
    }

    #[test]
    fn shifting_follows_the_pointer() {
        let mut orbit = orbit();
        let point = orbit.target;
        orbit.shift([60.0, 30.0], 600.0);
        let seen = on_screen(&orbit, point);
        // 60 of 400 points from the middle to the right, 30 of 300 down.
        assert!((seen.x - 0.15).abs() < 1e-3 && (seen.y + 0.1).abs() < 1e-3, "{seen}");
    }

    #[test]
    fn pixels_per_unit_is_what_the_projection_does() {
        let orbit = orbit();
        for size in [SIZE, Size { width: 300, height: 900 }] {
            let camera = orbit.camera(size);
            let [right, _] = orbit.screen();
            let point = camera.eye - orbit.away() + right * 0.1;
            let pixels = camera.clip_from_world.project_point3(point).x * size.width as f32 / 2.0;
            assert!((pixels - 0.1 * camera.pixels_per_unit).abs() < 0.05, "{pixels}");
        }
    }
}
