//! `patchwave timeline`: when the waves of a scene would have run on the emulated machine, mode beside mode.

mod gantt;

use std::path::PathBuf;
use std::str::FromStr;

use comfy_table::{CellAlignment, Table, presets};
use patchwave::hardware::Statistics;
use patchwave::hardware::timeline::{Timeline, WaveCosts};
use patchwave::{Workspace, WorkspaceDescriptor};

use crate::adapter::AdapterChoice;
use crate::canvas::Drawing;
use crate::progress::Progress;
use crate::scene::gpu::Gpu;
use crate::scene::mode::{Mode, ParameterArgs};
use crate::scene::named::{Scene, SceneArgs};
use crate::{Outcome, output};
use gantt::{Gantt, Panel};

/// Draw when a scene's waves would have run on the console's compute units, in all modes
///
/// The GPU tessellates the scene and leaves a record of each threadgroup; from those, a scheduler model of the console (12
/// compute units of 40 waves and 64 KiB of LDS) follows. Costs are of a wave, in any one unit; the makespan is in the same.
/// Times of the model, not of the adapter.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave timeline skewed-scattered -o out/gantt.svg
  patchwave timeline neighbourhoods --factor 32 --costs 1,2,6,7 -o out/gantt.png")]
pub(crate) struct Args {
    #[command(flatten)]
    scene: SceneArgs,
    /// The picture to write: PNG where the name ends in .png, else SVG
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Costs of a vertex, a hull and a domain wave; a fourth number is that of an off-chip domain wave
    #[arg(long, value_name = "VS,HS,DS", default_value = "1,2,3")]
    costs: Costs,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    parameters: ParameterArgs,
    #[command(flatten)]
    adapter: AdapterChoice,
}

/// [`WaveCosts`] on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs(pub(crate) WaveCosts);

impl FromStr for Costs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.trim().parse::<f64>().ok().filter(|cost| cost.is_finite() && *cost >= 0.0);
        let costs: Option<Vec<f64>> = text.split(',').map(number).collect();
        match costs.as_deref() {
            Some([vertex, hull, domain]) => Ok(Self(WaveCosts::new(*vertex, *hull, *domain))),
            Some([vertex, hull, domain, off_chip]) => {
                Ok(Self(WaveCosts { off_chip_domain: *off_chip, ..WaveCosts::new(*vertex, *hull, *domain) }))
            }
            _ => Err(format!("'{text}' are no costs; write three or four numbers of at least 0, like 1,2,3")),
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    args.scene.check()?;
    let file = args.output.as_deref().map(output::Prepared::new).transpose()?;
    let mut progress = Progress::new("opening the adapter");
    let gpu = Gpu::open(&args.adapter.choose()?)?;
    progress.say("compiling shaders");
    let parameters = args.parameters.parameters();
    let scene = args.scene.open(&gpu, parameters.patches_per_threadgroup)?;
    progress.say("tessellating and scheduling");
    let mut panels = Vec::new();
    for mode in Mode::ALL {
        let pipeline = mode.of(scene.pipeline(), &parameters)?;
        panels.push(Panel { mode, timeline: timeline(&gpu, &scene, &pipeline, &args.costs.0)?.timeline });
    }
    drop(progress);
    let gantt = Gantt { title: args.scene.name(), panels: &panels };
    if let (Some(file), Some(path)) = (file, args.output.as_deref()) {
        file.write(&gantt.bytes_for(path)?)?;
    }
    output::say(&if args.json { json(&args.scene, &gpu, &panels)? } else { table(&panels) })?;
    Ok(Outcome::Passed)
}

/// What a draw came to on the emulated machine.
pub(crate) struct Model {
    pub(crate) timeline: Timeline,
    pub(crate) statistics: Statistics,
}

/// Draws the scene, and schedules the threadgroups that it came to.
pub(crate) fn timeline(
    gpu: &Gpu,
    scene: &Scene,
    pipeline: &patchwave::TessellationPipeline,
    costs: &WaveCosts,
) -> anyhow::Result<Model> {
    let Gpu { device, queue, .. } = gpu;
    let measurement = scene.with_draw(|draw| pipeline.measure_blocking(device, queue, draw))?;
    let mut workspace =
        Workspace::new(device, pipeline, WorkspaceDescriptor::for_measurement(pipeline, &measurement)?)?;
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("timeline") });
    let tessellation = scene.with_draw(|draw| pipeline.encode(queue, &mut encoder, &mut workspace, draw))?;
    queue.submit([encoder.finish()]);
    let records = tessellation.threadgroup_records_blocking(device, queue)?;
    gpu.check()?;
    let shape = tessellation.pipeline_shape();
    Ok(Model {
        timeline: Timeline::new(pipeline.profile(), shape, &records, costs)?,
        statistics: Statistics::new(shape, &records),
    })
}

fn json(scene: &SceneArgs, gpu: &Gpu, panels: &[Panel]) -> anyhow::Result<String> {
    let mode = |Panel { mode, timeline }: &Panel| {
        let units = timeline.compute_units.iter().map(|unit| unit.utilisation);
        let value = serde_json::json!({
            "makespan": timeline.makespan,
            "utilisation": timeline.utilisation(),
            "compute_units": serde_json::Value::from_iter(units),
            "lds_occupancy": timeline.lds_occupancy(),
        });
        (mode.name().to_owned(), value)
    };
    let modes = serde_json::Value::from_iter(panels.iter().map(mode));
    let report = serde_json::json!({ "scene": scene.name(), "adapter": gpu.name, "modes": modes });
    Ok(serde_json::to_string(&report)? + "\n")
}

fn table(panels: &[Panel]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["mode", "makespan", "of onchip", "utilisation", "idlest CU", "busiest CU", "LDS held"]);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let first = panels.first().map_or(0.0, |panel| panel.timeline.makespan);
    for Panel { mode, timeline } in panels {
        let of_units = || timeline.compute_units.iter().map(|unit| unit.utilisation);
        table.add_row([
            mode.name().to_owned(),
            format!("{:.1}", timeline.makespan),
            if first > 0.0 { percent(timeline.makespan / first) } else { String::new() },
            percent(timeline.utilisation()),
            percent(of_units().fold(f64::INFINITY, f64::min)),
            percent(of_units().fold(0.0, f64::max)),
            percent(timeline.lds_occupancy()),
        ]);
    }
    for column in 1..7 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}
