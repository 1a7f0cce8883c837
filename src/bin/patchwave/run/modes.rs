//! On-chip, off-chip or dynamic.

use clap::ValueEnum;
use patchwave::TessellationPipelineDescriptor;
use patchwave::hardware::TessellationParameters;
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
    /// All modes.
    pub(crate) const ALL: [Self; 3] = [Self::Onchip, Self::Offchip, Self::Dynamic];

    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Onchip => "onchip",
            Self::Offchip => "offchip",
            Self::Dynamic => "dynamic",
        }
    }

    /// `base` in this mode. The thresholds are the dynamic mode's; the others have none, or both at 0.
    pub(crate) fn of<'a>(
        self,
        base: TessellationPipelineDescriptor<'a>,
        parameters: &TessellationParameters,
    ) -> TessellationPipelineDescriptor<'a> {
        let patches_per_threadgroup = parameters.patches_per_threadgroup;
        match self {
            Self::Onchip => TessellationPipelineDescriptor {
                parameters: TessellationParameters { patches_per_threadgroup, ..TessellationParameters::default() },
                ..base
            },
            Self::Offchip => base.off_chip(TessellationParameters {
                patches_per_threadgroup,
                tessellation_factor_threshold: Some(0.0),
                ds_wave_threshold: Some(0),
            }),
            Self::Dynamic => base.off_chip(*parameters),
        }
    }
}
