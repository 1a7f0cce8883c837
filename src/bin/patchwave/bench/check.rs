//! Checks of a draw's output on the GPU: of its chunks, or of the batches of a streamed draw.

use patchwave::pipeline::{BatchPlan, OutputChunk};
use patchwave::{Tessellation, WorkspaceDescriptor};

use crate::scene::gpu::Gpu;

/// Bytes from one batch's entry to the next: what dynamic offsets of storage buffers are aligned to by default.
const ENTRY: u64 = 256;
const WORKGROUPS: u32 = 256;

/// What a chunk or a batch is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Expected {
    vertices: u32,
    primitives: u32,
}

/// The entry of a chunk or a batch (`Checked` in check.wgsl).
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Checked {
    first_primitive: u32,
    primitives: u32,
    last_vertex: u32,
    bad_normals: u32,
    sums: [u32; 2],
    vertices: u32,
    /// Where the arguments of the draw begin, in words.
    arguments: u32,
}

/// Looks at all of a draw: every primitive, or every vertex where there are no indices.
pub(super) struct Checker {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    /// Of the vertex buffer that was looked at last: batches share one.
    group: Option<(wgpu::Buffer, wgpu::BindGroup)>,
    entries: wgpu::Buffer,
    read: wgpu::Buffer,
    expected: Vec<Expected>,
    has_indices: bool,
}

impl Checker {
    /// Of the batches of a plan.
    pub(super) fn of_batches(gpu: &Gpu, plan: &BatchPlan) -> Self {
        let expected =
            |batch: &patchwave::pipeline::Batch| Expected { vertices: batch.vertices, primitives: batch.primitives };
        Self::new(gpu, plan.batches().iter().map(expected).collect(), true)
    }

    /// Of the chunks of a workspace that was made for just this draw.
    pub(super) fn of_chunks(gpu: &Gpu, workspace: &WorkspaceDescriptor, has_indices: bool) -> Self {
        let expected = |chunk: &patchwave::pipeline::ChunkCapacity| Expected {
            vertices: chunk.vertices,
            primitives: chunk.primitives,
        };
        Self::new(gpu, workspace.chunks.iter().map(expected).collect(), has_indices)
    }

    fn new(gpu: &Gpu, expected: Vec<Expected>, has_indices: bool) -> Self {
        let device = &gpu.device;
        let entry = |binding: u32, read_only: bool| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: !read_only,
                min_binding_size: None,
            },
            count: None,
        };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("check"),
            entries: &[entry(0, true), entry(1, true), entry(2, true), entry(3, false)],
        });
        let module = device.create_shader_module(wgpu::include_wgsl!("check.wgsl"));
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("check"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("check"),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(if has_indices { "check" } else { "check_vertices" }),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("check"),
                size: (expected.len() as u64 * ENTRY).max(ENTRY),
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        Self {
            pipeline,
            layout,
            group: None,
            entries: buffer(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC),
            read: buffer(wgpu::BufferUsages::MAP_READ),
            expected,
            has_indices,
        }
    }

    /// To be called before a run's encoder is submitted.
    pub(super) fn begin(&self, gpu: &Gpu) {
        let mut bytes = vec![0; self.expected.len() * ENTRY as usize];
        let mut first = 0u64;
        for (entry, part) in bytes.chunks_exact_mut(ENTRY as usize).zip(&self.expected) {
            // A hash is all that it goes into, so the low half will do.
            let begin =
                Checked { first_primitive: first as u32, vertices: part.vertices, ..bytemuck::Zeroable::zeroed() };
            entry[..size_of::<Checked>()].copy_from_slice(bytemuck::bytes_of(&begin));
            first += u64::from(part.primitives);
        }
        gpu.queue.write_buffer(&self.entries, 0, &bytes);
    }

    /// Encodes the look at a batch.
    pub(super) fn encode(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        batch: usize,
        result: &Tessellation,
    ) {
        if let Some(chunk) = result.chunks().first() {
            self.encode_chunk(gpu, encoder, batch, chunk);
        }
    }

    /// Encodes the look at a whole draw.
    pub(super) fn encode_all(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, result: &Tessellation) {
        for (i, chunk) in result.chunks().iter().enumerate() {
            self.encode_chunk(gpu, encoder, i, chunk);
        }
    }

    fn encode_chunk(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, entry: usize, chunk: &OutputChunk) {
        if self.group.as_ref().is_none_or(|(vertices, _)| *vertices != chunk.vertices) {
            let bind = |binding, resource| wgpu::BindGroupEntry { binding, resource };
            let part = |buffer, offset, size| {
                wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size: wgpu::BufferSize::new(size) })
            };
            let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("check"),
                layout: &self.layout,
                entries: &[
                    bind(0, chunk.vertices.as_entire_binding()),
                    bind(1, chunk.indices.as_entire_binding()),
                    bind(2, chunk.arguments.as_entire_binding()),
                    bind(3, part(&self.entries, 0, size_of::<Checked>() as u64)),
                ],
            });
            self.group = Some((chunk.vertices.clone(), group));
        }
        let Some((_, group)) = &self.group else { return };
        // Seen by the submission that comes next, as all that `begin` wrote is.
        let arguments = (chunk.arguments_offset / 4) as u32;
        let at = entry as u64 * ENTRY + std::mem::offset_of!(Checked, arguments) as u64;
        gpu.queue.write_buffer(&self.entries, at, bytemuck::bytes_of(&arguments));
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, group, &[(entry as u64 * ENTRY) as u32]);
        pass.dispatch_workgroups(WORKGROUPS, 1, 1);
    }

    /// To be called last of all on the encoder.
    pub(super) fn end(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_buffer_to_buffer(&self.entries, 0, &self.read, 0, Some(self.read.size()));
    }

    /// Compares each part with what was measured; the sums over all parts.
    pub(super) fn sums(&self, gpu: &Gpu) -> anyhow::Result<[u32; 2]> {
        let bytes = gpu.read(&self.read)?;
        let mut sums = [0u32; 2];
        for (i, (entry, part)) in bytes.chunks_exact(ENTRY as usize).zip(&self.expected).enumerate() {
            let found: Checked = bytemuck::pod_read_unaligned(&entry[..size_of::<Checked>()]);
            anyhow::ensure!(
                !self.has_indices
                    || found.primitives == part.primitives && found.last_vertex.checked_add(1) == Some(part.vertices),
                "part {i} has {} triangles of vertices up to {}, and was to have {} of {}",
                found.primitives,
                found.last_vertex,
                part.primitives,
                part.vertices
            );
            anyhow::ensure!(found.bad_normals == 0, "part {i} has {} normals that are none", found.bad_normals);
            sums = [0, 1].map(|half| sums[half].wrapping_add(found.sums[half]));
        }
        Ok(sums)
    }
}
