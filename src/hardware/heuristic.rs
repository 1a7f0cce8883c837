//! On-chip or off-chip: the decision of a threadgroup (docs/hardware.md, section 2).
//!
//! The twin of `pw_decide` in `shaders/threadgroup.wgsl`. Factors are clamped, so each is a multiple of 2^-23; they are
//! summed in that unit, and the sum is compared with the threshold times the number of factors. So the decision is exact,
//! and the same on every device.

use super::{CulledPatches, FactorValues, Readings, ThreadgroupRecord};
use crate::tessellator::{Domain, TessellatedPatch};

/// A sum of factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorSum {
    /// In units of 2^-23: [`FactorValues::Clamped`].
    Exact(u64),
    /// The bits of a float in single precision: [`FactorValues::Raw`].
    Raw(u32),
}

impl FactorSum {
    /// The sum as a number.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Exact(units) => units as f64 / f64::from(1u32 << 23),
            Self::Raw(bits) => f64::from(f32::from_bits(bits)),
        }
    }
}

impl Default for FactorSum {
    fn default() -> Self {
        Self::Exact(0)
    }
}

/// What a threadgroup decides by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Whether the pipeline is off-chip at all.
    pub off_chip: bool,
    /// The average factor from which on a threadgroup goes off-chip.
    pub factor_threshold: f32,
    /// Domain waves that an off-chip threadgroup keeps on-chip.
    pub on_chip_waves: u32,
    /// Bytes that a patch leaves off-chip.
    pub bytes_per_patch: u64,
    /// How the average is taken.
    pub readings: Readings,
}

/// What a threadgroup decided, and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What the hull pass leaves of it.
    pub record: ThreadgroupRecord,
    /// Domain waves on the compute unit that ran the hull.
    pub on_chip_waves: u32,
    /// Domain waves on any compute unit.
    pub off_chip_waves: u32,
    /// Bytes written to the off-chip buffer: all of an off-chip threadgroup's patches, or none.
    pub off_chip_bytes: u64,
}

/// Decides for a threadgroup of these patches.
///
/// A threadgroup without domain points has no waves to give away and leaves nothing off-chip.
#[must_use]
pub fn decide(rule: &Rule, domain: Domain, patches: &[TessellatedPatch]) -> Decision {
    let culled = patches.iter().filter(|patch| patch.is_culled()).count() as u32;
    let points: u32 = patches.iter().map(TessellatedPatch::point_count).sum();
    let primitives = patches.iter().map(TessellatedPatch::primitive_count).sum();
    let count = patches.len() as u32;
    let counted = if rule.readings.culled_patches == CulledPatches::Excluded { count - culled } else { count };
    let factors = counted * rule.readings.averaged_factors(domain);
    let factor_sum = sum(&rule.readings, domain, patches);
    let below = stays_on_chip(factor_sum, limit(&rule.readings, rule.factor_threshold, factors));
    let record = ThreadgroupRecord {
        patches: count,
        culled,
        points,
        primitives,
        factor_sum,
        off_chip: rule.off_chip && !below && points != 0,
    };
    Decision {
        record,
        on_chip_waves: record.on_chip_waves(rule.on_chip_waves),
        off_chip_waves: record.off_chip_waves(rule.on_chip_waves),
        off_chip_bytes: if record.off_chip { u64::from(count) * rule.bytes_per_patch } else { 0 },
    }
}

/// The sum of a threadgroup's factors, as `readings` takes them.
fn sum(readings: &Readings, domain: Domain, patches: &[TessellatedPatch]) -> FactorSum {
    let averaged = readings.averaged_factors(domain) as usize;
    let counts = |patch: &&TessellatedPatch| !patch.is_culled() || readings.culled_patches == CulledPatches::AsTheyAre;
    match readings.factor_values {
        FactorValues::Clamped => FactorSum::Exact(
            patches
                .iter()
                .filter(counts)
                .flat_map(|patch| (0..averaged).map(move |i| u64::from(clamped(domain, patch, i))))
                .sum(),
        ),
        FactorValues::Raw => {
            let of_patch = |patch: &TessellatedPatch| patch.factor_bits().iter().take(averaged).fold(0, raw_add);
            FactorSum::Raw(
                patches
                    .iter()
                    .map(|patch| if counts(&patch) { of_patch(patch) } else { 0 })
                    .fold(0, |a, b| raw_add(a, &b)),
            )
        }
    }
}

/// Factor i clamped; 0 where it is what culls the patch.
fn clamped(domain: Domain, patch: &TessellatedPatch, i: usize) -> u32 {
    let not_positive = |bits: u32| bits.wrapping_sub(1) >= 0x7f80_0000;
    match patch.factor_bits().get(i) {
        Some(&bits) if i < domain.edge_count() && not_positive(bits) => 0,
        _ => patch.clamped_factor(i).unwrap_or(0),
    }
}

const SPECIAL: u32 = 0x7f80_0000;
const NAN: u32 = 0x7fc0_0000;

/// Adds floats by their bits, with NaNs and infinities kept apart: WGSL may assume that there are none.
fn raw_add(sum: u32, bits: &u32) -> u32 {
    let special = |bits: u32| bits & 0x7fff_ffff >= SPECIAL;
    match (special(sum), special(*bits)) {
        (true, true) if sum != *bits => NAN,
        (true, _) => sum,
        (false, true) => *bits,
        (false, false) => (f32::from_bits(sum) + f32::from_bits(*bits)).to_bits(),
    }
}

/// What the sum of `factors` factors is compared with: the entry of `on_chip_below` in `shaders/state.wgsl`.
#[must_use]
pub fn limit(readings: &Readings, threshold: f32, factors: u32) -> FactorSum {
    match readings.factor_values {
        FactorValues::Clamped => FactorSum::Exact(off_chip_from(threshold, factors)),
        FactorValues::Raw => FactorSum::Raw((threshold * factors as f32).to_bits()),
    }
}

/// Whether a threadgroup with this sum stays on-chip.
fn stays_on_chip(sum: FactorSum, limit: FactorSum) -> bool {
    match (sum, limit) {
        (FactorSum::Exact(sum), FactorSum::Exact(limit)) => sum < limit,
        // A NaN is below nothing.
        _ => sum.value() < limit.value(),
    }
}

/// The least sum of `factors` factors whose average is not below `threshold`: ceil(threshold · factors · 2^23).
///
/// A threadgroup stays on-chip iff its sum is less than this. Saturates where no sum can reach it.
#[must_use]
pub fn off_chip_from(threshold: f32, factors: u32) -> u64 {
    // Above 64, no average can reach the threshold; below 0 and NaN are refused before.
    if threshold.is_nan() || threshold > 64.0 {
        return u64::MAX;
    }
    let bits = threshold.to_bits();
    let (exponent, fraction) = ((bits >> 23) & 0xff, bits & 0x7f_ffff);
    // threshold = significand · 2^(exponent - 150), so times 2^23 it is significand · 2^(exponent - 127).
    let (significand, exponent) = if exponent == 0 { (fraction, 1) } else { (fraction | 0x80_0000, exponent) };
    let product = u128::from(significand) * u128::from(factors);
    match exponent.checked_sub(127) {
        // At most 24 + 32 + 6 bits.
        Some(up) => u64::try_from(product << up).unwrap_or(u64::MAX),
        None => {
            let down = 127 - exponent;
            u64::try_from((product + (1u128 << down.min(127)) - 1) >> down.min(127)).unwrap_or(u64::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_times_factors_is_exact() {
        assert_eq!(off_chip_from(0.0, 12), 0);
        assert_eq!(off_chip_from(3.0, 12), 36 << 23);
        assert_eq!(off_chip_from(1.0 / 3.0, 3), (f64::from(1.0f32 / 3.0) * 3.0 * f64::from(1 << 23)).ceil() as u64);
        assert_eq!(off_chip_from(f32::from_bits(1), 6), 1, "anything above 0 needs a sum of at least one unit");
        assert_eq!(off_chip_from(64.0, 384), (64 * 384) << 23);
        assert_eq!(off_chip_from(64.5, 384), u64::MAX);
    }

    #[test]
    fn raw_sums_keep_nan_and_infinities() {
        let add = |a: f32, b: f32| f32::from_bits(raw_add(a.to_bits(), &b.to_bits()));
        assert_eq!(add(1.5, 2.0), 3.5);
        assert_eq!(add(f32::INFINITY, -3.0), f32::INFINITY);
        assert_eq!(add(-3.0, f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert!(add(f32::INFINITY, f32::NEG_INFINITY).is_nan());
        assert!(add(f32::NAN, 1.0).is_nan() && add(1.0, f32::NAN).is_nan());
        let limit = FactorSum::Raw(4.0f32.to_bits());
        for (sum, on_chip) in [(3.9f32, true), (4.0, false), (f32::NAN, false), (f32::INFINITY, false)] {
            assert_eq!(stays_on_chip(FactorSum::Raw(sum.to_bits()), limit), on_chip, "{sum}");
        }
        assert!(stays_on_chip(FactorSum::Raw(f32::NEG_INFINITY.to_bits()), limit));
    }
}
