//! The picture of a scene.

use glam::{Mat4, Vec3};
use patchwave::shader::{ScalarKind, Surface, SurfaceSlot};

use super::file::{Shading, Target};
use super::place::{Complaint, Place, suggestion};
use super::scene::Scene;
use super::session::Ran;
use crate::scene::Size;
use crate::scene::gpu::Gpu;
use crate::scene::picture::{COLOR, DEPTH, Picture, SAMPLES};

const SHADER: &str = include_str!("paint.wgsl");

/// The shader's `Paint`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    clip_from_world: [f32; 16],
    eye: [f32; 3],
    has_camera: u32,
    key: [f32; 3],
    shading: u32,
    color: [f32; 3],
    wireframe: u32,
    background: [f32; 3],
    corners: u32,
}

/// Draws what a scene came to.
pub(crate) fn paint(gpu: &Gpu, scene: &Scene, target: &Target, ran: &Ran) -> anyhow::Result<Picture> {
    let device = &gpu.device;
    let uniforms = uniforms(scene, target, ran)?;
    let uniforms = gpu.buffer("paint", bytemuck::bytes_of(&uniforms), wgpu::BufferUsages::UNIFORM);
    let [width, height] = target.size;
    let picture = Picture::new(gpu, Size { width, height })?;

    let storage = wgpu::BufferBindingType::Storage { read_only: true };
    let entry = |binding, visibility, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let layout = |entries: &[wgpu::BindGroupLayoutEntry]| {
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("paint"), entries })
    };
    let paint_layout = layout(&[entry(0, wgpu::ShaderStages::VERTEX_FRAGMENT, wgpu::BufferBindingType::Uniform)]);
    let mesh_layout =
        layout(&[entry(0, wgpu::ShaderStages::VERTEX, storage), entry(1, wgpu::ShaderStages::VERTEX, storage)]);
    let paint_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("paint"),
        layout: &paint_layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniforms.as_entire_binding() }],
    });

    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("paint"),
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let constants = constants(target, &ran.pipeline.reflection().surface, scene.camera.is_some())?;
    let pipeline = |entry_points: [&str; 2], topology, writes| {
        let groups = [Some(&paint_layout), Some(&mesh_layout)];
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("paint"),
            bind_group_layouts: if writes { &groups } else { &groups[..1] },
            immediate_size: 0,
        });
        let options = || wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("paint"),
            layout: Some(&pipeline_layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some(entry_points[0]),
                compilation_options: options(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState { topology, ..wgpu::PrimitiveState::default() },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(writes),
                depth_compare: Some(wgpu::CompareFunction::LessEqual),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..wgpu::MultisampleState::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(entry_points[1]),
                compilation_options: options(),
                targets: &[Some(COLOR.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
    };
    let surface = pipeline(["paint_vertex", "paint_fragment"], ran.pipeline.primitive_topology(), true);
    let triangles = wgpu::PrimitiveTopology::TriangleList;
    let backdrop = pipeline(["backdrop_vertex", "backdrop_fragment"], triangles, false);

    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("paint") });
    let mut pass = picture.begin(&mut encoder);
    pass.set_bind_group(0, &paint_group, &[]);
    pass.set_pipeline(&surface);
    for chunk in ran.draws.iter().flat_map(|draw| draw.tessellation.chunks()) {
        let mesh_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("paint"),
            layout: &mesh_layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: chunk.vertices.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: chunk.indices.as_entire_binding() },
            ],
        });
        pass.set_bind_group(1, &mesh_group, &[]);
        // The arguments of an indexed draw serve: count, instances and first mean the same, and the fourth is 0.
        pass.draw_indirect(&chunk.arguments, chunk.arguments_offset);
    }
    pass.set_pipeline(&backdrop);
    pass.draw(0..3, 0..1);
    drop(pass);
    picture.copy(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    gpu.wait()?;
    Ok(picture)
}

fn uniforms(scene: &Scene, target: &Target, ran: &Ran) -> Result<Uniforms, Complaint> {
    let [color, background] = colors(target)?;
    // From the left, above and a little in front.
    let key = match &scene.camera {
        Some(camera) => camera.up * 0.9 - camera.ahead * 0.7 - camera.ahead.cross(camera.up) * 0.6,
        None => Vec3::new(-0.6, 0.9, -0.7),
    };
    Ok(Uniforms {
        clip_from_world: scene.camera.map_or(Mat4::IDENTITY, |camera| camera.clip_from_world).to_cols_array(),
        eye: scene.camera.map_or(Vec3::ZERO, |camera| camera.eye).to_array(),
        has_camera: scene.camera.is_some().into(),
        key: key.normalize_or_zero().to_array(),
        shading: match target.shading {
            Shading::Lit => 0,
            Shading::Flat => 1,
            Shading::Normals => 2,
        },
        color,
        wireframe: target.wireframe.into(),
        background,
        corners: ran.pipeline.output_topology().vertices_per_primitive(),
    })
}

/// The colours of the surface and of the background.
pub(super) fn colors(target: &Target) -> Result<[[f32; 3]; 2], Complaint> {
    let color = |key: &str, given: &Option<String>, default: &str| {
        let given = given.as_deref().unwrap_or(default);
        linear(given).ok_or_else(|| {
            Place::new("target")
                .key(key)
                .complain(format!("'{given}' is no colour; write '#' and 6 hexadecimal digits"))
        })
    };
    Ok([color("color", &target.color, "#c8c4bc")?, color("background", &target.background, "#202428")?])
}

/// `#rrggbb` in sRGB, as linear light.
fn linear(text: &str) -> Option<[f32; 3]> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let channel = |i: usize| {
        let value = f32::from(u8::from_str_radix(digits.get(2 * i..2 * i + 2)?, 16).ok()?) / 255.0;
        Some(if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) })
    };
    Some([channel(0)?, channel(1)?, channel(2)?])
}

/// Where the members lie that the picture takes.
pub(super) fn constants(
    target: &Target,
    surface: &Surface,
    has_camera: bool,
) -> Result<Vec<(&'static str, f64)>, Complaint> {
    let place = |key: &str| Place::new("target").key(key);
    let member = |key: &str, name: &str| {
        let found = surface.members.iter().find(|member| member.name == name && member.kind == ScalarKind::Float);
        found.map(|member| [f64::from(member.offset / 4), f64::from(member.components)]).ok_or_else(|| {
            let floats = surface.members.iter().filter(|member| member.kind == ScalarKind::Float);
            let hint = suggestion(name, floats.map(|member| member.name.as_str()));
            place(key).complain(format!("the output struct has no float member '{name}'{hint}"))
        })
    };
    let optional = |key, name: &Option<String>| name.as_deref().map_or(Ok([0.0; 2]), |name| member(key, name));
    let builtin = surface.members.iter().find(|member| member.slot == SurfaceSlot::Position);
    let position = match (&target.position, builtin) {
        (Some(name), _) => member("position", name)?,
        // With a camera of ours a position in clip space would be projected twice.
        (None, Some(builtin)) if !has_camera => member("position", &builtin.name)?,
        (None, _) => {
            let message = "which member of the output struct is the position in the world? name it";
            return Err(place("position").complain(message));
        }
    };
    let normal = optional("normal", &target.normal)?;
    let color = optional("color_from", &target.color_from)?;
    Ok(vec![
        ("stride", f64::from(surface.stride / 4)),
        ("position_at", position[0]),
        ("position_components", position[1]),
        ("normal_at", normal[0]),
        ("normal_components", normal[1]),
        ("color_at", color[0]),
        ("color_components", color[1]),
    ])
}
