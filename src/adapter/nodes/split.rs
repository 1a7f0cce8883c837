//! Which patches of a draw each node tessellates: a pure function of the draw's size.

use std::ops::Range;

/// A block of patches of a draw that can be drawn at once: the same patches of each of some instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchBlock {
    /// Instances, counted from the draw's first.
    pub instances: Range<u32>,
    /// Patches of each of them.
    pub patches: Range<u32>,
}

impl PatchBlock {
    /// Patches over all its instances.
    #[must_use]
    pub fn len(&self) -> u64 {
        let length = |range: &Range<u32>| u64::from(range.end.saturating_sub(range.start));
        length(&self.instances) * length(&self.patches)
    }

    /// Whether it has no patches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Splits the patches of a draw, instance after instance, into `shares` runs that follow one another and differ by at most
/// one patch; each run as at most three blocks in patch order: the end of an instance, whole instances, the beginning of
/// one. Runs are empty where there are fewer patches than shares.
#[must_use]
pub fn split_patches(patches_per_instance: u32, instances: u32, shares: u32) -> Vec<Vec<PatchBlock>> {
    let patches = u64::from(patches_per_instance) * u64::from(instances);
    // A product of 64 and 32 bits may need 96.
    let border = |share: u32| (u128::from(patches) * u128::from(share) / u128::from(shares.max(1))) as u64;
    (0..shares).map(|share| blocks(patches_per_instance, border(share)..border(share + 1))).collect()
}

fn blocks(per_instance: u32, run: Range<u64>) -> Vec<PatchBlock> {
    let mut blocks = Vec::new();
    let mut at = run.start;
    while at < run.end {
        let whole = u64::from(per_instance);
        // Patches are there, so an instance has some; instances and patches within one fit 32 bits.
        let (instance, first) = ((at / whole) as u32, (at % whole) as u32);
        let block = if first == 0 && run.end - at >= whole {
            let count = ((run.end - at) / whole) as u32;
            PatchBlock { instances: instance..instance + count, patches: 0..per_instance }
        } else {
            let end = (u64::from(first) + run.end - at).min(whole) as u32;
            PatchBlock { instances: instance..instance + 1, patches: first..end }
        };
        at += block.len();
        blocks.push(block);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Put together in order, the blocks are the draw's patches, each once; shares are as equal as can be.
        #[test]
        fn shares_are_the_draw(per_instance in 0u32..40, instances in 0u32..12, shares in 1u32..9) {
            let split = split_patches(per_instance, instances, shares);
            prop_assert_eq!(split.len(), shares as usize);
            let all: Vec<(u32, u32)> = split
                .iter()
                .flatten()
                .flat_map(|block| {
                    let patches = block.patches.clone();
                    block.instances.clone().flat_map(move |i| patches.clone().map(move |patch| (i, patch)))
                })
                .collect();
            let expected: Vec<(u32, u32)> =
                (0..instances).flat_map(|i| (0..per_instance).map(move |patch| (i, patch))).collect();
            prop_assert_eq!(all, expected);
            let sizes: Vec<u64> = split.iter().map(|blocks| blocks.iter().map(PatchBlock::len).sum()).collect();
            let least = sizes.iter().min().copied().unwrap_or(0);
            prop_assert!(sizes.iter().all(|size| size - least <= 1));
            prop_assert!(split.iter().all(|blocks| blocks.len() <= 3 && blocks.iter().all(|block| !block.is_empty())));
        }
    }

    #[test]
    fn numbers_beyond_32_bits() {
        let split = split_patches(u32::MAX, u32::MAX, 3);
        let total: u64 = split.iter().flatten().map(PatchBlock::len).sum();
        assert_eq!(total, u64::from(u32::MAX) * u64::from(u32::MAX));
        assert_eq!(split_patches(0, u32::MAX, 2), vec![vec![], vec![]]);
    }
}
