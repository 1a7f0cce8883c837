//! `patchwave bench --native`: the grids of the benchmark through the driver's own tessellation, and whole frames both ways.

use comfy_table::Table;
use glam::{Mat4, Vec3};
use patchwave::{TessellationPipeline, Workspace, WorkspaceDescriptor};
use serde::Serialize;
use std::path::PathBuf;

use super::painter::Painter;
use super::pictures;
use super::shaders::Shaders;
use super::timed::{self, Seen, Timed, VERTEX_BYTES, Way};
use super::vulkan::Device;
use super::written;
use crate::measure::{self, Timer};
use crate::scene::Size;
use crate::scene::gpu::Gpu;
use crate::scene::grid::{self, Grid};

/// What `bench` takes for it.
#[derive(clap::Args)]
#[group(id = "native_bench")]
pub(crate) struct Args {
    /// Beside each grid, the driver's own tessellation of it (Vulkan): discarded, written, and drawn; and whole frames
    #[arg(long, conflicts_with_all = ["streamed", "assembly", "no_indices"])]
    pub(crate) native: bool,
    /// With --native: take the native shaders from a folder rather than compile them with glslang
    #[arg(long, value_name = "DIR", requires = "native")]
    spirv: Option<PathBuf>,
    /// With --native: write the native shaders into a folder, for --spirv elsewhere, and do nothing else
    #[arg(long, value_name = "DIR", requires = "native", conflicts_with = "spirv")]
    write_spirv: Option<PathBuf>,
}

/// Pixels along each side of the pictures.
const SIDE: u32 = 1024;
/// One pixel of so many may differ.
const ONE_IN: usize = 1000;
/// By the wall clock, so many times in turns.
const TURNS: u32 = 3;

/// A grid through the driver's tessellation.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) load: String,
    /// Of uniform loads.
    #[serde(skip)]
    pub(crate) factor: Option<f32>,
    pub(crate) patches: u32,
    pub(crate) what: &'static str,
    /// Distinct domain points.
    points: u64,
    /// Why there are no numbers, where there are none.
    problem: Option<String>,
    draws: Option<u32>,
    /// Of the evaluation shader, by pipeline statistics.
    invocations: Option<u64>,
    milliseconds: Option<f64>,
    fastest: Option<f64>,
    slowest: Option<f64>,
    /// Distinct ones.
    pub(crate) million_points_per_second: Option<f64>,
    /// What the evaluation shader writes: 32 bytes an invocation.
    gigabytes_per_second: Option<f64>,
}

/// Patchwave's rows of the same grid, beside it.
#[derive(Serialize)]
pub(crate) struct Against {
    load: String,
    patches: u32,
    mode: &'static str,
    /// Of all passes; by the wall clock, measured in turns with the driver's.
    million_points_per_second: f64,
    /// Points a second through those of the driver, discarded and written.
    to_discarded: Option<f64>,
    to_written: Option<f64>,
    /// The same of the fastest runs of both, which a busy machine disturbs least.
    to_written_fastest: Option<f64>,
    /// Why there is no frame, where there is none.
    problem: Option<String>,
    /// Of all passes and the draw into the same target.
    frame_milliseconds: Option<f64>,
    frame_fastest: Option<f64>,
    frame_slowest: Option<f64>,
    /// Its time through the driver's.
    frame_ratio: Option<f64>,
    /// The passes alone, through the frame.
    passes_share: Option<f64>,
    /// Pixels in which a channel differs by more than 2 of 255.
    differing_pixels: Option<usize>,
}

/// What there is beside the table of loads.
#[derive(Serialize)]
pub(crate) struct Report {
    clock: Option<&'static str>,
    /// Why there is nothing, where there is nothing.
    missing: Option<String>,
    pub(crate) rows: Vec<Row>,
    against: Vec<Against>,
    /// Where anything was written or drawn that is not right.
    pub(crate) failures: Vec<String>,
}

/// A mode's row of the table of loads.
pub(crate) struct Ours<'a> {
    pub(crate) mode: &'static str,
    pub(crate) pipeline: &'a TessellationPipeline,
    /// Of all passes, the median and the fastest.
    pub(crate) milliseconds: f64,
    pub(crate) fastest: f64,
    pub(crate) primitives: u64,
}

/// A grid, as patchwave had it.
pub(crate) struct Load<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) timer: &'a Timer,
    pub(crate) grid: &'a Grid,
    pub(crate) modes: &'a [Ours<'a>],
    pub(crate) repeat: u32,
}

/// The driver's side, open.
pub(crate) struct Native {
    shaders: Shaders,
    device: Result<Device, String>,
}

impl Args {
    /// Writes the shaders and says how many, where that is all that is asked.
    pub(crate) fn write(&self) -> anyhow::Result<Option<String>> {
        let Some(folder) = &self.write_spirv else { return Ok(None) };
        let files = Shaders::find(None)?.write_all(folder)?;
        Ok(Some(format!("{files} native shaders written to {}\n", folder.display())))
    }

    /// Opens the driver's side of an adapter, where it is asked for.
    ///
    /// # Errors
    /// There are no shaders. What the adapter lacks the report says.
    pub(crate) fn open(&self, info: &wgpu::AdapterInfo) -> anyhow::Result<Option<Native>> {
        if !self.native {
            return Ok(None);
        }
        let shaders = Shaders::find(self.spirv.as_deref())?;
        let device = Device::open(info).map_err(|error| format!("{error:#}"));
        Ok(Some(Native { shaders, device }))
    }
}

impl Native {
    /// A report without rows.
    pub(crate) fn report(&self) -> Report {
        Report {
            clock: self.device.as_ref().ok().map(Device::clock),
            missing: self.device.as_ref().err().cloned(),
            rows: Vec::new(),
            against: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Measures a grid in all ways, and frames of it, and tells each. What cannot be measured the rows say.
    pub(crate) fn measure(&self, load: &Load<'_>, report: &mut Report, tell: impl Fn(&str)) {
        let Ok(device) = &self.device else { return };
        let what = format!("{} {}", load.grid.patches(), load.grid.load());
        let tell = |mode: &str, milliseconds: Option<f64>| {
            milliseconds.into_iter().for_each(|milliseconds| tell(&format!("{what} {mode}: {milliseconds:.4} ms")));
        };
        let mut ways = [Way::Discard, Way::Write, Way::Draw].map(|way| (way, self.time(device, load, way)));
        let mut passes: Vec<_> = load.modes.iter().map(|ours| vec![ours.fastest, ours.milliseconds]).collect();
        if !load.timer.has_stamps()
            && let Err(error) = self.take_turns(device, load, &mut ways, &mut passes)
        {
            report.failures.push(format!("{what}, in turns: {error:#}"));
        }
        let mut picture = None;
        let ways = ways.map(|(way, timed)| {
            if let Err(error) = timed.as_ref().map_or(Ok(()), |timed| check(load, timed)) {
                report.failures.push(format!("{what}, native, {}: {error:#}", way.name()));
            }
            let row = row(load, way, &timed);
            tell(&format!("native, {}", way.name()), row.milliseconds);
            if let Ok(Timed { seen: Seen::Picture(pixels), .. }) = timed {
                picture = Some(pixels);
            }
            row
        });
        // Different clocks do not compare.
        let compares = device.has_stamps() == load.timer.has_stamps();
        let [discarded, written, drawn] = ways.each_ref().map(|row| Some(row).filter(|_| compares));
        let rate_of = |row: Option<&Row>| row.and_then(|row| row.million_points_per_second);
        for (ours, passes) in load.modes.iter().zip(&passes) {
            let Spread { median: passes, fastest, .. } = Spread::of(passes);
            let frame = frame(load, ours.pipeline);
            let apart = match (&frame, &picture) {
                (Ok((_, pixels)), Some(picture)) => Some(pictures::differing(pixels, picture)),
                _ => None,
            };
            let limit = ((SIDE * SIDE) as usize).div_ceil(ONE_IN);
            if let Some(apart) = apart.filter(|apart| *apart >= limit) {
                report.failures.push(format!(
                    "{what} {}: {apart} pixels differ from the driver's picture, and fewer than {limit} may",
                    ours.mode
                ));
            }
            let frame = frame.map(|(milliseconds, _)| Spread::of(&milliseconds));
            let median = frame.as_ref().ok().map(|frame| frame.median);
            tell(&format!("{} frame", ours.mode), median);
            let rate = load.grid.expected_points() as f64 / passes / 1e3;
            report.against.push(Against {
                load: load.grid.load().to_string(),
                patches: load.grid.patches(),
                mode: ours.mode,
                million_points_per_second: rate,
                to_discarded: rate_of(discarded).map(|native| rate / native),
                to_written: rate_of(written).map(|native| rate / native),
                to_written_fastest: written.and_then(|row| row.fastest).map(|native| native / fastest),
                problem: frame.as_ref().err().map(|error| format!("{error:#}")),
                frame_milliseconds: median,
                frame_fastest: frame.as_ref().ok().map(|frame| frame.fastest),
                frame_slowest: frame.as_ref().ok().map(|frame| frame.slowest),
                frame_ratio: median.zip(drawn.and_then(|row| row.milliseconds)).map(|(ours, native)| ours / native),
                passes_share: median.map(|frame| passes / frame),
                differing_pixels: apart,
            });
        }
        report.rows.extend(ways);
    }

    /// Times the driver's ways that draw nothing and patchwave's passes in turns, since a machine that the wall clock has to
    /// be read on does other things too.
    fn take_turns(
        &self,
        device: &Device,
        load: &Load<'_>,
        ways: &mut [(Way, anyhow::Result<Timed>)],
        passes: &mut [Vec<f64>],
    ) -> anyhow::Result<()> {
        let Gpu { device: gpu, queue, .. } = load.gpu;
        passes.iter_mut().for_each(Vec::clear);
        for _ in 0..TURNS {
            for (ours, times) in load.modes.iter().zip(&mut *passes) {
                let sample = load.grid.with_draw(|draw| {
                    measure::tessellation(gpu, queue, load.timer, ours.pipeline, draw, load.repeat)
                })?;
                times.extend(sample.milliseconds);
            }
            for (way, timed) in ways.iter_mut().filter(|(way, _)| *way != Way::Draw) {
                if let Ok(timed) = timed {
                    timed.milliseconds.extend(self.time(device, load, *way)?.milliseconds);
                }
            }
        }
        passes.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
        for (_, timed) in ways {
            if let Ok(timed) = timed {
                timed.milliseconds.sort_by(f64::total_cmp);
            }
        }
        Ok(())
    }

    fn time(&self, device: &Device, load: &Load<'_>, way: Way) -> anyhow::Result<Timed> {
        let grid = load.grid;
        let native = timed::Load {
            control: &grid::positions(grid.patches()),
            factors: &grid.load().factors(grid.patches()),
            points_of_patch: grid.load().most_points_of_patch(),
            clip_from_world: &camera(grid.patches()),
            side: SIDE,
        };
        timed::time(device, &self.shaders, &native, way, load.repeat)
    }
}

/// From above, the grid from border to border.
fn camera(patches: u32) -> Mat4 {
    let side = grid::side(patches) as f32;
    Mat4::from_translation(Vec3::new(-1.0, -1.0, 0.5)) * Mat4::from_scale(Vec3::new(2.0 / side, 2.0 / side, 0.25))
}

fn row(load: &Load<'_>, way: Way, timed: &anyhow::Result<Timed>) -> Row {
    let points = load.grid.expected_points();
    let timed = timed.as_ref();
    let spread = timed.ok().map(|timed| Spread::of(&timed.milliseconds));
    let median = spread.as_ref().map(|spread| spread.median);
    let written = timed.ok().filter(|_| way == Way::Write).map(|timed| (timed.invocations * VERTEX_BYTES) as f64);
    Row {
        load: load.grid.load().to_string(),
        factor: load.grid.load().uniform(),
        patches: load.grid.patches(),
        what: way.name(),
        points,
        problem: timed.err().map(|error| format!("{error:#}")),
        draws: timed.ok().map(|timed| timed.draws),
        invocations: timed.ok().map(|timed| timed.invocations),
        milliseconds: median,
        fastest: spread.as_ref().map(|spread| spread.fastest),
        slowest: spread.as_ref().map(|spread| spread.slowest),
        million_points_per_second: median.map(|median| points as f64 / median / 1e3),
        gigabytes_per_second: written.zip(median).map(|(bytes, median)| bytes / median / 1e6),
    }
}

/// Whether the driver did what it was to do.
fn check(load: &Load<'_>, timed: &Timed) -> anyhow::Result<()> {
    let points = load.grid.expected_points();
    anyhow::ensure!(
        timed.invocations >= points,
        "{} invocations of the evaluation shader are fewer than the {points} domain points",
        timed.invocations
    );
    match &timed.seen {
        Seen::Nothing => {}
        Seen::Picture(pixels) => {
            let primitives = load.modes.first().map_or(timed.primitives, |ours| ours.primitives);
            anyhow::ensure!(
                timed.primitives == primitives,
                "the driver draws {} primitives, patchwave {primitives}",
                timed.primitives
            );
            let covered = pixels.chunks_exact(4).filter(|pixel| pixel[..3] != [0; 3]).count();
            anyhow::ensure!(covered * 2 > (SIDE * SIDE) as usize, "only {covered} pixels are covered");
        }
        Seen::Vertices { count, ring } => {
            anyhow::ensure!(
                *count == timed.invocations & u64::from(u32::MAX),
                "{count} vertices are counted where {} invocations are",
                timed.invocations
            );
            written::check(load.grid.patches(), ring)?;
        }
    }
    Ok(())
}

/// Times all passes and the draw into a picture; sorted, and the picture.
fn frame(load: &Load<'_>, pipeline: &TessellationPipeline) -> anyhow::Result<(Vec<f64>, Vec<u8>)> {
    let Gpu { device, queue, .. } = load.gpu;
    load.grid.with_draw(|draw| {
        let measurement = pipeline.measure_blocking(device, queue, draw)?;
        let sizes = WorkspaceDescriptor::for_measurement(pipeline, &measurement)?;
        let mut workspace = Workspace::new(device, pipeline, sizes)?;
        let size = Size { width: SIDE, height: SIDE };
        let painter = Painter::new(load.gpu, size, pipeline, Some(&camera(load.grid.patches())))?;
        let milliseconds = load.timer.again(device, queue, load.repeat, |encoder| {
            workspace.reset();
            let tessellation = pipeline.encode(queue, encoder, &mut workspace, draw)?;
            painter.draw(encoder, &tessellation);
            Ok(())
        })?;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        painter.copy(&mut encoder);
        queue.submit([encoder.finish()]);
        Ok((milliseconds, painter.read(load.gpu)?))
    })
}

/// Median and ends of sorted times.
struct Spread {
    median: f64,
    fastest: f64,
    slowest: f64,
}

impl Spread {
    fn of(sorted: &[f64]) -> Self {
        let at = |i: usize| sorted.get(i).copied().unwrap_or(f64::NAN);
        Self { median: at(sorted.len() / 2), fastest: at(0), slowest: at(sorted.len().saturating_sub(1)) }
    }
}

/// Both tables, and what is missing.
pub(crate) fn table(report: &Report) -> String {
    if let Some(missing) = &report.missing {
        return format!("native tessellation was not measured: {missing}\n");
    }
    let number =
        |value: Option<f64>, places: usize| value.map_or_else(String::new, |value| format!("{value:.places$}"));
    let spread = |fastest: Option<f64>, slowest: Option<f64>| {
        fastest.zip(slowest).map_or_else(String::new, |(fastest, slowest)| format!("{fastest:.4}..{slowest:.4}"))
    };
    let mut native = Table::new();
    native.load_style(comfy_table::presets::ASCII_MARKDOWN);
    native.set_header([
        "patches",
        "load",
        "native",
        "points",
        "invocations",
        "a point",
        "draws",
        "ms",
        "min..max",
        "Mpoints/s",
        "written GB/s",
        "problem",
    ]);
    for row in &report.rows {
        let whole = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        native.add_row([
            row.patches.to_string(),
            row.load.clone(),
            row.what.to_owned(),
            row.points.to_string(),
            whole(row.invocations),
            number(row.invocations.map(|invocations| invocations as f64 / row.points as f64), 3),
            whole(row.draws.map(u64::from)),
            number(row.milliseconds, 4),
            spread(row.fastest, row.slowest),
            number(row.million_points_per_second, 1),
            number(row.gigabytes_per_second, 1),
            row.problem.clone().unwrap_or_default(),
        ]);
    }
    let mut against = Table::new();
    against.load_style(comfy_table::presets::ASCII_MARKDOWN);
    against.set_header([
        "patches",
        "load",
        "mode",
        "Mpoints/s",
        "x discarded",
        "x written",
        "by the fastest",
        "frame ms",
        "min..max",
        "frame of native's",
        "passes of frame",
        "pixels apart",
        "problem",
    ]);
    let percent = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{:.1} %", value * 100.0));
    for row in &report.against {
        against.add_row([
            row.patches.to_string(),
            row.load.clone(),
            row.mode.to_owned(),
            format!("{:.1}", row.million_points_per_second),
            number(row.to_discarded, 2),
            number(row.to_written, 2),
            number(row.to_written_fastest, 2),
            number(row.frame_milliseconds, 4),
            spread(row.frame_fastest, row.frame_slowest),
            number(row.frame_ratio, 3),
            percent(row.passes_share),
            row.differing_pixels.map_or_else(String::new, |apart| apart.to_string()),
            row.problem.clone().unwrap_or_default(),
        ]);
    }
    format!(
        "the driver's own tessellation, {}; drawn: into {SIDE}x{SIDE} pixels\n{native}\n\
         patchwave beside it: points a second through the driver's, and whole frames\n{against}\n",
        report.clock.unwrap_or("not timed")
    ) + &report.failures.iter().map(|failure| format!("FAILED: {failure}\n")).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let nothing = Report {
            clock: None,
            missing: Some("there is no Vulkan loader".to_owned()),
            rows: Vec::new(),
            against: Vec::new(),
            failures: Vec::new(),
        };
        assert_eq!(table(&nothing), "native tessellation was not measured: there is no Vulkan loader\n");
        let row = Row {
            load: "uniform 64".to_owned(),
            factor: Some(64.0),
            patches: 65_536,
            what: Way::Write.name(),
            points: 276_889_600,
            problem: Some("the device has no 268435456 bytes of memory left".to_owned()),
            draws: None,
            invocations: None,
            milliseconds: None,
            fastest: None,
            slowest: None,
            million_points_per_second: None,
            gigabytes_per_second: None,
        };
        let report = Report { clock: Some("a clock"), missing: None, rows: vec![row], ..nothing };
        let said = table(&report);
        let line = said.lines().find(|line| line.contains("uniform 64")).expect("a row");
        assert!(line.contains("268435456 bytes"), "{line}");
        // Nothing stands where nothing was measured.
        assert_eq!(line.matches(|digit: char| digit.is_ascii_digit()).count(), 2 + 5 + 9 + 9, "{line}");
    }

    #[test]
    fn the_camera_sees_the_grid_from_border_to_border() {
        let seen = |x: f32, y: f32, z: f32| camera(10).project_point3(Vec3::new(x, y, z)).to_array();
        assert_eq!(seen(0.0, 0.0, 0.0), [-1.0, -1.0, 0.5]);
        assert_eq!(seen(4.0, 4.0, 1.0), [1.0, 1.0, 0.75]);
    }
}
