//! Recording of commands, and submitting them.

use anyhow::Context;
use ash::vk;
use std::marker::PhantomData;
use std::time::Instant;

use super::pipeline::CONSTANT_BYTES;
use super::{Bindings, Buffer, Device, Pipeline, Queries, Target};

/// Records commands; borrows what they use for as long as they can be submitted.
pub(crate) struct Recorder<'r> {
    device: &'r Device,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
}

/// Recorded commands.
pub(crate) struct Commands<'r> {
    device: &'r Device,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    /// What they use.
    uses: PhantomData<&'r ()>,
}

/// How long a submission may take, in nanoseconds, before the device counts as hung.
const PATIENCE: u64 = 120_000_000_000;

impl Device {
    /// Records what `record` says.
    pub(crate) fn record<'r>(
        &'r self,
        record: impl FnOnce(&mut Recorder<'r>) -> anyhow::Result<()>,
    ) -> anyhow::Result<Commands<'r>> {
        let allocate = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the pool is used by this thread alone, as the device is no `Sync`.
        let buffers = unsafe { self.device.allocate_command_buffers(&allocate) }.context("no command buffer")?;
        let commands = buffers.first().copied().context("no command buffer")?;
        let mut made = Commands { device: self, commands, fence: vk::Fence::null(), uses: PhantomData };
        // SAFETY: the buffer is new and recorded once.
        unsafe {
            made.fence = self.device.create_fence(&vk::FenceCreateInfo::default(), None).context("no fence")?;
            self.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        }
        let mut recorder = Recorder { device: self, commands, layout: vk::PipelineLayout::null() };
        record(&mut recorder)?;
        // SAFETY: recording has begun, and whoever recorded has ended what they began.
        unsafe { self.device.end_command_buffer(commands) }.context("commands cannot be recorded")?;
        Ok(made)
    }
}

impl Commands<'_> {
    /// Runs them and waits until they are done; milliseconds by the clock.
    pub(crate) fn submit(&self) -> anyhow::Result<f64> {
        let device = &self.device.device;
        let buffers = [self.commands];
        let submits = [vk::SubmitInfo::default().command_buffers(&buffers)];
        let begin = Instant::now();
        // SAFETY: the commands are recorded, pending nowhere, and all that they use is borrowed; the fence is not
        // signalled, and is waited for before anything else is done.
        unsafe {
            device.queue_submit(self.device.queue, &submits, self.fence).context("commands cannot be submitted")?;
            if let Err(error) = device.wait_for_fences(&[self.fence], true, PATIENCE) {
                // What is running must not lose what it uses.
                let _ = device.device_wait_idle();
                return Err(error).context("the device does not answer");
            }
            device.reset_fences(&[self.fence])?;
        }
        Ok(begin.elapsed().as_secs_f64() * 1e3)
    }
}

impl Drop for Commands<'_> {
    fn drop(&mut self) {
        // SAFETY: each submission was waited for.
        unsafe {
            self.device.device.destroy_fence(self.fence, None);
            self.device.device.free_command_buffers(self.device.pool, &[self.commands]);
        }
    }
}

// SAFETY of all below: the command buffer is being recorded, and every handle is borrowed until the commands are gone.
// What follows what (draws within passes, queries ended where they began) is up to the callers, all of them in this folder's
// parent.
impl<'r> Recorder<'r> {
    /// Copies the first bytes; before and after it all else is done.
    pub(crate) fn copy(&mut self, from: &'r Buffer<'_>, to: &'r Buffer<'_>, bytes: u64) {
        let bytes = bytes.min(from.bytes()).min(to.bytes());
        self.barrier();
        // SAFETY: as above; both buffers have that many bytes.
        unsafe {
            let whole = [vk::BufferCopy::default().size(bytes)];
            self.device.device.cmd_copy_buffer(self.commands, from.buffer, to.buffer, &whole);
        }
        self.barrier();
    }

    /// Copies the target's picture into a buffer of as many bytes.
    pub(crate) fn copy_picture(&mut self, from: &'r Target<'_>, to: &'r Buffer<'_>) {
        let Some(image) = from.color().filter(|_| to.bytes() >= from.picture_bytes()) else { return };
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        let whole = [vk::BufferImageCopy::default().image_subresource(layers).image_extent(vk::Extent3D {
            width: from.width,
            height: from.height,
            depth: 1,
        })];
        // SAFETY: as above; the pass has left the image in this layout.
        unsafe {
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            self.device.device.cmd_copy_image_to_buffer(self.commands, image, layout, to.buffer, &whole);
        }
        self.barrier();
    }

    /// Sets all words of a buffer to 0; after it all else is done.
    pub(crate) fn clear(&mut self, buffer: &'r Buffer<'_>) {
        // SAFETY: as above.
        unsafe { self.device.device.cmd_fill_buffer(self.commands, buffer.buffer, 0, vk::WHOLE_SIZE, 0) };
        self.barrier();
    }

    /// All that was recorded is done, and seen, before what follows.
    fn barrier(&mut self) {
        let all = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
        // SAFETY: as above.
        unsafe {
            self.device.device.cmd_pipeline_barrier(
                self.commands,
                vk::PipelineStageFlags::ALL_COMMANDS,
                vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &all,
                &[],
                &[],
            );
        }
    }

    /// Begins to draw into a target, from nothing.
    pub(crate) fn begin(&mut self, target: &'r Target<'_>) {
        let clear = [
            vk::ClearValue { color: vk::ClearColorValue { float32: [0.0, 0.0, 0.0, 1.0] } },
            vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } },
        ];
        let area = vk::Rect2D {
            offset: vk::Offset2D::default(),
            extent: vk::Extent2D { width: target.width, height: target.height },
        };
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(target.pass)
            .framebuffer(target.framebuffer)
            .render_area(area)
            .clear_values(&clear[..target.attachments()]);
        // SAFETY: as above.
        unsafe { self.device.device.cmd_begin_render_pass(self.commands, &begin, vk::SubpassContents::INLINE) };
    }

    /// Ends what [`Recorder::begin`] began; what was written is seen by what follows.
    pub(crate) fn end(&mut self) {
        // SAFETY: as above.
        unsafe { self.device.device.cmd_end_render_pass(self.commands) };
        self.barrier();
    }

    /// Sets pipeline, storage buffers, the evaluation stage's matrix and, where it has one, the vertex buffer.
    pub(crate) fn set(
        &mut self,
        pipeline: &'r Pipeline<'_>,
        bindings: &'r Bindings<'_>,
        matrix: &[f32; 16],
        vertices: Option<&'r Buffer<'_>>,
    ) {
        self.layout = pipeline.layout;
        let constants: &[u8] = bytemuck::cast_slice(matrix);
        debug_assert_eq!(constants.len(), CONSTANT_BYTES as usize);
        let device = &self.device.device;
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        let evaluation = vk::ShaderStageFlags::TESSELLATION_EVALUATION;
        // SAFETY: as above; the layout has this set and these constants.
        unsafe {
            device.cmd_bind_pipeline(self.commands, graphics, pipeline.pipeline);
            if !bindings.is_empty() {
                device.cmd_bind_descriptor_sets(self.commands, graphics, self.layout, 0, &[bindings.set], &[]);
            }
            device.cmd_push_constants(self.commands, self.layout, evaluation, 0, constants);
            if let Some(vertices) = vertices {
                device.cmd_bind_vertex_buffers(self.commands, 0, &[vertices.buffer], &[0]);
            }
        }
    }

    pub(crate) fn draw(&mut self, first: u32, vertices: u32) {
        // SAFETY: as above.
        unsafe { self.device.device.cmd_draw(self.commands, vertices, 1, first, 0) };
    }

    /// Makes queries askable again; outside of passes.
    pub(crate) fn reset(&mut self, queries: &'r Queries<'_>) {
        // SAFETY: as above.
        unsafe { self.device.device.cmd_reset_query_pool(self.commands, queries.pool, 0, queries.count) };
    }

    /// Notes the time at which all that was recorded until here is done; outside of passes.
    pub(crate) fn stamp(&mut self, queries: &'r Queries<'_>, query: u32) {
        let done = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        // SAFETY: as above.
        unsafe {
            self.device.device.cmd_write_timestamp(self.commands, done, queries.pool, query.min(queries.count - 1));
        }
    }

    pub(crate) fn begin_query(&mut self, queries: &'r Queries<'_>, query: u32) {
        let none = vk::QueryControlFlags::empty();
        // SAFETY: as above.
        unsafe { self.device.device.cmd_begin_query(self.commands, queries.pool, query.min(queries.count - 1), none) };
    }

    pub(crate) fn end_query(&mut self, queries: &'r Queries<'_>, query: u32) {
        // SAFETY: as above.
        unsafe { self.device.device.cmd_end_query(self.commands, queries.pool, query.min(queries.count - 1)) };
    }

    /// Runs `draw` with what comes out of the evaluation stage captured into the buffer; within a pass.
    pub(crate) fn with_feedback(&mut self, to: &'r Buffer<'_>, draw: impl FnOnce(&mut Self)) {
        let Some(feedback) = &self.device.feedback else { return draw(self) };
        // SAFETY: as above; the buffer was made for transform feedback, as the device has it, and no counter is asked for.
        unsafe {
            let bind = feedback.fp().cmd_bind_transform_feedback_buffers_ext;
            bind(self.commands, 0, 1, &to.buffer, &0, &vk::WHOLE_SIZE);
            let begin = feedback.fp().cmd_begin_transform_feedback_ext;
            begin(self.commands, 0, 0, std::ptr::null(), std::ptr::null());
        }
        draw(self);
        // SAFETY: as above.
        unsafe {
            let end = feedback.fp().cmd_end_transform_feedback_ext;
            end(self.commands, 0, 0, std::ptr::null(), std::ptr::null());
        }
    }
}
