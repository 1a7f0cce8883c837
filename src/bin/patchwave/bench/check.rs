//! Checks of the batches of a streamed draw, on the GPU.

use patchwave::Tessellation;
use patchwave::pipeline::{Batch, BatchPlan};

use crate::scene::gpu::Gpu;

/// Bytes from one batch's entry to the next: what dynamic offsets of storage buffers are aligned to by default.
const ENTRY: u64 = 256;
const WORKGROUPS: u32 = 256;

/// One batch's entry (`Checked` in check.wgsl).
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Checked {
    first_primitive: u32,
    primitives: u32,
    last_vertex: u32,
    bad_normals: u32,
    sums: [u32; 2],
}

/// Looks at all that the batches of a plan come to.
pub(super) struct Checker {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    /// Of the buffers that all batches share.
    group: Option<wgpu::BindGroup>,
    entries: wgpu::Buffer,
    read: wgpu::Buffer,
    expected: Vec<Batch>,
}

impl Checker {
    pub(super) fn new(gpu: &Gpu, plan: &BatchPlan) -> Self {
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
            entry_point: Some("check"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("check"),
                size: (plan.batches().len() as u64 * ENTRY).max(ENTRY),
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
            expected: plan.batches().to_vec(),
        }
    }

    /// To be called before a run's encoder is submitted.
    pub(super) fn begin(&self, gpu: &Gpu) {
        let mut bytes = vec![0; self.expected.len() * ENTRY as usize];
        let mut first = 0u64;
        for (entry, batch) in bytes.chunks_exact_mut(ENTRY as usize).zip(&self.expected) {
            // A hash is all that it goes into, so the low half will do.
            entry[..4].copy_from_slice(&(first as u32).to_le_bytes());
            first += u64::from(batch.primitives);
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
        let Some(chunk) = result.chunks().first() else { return };
        let group = self.group.get_or_insert_with(|| {
            let bind = |binding, resource| wgpu::BindGroupEntry { binding, resource };
            let part = |buffer, offset, size| {
                wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size: wgpu::BufferSize::new(size) })
            };
            gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("check"),
                layout: &self.layout,
                entries: &[
                    bind(0, chunk.vertices.as_entire_binding()),
                    bind(1, chunk.indices.as_entire_binding()),
                    bind(2, part(&chunk.arguments, chunk.arguments_offset, 20)),
                    bind(3, part(&self.entries, 0, size_of::<Checked>() as u64)),
                ],
            })
        });
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &*group, &[(batch as u64 * ENTRY) as u32]);
        pass.dispatch_workgroups(WORKGROUPS, 1, 1);
    }

    /// To be called last of all on the encoder.
    pub(super) fn end(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_buffer_to_buffer(&self.entries, 0, &self.read, 0, Some(self.read.size()));
    }

    /// Compares each batch with what was measured; the sums over all batches.
    pub(super) fn sums(&self, gpu: &Gpu) -> anyhow::Result<[u32; 2]> {
        let bytes = gpu.read(&self.read)?;
        let mut sums = [0u32; 2];
        for (i, (entry, batch)) in bytes.chunks_exact(ENTRY as usize).zip(&self.expected).enumerate() {
            let found: Checked = bytemuck::pod_read_unaligned(&entry[..size_of::<Checked>()]);
            anyhow::ensure!(
                found.primitives == batch.primitives && found.last_vertex + 1 == batch.vertices,
                "batch {i} has {} triangles of vertices up to {}, and was to have {} of {}",
                found.primitives,
                found.last_vertex,
                batch.primitives,
                batch.vertices
            );
            anyhow::ensure!(found.bad_normals == 0, "batch {i} has {} normals that are none", found.bad_normals);
            sums = [0, 1].map(|half| sums[half].wrapping_add(found.sums[half]));
        }
        Ok(sums)
    }
}
