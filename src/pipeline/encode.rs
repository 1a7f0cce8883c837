//! A draw becomes dispatches in the caller's encoder: hull, allocate, domain, connectivity, for each output chunk.

use std::ops::Range;

use super::bind_groups::BindGroupKind;
use super::draw::{BoundBuffers, Draw, DrawShape, bound_buffers};
use super::layout::{
    ARGUMENT_BYTES, BLOCK, CONNECTIVITY_ARGUMENTS, DOMAIN_ARGUMENTS, HULL_ARGUMENTS, Item, MODE_DYNAMIC, MODE_ON_CHIP,
    NO_TABLE, Params, ROLE_DOMAIN, ROLE_HULL, WAVE,
};
use super::output::{OutputChunk, Tessellation};
use super::tessellation::TessellationPipeline;
use super::workspace::{Taken, Workspace};
use crate::Error;
use crate::shader::fetch::{FIRST_VERTEX_BUFFER_BINDING, INDEX_BUFFER_BINDING, IndexPlace};

/// Everything decided on the CPU about a draw, before the first command is encoded.
pub(crate) struct Plan {
    pub(crate) shape: DrawShape,
    pub(crate) bound: BoundBuffers,
    /// The index and vertex buffers that the kernel reads, with their bindings.
    pub(crate) buffers: Vec<(u32, wgpu::Buffer)>,
    /// Threadgroups of each output chunk; none where the draw has no patches.
    pub(crate) splits: Vec<Range<u32>>,
}

/// Workgroups of a small draw's passes at most: idle ones take an H200 less time than it takes to find out how many are
/// needed. On a processor they soon take more.
const SMALL_DRAW_ITEMS: u32 = 8192;
const SMALL_DRAW_ITEMS_ON_PROCESSOR: u32 = 128;

/// How much of a draw is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passes {
    /// Vertices, hulls and counts only.
    Count,
    /// All but connectivity.
    Vertices,
    /// All passes.
    All,
}

/// Where the time stamps of a draw's passes go.
#[derive(Clone, Copy, Debug)]
pub struct PassTimestamps<'a> {
    /// A set of time stamp queries.
    pub query_set: &'a wgpu::QuerySet,
    /// The first query; [`PassTimestamps::QUERIES_PER_CHUNK`] are written for each output chunk.
    pub first_query: u32,
}

impl PassTimestamps<'_> {
    /// Before the hull pass, then after hull, allocate, domain and connectivity.
    pub const QUERIES_PER_CHUNK: u32 = 5;
}

/// Writes a chunk's time stamps, where they are asked for.
pub(crate) struct Stamp<'a>(Option<(&'a wgpu::QuerySet, u32)>);

impl Stamp<'_> {
    pub(crate) fn none() -> Self {
        Self(None)
    }

    fn write(&self, pass: &mut wgpu::ComputePass<'_>, index: u32) {
        if let Some((query_set, first)) = self.0 {
            pass.write_timestamp(query_set, first + index);
        }
    }
}

impl TessellationPipeline {
    /// Encodes the passes of `draw` into `encoder`; the result lies in `workspace` once the caller has submitted.
    ///
    /// Nothing is submitted, polled or read back. Once the draws' bindings are unchanged from frame to frame, no wgpu
    /// object is created. `queue` takes the draw's parameters (a few hundred bytes, and only where they changed).
    ///
    /// A draw that turns out on the GPU to need more than the workspace has draws nothing, and its
    /// [report](Workspace::request_report) says what it needs.
    ///
    /// # Errors
    /// What the CPU can know: buffers without `STORAGE` or too short, missing bind groups, a workspace of another
    /// pipeline, more patches, threadgroups or draws than the workspace has room for. Nothing is encoded then.
    pub fn encode(
        &self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &mut Workspace,
        draw: &Draw<'_>,
    ) -> Result<Tessellation, Error> {
        self.encode_passes(queue, encoder, workspace, draw, Passes::All, None)
    }

    /// As [`TessellationPipeline::encode`], without indices: the connectivity pass is left out, and so the result has
    /// [no primitives](Tessellation::has_indices) to draw or to read. The vertices of each chunk lie in no order that can be
    /// relied on. `timestamps` as in [`TessellationPipeline::encode_with_timestamps`].
    ///
    /// # Errors
    /// As [`TessellationPipeline::encode`]; with time stamps as [`TessellationPipeline::encode_with_timestamps`].
    pub fn encode_vertices(
        &self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &mut Workspace,
        draw: &Draw<'_>,
        timestamps: Option<&PassTimestamps<'_>>,
    ) -> Result<Tessellation, Error> {
        self.encode_passes(queue, encoder, workspace, draw, Passes::Vertices, timestamps)
    }

    /// As [`TessellationPipeline::encode`], with time stamps between the passes: for each output chunk five queries of
    /// `timestamps`, before the hull pass and after hull, allocate, domain and connectivity.
    ///
    /// A draw of up to 1,024 threadgroups mostly has allocate and connectivity in one pass: allocate then takes no time.
    ///
    /// The device needs `TIMESTAMP_QUERY_INSIDE_PASSES`.
    ///
    /// # Errors
    /// As [`TessellationPipeline::encode`], and [`Error::MissingFeature`] where the device has no such time stamps.
    pub fn encode_with_timestamps(
        &self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &mut Workspace,
        draw: &Draw<'_>,
        timestamps: &PassTimestamps<'_>,
    ) -> Result<Tessellation, Error> {
        self.encode_passes(queue, encoder, workspace, draw, Passes::All, Some(timestamps))
    }

    fn encode_passes(
        &self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &mut Workspace,
        draw: &Draw<'_>,
        passes: Passes,
        timestamps: Option<&PassTimestamps<'_>>,
    ) -> Result<Tessellation, Error> {
        let needed = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES;
        if timestamps.is_some() && !workspace.device.features().contains(needed) {
            return Err(Error::MissingFeature { what: "time stamps between the passes", feature: needed });
        }
        workspace.check_pipeline(self)?;
        let plan = self.plan_draw(workspace, draw)?;
        let shape = plan.shape;
        let first = workspace.taken;
        let mut result = Tessellation::new(self, workspace, &shape, first);
        result.has_indices = passes == Passes::All;
        if plan.splits.is_empty() {
            return Ok(result);
        }

        // Bind groups first: whatever can fail, fails before a command is encoded.
        let mut chunks = Vec::with_capacity(plan.splits.len());
        for (chunk, split) in plan.splits.iter().enumerate() {
            let slot = first.slots + chunk as u32;
            let params = self.params(workspace, draw, &plan, chunk, split, slot);
            let mut commands = self.chunk_commands(queue, workspace, &plan.buffers, chunk, &params, Sizing::Direct)?;
            if passes == Passes::Vertices {
                commands.closing = Closing::Vertices {
                    waves: self.small_draw(&params).map(|[waves, _]| waves),
                    allocate: workspace.bind_group(self, BindGroupKind::Allocate, chunk, &[])?,
                };
            }
            workspace.try_bind_groups(self, user_groups(draw), &commands.threadgroup)?;
            chunks.push(commands);
            result.push(OutputChunk::new(workspace, chunk, slot, split.clone(), &shape));
        }
        let params = chunks.first().map_or(0, |first| first.hull);
        let indices = draw.vertices.end.saturating_sub(draw.vertices.start);
        let strip_cut = self.strip_cut_commands(workspace, draw.index_buffer.as_ref(), params, indices)?;
        workspace.taken = Taken {
            patches: first.patches + shape.patches,
            threadgroups: first.threadgroups + shape.threadgroups,
            slots: first.slots + plan.splits.len() as u32,
        };

        workspace.begin_draw(0..plan.splits.len());
        result.mark = workspace.epoch.mark();
        let mut pass = encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(&self.label), timestamp_writes: None });
        self.encode_strip_cut(&mut pass, strip_cut.as_ref());
        for (i, commands) in (0..).zip(&chunks) {
            let stamp = Stamp(timestamps.map(|t| (t.query_set, t.first_query + i * PassTimestamps::QUERIES_PER_CHUNK)));
            self.encode_chunk(&mut pass, workspace, draw, commands, passes, &stamp);
        }
        if let [first, _, ..] = chunks.as_slice()
            && let Closing::TwoPasses { allocate, .. } | Closing::Vertices { allocate, .. } = &first.closing
        {
            pass.set_pipeline(&self.withdraw);
            pass.set_bind_group(3, allocate, &[first.hull]);
            pass.dispatch_workgroups(1, 1, 1);
        }
        Ok(result)
    }

    /// Parameters and bind groups of the passes of one chunk.
    pub(super) fn chunk_commands(
        &self,
        queue: &wgpu::Queue,
        workspace: &mut Workspace,
        buffers: &[(u32, wgpu::Buffer)],
        chunk: usize,
        params: &Params,
        sizing: Sizing,
    ) -> Result<ChunkCommands, Error> {
        let items = if sizing == Sizing::Direct { self.small_draw(params) } else { None };
        Ok(ChunkCommands {
            hull: workspace.write_params(queue, &Params { role: ROLE_HULL, ..*params })?,
            domain: workspace.write_params(queue, &Params { role: ROLE_DOMAIN, ..*params })?,
            threadgroup: workspace.bind_group(self, BindGroupKind::Threadgroup, chunk, buffers)?,
            closing: match items {
                Some([waves, primitives]) => {
                    let finish = workspace.bind_group(self, BindGroupKind::Finish, chunk, &[])?;
                    Closing::OnePass { waves, primitives, finish }
                }
                None => Closing::TwoPasses {
                    allocate: workspace.bind_group(self, BindGroupKind::Allocate, chunk, &[])?,
                    connectivity: workspace.bind_group(self, BindGroupKind::Connectivity, chunk, &[])?,
                },
            },
            threadgroups: params.threadgroups,
            sizing,
            arguments: u64::from(params.slot) * ARGUMENT_BYTES,
        })
    }

    /// The most items that a small draw can have, of the domain and the connectivity pass.
    ///
    /// A dispatch of that many workgroups needs no arguments from the GPU, so nothing waits for them, nor for wgpu to
    /// validate them.
    fn small_draw(&self, params: &Params) -> Option<[u32; 2]> {
        let most = if self.on_processor { SMALL_DRAW_ITEMS_ON_PROCESSOR } else { SMALL_DRAW_ITEMS };
        // Each threadgroup can end in an item that is not full.
        let items = [
            params.vertex_capacity.div_ceil(params.item_waves * WAVE),
            params.primitive_capacity.div_ceil(params.item_primitives),
        ]
        .map(|full| full.saturating_add(params.threadgroups));
        (params.slots == 1 && params.threadgroups <= BLOCK && items.iter().all(|items| *items <= most)).then_some(items)
    }

    fn plan_draw(&self, workspace: &Workspace, draw: &Draw<'_>) -> Result<Plan, Error> {
        let shape = DrawShape::new(self, draw)?;
        let bound = bound_buffers(self, draw, &shape)?;
        self.check_user_groups(draw)?;
        workspace.check_room(&shape, 1, 0)?;
        let splits = splits(workspace, &shape)?;
        workspace.check_room(&shape, 1, splits.len() as u32)?;
        Ok(Plan { shape, bound, buffers: self.kernel_buffers(workspace, draw), splits })
    }

    /// Refuses a draw that lacks a bind group that the shader uses.
    pub(crate) fn check_user_groups(&self, draw: &Draw<'_>) -> Result<(), Error> {
        for binding in self.reflection.bindings.iter().filter(|binding| binding.used) {
            if draw.bind_groups.get(binding.group as usize).copied().flatten().is_none() {
                return Err(Error::MissingBindGroup {
                    group: binding.group,
                    binding: binding.name.clone(),
                    line: binding.line,
                });
            }
        }
        Ok(())
    }

    /// The draw's buffers as the kernel binds them, with their bindings.
    pub(crate) fn kernel_buffers(&self, workspace: &Workspace, draw: &Draw<'_>) -> Vec<(u32, wgpu::Buffer)> {
        let mut buffers = Vec::new();
        if self.bindings.index == IndexPlace::Own {
            // A draw without an index buffer reads nothing there.
            let index = draw.index_buffer.as_ref().map(|index| index.slice.buffer());
            buffers.push((INDEX_BUFFER_BINDING, index.unwrap_or(&workspace.stand_in).clone()));
        }
        for slot in self.bindings.vertex_buffers() {
            if let Some(slice) = draw.vertex_buffers.get(slot as usize) {
                buffers.push((FIRST_VERTEX_BUFFER_BINDING + slot, slice.buffer().clone()));
            }
        }
        buffers
    }

    pub(crate) fn params(
        &self,
        workspace: &Workspace,
        draw: &Draw<'_>,
        plan: &Plan,
        chunk: usize,
        split: &Range<u32>,
        slot: u32,
    ) -> Params {
        let Plan { shape, bound, .. } = plan;
        let offsets = &workspace.offsets;
        let capacity = workspace.chunks.get(chunk).map(|chunk| &chunk.capacity);
        let threadgroups = split.end - split.start;
        let first_patch = shape.first_patch(split.start);
        let (vertices, primitives) = capacity.map_or((0, 0), |capacity| (capacity.vertices, capacity.primitives));
        let item = Item::for_draw(self.on_processor, vertices, primitives);
        Params {
            role: ROLE_HULL,
            mode: if self.parameters.off_chip { MODE_DYNAMIC } else { MODE_ON_CHIP },
            slot,
            chunk: chunk as u32,
            first_threadgroup: split.start,
            threadgroups,
            patches_per_threadgroup: shape.patches_per_threadgroup,
            patches_per_instance: shape.patches_per_instance,
            threadgroups_per_instance: shape.threadgroups_per_instance,
            first_patch,
            patches: shape.first_patch(split.end) - first_patch,
            two_levels: u32::from(threadgroups > BLOCK),
            threadgroup_records: offsets.threadgroup_records
                + workspace.taken.threadgroups * super::layout::GROUP_WORDS,
            patch_records: offsets.patch_records + workspace.taken.patches * workspace.patch_words,
            block_sums: offsets.block_sums,
            queue: offsets.queue,
            vertex_capacity: vertices,
            primitive_capacity: primitives,
            queue_capacity: offsets.queue_capacity,
            off_chip_capacity: workspace.off_chip_blocks,
            first_vertex: draw.vertices.start,
            base_vertex: if draw.index_buffer.is_some() { draw.base_vertex } else { 0 },
            first_instance: draw.instances.start,
            index_kind: bound.index_kind,
            index_offset: bound.index_offset,
            index_count: bound.index_count,
            ds_wave_threshold: self.parameters.on_chip_waves,
            connectivity_items: offsets.connectivity_items,
            connectivity_capacity: offsets.connectivity_capacity,
            slots: plan.splits.len() as u32,
            item_waves: item.waves,
            item_primitives: item.primitives,
            indirect_offset: 0,
            indirect_stride: 0,
            most_patches: 0,
            most_threadgroups: 0,
            is_first: u32::from(workspace.untouched.get(chunk).copied().unwrap_or(false)),
            primitive_counts: offsets.primitive_counts,
            spare: [0; 2],
            readings: super::parameters::readings_word(&self.parameters.readings, self.fixed.domain),
            first_patch_id: draw.first_patch,
            on_chip_below: self.on_chip_below,
            vertex_buffers: bound.vertex_buffers,
            patch_table: if self.strip_cut.is_some() && draw.index_buffer.is_some() {
                offsets.patch_table + workspace.taken.patches + workspace.taken.slots
            } else {
                NO_TABLE
            },
            draw_indices: draw.vertices.end.saturating_sub(draw.vertices.start),
        }
    }

    pub(crate) fn encode_chunk(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        workspace: &Workspace,
        draw: &Draw<'_>,
        commands: &ChunkCommands,
        passes: Passes,
        stamp: &Stamp<'_>,
    ) {
        stamp.write(pass, 0);
        for (i, group) in (0..).zip(user_groups(draw)) {
            if let Some(group) = group {
                pass.set_bind_group(i, group, &[]);
            }
        }
        pass.set_pipeline(&self.threadgroup);
        pass.set_bind_group(3, &commands.threadgroup, &[commands.hull]);
        match commands.sizing {
            Sizing::OnGpu => {
                pass.dispatch_workgroups_indirect(&workspace.arguments, commands.arguments + HULL_ARGUMENTS);
            }
            Sizing::Direct => {
                // One workgroup at least, which notes where the draw begins.
                let [x, y] = fold(commands.threadgroups.max(1));
                pass.dispatch_workgroups(x, y, 1);
            }
        }
        stamp.write(pass, 1);
        if passes == Passes::Count {
            return;
        }

        let domain = |pass: &mut wgpu::ComputePass<'_>, waves: Option<u32>| {
            // On-chip, nothing is ever left for this pass, and a dispatch of nothing still costs.
            if !self.parameters.off_chip {
                return;
            }
            pass.set_pipeline(&self.threadgroup);
            pass.set_bind_group(3, &commands.threadgroup, &[commands.domain]);
            match waves {
                Some(waves) => pass.dispatch_workgroups(waves, 1, 1),
                None => {
                    let arguments = commands.arguments + DOMAIN_ARGUMENTS;
                    pass.dispatch_workgroups_indirect(&workspace.arguments, arguments);
                }
            }
        };
        match &commands.closing {
            Closing::OnePass { waves, primitives, finish } => {
                stamp.write(pass, 2);
                domain(pass, Some(*waves));
                stamp.write(pass, 3);
                pass.set_pipeline(&self.finish);
                pass.set_bind_group(3, finish, &[commands.hull]);
                pass.dispatch_workgroups(*primitives, 1, 1);
            }
            Closing::TwoPasses { allocate, connectivity } => {
                self.encode_allocate(pass, commands, allocate);
                stamp.write(pass, 2);
                domain(pass, None);
                stamp.write(pass, 3);
                pass.set_pipeline(&self.connectivity);
                pass.set_bind_group(3, connectivity, &[commands.hull]);
                let arguments = commands.arguments + CONNECTIVITY_ARGUMENTS;
                pass.dispatch_workgroups_indirect(&workspace.arguments, arguments);
            }
            Closing::Vertices { waves, allocate } => {
                // Without indices nobody asks where in the index buffer a threadgroup's primitives begin.
                pass.set_pipeline(&self.close_draw);
                pass.set_bind_group(3, allocate, &[commands.hull]);
                pass.dispatch_workgroups(1, 1, 1);
                stamp.write(pass, 2);
                domain(pass, *waves);
                stamp.write(pass, 3);
            }
        }
        stamp.write(pass, 4);
    }

    fn encode_allocate(&self, pass: &mut wgpu::ComputePass<'_>, commands: &ChunkCommands, group: &wgpu::BindGroup) {
        pass.set_bind_group(3, group, &[commands.hull]);
        if commands.threadgroups > BLOCK {
            pass.set_pipeline(&self.allocate_blocks);
            let [x, y] = fold(commands.threadgroups.div_ceil(BLOCK));
            pass.dispatch_workgroups(x, y, 1);
        }
        pass.set_pipeline(&self.allocate_draw);
        pass.dispatch_workgroups(1, 1, 1);
    }
}

/// The caller's bind groups 0 to 2.
pub(crate) fn user_groups<'a>(draw: &Draw<'a>) -> [Option<&'a wgpu::BindGroup>; 3] {
    [0, 1, 2].map(|i| draw.bind_groups.get(i).copied().flatten())
}

/// Where the size of the hull dispatch is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizing {
    Direct,
    /// Of indirect draws, from their records.
    OnGpu,
}

/// What follows the hull pass.
pub(crate) enum Closing {
    /// Of a small draw: domain and `pw_finish`, dispatched for as many items of waves and of primitives as there can be.
    OnePass { waves: u32, primitives: u32, finish: wgpu::BindGroup },
    /// Allocate, and domain and connectivity with the arguments that it writes.
    TwoPasses { allocate: wgpu::BindGroup, connectivity: wgpu::BindGroup },
    /// Without indices: `pw_close_draw`, and domain, for as many items as there can be of a small draw.
    Vertices { waves: Option<u32>, allocate: wgpu::BindGroup },
}

pub(crate) struct ChunkCommands {
    /// Dynamic offsets of the parameters of the two roles.
    pub(crate) hull: u32,
    pub(crate) domain: u32,
    pub(crate) threadgroup: wgpu::BindGroup,
    pub(crate) closing: Closing,
    /// Threadgroups; of an indirect draw, the most there can be.
    pub(crate) threadgroups: u32,
    pub(crate) sizing: Sizing,
    /// Byte offset of the draw's entry in the arguments.
    pub(crate) arguments: u64,
}

/// A one-dimensional dispatch folded to stay within 65,535 workgroups a dimension, with few empty ones: those are not free
/// on lavapipe.
pub(super) fn fold(workgroups: u32) -> [u32; 2] {
    let rows = workgroups.div_ceil(65_535).max(1);
    [workgroups.div_ceil(rows), rows]
}

/// The threadgroups that go to each output chunk.
fn splits(workspace: &Workspace, shape: &DrawShape) -> Result<Vec<Range<u32>>, Error> {
    if shape.patches == 0 {
        return Ok(Vec::new());
    }
    if let [_] = workspace.chunks.as_slice() {
        return Ok(std::iter::once(0..shape.threadgroups).collect());
    }
    let ranges: Vec<Range<u32>> = workspace.chunks.iter().map(|chunk| chunk.capacity.threadgroups.clone()).collect();
    let forward = ranges.iter().all(|range| range.start <= range.end);
    let follow_on = ranges.windows(2).all(|pair| pair[0].end == pair[1].start);
    let whole = ranges.first().map(|range| range.start) == Some(0)
        && ranges.last().map(|range| range.end) == Some(shape.threadgroups);
    if !forward || !follow_on || !whole {
        return Err(Error::WorkspaceMismatch {
            reason: format!(
                "its chunks do not cover the draw's {} threadgroups; measure this draw and make a workspace for it",
                shape.threadgroups
            ),
        });
    }
    Ok(ranges)
}
