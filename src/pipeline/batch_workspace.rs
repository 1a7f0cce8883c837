//! The memory that the batches of a draw share, and their encoding.
//!
//! Which threadgroups a batch has is copied from a table into the parameters by the GPU, in the order of the commands. So
//! any number of batches can be encoded before any of them is submitted, and none has to be waited for.

use std::mem::offset_of;

use super::batches::{Batch, BatchPlan, ROW_BYTES};
use super::device::{buffer, guarded};
use super::draw::{Draw, DrawShape, bound_buffers};
use super::encode::{ChunkCommands, Passes, Plan, Sizing, Stamp, user_groups};
use super::layout::{BLOCK, GROUP_WORDS, PARAMS_STRIDE, Params};
use super::output::{OutputChunk, Tessellation};
use super::report::DrawReport;
use super::stream::StreamOutput;
use super::strip_cut::StripCutCommands;
use super::tessellation::TessellationPipeline;
use super::workspace::{Taken, Workspace};
use crate::Error;

/// Where the part of the parameters begins that differs from batch to batch, and where it ends.
const ROW_BEGIN: usize = offset_of!(Params, first_threadgroup);
const ROW_END: usize = offset_of!(Params, block_sums);

const _: () = assert!((ROW_END - ROW_BEGIN) as u64 == ROW_BYTES);

/// Memory for a draw in batches, one batch at a time.
#[derive(Debug)]
pub struct BatchWorkspace {
    plan: BatchPlan,
    workspace: Workspace,
    /// The parameters in which the batches differ.
    table: wgpu::Buffer,
    /// The batch that comes next, other than batch 0.
    next: usize,
    /// The draw's parameters as batch 0 had them.
    params: Option<Params>,
}

impl BatchWorkspace {
    /// Makes the memory of a plan: [`BatchPlan::bytes`] bytes of it.
    ///
    /// # Errors
    /// [`Error::Wgpu`] where the memory is not to be had, [`Error::LimitExceeded`] where the device is another than the
    /// pipeline's and has less.
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        pipeline: &TessellationPipeline,
        plan: BatchPlan,
    ) -> Result<Self, Error> {
        let workspace = Workspace::with_sizes(device, pipeline, plan.descriptor.clone(), plan.sizes.clone())?;
        let rows: Vec<u8> = plan.batches().iter().flat_map(|batch| row(&workspace, &plan.shape, batch)).collect();
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let table = buffer(device, &format!("{}: table", plan.descriptor.label), rows.len() as u64, usage)?;
        guarded(device, "the table of batches", || queue.write_buffer(&table, 0, &rows))?;
        Ok(Self { plan, workspace, table, next: 0, params: None })
    }

    /// The plan that it was made from.
    #[must_use]
    pub fn plan(&self) -> &BatchPlan {
        &self.plan
    }

    /// Bytes of all buffers.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.workspace.total_bytes() + self.table.size()
    }

    /// As [`Workspace::objects_created`]: it stands still from the second batch on.
    #[must_use]
    pub fn objects_created(&self) -> u64 {
        self.workspace.objects_created()
    }

    /// As [`Workspace::request_report`], of the batch that was encoded last.
    ///
    /// # Errors
    /// As [`Workspace::request_report`].
    pub fn request_report(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        tessellation: &Tessellation,
        callback: impl FnOnce(Result<DrawReport, Error>) + Send + 'static,
    ) -> Result<bool, Error> {
        self.workspace.request_report(encoder, tessellation, callback)
    }

    /// As [`TessellationPipeline::encode_stream_output`], of the batch that was encoded last.
    ///
    /// # Errors
    /// As [`TessellationPipeline::encode_stream_output`].
    pub fn encode_stream_output(
        &mut self,
        pipeline: &TessellationPipeline,
        encoder: &mut wgpu::CommandEncoder,
        tessellation: &Tessellation,
        target: &wgpu::Buffer,
    ) -> Result<StreamOutput, Error> {
        pipeline.encode_stream_output(encoder, &mut self.workspace, tessellation, 0, target)
    }
}

impl BatchWorkspace {
    /// The batch, where it is one of such a draw and its turn has come.
    fn check_next(&self, shape: &DrawShape, batch: usize) -> Result<Batch, Error> {
        if *shape != self.plan.shape {
            let of = |shape: &DrawShape| {
                let DrawShape { patches, patches_per_instance, patches_per_threadgroup, .. } = shape;
                format!(
                    "{patches} patches, {patches_per_instance} an instance and {patches_per_threadgroup} a threadgroup"
                )
            };
            let reason = format!("the batches are of {}, the draw has {}", of(&self.plan.shape), of(shape));
            return Err(Error::WorkspaceMismatch { reason });
        }
        match self.plan.batches().get(batch) {
            Some(own) if batch == 0 || batch == self.next => Ok(own.clone()),
            _ => {
                let (next, count) = (self.next, self.plan.batches().len());
                let or_next = if next == 0 || next >= count { String::new() } else { format!(" or {next}") };
                let expected = format!("0{or_next}, of {count} that come in their order");
                Err(Error::OutOfRange { what: "batch", value: batch.to_string(), expected })
            }
        }
    }
}

/// The bytes of the parameters in which a batch differs from others. Its records lie at the front of the state buffer, but
/// passes count threadgroups and patches from the draw's first: the offsets go round 32 bits to make up for it.
fn row(workspace: &Workspace, shape: &DrawShape, batch: &Batch) -> [u8; ROW_BYTES as usize] {
    let offsets = &workspace.offsets;
    let (first, threadgroups) = (batch.threadgroups.start, batch.threadgroups.len() as u32);
    let params = Params {
        first_threadgroup: first,
        threadgroups,
        patches_per_threadgroup: shape.patches_per_threadgroup,
        patches_per_instance: shape.patches_per_instance,
        threadgroups_per_instance: shape.threadgroups_per_instance,
        first_patch: batch.patches.start,
        patches: batch.patches.len() as u32,
        two_levels: u32::from(threadgroups > BLOCK),
        threadgroup_records: offsets.threadgroup_records.wrapping_sub(first.wrapping_mul(GROUP_WORDS)),
        patch_records: offsets.patch_records.wrapping_sub(batch.patches.start.wrapping_mul(workspace.patch_words)),
        ..bytemuck::Zeroable::zeroed()
    };
    let mut row = [0; ROW_BYTES as usize];
    // The lengths are equal, by the assertion above.
    row.copy_from_slice(&bytemuck::bytes_of(&params)[ROW_BEGIN..ROW_END]);
    row
}

impl TessellationPipeline {
    /// Encodes batch number `batch` of a draw into the memory that the batch before it lay in. Whatever the caller encodes
    /// or submits before the next batch (draws, copies, passes of its own) finds this one's output; nothing has to be waited
    /// for. Once batch 0 has been encoded with the draw's bindings, no wgpu object is created.
    ///
    /// Batches come in their order, beginning at 0, which can begin anew at any time. A workspace serves one run through the
    /// batches at a time: submit it before batch 0 of the next but one is encoded.
    ///
    /// The draw's patch ids, instances, indices and strip cuts are those of the whole draw. A batch that needs more than was
    /// measured (the draw's data have changed since) draws nothing, and its report says what it needs.
    ///
    /// # Errors
    /// As [`TessellationPipeline::encode`]; [`Error::WorkspaceMismatch`] where the draw is not the one that was planned or
    /// differs from that of batch 0, [`Error::OutOfRange`] where another batch is next. Nothing is encoded then.
    pub fn encode_batch(
        &self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        batches: &mut BatchWorkspace,
        draw: &Draw<'_>,
        batch: usize,
    ) -> Result<Tessellation, Error> {
        self.encode_batch_passes(queue, encoder, batches, draw, batch, Passes::All)
    }

    pub(super) fn encode_batch_passes(
        &self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        batches: &mut BatchWorkspace,
        draw: &Draw<'_>,
        batch: usize,
        passes: Passes,
    ) -> Result<Tessellation, Error> {
        batches.workspace.check_pipeline(self)?;
        let shape = DrawShape::new(self, draw)?;
        let own = batches.check_next(&shape, batch)?;
        let bound = bound_buffers(self, draw, &shape)?;
        self.check_user_groups(draw)?;
        let buffers = self.kernel_buffers(&batches.workspace, draw);
        let most = 0..batches.workspace.descriptor.threadgroups;
        let planned = Plan { shape, bound, buffers, splits: vec![most] };
        // Where this fails, the batch before goes on lying there.
        let before = batches.workspace.taken;
        let commands = self.batch_commands(queue, batches, draw, &planned, batch);
        let (commands, strip_cut) = commands.inspect_err(|_| batches.workspace.taken = before)?;
        let commands = ChunkCommands { threadgroups: own.threadgroups.len() as u32, ..commands };
        batches.next = batch + 1;

        let BatchWorkspace { workspace, table, .. } = batches;
        workspace.begin_draw(0..1);
        for entry in [commands.hull, commands.domain] {
            let to = u64::from(entry) + ROW_BEGIN as u64;
            encoder.copy_buffer_to_buffer(table, batch as u64 * ROW_BYTES, &workspace.params, to, Some(ROW_BYTES));
        }
        let batch_shape =
            DrawShape { patches: own.patches.len() as u32, threadgroups: own.threadgroups.len() as u32, ..shape };
        let mut result = Tessellation::new(self, workspace, &batch_shape, Taken::default());
        result.first_patch = own.patches.start;
        result.push(OutputChunk::new(workspace, 0, 0, own.threadgroups.clone(), &shape));
        workspace.taken = Taken { patches: batch_shape.patches, threadgroups: batch_shape.threadgroups, slots: 1 };

        let mut pass = encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(&self.label), timestamp_writes: None });
        self.encode_strip_cut(&mut pass, strip_cut.as_ref());
        self.encode_chunk(&mut pass, workspace, draw, &commands, passes, &Stamp::none());
        Ok(result)
    }

    /// Parameters and bind groups of a batch, with room for the threadgroups of any.
    fn batch_commands(
        &self,
        queue: &wgpu::Queue,
        batches: &mut BatchWorkspace,
        draw: &Draw<'_>,
        planned: &Plan,
        batch: usize,
    ) -> Result<(ChunkCommands, Option<StripCutCommands>), Error> {
        let BatchWorkspace { workspace, params: held, .. } = batches;
        if batch == 0 {
            workspace.reset();
        } else {
            workspace.begin_anew();
        }
        let most = 0..workspace.descriptor.threadgroups;
        let params = self.params(workspace, draw, planned, 0, &most, 0);
        if batch != 0 && *held != Some(params) {
            let reason = "the draw differs from that of batch 0, whose parameters all batches share".to_owned();
            return Err(Error::WorkspaceMismatch { reason });
        }
        *held = Some(params);
        let commands = self.chunk_commands(queue, workspace, &planned.buffers, 0, &params, Sizing::Direct)?;
        workspace.try_bind_groups(self, user_groups(draw), &commands.threadgroup)?;
        let indices = draw.vertices.end.saturating_sub(draw.vertices.start);
        // The table of patches stays for the batches that follow.
        let index_buffer = draw.index_buffer.as_ref().filter(|_| batch == 0);
        let strip_cut = self.strip_cut_commands(workspace, index_buffer, commands.hull, indices)?;
        Ok((commands, strip_cut))
    }
}

const _: () = assert!(PARAMS_STRIDE.is_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT));
