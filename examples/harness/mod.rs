//! What the examples share: a device, a camera, a picture to draw into, a PNG file or a window to show it in.
//!
//! An example is an [`Example`]: it makes its pipelines once and encodes one frame at a time. What it does with patchwave is
//! all in its own file; nothing here knows of tessellation but [`Gpu::surface_pipeline`], which makes the render pipeline that
//! draws a tessellated surface. `integrate` does without this room: it is a whole renderer of its own.

#![allow(dead_code, unused_imports, reason = "no example uses all of it")]
#![allow(unreachable_pub, reason = "an example is a crate of its own, whose `pub` reaches nobody")]

mod backdrop;
mod camera;
mod floor;
mod gpu;
mod heights;
mod lines;
mod picture;
mod plain;
#[cfg(feature = "window")]
mod window;
mod wireframe;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

pub use camera::{Camera, View};
pub use floor::{Floor, Shade};
pub use gpu::{Bind, Gpu, SurfaceDraw};
pub use lines::{Line, Lines};
pub use picture::{Frame, Picture};
#[allow(unused_imports, reason = "not every example has a wireframe")]
pub use wireframe::Wireframe;

/// One example.
pub trait Example: Sized {
    /// Its name, and that of its picture.
    const NAME: &'static str;
    /// What the camera sees at first.
    const VIEW: View;
    /// What fills the picture before anything is drawn: red, green and blue, linear.
    const BACKGROUND: [f64; 3] = [0.055, 0.065, 0.08];
    /// Options of its own on the command line.
    type Options: clap::Args;

    /// Makes everything that lasts: pipelines, buffers, bind groups.
    fn new(gpu: &Gpu, options: &Self::Options) -> anyhow::Result<Self>;

    /// Encodes a frame: tessellation into `encoder`, then a pass of [`Frame::begin`] that draws.
    fn encode(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, frame: &Frame<'_>) -> anyhow::Result<()>;

    /// What there is to say once the first frame is through; printed line by line.
    fn report(&self, _gpu: &Gpu) -> anyhow::Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// No options of its own.
#[derive(clap::Args)]
pub struct NoOptions {}

/// The command line of every example.
#[derive(Parser)]
struct Cli<O: clap::Args> {
    /// The picture to write, a PNG file [default: out/NAME.png]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Show it live in a window instead; drag turns, the wheel zooms, Escape ends
    #[arg(long)]
    window: bool,
    /// Pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x960", value_parser = parse_size)]
    size: [u32; 2],
    /// The moment to draw, for what moves
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    seconds: f32,
    /// An adapter whose name contains this
    #[arg(long, value_name = "NAME", env = "PATCHWAVE_ADAPTER")]
    adapter: Option<String>,
    #[command(flatten)]
    own: O,
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let size = text.split_once('x').and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
    match size {
        Some(size) if size.iter().all(|side| (1..=8192).contains(side)) => Ok(size),
        _ => Err("expected WIDTHxHEIGHT, each 1 to 8192".to_owned()),
    }
}

/// The `main` of an example.
#[must_use]
pub fn main<E: Example>() -> ExitCode {
    let cli = Cli::<E::Options>::parse();
    let done = if cli.window { show::<E>(&cli) } else { write::<E>(&cli) };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error:#}", E::NAME);
            ExitCode::FAILURE
        }
    }
}

/// Draws one frame into a PNG file.
fn write<E: Example>(cli: &Cli<E::Options>) -> anyhow::Result<()> {
    let gpu = Gpu::open(cli.adapter.as_deref())?;
    let mut example = E::new(&gpu, &cli.own)?;
    gpu.check()?;
    let picture = Picture::new(&gpu, cli.size)?;
    let frame = picture.frame(Camera::new(&E::VIEW, cli.size), cli.seconds, E::BACKGROUND);
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(E::NAME) });
    example.encode(&gpu, &mut encoder, &frame)?;
    picture.copy(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    let pixels = picture.read(&gpu)?;
    let file = cli.output.clone().unwrap_or_else(|| PathBuf::from("out").join(E::NAME).with_extension("png"));
    save(&file, pixels, cli.size)?;
    println!("{} on {}", file.display(), gpu.name);
    example.report(&gpu)?.iter().for_each(|line| println!("  {line}"));
    Ok(())
}

/// Writes red, green and blue of each pixel as a PNG file, making its folder.
pub fn save(file: &std::path::Path, pixels: Vec<u8>, [width, height]: [u32; 2]) -> anyhow::Result<()> {
    let picture = image::RgbImage::from_raw(width, height, pixels).context("the picture is of another size")?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    picture.save(file).with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(feature = "window")]
fn show<E: Example>(cli: &Cli<E::Options>) -> anyhow::Result<()> {
    window::show::<E>(cli)
}

#[cfg(not(feature = "window"))]
fn show<E: Example>(_cli: &Cli<E::Options>) -> anyhow::Result<()> {
    anyhow::bail!(
        "built without windows; 'cargo run --release --features window --example {} -- --window' has them",
        E::NAME
    )
}
