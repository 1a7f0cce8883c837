//! The table of loads: each grid in each mode, beside the plain fill.

use comfy_table::Table;
use patchwave::TessellationPipeline;
use patchwave::hardware::Policy;
use serde::Serialize;

use super::check::Checker;
use crate::measure::{Sample, Subject, Timer};
use crate::scene::gpu::Gpu;
use crate::scene::grid::{Grid, Load};
use crate::scene::mode::Mode;

/// A row of the report.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) load: String,
    /// Of uniform loads.
    #[serde(skip)]
    pub(super) factor: Option<f32>,
    pub(super) mode: &'static str,
    pub(super) patches: u32,
    patches_per_threadgroup: u32,
    pub(super) points: u64,
    pub(super) triangles: u64,
    pub(super) milliseconds: f64,
    pub(super) fastest: f64,
    slowest: f64,
    pub(super) million_points_per_second: f64,
    /// Vertices, and indices where there are any.
    pub(super) gigabytes_per_second: f64,
    share_of_fill: Option<f64>,
    encode_microseconds: f64,
    /// Of the draw's workspace.
    memory_bytes: u64,
    /// Of all that was allocated on the device while it ran.
    allocated_bytes: Option<u64>,
    /// Hull, allocate, domain, connectivity.
    pass_milliseconds: Option<[f64; 4]>,
    /// Of every primitive's number and its vertices' bits; without indices, of the vertices' bits.
    pub(super) checksum: String,
}

/// A row that there is not.
#[derive(Serialize)]
pub(super) struct Unmeasured {
    pub(super) load: String,
    pub(super) mode: &'static str,
    pub(super) patches: u32,
    pub(super) problem: String,
}

/// What balancing brings to a load.
#[derive(Serialize)]
pub(super) struct Dynamic {
    load: String,
    patches: u32,
    better_pure_mode: &'static str,
    /// Points a second of the dynamic mode through those of the better pure one.
    ratio: f64,
}

/// The whole report.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) adapter: String,
    pub(super) driver: String,
    pub(super) clock: &'static str,
    /// Whether indices were written too.
    pub(super) indices: bool,
    pub(super) fill_gigabytes_per_second: Option<f64>,
    pub(super) rows: Vec<Row>,
    pub(super) unmeasured: Vec<Unmeasured>,
    pub(super) dynamic: Vec<Dynamic>,
    /// Where the output was not right.
    pub(super) failures: Vec<String>,
    #[cfg(feature = "native")]
    pub(super) native: Option<crate::native::bench::Report>,
}

/// What all rows share.
pub(super) struct Bench<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) timer: &'a Timer,
    /// Gigabytes a second.
    pub(super) fill: f64,
    pub(super) has_indices: bool,
    /// Of the grid's pipelines.
    pub(super) policy: Policy,
    pub(super) repeat: u32,
}

impl Bench<'_> {
    /// Measures a grid in a mode.
    ///
    /// # Errors
    /// What the device refuses; and any output that is not right.
    pub(super) fn row(&self, grid: &Grid, mode: Mode, pipeline: &TessellationPipeline) -> anyhow::Result<Row> {
        let Self { gpu, timer, fill, has_indices, policy, repeat } = *self;
        let (device, queue) = (&gpu.device, &gpu.queue);
        let mut sums = [None; 2];
        let sample = grid.with_draw(|draw| {
            let subject = Subject { device, queue, timer, pipeline, draw, has_indices };
            let sizes = subject.sizes()?;
            let checkers = [(); 2].map(|()| Checker::of_chunks(gpu, &sizes, has_indices));
            checkers.iter().for_each(|checker| checker.begin(gpu));
            let mut looks = checkers.into_iter();
            let mut looked = Vec::new();
            let sample = subject.sample(sizes, repeat, |encoder, result| {
                if let Some(mut checker) = looks.next() {
                    checker.encode_all(gpu, encoder, result);
                    checker.end(encoder);
                    looked.push(checker);
                }
            })?;
            gpu.check()?;
            for (sum, checker) in sums.iter_mut().zip(&looked) {
                *sum = Some(checker.sums(gpu)?);
            }
            anyhow::Ok(sample)
        })?;
        let [Some([low, high]), again] = sums else { anyhow::bail!("the output was not looked at") };
        anyhow::ensure!(again == sums[0], "the last run's checksum is {again:x?}, the first's {:x?}", sums[0]);
        let median = sample.median();
        let Sample { milliseconds, encode_microseconds, report, memory_bytes, allocated_bytes, passes } = sample;
        anyhow::ensure!(
            report.vertices == grid.expected_points(),
            "the GPU made {} points, the tessellator {}",
            report.vertices,
            grid.expected_points()
        );
        let index_bytes = if has_indices { report.primitives * 12 } else { 0 };
        let bytes = report.vertices * pipeline.vertex_stride() + index_bytes;
        let gigabytes_per_second = bytes as f64 / median / 1e6;
        Ok(Row {
            load: grid.load().to_string(),
            factor: grid.load().uniform(),
            mode: mode.name(),
            patches: grid.patches(),
            patches_per_threadgroup: policy
                .patches_per_threadgroup(pipeline.parameters().patches_per_threadgroup, grid.patches().into()),
            points: report.vertices,
            triangles: report.primitives,
            milliseconds: median,
            fastest: milliseconds.first().copied().unwrap_or(f64::NAN),
            slowest: milliseconds.last().copied().unwrap_or(f64::NAN),
            million_points_per_second: report.vertices as f64 / median / 1e3,
            gigabytes_per_second,
            share_of_fill: (fill > 0.0).then_some(gigabytes_per_second / fill),
            encode_microseconds,
            memory_bytes,
            allocated_bytes,
            pass_milliseconds: passes,
            checksum: format!("{high:08x}{low:08x}"),
        })
    }
}

impl Report {
    /// Notes that a mode of a grid has no row: the device has not the means, or what it did is not right.
    pub(super) fn note(&mut self, patches: u32, load: Load, mode: Mode, error: &anyhow::Error) {
        use patchwave::Error;
        let problem = format!("{error:#}");
        let mode = mode.name();
        if matches!(error.downcast_ref(), Some(Error::LimitExceeded { .. } | Error::Wgpu { .. })) {
            self.unmeasured.push(Unmeasured { load: load.to_string(), mode, patches, problem });
        } else {
            self.failures.push(format!("{patches} {load} {mode}: {problem}"));
        }
    }

    /// Compares the modes of the rows from `first` on, which are of one grid.
    pub(super) fn compare_modes(&mut self, first: usize) {
        let rows = self.rows.get(first..).unwrap_or_default();
        for [one, other] in rows.array_windows() {
            if one.checksum != other.checksum {
                self.failures.push(format!(
                    "{} {}: the modes differ: {} gives {}, and {} {}",
                    one.patches, one.load, one.mode, one.checksum, other.mode, other.checksum
                ));
            }
        }
        let of = |mode: Mode| rows.iter().find(|row| row.mode == mode.name());
        if let (Some(dynamic), Some(onchip), Some(offchip)) = (of(Mode::Dynamic), of(Mode::Onchip), of(Mode::Offchip)) {
            let better = if onchip.milliseconds <= offchip.milliseconds { onchip } else { offchip };
            self.dynamic.push(Dynamic {
                load: dynamic.load.clone(),
                patches: dynamic.patches,
                better_pure_mode: better.mode,
                ratio: better.milliseconds / dynamic.milliseconds,
            });
        }
    }

    /// Whether all that was measured was right, and something was.
    pub(super) fn is_right(&self) -> bool {
        #[cfg(feature = "native")]
        if self.native.as_ref().is_some_and(|native| !native.failures.is_empty()) {
            return false;
        }
        self.failures.is_empty() && !self.rows.is_empty()
    }
}

pub(super) fn table(report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header([
        "patches",
        "load",
        "mode",
        "P",
        "points",
        "triangles",
        "ms",
        "min..max",
        "hull/alloc/domain/conn ms",
        "Mpoints/s",
        "GB/s",
        "of fill",
        "encode µs",
        "MiB",
        "device MiB",
    ]);
    let mebibytes = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    for row in &report.rows {
        table.add_row([
            row.patches.to_string(),
            row.load.clone(),
            row.mode.to_owned(),
            row.patches_per_threadgroup.to_string(),
            row.points.to_string(),
            row.triangles.to_string(),
            format!("{:.4}", row.milliseconds),
            format!("{:.4}..{:.4}", row.fastest, row.slowest),
            row.pass_milliseconds
                .map_or_else(String::new, |passes| passes.map(|milliseconds| format!("{milliseconds:.4}")).join("/")),
            format!("{:.1}", row.million_points_per_second),
            format!("{:.1}", row.gigabytes_per_second),
            row.share_of_fill.map_or_else(String::new, |share| format!("{:.1} %", share * 100.0)),
            format!("{:.0}", row.encode_microseconds),
            mebibytes(row.memory_bytes),
            row.allocated_bytes.map_or_else(String::new, mebibytes),
        ]);
    }
    let mut text = format!(
        "{} ({}), {}; fill {:.1} GB/s; {}\n{table}\n",
        report.adapter,
        report.driver,
        report.clock,
        report.fill_gigabytes_per_second.unwrap_or(0.0),
        if report.indices { "vertices and indices" } else { "vertices only" },
    );
    for Unmeasured { load, mode, patches, problem } in &report.unmeasured {
        text += &format!("{patches} {load} {mode}: not measured: {problem}\n");
    }
    for Dynamic { load, patches, better_pure_mode, ratio } in &report.dynamic {
        text += &format!("{patches} {load}: dynamic has {ratio:.3} x the points a second of {better_pure_mode}\n");
    }
    text.extend(report.failures.iter().map(|failure| format!("FAILED: {failure}\n")));
    text
}
