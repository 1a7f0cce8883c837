//! Draws whose arguments lie in a GPU buffer: the hull dispatch is sized on the GPU, nothing is read back.

use super::bind_groups::BindGroupKind;
use super::draw::{Draw, DrawShape, IndexBuffer, bound_buffers};
use super::encode::{Passes, Plan, Sizing, Stamp};
use super::layout::{MAX_RECORDS, Params};
use super::output::{OutputChunk, Tessellation};
use super::tessellation::TessellationPipeline;
use super::workspace::{Taken, Workspace};
use crate::Error;

/// Draws of patches whose arguments lie in a buffer: records as `wgpu::util::DrawIndirectArgs`, or
/// `DrawIndexedIndirectArgs` where there is an index buffer.
#[derive(Clone, Debug)]
pub struct IndirectDraw<'a> {
    /// A slice for each of the pipeline's vertex buffers; each buffer needs `BufferUsages::STORAGE`.
    pub vertex_buffers: &'a [wgpu::BufferSlice<'a>],
    /// The index buffer, where the draws are indexed.
    pub index_buffer: Option<IndexBuffer<'a>>,
    /// Bind groups 0 to 2 of the user's shader.
    pub bind_groups: &'a [Option<&'a wgpu::BindGroup>],
    /// Holds the records; it needs `BufferUsages::STORAGE`.
    pub arguments: &'a wgpu::Buffer,
    /// Bytes before the first record, a multiple of 4.
    pub offset: u64,
    /// Bytes from one record to the next, a multiple of 4 and at least a record's size: 16, or 20 where indexed.
    pub stride: u64,
    /// Records, 1 to 64; each becomes a draw of its own.
    pub records: u32,
    /// The most patches that a record may have, over all its instances. A record with more draws nothing and its report
    /// says so.
    pub most_patches: u32,
    /// The most instances that a record may have.
    pub most_instances: u32,
}

impl TessellationPipeline {
    /// As [`TessellationPipeline::encode`], for draws whose arguments the GPU knows. Gives one result a record.
    ///
    /// The workspace must have one output chunk, and room for `most_patches` patches and one draw for each record.
    ///
    /// # Errors
    /// As [`TessellationPipeline::encode`], and [`Error::Buffer`] where the records do not lie in `arguments`.
    pub fn encode_indirect(
        &self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &mut Workspace,
        draw: &IndirectDraw<'_>,
    ) -> Result<Vec<Tessellation>, Error> {
        workspace.check_pipeline(self)?;
        let (offset, stride) = check_records(draw, &self.limits)?;
        let shape = self.bounding_shape(draw)?;
        let direct = Draw {
            vertex_buffers: draw.vertex_buffers,
            index_buffer: draw.index_buffer.clone(),
            bind_groups: draw.bind_groups,
            ..Draw::default()
        };
        self.check_user_groups(&direct)?;
        if workspace.chunks.len() != 1 {
            return Err(Error::WorkspaceMismatch {
                reason: format!(
                    "it has {} output chunks and how an indirect draw splits is not known; use one chunk",
                    workspace.chunks.len()
                ),
            });
        }
        workspace.check_room(&shape, draw.records, 1)?;
        // With a shape of no patches: how many vertices are read is not known here, and beyond the buffers reads zero.
        let bound = bound_buffers(self, &direct, &DrawShape { patches: 0, ..shape })?;
        let buffers = self.kernel_buffers(workspace, &direct);
        let plan = Plan { shape, bound, buffers, splits: Vec::new() };

        let mut commands = Vec::with_capacity(draw.records as usize);
        let mut results = Vec::with_capacity(draw.records as usize);
        let before = workspace.taken;
        for record in 0..draw.records {
            let first = workspace.taken;
            let mut result = Tessellation::new(self, workspace, &shape, first);
            result.indirect = true;
            let split = 0..shape.threadgroups;
            let own = self.params(workspace, &direct, &plan, 0, &split, first.slots);
            let params = Params {
                // Records are drawn one after the other.
                is_first: if record == 0 { own.is_first } else { 0 },
                indirect_offset: offset,
                indirect_stride: stride,
                most_patches: shape.patches,
                most_threadgroups: shape.threadgroups,
                ..own
            };
            match self.chunk_commands(queue, workspace, &plan.buffers, 0, &params, Sizing::OnGpu) {
                Ok(made) => commands.push(made),
                Err(error) => {
                    workspace.taken = before;
                    return Err(error);
                }
            }
            result.push(OutputChunk::new(workspace, 0, first.slots, split, &shape));
            results.push(result);
            workspace.taken = Taken {
                patches: first.patches + shape.patches,
                threadgroups: first.threadgroups + shape.threadgroups,
                slots: first.slots + 1,
            };
        }
        // A record with more indices is refused on the GPU for having more patches.
        let most_indices = (u64::from(draw.most_patches) + 1) * u64::from(self.input_points) - 1;
        let strip_cuts = commands
            .iter()
            .map(|commands| {
                let most_indices = u32::try_from(most_indices).unwrap_or(u32::MAX);
                self.strip_cut_commands(workspace, draw.index_buffer.as_ref(), commands.hull, most_indices)
            })
            .collect::<Result<Vec<_>, Error>>();
        let strip_cuts = strip_cuts.inspect_err(|_| workspace.taken = before)?;
        let records = BindGroupKind::Indirect { records: draw.records };
        let setup = workspace.bind_group(self, records, 0, &[(3, draw.arguments.clone())])?;
        let Some(first) = commands.first() else { return Ok(results) };
        workspace.try_bind_groups(self, super::encode::user_groups(&direct), &first.threadgroup)?;

        workspace.begin_draw(0..1);
        results.iter_mut().for_each(|result: &mut Tessellation| result.mark = workspace.epoch.mark());
        let mut pass = encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(&self.label), timestamp_writes: None });
        pass.set_pipeline(&self.indirect);
        pass.set_bind_group(3, &setup, &[first.hull]);
        pass.dispatch_workgroups(draw.records, 1, 1);
        for (commands, strip_cut) in commands.iter().zip(&strip_cuts) {
            self.encode_strip_cut(&mut pass, strip_cut.as_ref());
            self.encode_chunk(&mut pass, workspace, &direct, commands, Passes::All, &Stamp::none());
        }
        Ok(results)
    }

    /// A shape with room for whatever a record may hold.
    fn bounding_shape(&self, draw: &IndirectDraw<'_>) -> Result<DrawShape, Error> {
        let per_threadgroup = self.parameters.patches_per_threadgroup;
        // Each instance can end in a threadgroup that is not full.
        let threadgroups = u64::from(draw.most_patches / per_threadgroup) + u64::from(draw.most_instances);
        let most = u64::from(u32::MAX / 16);
        if u64::from(draw.most_patches) > most || threadgroups > most {
            return Err(Error::OutOfRange {
                what: "most_patches and most_instances of an indirect draw",
                value: format!("{} and {}", draw.most_patches, draw.most_instances),
                expected: format!("at most {most} each"),
            });
        }
        Ok(DrawShape {
            patches_per_instance: draw.most_patches,
            threadgroups_per_instance: threadgroups as u32,
            patches_per_threadgroup: per_threadgroup,
            patches: draw.most_patches,
            threadgroups: threadgroups as u32,
        })
    }
}

/// Checks that the records lie in the buffer; offset and stride in words.
fn check_records(draw: &IndirectDraw<'_>, limits: &wgpu::Limits) -> Result<(u32, u32), Error> {
    let refuse = |reason: String| Err(Error::Buffer { what: "indirect arguments".to_owned(), reason });
    let size = if draw.index_buffer.is_some() { 20 } else { 16 };
    if draw.records == 0 || draw.records > MAX_RECORDS {
        return Err(Error::OutOfRange {
            what: "records of an indirect draw",
            value: draw.records.to_string(),
            expected: format!("1 to {MAX_RECORDS}"),
        });
    }
    super::draw::check_usage(draw.arguments, "indirect arguments", limits)?;
    if !draw.offset.is_multiple_of(4) || !draw.stride.is_multiple_of(4) {
        return refuse(format!("offset {} and stride {} must be multiples of 4", draw.offset, draw.stride));
    }
    if draw.records > 1 && draw.stride < size {
        return refuse(format!("stride {} is below the {size} bytes of a record", draw.stride));
    }
    let end = draw
        .stride
        .checked_mul(u64::from(draw.records) - 1)
        .and_then(|before| before.checked_add(draw.offset)?.checked_add(size));
    let has = draw.arguments.size();
    if end.is_none_or(|end| end > has) {
        return refuse(format!(
            "{} records of {size} bytes from offset {} every {} bytes end beyond the buffer's {has} bytes",
            draw.records, draw.offset, draw.stride
        ));
    }
    // Below the buffer's size, which the binding limit keeps below 16 GiB.
    let words = |bytes: u64| u32::try_from(bytes / 4).unwrap_or(u32::MAX);
    Ok((words(draw.offset), words(draw.stride)))
}
