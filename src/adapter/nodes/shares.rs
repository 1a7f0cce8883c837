//! Sharing a draw out: which patches each node has, and what they come to, counted on the nodes.

use super::error::NodeError;
use super::set::NodeSet;
use super::split::{PatchBlock, Split, patches_before, split_at, split_patches_weighted, targets};
use super::tessellation::{NodeDraw, check_draws, draw_of_block};
use crate::Error;
use crate::pipeline::{DrawShape, Measurement, Reading};

/// A block of a node's share, counted.
pub(super) struct Counted {
    pub(super) node: u32,
    pub(super) block: PatchBlock,
    pub(super) measurement: Measurement,
}

/// Patches of one instance that were counted together.
struct Group {
    /// The node that counted them.
    node: u32,
    /// Patches before the first, over all instances.
    first: u64,
    patches: u32,
    /// Calls of the draw's functions that they come to.
    work: u64,
}

impl NodeSet {
    /// Shares a draw out and counts what each node has. `wait` is called for each reading before it is awaited.
    pub(super) async fn count_shares(
        &self,
        draws: &[NodeDraw<'_>],
        split: Split<'_>,
        wait: impl Fn(&wgpu::Device, &Reading) -> Result<(), Error>,
    ) -> Result<Vec<Counted>, NodeError> {
        check_draws(draws, self.node_count())?;
        let weights = split.weights(self.node_count())?;
        let Some(first) = draws.first() else { return Ok(Vec::new()) };
        let per_instance = first.draw.vertices.len() as u32 / first.pipeline.input_points;
        let instances = first.draw.instances.len() as u32;
        let shares = split_patches_weighted(per_instance, instances, &weights);
        let counted = self.count(draws, shares, &wait).await?;
        if !split.is_measured() || self.node_count() == 1 {
            return Ok(counted);
        }
        let groups = groups(draws, &counted, per_instance)?;
        let borders = self.borders(draws, &groups, &weights, per_instance, &wait).await?;
        let patches = u64::from(per_instance) * u64::from(instances);
        self.count(draws, split_at(per_instance, patches, &borders), &wait).await
    }

    /// Counts shares, all nodes at the same time.
    async fn count(
        &self,
        draws: &[NodeDraw<'_>],
        shares: Vec<Vec<PatchBlock>>,
        wait: impl Fn(&wgpu::Device, &Reading) -> Result<(), Error>,
    ) -> Result<Vec<Counted>, NodeError> {
        let mut counting = Vec::new();
        for ((node, NodeDraw { pipeline, draw }), blocks) in (0..).zip(draws).zip(shares) {
            for block in blocks {
                let part = draw_of_block(draw, pipeline.input_points, &block);
                let measuring = pipeline.begin_measure(self.device(node)?, self.queue(node)?, &part)?;
                counting.push((node, block, measuring));
            }
        }
        let mut counted = Vec::with_capacity(counting.len());
        for (node, block, measuring) in counting {
            wait(self.device(node)?, &measuring.reading)?;
            counted.push(Counted { node, block, measurement: measuring.measurement().await? });
        }
        Ok(counted)
    }

    /// Patches before each share but the first, so that shares are of as much work as their weights say. The groups that
    /// borders fall in are counted once more, patch by patch.
    async fn borders(
        &self,
        draws: &[NodeDraw<'_>],
        groups: &[Group],
        weights: &[u32],
        per_instance: u32,
        wait: impl Fn(&wgpu::Device, &Reading) -> Result<(), Error>,
    ) -> Result<Vec<u64>, NodeError> {
        let work: Vec<u64> = groups.iter().map(|group| group.work).collect();
        let mut counting = Vec::new();
        for target in targets(&work, weights) {
            let measuring = match groups.get(target.group).filter(|_| target.rest > 0) {
                Some(group) => Some(self.begin_counting_patches(draws, group, per_instance)?),
                None => None,
            };
            counting.push((target, measuring));
        }
        let mut borders = Vec::with_capacity(counting.len());
        let end = groups.last().map_or(0, |last| last.first + u64::from(last.patches));
        for (target, measuring) in counting {
            let begin = groups.get(target.group).map_or(end, |group| group.first);
            let within = match (measuring, groups.get(target.group)) {
                (Some(measuring), Some(group)) => {
                    wait(self.device(group.node)?, &measuring.reading)?;
                    let hull = hull_calls(draws, group.node);
                    let work: Vec<u64> =
                        measuring.points().await?.iter().map(|points| hull + u64::from(*points)).collect();
                    patches_before(&work, target.rest) as u64
                }
                _ => 0,
            };
            borders.push(begin + within);
        }
        Ok(borders)
    }

    fn begin_counting_patches(
        &self,
        draws: &[NodeDraw<'_>],
        group: &Group,
        per_instance: u32,
    ) -> Result<crate::pipeline::MeasuringPatches, NodeError> {
        let Some(NodeDraw { pipeline, draw }) = draws.get(group.node as usize) else {
            return Err(NodeError::NodeIndex { index: group.node, nodes: self.node_count() });
        };
        // There are patches, so an instance has some; both numbers are below 32 bits' ones.
        let (instance, patch) =
            ((group.first / u64::from(per_instance)) as u32, (group.first % u64::from(per_instance)) as u32);
        let block = PatchBlock { instances: instance..instance + 1, patches: patch..patch + group.patches };
        let part = draw_of_block(draw, pipeline.input_points, &block);
        Ok(pipeline.begin_measure_patches(self.device(group.node)?, self.queue(group.node)?, &part)?)
    }
}

/// Calls of the hull function that a patch comes to; 1 where its control points pass through.
fn hull_calls(draws: &[NodeDraw<'_>], node: u32) -> u64 {
    draws.get(node as usize).map_or(1, |draw| u64::from(draw.pipeline.footprint.output_points.max(1)))
}

/// The threadgroups of all blocks, in patch order.
fn groups(draws: &[NodeDraw<'_>], counted: &[Counted], per_instance: u32) -> Result<Vec<Group>, NodeError> {
    let mut groups = Vec::new();
    for Counted { node, block, measurement } in counted {
        let Some(NodeDraw { pipeline, draw }) = draws.get(*node as usize) else { continue };
        let shape = DrawShape::new(pipeline, &draw_of_block(draw, pipeline.input_points, block))?;
        let hull = hull_calls(draws, *node);
        // A block of several instances has all patches of each.
        let begin = u64::from(block.instances.start) * u64::from(per_instance) + u64::from(block.patches.start);
        for (group, [points, _]) in (0..).zip(measurement.of_threadgroups()) {
            let (first, end) = (shape.first_patch(group), shape.first_patch(group + 1));
            let patches = end - first;
            let work = u64::from(*points) + hull * u64::from(patches);
            groups.push(Group { node: *node, first: begin + u64::from(first), patches, work });
        }
    }
    Ok(groups)
}
