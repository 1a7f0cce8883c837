//! On-chip, off-chip or dynamic, and the three parameters.

use clap::ValueEnum;
use patchwave::TessellationPipeline;
use patchwave::hardware::{PipelineStateFlags, TessellationParameters};
use serde::Deserialize;

/// Where domain waves run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// All in the workgroup that ran the hull
    Onchip,
    /// All from the off-chip buffer: both thresholds 0
    Offchip,
    /// Each threadgroup decides by its average factor
    Dynamic,
}

impl Mode {
    /// All modes, in the order in which they are shown.
    pub(crate) const ALL: [Self; 3] = [Self::Onchip, Self::Offchip, Self::Dynamic];

    /// As the command line writes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Onchip => "onchip",
            Self::Offchip => "offchip",
            Self::Dynamic => "dynamic",
        }
    }

    /// `base` in this mode.
    pub(crate) fn of(
        self,
        base: &TessellationPipeline,
        parameters: &TessellationParameters,
    ) -> anyhow::Result<TessellationPipeline> {
        let (flags, parameters) = self.parameters(parameters);
        Ok(base.with_parameters(flags, &parameters)?)
    }

    /// As the library takes this mode. The thresholds are the dynamic mode's; the others have none, or both at 0.
    pub(crate) fn parameters(
        self,
        parameters: &TessellationParameters,
    ) -> (PipelineStateFlags, TessellationParameters) {
        let patches_per_threadgroup = parameters.patches_per_threadgroup;
        let off_chip = PipelineStateFlags::GsOnchipTsOffchip;
        match self {
            Self::Onchip => (
                PipelineStateFlags::None,
                TessellationParameters { patches_per_threadgroup, ..TessellationParameters::default() },
            ),
            Self::Offchip => (
                off_chip,
                TessellationParameters {
                    patches_per_threadgroup,
                    tessellation_factor_threshold: Some(0.0),
                    ds_wave_threshold: Some(0),
                },
            ),
            Self::Dynamic => (off_chip, *parameters),
        }
    }
}

/// The three parameters on the command line.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ParameterArgs {
    /// Patches per threadgroup [default: as many as fit]
    #[arg(long, value_name = "P")]
    patches_per_threadgroup: Option<u32>,
    /// Average factor from which on a threadgroup goes off-chip, in dynamic mode [default: one that gives about 256
    /// domain points a threadgroup]
    #[arg(long, value_name = "T")]
    factor_threshold: Option<f32>,
    /// Domain waves that an off-chip threadgroup still runs on-chip, 0 to 15, in dynamic mode [default: 4]
    #[arg(long, value_name = "W")]
    wave_threshold: Option<u32>,
}

impl ParameterArgs {
    /// As the library takes them.
    pub(crate) fn parameters(&self) -> TessellationParameters {
        TessellationParameters {
            patches_per_threadgroup: self.patches_per_threadgroup,
            tessellation_factor_threshold: self.factor_threshold,
            ds_wave_threshold: self.wave_threshold,
        }
    }

    /// Which thresholds are given though only the dynamic mode has any.
    pub(crate) fn ignored_in(&self, mode: Mode) -> Vec<&'static str> {
        let given = [
            (self.factor_threshold.is_some(), "--factor-threshold"),
            (self.wave_threshold.is_some(), "--wave-threshold"),
        ];
        let ignored = |(given, name)| (given && mode != Mode::Dynamic).then_some(name);
        given.into_iter().filter_map(ignored).collect()
    }
}
