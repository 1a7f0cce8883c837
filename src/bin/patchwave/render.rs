//! `patchwave render`: a scene through the whole pipeline into a picture.

use crate::adapter::AdapterChoice;
use crate::factors::{HOW_WRITTEN, factor_bits};
use crate::{Outcome, names, output};
use clap::ValueEnum;
use patchwave::tessellator::Partitioning;
use std::path::PathBuf;
use std::str::FromStr;

/// Render a scene with tessellation on the GPU and write it as PNG
///
/// Prints a table: the adapter, patches, threadgroups, domain points, triangles, time.
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  patchwave render teapot -o out/teapot.png
  patchwave render teapot -o out/wire.png --wireframe --size 1600x1200 \\
      --factor 7.3 --partitioning fractional_odd

{HOW_WRITTEN}"))]
pub(crate) struct Args {
    /// What to draw
    #[arg(value_enum)]
    scene: Scene,
    /// The PNG file to write; its folder is made if it is not there
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The tessellation factor of every edge and inside [default: chosen by the scene]
    #[arg(long, value_name = "F")]
    factor: Option<Factor>,
    /// How factors become segments
    #[arg(long, value_parser = names::partitioning(), value_name = "P", default_value = "fractional_even")]
    partitioning: Partitioning,
    /// Width and height of the picture in pixels, each 1 to 8192
    #[arg(long, value_name = "WxH", default_value = "1280x960")]
    size: Size,
    /// Draw the edges of the triangles
    #[arg(long)]
    wireframe: bool,
    #[command(flatten)]
    adapter: AdapterChoice,
}

/// The scenes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scene {
    /// Newell's teapot: 32 bicubic patches
    Teapot,
}

/// One factor for all edges.
#[derive(Clone, Copy, Debug)]
struct Factor(f32);

impl FromStr for Factor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        factor_bits(text).map(|bits| Self(f32::from_bits(bits)))
    }
}

/// Width and height of the picture.
#[derive(Clone, Copy, Debug)]
struct Size {
    width: u32,
    height: u32,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // 8192 is WebGPU's default limit on a texture's sides.
        let side = |side: &str| side.parse().ok().filter(|side| (1..=8192).contains(side));
        text.split_once(['x', 'X'])
            .and_then(|(width, height)| Some(Self { width: side(width)?, height: side(height)? }))
            .ok_or_else(|| format!("'{text}' is no size; write width x height, each 1 to 8192, like 1280x960"))
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let Args { scene, factor, partitioning, size, wireframe, .. } = args;
    let chosen = args.adapter.choose()?;
    let _ = (scene, factor.map(|factor| factor.0), partitioning, size.width, size.height, wireframe, &chosen.adapter);
    let _ = output::write_file;
    anyhow::bail!("cannot write {}: this build has no render pipeline yet", args.output.display())
}
