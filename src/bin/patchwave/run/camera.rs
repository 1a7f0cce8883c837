//! The camera of a target, and what the shader can be told of it.

use glam::{Mat4, Vec3};

use super::file::Target;
use super::place::{Complaint, Place, suggestion};
use super::value::Value;

/// A perspective view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    pub(crate) eye: Vec3,
    /// Towards what it looks at.
    pub(crate) ahead: Vec3,
    pub(crate) up: Vec3,
    pub(crate) clip_from_world: Mat4,
    /// Pixels that one unit of length covers at distance 1.
    pub(crate) pixels_per_unit: f32,
}

impl Camera {
    /// The target's camera; `None` where it has none.
    pub(crate) fn new(target: &Target) -> Result<Option<Self>, Complaint> {
        let place = Place::new("target").key("camera");
        let Some(given) = &target.camera else { return Ok(None) };
        let (eye, at) = (Vec3::from(given.eye), Vec3::from(given.target));
        let up = Vec3::from(given.up.unwrap_or([0.0, 0.0, 1.0]));
        let degrees = given.field_of_view.unwrap_or(40.0);
        if !(1.0..=170.0).contains(&degrees) {
            return Err(place.key("field_of_view").complain(format!("{degrees} is not within 1 to 170 degrees")));
        }
        let distance = eye.distance(at);
        let (ahead, right) = ((at - eye) / distance, (at - eye).cross(up));
        if !(distance.is_finite() && ahead.is_finite() && right.length() > 1e-6 * distance) {
            return Err(place.complain("eye and target have to lie apart, and not one above the other along up"));
        }
        let [width, height] = target.size.map(|side| side as f32);
        let tangent = (degrees.to_radians() / 2.0).tan();
        let project = glam::camera::rh::proj::directx::perspective(
            degrees.to_radians(),
            width / height,
            distance * 0.05,
            distance * 20.0,
        );
        let look = glam::camera::rh::view::look_at_mat4(eye, at, up);
        let up = right.cross(ahead).normalize_or_zero();
        let clip_from_world = project * look;
        Ok(Some(Self { eye, ahead, up, clip_from_world, pixels_per_unit: height / (2.0 * tangent) }))
    }
}

/// Names that may stand for values in uniforms and storage buffers.
pub(crate) struct Names(Vec<(&'static str, Value)>);

impl Names {
    /// The camera's and the target's.
    pub(crate) fn new(target: Option<&Target>, camera: Option<&Camera>) -> Self {
        let number = |value: f32| Value::Float(f64::from(value));
        let list = |values: &[f32]| Value::List(values.iter().copied().map(number).collect());
        let mut names = Vec::new();
        if let Some(target) = target {
            names.push(("target.size", list(&target.size.map(|side| side as f32))));
        }
        if let Some(camera) = camera {
            names.push(("camera.clip_from_world", list(&camera.clip_from_world.to_cols_array())));
            names.push(("camera.eye", list(&camera.eye.to_array())));
            names.push(("camera.pixels_per_unit", number(camera.pixels_per_unit)));
        }
        Self(names)
    }

    /// `value` with names replaced by what they stand for.
    pub(crate) fn filled(&self, value: &Value, place: &Place) -> Result<Value, Complaint> {
        Ok(match value {
            Value::Text(name) if name.starts_with("camera.") || name.starts_with("target.") => {
                let known = self.0.iter().find(|(known, _)| known == name);
                let (_, value) = known.ok_or_else(|| {
                    let hint = suggestion(name, self.0.iter().map(|(known, _)| *known));
                    place.complain(format!("there is no '{name}'{hint}"))
                })?;
                value.clone()
            }
            Value::List(list) => {
                let filled = list.iter().enumerate().map(|(i, one)| self.filled(one, &place.at(i)));
                Value::List(filled.collect::<Result<_, _>>()?)
            }
            Value::Table(table) => {
                let filled = table.iter().map(|(key, one)| Ok((key.clone(), self.filled(one, &place.key(key))?)));
                Value::Table(filled.collect::<Result<_, _>>()?)
            }
            other => other.clone(),
        })
    }
}
