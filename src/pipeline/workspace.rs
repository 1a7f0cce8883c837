//! The memory that draws work in and come out of. Sizes come from the caller or from a measurement; nothing grows behind
//! the caller's back.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::device::{buffer, guarded};
use super::draw::DrawShape;
use super::layout::{
    ARGUMENT_BYTES, BLOCK, CHUNKS, GROUP_WORDS, PARAMS_STRIDE, Params, SLOT_BYTES, SLOTS, SMALL_ITEM, USED_BYTES, WAVE,
    WORDS_OFFSET, patch_words,
};
use super::report::ReportRing;
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
/// draw after a reset also clears the counters, and with it that would be lost.
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
    /// Slots used since the state buffer's head was last cleared.
    pub(crate) dirty: bool,
    generation: u32,
    bind_groups: HashMap<BindGroupKey, wgpu::BindGroup>,
    /// Combinations of bind groups that wgpu has taken.
    tried: HashSet<TriedGroups>,
    objects_created: u64,
    pub(crate) reports: ReportRing,
}

/// Parameters are written to one of these many sets in turn, so that the next frame's do not overwrite those of the last.
const GENERATIONS: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct BindGroupKey {
    pipeline: u64,
    chunk: usize,
    kind: BindGroupKind,
    /// The buffers of the draw, with their bindings.
    buffers: Vec<(u32, wgpu::Buffer)>,
}

/// A pipeline, the caller's bind groups and ours.
type TriedGroups = (u64, [Option<wgpu::BindGroup>; 3], wgpu::BindGroup);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BindGroupKind {
    Threadgroup,
    Allocate,
    Connectivity,
    StripCut,
    /// Stream output of one chunk.
    Stream,
    /// Set-up of this many records of an indirect draw.
    Indirect {
        records: u32,
    },
}

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
        let patch_words = patch_words(pipeline.fixed.domain);
        let most_vertices = descriptor.chunks.iter().map(|chunk| chunk.vertices).max().unwrap_or(0);
        let most_primitives = descriptor.chunks.iter().map(|chunk| chunk.primitives).max().unwrap_or(0);
        // Each threadgroup can end in an item that is not full.
        let items = [most_vertices.div_ceil(WAVE * SMALL_ITEM.waves), most_primitives.div_ceil(SMALL_ITEM.primitives)]
            .map(|full| descriptor.threadgroups.saturating_add(full));
        let strip_cut = pipeline.strip_cut.is_some();
        let (offsets, words) = state_offsets(&descriptor, patch_words, items, strip_cut)?;

        let label = descriptor.label.clone();
        let name = |part: &str| format!("{label}: {part}");
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let state = buffer(device, &name("state"), WORDS_OFFSET + words * 4, storage | wgpu::BufferUsages::COPY_DST)?;
        let arguments = buffer(
            device,
            &name("arguments"),
            u64::from(SLOTS) * ARGUMENT_BYTES,
            storage | wgpu::BufferUsages::INDIRECT,
        )?;
        let off_chip_bytes_per_threadgroup = pipeline.off_chip_bytes_per_threadgroup();
        // An on-chip pipeline has none but what the binding asks for: one element of the array.
        let off_chip_blocks = if pipeline.parameters.off_chip { descriptor.off_chip_threadgroups } else { 0 };
        let off_chip = buffer(
            device,
            &name("off-chip"),
            (u64::from(off_chip_blocks) * off_chip_bytes_per_threadgroup).max(pipeline.off_chip_stride),
            storage | wgpu::BufferUsages::COPY_DST,
        )?;
        let slots = descriptor.draws * descriptor.chunks.len() as u32;
        let params = buffer(
            device,
            &name("parameters"),
            u64::from(slots * 2 * GENERATIONS) * PARAMS_STRIDE,
            wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        )?;
        let vertex_stride = pipeline.vertex_stride();
        let index_stride = 4 * u64::from(pipeline.fixed.topology.vertices_per_primitive());
        let chunks = descriptor
            .chunks
            .iter()
            .map(|capacity| {
                Ok(Chunk {
                    vertices: buffer(
                        device,
                        &name("vertices"),
                        u64::from(capacity.vertices).max(1) * vertex_stride,
                        storage | wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                    )?,
                    indices: buffer(
                        device,
                        &name("indices"),
                        u64::from(capacity.primitives) * index_stride,
                        storage | wgpu::BufferUsages::INDEX | wgpu::BufferUsages::COPY_DST,
                    )?,
                    capacity: capacity.clone(),
                })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        Ok(Self {
            device: device.clone(),
            vertex_stride,
            patch_words,
            off_chip_bytes_per_threadgroup,
            index_stride,
            strip_cut,
            state,
            arguments,
            off_chip,
            off_chip_blocks,
            params,
            stand_in: buffer(device, &name("no index buffer"), 16, wgpu::BufferUsages::STORAGE)?,
            params_held: vec![None; (slots * 2 * GENERATIONS) as usize],
            chunks,
            offsets,
            taken: Taken::default(),
            dirty: true,
            generation: 0,
            bind_groups: HashMap::new(),
            tried: HashSet::new(),
            objects_created: 0,
            reports: ReportRing::new(&label),
            descriptor,
        })
    }

    /// Forgets the draws; the next one begins at the front of the buffers. Results of earlier draws stay valid until
    /// then.
    pub fn reset(&mut self) {
        self.taken = Taken::default();
        self.dirty = true;
        self.generation = (self.generation + 1) % GENERATIONS;
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

    /// Bind groups made so far: it stands still once the bindings of the draws are unchanged.
    #[must_use]
    pub fn objects_created(&self) -> u64 {
        self.objects_created
    }

    /// What the workspace was made from.
    #[must_use]
    pub fn descriptor(&self) -> &WorkspaceDescriptor {
        &self.descriptor
    }

    /// Clears the counters before the first draw after a reset.
    pub(crate) fn clear_where_reset(&mut self, encoder: &mut wgpu::CommandEncoder) {
        if self.dirty {
            let used = USED_BYTES + u64::from(self.descriptor.draws) * self.chunks.len() as u64 * SLOT_BYTES;
            encoder.clear_buffer(&self.state, 0, Some(used));
            self.dirty = false;
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
        let index_stride = 4 * u64::from(pipeline.fixed.topology.vertices_per_primitive());
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
    pub(crate) fn write_params(&mut self, queue: &wgpu::Queue, params: &Params) -> u32 {
        let offset = self.params_offset(params.slot, params.role);
        let entry = offset / PARAMS_STRIDE as u32;
        if let Some(held) = self.params_held.get_mut(entry as usize)
            && *held != Some(*params)
        {
            queue.write_buffer(&self.params, u64::from(offset), bytemuck::bytes_of(params));
            *held = Some(*params);
        }
        offset
    }

    /// The bind group of a pass, made on first use of these buffers.
    pub(crate) fn bind_group(
        &mut self,
        pipeline: &TessellationPipeline,
        kind: BindGroupKind,
        chunk: usize,
        buffers: &[(u32, wgpu::Buffer)],
    ) -> Result<wgpu::BindGroup, Error> {
        let key = BindGroupKey { pipeline: pipeline.id, chunk, kind, buffers: buffers.to_vec() };
        if let Some(group) = self.bind_groups.get(&key) {
            return Ok(group.clone());
        }
        // Callers that make new vertex buffers each frame must not have them kept alive for ever.
        if self.bind_groups.len() >= 4096 {
            self.bind_groups.clear();
        }
        let Some(output) = self.chunks.get(chunk) else {
            return Err(Error::WorkspaceMismatch { reason: format!("it has no output chunk {chunk}") });
        };
        let params = match kind {
            BindGroupKind::Indirect { records } => u64::from(records) * 2 * PARAMS_STRIDE,
            _ => size_of::<Params>() as u64,
        };
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.params,
                offset: 0,
                size: wgpu::BufferSize::new(params),
            }),
        }];
        let mut bind = |binding: u32, buffer| entries.push(whole(binding, buffer));
        bind(1, if kind == BindGroupKind::Stream { &self.arguments } else { &self.state });
        buffers.iter().for_each(|(binding, buffer)| bind(*binding, buffer));
        let layout = match kind {
            BindGroupKind::Threadgroup => {
                bind(2, &self.off_chip);
                bind(3, &output.vertices);
                &pipeline.threadgroup_layout
            }
            BindGroupKind::Allocate => {
                bind(2, &self.arguments);
                &pipeline.allocate_layout
            }
            BindGroupKind::Connectivity => {
                bind(2, &output.indices);
                &pipeline.connectivity_layout
            }
            BindGroupKind::StripCut => {
                let Some(strip_cut) = &pipeline.strip_cut else {
                    let reason = "the pipeline has no strip cuts".to_owned();
                    return Err(Error::WorkspaceMismatch { reason });
                };
                &strip_cut.layout
            }
            BindGroupKind::Stream => {
                bind(2, &output.vertices);
                bind(3, &output.indices);
                &pipeline.stream_layout
            }
            BindGroupKind::Indirect { .. } => {
                bind(2, &self.arguments);
                &pipeline.indirect_layout
            }
        };
        let group = guarded(&self.device, "bind group", || {
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("patchwave"),
                layout,
                entries: &entries,
            })
        })?;
        self.objects_created += 1;
        self.bind_groups.insert(key, group.clone());
        Ok(group)
    }
}

impl Workspace {
    /// Tries the caller's bind groups of a draw together with ours in an encoder that is thrown away: a group of another
    /// layout or device, one that is missing, or a buffer that the passes write and the shader reads would otherwise
    /// come up only as the caller's own encoder is finished. Each combination is tried once.
    pub(crate) fn try_bind_groups(
        &mut self,
        pipeline: &TessellationPipeline,
        user: [Option<&wgpu::BindGroup>; 3],
        own: &wgpu::BindGroup,
    ) -> Result<(), Error> {
        let key = (pipeline.id, user.map(|group| group.cloned()), own.clone());
        if self.tried.contains(&key) {
            return Ok(());
        }
        // As with the bind groups of ours, what the caller has dropped must not be kept alive for ever.
        if self.tried.len() >= 256 {
            self.tried.clear();
        }
        guarded(&self.device, "the draw's bind groups", || {
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline.threadgroup);
            for (i, group) in (0..).zip(user) {
                if let Some(group) = group {
                    pass.set_bind_group(i, group, &[]);
                }
            }
            pass.set_bind_group(3, own, &[0]);
            pass.dispatch_workgroups(0, 0, 0);
            drop(pass);
            encoder.finish();
        })?;
        self.tried.insert(key);
        Ok(())
    }
}

fn whole(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }
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

/// Lays out the words of the state buffer; also their number.
fn state_offsets(
    descriptor: &WorkspaceDescriptor,
    patch_words: u32,
    [queue_capacity, connectivity_capacity]: [u32; 2],
    strip_cut: bool,
) -> Result<(StateOffsets, u64), Error> {
    let parts = [
        u64::from(descriptor.threadgroups) * u64::from(GROUP_WORDS),
        u64::from(descriptor.patches) * u64::from(patch_words),
        u64::from(descriptor.threadgroups.div_ceil(BLOCK)),
        u64::from(queue_capacity) * 2,
        u64::from(connectivity_capacity) * 2,
        // A number for each draw, and an index for each of its patches.
        if strip_cut {
            u64::from(descriptor.patches) + u64::from(descriptor.draws) * descriptor.chunks.len() as u64
        } else {
            0
        },
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
    let offsets = StateOffsets {
        threadgroup_records,
        patch_records,
        block_sums,
        queue,
        queue_capacity,
        connectivity_items,
        connectivity_capacity,
        patch_table,
    };
    Ok((offsets, words))
}
