//! Where in a scene file something stands, and complaints that say so.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

/// A step from a value of the file to one within it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The way to a value of the file, as `vertex_buffers[0].stride`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(Vec<Step>);

impl Place {
    /// The place of a key at the top of the file.
    pub(crate) fn new(key: &str) -> Self {
        Self::default().key(key)
    }

    /// The place of `key` in the table here.
    pub(crate) fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned()))
    }

    /// The place of an element of the array here.
    pub(crate) fn at(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// A complaint about what stands here.
    pub(crate) fn complain(&self, message: impl Into<String>) -> Complaint {
        Complaint { place: self.clone(), message: message.into(), is_relayed: false }
    }

    /// What the library says of what stands here. Unlike other complaints it may be what the file expects.
    pub(crate) fn relay(&self, error: &patchwave::Error) -> Complaint {
        Complaint { place: self.clone(), message: error.to_string(), is_relayed: true }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if i == 0 => write!(f, "{key}")?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// What is wrong with a scene file.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub(crate) struct Complaint {
    place: Place,
    message: String,
    /// Whether the library says so rather than the reader of scene files.
    pub(crate) is_relayed: bool,
}

/// The text of a scene file.
#[derive(Clone)]
pub(crate) struct SceneText {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl SceneText {
    /// The folder that file names in the scene are relative to.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// `error` with the file's name and, where it is about a place in the file, line and column.
    pub(crate) fn located(&self, error: anyhow::Error) -> anyhow::Error {
        let place = error.downcast_ref::<Complaint>().map(|complaint| complaint.place.clone());
        let at = place.map_or_else(String::new, |place| self.line_and_column(self.offset_of(&place)));
        error.context(format!("{}{at}", self.path.display()))
    }

    /// What the TOML reader says, in the same form.
    pub(crate) fn unreadable(&self, error: &toml::de::Error) -> anyhow::Error {
        let offset = error.span().map_or(0, |span| span.start);
        let at = self.line_and_column(offset);
        let place = self.place_at(offset).to_string();
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        let message = taught(error.message());
        anyhow::anyhow!("{}{at}: {place}{message}", self.path.display())
    }

    /// `:line:column`, from 1.
    fn line_and_column(&self, offset: usize) -> String {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
        format!(":{line}:{column}")
    }

    /// Where the innermost thing on the way to `place` that the file has begins.
    fn offset_of(&self, place: &Place) -> usize {
        let Ok(table) = DeTable::parse(&self.text) else { return 0 };
        let mut offset = 0;
        let mut here: Option<&DeValue<'_>> = None;
        for step in &place.0 {
            let next = match (step, here) {
                (Step::Key(key), None) => table.get_ref().get_key_value(key.as_str()),
                (Step::Key(key), Some(DeValue::Table(table))) => table.get_key_value(key.as_str()),
                (Step::Index(index), Some(DeValue::Array(array))) => {
                    let Some(value) = array.get(*index) else { break };
                    offset = value.span().start;
                    here = Some(value.get_ref());
                    continue;
                }
                _ => None,
            };
            let Some((key, value)) = next else { break };
            offset = key.span().start;
            here = Some(value.get_ref());
        }
        offset
    }

    /// The innermost key or element that stands at `offset`.
    fn place_at(&self, offset: usize) -> Place {
        let Ok(table) = DeTable::parse(&self.text) else { return Place::default() };
        within_table(table.get_ref(), offset, &Place::default()).map_or_else(Place::default, |(place, _)| place)
    }
}

/// The innermost place around `offset` and how many bytes it spans.
fn within_table(table: &DeTable<'_>, offset: usize, place: &Place) -> Option<(Place, usize)> {
    let found = table.iter().filter_map(|(key, value)| {
        let here = place.key(key.get_ref());
        let by_key = key.span().contains(&offset).then(|| (here.clone(), key.span().len()));
        by_key.or_else(|| within(value.get_ref(), value.span(), offset, &here))
    });
    found.min_by_key(|(_, length)| *length)
}

fn within(value: &DeValue<'_>, span: Range<usize>, offset: usize, place: &Place) -> Option<(Place, usize)> {
    let deeper = match value {
        DeValue::Table(table) => within_table(table, offset, place),
        DeValue::Array(array) => {
            let found = array.iter().enumerate();
            let found = found.filter_map(|(i, one)| within(one.get_ref(), one.span(), offset, &place.at(i)));
            found.min_by_key(|(_, length)| *length)
        }
        _ => None,
    };
    deeper.or_else(|| span.contains(&offset).then(|| (place.clone(), span.len())))
}

/// serde's message about an unknown name, with the one that was probably meant.
fn taught(message: &str) -> String {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let kind = ["unknown field `", "unknown variant `"].into_iter().find(|kind| message.starts_with(kind));
    let Some(rest) = kind.and_then(|kind| message.strip_prefix(kind)) else { return message };
    let Some((name, expected)) = rest.split_once('`') else { return message.clone() };
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let what = if kind == Some("unknown field `") { "key" } else { "name" };
    format!("there is no {what} '{name}' here{}", suggestion(name, known))
}

/// "; did you mean …" and "; there are …", as far as there is something to say.
pub(crate) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let meant = nearest(name, known.iter().copied());
    let meant = meant.map_or_else(String::new, |other| format!("; did you mean '{other}'?"));
    match known.len() {
        0 => "; there are none".to_owned(),
        // A long list does not help who has only slipped.
        1 | 16.. if !meant.is_empty() => meant,
        1 => format!("; there is {}", known.join(", ")),
        _ => format!("{meant}{} there are {}", if meant.is_empty() { ";" } else { "" }, known.join(", ")),
    }
}

/// The known name that was probably meant, if there is one.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (edits, other) = known.into_iter().map(|other| (distance(name, other), other)).min()?;
    (edits <= other.len().max(3) / 3).then_some(other)
}

/// Letters to insert, remove, replace or swap with their neighbour to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // The last two rows of the table of distances between beginnings.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let mut least = (last[j + 1] + 1).min(row[j] + 1).min(last[j] + usize::from(from != to));
            if i > 0 && j > 0 && a[i - 1] == *to && b[j - 1] == *from {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, edits) in [("", "ab", 2), ("stride", "stride", 0), ("stirde", "stride", 1), ("strid", "stride", 1)] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
        }
    }

    #[test]
    fn what_was_meant_is_suggested() {
        let known = ["file", "format", "data"];
        assert_eq!(suggestion("fromat", known), "; did you mean 'format'? there are file, format, data");
        assert_eq!(suggestion("colour", known), "; there are file, format, data");
        assert_eq!(suggestion("x", []), "; there are none");
    }

    #[test]
    fn places_are_found_both_ways() {
        let text = "about = 'a'\n[[draws]]\nvertices = 3\n[[draws]]\nvertices = { a = [1, 'x'] }\n";
        let scene = SceneText { path: PathBuf::from("a.toml"), text: text.to_owned() };
        let offset = text.find("'x'").expect("it is there");
        let place = Place::new("draws").at(1).key("vertices").key("a").at(1);
        assert_eq!(scene.place_at(offset), place);
        assert_eq!(scene.offset_of(&place), offset);
        assert_eq!(scene.line_and_column(offset), ":5:22");
        assert_eq!(place.to_string(), "draws[1].vertices.a[1]");
        // What is not there is where its table is.
        assert_eq!(scene.line_and_column(scene.offset_of(&Place::new("draws").at(0).key("none"))), ":2:1");
    }
}
