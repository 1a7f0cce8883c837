//! `patchwave render`: a scene through the whole pipeline into a picture.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};
use patchwave::mesh::ExportMembers;
use patchwave::shader::{ScalarKind, SurfaceMember, SurfaceSlot};
use patchwave::tessellator::Partitioning;
use patchwave::{Mesh, Tessellation, TessellationPipeline, Workspace, WorkspaceDescriptor};

use crate::adapter::AdapterChoice;
use crate::check::Problem;
use crate::factors::{Factor, HOW_WRITTEN};
use crate::mesh_file::MeshArgs;
use crate::progress::Progress;
use crate::scene::Size;
use crate::scene::camera::Camera;
use crate::scene::gpu::Gpu;
use crate::scene::mode::{Mode, ParameterArgs};
use crate::scene::picture::Picture;
use crate::scene::stopwatch::Stopwatch;
use crate::scene::studio::Studio;
use crate::scene::teapot::{Factors, Teapot, VIEW};
use crate::shader_file::ShaderFile;
use crate::watch::{self, Watch};
use crate::{Outcome, names, output};

/// Render a scene with tessellation on the GPU and write it as PNG
///
/// Prints a table: the adapter, patches, threadgroups, domain points, triangles, time.
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  patchwave render teapot -o out/teapot.png
  patchwave render teapot -o out/wire.png --wireframe --size 1600x1200 \\
      --factor 7.3 --partitioning fractional_odd
  patchwave render teapot -o out/teapot.png --mesh out/teapot.glb --factor 16
  patchwave render teapot -o out/mine.png --shader mine.wgsl --watch

{HOW_WRITTEN}"))]
pub(crate) struct Args {
    /// What to draw
    #[arg(value_enum)]
    scene: Scene,
    /// The PNG file to write; its folder is made if it is not there
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The tessellation factor of every edge and inside [default: by size on screen, for
    /// segments of 10 pixels, 24 with --wireframe]
    #[arg(long, value_name = "F")]
    factor: Option<Factor>,
    /// How factors become segments
    #[arg(long, value_parser = names::partitioning(), value_name = "P", default_value = "fractional_even")]
    partitioning: Partitioning,
    /// Width and height of the picture in pixels, each 1 to 8192
    #[arg(long, value_name = "WxH", default_value = "1280x960", allow_hyphen_values = true)]
    size: Size,
    /// Draw the edges of the triangles
    #[arg(long)]
    wireframe: bool,
    #[command(flatten)]
    meshes: MeshArgs,
    /// A shader in the place of assets/shaders/teapot.wgsl, with the same uniform, attribute and output
    #[arg(long, value_name = "FILE.wgsl")]
    shader: Option<PathBuf>,
    /// Render again whenever the shader changes, until Ctrl-C; after an error, the files of the last run without one stay
    #[arg(long, requires = "shader")]
    watch: bool,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Where domain waves run; the picture is the same
    #[arg(long, value_enum, value_name = "MODE", default_value = "onchip")]
    mode: Mode,
    #[command(flatten)]
    parameters: ParameterArgs,
    #[command(flatten)]
    adapter: AdapterChoice,
}

/// The scenes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scene {
    /// Newell's teapot: 32 bicubic patches
    Teapot,
}

/// What the table says of a draw.
struct Figures {
    patches: u32,
    threadgroups: u32,
    vertices: u64,
    primitives: u64,
    /// Milliseconds of tessellating and of drawing on the GPU; empty where the adapter has no timestamps.
    gpu: Vec<f64>,
    /// Milliseconds of both by the clock.
    wall: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    for ignored in args.parameters.ignored_in(args.mode) {
        output::warn(&format!("{ignored} means nothing in mode {}; it goes with --mode dynamic", args.mode.name()));
    }
    match &args.shader {
        Some(shader) if args.watch => watch(args, shader),
        _ => once(args, &mut None),
    }
}

/// Renders again and again, and ends only where there is nothing to watch or nobody to tell.
fn watch(args: &Args, shader: &Path) -> anyhow::Result<Outcome> {
    anyhow::ensure!(shader.is_file(), "cannot watch {}: there is no such file", shader.display());
    args.meshes.prepared(Some(&args.output))?;
    output::Prepared::new(&args.output)?;
    let mut gpu = Some(Gpu::open(&args.adapter.choose()?)?);
    loop {
        let watch = Watch::new([shader.to_owned()]);
        watch::tell(once(args, &mut gpu), &watch)?;
        watch.wait();
    }
}

/// Renders once, on the device that there is or on one that is opened for it.
fn once(args: &Args, gpu: &mut Option<Gpu>) -> anyhow::Result<Outcome> {
    let begun = Instant::now();
    let Scene::Teapot = args.scene;
    // Whether the files can be written is known before any work is done for them.
    let mesh_files = args.meshes.prepared(Some(&args.output))?;
    let picture_file = output::Prepared::new(&args.output)?;
    let shader = args.shader.as_deref().map(ShaderFile::read).transpose()?;

    let mut progress = Progress::new("opening the adapter");
    let gpu = match gpu {
        Some(gpu) => gpu,
        None => gpu.insert(Gpu::open(&args.adapter.choose()?)?),
    };
    let picture = Picture::new(gpu, args.size)?;
    let camera = Camera::new(&VIEW, args.size);
    progress.say("compiling shaders");
    let teapot = teapot(args, gpu, &camera, shader.as_ref())?;
    let pipeline = args.mode.of(&teapot.pipeline, &args.parameters.parameters())?;
    let studio = Studio::new(gpu, &teapot.pipeline, &camera, args.size, args.wireframe)?;

    progress.say("tessellating and drawing");
    let (figures, tessellation) = draw(gpu, &teapot, &pipeline, &studio, &picture)?;
    progress.say("writing");
    let picture = picture.read_png(gpu)?;
    if !mesh_files.is_empty() {
        let mesh = Mesh::read_blocking(&gpu.device, &gpu.queue, &tessellation)?;
        let members = ExportMembers::by_name(&mesh.surface);
        for file in mesh_files {
            file.write(&mesh, &members)?;
        }
    }
    picture_file.write(&picture)?;
    drop(progress);
    let milliseconds = begun.elapsed().as_secs_f64() * 1e3;
    let report = if args.json { json(gpu, &figures, milliseconds)? } else { table(gpu, &figures, milliseconds) };
    output::say(&report)?;
    Ok(Outcome::Passed)
}

/// The teapot with its own shader, or with the user's.
fn teapot(args: &Args, gpu: &Gpu, camera: &Camera, shader: Option<&ShaderFile>) -> anyhow::Result<Teapot> {
    // Fine enough for a smooth outline, or coarse enough for triangles to be seen.
    let by_size = Factors::Segment(if args.wireframe { 24.0 } else { 10.0 });
    let factors = args.factor.map_or(by_size, |factor| Factors::Fixed(factor.0));
    let patches = args.parameters.parameters().patches_per_threadgroup;
    let Some(ShaderFile { name, text }) = shader else {
        return Teapot::new(gpu, camera, factors, args.partitioning, patches);
    };
    let teapot = Teapot::with_shader(gpu, text, camera, factors, args.partitioning, patches).map_err(|error| {
        match error.downcast::<patchwave::Error>() {
            Ok(error) => anyhow::anyhow!("{}", Problem::new(&error.into(), text).told(name)),
            Err(error) => error.context(name.clone()),
        }
    })?;
    // What the studio draws.
    let surface = &teapot.pipeline.reflection().surface;
    for (location, member) in ["world_position", "normal"].into_iter().enumerate() {
        let slot = SurfaceSlot::Location(location as u32);
        let fits = |one: &SurfaceMember| {
            one.name == member && one.slot == slot && (one.kind, one.components) == (ScalarKind::Float, 3)
        };
        if !surface.members.iter().any(fits) {
            let struct_name = &surface.type_name;
            anyhow::bail!("{name}: {struct_name} needs @location({location}) {member}: vec3f, as teapot.wgsl has it");
        }
    }
    Ok(teapot)
}

/// Tessellates and draws once.
fn draw(
    gpu: &Gpu,
    teapot: &Teapot,
    pipeline: &TessellationPipeline,
    studio: &Studio,
    picture: &Picture,
) -> anyhow::Result<(Figures, Tessellation)> {
    let Gpu { device, queue, .. } = gpu;
    let measurement = teapot.with_draw(|draw| pipeline.measure_blocking(device, queue, draw))?;
    let sizes = WorkspaceDescriptor::for_measurement(pipeline, &measurement)?;
    let mut workspace = Workspace::new(device, pipeline, sizes)?;

    let begun = Instant::now();
    let mut stopwatch = Stopwatch::new(gpu, 3);
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("render") });
    stopwatch.mark(&mut encoder);
    let tessellation = teapot.with_draw(|draw| pipeline.encode(queue, &mut encoder, &mut workspace, draw))?;
    stopwatch.mark(&mut encoder);
    studio.draw(gpu, &mut encoder, &tessellation, picture);
    stopwatch.mark(&mut encoder);
    picture.copy(&mut encoder);
    stopwatch.finish(&mut encoder);
    queue.submit([encoder.finish()]);
    gpu.wait()?;
    let wall = begun.elapsed().as_secs_f64() * 1e3;
    let figures = Figures {
        patches: measurement.patches(),
        threadgroups: measurement.threadgroups(),
        vertices: measurement.vertices(),
        primitives: measurement.primitives(),
        gpu: stopwatch.milliseconds(gpu)?,
        wall,
    };
    Ok((figures, tessellation))
}

/// What the table says, and the same names of figures as other verbs have.
fn json(gpu: &Gpu, figures: &Figures, all: f64) -> anyhow::Result<String> {
    let [tessellating, drawing] = [0, 1].map(|i| figures.gpu.get(i));
    let report = serde_json::json!({
        "adapter": gpu.name,
        "patches": figures.patches,
        "threadgroups": figures.threadgroups,
        "vertices": figures.vertices,
        "primitives": figures.primitives,
        "tessellating_milliseconds": tessellating,
        "drawing_milliseconds": drawing,
        "milliseconds": figures.wall,
        "total_milliseconds": all,
    });
    Ok(serde_json::to_string(&report)? + "\n")
}

fn table(gpu: &Gpu, figures: &Figures, all: f64) -> String {
    let milliseconds = |value: f64| format!("{value:.2} ms");
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut row = |name: &str, value: String| {
        table.add_row([name.to_owned(), value]);
    };
    row("adapter", gpu.name.clone());
    row("patches", figures.patches.to_string());
    row("threadgroups", figures.threadgroups.to_string());
    row("domain points", figures.vertices.to_string());
    row("triangles", figures.primitives.to_string());
    if let [tessellating, drawing] = figures.gpu[..] {
        row("tessellating, on the GPU", milliseconds(tessellating));
        row("drawing, on the GPU", milliseconds(drawing));
    }
    row("both, by the clock", milliseconds(figures.wall));
    row("all, with set-up", milliseconds(all));
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt() + "\n"
}
