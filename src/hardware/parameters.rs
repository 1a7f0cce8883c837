//! What a title's programmer sets: the flags of the pipeline state, and the three parameters with the driver's defaults.
//!
//! The rules and their sources are in `docs/hardware.md`; numbers such as A9 are its readings.

use super::{DefaultThreshold, Instances, PatchRounding, Profile, Readings, ThreadgroupPlan};
use crate::tessellator::{Domain, OutputTopology, Partitioning, TessellatedPatch};

/// The documentation's pipeline state flags, as far as they concern tessellation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PipelineStateFlags {
    /// On-chip: every domain wave runs on the compute unit that ran the hull. The driver's default.
    #[default]
    None,
    /// `GS_ONCHIP_TS_OFFCHIP`: threadgroups decide dynamically; the geometry stage is not patchwave's.
    GsOnchipTsOffchip,
    /// `GS_OFFCHIP_TS_OFFCHIP`: the same to tessellation.
    GsOffchipTsOffchip,
}

impl PipelineStateFlags {
    /// Whether threadgroups may go off-chip.
    #[must_use]
    pub const fn tessellation_off_chip(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// `D3D12XBOX_TESSELLATION_PARAMETERS_DESC`; `None` asks for the driver's default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TessellationParameters {
    /// Patches that a threadgroup takes; by default as many as fit.
    pub patches_per_threadgroup: Option<u32>,
    /// The average factor from which on a threadgroup goes off-chip, finite and not negative; by default such that a
    /// threadgroup at it has about 256 domain points. Only with an off-chip pipeline.
    pub tessellation_factor_threshold: Option<f32>,
    /// Domain waves that an off-chip threadgroup still runs on-chip, 0 to 15; by default 4. Only with an off-chip
    /// pipeline.
    pub ds_wave_threshold: Option<u32>,
}

/// What was odd about parameters without being wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterWarning {
    /// A18: the factor threshold means nothing on-chip.
    #[error("tessellation_factor_threshold is ignored: the pipeline is on-chip (set flags to GsOnchipTsOffchip)")]
    FactorThresholdIgnored,
    /// A18: the wave threshold means nothing on-chip.
    #[error("ds_wave_threshold is ignored: the pipeline is on-chip (set flags to GsOnchipTsOffchip)")]
    WaveThresholdIgnored,
    /// A12: the reading that rounds off-chip pipelines took another number of patches than was asked for.
    #[error("patches_per_threadgroup {asked} is rounded to {taken} (PatchRounding::OffChipToFour)")]
    PatchesRounded {
        /// What was asked.
        asked: u32,
        /// What is taken.
        taken: u32,
    },
    /// The flags ask for off-chip and the stages were not compiled for it: the console's driver recompiles them.
    #[error("hull and domain are not compiled for off-chip and the flags ask for it: the console would recompile them")]
    Recompiled,
}

/// Parameters that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A12: no patches, or more than fit.
    #[error("patches_per_threadgroup is {asked}; this pipeline takes 1 to {most}")]
    PatchesPerThreadgroup {
        /// What was asked.
        asked: u32,
        /// What the plan allows.
        most: u32,
    },
    /// NaN, infinite or negative.
    #[error("tessellation_factor_threshold is {asked}; it must be a finite number of at least 0")]
    FactorThreshold {
        /// What was asked.
        asked: f32,
    },
    /// A9: the register has 4 bits.
    #[error("ds_wave_threshold is {asked}; it must be 0 to 15")]
    WaveThreshold {
        /// What was asked.
        asked: u32,
    },
    /// A19: the two stages were compiled differently.
    #[error("hull off_chip is {hull} and domain off_chip is {domain}: compile both for off-chip, or neither")]
    OffChipMismatch {
        /// The hull stage's define.
        hull: bool,
        /// The domain stage's define.
        domain: bool,
    },
    /// A11: a reading that the kernels do not have.
    #[error(
        "Instances::Span is not supported: patchwave's threadgroups never take patches of two instances; use Split"
    )]
    InstancesSpan,
    /// One patch leaves more than a block of the off-chip buffer holds.
    #[error(
        "one patch leaves {needed} bytes off-chip and a block of the off-chip buffer holds {available}: use fewer or \
         smaller output control points and patch constants, or stay on-chip"
    )]
    PatchExceedsOffChipBlock {
        /// Bytes that a patch leaves.
        needed: u64,
        /// Bytes of a block.
        available: u64,
    },
}

/// The driver's default of `DsWaveThreshold`.
pub const DEFAULT_DS_WAVE_THRESHOLD: u32 = 4;

/// Domain points of a threadgroup at the default factor threshold: 4 waves.
const DEFAULT_DOMAIN_POINTS: u64 = 256;

/// Parameters with every default filled in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResolvedParameters {
    /// Patches of a threadgroup.
    pub patches_per_threadgroup: u32,
    /// Whether threadgroups may go off-chip.
    pub off_chip: bool,
    /// The average factor from which on a threadgroup goes off-chip.
    pub tessellation_factor_threshold: f32,
    /// Domain waves that an off-chip threadgroup (a SIMD, by [`Readings::wave_threshold`]) still runs on-chip.
    pub ds_wave_threshold: u32,
    /// Domain waves that an off-chip threadgroup still runs on-chip, whatever the reading.
    pub on_chip_waves: u32,
    /// How the documentation's open questions are read.
    pub readings: Readings,
}

impl TessellationParameters {
    /// Checks the parameters and fills in the defaults.
    ///
    /// # Errors
    /// [`ParameterError`] where a parameter is out of range.
    pub fn resolve(
        &self,
        plan: &ThreadgroupPlan,
        flags: PipelineStateFlags,
        domain: Domain,
        profile: &Profile,
        readings: Readings,
    ) -> Result<(ResolvedParameters, Vec<ParameterWarning>), ParameterError> {
        if readings.instances == Instances::Span {
            return Err(ParameterError::InstancesSpan);
        }
        let off_chip = flags.tessellation_off_chip();
        let mut warnings = Vec::new();
        let mut patches = match self.patches_per_threadgroup {
            None => plan.patches,
            Some(asked) if (1..=plan.patches).contains(&asked) => asked,
            Some(asked) => return Err(ParameterError::PatchesPerThreadgroup { asked, most: plan.patches }),
        };
        if let Some(asked) = self.tessellation_factor_threshold
            && !(asked.is_finite() && asked >= 0.0)
        {
            return Err(ParameterError::FactorThreshold { asked });
        }
        if let Some(asked) = self.ds_wave_threshold
            && asked > 15
        {
            return Err(ParameterError::WaveThreshold { asked });
        }
        if off_chip && readings.patch_rounding == PatchRounding::OffChipToFour {
            let taken = rounded_to_four(patches, plan.patches);
            if taken != patches && self.patches_per_threadgroup.is_some() {
                warnings.push(ParameterWarning::PatchesRounded { asked: patches, taken });
            }
            patches = taken;
        }
        if !off_chip && self.tessellation_factor_threshold.is_some() {
            warnings.push(ParameterWarning::FactorThresholdIgnored);
        }
        if !off_chip && self.ds_wave_threshold.is_some() {
            warnings.push(ParameterWarning::WaveThresholdIgnored);
        }
        let ds_wave_threshold = self.ds_wave_threshold.unwrap_or(DEFAULT_DS_WAVE_THRESHOLD);
        let of_patches = match readings.default_threshold {
            DefaultThreshold::PerThreadgroup => patches,
            DefaultThreshold::PerPatch => 1,
        };
        let resolved = ResolvedParameters {
            patches_per_threadgroup: patches,
            off_chip,
            tessellation_factor_threshold: self
                .tessellation_factor_threshold
                .unwrap_or_else(|| default_factor_threshold(domain, of_patches)),
            ds_wave_threshold,
            on_chip_waves: readings.on_chip_waves(ds_wave_threshold, profile.simds),
            readings,
        };
        Ok((resolved, warnings))
    }
}

/// A12: the nearest multiple of four, ties up, that is at most `most`; fewer than four that fit stay as they are.
fn rounded_to_four(patches: u32, most: u32) -> u32 {
    if most < 4 {
        return patches;
    }
    ((patches + 2) / 4 * 4).clamp(4, most / 4 * 4)
}

/// The smallest integer factor at which `patches` patches have at least 256 domain points in all (A5). Fractional
/// partitionings take the integer one's.
#[must_use]
pub fn default_factor_threshold(domain: Domain, patches: u32) -> f32 {
    let enough = |factor: &u16| {
        let bits = vec![f32::from(*factor).to_bits(); domain.factor_count()];
        // Valid by construction: the domain's own number of factors, and points go with every domain.
        let points = TessellatedPatch::new(domain, Partitioning::Integer, OutputTopology::Point, &bits)
            .map_or(0, |patch| patch.point_count());
        u64::from(points) * u64::from(patches) >= DEFAULT_DOMAIN_POINTS
    };
    f32::from((1u16..=64).find(enough).unwrap_or(64))
}
