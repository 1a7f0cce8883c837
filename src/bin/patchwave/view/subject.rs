//! What is shown: a scene by its name, or a scene file.

use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use glam::Vec3;
use patchwave::hardware::TessellationParameters;
use patchwave::tessellator::Partitioning;
use patchwave::{Draw, Error, TessellationPipeline};

use super::compiler::Job;
use super::orbit::Orbit;
use super::state::{Factors, Settings};
use crate::output::Usage;
use crate::run;
use crate::run::live::{Live, Look};
use crate::run::numbers::{self, Number};
use crate::scene::Size;
use crate::scene::camera::Camera;
use crate::scene::gpu::Gpu;
use crate::scene::grid::{self, Sheet};
use crate::scene::mode::Mode;
use crate::scene::named::{GRID_PATCHES, LoadOf, Name};
use crate::scene::teapot::{self, Pot, VIEW};

/// Behind the named scenes, and before there is anything to show; linear.
pub(super) const BACKGROUND: [f32; 3] = [0.013, 0.016, 0.021];

/// A scene before there is a device for it.
pub(super) enum Source {
    Named { name: Name, patches: u32 },
    File(Arc<run::scene::Scene>),
}

/// Settings that a scene comes with.
pub(super) struct Given {
    pub(super) partitioning: Partitioning,
    pub(super) mode: Mode,
    pub(super) parameters: TessellationParameters,
    pub(super) wireframe: bool,
}

impl Given {
    fn new(partitioning: Partitioning) -> Self {
        let parameters = TessellationParameters::default();
        Self { partitioning, mode: Mode::Onchip, parameters, wireframe: false }
    }
}

impl Source {
    /// The scene of a name or in a file.
    pub(super) fn new(scene: &str, patches: Option<u32>) -> anyhow::Result<Self> {
        let refuse = |why: &str| Err(Usage(why.to_owned()).into());
        if let Ok(name) = Name::from_str(scene, true) {
            if name == Name::Teapot && patches.is_some() {
                return refuse("--patches goes with grids; the teapot has its 32");
            }
            return Ok(Self::Named { name, patches: patches.unwrap_or(GRID_PATCHES) });
        }
        let path = Path::new(scene);
        if path.extension().is_none() && !path.exists() {
            let names: Vec<_> = Name::value_variants().iter().filter_map(Name::to_possible_value).collect();
            let names = names.iter().map(clap::builder::PossibleValue::get_name).collect::<Vec<_>>().join(", ");
            return refuse(&format!("'{scene}' is neither a scene file nor one of {names}"));
        }
        if patches.is_some() {
            return refuse("--patches goes with grids; a scene file has its own");
        }
        let scene = run::scene::Scene::read(path)?;
        run::live::target(&scene)?;
        Ok(Self::File(Arc::new(scene)))
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Named { name, .. } => {
                name.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
            }
            Self::File(scene) => {
                let path = &scene.text.path;
                path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
            }
        }
    }

    /// How its factors are set, and the number where there is one.
    pub(super) fn factors(&self) -> (Factors, f32) {
        match self {
            Self::File(_) => (Factors::Shader, 1.0),
            Self::Named { name, .. } => match name.load() {
                Some((_, factor)) => (Factors::Fixed, factor),
                None => (Factors::SizeOrFixed { by_size: true }, 8.0),
            },
        }
    }

    /// The numbers that can be turned.
    pub(super) fn numbers(&self) -> Vec<Number> {
        match self {
            Self::Named { .. } => Vec::new(),
            Self::File(scene) => numbers::all(&scene.file),
        }
    }

    /// What it says itself of the other settings.
    pub(super) fn given(&self) -> Given {
        match self {
            Self::Named { name: Name::Teapot, .. } => Given::new(Partitioning::FractionalEven),
            Self::Named { .. } => Given::new(Partitioning::Integer),
            Self::File(scene) => {
                let own = &scene.file.tessellation;
                Given {
                    mode: scene.mode(),
                    parameters: TessellationParameters {
                        patches_per_threadgroup: own.patches_per_threadgroup,
                        tessellation_factor_threshold: own.factor_threshold,
                        ds_wave_threshold: own.wave_threshold,
                    },
                    wireframe: scene.file.target.as_ref().is_some_and(|target| target.wireframe),
                    ..Given::new(scene.partitioning)
                }
            }
        }
    }

    /// Where the camera stands at first.
    pub(super) fn orbit(&self) -> Orbit {
        match self {
            Self::Named { name: Name::Teapot, .. } => {
                let (sin, cos) = VIEW.azimuth.to_radians().sin_cos();
                let (up, out) = VIEW.elevation.to_radians().sin_cos();
                let away = Vec3::new(cos * out, sin * out, up);
                Orbit::new(VIEW.target + away * 11.0, VIEW.target, Vec3::Z, 32.0, 4.2)
            }
            Self::Named { patches, .. } => {
                let side = (*patches as f32).sqrt().ceil();
                let rows = (*patches as f32 / side).ceil();
                let center = Vec3::new(side / 2.0, rows / 2.0, 0.0);
                let radius = center.length() + 1.0;
                let away = Vec3::new(-0.57, -1.8, 1.3) * radius;
                Orbit::new(center + away, center, Vec3::Z, 38.0, radius)
            }
            Self::File(scene) => match scene.file.target.as_ref().and_then(|target| target.camera.as_ref()) {
                Some(camera) => {
                    let (eye, target) = (Vec3::from(camera.eye), Vec3::from(camera.target));
                    let up = Vec3::from(camera.up.unwrap_or([0.0, 0.0, 1.0]));
                    // The file does not say how large the scene is; it is mostly seen whole.
                    let radius = eye.distance(target);
                    Orbit::new(eye, target, up, camera.field_of_view.unwrap_or(40.0), radius)
                }
                // Clip space, seen from where the clip space of 'patchwave run' is.
                None => Orbit::new(Vec3::new(0.0, 0.0, 3.0), Vec3::new(0.0, 0.0, -0.5), Vec3::Y, 38.0, 2.0),
            },
        }
    }
}

/// A scene on a device.
pub(super) enum Subject<'a> {
    Teapot { pot: Pot, held: Option<(Camera, teapot::Factors)> },
    Grid { sheet: Sheet, load: LoadOf, factor: f32, patches: u32 },
    File(Box<Live<'a>>),
}

impl<'a> Subject<'a> {
    pub(super) fn new(gpu: &Gpu, source: &'a Source, settings: &Settings, camera: &Camera) -> anyhow::Result<Self> {
        let subject = match source {
            Source::File(scene) => Self::File(Box::new(Live::new(gpu, scene)?)),
            Source::Named { name, patches } => match name.load() {
                Some((load, _)) => {
                    let factor = settings.factor;
                    Self::Grid { sheet: Sheet::new(gpu, *patches, load(factor)), load, factor, patches: *patches }
                }
                None => Self::Teapot { pot: Pot::new(gpu, camera, teapot_factors(settings))?, held: None },
            },
        };
        gpu.check()?;
        Ok(subject)
    }

    /// What compiles its pipeline.
    pub(super) fn job(&self, device: &wgpu::Device, settings: &Settings) -> Job {
        let choice = settings.variant().choice;
        let device = device.clone();
        match self {
            Self::Teapot { pot, .. } => {
                let layout = pot.layout().clone();
                Box::new(move || Ok(teapot::compile(&device, &layout, &choice, teapot::SHADER)?))
            }
            Self::Grid { sheet, .. } => {
                let layout = sheet.layout().clone();
                Box::new(move || Ok(grid::compile(&device, &layout, &choice)?))
            }
            Self::File(live) => Box::new(live.compiler(&device, choice, &settings.numbers)),
        }
    }

    /// Writes what the shader sees of the camera and the settings, where it has changed.
    pub(super) fn update(
        &mut self,
        gpu: &Gpu,
        pipeline: &TessellationPipeline,
        settings: &Settings,
        orbit: &Orbit,
        camera: &Camera,
        size: Size,
    ) -> anyhow::Result<()> {
        match self {
            Self::Teapot { pot, held } => {
                let now = (*camera, teapot_factors(settings));
                if *held != Some(now) {
                    pot.set(&gpu.queue, camera, now.1);
                    *held = Some(now);
                }
                Ok(())
            }
            Self::Grid { sheet, load, factor, .. } => {
                if factor.to_bits() != settings.factor.to_bits() {
                    *factor = settings.factor;
                    sheet.set_load(&gpu.queue, load(*factor));
                }
                Ok(())
            }
            Self::File(live) => {
                let camera = orbit.of_file(camera);
                live.update(gpu, pipeline, &camera, [size.width, size.height], &settings.numbers)
            }
        }
    }

    /// Patches of an instance, and instances, of each draw.
    pub(super) fn shapes(&self) -> Vec<[u32; 2]> {
        match self {
            Self::Teapot { .. } => vec![[32, 1]],
            Self::Grid { patches, .. } => vec![[*patches, 1]],
            Self::File(live) => live.shapes(),
        }
    }

    /// Calls `with` with each draw.
    pub(super) fn for_draws(&self, with: &mut dyn FnMut(&Draw<'_>) -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Self::Teapot { pot, .. } => pot.with_draw(|draw| with(draw)),
            Self::Grid { sheet, .. } => with(&sheet.parts().draw()),
            Self::File(live) => live.for_draws(with),
        }
    }

    /// How it is painted, and whether its positions are in clip space.
    pub(super) fn look(&self, pipeline: &TessellationPipeline) -> anyhow::Result<(Look, bool)> {
        let surface = &pipeline.reflection().surface;
        let at = |name: &str| {
            let member = surface.members.iter().find(|member| member.name == name);
            member
                .map(|member| f64::from(member.offset / 4))
                .ok_or_else(|| anyhow::anyhow!("the shader's {} has no member `{name}`", surface.type_name))
        };
        let (position, color) = match self {
            Self::File(live) => return Ok((live.look(surface)?, live.is_in_clip_space())),
            Self::Teapot { .. } => ("world_position", [0.06, 0.27, 0.33]),
            Self::Grid { .. } => ("position", [0.42, 0.38, 0.30]),
        };
        let constants = vec![
            ("stride", f64::from(surface.stride / 4)),
            ("position_at", at(position)?),
            ("position_components", 3.0),
            ("normal_at", at("normal")?),
            ("normal_components", 3.0),
            ("color_at", 0.0),
            ("color_components", 0.0),
        ];
        Ok((Look { constants, color, background: BACKGROUND, is_flat: false }, false))
    }
}

fn teapot_factors(settings: &Settings) -> teapot::Factors {
    match settings.factors {
        Factors::SizeOrFixed { by_size: true } => teapot::Factors::Segment(settings.segment_pixels),
        _ => teapot::Factors::Fixed(settings.factor),
    }
}
