//! Who chooses what the caller leaves open: the console's driver, or what is fast here.

use super::{PipelineStateFlags, TessellationParameters};

/// How patches per threadgroup and the waves that stay on-chip are chosen where they are not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// As the console's driver: as many patches as fit, 4 waves on-chip. This emulates.
    #[default]
    Driver,
    /// For speed on this adapter: a draw of few patches spreads them over more threadgroups, and off-chip threadgroups
    /// keep 2 waves. Chosen from sweeps of the parameters on an H200 (docs/benchmarks.md has some); the bits are the same.
    Adaptive,
}

/// Threadgroups that keep a large GPU busy, before they are filled up.
const BUSY_THREADGROUPS: u64 = 1024;

/// Waves that an off-chip threadgroup keeps under [`Policy::Adaptive`].
const ADAPTIVE_WAVES: u32 = 2;

impl Policy {
    /// Patches of a threadgroup of a draw of `patches` patches, where at most `most` fit.
    #[must_use]
    pub fn patches_per_threadgroup(self, most: u32, patches: u64) -> u32 {
        match self {
            Self::Driver => most,
            Self::Adaptive => {
                u32::try_from(patches.div_ceil(BUSY_THREADGROUPS)).unwrap_or(u32::MAX).clamp(1, most.max(1))
            }
        }
    }

    /// The most threadgroups that `draws` draws of one instance can have with `patches` patches in all.
    #[must_use]
    pub fn most_threadgroups(self, most: u32, patches: u32, draws: u32) -> u32 {
        // Each draw can end in a threadgroup that is not full, and under `Adaptive` begin with as many as are busy.
        let full = patches.div_ceil(most.max(1)).saturating_add(draws);
        match self {
            Self::Driver => full,
            Self::Adaptive => patches.min(full.saturating_add(draws.saturating_mul(BUSY_THREADGROUPS as u32))),
        }
    }

    /// The caller's parameters with what the policy chooses.
    #[must_use]
    pub fn parameters(self, given: TessellationParameters, flags: PipelineStateFlags) -> TessellationParameters {
        if self == Self::Driver || !flags.tessellation_off_chip() {
            return given;
        }
        TessellationParameters { ds_wave_threshold: given.ds_wave_threshold.or(Some(ADAPTIVE_WAVES)), ..given }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adaptive_spreads_few_patches_and_packs_many() {
        let chosen = [1, 64, 1024, 1025, 4096, 65_536].map(|n| Policy::Adaptive.patches_per_threadgroup(16, n));
        assert_eq!(chosen, [1, 1, 1, 2, 4, 16]);
        assert_eq!(Policy::Driver.patches_per_threadgroup(16, 1), 16);
    }

    #[test]
    fn a_workspace_has_room_for_all_ways_to_draw() {
        for sizes in [vec![5], vec![4096], vec![1, 1, 1], vec![3000, 70, 1025], vec![1023; 7]] {
            let patches: u32 = sizes.iter().sum();
            for policy in [Policy::Driver, Policy::Adaptive] {
                let needed: u32 =
                    sizes.iter().map(|n| n.div_ceil(policy.patches_per_threadgroup(16, u64::from(*n)))).sum();
                assert!(needed <= policy.most_threadgroups(16, patches, sizes.len() as u32), "{policy:?} {sizes:?}");
            }
        }
    }

    #[test]
    fn adaptive_leaves_what_is_given() {
        let given = TessellationParameters { ds_wave_threshold: Some(9), ..Default::default() };
        let off_chip = PipelineStateFlags::GsOnchipTsOffchip;
        assert_eq!(Policy::Adaptive.parameters(given, off_chip), given);
        let none = TessellationParameters::default();
        assert_eq!(Policy::Adaptive.parameters(none, off_chip).ds_wave_threshold, Some(2));
        assert_eq!(Policy::Adaptive.parameters(none, PipelineStateFlags::None), none);
        assert_eq!(Policy::Driver.parameters(none, off_chip), none);
    }
}
