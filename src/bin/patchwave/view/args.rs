//! The command line of the viewer.

use std::path::PathBuf;

use patchwave::tessellator::Partitioning;

use super::state::{Factors, PolicyName, Settings, Shading, State};
use super::subject::Source;
use super::window::{self, Plan};
use crate::adapter::AdapterChoice;
use crate::factors::Factor;
use crate::output::{self, Usage};
use crate::scene::Size;
use crate::scene::mode::{Mode, ParameterArgs};
use crate::{Outcome, names};

/// Show a scene in a window: turn it, and turn its factors, partitioning, mode and parameters
///
/// docs/viewer.md tells what mouse and keys do. What the options set is where the window's panel begins.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave view teapot
  patchwave view skewed-clustered --mode dynamic --shading modes
  patchwave view assets/scenes/wavy-sheet.toml
  patchwave view teapot --frames 20 --screenshot out/view.png

Scenes: teapot, grid, skewed-scattered, skewed-clustered, neighbourhoods, or a
scene file with a [target]")]
pub(crate) struct Args {
    /// What to show: a scene's name, or a scene file
    scene: String,
    /// Patches of a grid, 1 to 262144 [default: 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=262_144))]
    patches: Option<u32>,
    /// One factor: of all patches, or of a grid's heavy ones [default: the scene's own]
    #[arg(long, value_name = "F", conflicts_with = "segment")]
    factor: Option<Factor>,
    /// The teapot's factors by size on screen, for segments of so many pixels [default: 10]
    #[arg(long, value_name = "PIXELS")]
    segment: Option<f32>,
    /// How factors become segments [default: the scene's own]
    #[arg(long, value_parser = names::partitioning(), value_name = "P")]
    partitioning: Option<Partitioning>,
    /// Where domain waves run [default: a scene file's own, else onchip]
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<Mode>,
    #[command(flatten)]
    parameters: ParameterArgs,
    /// Who chooses what is left open
    #[arg(long, value_enum, value_name = "POLICY", default_value = "driver")]
    policy: PolicyName,
    /// How the surface is coloured
    #[arg(long, value_enum, value_name = "SHADING", default_value = "lit")]
    shading: Shading,
    /// Draw the edges of the triangles [default: a scene file's own, else not]
    #[arg(long)]
    wireframe: bool,
    /// Begin without the panel; H shows it
    #[arg(long)]
    hide_panel: bool,
    /// Width and height of the window in pixels, each 1 to 8192
    #[arg(long, value_name = "WxH", default_value = "1280x720", allow_hyphen_values = true)]
    size: Size,
    /// Draw so many frames of what is set, print how long they took, and end. Frames that wait for a compiler, for room
    /// or for statistics do not count
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: Option<u32>,
    /// Write the last frame of --frames as it was shown, as PNG
    #[arg(long, value_name = "FILE", requires = "frames")]
    screenshot: Option<PathBuf>,
    /// Lose the device behind that many frames, for tests
    #[arg(long, value_name = "N", hide = true)]
    lose_device_after: Option<u32>,
    #[command(flatten)]
    adapter: AdapterChoice,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let source = Source::new(&args.scene, args.patches)?;
    let (settings, orbit) = (args.settings(&source)?, source.orbit());
    let screenshot = args.screenshot.as_deref().map(output::Prepared::new).transpose()?;
    let plan = Plan {
        source: &source,
        adapter: &args.adapter,
        size: args.size,
        frames: args.frames,
        wants_screenshot: screenshot.is_some(),
        lose_device_after: args.lose_device_after,
    };
    let shown = window::show(&plan, State::new(settings, orbit, !args.hide_panel))?;
    if let (Some(file), Some(png)) = (screenshot, &shown.screenshot) {
        file.write(png)?;
    }
    if args.frames.is_some() {
        output::say(&shown.summary())?;
    }
    Ok(Outcome::Passed)
}

impl Args {
    fn settings(&self, source: &Source) -> anyhow::Result<Settings> {
        let (factors, factor) = source.factors();
        let factors = match (factors, &self.factor, self.segment) {
            (Factors::Shader, None, None) => Factors::Shader,
            (Factors::Shader, ..) => {
                let why = "--factor and --segment go with the named scenes; a scene file's shader has its own";
                return Err(Usage(why.to_owned()).into());
            }
            (Factors::Fixed, _, Some(_)) => {
                return Err(Usage("--segment goes with the teapot; grids have --factor".to_owned()).into());
            }
            (Factors::Fixed, ..) => Factors::Fixed,
            (Factors::SizeOrFixed { .. }, factor, _) => Factors::SizeOrFixed { by_size: factor.is_none() },
        };
        if let Some(pixels) = self.segment
            && !(1.0..=10_000.0).contains(&pixels)
        {
            return Err(Usage(format!("--segment is {pixels}; it must be 1 to 10000 pixels")).into());
        }
        let own = source.given();
        let given = self.parameters.parameters();
        let mode = self.mode.unwrap_or(own.mode);
        for ignored in self.parameters.ignored_in(mode) {
            output::warn(&format!("{ignored} means nothing in mode {}; it goes with --mode dynamic", mode.name()));
        }
        Ok(Settings {
            factors,
            segment_pixels: self.segment.unwrap_or(10.0),
            factor: self.factor.map_or(factor, |factor| factor.0),
            partitioning: self.partitioning.unwrap_or(own.partitioning),
            policy: self.policy,
            mode,
            parameters: patchwave::hardware::TessellationParameters {
                patches_per_threadgroup: given.patches_per_threadgroup.or(own.parameters.patches_per_threadgroup),
                tessellation_factor_threshold: given
                    .tessellation_factor_threshold
                    .or(own.parameters.tessellation_factor_threshold),
                ds_wave_threshold: given.ds_wave_threshold.or(own.parameters.ds_wave_threshold),
            },
            numbers: source.numbers(),
            shading: self.shading,
            wireframe: self.wireframe || own.wireframe,
            statistics: true,
            continuous: false,
        })
    }
}
