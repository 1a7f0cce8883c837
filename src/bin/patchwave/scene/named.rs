//! The scenes by their names, as the verbs that compare modes take them.

use clap::ValueEnum;
use patchwave::tessellator::Partitioning;
use patchwave::{Draw, TessellationPipeline};

use super::Size;
use super::camera::Camera;
use super::gpu::Gpu;
use super::grid::{Grid, Load};
use super::teapot::{Factors, Teapot, VIEW};
use crate::factors::Factor;
use crate::output::Usage;

/// The scenes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    /// Newell's teapot: 32 bicubic patches, factors by size on screen
    Teapot,
    /// A grid of bicubic patches, all of one factor (8)
    Grid,
    /// The grid with every hundredth patch at a high factor (64) and the others at 2
    SkewedScattered,
    /// The grid with the first hundredth of its patches at a high factor (64) and the others at 2
    SkewedClustered,
    /// The grid with regions of both kinds: of every 512 patches, 64 at a high factor (64), the others at 2
    Neighbourhoods,
}

/// The load of a grid whose factor is this.
pub(crate) type LoadOf = fn(f32) -> Load;

/// Patches of a grid where it is not said how many.
pub(crate) const GRID_PATCHES: u32 = 4096;

impl Name {
    /// Which patches of a grid have its factor, and what that is by default; `None` of the teapot.
    pub(crate) fn load(self) -> Option<(LoadOf, f32)> {
        match self {
            Self::Teapot => None,
            Self::Grid => Some((Load::Uniform, 8.0)),
            Self::SkewedScattered => Some((Load::Scattered, 64.0)),
            Self::SkewedClustered => Some((Load::Clustered, 64.0)),
            Self::Neighbourhoods => Some((Load::Neighbourhoods, 64.0)),
        }
    }
}

/// The choice of a scene, shared by verbs.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct SceneArgs {
    /// What to tessellate
    #[arg(value_enum)]
    scene: Name,
    /// Patches of a grid, 1 to 262144 [default: 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=262_144))]
    patches: Option<u32>,
    /// The scene's factor: of all patches, or of the heavy ones [default: the scene's own]
    #[arg(long, value_name = "F")]
    factor: Option<Factor>,
}

impl SceneArgs {
    /// The scene's name.
    pub(crate) fn name(&self) -> &'static str {
        match self.scene {
            Name::Teapot => "teapot",
            Name::Grid => "grid",
            Name::SkewedScattered => "skewed-scattered",
            Name::SkewedClustered => "skewed-clustered",
            Name::Neighbourhoods => "neighbourhoods",
        }
    }

    /// Refuses what does not go with the scene, before any work is done.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if self.scene == Name::Teapot && self.patches.is_some() {
            return Err(Usage("--patches goes with grids; the teapot has its 32".to_owned()).into());
        }
        Ok(())
    }

    /// The scene, compiled for at most so many patches per threadgroup.
    pub(crate) fn open(&self, gpu: &Gpu, patches_per_threadgroup: Option<u32>) -> anyhow::Result<Scene> {
        match self.scene.load() {
            Some((load, factor)) => {
                let load = load(self.factor.map_or(factor, |factor| factor.0));
                Grid::new(gpu, self.patches.unwrap_or(GRID_PATCHES), load, patches_per_threadgroup).map(Scene::Grid)
            }
            None => {
                let camera = Camera::new(&VIEW, Size { width: 1280, height: 960 });
                let factors = self.factor.map_or(Factors::Segment(10.0), |factor| Factors::Fixed(factor.0));
                Teapot::new(gpu, &camera, factors, Partitioning::FractionalEven, patches_per_threadgroup)
                    .map(Scene::Teapot)
            }
        }
    }
}

/// A scene on a device.
pub(crate) enum Scene {
    Teapot(Teapot),
    Grid(Grid),
}

impl Scene {
    /// The pipeline to make modes of.
    pub(crate) fn pipeline(&self) -> &TessellationPipeline {
        match self {
            Self::Teapot(teapot) => &teapot.pipeline,
            Self::Grid(grid) => &grid.pipeline,
        }
    }

    /// Calls `with` with the draw of all patches.
    pub(crate) fn with_draw<T>(&self, with: impl FnOnce(&Draw<'_>) -> T) -> T {
        match self {
            Self::Teapot(teapot) => teapot.with_draw(with),
            Self::Grid(grid) => grid.with_draw(with),
        }
    }
}
