//! Paints the meshes of a frame, and marks which patch each vertex is of.

use glam::Vec3;
use patchwave::pipeline::GpuRecords;
use patchwave::{Tessellation, TessellationPipeline};

use super::state::{Settings, Shading};
use crate::run::live::Look;
use crate::scene::Size;
use crate::scene::camera::Camera;
use crate::scene::gpu::Gpu;
use crate::scene::picture::{DEPTH, SAMPLES};

const PAINT: &str = include_str!("paint.wgsl");
const PATCHES: &str = include_str!("patches.wgsl");

/// The shader's `View`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    clip_from_world: [f32; 16],
    eye: [f32; 3],
    shading: u32,
    key: [f32; 3],
    wireframe: u32,
    color: [f32; 3],
    corners: u32,
    mirror: f32,
    is_flat: u32,
    pad: [u32; 2],
}

/// The shader's `Records`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Records {
    patches: u32,
    words_per_patch: u32,
    threadgroups: u32,
    words_per_threadgroup: u32,
    patch_count: u32,
    patches_per_instance: u32,
    threadgroups_per_instance: u32,
    patches_per_threadgroup: u32,
    before: u32,
    pad: [u32; 3],
}

impl Records {
    fn new(of: &GpuRecords<'_>, before: u32) -> Self {
        Self {
            patches: of.patches,
            words_per_patch: of.words_per_patch,
            threadgroups: of.threadgroups,
            words_per_threadgroup: of.words_per_threadgroup,
            patch_count: of.patch_count,
            patches_per_instance: of.patches_per_instance,
            threadgroups_per_instance: of.threadgroups_per_instance,
            patches_per_threadgroup: of.patches_per_threadgroup,
            before,
            pad: [0; 3],
        }
    }
}

/// Bytes from the records of one draw to those of the next: what dynamic offsets are multiples of.
const RECORDS_STRIDE: u64 = 256;

/// Samples and depth of a window's size.
struct Attachments {
    size: Size,
    samples: wgpu::TextureView,
    depth: wgpu::TextureView,
}

/// What a workspace's draws are bound by, made once for each workspace.
struct Groups {
    /// Which workspace.
    of: u64,
    /// One for all draws, which share buffers.
    meshes: wgpu::BindGroup,
    marks: wgpu::BindGroup,
}

/// Paints the meshes of one tessellation pipeline's layout.
pub(super) struct Painter {
    look: Look,
    is_mirrored: bool,
    corners: u32,
    uniforms: wgpu::Buffer,
    view_group: wgpu::BindGroup,
    mesh_layout: wgpu::BindGroupLayout,
    /// Draws every index as a vertex of its own, for wires.
    corners_apart: wgpu::RenderPipeline,
    /// Draws through the index buffer, which takes a vertex once.
    indexed: wgpu::RenderPipeline,
    format: wgpu::TextureFormat,
    mark: wgpu::ComputePipeline,
    mark_layout: wgpu::BindGroupLayout,
    records: wgpu::Buffer,
    groups: Option<Groups>,
    attachments: Option<Attachments>,
}

/// Where a frame is painted.
pub(super) struct Canvas<'a> {
    pub(super) view: &'a wgpu::TextureView,
    /// Of the whole texture.
    pub(super) size: Size,
    /// Left, top, width and height of the part that the scene is seen in, in pixels.
    pub(super) part: [u32; 4],
}

impl Painter {
    /// For meshes of `pipeline` in frames of at most `draws` draws.
    pub(super) fn new(
        gpu: &Gpu,
        pipeline: &TessellationPipeline,
        look: Look,
        is_mirrored: bool,
        draws: u32,
        format: wgpu::TextureFormat,
    ) -> anyhow::Result<Self> {
        let device = &gpu.device;
        let entry = |binding, visibility, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
            binding,
            visibility,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        };
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let uniform = wgpu::BufferBindingType::Uniform;
        let layout = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries })
        };
        let (vertex, compute) = (wgpu::ShaderStages::VERTEX, wgpu::ShaderStages::COMPUTE);
        let view_layout = layout("view", &[entry(0, wgpu::ShaderStages::VERTEX_FRAGMENT, uniform, false)]);
        let mesh_layout = layout("meshes", &[0, 1, 2].map(|binding| entry(binding, vertex, storage(true), false)));
        let mark_layout = layout(
            "marks",
            &[
                entry(0, compute, uniform, true),
                entry(1, compute, storage(true), false),
                entry(2, compute, storage(false), false),
            ],
        );
        let buffer = |label, size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false })
        };
        let uniform_usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let uniforms = buffer("view", size_of::<Uniforms>() as u64, uniform_usage);
        let painter = Self {
            corners: pipeline.output_topology().vertices_per_primitive(),
            view_group: device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("view"),
                layout: &view_layout,
                entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniforms.as_entire_binding() }],
            }),
            corners_apart: surface(device, pipeline, &look, [&view_layout, &mesh_layout], format, false),
            indexed: surface(device, pipeline, &look, [&view_layout, &mesh_layout], format, true),
            mark: mark(device, &mark_layout),
            records: buffer("records", RECORDS_STRIDE * u64::from(draws.max(1)), uniform_usage),
            look,
            is_mirrored,
            uniforms,
            mesh_layout,
            format,
            mark_layout,
            groups: None,
            attachments: None,
        };
        gpu.check()?;
        Ok(painter)
    }

    /// Makes the bind groups of a workspace, where they are of another. `patches` is its table of patches.
    pub(super) fn bind(&mut self, gpu: &Gpu, workspace: u64, tessellations: &[Tessellation], patches: &wgpu::Buffer) {
        if self.groups.as_ref().is_some_and(|groups| groups.of == workspace) {
            return;
        }
        self.groups = None;
        // All draws lie in the one chunk of the workspace.
        let Some(chunk) = tessellations.iter().find_map(|one| one.chunks().first()) else { return };
        let Some(records) = tessellations.iter().find_map(Tessellation::gpu_records) else { return };
        let group = |label, layout, resources: [wgpu::BindingResource<'_>; 3]| {
            let entries: Vec<_> =
                (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
            gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some(label), layout, entries: &entries })
        };
        let one_draw = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.records,
            offset: 0,
            size: wgpu::BufferSize::new(size_of::<Records>() as u64),
        });
        self.groups = Some(Groups {
            of: workspace,
            meshes: group(
                "meshes",
                &self.mesh_layout,
                [chunk.vertices.as_entire_binding(), chunk.indices.as_entire_binding(), patches.as_entire_binding()],
            ),
            marks: group(
                "marks",
                &self.mark_layout,
                [one_draw, records.buffer.as_entire_binding(), patches.as_entire_binding()],
            ),
        });
    }

    /// Notes of each vertex which patch it is of, where the shading asks for it.
    pub(super) fn mark(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        settings: &Settings,
        tessellations: &[Tessellation],
    ) {
        let Some(groups) = self.groups.as_ref().filter(|_| settings.shading != Shading::Lit) else { return };
        let mut before = 0u32;
        let mut pass =
            encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some("marks"), timestamp_writes: None });
        pass.set_pipeline(&self.mark);
        for (i, records) in (0u32..).zip(tessellations.iter().map(Tessellation::gpu_records)) {
            let Some(records) = records.filter(|records| records.patch_count > 0) else { continue };
            let offset = u64::from(i) * RECORDS_STRIDE;
            gpu.queue.write_buffer(&self.records, offset, bytemuck::bytes_of(&Records::new(&records, before)));
            before = before.wrapping_add(records.patch_count);
            let rows = records.patch_count.div_ceil(65_535);
            pass.set_bind_group(0, &groups.marks, &[offset as u32]);
            pass.dispatch_workgroups(records.patch_count.div_ceil(rows), rows, 1);
        }
    }

    /// Paints the meshes, or the background alone.
    pub(super) fn paint(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        canvas: &Canvas<'_>,
        seen: (&Settings, &Camera, Vec3),
        tessellations: &[Tessellation],
        timestamp_writes: Option<wgpu::RenderPassTimestampWrites<'_>>,
    ) {
        let (settings, camera, key) = seen;
        let uniforms = Uniforms {
            clip_from_world: camera.clip_from_world.to_cols_array(),
            eye: camera.eye.to_array(),
            shading: match settings.shading {
                Shading::Lit => 0,
                Shading::Patches => 1,
                Shading::Modes => 2,
            },
            key: key.to_array(),
            wireframe: settings.wireframe.into(),
            color: self.look.color,
            corners: self.corners,
            mirror: if self.is_mirrored { -1.0 } else { 1.0 },
            is_flat: self.look.is_flat.into(),
            pad: [0; 2],
        };
        gpu.queue.write_buffer(&self.uniforms, 0, bytemuck::bytes_of(&uniforms));
        let background = clear_color(self.look.background, self.format);
        let attachments = match self.attachments.take() {
            Some(attachments) if attachments.size == canvas.size => self.attachments.insert(attachments),
            _ => self.attachments.insert(Attachments::new(&gpu.device, canvas.size, self.format)),
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("view"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &attachments.samples,
                depth_slice: None,
                resolve_target: Some(canvas.view),
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(background), store: wgpu::StoreOp::Discard },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &attachments.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            timestamp_writes,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        let Some(groups) = &self.groups else { return };
        let [left, top, width, height] = canvas.part;
        if width == 0 || height == 0 {
            return;
        }
        pass.set_viewport(left as f32, top as f32, width as f32, height as f32, 0.0, 1.0);
        pass.set_scissor_rect(left, top, width, height);
        let is_apart = settings.wireframe && self.corners == 3;
        pass.set_pipeline(if is_apart { &self.corners_apart } else { &self.indexed });
        pass.set_bind_group(0, &self.view_group, &[]);
        pass.set_bind_group(1, &groups.meshes, &[]);
        for chunk in tessellations.iter().flat_map(|one| one.chunks()) {
            if is_apart {
                // The arguments of an indexed draw serve: count, instances and first mean the same, and the fourth is 0.
                pass.draw_indirect(&chunk.arguments, chunk.arguments_offset);
            } else {
                pass.set_index_buffer(chunk.indices.slice(..), wgpu::IndexFormat::Uint32);
                pass.draw_indexed_indirect(&chunk.arguments, chunk.arguments_offset);
            }
        }
    }
}

impl Attachments {
    fn new(device: &wgpu::Device, size: Size, format: wgpu::TextureFormat) -> Self {
        let texture = |label, format| {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: size.extent(),
                mip_level_count: 1,
                sample_count: SAMPLES,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&wgpu::TextureViewDescriptor::default())
        };
        Self { size, samples: texture("view samples", format), depth: texture("view depth", DEPTH) }
    }
}

/// A colour of linear light as a target of this format is cleared to it.
pub(super) fn clear_color(linear: [f32; 3], format: wgpu::TextureFormat) -> wgpu::Color {
    let [r, g, b] = linear.map(|light| {
        let light = f64::from(light.clamp(0.0, 1.0));
        match () {
            () if format.is_srgb() => light,
            () if light <= 0.003_130_8 => light * 12.92,
            () => 1.055 * light.powf(1.0 / 2.4) - 0.055,
        }
    });
    wgpu::Color { r, g, b, a: 1.0 }
}

fn surface(
    device: &wgpu::Device,
    pipeline: &TessellationPipeline,
    look: &Look,
    [view, meshes]: [&wgpu::BindGroupLayout; 2],
    format: wgpu::TextureFormat,
    is_indexed: bool,
) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("view"),
        source: wgpu::ShaderSource::Wgsl(PAINT.into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("view"),
        bind_group_layouts: &[Some(view), Some(meshes)],
        immediate_size: 0,
    });
    let switch = |name, on: bool| (name, f64::from(u8::from(on)));
    let switches = [switch("encodes", !format.is_srgb()), switch("is_indexed", is_indexed)];
    let constants = [&look.constants[..], &switches].concat();
    let options = || wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("view"),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("view_vertex"),
            compilation_options: options(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState { topology: pipeline.primitive_topology(), ..wgpu::PrimitiveState::default() },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::LessEqual),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: wgpu::MultisampleState { count: SAMPLES, ..wgpu::MultisampleState::default() },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("view_fragment"),
            compilation_options: options(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn mark(device: &wgpu::Device, layout: &wgpu::BindGroupLayout) -> wgpu::ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("marks"),
        source: wgpu::ShaderSource::Wgsl(PATCHES.into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("marks"),
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("marks"),
        layout: Some(&layout),
        module: &module,
        entry_point: Some("mark_patches"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}
