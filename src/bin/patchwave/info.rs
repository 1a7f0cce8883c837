//! `patchwave info`: the adapters, their limits, and whether they serve.

use crate::adapter::{self, AdapterChoice, Candidate};
use crate::{Outcome, output};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// List the adapters, the limits that matter, and whether patchwave runs on them
///
/// patchwave runs on an adapter that has at least WebGPU's default limits: 16,384 bytes of workgroup memory, 256
/// invocations a workgroup, 65,535 workgroups a dimension, 8 storage buffers a stage, 128 MiB a storage binding. More
/// workgroup memory lets more patches share a threadgroup. Number 0 is what the other verbs use unless told otherwise.
/// Exit code 1: no adapter serves, or the one asked for does not.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave info
  patchwave info --json
  patchwave info --adapter llvmpipe     is this one here, and does it serve?
  WGPU_BACKEND=vulkan patchwave info    only the adapters of one backend")]
pub(crate) struct Args {
    #[command(flatten)]
    adapter: AdapterChoice,
    /// Print JSON: {"adapters":[{"index","name",…,"serves","lacking":[…],"limits":{…}}],"chosen":index or null}
    #[arg(long)]
    json: bool,
}

/// One adapter in JSON.
#[derive(Serialize)]
struct AdapterJson<'a> {
    index: usize,
    name: &'a str,
    backend: &'a str,
    device_type: &'a str,
    driver: &'a str,
    driver_info: &'a str,
    subgroup_sizes: [u32; 2],
    serves: bool,
    lacking: Vec<String>,
    limits: BTreeMap<&'a str, u64>,
}

/// The whole answer in JSON.
#[derive(Serialize)]
struct InfoJson<'a> {
    adapters: Vec<AdapterJson<'a>>,
    chosen: Option<usize>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let candidates = adapter::all();
    // Asked for one, the answer is about that one. Asked for none, an empty list is an answer too, in JSON.
    let asked = args.adapter.is_given().then(|| args.adapter.find(&candidates)).transpose()?;
    let first = asked.unwrap_or(0);
    let chosen = candidates.get(first).filter(|candidate| candidate.serves()).map(|_| first);
    let shown: Vec<_> =
        candidates.iter().enumerate().filter(|(index, _)| asked.is_none_or(|asked| asked == *index)).collect();

    if args.json {
        let adapters = shown.iter().map(|&(index, candidate)| to_json(index, candidate)).collect();
        output::say(&(serde_json::to_string(&InfoJson { adapters, chosen })? + "\n"))?;
    } else {
        args.adapter.find(&candidates)?;
        let blocks: Vec<_> =
            shown.iter().map(|&(index, candidate)| to_text(index, candidate, chosen == Some(index))).collect();
        output::say(&blocks.join("\n"))?;
    }
    Ok(if chosen.is_some() { Outcome::Passed } else { Outcome::Failed })
}

fn to_json(index: usize, candidate: &Candidate) -> AdapterJson<'_> {
    let info = &candidate.info;
    AdapterJson {
        index,
        name: &info.name,
        backend: candidate.backend(),
        device_type: candidate.device_type(),
        driver: &info.driver,
        driver_info: &info.driver_info,
        subgroup_sizes: [info.subgroup_min_size, info.subgroup_max_size],
        serves: candidate.serves(),
        lacking: candidate.lacking(),
        limits: candidate.limits.iter().map(|row| (row.key, row.has)).collect(),
    }
}

fn to_text(index: usize, candidate: &Candidate, chosen: bool) -> String {
    let info = &candidate.info;
    let mut text = format!("{index}  {}", info.name);
    text += match (candidate.serves(), chosen) {
        (true, true) => "  (serves; chosen)\n",
        (true, false) => "  (serves)\n",
        (false, _) => "  (does not serve)\n",
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}, {}, driver {} {}, subgroups of {} to {}",
        candidate.backend(),
        candidate.device_type(),
        info.driver,
        info.driver_info,
        info.subgroup_min_size,
        info.subgroup_max_size
    );
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(["limit", "has", "needed", ""]);
    for row in &candidate.limits {
        table.add_row([
            row.words.to_owned(),
            grouped(row.has),
            format!("{}{}", if row.at_most { "at most " } else { "" }, grouped(row.needs)),
            if row.suffices() { "suffices" } else { "too small" }.to_owned(),
        ]);
    }
    for words in &candidate.missing {
        table.add_row([*words, "no", "yes", "missing"]);
    }
    for column in [1, 2] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    text + &table.to_string() + "\n"
}

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
