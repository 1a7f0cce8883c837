//! What a threadgroup came to: the record that the hull pass leaves of each, whatever its mode.

use super::heuristic::FactorSum;

/// Lanes of a wave: 64, on the console as here.
pub const WAVE_LANES: u32 = 64;

/// The record of one threadgroup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadgroupRecord {
    /// Its patches; the last threadgroup of an instance may have fewer than the others.
    pub patches: u32,
    /// How many of them are culled.
    pub culled: u32,
    /// Domain points of its patches.
    pub points: u32,
    /// Primitives of its patches.
    pub primitives: u32,
    /// Sum of its clamped factors in units of 2^-23, culled patches as 0.
    pub factor_sum: FactorSum,
    /// Whether it left its control points in the off-chip buffer.
    pub off_chip: bool,
}

impl ThreadgroupRecord {
    /// Average factor over `factors_per_patch` factors of each of its patches.
    #[must_use]
    pub fn average_factor(&self, factors_per_patch: u32) -> f64 {
        let factors = f64::from(self.patches) * f64::from(factors_per_patch);
        if factors == 0.0 { 0.0 } else { self.factor_sum as f64 / f64::from(1u32 << 23) / factors }
    }

    /// Domain waves: its points, packed 64 to a wave across its patches; the last one may be partial.
    #[must_use]
    pub fn domain_waves(&self) -> u32 {
        self.points.div_ceil(WAVE_LANES)
    }

    /// Domain waves that run on the compute unit that ran the hull.
    #[must_use]
    pub fn on_chip_waves(&self, ds_wave_threshold: u32) -> u32 {
        if self.off_chip { self.domain_waves().min(ds_wave_threshold) } else { self.domain_waves() }
    }

    /// Domain waves that any compute unit may take.
    #[must_use]
    pub fn off_chip_waves(&self, ds_wave_threshold: u32) -> u32 {
        self.domain_waves() - self.on_chip_waves(ds_wave_threshold)
    }
}
