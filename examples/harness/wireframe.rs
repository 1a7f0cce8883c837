//! The edges of the triangles of a tessellated surface, over the surface as it has been drawn.

use patchwave::shader::SurfaceSlot;
use patchwave::{Tessellation, TessellationPipeline};

use super::Gpu;
use super::picture::{COLOR, DEPTH, SAMPLES};

/// Draws the edges of triangles. Needs no feature of the device: the vertex shader reads patchwave's buffers itself.
pub struct Wireframe {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::RenderPipeline,
}

impl Wireframe {
    /// For surfaces that `pipeline` makes; `color` is red, green, blue (linear) and strength.
    pub fn new(gpu: &Gpu, pipeline: &TessellationPipeline, color: [f64; 4]) -> anyhow::Result<Self> {
        if pipeline.primitive_topology() != wgpu::PrimitiveTopology::TriangleList {
            anyhow::bail!("only triangles have a wireframe, not {:?}", pipeline.output_topology());
        }
        let surface = &pipeline.reflection().surface;
        let Some(position) = surface.members.iter().find(|member| member.slot == SurfaceSlot::Position) else {
            anyhow::bail!("{} has no @builtin(position), without which nothing can be drawn", surface.type_name);
        };
        let storage = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: true },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("wireframe"),
            entries: &[storage(0), storage(1)],
        });
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("wireframe"),
            source: wgpu::ShaderSource::Wgsl(include_str!("../../assets/shaders/wireframe.wgsl").into()),
        });
        let [red, green, blue, strength] = color;
        let vertex =
            [("vertex_words", f64::from(surface.stride / 4)), ("position_word", f64::from(position.offset / 4))];
        let fragment = [("red", red), ("green", green), ("blue", blue), ("strength", strength)];
        let pipeline = gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("wireframe"),
            layout: Some(&gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("wireframe"),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            })),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex_main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &vertex,
                    ..wgpu::PipelineCompilationOptions::default()
                },
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            // The surface itself is there already, at the very same depths.
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(false),
                depth_compare: Some(wgpu::CompareFunction::LessEqual),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..wgpu::MultisampleState::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment_main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &fragment,
                    ..wgpu::PipelineCompilationOptions::default()
                },
                targets: &[Some(wgpu::ColorTargetState {
                    format: COLOR,
                    blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                    write_mask: wgpu::ColorWrites::ALL,
                })],
            }),
            multiview_mask: None,
            cache: None,
        });
        gpu.check()?;
        Ok(Self { layout, pipeline })
    }

    /// Draws over `tessellation`, which has been drawn in the same pass. Leaves its own bind group 0 set.
    pub fn draw(&self, gpu: &Gpu, pass: &mut wgpu::RenderPass<'_>, tessellation: &Tessellation) {
        pass.set_pipeline(&self.pipeline);
        for chunk in tessellation.chunks() {
            let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("wireframe"),
                layout: &self.layout,
                entries: &[
                    wgpu::BindGroupEntry { binding: 0, resource: chunk.vertices.as_entire_binding() },
                    wgpu::BindGroupEntry { binding: 1, resource: chunk.indices.as_entire_binding() },
                ],
            });
            pass.set_bind_group(0, &group, &[]);
            // The first four words of the indexed draw's arguments are those of a draw without indices.
            pass.draw_indirect(&chunk.arguments, chunk.arguments_offset);
        }
    }
}
