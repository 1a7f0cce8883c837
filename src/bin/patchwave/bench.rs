//! `patchwave bench`: how fast the passes are on an adapter, beside a plain fill of memory in the same run.

mod assembly;
mod check;
mod streamed;

use crate::adapter::AdapterChoice;
use crate::measure::{self, Sample, Timer, fill_bandwidth};
use crate::scene::gpu::Gpu;
use crate::scene::grid::{Grid, Load};
use crate::scene::mode::{Mode, ParameterArgs};
use crate::{Outcome, output};
use comfy_table::Table;
use serde::Serialize;
use std::str::FromStr;

/// Measure the passes on an adapter: points, triangles and bytes a second
///
/// Bicubic Bézier patches of 16 control points, vertices of 32 bytes (position and normal), indices included. Beside them,
/// in the same run, a plain fill of memory with 16-byte stores. Each row is checked: the number of vertices that the GPU
/// reports must be the tessellator's. Times are medians; GPU time stamps where the device has them, else wall clock around
/// submission and wait (the column says which).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave bench
  patchwave bench --patches 4096 --factors 8 --modes offchip --repeat 15
  patchwave bench --streamed --points 10000000,100000000,1000000000 --memory 1GiB
  patchwave bench --assembly --patches 1000000
  patchwave bench --json

--streamed draws in batches that share so much memory at most. All batches are encoded
one after the other and submitted at once. Before the timed runs and after them, every
triangle of every batch is checked on the GPU (counts, indices, normals), and the sum of
hashes of all triangles must be the same then and in all modes. With several numbers of
points, a straight line t = a + b·n is laid through the times.

--assembly compares indexed patches of 3 control points at factor 1 through the input
assembler with the same patches whose shader reads indices and positions out of storage
buffers by hand.")]
pub(crate) struct Args {
    /// How many patches, comma-separated [default: 4096; with --assembly 1000000]
    #[arg(long, value_name = "N,…", value_delimiter = ',', conflicts_with = "streamed")]
    patches: Vec<u32>,
    /// Uniform factors, comma-separated, each 1 to 64 [default: 1,2,4,8,16,32,64; with --streamed 29]
    #[arg(long, value_name = "F,…", value_delimiter = ',', conflicts_with = "assembly")]
    factors: Vec<f32>,
    /// Modes, comma-separated: onchip, offchip, dynamic
    #[arg(long, value_name = "M,…", value_delimiter = ',', value_enum, default_values_t = Mode::ALL)]
    modes: Vec<Mode>,
    /// Also 1 % of patches at factor 64 among 2, scattered and clustered, and neighbourhoods of both kinds
    #[arg(long)]
    skewed: bool,
    /// Draw in batches under a bound on memory
    #[arg(long, conflicts_with = "skewed")]
    streamed: bool,
    /// At least so many domain points, comma-separated, of --streamed
    #[arg(long, value_name = "N,…", value_delimiter = ',', requires = "streamed", default_values_t = [1_000_000u64])]
    points: Vec<u64>,
    /// The bound on the memory of --streamed: bytes, or with KiB, MiB or GiB
    #[arg(long, value_name = "SIZE", requires = "streamed", default_value = "64MiB")]
    memory: Bytes,
    /// Compare the input assembler with vertices that the shader pulls by hand
    #[arg(long, conflicts_with_all = ["skewed", "streamed"])]
    assembly: bool,
    #[command(flatten)]
    parameters: ParameterArgs,
    /// Timed repetitions of each row, after warming up
    #[arg(long, value_name = "N", default_value_t = 7)]
    repeat: u32,
    #[command(flatten)]
    adapter: AdapterChoice,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A size of memory.
#[derive(Clone, Copy, Debug)]
struct Bytes(u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
        let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
        let (number, shift) = unit.unwrap_or((text, 0));
        let bytes = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
        bytes.map(Self).ok_or_else(|| "a whole number of bytes, KiB, MiB or GiB, such as 256MiB".to_owned())
    }
}

/// The report of another workload than the table of loads.
#[derive(Serialize)]
struct Other<T> {
    adapter: String,
    driver: String,
    clock: &'static str,
    #[serde(flatten)]
    report: T,
}

/// A row of the report.
#[derive(Serialize)]
struct Row {
    load: String,
    mode: &'static str,
    patches: u32,
    patches_per_threadgroup: u32,
    points: u64,
    triangles: u64,
    milliseconds: f64,
    fastest: f64,
    slowest: f64,
    million_points_per_second: f64,
    gigabytes_per_second: f64,
    share_of_fill: Option<f64>,
    encode_microseconds: f64,
    memory_bytes: u64,
    /// Hull, allocate, domain, connectivity.
    pass_milliseconds: Option<[f64; 4]>,
}

/// The whole report.
#[derive(Serialize)]
struct Report {
    adapter: String,
    driver: String,
    clock: &'static str,
    fill_gigabytes_per_second: Option<f64>,
    rows: Vec<Row>,
}

/// The factors where none are given.
const FACTORS: [f32; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let chosen = args.adapter.choose()?;
    let gpu = Gpu::open(&chosen)?;
    let Gpu { device, queue, .. } = &gpu;
    let timer = Timer::new(device, queue);
    if args.streamed {
        let report = streamed::run(args, &gpu, &timer)?;
        return say_other(args, &chosen.info, &timer, report, streamed::table);
    }
    if args.assembly {
        let report = assembly::run(args, &gpu, &timer)?;
        return say_other(args, &chosen.info, &timer, report, assembly::table);
    }
    let fill = fill_bandwidth(device, queue, &timer, args.repeat)?;
    let mut rows = Vec::new();
    let all_patches = if args.patches.is_empty() { &[4096][..] } else { &args.patches };
    let factors = if args.factors.is_empty() { &FACTORS[..] } else { &args.factors };
    for &patches in all_patches {
        let mut loads: Vec<Load> = factors.iter().map(|&factor| Load::Uniform(factor)).collect();
        if args.skewed {
            loads.extend([Load::Scattered(64.0), Load::Clustered(64.0), Load::Neighbourhoods(64.0)]);
        }
        for load in loads {
            let grid = Grid::new(&gpu, patches, load, args.parameters.parameters().patches_per_threadgroup)?;
            for &mode in &args.modes {
                rows.push(row(args, &gpu, &timer, fill, &grid, load, mode)?);
                if !args.json {
                    let row = &rows[rows.len() - 1];
                    eprintln!("{} {} {}: {:.4} ms", row.patches, row.load, row.mode, row.milliseconds);
                }
            }
        }
    }
    let report = Report {
        adapter: chosen.info.name.clone(),
        driver: format!("{} {}", chosen.info.driver, chosen.info.driver_info),
        clock: timer.clock(),
        fill_gigabytes_per_second: Some(fill),
        rows,
    };
    output::say(&if args.json { serde_json::to_string(&report)? + "\n" } else { table(&report) })?;
    Ok(Outcome::Passed)
}

fn say_other<T: Serialize>(
    args: &Args,
    info: &wgpu::AdapterInfo,
    timer: &Timer,
    report: T,
    table: fn(&T) -> String,
) -> anyhow::Result<Outcome> {
    let driver = format!("{} {}", info.driver, info.driver_info);
    let report = Other { adapter: info.name.clone(), driver, clock: timer.clock(), report };
    output::say(&if args.json {
        serde_json::to_string(&report)? + "\n"
    } else {
        format!("{} ({}), {}\n{}", report.adapter, report.driver, report.clock, table(&report.report))
    })?;
    Ok(Outcome::Passed)
}

fn row(args: &Args, gpu: &Gpu, timer: &Timer, fill: f64, grid: &Grid, load: Load, mode: Mode) -> anyhow::Result<Row> {
    let pipeline = mode.of(&grid.pipeline, &args.parameters.parameters())?;
    let Sample { milliseconds, encode_microseconds, report, memory_bytes, passes } =
        grid.with_draw(|draw| measure::tessellation(&gpu.device, &gpu.queue, timer, &pipeline, draw, args.repeat))?;
    anyhow::ensure!(
        report.vertices == grid.expected_points(),
        "the GPU made {} points, the tessellator {}",
        report.vertices,
        grid.expected_points()
    );
    let median = milliseconds[milliseconds.len() / 2];
    let bytes = report.vertices * pipeline.vertex_stride() + report.primitives * 12;
    let gigabytes_per_second = bytes as f64 / median / 1e6;
    Ok(Row {
        load: load.to_string(),
        mode: mode.name(),
        patches: grid.patches(),
        patches_per_threadgroup: pipeline.parameters().patches_per_threadgroup,
        points: report.vertices,
        triangles: report.primitives,
        milliseconds: median,
        fastest: milliseconds[0],
        slowest: milliseconds[milliseconds.len() - 1],
        million_points_per_second: report.vertices as f64 / median / 1e3,
        gigabytes_per_second,
        share_of_fill: (fill > 0.0).then_some(gigabytes_per_second / fill),
        encode_microseconds,
        memory_bytes,
        pass_milliseconds: passes,
    })
}

fn table(report: &Report) -> String {
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
    ]);
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
            format!("{:.1}", row.memory_bytes as f64 / f64::from(1 << 20)),
        ]);
    }
    format!(
        "{} ({}), {}; fill {:.1} GB/s\n{table}\n",
        report.adapter,
        report.driver,
        report.clock,
        report.fill_gigabytes_per_second.unwrap_or(0.0)
    )
}
