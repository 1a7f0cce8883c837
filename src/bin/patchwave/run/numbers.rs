//! The numbers of a scene file that a person may want to turn: constants of the shader, and numbers of buffers that hold few.

use super::file::SceneFile;
use super::value::Value;

/// Numbers of a buffer, and of a whole scene, from which on they are data rather than settings.
const MOST_OF_BUFFER: usize = 8;
const MOST: usize = 24;

/// A number, as the file gives it or as it was turned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    /// As it is shown: `SEGMENT_PIXELS`, `settings.factor`, `fineness[1]`.
    pub(crate) name: String,
    pub(crate) value: f64,
    /// Whether the file writes it without a decimal point, and nothing but the shader knows whether it has to be whole.
    pub(crate) is_whole: bool,
    /// Whether it is a constant of the shader, which takes compiling.
    pub(crate) is_constant: bool,
}

/// All numbers of a file.
pub(crate) fn all(file: &SceneFile) -> Vec<Number> {
    let mut all = Vec::new();
    for (name, value) in &file.shader.constants {
        gather(name, value, true, &mut all);
    }
    for (name, binding) in &file.bindings {
        let mut own = Vec::new();
        if let Some(value) = &binding.value {
            gather(name, value, false, &mut own);
        }
        if own.len() <= MOST_OF_BUFFER {
            all.append(&mut own);
        }
    }
    all.truncate(MOST);
    all
}

fn gather(name: &str, value: &Value, is_constant: bool, all: &mut Vec<Number>) {
    let mut push = |value, is_whole| all.push(Number { name: name.to_owned(), value, is_whole, is_constant });
    match value {
        Value::Integer(value) => push(*value as f64, true),
        // What is not finite cannot be turned.
        Value::Float(value) if value.is_finite() => push(*value, false),
        Value::List(list) => {
            list.iter().enumerate().for_each(|(i, one)| gather(&format!("{name}[{i}]"), one, is_constant, all));
        }
        Value::Table(table) => {
            table.iter().for_each(|(key, one)| gather(&format!("{name}.{key}"), one, is_constant, all));
        }
        Value::Float(_) | Value::Bool(_) | Value::Text(_) => {}
    }
}

/// `value`, which is called `name`, with those numbers in it that were turned.
pub(super) fn turned(name: &str, value: &Value, numbers: &[Number]) -> Value {
    match value {
        Value::Integer(_) | Value::Float(_) => match numbers.iter().find(|number| number.name == name) {
            // A whole number stays one, since an integer of the shader's takes no other.
            Some(number) if number.is_whole && number.value.fract() == 0.0 => Value::Integer(number.value as i64),
            Some(number) => Value::Float(number.value),
            None => value.clone(),
        },
        Value::List(list) => {
            Value::List(list.iter().enumerate().map(|(i, one)| turned(&format!("{name}[{i}]"), one, numbers)).collect())
        }
        Value::Table(table) => Value::Table(
            table.iter().map(|(key, one)| (key.clone(), turned(&format!("{name}.{key}"), one, numbers))).collect(),
        ),
        other => other.clone(),
    }
}

/// Whether a value has the camera or the target in it.
pub(super) fn follows_camera(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.starts_with("camera.") || text.starts_with("target."),
        Value::List(list) => list.iter().any(follows_camera),
        Value::Table(table) => table.iter().any(|(_, one)| follows_camera(one)),
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_and_turned_where_they_stand() {
        let text = "
            shader = { text = '', constants = { SIZE = 2.5, ON = true } }
            state = { domain = 'quad', input_control_points = 4 }
            [bindings.view]
            value = { eye = 'camera.eye', factor = 5, grid = [1, 2.0] }
            [bindings.table]
            value = [1, 2, 3, 4, 5, 6, 7, 8, 9]";
        let file: SceneFile = toml::from_str(text).expect("the file is right");
        let mut numbers = all(&file);
        let names: Vec<&str> = numbers.iter().map(|number| number.name.as_str()).collect();
        assert_eq!(names, ["SIZE", "view.factor", "view.grid[0]", "view.grid[1]"]);
        let view = file.bindings["view"].value.clone().expect("it has a value");
        assert!(follows_camera(&view));
        assert_eq!(turned("view", &view, &numbers), view, "what was not turned stays");
        (numbers[1].value, numbers[3].value) = (6.0, -0.5);
        let expected = "value = { eye = 'camera.eye', factor = 6, grid = [1, -0.5] }";
        let expected: std::collections::BTreeMap<String, Value> = toml::from_str(expected).expect("it is right");
        assert_eq!(turned("view", &view, &numbers), expected["value"]);
    }
}
