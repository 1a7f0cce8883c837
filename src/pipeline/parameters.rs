//! The parameters of a pipeline as its kernels take them.

use super::layout::{
    MAX_PATCHES, READING_CULLED_AS_THEY_ARE, READING_CULLED_EXCLUDED, READING_RAW,
};
use crate::Error;
use crate::hardware::heuristic::{self, FactorSum};
use crate::hardware::{
    CulledPatches, FactorValues, ParameterError, ParameterWarning, PatchFootprint, PipelineStateFlags, Profile,
    Readings, ResolvedParameters, TessellationParameters, ThreadgroupPlan,
};
use crate::tessellator::Domain;

/// A profile whose threadgroups have what these limits allow.
#[must_use]
pub fn profile_of(limits: &wgpu::Limits) -> Profile {
    Profile::from_limits(limits.max_compute_workgroup_storage_size, limits.max_compute_invocations_per_workgroup)
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
