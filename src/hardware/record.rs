//! What a threadgroup came to: the record that the hull pass leaves of each, whatever its mode.

use super::heuristic::FactorSum;
use super::{CulledPatches, Readings};
use crate::tessellator::Domain;

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
    /// Sum of its factors, as the heuristic summed them.
    pub factor_sum: FactorSum,
    /// Whether it left its control points in the off-chip buffer.
    pub off_chip: bool,
}

impl ThreadgroupRecord {
    /// The average factor that the heuristic compares; 0 where no patch counts.
    #[must_use]
    pub fn average_factor(&self, domain: Domain, readings: &Readings) -> f64 {
        let patches = match readings.culled_patches {
            CulledPatches::Excluded => self.patches.saturating_sub(self.culled),
            CulledPatches::AsZero | CulledPatches::AsTheyAre => self.patches,
        };
        let factors = f64::from(patches) * f64::from(readings.averaged_factors(domain));
        if factors == 0.0 { 0.0 } else { self.factor_sum.value() / factors }
    }

    /// Domain waves: its points, packed 64 to a wave across its patches; the last one may be partial.
    #[must_use]
    pub fn domain_waves(&self) -> u32 {
        self.points.div_ceil(WAVE_LANES)
    }

    /// Domain waves that run on the compute unit that ran the hull, where an off-chip threadgroup keeps `kept`
    /// (`ResolvedParameters::on_chip_waves`).
    #[must_use]
    pub fn on_chip_waves(&self, kept: u32) -> u32 {
        if self.off_chip { self.domain_waves().min(kept) } else { self.domain_waves() }
    }

    /// Domain waves that any compute unit may take.
    #[must_use]
    pub fn off_chip_waves(&self, kept: u32) -> u32 {
        self.domain_waves() - self.on_chip_waves(kept)
    }
}
