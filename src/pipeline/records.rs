//! Where a draw's records lie, for passes of the caller's that read them on the GPU.

use super::layout::GROUP_WORDS;
use super::output::Tessellation;

/// The records that a draw has left in a buffer, a record a patch and a record a threadgroup, both in patch order.
///
/// A patch's record is these words: its first vertex in the vertex buffer of its chunk (`u32::MAX` where strip cuts have
/// left no patch), its first primitive within its threadgroup, how many vertices and how many primitives it has, then the
/// bits of its factors. A culled patch has no vertices.
///
/// Of a threadgroup's record, word 0 is its vertices, word 1 its primitives, and word 5 tells whether it went off-chip: 0 if
/// not. The records of a draw that did not fit its workspace do not say where anything is.
///
/// The patches of an instance follow one another. Threadgroup `i / patches_per_instance * threadgroups_per_instance + i %
/// patches_per_instance / patches_per_threadgroup` has the draw's patch i.
#[derive(Clone, Copy, Debug)]
pub struct GpuRecords<'a> {
    /// The buffer; made with `STORAGE`, to be bound read-only, and with `COPY_SRC`.
    pub buffer: &'a wgpu::Buffer,
    /// The word of the buffer that the first patch's record begins at.
    pub patches: u32,
    /// Words from one patch's record to the next.
    pub words_per_patch: u32,
    /// The word of the buffer that the first threadgroup's record begins at.
    pub threadgroups: u32,
    /// Words from one threadgroup's record to the next.
    pub words_per_threadgroup: u32,
    /// Records of patches.
    pub patch_count: u32,
    /// Patches of each instance.
    pub patches_per_instance: u32,
    /// Threadgroups of each instance.
    pub threadgroups_per_instance: u32,
    /// Patches of a threadgroup; the last one of an instance may have fewer.
    pub patches_per_threadgroup: u32,
}

impl Tessellation {
    /// Where the draw's records lie on the GPU; `None` of indirect draws, of which only the GPU knows how many patches there
    /// are, and of batches behind a draw's first.
    #[must_use]
    pub fn gpu_records(&self) -> Option<GpuRecords<'_>> {
        let shape = &self.shape;
        // Words of a state buffer are counted in 32 bits.
        let word = |bytes: u64| u32::try_from(bytes / 4).ok();
        (!self.indirect && self.first_patch == 0).then_some(())?;
        Some(GpuRecords {
            buffer: &self.state,
            patches: word(self.patch_records_offset)?,
            words_per_patch: self.patch_words,
            threadgroups: word(self.threadgroup_records_offset)?,
            words_per_threadgroup: GROUP_WORDS,
            patch_count: shape.patches,
            patches_per_instance: shape.patches_per_instance,
            threadgroups_per_instance: shape.threadgroups_per_instance,
            patches_per_threadgroup: shape.patches_per_threadgroup,
        })
    }
}
