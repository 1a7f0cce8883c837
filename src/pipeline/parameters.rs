//! The parameters of a pipeline as its kernels take them.

use super::TessellationPipeline;
use super::layout::{MAX_PATCHES, READING_CULLED_AS_THEY_ARE, READING_CULLED_EXCLUDED, READING_RAW};
use crate::Error;
use crate::hardware::heuristic::{self, FactorSum};
use crate::hardware::{
    CulledPatches, FactorValues, LdsBudget, ParameterError, ParameterWarning, PatchFootprint, PipelineShape,
    PipelineStateFlags, Policy, Profile, Readings, ResolvedParameters, TessellationParameters, ThreadgroupPlan,
};
use crate::tessellator::Domain;

/// A profile whose threadgroups have what these limits allow.
#[must_use]
pub fn profile_of(limits: &wgpu::Limits) -> Profile {
    Profile::from_limits(limits.max_compute_workgroup_storage_size, limits.max_compute_invocations_per_workgroup)
}

impl TessellationPipeline {
    /// The same compiled pipeline with other parameters: mode, thresholds, and patches per threadgroup up to what this
    /// one was made with. What is not given the pipeline's policy chooses. Nothing is compiled.
    ///
    /// The kernels go on taking as much workgroup memory as they were compiled for, so to measure a smaller number of
    /// patches per threadgroup, make a pipeline with it.
    ///
    /// # Errors
    /// [`Error::Parameters`] where a parameter is out of range.
    pub fn with_parameters(
        &self,
        flags: PipelineStateFlags,
        parameters: &TessellationParameters,
    ) -> Result<Self, Error> {
        let parameters = &self.policy.parameters(*parameters, flags);
        let asked =
            Asked { flags, parameters, readings: self.parameters.readings, compiled_off_chip: self.compiled_off_chip };
        let most = ThreadgroupPlan { patches: self.compiled_patches, ..self.plan };
        let (parameters, warnings) =
            resolve_parameters(&asked, &most, &self.profile, &self.footprint, self.fixed.domain)?;
        let on_chip_below = on_chip_below(&parameters, self.fixed.domain);
        Ok(Self { parameters, warnings, on_chip_below, ..self.clone() })
    }

    /// The same compiled pipeline under another policy: its draws spread their patches as that one has it, and
    /// [`TessellationPipeline::with_parameters`] has it choose what is not given. Parameters that were chosen already stay.
    /// Nothing is compiled.
    #[must_use]
    pub fn with_policy(&self, policy: Policy) -> Self {
        Self { policy, ..self.clone() }
    }

    /// The machine that is emulated.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// LDS of a threadgroup on the emulated machine, field by field, at this pipeline's patches per threadgroup.
    #[must_use]
    pub fn lds_budget(&self) -> LdsBudget {
        LdsBudget::new(&self.profile, &self.footprint, self.parameters.patches_per_threadgroup)
    }

    /// What statistics and timelines of this pipeline's draws follow from.
    #[must_use]
    pub fn shape(&self) -> PipelineShape {
        PipelineShape {
            domain: self.fixed.domain,
            input_points: self.input_points,
            output_points: self.footprint.output_points,
            on_chip_waves: self.parameters.on_chip_waves,
            off_chip_bytes_per_patch: self.off_chip_bytes_written_per_patch(),
            lds_bytes: self.lds_budget().allocated,
            readings: self.parameters.readings,
        }
    }

    /// Bytes that an off-chip patch writes to the off-chip buffer: its output control points and its patch constants,
    /// as WGSL lays them out. (A patch's place there can be larger, by what the alignment of the next one takes:
    /// [`TessellationPipeline::off_chip_bytes_per_patch`].)
    #[must_use]
    pub fn off_chip_bytes_written_per_patch(&self) -> u64 {
        let points = u64::from(self.footprint.output_points) * u64::from(self.reflection.output_point.stride);
        points + u64::from(self.reflection.constants.size)
    }
}

/// What a caller asks of a pipeline's parameters.
pub(super) struct Asked<'a> {
    pub(super) flags: PipelineStateFlags,
    pub(super) parameters: &'a TessellationParameters,
    pub(super) readings: Readings,
    /// Whether the stages have the documentation's define.
    pub(super) compiled_off_chip: bool,
}

/// A19: the define of both stages.
pub(super) fn compiled_off_chip(hull: bool, domain: bool) -> Result<bool, Error> {
    if hull == domain { Ok(hull) } else { Err(ParameterError::OffChipMismatch { hull, domain }.into()) }
}

pub(super) fn resolve_parameters(
    asked: &Asked<'_>,
    plan: &ThreadgroupPlan,
    profile: &Profile,
    footprint: &PatchFootprint,
    domain: Domain,
) -> Result<(ResolvedParameters, Vec<ParameterWarning>), Error> {
    let (resolved, mut warnings) = asked.parameters.resolve(plan, asked.flags, domain, profile, asked.readings)?;
    if resolved.off_chip {
        let (needed, available) = (footprint.off_chip_bytes(), u64::from(profile.off_chip_block_bytes));
        if needed > available {
            return Err(ParameterError::PatchExceedsOffChipBlock { needed, available }.into());
        }
        if !asked.compiled_off_chip {
            warnings.push(ParameterWarning::Recompiled);
        }
    }
    Ok((resolved, warnings))
}

/// The heuristic's right side for every number of patches that can count in a threadgroup.
pub(super) fn on_chip_below(parameters: &ResolvedParameters, domain: Domain) -> [[u32; 4]; 32] {
    let ResolvedParameters { readings, tessellation_factor_threshold: threshold, .. } = parameters;
    let of_patch = readings.averaged_factors(domain);
    let mut table = [[0; 4]; 32];
    for (i, pair) in (0..MAX_PATCHES / 2).zip(&mut table) {
        for half in 0..2 {
            let from = match heuristic::limit(readings, *threshold, (2 * i + half + 1) * of_patch) {
                FactorSum::Exact(from) => from,
                FactorSum::Raw(bits) => u64::from(bits),
            };
            pair[2 * half as usize] = from as u32;
            pair[2 * half as usize + 1] = (from >> 32) as u32;
        }
    }
    table
}

/// `PwParams::readings`.
pub(super) fn readings_word(readings: &Readings, domain: Domain) -> u32 {
    let culled = match readings.culled_patches {
        CulledPatches::AsZero => 0,
        CulledPatches::Excluded => READING_CULLED_EXCLUDED,
        CulledPatches::AsTheyAre => READING_CULLED_AS_THEY_ARE,
    };
    let raw = if readings.factor_values == FactorValues::Raw { READING_RAW } else { 0 };
    readings.averaged_factors(domain) | culled | raw
}
