//! `patchwave compare`: one scene in all modes, whose results must be the same bits.

use comfy_table::{CellAlignment, Table, presets};
use patchwave::hardware::{ResolvedParameters, StageThreads, Statistics};
use patchwave::{Mesh, TessellationPipeline, Workspace, WorkspaceDescriptor};
use serde::Serialize;

use crate::adapter::AdapterChoice;
use crate::measure::{self, Sample, Timer};
use crate::progress::Progress;
use crate::scene::gpu::Gpu;
use crate::scene::mode::{Mode, ParameterArgs};
use crate::scene::named::{Scene, SceneArgs};
use crate::{Outcome, output};

/// Run a scene on-chip, off-chip and dynamically: are the results the same bits, and what does each mode cost
///
/// Vertices are compared in patch order, bit for bit, and so are indices. Statistics are the emulated machine's: threads and
/// waves of 64 lanes as the console packs them, bytes that threadgroups leave off-chip, LDS. Times are this adapter's, the
/// medians of some repetitions; where it has no time stamps, they are the wall clock's. Exit code 1 if the modes differ.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave compare teapot
  patchwave compare skewed-clustered --patches 16384 --wave-threshold 0
  patchwave compare neighbourhoods --json")]
pub(crate) struct Args {
    #[command(flatten)]
    scene: SceneArgs,
    #[command(flatten)]
    parameters: ParameterArgs,
    /// Timed repetitions of each mode, after warming up
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    adapter: AdapterChoice,
}

/// What is printed.
#[derive(Serialize)]
struct Report {
    scene: &'static str,
    adapter: String,
    clock: &'static str,
    equal: bool,
    modes: Modes,
}

#[derive(Serialize)]
struct Modes {
    onchip: Row,
    offchip: Row,
    dynamic: Row,
}

impl Modes {
    fn all(&self) -> [&Row; 3] {
        [&self.onchip, &self.offchip, &self.dynamic]
    }
}

/// One mode.
#[derive(Serialize)]
struct Row {
    patches_per_threadgroup: u32,
    factor_threshold: Option<f32>,
    wave_threshold: Option<u32>,
    ia_vertices: u64,
    ia_primitives: u64,
    vs_invocations: u64,
    hs_invocations: u64,
    ds_invocations: u64,
    primitives: u64,
    culled_patches: u64,
    threadgroups: u64,
    off_chip_threadgroups: u64,
    average_factor: f64,
    vertex: Stage,
    hull: Stage,
    domain: Stage,
    on_chip_waves: u64,
    off_chip_waves: u64,
    off_chip_bytes: u64,
    lds_bytes: u64,
    lds_bytes_per_threadgroup: u64,
    milliseconds: f64,
    pass_milliseconds: Option<Passes>,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct Stage {
    threads: u64,
    waves: u64,
    wasted_lanes: u64,
}

impl Stage {
    fn new(stage: &StageThreads) -> Self {
        Self { threads: stage.threads, waves: stage.waves, wasted_lanes: stage.wasted_lanes() }
    }
}

#[derive(Serialize)]
struct Passes {
    hull: f64,
    allocate: f64,
    domain: f64,
    connectivity: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    args.scene.check()?;
    let mut progress = Progress::new("opening the adapter");
    let gpu = Gpu::open(&args.adapter.choose()?)?;
    let timer = Timer::new(&gpu.device, &gpu.queue);
    progress.say("compiling shaders");
    let parameters = args.parameters.parameters();
    let scene = args.scene.open(&gpu, parameters.patches_per_threadgroup)?;
    progress.say("running the modes");
    let mut first: Option<Mesh> = None;
    let mut equal = true;
    let mut row = |mode: Mode| -> anyhow::Result<Row> {
        let pipeline = mode.of(scene.pipeline(), &parameters)?;
        let (mesh, statistics) = draw(&gpu, &scene, &pipeline)?;
        equal &= first.get_or_insert_with(|| mesh.clone()) == &mesh;
        let Gpu { device, queue, .. } = &gpu;
        let sample =
            scene.with_draw(|draw| measure::tessellation(device, queue, &timer, &pipeline, draw, args.repeat))?;
        Ok(Row::new(mode, &pipeline, &statistics, &sample))
    };
    let modes = Modes { onchip: row(Mode::Onchip)?, offchip: row(Mode::Offchip)?, dynamic: row(Mode::Dynamic)? };
    gpu.check()?;
    drop(progress);
    let report = Report { scene: args.scene.name(), adapter: gpu.name.clone(), clock: timer.clock(), equal, modes };
    output::say(&if args.json { serde_json::to_string(&report)? + "\n" } else { table(&report) })?;
    Ok(if equal { Outcome::Passed } else { Outcome::Failed })
}

/// Draws the scene once and reads what came out.
fn draw(gpu: &Gpu, scene: &Scene, pipeline: &TessellationPipeline) -> anyhow::Result<(Mesh, Statistics)> {
    let Gpu { device, queue, .. } = gpu;
    let measurement = scene.with_draw(|draw| pipeline.measure_blocking(device, queue, draw))?;
    let sizes = WorkspaceDescriptor::for_measurement(pipeline, &measurement)?;
    let mut workspace = Workspace::new(device, pipeline, sizes)?;
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("compare") });
    let tessellation = scene.with_draw(|draw| pipeline.encode(queue, &mut encoder, &mut workspace, draw))?;
    queue.submit([encoder.finish()]);
    let mesh = Mesh::read_blocking(device, queue, &tessellation)?;
    Ok((mesh, tessellation.statistics_blocking(device, queue)?))
}

impl Row {
    fn new(mode: Mode, pipeline: &TessellationPipeline, statistics: &Statistics, sample: &Sample) -> Self {
        let parameters: &ResolvedParameters = pipeline.parameters();
        let off_chip = mode != Mode::Onchip;
        Self {
            patches_per_threadgroup: parameters.patches_per_threadgroup,
            factor_threshold: off_chip.then_some(parameters.tessellation_factor_threshold),
            wave_threshold: off_chip.then_some(parameters.ds_wave_threshold),
            ia_vertices: statistics.ia_vertices,
            ia_primitives: statistics.ia_primitives,
            vs_invocations: statistics.vs_invocations,
            hs_invocations: statistics.hs_invocations,
            ds_invocations: statistics.ds_invocations,
            primitives: statistics.primitives,
            culled_patches: statistics.culled_patches,
            threadgroups: statistics.threadgroups,
            off_chip_threadgroups: statistics.off_chip_threadgroups,
            average_factor: statistics.mean_average_factor(),
            vertex: Stage::new(&statistics.vertex),
            hull: Stage::new(&statistics.hull),
            domain: Stage::new(&statistics.domain),
            on_chip_waves: statistics.on_chip_waves,
            off_chip_waves: statistics.off_chip_waves,
            off_chip_bytes: statistics.off_chip_bytes,
            lds_bytes: statistics.lds_bytes,
            lds_bytes_per_threadgroup: pipeline.lds_budget().allocated,
            milliseconds: sample.median(),
            pass_milliseconds: sample.passes.map(|[hull, allocate, domain, connectivity]| Passes {
                hull,
                allocate,
                domain,
                connectivity,
            }),
            memory_bytes: sample.memory_bytes,
        }
    }
}

fn table(report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([report.scene, "onchip", "offchip", "dynamic"]);
    let rows = report.modes.all();
    let mut line = |name: &str, of: &dyn Fn(&Row) -> String| {
        let mut cells = vec![name.to_owned()];
        cells.extend(rows.iter().map(|row| of(row)));
        table.add_row(cells);
    };
    let dash = || "-".to_owned();
    line("patches per threadgroup", &|row| row.patches_per_threadgroup.to_string());
    line("factor threshold", &|row| row.factor_threshold.map_or_else(dash, |threshold| threshold.to_string()));
    line("wave threshold", &|row| row.wave_threshold.map_or_else(dash, |threshold| threshold.to_string()));
    line("IAVertices", &|row| row.ia_vertices.to_string());
    line("IAPrimitives", &|row| row.ia_primitives.to_string());
    line("VSInvocations", &|row| row.vs_invocations.to_string());
    line("HSInvocations", &|row| row.hs_invocations.to_string());
    line("DSInvocations", &|row| row.ds_invocations.to_string());
    line("primitives", &|row| row.primitives.to_string());
    line("culled patches", &|row| row.culled_patches.to_string());
    line("threadgroups", &|row| row.threadgroups.to_string());
    line("  of them off-chip", &|row| row.off_chip_threadgroups.to_string());
    line("average factor", &|row| format!("{:.3}", row.average_factor));
    line("VS waves", &|row| row.vertex.waves.to_string());
    line("HS threads", &|row| row.hull.threads.to_string());
    line("HS waves", &|row| row.hull.waves.to_string());
    line("DS waves", &|row| row.domain.waves.to_string());
    line("  on-chip", &|row| row.on_chip_waves.to_string());
    line("  off-chip", &|row| row.off_chip_waves.to_string());
    line("lanes without a thread", &|row| {
        (row.vertex.wasted_lanes + row.hull.wasted_lanes + row.domain.wasted_lanes).to_string()
    });
    line("bytes written off-chip", &|row| row.off_chip_bytes.to_string());
    line("LDS bytes a threadgroup", &|row| row.lds_bytes_per_threadgroup.to_string());
    line("milliseconds", &|row| format!("{:.4}", row.milliseconds));
    if rows.iter().any(|row| row.pass_milliseconds.is_some()) {
        let mut pass = |name: &str, of: fn(&Passes) -> f64| {
            line(name, &|row| row.pass_milliseconds.as_ref().map_or_else(dash, |all| format!("{:.4}", of(all))));
        };
        pass("  hull pass", |all| all.hull);
        pass("  allocate pass", |all| all.allocate);
        pass("  domain pass", |all| all.domain);
        pass("  connectivity pass", |all| all.connectivity);
    }
    line("memory, MiB", &|row| format!("{:.1}", row.memory_bytes as f64 / f64::from(1 << 20)));
    for column in 1..4 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let verdict = if report.equal { "the modes agree, bit for bit" } else { "THE MODES DIFFER" };
    format!("{}\n{}; {}\n{verdict}\n", table.trim_fmt(), report.adapter, report.clock)
}
