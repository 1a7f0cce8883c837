//! The teapot: patches, shader and settings, ready to be tessellated.

use anyhow::Context;
use glam::Vec3;
use patchwave::hardware::TessellationParameters;
use patchwave::tessellator::{Domain, Partitioning};
use patchwave::{Draw, IndexBuffer, TessellationPipeline, TessellationPipelineDescriptor};
use serde::Deserialize;

use super::camera::{Camera, View};
use super::gpu::Gpu;

/// The user's side of the pipeline.
pub(crate) const SHADER: &str = include_str!("../../../../assets/shaders/teapot.wgsl");
const DATA: &str = include_str!("../../../../assets/teapot.json");

/// How the teapot's factors are found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Factors {
    /// By size on screen: the wanted length of a segment in pixels.
    Segment(f32),
    /// All the same.
    Fixed(f32),
}

/// A view of the whole teapot, spout to the right.
pub(crate) const VIEW: View =
    View { target: Vec3::new(0.4, 0.08, 1.36), azimuth: -66.0, elevation: 21.0, distance: 15.0, fits: [3.75, 2.6] };

/// The data file.
#[derive(Deserialize)]
struct Data {
    /// Indices of each patch's control points.
    patches: Vec<[u16; 16]>,
    points: Vec<[f32; 3]>,
}

/// The shader's `Settings`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    eye: [f32; 3],
    pixels_per_unit: f32,
    segment_pixels: f32,
    factor: f32,
    is_factor_fixed: u32,
    pad: u32,
}

/// The control points of all patches, 16 a patch.
#[cfg(feature = "native")]
pub(crate) fn control_points() -> anyhow::Result<Vec<[f32; 3]>> {
    let data: Data = serde_json::from_str(DATA).context("the teapot's data is damaged")?;
    let point = |index: &u16| data.points.get(usize::from(*index)).copied();
    data.patches.as_flattened().iter().map(point).collect::<Option<_>>().context("the teapot's data is damaged")
}

/// The teapot on a device.
pub(crate) struct Teapot {
    pub(crate) pipeline: TessellationPipeline,
    points: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    bind_group: wgpu::BindGroup,
}

impl Teapot {
    /// The teapot as it is tessellated for this camera. The pipeline is on-chip, and compiled for every mode.
    pub(crate) fn new(
        gpu: &Gpu,
        camera: &Camera,
        factors: Factors,
        partitioning: Partitioning,
        patches_per_threadgroup: Option<u32>,
    ) -> anyhow::Result<Self> {
        Self::with_shader(gpu, SHADER, camera, factors, partitioning, patches_per_threadgroup)
    }

    /// The same with a shader that takes what [`SHADER`] takes.
    pub(crate) fn with_shader(
        gpu: &Gpu,
        shader: &str,
        camera: &Camera,
        factors: Factors,
        partitioning: Partitioning,
        patches_per_threadgroup: Option<u32>,
    ) -> anyhow::Result<Self> {
        let data: Data = serde_json::from_str(DATA).context("the teapot's data is damaged")?;
        let indices = data.patches.as_flattened();

        let (segment_pixels, factor, is_factor_fixed) = match factors {
            Factors::Segment(pixels) => (pixels, 0.0, 0),
            Factors::Fixed(factor) => (1.0, factor, 1),
        };
        let settings = Settings {
            clip_from_world: camera.clip_from_world.to_cols_array(),
            eye: camera.eye.to_array(),
            pixels_per_unit: camera.pixels_per_unit,
            segment_pixels,
            factor,
            is_factor_fixed,
            pad: 0,
        };
        let settings = gpu.buffer("teapot settings", bytemuck::bytes_of(&settings), wgpu::BufferUsages::UNIFORM);
        let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("teapot"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let bind_group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("teapot"),
            layout: &layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: settings.as_entire_binding() }],
        });

        let pipeline = TessellationPipeline::new(
            &gpu.device,
            &TessellationPipelineDescriptor {
                label: Some("teapot"),
                partitioning,
                vertex_buffers: &[wgpu::VertexBufferLayout {
                    array_stride: 12,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3],
                }],
                bind_group_layouts: &[Some(&layout)],
                // Compiled for every mode.
                hull_off_chip: true,
                domain_off_chip: true,
                parameters: TessellationParameters { patches_per_threadgroup, ..TessellationParameters::default() },
                ..TessellationPipelineDescriptor::new(shader, Domain::Quad, 16)
            },
        )?;
        // patchwave reads vertices and indices in compute passes, hence STORAGE.
        let storage = wgpu::BufferUsages::STORAGE;
        let teapot = Self {
            pipeline,
            points: gpu.buffer("teapot points", bytemuck::cast_slice(&data.points), storage),
            indices: gpu.buffer("teapot indices", bytemuck::cast_slice(indices), storage),
            index_count: indices.len() as u32,
            bind_group,
        };
        gpu.check()?;
        Ok(teapot)
    }

    /// Calls `with` with the draw of all patches.
    pub(crate) fn with_draw<T>(&self, with: impl FnOnce(&Draw<'_>) -> T) -> T {
        with(&Draw {
            vertex_buffers: &[self.points.slice(..)],
            index_buffer: Some(IndexBuffer { slice: self.indices.slice(..), format: wgpu::IndexFormat::Uint16 }),
            bind_groups: &[Some(&self.bind_group)],
            ..Draw::new(0..self.index_count)
        })
    }
}
