//! Draws patchwave's vertices as the native pipelines draw theirs: one sample a pixel, both faces, the same shading.

use glam::Mat4;
use patchwave::shader::SurfaceSlot;
use patchwave::{Tessellation, TessellationPipeline};

use crate::scene::Size;
use crate::scene::gpu::Gpu;

const SHADER: &str = include_str!("../../../../assets/shaders/native/shade.wgsl");
const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// A target and the render pipeline that draws into it.
pub(super) struct Painter {
    pipeline: wgpu::RenderPipeline,
    camera: Option<wgpu::BindGroup>,
    size: Size,
    color: wgpu::Texture,
    color_view: wgpu::TextureView,
    depth_view: wgpu::TextureView,
    readable: wgpu::Buffer,
    pitch: u32,
}

impl Painter {
    /// For vertices with `position` and `normal`: in clip space, or, where a camera is given, in the world.
    pub(super) fn new(
        gpu: &Gpu,
        size: Size,
        tessellation: &TessellationPipeline,
        camera: Option<&Mat4>,
    ) -> anyhow::Result<Self> {
        let device = &gpu.device;
        let members = &tessellation.reflection().surface.members;
        let offset = |name: &str| {
            let member = members.iter().find(|member| member.name == name);
            member.map_or(0, |member| u64::from(member.offset))
        };
        let is_placed = members.iter().any(|member| member.slot == SurfaceSlot::Position);
        let position = if is_placed { wgpu::VertexFormat::Float32x4 } else { wgpu::VertexFormat::Float32x3 };
        let attributes = [
            wgpu::VertexAttribute { format: position, offset: offset("position"), shader_location: 0 },
            wgpu::VertexAttribute {
                format: wgpu::VertexFormat::Float32x3,
                offset: offset("normal"),
                shader_location: 1,
            },
        ];
        let camera = camera.map(|camera| gpu.matrix("camera", wgpu::ShaderStages::VERTEX, camera));
        let layouts: Vec<_> = camera.iter().map(|(layout, _)| Some(layout)).collect();
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("painter"),
            bind_group_layouts: &layouts,
            immediate_size: 0,
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("painter"),
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("painter"),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some(if is_placed { "placed" } else { "seen" }),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[Some(wgpu::VertexBufferLayout {
                    array_stride: tessellation.vertex_stride(),
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &attributes,
                })],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::LessEqual),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("shade"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(COLOR.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let texture = |format, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some("painter"),
                size: size.extent(),
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
                view_formats: &[],
            })
        };
        let color = texture(COLOR, wgpu::TextureUsages::COPY_SRC);
        let view = |texture: &wgpu::Texture| texture.create_view(&wgpu::TextureViewDescriptor::default());
        let pitch = (size.width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let painter = Self {
            pipeline,
            camera: camera.map(|(_, group)| group),
            size,
            color_view: view(&color),
            color,
            depth_view: view(&texture(DEPTH, wgpu::TextureUsages::empty())),
            readable: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("painter"),
                size: u64::from(pitch) * u64::from(size.height),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            }),
            pitch,
        };
        gpu.check()?;
        Ok(painter)
    }

    /// Draws from nothing.
    pub(super) fn draw(&self, encoder: &mut wgpu::CommandEncoder, tessellation: &Tessellation) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("painter"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color_view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth_view,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        pass.set_pipeline(&self.pipeline);
        if let Some(camera) = &self.camera {
            pass.set_bind_group(0, camera, &[]);
        }
        tessellation.draw(&mut pass);
    }

    /// Encodes the copy that [`Painter::read`] reads.
    pub(super) fn copy(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_texture_to_buffer(
            self.color.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.readable,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(self.pitch),
                    rows_per_image: Some(self.size.height),
                },
            },
            self.size.extent(),
        );
    }

    /// The picture, once the encoder is submitted: red, green, blue and alpha of each pixel.
    pub(super) fn read(&self, gpu: &Gpu) -> anyhow::Result<Vec<u8>> {
        let bytes = gpu.read(&self.readable)?;
        let row = self.size.width as usize * 4;
        Ok(bytes.chunks(self.pitch as usize).filter_map(|padded| padded.get(..row)).flatten().copied().collect())
    }
}
