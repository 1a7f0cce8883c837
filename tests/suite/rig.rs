//! What the tests of the pipeline share: a device that takes down what nobody asked it, buffers, and the way from a draw
//! to a mesh.

use std::sync::{Arc, Mutex};

use patchwave::hardware::TessellationParameters;
use patchwave::{
    Domain, Draw, Mesh, Tessellation, TessellationPipeline, TessellationPipelineDescriptor, Workspace,
    WorkspaceDescriptor,
};
use wgpu::util::DeviceExt;

use crate::gpu;

/// A device of a test's own. When the test ends, no error may have reached wgpu's handler of uncaptured errors, and the
/// device may not have been lost.
pub(crate) struct Rig {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    complaints: Arc<Mutex<Vec<String>>>,
}

impl Rig {
    /// With all that the adapter has.
    pub(crate) fn new() -> Self {
        Self::on(gpu::device())
    }

    /// With these limits and no more.
    pub(crate) fn with_limits(limits: wgpu::Limits) -> Self {
        Self::on(gpu::device_with(|_| limits.clone()))
    }

    /// With all that the adapter has, and those of these features that it has.
    pub(crate) fn with_features(features: wgpu::Features) -> Self {
        let adapter = gpu::adapter();
        let limits = patchwave::TessellationPipeline::required_limits(&adapter);
        Self::on(gpu::device_with_features(&adapter, limits, features & adapter.features()))
    }

    /// Two devices of one adapter. (Objects of another wgpu instance are numbered anew there, and wgpu takes them for its
    /// own of the same number.)
    pub(crate) fn two() -> (Self, Self) {
        let adapter = gpu::adapter();
        let device = || gpu::device_of(&adapter, patchwave::TessellationPipeline::required_limits(&adapter));
        (Self::on(device()), Self::on(device()))
    }

    pub(crate) fn on((device, queue): (wgpu::Device, wgpu::Queue)) -> Self {
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&complaints);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            list.lock().expect("no test panics with the list in hand").push(error.to_string());
        }));
        let list = Arc::clone(&complaints);
        device.set_device_lost_callback(move |reason, message| {
            // Dropping the device at the end of a test is a loss as well, and no fault.
            if reason != wgpu::DeviceLostReason::Destroyed {
                list.lock().expect("no test panics with the list in hand").push(format!("device lost: {message}"));
            }
        });
        Self { device, queue, complaints }
    }

    /// What reached the handler so far, which thereby is dealt with.
    pub(crate) fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut *self.complaints.lock().expect("no test panics with the list in hand"))
    }

    pub(crate) fn buffer(&self, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents: bytes, usage })
    }

    /// A buffer that the passes may read.
    pub(crate) fn storage<T: bytemuck::NoUninit>(&self, data: &[T]) -> wgpu::Buffer {
        self.buffer(bytemuck::cast_slice(data), wgpu::BufferUsages::STORAGE)
    }

    pub(crate) fn pipeline(&self, descriptor: &TessellationPipelineDescriptor<'_>) -> TessellationPipeline {
        TessellationPipeline::new(&self.device, descriptor).unwrap_or_else(|error| panic!("the pipeline: {error}"))
    }

    pub(crate) fn workspace(&self, pipeline: &TessellationPipeline, descriptor: WorkspaceDescriptor) -> Workspace {
        Workspace::new(&self.device, pipeline, descriptor).unwrap_or_else(|error| panic!("the workspace: {error}"))
    }

    pub(crate) fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    /// A workspace that is exactly large enough.
    pub(crate) fn measured_workspace(&self, pipeline: &TessellationPipeline, draw: &Draw<'_>) -> Workspace {
        let measurement = pipeline
            .measure_blocking(&self.device, &self.queue, draw)
            .unwrap_or_else(|error| panic!("measuring: {error}"));
        let sizes = WorkspaceDescriptor::for_measurement(pipeline, &measurement).expect("within the device's limits");
        self.workspace(pipeline, sizes)
    }

    /// Encodes and submits one draw.
    pub(crate) fn run(
        &self,
        pipeline: &TessellationPipeline,
        workspace: &mut Workspace,
        draw: &Draw<'_>,
    ) -> Tessellation {
        let mut encoder = self.encoder();
        let tessellation = pipeline
            .encode(&self.queue, &mut encoder, workspace, draw)
            .unwrap_or_else(|error| panic!("encoding: {error}"));
        self.queue.submit([encoder.finish()]);
        tessellation
    }

    pub(crate) fn read(&self, tessellation: &Tessellation) -> Mesh {
        Mesh::read_blocking(&self.device, &self.queue, tessellation).unwrap_or_else(|error| panic!("reading: {error}"))
    }

    /// The mesh of a draw in a workspace that just holds it.
    pub(crate) fn mesh(&self, pipeline: &TessellationPipeline, draw: &Draw<'_>) -> Mesh {
        let mut workspace = self.measured_workspace(pipeline, draw);
        let tessellation = self.run(pipeline, &mut workspace, draw);
        self.read(&tessellation)
    }

    /// The mesh of a draw by pipelines of this descriptor on-chip, off-chip from the first wave on, and dynamic; it has to
    /// be the same.
    pub(crate) fn mesh_in_all_modes(&self, descriptor: &TessellationPipelineDescriptor<'_>, draw: &Draw<'_>) -> Mesh {
        let off_chip = |threshold, waves| {
            descriptor.clone().off_chip(TessellationParameters {
                tessellation_factor_threshold: Some(threshold),
                ds_wave_threshold: Some(waves),
                ..TessellationParameters::default()
            })
        };
        let mesh = self.mesh(&self.pipeline(descriptor), draw);
        for (threshold, waves) in [(0.0, 0), (3.0, 1)] {
            let other = self.mesh(&self.pipeline(&off_chip(threshold, waves)), draw);
            assert!(other == mesh, "off-chip from {threshold} on after {waves} waves, and on-chip, differ");
        }
        mesh
    }

    /// The words of a buffer.
    pub(crate) fn words(&self, buffer: &wgpu::Buffer) -> Vec<u32> {
        let copy = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        encoder.map_buffer_on_submit(&copy, wgpu::MapMode::Read, .., |mapped| mapped.expect("the copy is mapped"));
        self.queue.submit([encoder.finish()]);
        self.poll();
        bytemuck::pod_collect_to_vec(&copy.get_mapped_range(..).expect("the copy is mapped"))
    }

    pub(crate) fn poll(&self) {
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the GPU comes to an end");
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let complaints = self.take_complaints();
        // A second panic while the test's own unwinds would hide it.
        if !std::thread::panicking() {
            assert!(complaints.is_empty(), "wgpu's handler of uncaptured errors was reached: {complaints:#?}");
        }
    }
}

/// Factors of the patches in a storage buffer of the user's, in bind group 0, by patch id.
pub(crate) struct FactorTable {
    pub(crate) layout: wgpu::BindGroupLayout,
    pub(crate) group: wgpu::BindGroup,
}

impl FactorTable {
    pub(crate) fn new(rig: &Rig, factors: &[[f32; 6]]) -> Self {
        let layout = rig.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("factor table"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: true },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let buffer = rig.storage(factors);
        let group = rig.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("factor table"),
            layout: &layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        });
        Self { layout, group }
    }
}

/// WGSL: the factor table and `table_constants`, which makes `PatchConstants` of a row; words, so that NaNs come through.
pub(crate) fn factor_table_wgsl(domain: Domain) -> &'static str {
    match domain {
        Domain::Quad => {
            "@group(0) @binding(0) var<storage, read> factor_table: array<array<u32, 6>>;
             struct PatchConstants { factors: QuadFactors }
             fn table_constants(id: u32) -> PatchConstants {
                 let f = factor_table[id];
                 return PatchConstants(QuadFactors(
                     bitcast<vec4f>(vec4u(f[0], f[1], f[2], f[3])), bitcast<vec2f>(vec2u(f[4], f[5]))));
             }\n"
        }
        Domain::Tri => {
            "@group(0) @binding(0) var<storage, read> factor_table: array<array<u32, 6>>;
             struct PatchConstants { factors: TriFactors }
             fn table_constants(id: u32) -> PatchConstants {
                 let f = factor_table[id];
                 return PatchConstants(TriFactors(bitcast<vec3f>(vec3u(f[0], f[1], f[2])), bitcast<f32>(f[3])));
             }\n"
        }
        Domain::Isoline => {
            "@group(0) @binding(0) var<storage, read> factor_table: array<array<u32, 6>>;
             struct PatchConstants { factors: IsolineFactors }
             fn table_constants(id: u32) -> PatchConstants {
                 let f = factor_table[id];
                 return PatchConstants(IsolineFactors(bitcast<f32>(f[0]), bitcast<f32>(f[1])));
             }\n"
        }
    }
}

/// The type of the domain location.
pub(crate) fn location_type(domain: Domain) -> &'static str {
    if domain == Domain::Tri { "vec3f" } else { "vec2f" }
}
