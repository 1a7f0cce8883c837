//! Stream output: a draw's primitives as an index-free vertex stream, in Direct3D's order.

use super::bind_groups::BindGroupKind;
use super::layout::{ROLE_HULL, STREAM_ARGUMENTS, STREAM_DRAW_ARGUMENTS};
use super::output::Tessellation;
use super::tessellation::TessellationPipeline;
use super::workspace::Workspace;
use crate::Error;

/// An expanded vertex stream, ready to be drawn without indices.
#[derive(Clone, Debug)]
pub struct StreamOutput {
    /// The caller's buffer: the vertices of each primitive one after the other, primitives in patch order.
    pub vertices: wgpu::Buffer,
    /// Holds the arguments of `draw_indirect`, written by the GPU; the vertex count is their first word.
    pub arguments: wgpu::Buffer,
    /// Where they begin, in bytes.
    pub arguments_offset: u64,
}

impl StreamOutput {
    /// Draws the stream: sets vertex buffer 0 and draws indirectly.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.draw_indirect(&self.arguments, self.arguments_offset);
    }
}

impl TessellationPipeline {
    /// Bytes that the stream of chunk `chunk` can come to: what `target` of
    /// [`TessellationPipeline::encode_stream_output`] has to hold. `None` where there is no such chunk.
    #[must_use]
    pub fn stream_output_bytes(&self, tessellation: &Tessellation, chunk: usize) -> Option<u64> {
        let chunk = tessellation.chunks().get(chunk)?;
        let vertices = u64::from(chunk.primitive_capacity) * u64::from(self.fixed.topology.vertices_per_primitive());
        Some(vertices * self.vertex_stride())
    }

    /// Encodes the expansion of one chunk of a result of this frame into `target`, behind the draw's own passes.
    ///
    /// `target` needs `BufferUsages::STORAGE`, and `VERTEX` where it is to be drawn.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where there is no such chunk, [`Error::Buffer`] and [`Error::LimitExceeded`] where `target`
    /// does not serve, [`Error::WorkspaceMismatch`] and [`Error::ResultOverwritten`] where the result is not there.
    pub fn encode_stream_output(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &mut Workspace,
        tessellation: &Tessellation,
        chunk: usize,
        target: &wgpu::Buffer,
    ) -> Result<StreamOutput, Error> {
        workspace.check_pipeline(self)?;
        let what = "stream output";
        let (Some(needed), Some(output)) =
            (self.stream_output_bytes(tessellation, chunk), tessellation.chunks().get(chunk))
        else {
            return Err(Error::OutOfRange {
                what: "chunk of a stream output",
                value: chunk.to_string(),
                expected: format!("below {}, the chunks of the result", tessellation.chunks().len()),
            });
        };
        if tessellation.state != workspace.state {
            return Err(Error::WorkspaceMismatch { reason: "the result lies in another workspace".to_owned() });
        }
        tessellation.check_primitives()?;
        if output.slot >= workspace.taken.slots {
            return Err(Error::WorkspaceMismatch { reason: "the result is of a frame before its reset".to_owned() });
        }
        super::draw::check_usage(target, what, &self.limits)?;
        if target.size() < needed {
            return Err(Error::Buffer {
                what: what.to_owned(),
                reason: format!("it holds {} bytes and the stream can come to {needed}", target.size()),
            });
        }
        let group = workspace.bind_group(self, BindGroupKind::Stream, chunk, &[(4, target.clone())])?;
        let params = workspace.params_offset(output.slot, ROLE_HULL);
        let mut pass =
            encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(what), timestamp_writes: None });
        pass.set_pipeline(&self.stream);
        pass.set_bind_group(3, &group, &[params]);
        pass.dispatch_workgroups_indirect(&workspace.arguments, output.arguments_offset + STREAM_ARGUMENTS);
        Ok(StreamOutput {
            vertices: target.clone(),
            arguments: workspace.arguments.clone(),
            arguments_offset: output.arguments_offset + STREAM_DRAW_ARGUMENTS,
        })
    }
}
