//! `patchwave info --layouts FILE`: recorded layouts, classified.

use super::architecture::{fields_json, new_table, yes_no};
use crate::{Outcome, output};
use anyhow::Context;
use patchwave::adapter::{Certainty, RecordedLayout, classify, read_layouts};
use std::collections::BTreeMap;
use std::path::Path;

pub(super) fn run(path: &Path, json: bool) -> anyhow::Result<Outcome> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let layouts = read_layouts(&text).with_context(|| path.display().to_string())?;
    if json {
        let answers: BTreeMap<_, _> =
            layouts.iter().map(|layout| (layout.id.as_str(), fields_json(&classify(&layout.facts)))).collect();
        output::say(&(serde_json::to_string(&answers)? + "\n"))?;
    } else {
        output::say(&to_text(&layouts))?;
    }
    Ok(Outcome::Passed)
}

fn to_text(layouts: &[RecordedLayout]) -> String {
    let mut table = new_table(["layout", "tile_based_renderer", "uma", "cache_coherent_uma", "isolated_mmu"]);
    for layout in layouts {
        let expected = layout.expected;
        let expected = [expected.tile_based_renderer, expected.uma, expected.cache_coherent_uma, expected.isolated_mmu];
        let cells = classify(&layout.facts).fields().into_iter().zip(expected).map(|((_, field), expected)| {
            let mut cell = format!("{}, {}", yes_no(field.value), field.from);
            match field.certainty {
                Certainty::Weak => cell += ", weak",
                Certainty::Undecided => cell += ", undecided",
                _ => {}
            }
            if field.conflict {
                cell += ", another signal disagrees";
            }
            if expected.is_some_and(|expected| expected != field.value) {
                cell += "; the file expects the other";
            }
            cell
        });
        table.add_row(std::iter::once(layout.id.clone()).chain(cells));
    }
    table.to_string() + "\n"
}
