//! The studio: draws one tessellated mesh, with its shadow, onto a backdrop.
//!
//! The mesh's output struct is `position` for clip space, `world_position` and `normal`.

use anyhow::Context;
use glam::{Mat4, Vec3};
use patchwave::shader::Surface;
use patchwave::{Tessellation, TessellationPipeline};

use super::Size;
use super::camera::Camera;
use super::gpu::Gpu;
use super::picture::{COLOR, DEPTH, Picture, SAMPLES};

const STUDIO: &str = include_str!("studio.wgsl");
const WIREFRAME: &str = include_str!("wireframe.wgsl");

/// Texels of a side of the shadow map.
const SHADOW_TEXELS: u32 = 2048;
/// A sphere that holds the object.
const CENTER: Vec3 = Vec3::new(0.25, 0.0, 1.5);
const RADIUS: f32 = 3.8;

/// The shader's `Studio`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    clip_from_world: [f32; 16],
    world_from_clip: [f32; 16],
    shadow_from_world: [f32; 16],
    eye: [f32; 3],
    shadow_depth: f32,
    key: [f32; 3],
    shadow_width: f32,
    size: [f32; 2],
    pad: [f32; 2],
}

impl Uniforms {
    fn new(camera: &Camera, size: Size) -> Self {
        // From the camera's left, above it and a little in front of the object.
        let ahead = Vec3::new(-camera.eye.x, -camera.eye.y, 0.0).normalize_or(Vec3::Y);
        let right = ahead.cross(Vec3::Z);
        let key = (right * -0.75 - ahead * 0.42 + Vec3::Z * 1.05).normalize();
        let look = glam::camera::rh::view::look_at_mat4(CENTER + key * (2.0 * RADIUS), CENTER, Vec3::Z);
        let project = glam::camera::rh::proj::directx::orthographic(
            -RADIUS,
            RADIUS,
            -RADIUS,
            RADIUS,
            RADIUS,
            // The ground under the object's shadow lies behind the sphere.
            5.0 * RADIUS,
        );
        Self {
            clip_from_world: camera.clip_from_world.to_cols_array(),
            world_from_clip: camera.clip_from_world.inverse_or_zero().to_cols_array(),
            shadow_from_world: Mat4::to_cols_array(&(project * look)),
            eye: camera.eye.to_array(),
            shadow_depth: 4.0 * RADIUS,
            key: key.to_array(),
            shadow_width: 2.0 * RADIUS,
            size: [size.width as f32, size.height as f32],
            pad: [0.0; 2],
        }
    }
}

/// How the surface is drawn: back faces, then front faces.
enum SurfaceDraw {
    /// Through the index buffer, as patchwave gives it.
    Shaded([wgpu::RenderPipeline; 2]),
    /// With the edges of triangles.
    Wireframe([wgpu::RenderPipeline; 2], wgpu::BindGroupLayout),
}

/// Everything that is needed to draw meshes of one tessellation pipeline.
pub(crate) struct Studio {
    shadow_pipeline: wgpu::RenderPipeline,
    backdrop: wgpu::RenderPipeline,
    surface: SurfaceDraw,
    shadow_view: wgpu::TextureView,
    shadow_bind_group: wgpu::BindGroup,
    bind_group: wgpu::BindGroup,
}

impl Studio {
    pub(crate) fn new(
        gpu: &Gpu,
        pipeline: &TessellationPipeline,
        camera: &Camera,
        size: Size,
        wireframe: bool,
    ) -> anyhow::Result<Self> {
        let device = &gpu.device;
        let uniforms = Uniforms::new(camera, size);
        let uniforms = gpu.buffer("studio", bytemuck::bytes_of(&uniforms), wgpu::BufferUsages::UNIFORM);
        let shadow_view = shadow_map(device).create_view(&wgpu::TextureViewDescriptor::default());
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("shadow"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(wgpu::CompareFunction::LessEqual),
            ..wgpu::SamplerDescriptor::default()
        });

        let entries = studio_entries();
        let layout = |entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("studio"), entries })
        };
        let (shadow_layout, studio_layout) = (layout(&entries[..1]), layout(&entries));
        let uniform_entry = wgpu::BindGroupEntry { binding: 0, resource: uniforms.as_entire_binding() };
        let shadow_bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("shadow"),
            layout: &shadow_layout,
            entries: std::slice::from_ref(&uniform_entry),
        });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("studio"),
            layout: &studio_layout,
            entries: &[
                uniform_entry.clone(),
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(&shadow_view) },
                wgpu::BindGroupEntry { binding: 2, resource: wgpu::BindingResource::Sampler(&sampler) },
            ],
        });

        let text = format!("{}\n{STUDIO}\n{}", pipeline.pass_through_shader()?, if wireframe { WIREFRAME } else { "" });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("studio"),
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let surface = &pipeline.reflection().surface;
        let stride = pipeline.vertex_stride();
        let world_position = wgpu::VertexAttribute {
            format: wgpu::VertexFormat::Float32x3,
            offset: u64::from(words(surface, "world_position")?) * 4,
            shader_location: 0,
        };
        let attributes = pipeline.vertex_attributes();
        let draws = Draws { gpu, module: &module, topology: pipeline.primitive_topology() };
        let surface = if wireframe {
            let wire_layout = layout(&[storage_entry(0), storage_entry(1)]);
            let mut constants = vec![("wire_stride", stride as f64 / 4.0)];
            for (constant, member) in
                [("wire_position", "position"), ("wire_world_position", "world_position"), ("wire_normal", "normal")]
            {
                constants.push((constant, f64::from(words(surface, member)?)));
            }
            let both = FACES.map(|faces| {
                draws.color(&ColorDraw {
                    entry_points: ["wire_vertex", "wire_fragment"],
                    groups: &[Some(&studio_layout), Some(&wire_layout)],
                    buffers: &[],
                    constants: &constants,
                    faces: Some(faces),
                })
            });
            SurfaceDraw::Wireframe(both, wire_layout)
        } else {
            SurfaceDraw::Shaded(FACES.map(|faces| {
                draws.color(&ColorDraw {
                    entry_points: ["vertex_main", "surface_fragment"],
                    groups: &[Some(&studio_layout)],
                    buffers: &[Some(vertex_layout(stride, &attributes))],
                    constants: &[],
                    faces: Some(faces),
                })
            }))
        };
        let studio = Self {
            shadow_pipeline: draws.shadow(&shadow_layout, vertex_layout(stride, &[world_position])),
            backdrop: draws.color(&ColorDraw {
                entry_points: ["backdrop_vertex", "backdrop_fragment"],
                groups: &[Some(&studio_layout)],
                buffers: &[],
                constants: &[],
                faces: None,
            }),
            surface,
            shadow_view,
            shadow_bind_group,
            bind_group,
        };
        gpu.check()?;
        Ok(studio)
    }

    /// Draws the mesh into the shadow map, then into the picture.
    pub(crate) fn draw(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        tessellation: &Tessellation,
        picture: &Picture,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadow"),
            color_attachments: &[],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.shadow_view,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Store }),
                stencil_ops: None,
            }),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        pass.set_pipeline(&self.shadow_pipeline);
        pass.set_bind_group(0, &self.shadow_bind_group, &[]);
        tessellation.draw(&mut pass);
        drop(pass);

        let mut pass = picture.begin(encoder);
        pass.set_bind_group(0, &self.bind_group, &[]);
        match &self.surface {
            SurfaceDraw::Shaded(pipelines) => {
                for pipeline in pipelines {
                    pass.set_pipeline(pipeline);
                    tessellation.draw(&mut pass);
                }
            }
            SurfaceDraw::Wireframe(pipelines, layout) => {
                for pipeline in pipelines {
                    pass.set_pipeline(pipeline);
                    draw_unindexed(gpu, &mut pass, tessellation, layout);
                }
            }
        }
        // Last, so that what the mesh covers is not shaded twice.
        pass.set_pipeline(&self.backdrop);
        pass.draw(0..3, 0..1);
    }
}

/// Draws every index as a vertex of its own. The arguments of an indexed draw serve: the first three words mean the same,
/// and the fourth, the base vertex, is 0 as the first instance has to be.
fn draw_unindexed(
    gpu: &Gpu,
    pass: &mut wgpu::RenderPass<'_>,
    tessellation: &Tessellation,
    layout: &wgpu::BindGroupLayout,
) {
    for chunk in tessellation.chunks() {
        let bind_group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("wireframe"),
            layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: chunk.vertices.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: chunk.indices.as_entire_binding() },
            ],
        });
        pass.set_bind_group(1, &bind_group, &[]);
        pass.draw_indirect(&chunk.arguments, chunk.arguments_offset);
    }
}

/// Where a member lies in a vertex, in words.
fn words(surface: &Surface, name: &str) -> anyhow::Result<u32> {
    let member = surface.members.iter().find(|member| member.name == name);
    let member = member.with_context(|| format!("the shader's {} has no member `{name}`", surface.type_name))?;
    Ok(member.offset / 4)
}

fn vertex_layout(stride: u64, attributes: &[wgpu::VertexAttribute]) -> wgpu::VertexBufferLayout<'_> {
    wgpu::VertexBufferLayout { array_stride: stride, step_mode: wgpu::VertexStepMode::Vertex, attributes }
}

fn shadow_map(device: &wgpu::Device) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("shadow"),
        size: wgpu::Extent3d { width: SHADOW_TEXELS, height: SHADOW_TEXELS, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: DEPTH,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    })
}

/// Uniforms, shadow map and its sampler.
fn studio_entries() -> [wgpu::BindGroupLayoutEntry; 3] {
    let entry = |binding, visibility, ty| wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None };
    let uniform = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let depth = wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Depth,
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: false,
    };
    let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison);
    [
        entry(0, wgpu::ShaderStages::VERTEX_FRAGMENT, uniform),
        entry(1, wgpu::ShaderStages::FRAGMENT, depth),
        entry(2, wgpu::ShaderStages::FRAGMENT, sampler),
    ]
}

fn storage_entry(binding: u32) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::VERTEX,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}

/// A side of the surface. Both are drawn, since the inside shows at the spout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Faces {
    Back,
    Front,
}

const FACES: [Faces; 2] = [Faces::Back, Faces::Front];

/// What the render pipelines that draw into the picture differ in.
struct ColorDraw<'a> {
    /// Of the vertex and the fragment shader.
    entry_points: [&'a str; 2],
    groups: &'a [Option<&'a wgpu::BindGroupLayout>],
    buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    constants: &'a [(&'a str, f64)],
    /// None for the backdrop, which is as far as can be.
    faces: Option<Faces>,
}

/// What the render pipelines of the studio have in common.
struct Draws<'a> {
    gpu: &'a Gpu,
    module: &'a wgpu::ShaderModule,
    topology: wgpu::PrimitiveTopology,
}

impl Draws<'_> {
    fn layout(&self, groups: &[Option<&wgpu::BindGroupLayout>]) -> wgpu::PipelineLayout {
        self.gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("studio"),
            bind_group_layouts: groups,
            immediate_size: 0,
        })
    }

    fn color(&self, draw: &ColorDraw<'_>) -> wgpu::RenderPipeline {
        let [vertex, fragment] = draw.entry_points;
        let constants = draw.constants;
        // At low factors a handle is two sheets in one place, and the side that faces the camera has to win.
        let bias = if draw.faces == Some(Faces::Back) {
            wgpu::DepthBiasState { constant: 16, slope_scale: 1.0, clamp: 0.0 }
        } else {
            wgpu::DepthBiasState::default()
        };
        let cull_mode = draw.faces.map(|faces| match faces {
            Faces::Back => wgpu::Face::Front,
            Faces::Front => wgpu::Face::Back,
        });
        self.gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(fragment),
            layout: Some(&self.layout(draw.groups)),
            vertex: wgpu::VertexState {
                module: self.module,
                entry_point: Some(vertex),
                compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
                buffers: draw.buffers,
            },
            primitive: wgpu::PrimitiveState { topology: self.topology, cull_mode, ..wgpu::PrimitiveState::default() },
            depth_stencil: Some(wgpu::DepthStencilState { bias, ..depth_state(draw.faces.is_some()) }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..wgpu::MultisampleState::default() },
            fragment: Some(wgpu::FragmentState {
                module: self.module,
                entry_point: Some(fragment),
                compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
                targets: &[Some(COLOR.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
    }

    fn shadow(&self, group: &wgpu::BindGroupLayout, buffer: wgpu::VertexBufferLayout<'_>) -> wgpu::RenderPipeline {
        self.gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("shadow"),
            layout: Some(&self.layout(&[Some(group)])),
            vertex: wgpu::VertexState {
                module: self.module,
                entry_point: Some("shadow_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[Some(buffer)],
            },
            primitive: wgpu::PrimitiveState { topology: self.topology, ..wgpu::PrimitiveState::default() },
            depth_stencil: Some(depth_state(true)),
            multisample: wgpu::MultisampleState::default(),
            fragment: None,
            multiview_mask: None,
            cache: None,
        })
    }
}

fn depth_state(writes: bool) -> wgpu::DepthStencilState {
    wgpu::DepthStencilState {
        format: DEPTH,
        depth_write_enabled: Some(writes),
        depth_compare: Some(wgpu::CompareFunction::LessEqual),
        stencil: wgpu::StencilState::default(),
        bias: wgpu::DepthBiasState::default(),
    }
}
