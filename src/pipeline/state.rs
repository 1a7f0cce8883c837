//! How large the buffers of a workspace are, and where the parts of its state buffer lie.

use super::layout::{
    ARGUMENT_BYTES, BLOCK, GROUP_WORDS, PARAMS_STRIDE, SLOTS, SMALL_ITEM, WAVE, WORDS_OFFSET, patch_words,
};
use super::tessellation::TessellationPipeline;
use super::workspace::{GENERATIONS, WorkspaceDescriptor};
use crate::Error;

/// Bytes of the buffers of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) offsets: StateOffsets,
    pub(super) state: u64,
    pub(super) arguments: u64,
    pub(super) off_chip: u64,
    /// Threadgroups that the off-chip buffer holds.
    pub(super) off_chip_blocks: u32,
    pub(super) params: u64,
    /// Vertices and indices of each chunk.
    pub(super) chunks: Vec<[u64; 2]>,
}

impl Sizes {
    /// With `table_patches` entries in the tables of patches, where the pipeline has strip cuts.
    pub(super) fn new(
        pipeline: &TessellationPipeline,
        descriptor: &WorkspaceDescriptor,
        table_patches: u32,
    ) -> Result<Self, Error> {
        let most_vertices = descriptor.chunks.iter().map(|chunk| chunk.vertices).max().unwrap_or(0);
        let most_primitives = descriptor.chunks.iter().map(|chunk| chunk.primitives).max().unwrap_or(0);
        // Each threadgroup can end in an item that is not full.
        let items = [most_vertices.div_ceil(WAVE * SMALL_ITEM.waves), most_primitives.div_ceil(SMALL_ITEM.primitives)]
            .map(|full| descriptor.threadgroups.saturating_add(full));
        let words_of_patch = patch_words(pipeline.fixed.domain);
        let (offsets, words) =
            state_offsets(descriptor, words_of_patch, items, pipeline.strip_cut.is_some().then_some(table_patches))?;
        // An on-chip pipeline has none but what the binding asks for: one element of the array.
        let off_chip_blocks = if pipeline.parameters.off_chip { descriptor.off_chip_threadgroups } else { 0 };
        let slots = descriptor.draws * descriptor.chunks.len() as u32;
        Ok(Self {
            offsets,
            state: WORDS_OFFSET + words * 4,
            arguments: u64::from(SLOTS) * ARGUMENT_BYTES,
            off_chip: (u64::from(off_chip_blocks) * pipeline.off_chip_bytes_per_threadgroup())
                .max(pipeline.off_chip_stride),
            off_chip_blocks,
            params: u64::from(slots * 2 * GENERATIONS) * PARAMS_STRIDE,
            chunks: descriptor
                .chunks
                .iter()
                .map(|capacity| {
                    [
                        u64::from(capacity.vertices).max(1) * pipeline.vertex_stride(),
                        u64::from(capacity.primitives) * pipeline.index_stride(),
                    ]
                })
                .collect(),
        })
    }

    /// The largest of the buffers that are bound as storage.
    pub(super) fn largest_binding(&self) -> u64 {
        let bound = [self.state, self.off_chip];
        bound.into_iter().chain(self.chunks.iter().flatten().copied()).max().unwrap_or(0)
    }

    /// What [`Workspace::total_bytes`](super::Workspace::total_bytes) comes to.
    pub(super) fn total(&self) -> u64 {
        let fixed = [self.state, self.arguments, self.off_chip, self.params];
        fixed.into_iter().chain(self.chunks.iter().flatten().copied()).map(super::device::rounded).sum()
    }
}

/// Where the words of the state buffer's parts begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateOffsets {
    pub(crate) threadgroup_records: u32,
    pub(crate) patch_records: u32,
    pub(crate) block_sums: u32,
    pub(crate) queue: u32,
    pub(crate) queue_capacity: u32,
    pub(crate) connectivity_items: u32,
    pub(crate) connectivity_capacity: u32,
    /// For pipelines with strip cuts: each draw's number of patches and the first index of each.
    pub(crate) patch_table: u32,
    /// Of the threadgroups of one dispatch of the hull pass.
    pub(crate) primitive_counts: u32,
}

/// Lays out the words of the state buffer; also their number.
pub(super) fn state_offsets(
    descriptor: &WorkspaceDescriptor,
    patch_words: u32,
    [queue_capacity, connectivity_capacity]: [u32; 2],
    table_patches: Option<u32>,
) -> Result<(StateOffsets, u64), Error> {
    let parts = [
        u64::from(descriptor.threadgroups) * u64::from(GROUP_WORDS),
        u64::from(descriptor.patches) * u64::from(patch_words),
        u64::from(descriptor.threadgroups.div_ceil(BLOCK)),
        u64::from(queue_capacity) * 2,
        u64::from(connectivity_capacity) * 2,
        // A number for each draw, and an index for each of its patches.
        table_patches
            .map_or(0, |patches| u64::from(patches) + u64::from(descriptor.draws) * descriptor.chunks.len() as u64),
        u64::from(descriptor.threadgroups),
    ];
    let words: u64 = parts.iter().sum();
    if words > u64::from(u32::MAX / 4) {
        return Err(Error::LimitExceeded {
            what: format!("the state of {} patches", descriptor.patches),
            limit: "max_buffer_size",
            needed: words * 4,
            available: u64::from(u32::MAX),
            advice: "split the draws over several workspaces",
        });
    }
    // The sum fits 32 bits, so each part does.
    let threadgroup_records = 0;
    let patch_records = parts[0] as u32;
    let block_sums = patch_records + parts[1] as u32;
    let queue = block_sums + parts[2] as u32;
    let connectivity_items = queue + parts[3] as u32;
    let patch_table = connectivity_items + parts[4] as u32;
    let primitive_counts = patch_table + parts[5] as u32;
    let offsets = StateOffsets {
        threadgroup_records,
        patch_records,
        block_sums,
        queue,
        queue_capacity,
        connectivity_items,
        connectivity_capacity,
        patch_table,
        primitive_counts,
    };
    Ok((offsets, words))
}
