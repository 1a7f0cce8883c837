//! The memory that draws work in and come out of. Sizes come from the caller or from a measurement; nothing grows behind
//! the caller's back.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::bind_groups::{BindGroupKey, TriedGroups};
use super::device::{buffer, guarded};
use super::draw::DrawShape;
use super::epoch::Epoch;
use super::layout::{CHUNKS, PARAMS_STRIDE, Params, SLOTS, patch_words};
use super::report::ReportRing;
use super::state::{Sizes, StateOffsets};
use super::tessellation::TessellationPipeline;
use crate::Error;

/// Room for one output chunk: a vertex buffer and an index buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkCapacity {
    /// Threadgroups of a draw whose output goes here. Draws go wholly to the first chunk where there is only one, whatever
    /// this says.
    pub threadgroups: Range<u32>,
    /// Vertices of all draws until the next reset.
    pub vertices: u32,
    /// Primitives of all draws until the next reset.
    pub primitives: u32,
}

/// Describes a [`Workspace`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceDescriptor {
    /// Name for debugging tools.
    pub label: String,
    /// Patches of all draws until the next reset.
    pub patches: u32,
    /// Threadgroups of all draws until the next reset.
    pub threadgroups: u32,
    /// Threadgroups of one draw (of one chunk of it) that may be off-chip at once.
    pub off_chip_threadgroups: u32,
    /// Draws until the next reset; at most 1,024 divided by the number of chunks.
    pub draws: u32,
    /// The output; at least one chunk.
    pub chunks: Vec<ChunkCapacity>,
}

impl WorkspaceDescriptor {
    /// One chunk, for draws of `patches` patches in all (of one instance each) that come to at most `vertices` vertices
    /// and `primitives` primitives.
    #[must_use]
    pub fn new(pipeline: &TessellationPipeline, patches: u32, vertices: u32, primitives: u32) -> Self {
        let draws = 64;
        // Each draw can end in a threadgroup that is not full.
        let threadgroups =
            pipeline.policy.most_threadgroups(pipeline.parameters.patches_per_threadgroup, patches, draws);
        Self {
            label: "patchwave workspace".to_owned(),
            patches,
            threadgroups,
            off_chip_threadgroups: threadgroups,
            draws,
            chunks: vec![ChunkCapacity { threadgroups: 0..threadgroups, vertices, primitives }],
        }
    }
}

/// The buffers of one output chunk.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) capacity: ChunkCapacity,
    pub(crate) vertices: wgpu::Buffer,
    pub(crate) indices: wgpu::Buffer,
}
/// What draws have taken since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) patches: u32,
    pub(crate) threadgroups: u32,
    /// Entries of `slots` and arguments: one a chunk of a draw.
    pub(crate) slots: u32,
}

/// Memory for the draws of a pipeline. Draws append to it until [`Workspace::reset`].
///
/// One workspace serves one frame at a time: submit what was encoded into it before encoding the next frame's draws, in the
/// order in which it was encoded. Where an encoder is dropped instead, reset the workspace before the next draw: the first
/// draw after a reset takes the buffers from their front, and with it that would be lost.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) device: wgpu::Device,
    pub(crate) descriptor: WorkspaceDescriptor,
    vertex_stride: u64,
    pub(crate) patch_words: u32,
    off_chip_bytes_per_threadgroup: u64,
    /// Bytes that the indices of a primitive take.
    index_stride: u64,
    /// Whether there is room for tables of patches.
    strip_cut: bool,
    pub(crate) state: wgpu::Buffer,
    pub(crate) arguments: wgpu::Buffer,
    pub(crate) off_chip: wgpu::Buffer,
    /// Threadgroups that `off_chip` holds: none where the workspace was made for an on-chip pipeline.
    pub(crate) off_chip_blocks: u32,
    pub(crate) params: wgpu::Buffer,
    /// Bound where a draw has no index buffer.
    pub(crate) stand_in: wgpu::Buffer,
    /// What `params` holds, so that an unchanged draw writes nothing.
    params_held: Vec<Option<Params>>,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) offsets: StateOffsets,
    pub(crate) taken: Taken,
    /// Whether no draw has been encoded since the last reset; and of each chunk, none into that one.
    dirty: bool,
    pub(super) untouched: Vec<bool>,
    generation: u32,
    pub(super) bind_groups: HashMap<BindGroupKey, wgpu::BindGroup>,
    /// Combinations of bind groups that wgpu has taken.
    pub(super) tried: HashSet<TriedGroups>,
    pub(super) objects_created: u64,
    /// Tells results that lie in the buffers from those that have been overwritten.
    pub(crate) epoch: Epoch,
    pub(crate) reports: ReportRing,
}

/// Parameters are written to one of these many sets in turn, so that the next frame's do not overwrite those of the last.
pub(super) const GENERATIONS: u32 = 2;

impl Workspace {
    /// Makes a workspace for draws of `pipeline`.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] where a buffer would be larger than the device allows, [`Error::OutOfRange`] where the
    /// descriptor does not hold together, [`Error::Wgpu`] where the memory is not to be had.
    pub fn new(
        device: &wgpu::Device,
        pipeline: &TessellationPipeline,
        descriptor: WorkspaceDescriptor,
    ) -> Result<Self, Error> {
        check(&descriptor)?;
        let sizes = Sizes::new(pipeline, &descriptor, descriptor.patches)?;
        Self::with_sizes(device, pipeline, descriptor, sizes)
    }

    pub(super) fn with_sizes(
        device: &wgpu::Device,
        pipeline: &TessellationPipeline,
        descriptor: WorkspaceDescriptor,
        sizes: Sizes,
    ) -> Result<Self, Error> {
        let label = descriptor.label.clone();
        let name = |part: &str| format!("{label}: {part}");
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let state = buffer(device, &name("state"), sizes.state, storage | wgpu::BufferUsages::COPY_DST)?;
        let arguments = buffer(device, &name("arguments"), sizes.arguments, storage | wgpu::BufferUsages::INDIRECT)?;
        let off_chip = buffer(device, &name("off-chip"), sizes.off_chip, storage | wgpu::BufferUsages::COPY_DST)?;
        let params = buffer(
            device,
            &name("parameters"),
            sizes.params,
            wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        )?;
        let chunks = descriptor
            .chunks
            .iter()
            .zip(&sizes.chunks)
            .map(|(capacity, [vertices, indices])| {
                Ok(Chunk {
                    vertices: buffer(
                        device,
                        &name("vertices"),
                        *vertices,
                        storage | wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                    )?,
                    indices: buffer(
                        device,
                        &name("indices"),
                        *indices,
                        storage | wgpu::BufferUsages::INDEX | wgpu::BufferUsages::COPY_DST,
                    )?,
                    capacity: capacity.clone(),
                })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        Ok(Self {
            device: device.clone(),
            vertex_stride: pipeline.vertex_stride(),
            patch_words: patch_words(pipeline.fixed.domain),
            off_chip_bytes_per_threadgroup: pipeline.off_chip_bytes_per_threadgroup(),
            index_stride: pipeline.index_stride(),
            strip_cut: pipeline.strip_cut.is_some(),
            state,
            arguments,
            off_chip,
            off_chip_blocks: sizes.off_chip_blocks,
            params,
            stand_in: buffer(device, &name("no index buffer"), 16, wgpu::BufferUsages::STORAGE)?,
            params_held: vec![None; (sizes.params / PARAMS_STRIDE) as usize],
            chunks,
            offsets: sizes.offsets,
            taken: Taken::default(),
            dirty: true,
            untouched: vec![true; descriptor.chunks.len()],
            generation: 0,
            bind_groups: HashMap::new(),
            tried: HashSet::new(),
            objects_created: 0,
            epoch: Epoch::default(),
            reports: ReportRing::new(&label),
            descriptor,
        })
    }

    /// Forgets the draws; the next one begins at the front of the buffers. Results of earlier draws stay valid until
    /// then.
    pub fn reset(&mut self) {
        self.begin_anew();
        self.generation = (self.generation + 1) % GENERATIONS;
    }

    /// The next draw begins at the front of the buffers, with its parameters where they were.
    pub(super) fn begin_anew(&mut self) {
        self.taken = Taken::default();
        self.dirty = true;
        self.untouched.fill(true);
    }

    /// Bytes of all buffers.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        let chunks: u64 = self.chunks.iter().map(|chunk| chunk.vertices.size() + chunk.indices.size()).sum();
        self.state.size() + self.arguments.size() + self.off_chip.size() + self.params.size() + chunks
    }

    /// Bytes of the off-chip buffer.
    #[must_use]
    pub fn off_chip_bytes(&self) -> u64 {
        self.off_chip.size()
    }

    /// The off-chip buffer, for tests that look at what is written there.
    #[must_use]
    pub fn off_chip_buffer(&self) -> &wgpu::Buffer {
        &self.off_chip
    }

    /// wgpu objects made so far, beside the workspace's own buffers: bind groups, and buffers of the ring of reports. It
    /// stands still once the bindings of the draws are unchanged and as many reports are under way as ever are. Pipelines
    /// and other objects are never made by encoding.
    #[must_use]
    pub fn objects_created(&self) -> u64 {
        self.objects_created + self.reports.made
    }

    /// What the workspace was made from.
    #[must_use]
    pub fn descriptor(&self) -> &WorkspaceDescriptor {
        &self.descriptor
    }

    /// Notes that a draw is encoded into these chunks. Results of before the last reset are overwritten from then on.
    pub(super) fn begin_draw(&mut self, chunks: Range<usize>) {
        if self.dirty {
            self.dirty = false;
            self.epoch.advance();
        }
        for untouched in self.untouched.get_mut(chunks).into_iter().flatten() {
            *untouched = false;
        }
    }

    /// Refuses `draws` draws of a shape, of `slots` entries each, for which there is no room left.
    pub(crate) fn check_room(&self, shape: &DrawShape, draws: u32, slots: u32) -> Result<(), Error> {
        let room = |what, needed: u32, taken: u32, all: u32| {
            let (needed, available) = (u64::from(needed) * u64::from(draws), u64::from(all.saturating_sub(taken)));
            if needed > available { Err(Error::WorkspaceTooSmall { what, needed, available }) } else { Ok(()) }
        };
        let descriptor = &self.descriptor;
        room("patches", shape.patches, self.taken.patches, descriptor.patches)?;
        room("threadgroups", shape.threadgroups, self.taken.threadgroups, descriptor.threadgroups)?;
        room("draws", slots, self.taken.slots, descriptor.draws * self.chunks.len() as u32)
    }

    /// Refuses a pipeline whose layouts differ from those of the one that the workspace was made for.
    pub(crate) fn check_pipeline(&self, pipeline: &TessellationPipeline) -> Result<(), Error> {
        let mismatch = |what: &str, has: u64, needs: u64| {
            Err(Error::WorkspaceMismatch { reason: format!("{what} {has}, the pipeline's {needs}") })
        };
        if self.vertex_stride != pipeline.vertex_stride() {
            return mismatch("vertex stride", self.vertex_stride, pipeline.vertex_stride());
        }
        let words = patch_words(pipeline.fixed.domain);
        if self.patch_words != words {
            return mismatch("words of a patch record", u64::from(self.patch_words), u64::from(words));
        }
        let index_stride = pipeline.index_stride();
        if pipeline.strip_cut.is_some() && !self.strip_cut {
            let reason =
                "it was made for a pipeline without strip cuts and has no room for tables of patches".to_owned();
            return Err(Error::WorkspaceMismatch { reason });
        }
        if self.index_stride != index_stride {
            return mismatch("index bytes of a primitive", self.index_stride, index_stride);
        }
        // An on-chip pipeline asks for no room there; the workspace may have it all the same.
        let off_chip = pipeline.off_chip_bytes_per_threadgroup();
        if off_chip != 0 && self.off_chip_bytes_per_threadgroup != off_chip {
            return mismatch("off-chip bytes of a threadgroup", self.off_chip_bytes_per_threadgroup, off_chip);
        }
        Ok(())
    }

    /// Where the parameters of a slot of this frame lie, as a dynamic offset.
    pub(crate) fn params_offset(&self, slot: u32, role: u32) -> u32 {
        let slots = self.descriptor.draws * self.descriptor.chunks.len() as u32;
        ((self.generation * slots + slot) * 2 + role) * PARAMS_STRIDE as u32
    }

    /// Writes the parameters of `slot` for `role` where they differ from what is there; returns the dynamic offset.
    pub(crate) fn write_params(&mut self, queue: &wgpu::Queue, params: &Params) -> Result<u32, Error> {
        let offset = self.params_offset(params.slot, params.role);
        let entry = offset / PARAMS_STRIDE as u32;
        if let Some(held) = self.params_held.get_mut(entry as usize)
            && *held != Some(*params)
        {
            // On a device that is lost the buffer may never have been made.
            guarded(&self.device, "the parameters of a draw", || {
                queue.write_buffer(&self.params, u64::from(offset), bytemuck::bytes_of(params));
            })?;
            *held = Some(*params);
        }
        Ok(offset)
    }
}

fn check(descriptor: &WorkspaceDescriptor) -> Result<(), Error> {
    let out_of_range =
        |what, value: usize, expected: String| Err(Error::OutOfRange { what, value: value.to_string(), expected });
    if descriptor.chunks.is_empty() || descriptor.chunks.len() > CHUNKS as usize {
        return out_of_range("chunks of a workspace", descriptor.chunks.len(), format!("1 to {CHUNKS}"));
    }
    let slots = u64::from(descriptor.draws) * descriptor.chunks.len() as u64;
    if descriptor.draws == 0 || slots > u64::from(SLOTS) {
        let expected = format!("1 to {}: {SLOTS} divided by the chunks", SLOTS as usize / descriptor.chunks.len());
        return out_of_range("draws of a workspace", descriptor.draws as usize, expected);
    }
    Ok(())
}
