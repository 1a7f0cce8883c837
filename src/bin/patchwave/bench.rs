//! `patchwave bench`: how fast the passes are on an adapter, beside a plain fill of memory in the same run.

mod assembly;
mod check;
mod loads;
mod plot;
mod streamed;

use crate::adapter::AdapterChoice;
use crate::canvas::Drawing;
use crate::measure::{Timer, fill_bandwidth};
use crate::scene::gpu::Gpu;
use crate::scene::grid::{Grid, Load};
use crate::scene::mode::{Mode, ParameterArgs};
use crate::{Outcome, output};
use loads::{Bench, Report};
use patchwave::hardware::Policy;
use serde::Serialize;
use std::path::PathBuf;
use std::str::FromStr;

/// Measure the passes on an adapter: points, triangles and bytes a second
///
/// Bicubic Bézier patches of 16 control points, vertices of 32 bytes (position and normal), indices included. Beside them,
/// in the same run, a plain fill of memory with 16-byte stores. Each row is checked on the GPU, before the timed runs and
/// after them: the number of vertices must be the tessellator's, each of them written, every index in its place, and the
/// bits the same in all modes. Times are medians; GPU time stamps where the device has them, else wall clock around
/// submission and wait (the report says which).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave bench
  patchwave bench --patches 4096 --factors 8 --modes offchip --repeat 15
  patchwave bench --streamed --points 10000000,100000000,1000000000 --memory 1GiB
  patchwave bench --assembly --patches 1000000
  patchwave bench --no-indices --factors 32,64 --modes onchip,offchip
  patchwave bench --native --plot out/bench.svg
  patchwave bench --json

--native puts each grid through the driver's own tessellation in the same run: with its
primitives discarded; discarded, with the evaluation shader writing 32 bytes a vertex to
a storage buffer; and drawn into 1024x1024 pixels. Points a second are of distinct domain
points on both sides; how often the driver runs the evaluation shader for one is in the
table. Whole frames, all passes and the draw, are timed beside the driver's. What the
evaluation shader wrote and both pictures are compared.

--streamed draws in batches that share so much memory at most. All batches are encoded
one after the other and submitted at once. Before the timed runs and after them, every
triangle of every batch is checked on the GPU (counts, indices, normals), and the sum of
hashes of all triangles must be the same then and in all modes. With several numbers of
points, a straight line t = a + b·n is laid through the times.

--assembly compares indexed patches of 3 control points at factor 1 through the input
assembler with the same patches whose shader reads indices and positions out of storage
buffers by hand.")]
pub(crate) struct Args {
    /// How many patches, comma-separated [default: 4096; with --native 4096,65536, and 1024 on a processor; with --assembly
    /// 1000000]
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
    /// Vertices only: the passes without connectivity, and bytes a second of vertices alone
    #[arg(long, conflicts_with_all = ["streamed", "assembly"])]
    no_indices: bool,
    #[cfg(feature = "native")]
    #[command(flatten)]
    native: crate::native::bench::Args,
    /// Who chooses parameters that are not given: the console's driver, or what is fast for the number of patches
    #[arg(long, value_name = "WHO", value_enum, default_value_t = Who::Driver, conflicts_with_all = ["streamed", "assembly"])]
    policy: Who,
    /// Draw points a second over uniform factors as a chart: PNG where the name ends in .png, else SVG
    #[arg(long, value_name = "FILE", conflicts_with_all = ["streamed", "assembly"])]
    plot: Option<PathBuf>,
    #[command(flatten)]
    parameters: ParameterArgs,
    /// Timed repetitions of each row, after warming up
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    #[command(flatten)]
    adapter: AdapterChoice,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// [`Policy`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Who {
    Driver,
    Adaptive,
}

impl Who {
    fn policy(self) -> Policy {
        match self {
            Self::Driver => Policy::Driver,
            Self::Adaptive => Policy::Adaptive,
        }
    }
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

/// The factors where none are given.
const FACTORS: [f32; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    #[cfg(feature = "native")]
    if let Some(said) = args.native.write()? {
        output::say(&said)?;
        return Ok(Outcome::Passed);
    }
    let chosen = args.adapter.choose()?;
    let gpu = Gpu::open(&chosen)?;
    let timer = Timer::new(&gpu.device, &gpu.queue);
    if args.streamed {
        let report = streamed::run(args, &gpu, &timer)?;
        return say_other(args, &chosen.info, &timer, report, streamed::table);
    }
    if args.assembly {
        let report = assembly::run(args, &gpu, &timer)?;
        return say_other(args, &chosen.info, &timer, report, assembly::table);
    }
    let file = args.plot.as_deref().map(output::Prepared::new).transpose()?;
    let report = measure_loads(args, &gpu, &timer, &chosen.info)?;
    if let (Some(file), Some(path)) = (file, args.plot.as_deref()) {
        file.write(&plot::Plot::new(&report).bytes_for(path)?)?;
    }
    output::say(&if args.json {
        serde_json::to_string(&report)? + "\n"
    } else {
        #[allow(unused_mut, reason = "there is more to say with the feature `native`")]
        let mut text = loads::table(&report);
        #[cfg(feature = "native")]
        text.extend(report.native.iter().map(crate::native::bench::table));
        text
    })?;
    Ok(if report.is_right() { Outcome::Passed } else { Outcome::Failed })
}

fn measure_loads(args: &Args, gpu: &Gpu, timer: &Timer, info: &wgpu::AdapterInfo) -> anyhow::Result<Report> {
    #[cfg(feature = "native")]
    let native = args.native.open(info)?;
    let fill = fill_bandwidth(&gpu.device, &gpu.queue, timer, args.repeat)?;
    let bench =
        Bench { gpu, timer, fill, has_indices: !args.no_indices, policy: args.policy.policy(), repeat: args.repeat };
    let mut report = Report {
        adapter: info.name.clone(),
        driver: format!("{} {}", info.driver, info.driver_info),
        clock: timer.clock(),
        indices: bench.has_indices,
        fill_gigabytes_per_second: Some(fill),
        rows: Vec::new(),
        unmeasured: Vec::new(),
        dynamic: Vec::new(),
        failures: Vec::new(),
        #[cfg(feature = "native")]
        native: native.as_ref().map(crate::native::bench::Native::report),
    };
    let parameters = args.parameters.parameters();
    for patches in args.all_patches(info) {
        for load in args.loads() {
            let grid = match Grid::new(gpu, patches, load, parameters.patches_per_threadgroup) {
                Ok(grid) => grid,
                Err(error) => {
                    args.modes.iter().for_each(|&mode| report.note(patches, load, mode, &error));
                    continue;
                }
            };
            let first = report.rows.len();
            let mut measured = Vec::new();
            for &mode in &args.modes {
                let pipeline = mode.of(&grid.pipeline.with_policy(bench.policy), &parameters)?;
                match bench.row(&grid, mode, &pipeline) {
                    Ok(row) => {
                        args.tell(&format!("{patches} {load} {}: {:.4} ms", row.mode, row.milliseconds));
                        report.rows.push(row);
                        measured.push((mode, pipeline));
                    }
                    Err(error) => report.note(patches, load, mode, &error),
                }
            }
            report.compare_modes(first);
            #[cfg(feature = "native")]
            if let (Some(native), Some(beside)) = (&native, &mut report.native) {
                let ours: Vec<_> = measured
                    .iter()
                    .zip(&report.rows[first..])
                    .map(|((mode, pipeline), row)| crate::native::bench::Ours {
                        mode: mode.name(),
                        pipeline,
                        milliseconds: row.milliseconds,
                        fastest: row.fastest,
                        primitives: row.triangles,
                    })
                    .collect();
                let load = crate::native::bench::Load { gpu, timer, grid: &grid, modes: &ours, repeat: args.repeat };
                native.measure(&load, beside, |line| args.tell(line));
            }
        }
    }
    Ok(report)
}

impl Args {
    fn all_patches(&self, info: &wgpu::AdapterInfo) -> Vec<u32> {
        #[cfg(feature = "native")]
        if self.patches.is_empty() && self.native.native {
            let is_processor = info.device_type == wgpu::DeviceType::Cpu;
            return if is_processor { vec![1024] } else { vec![4096, 65_536] };
        }
        let _ = info;
        if self.patches.is_empty() { vec![4096] } else { self.patches.clone() }
    }

    fn loads(&self) -> Vec<Load> {
        let factors = if self.factors.is_empty() { &FACTORS[..] } else { &self.factors };
        let mut loads: Vec<Load> = factors.iter().map(|&factor| Load::Uniform(factor)).collect();
        if self.skewed {
            loads.extend([Load::Scattered(64.0), Load::Clustered(64.0), Load::Neighbourhoods(64.0)]);
        }
        loads
    }

    /// Says how far it is, where stdout is not to be read by a program.
    fn tell(&self, line: &str) {
        if !self.json {
            eprintln!("{line}");
        }
    }
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
