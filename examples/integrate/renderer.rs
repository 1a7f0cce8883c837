//! The renderer as it was: what it makes on its device, and its ordinary meshes. Nothing here knows of tessellation.

use std::path::Path;

use anyhow::Context;
use glam::{Vec3, camera::rh::proj::directx, camera::rh::view::look_at_mat4};
use wgpu::{BufferUsages, TextureFormat, TextureUsages, VertexAttribute, vertex_attr_array};

/// The shaders' `Scene`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Scene {
    clip_from_world: [f32; 16],
    shadow_from_world: [f32; 16],
    eye: [f32; 3],
    pixels_per_unit: f32,
}

/// What the renderer's vertex shader reads: position, normal, colour with gloss.
pub(crate) type Vertex = [f32; 10];
pub(crate) const VERTEX: [VertexAttribute; 3] = vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x4];
const COLOR: TextureFormat = TextureFormat::Rgba8UnormSrgb;
const DEPTH: TextureFormat = TextureFormat::Depth32Float;
const SAMPLES: u32 = 4;
const SHADOW_SIZE: [u32; 2] = [2048, 2048];
pub(crate) const UNIFORM: wgpu::BindingType = wgpu::BindingType::Buffer {
    ty: wgpu::BufferBindingType::Uniform,
    has_dynamic_offset: false,
    min_binding_size: None,
};

pub(crate) fn scene([width, height]: [u32; 2]) -> Scene {
    let (eye, target) = (Vec3::new(3.4, -12.0, 5.2), Vec3::new(0.45, 0.0, 2.95));
    let (aspect, tangent) = (width as f32 / height as f32, 0.315);
    let project = directx::perspective(2.0 * f32::atan(tangent), aspect, 1.0, 80.0);
    let light = look_at_mat4(Vec3::new(-0.52, -0.50, 0.69) * 20.0, Vec3::new(0.0, 0.0, 1.5), Vec3::Z);
    Scene {
        clip_from_world: (project * look_at_mat4(eye, target, Vec3::Z)).to_cols_array(),
        shadow_from_world: (directx::orthographic(-8.0, 8.0, -8.0, 8.0, 1.0, 40.0) * light).to_cols_array(),
        eye: eye.to_array(),
        pixels_per_unit: height as f32 / (2.0 * tangent),
    }
}

/// A box from `low` to `high`, two triangles a side.
fn add_box(mesh: &mut Vec<Vertex>, low: Vec3, high: Vec3, color: Vec3) {
    for (axis, side) in (0..3).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]) {
        let (u, v) = (Vec3::AXES[(axis + 1) % 3], Vec3::AXES[(axis + 2) % 3]);
        for (a, b) in [(-1.0, -1.0), (side, -side), (1.0, 1.0), (1.0, 1.0), (-side, side), (-1.0, -1.0)] {
            let corner = side * Vec3::AXES[axis] + a * u + b * v;
            let position = 0.5 * (low + high) + 0.5 * corner * (high - low);
            let normal = side * Vec3::AXES[axis];
            let vertex = [position.to_array(), normal.to_array(), color.to_array()].concat();
            mesh.push(std::array::from_fn(|i| vertex.get(i).copied().unwrap_or(0.0)));
        }
    }
}

pub(crate) fn meshes() -> Vec<Vertex> {
    let mut mesh = Vec::new();
    let plaster = Vec3::new(0.62, 0.60, 0.57);
    add_box(&mut mesh, Vec3::new(-40.0, -40.0, -0.1), Vec3::new(40.0, 40.0, 0.0), Vec3::new(0.44, 0.43, 0.42));
    add_box(&mut mesh, Vec3::new(-1.45, -1.45, 0.0), Vec3::new(1.45, 1.45, 0.22), plaster);
    add_box(&mut mesh, Vec3::new(-1.1, -1.1, 0.22), Vec3::new(1.1, 1.1, 1.75), plaster);
    add_box(&mut mesh, Vec3::new(-1.3, -1.3, 1.75), Vec3::new(1.3, 1.3, 2.0), plaster);
    mesh
}

fn texture(
    device: &wgpu::Device,
    [width, height]: [u32; 2],
    samples: u32,
    format: TextureFormat,
    usage: TextureUsages,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: samples,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: usage | TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    })
}

fn view(texture: &wgpu::Texture) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

fn depth_attachment(view: &wgpu::TextureView) -> Option<wgpu::RenderPassDepthStencilAttachment<'_>> {
    let depth_ops = Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Store });
    Some(wgpu::RenderPassDepthStencilAttachment { view, depth_ops, stencil_ops: None })
}

/// The shadow map, and bind group 1.
pub(crate) struct Shadow {
    view: wgpu::TextureView,
    pub(crate) layout: wgpu::BindGroupLayout,
    pub(crate) group: wgpu::BindGroup,
}

impl Shadow {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let view = view(&texture(device, SHADOW_SIZE, 1, DEPTH, TextureUsages::TEXTURE_BINDING));
        let visibility = wgpu::ShaderStages::FRAGMENT;
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None };
        let map = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Depth,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[entry(0, map), entry(1, wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison))],
        });
        let compare = device.create_sampler(&wgpu::SamplerDescriptor {
            compare: Some(wgpu::CompareFunction::LessEqual),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..wgpu::SamplerDescriptor::default()
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&view) },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Sampler(&compare) },
            ],
        });
        Self { view, layout, group }
    }

    pub(crate) fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        let depth_stencil_attachment = depth_attachment(&self.view);
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor { depth_stencil_attachment, ..Default::default() })
    }
}

/// What the picture is drawn to.
pub(crate) struct Target {
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
    pub(crate) picture: wgpu::Texture,
}

impl Target {
    pub(crate) fn new(device: &wgpu::Device, size: [u32; 2]) -> Self {
        Self {
            color: view(&texture(device, size, SAMPLES, COLOR, TextureUsages::empty())),
            depth: view(&texture(device, size, SAMPLES, DEPTH, TextureUsages::empty())),
            picture: texture(device, size, 1, COLOR, TextureUsages::COPY_SRC),
        }
    }

    pub(crate) fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        let background = wgpu::Color { r: 0.36, g: 0.385, b: 0.42, a: 1.0 };
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color,
                depth_slice: None,
                resolve_target: Some(&view(&self.picture)),
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(background), store: wgpu::StoreOp::Discard },
            })],
            depth_stencil_attachment: depth_attachment(&self.depth),
            ..Default::default()
        })
    }
}

/// The renderer's pipeline for vertices of this layout: into the picture, or only depth, into the shadow map.
pub(crate) fn pipeline(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    layouts: &[Option<&wgpu::BindGroupLayout>],
    stride: u64,
    attributes: &[VertexAttribute],
) -> wgpu::RenderPipeline {
    let is_shadow = layouts.len() == 1;
    let targets = [Some(COLOR.into())];
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: layouts,
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(if is_shadow { "shadow_main" } else { "vertex_main" }),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: stride,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes,
            })],
        },
        primitive: wgpu::PrimitiveState { cull_mode: Some(wgpu::Face::Back), ..wgpu::PrimitiveState::default() },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: wgpu::MultisampleState {
            count: if is_shadow { 1 } else { SAMPLES },
            ..wgpu::MultisampleState::default()
        },
        fragment: (!is_shadow).then(|| wgpu::FragmentState {
            module,
            entry_point: Some("fragment_main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &targets,
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// Reads the picture back and writes it as a PNG file.
pub(crate) fn save(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    picture: &wgpu::Texture,
    file: &Path,
) -> anyhow::Result<()> {
    let (width, height) = (picture.width(), picture.height());
    let pitch = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(pitch) * u64::from(height),
        usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch), rows_per_image: None };
    let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
    encoder.copy_texture_to_buffer(picture.as_image_copy(), to, picture.size());
    queue.submit([encoder.finish()]);
    let (sender, receiver) = std::sync::mpsc::channel();
    buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| drop(sender.send(result)));
    device.poll(wgpu::PollType::wait_indefinitely())?;
    receiver.try_recv().context("the device was lost")??;
    let bytes = buffer.get_mapped_range(..)?.to_vec();
    let pixels = image::ImageBuffer::from_fn(width, height, |x, y| {
        let at = (y * pitch + 4 * x) as usize;
        image::Rgb([bytes[at], bytes[at + 1], bytes[at + 2]])
    });
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    pixels.save(file).with_context(|| format!("cannot write {}", file.display()))
}
