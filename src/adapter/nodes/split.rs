//! Which patches of a draw each node tessellates: pure functions of the draw's size, of weights, and of the work counted.

use std::ops::Range;

use super::error::NodeError;

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

/// How the patches of a draw are shared out over the nodes. Whatever the split, shares follow one another in patch order,
/// and the result is the same bit by bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split<'a> {
    /// As many patches a node, but for one.
    #[default]
    Even,
    /// Patches in proportion to a weight a node, such as what each does a second: each has its share of the patches to
    /// within one. A node of weight 0 has none.
    Weighted(&'a [u32]),
    /// As much work a node. The draw is counted first ([`TessellationPipeline::measure`](crate::TessellationPipeline::measure)),
    /// which runs its vertex, hull and patch constant functions once more. Work is counted in calls of the draw's own
    /// functions: a patch comes to its points, one call of the domain function each, and its output control points, one of
    /// the hull function each. Each node's work is its share to within the work of the largest patch,
    /// and a call for rounding.
    Measured,
    /// Work, counted as by `Measured`, in proportion to a weight a node.
    MeasuredWeighted(&'a [u32]),
}

impl Split<'_> {
    /// A weight a node, of which one is not 0.
    pub(super) fn weights(self, nodes: u32) -> Result<Vec<u32>, NodeError> {
        let weights = match self {
            Self::Even | Self::Measured => vec![1; nodes as usize],
            Self::Weighted(weights) | Self::MeasuredWeighted(weights) => weights.to_vec(),
        };
        let refuse = |reason| Err(NodeError::Split { nodes, reason });
        if weights.len() != nodes as usize {
            return refuse(format!("{} weights were given; give one a node", weights.len()));
        }
        if weights.iter().all(|weight| *weight == 0) {
            return refuse("all weights are 0; give a node that is to have patches another".to_owned());
        }
        Ok(weights)
    }

    /// Whether work is shared out and not patches.
    pub(super) fn is_measured(self) -> bool {
        matches!(self, Self::Measured | Self::MeasuredWeighted(_))
    }
}

/// Splits the patches of a draw, instance after instance, into `shares` runs that follow one another and differ by at most
/// one patch; each run as at most three blocks in patch order: the end of an instance, whole instances, the beginning of
/// one. Runs are empty where there are fewer patches than shares.
#[must_use]
pub fn split_patches(patches_per_instance: u32, instances: u32, shares: u32) -> Vec<Vec<PatchBlock>> {
    split_patches_weighted(patches_per_instance, instances, &vec![1; shares as usize])
}

/// [`split_patches`] in proportion to weights, one a run: each run has its share of the patches to within one. Where all
/// weights are 0, the last run has all patches.
#[must_use]
pub fn split_patches_weighted(patches_per_instance: u32, instances: u32, weights: &[u32]) -> Vec<Vec<PatchBlock>> {
    let patches = u64::from(patches_per_instance) * u64::from(instances);
    if weights.is_empty() {
        return Vec::new();
    }
    split_at(patches_per_instance, patches, &borders(patches, weights))
}

/// Where the runs of `total` end, but for the last: as far as their weights and those before say.
fn borders(total: u64, weights: &[u32]) -> Vec<u64> {
    let all: u64 = weights.iter().copied().map(u64::from).sum();
    let mut before = 0u64;
    let mut borders = Vec::with_capacity(weights.len());
    for weight in weights.iter().take(weights.len().saturating_sub(1)) {
        before += u64::from(*weight);
        // A product of 64 and 37 bits; the quotient is at most `total`.
        borders.push((u128::from(total) * u128::from(before) / u128::from(all.max(1))) as u64);
    }
    borders
}

/// The runs of patches between borders that do not fall.
pub(super) fn split_at(patches_per_instance: u32, patches: u64, borders: &[u64]) -> Vec<Vec<PatchBlock>> {
    let begins = std::iter::once(0).chain(borders.iter().copied());
    let ends = borders.iter().copied().chain([patches]);
    begins.zip(ends).map(|(begin, end)| blocks(patches_per_instance, begin..end)).collect()
}

/// Where a border falls in patches that were counted in groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The group that it falls in; their number where it is behind all.
    pub(super) group: usize,
    /// Work of that group before the border.
    pub(super) rest: u64,
}

/// Where the borders fall between runs of groups of so much work, by weights.
pub(super) fn targets(work: &[u64], weights: &[u32]) -> Vec<Target> {
    let mut target = Target { group: 0, rest: 0 };
    let mut before = 0;
    let find = |border: u64| {
        while let Some(own) = work.get(target.group).filter(|own| before + **own <= border) {
            before += own;
            target.group += 1;
        }
        target.rest = border - before;
        target
    };
    borders(work.iter().sum(), weights).into_iter().map(find).collect()
}

/// Patches of so much work that come before a border, the nearest there is to `rest`.
pub(super) fn patches_before(work: &[u64], rest: u64) -> usize {
    let mut before = 0;
    for (patch, own) in work.iter().enumerate() {
        if before + own > rest {
            return if rest - before <= before + own - rest { patch } else { patch + 1 };
        }
        before += own;
    }
    work.len()
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

    proptest! {
        /// Patches in groups of so many, shared out by weights: each run's work is its share to within the largest patch, and
        /// a run without weight has nothing.
        #[test]
        fn work_is_shared_out(
            groups in prop::collection::vec(prop::collection::vec(prop_oneof![1u64..20, 1u64..5_000], 1..9), 0..30),
            weights in prop::collection::vec(prop_oneof![Just(0u32), Just(1), any::<u32>()], 1..9),
        ) {
            let all: u64 = weights.iter().copied().map(u64::from).sum();
            prop_assume!(all > 0);
            let of_groups: Vec<u64> = groups.iter().map(|group| group.iter().sum()).collect();
            let patches: Vec<u64> = groups.concat();
            let first = |group: usize| groups[..group].iter().map(Vec::len).sum::<usize>();
            let mut borders = vec![0];
            for Target { group, rest } in targets(&of_groups, &weights) {
                let within = groups.get(group).map_or(0, |work| patches_before(work, rest));
                borders.push(first(group) + within);
            }
            borders.push(patches.len());
            prop_assert!(borders.is_sorted() && borders.len() == weights.len() + 1, "{borders:?}");
            let (total, largest) = (of_groups.iter().sum::<u64>(), patches.iter().max().copied().unwrap_or(0));
            for (run, weight) in borders.windows(2).zip(&weights) {
                let work: u64 = patches[run[0]..run[1]].iter().sum();
                let share = (u128::from(total) * u128::from(*weight) / u128::from(all)) as u64;
                // Borders are whole numbers themselves.
                prop_assert!(work.abs_diff(share) <= largest + 1, "{work} of {share}, {largest} at most a patch");
                prop_assert!(*weight > 0 || work == 0);
            }
        }

        #[test]
        fn patches_are_shared_out_by_weights(
            per_instance in 0u32..40, instances in 0u32..12,
            weights in prop::collection::vec(prop_oneof![Just(0u32), 0u32..5, any::<u32>()], 1..9),
        ) {
            let all: u64 = weights.iter().copied().map(u64::from).sum();
            prop_assume!(all > 0);
            let split = split_patches_weighted(per_instance, instances, &weights);
            let patches = u64::from(per_instance) * u64::from(instances);
            for (blocks, weight) in split.iter().zip(&weights) {
                let has: u64 = blocks.iter().map(PatchBlock::len).sum();
                let share = (u128::from(patches) * u128::from(*weight) / u128::from(all)) as u64;
                prop_assert!(has.abs_diff(share) <= 1 && (*weight > 0 || has == 0), "{has} of {share}");
            }
            prop_assert_eq!(split.iter().flatten().map(PatchBlock::len).sum::<u64>(), patches);
        }
    }

    #[test]
    fn numbers_beyond_32_bits() {
        let split = split_patches(u32::MAX, u32::MAX, 3);
        let total: u64 = split.iter().flatten().map(PatchBlock::len).sum();
        assert_eq!(total, u64::from(u32::MAX) * u64::from(u32::MAX));
        assert_eq!(split_patches(0, u32::MAX, 2), vec![vec![], vec![]]);
        let split = split_patches_weighted(u32::MAX, u32::MAX, &[u32::MAX, 0, u32::MAX]);
        assert!(split[1].is_empty() && !split[0].is_empty() && !split[2].is_empty());
        assert!(split_patches(3, 3, 0).is_empty());
    }
}
