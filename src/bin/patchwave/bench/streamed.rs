//! `patchwave bench --streamed`: draws in batches under a bound on memory, up to far more points than memory holds.

use std::time::Instant;

use comfy_table::Table;
use patchwave::pipeline::{BatchPlan, BatchWorkspace};
use patchwave::{Draw, TessellationPipeline};
use serde::Serialize;

use super::Args;
use super::check::Checker;
use crate::measure::{Timer, WARM_UP};
use crate::scene::gpu::Gpu;
use crate::scene::grid::{Grid, Load};
use crate::scene::mode::Mode;

/// A row of the report.
#[derive(Serialize)]
pub(super) struct Row {
    load: String,
    mode: &'static str,
    patches: u32,
    points: u64,
    triangles: u64,
    batches: usize,
    milliseconds: f64,
    fastest: f64,
    slowest: f64,
    million_points_per_second: f64,
    gigabytes_per_second: f64,
    encode_microseconds_per_batch: f64,
    bound_bytes: u64,
    /// Of the buffers that the batches share.
    memory_bytes: u64,
    /// Of all that was allocated on the device while the batches ran, control points and this check included.
    allocated_bytes: Option<u64>,
    /// Of every primitive's number and its vertices' bits.
    checksum: String,
}

/// A straight line through the rows of a mode.
#[derive(Serialize)]
pub(super) struct Fit {
    mode: &'static str,
    milliseconds: f64,
    picoseconds_per_point: f64,
    /// Of the worst row's time.
    worst_deviation: f64,
}

/// The whole report.
#[derive(Serialize)]
pub(super) struct Report {
    rows: Vec<Row>,
    fits: Vec<Fit>,
}

/// The factor where none is given: 900 points a patch.
const FACTOR: f32 = 29.0;

pub(super) fn run(args: &Args, gpu: &Gpu, timer: &Timer) -> anyhow::Result<Report> {
    let mut rows: Vec<Row> = Vec::new();
    let factors = if args.factors.is_empty() { &[FACTOR][..] } else { &args.factors };
    for &factor in factors {
        for &points in &args.points {
            let load = Load::Uniform(factor);
            let of_patch = load.expected_points(1);
            anyhow::ensure!(of_patch > 0, "a patch at factor {factor} has no points");
            let patches = u32::try_from(points.div_ceil(of_patch))?;
            let grid = Grid::new(gpu, patches, load, args.parameters.parameters().patches_per_threadgroup)?;
            let first = rows.len();
            for &mode in &args.modes {
                let pipeline = mode.of(&grid.pipeline, &args.parameters.parameters())?;
                let row =
                    grid.with_draw(|draw| row(args, gpu, timer, &pipeline, draw, load.expected_points(patches)))?;
                let row = Row { load: load.to_string(), mode: mode.name(), patches, ..row };
                if !args.json {
                    eprintln!("{} points {} {}: {:.3} ms", row.points, row.load, row.mode, row.milliseconds);
                }
                let same = rows[first..].iter().all(|other| other.checksum == row.checksum);
                anyhow::ensure!(same, "the modes differ: {} gives {}", row.mode, row.checksum);
                rows.push(row);
            }
        }
    }
    let fits = args.modes.iter().filter_map(|mode| fit(&rows, *mode)).collect();
    Ok(Report { rows, fits })
}

/// Times the passes of all batches, encoded one after the other and submitted at once.
fn row(
    args: &Args,
    gpu: &Gpu,
    timer: &Timer,
    pipeline: &TessellationPipeline,
    draw: &Draw<'_>,
    expected: u64,
) -> anyhow::Result<Row> {
    let Gpu { device, queue, .. } = gpu;
    let measurement = pipeline.measure_blocking(device, queue, draw)?;
    let points = measurement.vertices();
    anyhow::ensure!(points == expected, "the GPU counts {points} points, the tessellator {expected}");
    let plan = BatchPlan::new(pipeline, draw, &measurement, args.memory.0)?;
    let mut batches = BatchWorkspace::new(device, queue, pipeline, plan.clone())?;
    let mut checker = Checker::of_batches(gpu, &plan);
    let count = plan.batches().len();

    let mut run = |checker: Option<&mut Checker>| {
        let mut checker = checker;
        let mut encoding = 0.0;
        let time = timer.time(device, queue, |encoder| {
            let begin = Instant::now();
            for batch in 0..count {
                let result = pipeline.encode_batch(queue, encoder, &mut batches, draw, batch)?;
                if let Some(checker) = &mut checker {
                    checker.encode(gpu, encoder, batch, &result);
                }
            }
            encoding = begin.elapsed().as_secs_f64() * 1e6;
            if let Some(checker) = &checker {
                checker.end(encoder);
            }
            Ok(())
        })?;
        gpu.check()?;
        anyhow::Ok([time, encoding])
    };
    let begin = Instant::now();
    checker.begin(gpu);
    run(Some(&mut checker))?;
    let sums = checker.sums(gpu)?;
    while begin.elapsed() < WARM_UP {
        run(None)?;
    }
    let mut times = Vec::new();
    let mut encoding = Vec::new();
    for _ in 0..args.repeat {
        let [time, microseconds] = run(None)?;
        times.push(time);
        encoding.push(microseconds / count.max(1) as f64);
    }
    let allocated_bytes = device.generate_allocator_report().map(|report| report.total_reserved_bytes);
    // Again at the end: the runs before it have left nothing behind that changes the result.
    checker.begin(gpu);
    run(Some(&mut checker))?;
    let again = checker.sums(gpu)?;
    anyhow::ensure!(again == sums, "the last run's checksum is {again:x?}, the first's {sums:x?}");

    times.sort_by(f64::total_cmp);
    encoding.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    let bytes = points * pipeline.vertex_stride() + measurement.primitives() * 12;
    Ok(Row {
        load: String::new(),
        mode: "",
        patches: 0,
        points,
        triangles: measurement.primitives(),
        batches: count,
        milliseconds: median,
        fastest: times[0],
        slowest: times[times.len() - 1],
        million_points_per_second: points as f64 / median / 1e3,
        gigabytes_per_second: bytes as f64 / median / 1e6,
        encode_microseconds_per_batch: encoding[encoding.len() / 2],
        bound_bytes: args.memory.0,
        memory_bytes: batches.total_bytes(),
        allocated_bytes,
        checksum: format!("{:08x}{:08x}", sums[1], sums[0]),
    })
}

/// Least squares of t = a + b·n over a mode's rows of one load.
fn fit(rows: &[Row], mode: Mode) -> Option<Fit> {
    let first = rows.iter().find(|row| row.mode == mode.name())?;
    let own: Vec<[f64; 2]> = rows
        .iter()
        .filter(|row| row.mode == mode.name() && row.load == first.load)
        .map(|row| [row.points as f64, row.milliseconds])
        .collect();
    let count = own.len() as f64;
    let mean = [0, 1].map(|i| own.iter().map(|at| at[i]).sum::<f64>() / count);
    let spread: f64 = own.iter().map(|at| (at[0] - mean[0]).powi(2)).sum();
    if spread == 0.0 {
        return None;
    }
    let slope = own.iter().map(|at| (at[0] - mean[0]) * (at[1] - mean[1])).sum::<f64>() / spread;
    let start = mean[1] - slope * mean[0];
    let deviation = |at: &[f64; 2]| ((start + slope * at[0]) / at[1] - 1.0).abs();
    Some(Fit {
        mode: mode.name(),
        milliseconds: start,
        picoseconds_per_point: slope * 1e9,
        worst_deviation: own.iter().map(deviation).fold(0.0, f64::max),
    })
}

pub(super) fn table(report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header([
        "patches",
        "load",
        "mode",
        "points",
        "triangles",
        "batches",
        "ms",
        "min..max",
        "Mpoints/s",
        "GB/s",
        "encode µs a batch",
        "bound MiB",
        "used MiB",
        "device MiB",
        "checksum",
    ]);
    let mebibytes = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    for row in &report.rows {
        table.add_row([
            row.patches.to_string(),
            row.load.clone(),
            row.mode.to_owned(),
            row.points.to_string(),
            row.triangles.to_string(),
            row.batches.to_string(),
            format!("{:.3}", row.milliseconds),
            format!("{:.3}..{:.3}", row.fastest, row.slowest),
            format!("{:.1}", row.million_points_per_second),
            format!("{:.1}", row.gigabytes_per_second),
            format!("{:.1}", row.encode_microseconds_per_batch),
            mebibytes(row.bound_bytes),
            mebibytes(row.memory_bytes),
            row.allocated_bytes.map_or_else(String::new, mebibytes),
            row.checksum.clone(),
        ]);
    }
    let fits: String = report
        .fits
        .iter()
        .map(|fit| {
            format!(
                "{}: t = {:.4} ms + {:.2} ps a point; the worst row is {:.1} % off\n",
                fit.mode,
                fit.milliseconds,
                fit.picoseconds_per_point,
                fit.worst_deviation * 100.0
            )
        })
        .collect();
    format!("{table}\n{fits}")
}
