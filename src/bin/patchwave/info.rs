//! `patchwave info`: the adapters, their limits, whether they serve, and what Direct3D 12 would say about them.

mod architecture;
mod layouts;

use crate::adapter::{self, AdapterChoice, Candidate};
use crate::{Outcome, output};
use comfy_table::{CellAlignment, Table, presets};
use patchwave::adapter::{
    AdapterFacts, ArchitectureOverrides, ArchitectureReport, GpuMatch, classify, collect, distinct_gpus, same_gpu,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// List the adapters, the limits that matter, and whether patchwave runs on them
///
/// patchwave runs on an adapter that has at least WebGPU's default limits: 16,384 bytes of workgroup memory, 256
/// invocations a workgroup, 65,535 workgroups a dimension, 8 storage buffers a stage, 128 MiB a storage binding. More
/// workgroup memory lets more patches share a threadgroup. Number 0 is what the other verbs use unless told otherwise.
/// Exit code 1: no adapter serves, or the one asked for does not.
///
/// Beside the limits stand the answers that Direct3D 12 has about an adapter's architecture and wgpu has not, each with
/// where it comes from; heaps and budgets; and which adapters are one GPU seen through two APIs. PATCHWAVE_UMA,
/// PATCHWAVE_CACHE_COHERENT_UMA, PATCHWAVE_TILE_BASED_RENDERER and PATCHWAVE_ISOLATED_MMU (0 or 1) override them.
/// With --layouts, the machines described in a file are classified instead of this one.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave info
  patchwave info --json
  patchwave info --adapter llvmpipe     is this one here, and does it serve?
  WGPU_BACKEND=vulkan patchwave info    only the adapters of one backend
  patchwave info --layouts assets/adapters/layouts.json")]
pub(crate) struct Args {
    #[command(flatten)]
    adapter: AdapterChoice,
    /// Classify the recorded layouts of a file, {"entries":[{"id","device_type","heaps":[…],"types":[…]}]}
    #[arg(long, value_name = "FILE", conflicts_with = "name")]
    layouts: Option<PathBuf>,
    /// Print JSON: {"adapters":[{"index","name",…,"serves","lacking":[…],"limits":{…},"architecture":{…}}],"chosen":index
    /// or null}; with --layouts {id: {"tile_based_renderer","uma","cache_coherent_uma","isolated_mmu"}}, each field
    /// {"value","provenance","certainty","undecided","conflict","reason"}
    #[arg(long)]
    json: bool,
}

/// An adapter with what was found out about it.
struct Known {
    facts: AdapterFacts,
    report: ArchitectureReport,
    /// The adapter before this one in the list that is the same GPU, and whether that is sure.
    same_as: Option<(usize, bool)>,
}

/// Asks all adapters, in the order of the list.
fn know(candidates: &[Candidate]) -> anyhow::Result<Vec<Known>> {
    let overrides = ArchitectureOverrides::from_env()?;
    let facts: Vec<_> = candidates.iter().map(|candidate| collect(&candidate.adapter)).collect();
    let identities: Vec<_> = facts.iter().map(|facts| facts.identity.clone()).collect();
    let first = distinct_gpus(&identities);
    let known = facts.into_iter().enumerate().map(|(index, facts)| {
        let report = overrides.apply(classify(&facts))?;
        let same_as = (first[index] != index)
            .then(|| (first[index], same_gpu(&identities[first[index]], &identities[index]) == GpuMatch::Same));
        Ok(Known { facts, report, same_as })
    });
    known.collect()
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
    same_gpu_as: Option<usize>,
    #[serde(flatten)]
    architecture: architecture::ArchitectureJson,
}

/// The whole answer in JSON.
#[derive(Serialize)]
struct InfoJson<'a> {
    adapters: Vec<AdapterJson<'a>>,
    chosen: Option<usize>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if let Some(path) = &args.layouts {
        return layouts::run(path, args.json);
    }
    let candidates = adapter::all();
    let known = know(&candidates)?;
    // Asked for one, the answer is about that one. Asked for none, an empty list is an answer too, in JSON.
    let asked = args.adapter.is_given().then(|| args.adapter.find(&candidates)).transpose()?;
    let first = asked.unwrap_or(0);
    let chosen = candidates.get(first).filter(|candidate| candidate.serves()).map(|_| first);
    let shown: Vec<_> =
        candidates.iter().enumerate().filter(|(index, _)| asked.is_none_or(|asked| asked == *index)).collect();

    if args.json {
        let adapters = shown.iter().map(|&(index, candidate)| to_json(index, candidate, &known[index]));
        let adapters = adapters.collect::<anyhow::Result<_>>()?;
        output::say(&(serde_json::to_string(&InfoJson { adapters, chosen })? + "\n"))?;
    } else {
        args.adapter.find(&candidates)?;
        let blocks =
            shown.iter().map(|&(index, candidate)| to_text(index, candidate, &known[index], chosen == Some(index)));
        output::say(&blocks.collect::<anyhow::Result<Vec<_>>>()?.join("\n"))?;
    }
    Ok(if chosen.is_some() { Outcome::Passed } else { Outcome::Failed })
}

fn to_json<'a>(index: usize, candidate: &'a Candidate, known: &Known) -> anyhow::Result<AdapterJson<'a>> {
    let info = &candidate.info;
    Ok(AdapterJson {
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
        same_gpu_as: known.same_as.map(|(index, _)| index),
        architecture: architecture::to_json(&known.facts, &known.report)?,
    })
}

fn to_text(index: usize, candidate: &Candidate, known: &Known, chosen: bool) -> anyhow::Result<String> {
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
    if let Some((same, sure)) = known.same_as {
        let words = if sure { "by its id" } else { "by vendor, device and name" };
        let _ = writeln!(text, "the same GPU as number {same}, {words}");
    }
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
    Ok(text + &table.to_string() + "\n" + &architecture::to_text(&known.facts, &known.report)?)
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
