//! What a person has set: everything that a frame follows from, and nothing of a device or a window.

use clap::ValueEnum;
use patchwave::hardware::{Policy, TessellationParameters};
use patchwave::tessellator::Partitioning;

use super::orbit::Orbit;
use crate::run::numbers::Number;
use crate::scene::camera::Camera;
use crate::scene::mode::Mode;
use crate::scene::{Choice, Size};

/// How the surface is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Shading {
    /// The scene's own colour
    Lit,
    /// Each patch in a colour of its own
    Patches,
    /// Patches of threadgroups that stayed on-chip, and of those that went off-chip
    Modes,
}

/// Who chooses what is left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PolicyName {
    /// As the console's driver
    Driver,
    /// For speed on this adapter
    Adaptive,
}

impl PolicyName {
    pub(super) fn policy(self) -> Policy {
        match self {
            Self::Driver => Policy::Driver,
            Self::Adaptive => Policy::Adaptive,
        }
    }
}

/// How a scene's factors are set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Factors {
    /// The scene's shader alone decides.
    Shader,
    /// One number: of all patches of a grid, or of the heavy ones.
    Fixed,
    /// By size on screen, or one number.
    SizeOrFixed { by_size: bool },
}

/// Everything that the panel sets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) factors: Factors,
    pub(super) segment_pixels: f32,
    pub(super) factor: f32,
    pub(super) partitioning: Partitioning,
    pub(super) policy: PolicyName,
    pub(super) mode: Mode,
    /// The driver's defaults where not given.
    pub(super) parameters: TessellationParameters,
    /// Of a scene file.
    pub(super) numbers: Vec<Number>,
    pub(super) shading: Shading,
    pub(super) wireframe: bool,
    pub(super) statistics: bool,
    /// Whether frames follow one another without anything having changed.
    pub(super) continuous: bool,
}

/// What a pipeline is compiled for: where it changes, it is compiled anew.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variant {
    pub(super) choice: Choice,
    /// Constants of the shader, by their bits, so that NaN is itself.
    constants: Vec<u64>,
}

impl Settings {
    /// What the pipeline has to be compiled for.
    pub(super) fn variant(&self) -> Variant {
        let constants = self.numbers.iter().filter(|number| number.is_constant);
        Variant {
            choice: Choice { policy: self.policy.policy(), ..Choice::new(self.partitioning) },
            constants: constants.map(|number| number.value.to_bits()).collect(),
        }
    }

    /// The parameters as the mode takes them: on-chip and off-chip have no thresholds.
    pub(super) fn parameters(&self) -> TessellationParameters {
        // The policy goes by what was given when it compiled; here it is asked anew.
        let flags = patchwave::hardware::PipelineStateFlags::GsOnchipTsOffchip;
        match self.mode {
            Mode::Dynamic => self.policy.policy().parameters(self.parameters, flags),
            Mode::Onchip | Mode::Offchip => self.parameters,
        }
    }
}

/// The settings, and where the camera stands.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) settings: Settings,
    pub(super) orbit: Orbit,
    /// Where the camera stood at first.
    home: Orbit,
    /// The camera that factors see, where it is held fast.
    frozen: Option<Camera>,
    /// Whether the panel is shown.
    pub(super) panel: bool,
}

impl State {
    pub(super) fn new(settings: Settings, orbit: Orbit, panel: bool) -> Self {
        Self { settings, orbit, home: orbit, frozen: None, panel }
    }

    /// The camera that factors see.
    pub(super) fn lod_camera(&self, size: Size) -> Camera {
        self.frozen.unwrap_or_else(|| self.orbit.camera(size))
    }

    pub(super) fn is_lod_paused(&self) -> bool {
        self.frozen.is_some()
    }

    /// Holds the camera that factors see where it stands, or lets it go.
    pub(super) fn pause_lod(&mut self, pause: bool, size: Size) {
        self.frozen = pause.then(|| self.lod_camera(size));
    }

    pub(super) fn go_home(&mut self) {
        self.orbit = self.home;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use glam::Vec3;

    pub(in crate::view) fn state() -> State {
        let settings = Settings {
            factors: Factors::SizeOrFixed { by_size: true },
            segment_pixels: 10.0,
            factor: 8.0,
            partitioning: Partitioning::FractionalEven,
            policy: PolicyName::Driver,
            mode: Mode::Onchip,
            parameters: TessellationParameters::default(),
            numbers: Vec::new(),
            shading: Shading::Lit,
            wireframe: false,
            statistics: true,
            continuous: false,
        };
        State::new(settings, Orbit::new(Vec3::new(5.0, 1.0, 2.0), Vec3::ZERO, Vec3::Z, 40.0, 2.0), true)
    }

    #[test]
    fn only_what_has_to_be_compiled_changes_the_variant() {
        let base = state().settings;
        let variant = base.variant();
        let same = [
            Settings { mode: Mode::Dynamic, ..base.clone() },
            Settings { factor: 3.0, segment_pixels: 4.0, wireframe: true, ..base.clone() },
            Settings {
                parameters: TessellationParameters { patches_per_threadgroup: Some(2), ..base.parameters },
                ..base.clone()
            },
        ];
        assert!(same.iter().all(|settings| settings.variant() == variant));
        let number = |value, is_constant| Number { name: "SIZE".to_owned(), value, is_whole: false, is_constant };
        let with = |number| Settings { numbers: vec![number], ..base.clone() }.variant();
        assert_eq!(with(number(1.0, false)), with(number(2.0, false)));
        assert_ne!(with(number(1.0, true)), with(number(2.0, true)));
        assert_eq!(with(number(f64::NAN, true)), with(number(f64::NAN, true)));
        assert_ne!(Settings { partitioning: Partitioning::Integer, ..base.clone() }.variant(), variant);
        assert_ne!(Settings { policy: PolicyName::Adaptive, ..base.clone() }.variant(), variant);
    }

    #[test]
    fn the_adaptive_policy_keeps_what_is_given() {
        let base = Settings { policy: PolicyName::Adaptive, mode: Mode::Dynamic, ..state().settings };
        assert_eq!(base.parameters().ds_wave_threshold, Some(2));
        let given = TessellationParameters { ds_wave_threshold: Some(7), ..base.parameters };
        assert_eq!(Settings { parameters: given, ..base }.parameters().ds_wave_threshold, Some(7));
    }

    #[test]
    fn a_paused_camera_stays_while_the_other_goes() {
        let size = Size { width: 640, height: 480 };
        let mut state = state();
        state.pause_lod(true, size);
        let held = state.lod_camera(size);
        state.orbit.turn([100.0, 10.0]);
        state.orbit.zoom(1.5);
        assert_eq!(state.lod_camera(size).eye, held.eye);
        // Another size of the window does not change it either.
        let other = Size { width: 100, height: 900 };
        assert_eq!(state.lod_camera(other).pixels_per_unit, held.pixels_per_unit);
        assert_ne!(state.orbit.camera(size).eye, held.eye);
        state.pause_lod(false, size);
        assert_eq!(state.lod_camera(size).eye, state.orbit.camera(size).eye);
        state.go_home();
        assert_eq!(state.lod_camera(size).eye, held.eye);
    }
}
