//! `patchwave render`: a scene through the whole pipeline into a picture.

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};
use patchwave::mesh::ExportMembers;
use patchwave::tessellator::Partitioning;
use patchwave::{Mesh, Tessellation, TessellationPipeline, Workspace, WorkspaceDescriptor};

use crate::adapter::AdapterChoice;
use crate::factors::{Factor, HOW_WRITTEN};
use crate::progress::Progress;
use crate::scene::Size;
use crate::scene::camera::Camera;
use crate::scene::gpu::Gpu;
use crate::scene::mode::{Mode, ParameterArgs};
use crate::scene::picture::Picture;
use crate::scene::stopwatch::Stopwatch;
use crate::scene::studio::Studio;
use crate::scene::teapot::{Factors, Teapot, VIEW};
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
  patchwave render teapot -o out/teapot.png --obj out/teapot.obj --factor 16

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
    /// Also write the tessellated mesh, as Wavefront OBJ
    #[arg(long, value_name = "FILE")]
    obj: Option<PathBuf>,
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
    let begun = Instant::now();
    let Scene::Teapot = args.scene;
    if args.obj.as_ref() == Some(&args.output) {
        let same = format!("--output and --obj are both {}; name two files", args.output.display());
        return Err(output::Usage(same).into());
    }
    for ignored in args.parameters.ignored_in(args.mode) {
        output::warn(&format!("{ignored} means nothing in mode {}; it goes with --mode dynamic", args.mode.name()));
    }
    // Whether the files can be written is known before any work is done for them.
    let picture_file = output::Prepared::new(&args.output)?;
    let obj_file = args.obj.as_deref().map(output::Prepared::new).transpose()?;

    let mut progress = Progress::new("opening the adapter");
    let gpu = Gpu::open(&args.adapter.choose()?)?;
    let picture = Picture::new(&gpu, args.size)?;
    let camera = Camera::new(&VIEW, args.size);
    progress.say("compiling shaders");
    // Fine enough for a smooth outline, or coarse enough for triangles to be seen.
    let by_size = Factors::Segment(if args.wireframe { 24.0 } else { 10.0 });
    let factors = args.factor.map_or(by_size, |factor| Factors::Fixed(factor.0));
    let teapot =
        Teapot::new(&gpu, &camera, factors, args.partitioning, args.parameters.parameters().patches_per_threadgroup)?;
    let pipeline = args.mode.of(&teapot.pipeline, &args.parameters.parameters())?;
    let studio = Studio::new(&gpu, &teapot.pipeline, &camera, args.size, args.wireframe)?;

    progress.say("tessellating and drawing");
    let (figures, tessellation) = draw(&gpu, &teapot, &pipeline, &studio, &picture)?;
    progress.say("writing");
    picture_file.write(&picture.read_png(&gpu)?)?;
    if let Some(file) = obj_file {
        let mesh = Mesh::read_blocking(&gpu.device, &gpu.queue, &tessellation)?;
        let mut text = Vec::new();
        mesh.write_obj(
            &mut text,
            &ExportMembers { position: Some("world_position"), normal: Some("normal"), uv: None },
        )?;
        file.write(&text)?;
    }
    drop(progress);
    output::say(&table(&gpu, &figures, begun.elapsed().as_secs_f64() * 1e3))?;
    Ok(Outcome::Passed)
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
