//! `patchwave tune`: which parameters a scene likes best, on this adapter and on the emulated machine.

mod heatmap;

use std::path::PathBuf;

use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use patchwave::TessellationPipeline;
use patchwave::hardware::{PipelineStateFlags, Policy, TessellationParameters};
use serde::Serialize;

use crate::adapter::AdapterChoice;
use crate::canvas::Drawing;
use crate::measure::{self, Timer};
use crate::scene::gpu::Gpu;
use crate::scene::mode::Mode;
use crate::scene::named::{Scene, SceneArgs};
use crate::timeline::{Costs, timeline};
use crate::{Outcome, output};
use heatmap::Heatmap;

/// Try patches per threadgroup, factor threshold and wave threshold on a scene, and show which are best
///
/// Each combination is run and timed on this adapter (medians; time stamps, or the wall clock where there are none), and
/// scheduled on the emulated machine, as 'patchwave timeline' does. On-chip and wholly off-chip are in the table too, at
/// each number of patches per threadgroup, and what the policy Adaptive chooses by itself.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave tune skewed-scattered -o out/heatmap.svg
  patchwave tune grid --factor 16 --patches-per-threadgroup 4,8,16 --wave-thresholds 0,4,8 --json")]
pub(crate) struct Args {
    #[command(flatten)]
    scene: SceneArgs,
    /// Patches per threadgroup to try [default: powers of two up to as many as fit]
    #[arg(long, value_name = "P,…", value_delimiter = ',')]
    patches_per_threadgroup: Vec<u32>,
    /// Factor thresholds to try
    #[arg(long, value_name = "T,…", value_delimiter = ',', default_values_t = [0.0f32, 2.5, 4.0, 8.0, 16.0, 32.0])]
    factor_thresholds: Vec<f32>,
    /// Wave thresholds to try
    #[arg(long, value_name = "W,…", value_delimiter = ',', default_values_t = [0u32, 2, 4, 8, 15])]
    wave_thresholds: Vec<u32>,
    /// Costs of a wave for the emulated machine, as of 'patchwave timeline'
    #[arg(long, value_name = "VS,HS,DS", default_value = "1,2,3")]
    costs: Costs,
    /// Timed repetitions of each combination, after warming up
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Also draw the times of all combinations: PNG where the name ends in .png, else SVG
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    adapter: AdapterChoice,
}

/// One combination.
#[derive(Clone, Copy, Debug, Serialize)]
struct Row {
    mode: &'static str,
    patches_per_threadgroup: u32,
    factor_threshold: Option<f32>,
    wave_threshold: Option<u32>,
    /// On this adapter.
    milliseconds: f64,
    /// On the emulated machine, in the unit of the costs.
    makespan: f64,
    off_chip_bytes: u64,
}

#[derive(Serialize)]
struct Report {
    scene: &'static str,
    adapter: String,
    clock: &'static str,
    /// The driver's defaults in dynamic mode.
    default: Row,
    /// What the policy `Adaptive` makes of a pipeline that may go off-chip, and of one that may not.
    adaptive: Row,
    adaptive_onchip: Row,
    /// Their times through the best one's.
    adaptive_to_best: f64,
    adaptive_onchip_to_best: f64,
    best: Row,
    best_onchip: Row,
    best_makespan: Row,
    rows: Vec<Row>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    args.scene.check()?;
    let file = args.output.as_deref().map(output::Prepared::new).transpose()?;
    let gpu = Gpu::open(&args.adapter.choose()?)?;
    let timer = Timer::new(&gpu.device, &gpu.queue);
    let most = args.scene.open(&gpu, None)?;
    let sizes = args.sizes(most.pipeline().parameters().patches_per_threadgroup);
    let combinations = sizes.len() * (1 + args.factor_thresholds.len() * args.wave_thresholds.len());
    // Shown on stderr, and only where that is a terminal.
    let bar = ProgressBar::new(combinations as u64 + 3);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len}, {eta} left") {
        bar.set_style(style);
    }
    let trial = Trial { args, gpu: &gpu, timer: &timer, bar: &bar };
    let default =
        trial.row(&most, &Mode::Dynamic.of(most.pipeline(), &TessellationParameters::default())?, "dynamic")?;
    let base = most.pipeline().with_policy(Policy::Adaptive);
    let adaptive = |mode: Mode| -> anyhow::Result<Row> {
        trial.row(&most, &mode.of(&base, &TessellationParameters::default())?, mode.name())
    };
    let [adaptive, adaptive_onchip] = [adaptive(Mode::Dynamic)?, adaptive(Mode::Onchip)?];
    let mut rows = Vec::with_capacity(combinations);
    for size in sizes {
        // Compiled anew, so that the kernel's workgroup memory is what this size takes.
        let scene = args.scene.open(&gpu, Some(size))?;
        trial.sweep(&scene, &mut rows)?;
    }
    bar.finish_and_clear();
    gpu.check()?;

    let least = |of: &dyn Fn(&Row) -> Option<f64>| {
        let mut best: Option<(f64, Row)> = None;
        for row in &rows {
            if let Some(value) = of(row)
                && best.is_none_or(|(least, _)| value < least)
            {
                best = Some((value, *row));
            }
        }
        best.map_or(default, |(_, row)| row)
    };
    let best = least(&|row| Some(row.milliseconds));
    let report = Report {
        scene: args.scene.name(),
        adapter: gpu.name.clone(),
        clock: timer.clock(),
        default,
        adaptive,
        adaptive_onchip,
        adaptive_to_best: adaptive.milliseconds / best.milliseconds,
        adaptive_onchip_to_best: adaptive_onchip.milliseconds / best.milliseconds,
        best,
        best_onchip: least(&|row| (row.mode == "onchip").then_some(row.milliseconds)),
        best_makespan: least(&|row| Some(row.makespan)),
        rows,
    };
    if let (Some(file), Some(path)) = (file, args.output.as_deref()) {
        file.write(&Heatmap::new(&report).bytes_for(path)?)?;
    }
    output::say(&if args.json { serde_json::to_string(&report)? + "\n" } else { table(&report) })?;
    Ok(Outcome::Passed)
}

impl Args {
    /// Numbers of patches to try; by default powers of two, and as many as fit.
    fn sizes(&self, most: u32) -> Vec<u32> {
        if !self.patches_per_threadgroup.is_empty() {
            return self.patches_per_threadgroup.clone();
        }
        let mut sizes: Vec<u32> = (0..).map(|i| 1 << i).take_while(|size| *size < most).collect();
        sizes.push(most);
        sizes
    }
}

struct Trial<'a> {
    args: &'a Args,
    gpu: &'a Gpu,
    timer: &'a Timer,
    bar: &'a ProgressBar,
}

impl Trial<'_> {
    fn sweep(&self, scene: &Scene, rows: &mut Vec<Row>) -> anyhow::Result<()> {
        let base = scene.pipeline();
        rows.push(self.row(scene, &Mode::Onchip.of(base, &TessellationParameters::default())?, "onchip")?);
        for &threshold in &self.args.factor_thresholds {
            for &waves in &self.args.wave_thresholds {
                let parameters = TessellationParameters {
                    patches_per_threadgroup: None,
                    tessellation_factor_threshold: Some(threshold),
                    ds_wave_threshold: Some(waves),
                };
                let pipeline = base.with_parameters(PipelineStateFlags::GsOnchipTsOffchip, &parameters)?;
                let mode = if threshold == 0.0 && waves == 0 { "offchip" } else { "dynamic" };
                rows.push(self.row(scene, &pipeline, mode)?);
            }
        }
        Ok(())
    }

    fn row(&self, scene: &Scene, pipeline: &TessellationPipeline, mode: &'static str) -> anyhow::Result<Row> {
        let Gpu { device, queue, .. } = self.gpu;
        let sample = scene
            .with_draw(|draw| measure::tessellation(device, queue, self.timer, pipeline, draw, self.args.repeat))?;
        let model = timeline(self.gpu, scene, pipeline, &self.args.costs.0)?;
        let parameters = pipeline.parameters();
        let patches = model.statistics.ia_primitives;
        self.bar.inc(1);
        Ok(Row {
            mode,
            // Under a policy, fewer than the pipeline's, by the number of patches.
            patches_per_threadgroup: parameters
                .patches_per_threadgroup
                .min(patches.div_ceil(model.statistics.threadgroups.max(1)) as u32),
            factor_threshold: parameters.off_chip.then_some(parameters.tessellation_factor_threshold),
            wave_threshold: parameters.off_chip.then_some(parameters.ds_wave_threshold),
            milliseconds: sample.median(),
            makespan: model.timeline.makespan,
            off_chip_bytes: model.statistics.off_chip_bytes,
        })
    }
}

fn table(report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "mode", "P", "T", "W", "ms", "of default", "makespan", "bytes off-chip"]);
    let mut line = |name: &str, row: &Row| {
        let dash = || "-".to_owned();
        table.add_row([
            name.to_owned(),
            row.mode.to_owned(),
            row.patches_per_threadgroup.to_string(),
            row.factor_threshold.map_or_else(dash, |threshold| threshold.to_string()),
            row.wave_threshold.map_or_else(dash, |threshold| threshold.to_string()),
            format!("{:.4}", row.milliseconds),
            format!("{:.1} %", row.milliseconds / report.default.milliseconds * 100.0),
            format!("{:.1}", row.makespan),
            row.off_chip_bytes.to_string(),
        ]);
    };
    line("default", &report.default);
    line("adaptive", &report.adaptive);
    line("adaptive on-chip", &report.adaptive_onchip);
    line("best", &report.best);
    line("best on-chip", &report.best_onchip);
    line("best makespan", &report.best_makespan);
    for row in &report.rows {
        line("", row);
    }
    for column in 2..9 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let Report { scene, adapter, clock, .. } = report;
    format!(
        "{}\nP patches per threadgroup, T factor threshold, W wave threshold; {scene} on {adapter}, {clock}\n\
         adaptive takes {:.2} x the time of the best, {:.2} x on-chip\n",
        table.trim_fmt(),
        report.adaptive_to_best,
        report.adaptive_onchip_to_best
    )
}
