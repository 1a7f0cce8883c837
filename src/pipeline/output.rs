//! What comes out of a draw: chunks of vertices and indices, each with its indirect arguments.

use std::ops::Range;

use super::draw::DrawShape;
use super::epoch::Mark;
use super::layout::{ARGUMENT_BYTES, SLOT_BYTES, USED_BYTES, WORDS_OFFSET};
use super::tessellation::TessellationPipeline;
use super::workspace::{Taken, Workspace};
use crate::Error;
use crate::shader::Surface;
use crate::tessellator::{Domain, OutputTopology};

/// A range of a draw's patches, tessellated: where its vertices and indices lie and what to draw them with.
#[derive(Clone, Debug)]
pub struct OutputChunk {
    /// Patches of the draw (over all instances) whose output this is.
    pub patches: Range<u32>,
    /// The vertex buffer; indices count from its beginning.
    pub vertices: wgpu::Buffer,
    /// The index buffer, 32 bits an index.
    pub indices: wgpu::Buffer,
    /// Holds the arguments of `draw_indexed_indirect`, written by the GPU.
    pub arguments: wgpu::Buffer,
    /// Where they begin, in bytes.
    pub arguments_offset: u64,
    /// Entry of the state buffer's slots.
    pub(crate) slot: u32,
    pub(crate) vertex_capacity: u32,
    pub(crate) primitive_capacity: u32,
}

impl OutputChunk {
    pub(crate) fn new(
        workspace: &Workspace,
        chunk: usize,
        slot: u32,
        threadgroups: Range<u32>,
        shape: &DrawShape,
    ) -> Self {
        // The caller walks the workspace's own chunks, so there is one of this number.
        let output = &workspace.chunks[chunk];
        Self {
            patches: shape.first_patch(threadgroups.start)..shape.first_patch(threadgroups.end),
            vertices: output.vertices.clone(),
            indices: output.indices.clone(),
            arguments: workspace.arguments.clone(),
            arguments_offset: u64::from(slot) * ARGUMENT_BYTES,
            slot,
            vertex_capacity: output.capacity.vertices,
            primitive_capacity: output.capacity.primitives,
        }
    }
}

/// The result of an encoded draw. It stays valid until the workspace is reset and another draw is encoded into it (a batch:
/// until the next batch is); reading it later is [`Error::ResultOverwritten`](crate::Error::ResultOverwritten).
#[derive(Clone, Debug)]
pub struct Tessellation {
    chunks: Vec<OutputChunk>,
    /// Which filling of the workspace it belongs to.
    pub(crate) mark: Mark,
    pub(crate) state: wgpu::Buffer,
    /// Bytes of the state buffer where this draw's patch records begin.
    pub(crate) patch_records_offset: u64,
    pub(crate) threadgroup_records_offset: u64,
    pub(crate) patch_words: u32,
    /// What was asked; of an indirect draw, what there is room for; of a batch, its own patches and threadgroups.
    pub(crate) shape: DrawShape,
    /// The draw's patch that the first patch record is of: not 0 in batches.
    pub(crate) first_patch: u32,
    /// What statistics follow from.
    pub(crate) pipeline_shape: crate::hardware::PipelineShape,
    /// Whether the connectivity pass was among the draw's.
    pub(crate) has_indices: bool,
    /// Whether the GPU alone knows how many patches there are.
    pub(crate) indirect: bool,
    pub(crate) off_chip_capacity: u32,
    pub(crate) item_capacity: u32,
    pub(crate) surface: Surface,
    pub(crate) domain: Domain,
    pub(crate) topology: OutputTopology,
}

impl Tessellation {
    pub(crate) fn new(pipeline: &TessellationPipeline, workspace: &Workspace, shape: &DrawShape, first: Taken) -> Self {
        let words = |offset: u32, index: u32, size: u32| {
            WORDS_OFFSET + 4 * (u64::from(offset) + u64::from(index) * u64::from(size))
        };
        let offsets = &workspace.offsets;
        Self {
            chunks: Vec::new(),
            mark: workspace.epoch.mark(),
            first_patch: 0,
            state: workspace.state.clone(),
            patch_records_offset: words(offsets.patch_records, first.patches, workspace.patch_words),
            threadgroup_records_offset: words(
                offsets.threadgroup_records,
                first.threadgroups,
                super::layout::GROUP_WORDS,
            ),
            patch_words: workspace.patch_words,
            shape: *shape,
            pipeline_shape: pipeline.shape(),
            off_chip_capacity: workspace.off_chip_blocks,
            has_indices: true,
            indirect: false,
            item_capacity: offsets.queue_capacity.saturating_add(offsets.connectivity_capacity),
            surface: pipeline.reflection.surface.clone(),
            domain: pipeline.fixed.domain,
            topology: pipeline.fixed.topology,
        }
    }

    /// Refuses a result whose memory another draw has taken. One without chunks lies nowhere.
    pub(crate) fn check_there(&self) -> Result<(), Error> {
        if self.chunks.is_empty() { Ok(()) } else { self.mark.check() }
    }

    /// As above, and refuses one without indices.
    pub(crate) fn check_primitives(&self) -> Result<(), Error> {
        if self.has_indices { self.check_there() } else { Err(Error::NoIndices) }
    }

    pub(crate) fn push(&mut self, chunk: OutputChunk) {
        self.chunks.push(chunk);
    }

    /// The chunks, in patch order. Their union is the draw's output.
    #[must_use]
    pub fn chunks(&self) -> &[OutputChunk] {
        &self.chunks
    }

    /// Whether indices were written: not by [`TessellationPipeline::encode_vertices`]. The arguments of the chunks do not
    /// count then.
    #[must_use]
    pub fn has_indices(&self) -> bool {
        self.has_indices
    }

    /// Patches of the draw (of a batch: of that batch), over all instances, as the CPU knows them: without strip cuts, of
    /// which only the GPU knows how many patches they leave (then it is the number without cuts), and of an indirect draw
    /// the most there can be. How many there were, [`Mesh::patches`](crate::Mesh::patches) and the
    /// [statistics](Tessellation::statistics) tell.
    #[must_use]
    pub fn patches(&self) -> u32 {
        self.shape.patches
    }

    /// Threadgroups of the draw (of a batch: of that batch), over all instances; of an indirect draw, the most there can be.
    #[must_use]
    pub fn threadgroups(&self) -> u32 {
        self.shape.threadgroups
    }

    /// Draws everything: sets vertex buffer 0 and the index buffer, and draws each chunk indirectly. Call it in as many
    /// render passes as need the mesh, with a pipeline that takes the layout of
    /// [`TessellationPipeline::vertex_attributes`]. Without [indices](Tessellation::has_indices) it draws nothing.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        for chunk in self.chunks.iter().filter(|_| self.has_indices) {
            pass.set_vertex_buffer(0, chunk.vertices.slice(..));
            pass.set_index_buffer(chunk.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed_indirect(&chunk.arguments, chunk.arguments_offset);
        }
    }

    /// Where a chunk's counters lie in the state buffer, in bytes.
    pub(crate) fn slot_offset(chunk: &OutputChunk) -> u64 {
        USED_BYTES + u64::from(chunk.slot) * SLOT_BYTES
    }
}
