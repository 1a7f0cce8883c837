//! The teapot: patches, shader and settings, ready to be tessellated.

use anyhow::Context;
use glam::Vec3;
use patchwave::tessellator::{Domain, Partitioning};
use patchwave::{Draw, Error, IndexBuffer, TessellationPipeline, TessellationPipelineDescriptor};
use serde::Deserialize;

use super::Choice;
use super::camera::{Camera, View};
use super::gpu::Gpu;

/// The user's side of the pipeline.
pub(crate) const SHADER: &str = include_str!("../../../../assets/shaders/teapot.wgsl");
const DATA: &str = include_str!("../../../../assets/teapot.json");

/// How the teapot's factors are found.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    pot: Pot,
}

/// What the teapot is drawn from, by whatever pipeline.
pub(crate) struct Pot {
    points: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    #[cfg_attr(not(feature = "view"), expect(dead_code, reason = "the viewer alone changes them"))]
    settings: wgpu::Buffer,
    layout: wgpu::BindGroupLayout,
    bind_group: wgpu::BindGroup,
}

impl Settings {
    fn new(camera: &Camera, factors: Factors) -> Self {
        let (segment_pixels, factor, is_factor_fixed) = match factors {
            Factors::Segment(pixels) => (pixels, 0.0, 0),
            Factors::Fixed(factor) => (1.0, factor, 1),
        };
        Self {
            clip_from_world: camera.clip_from_world.to_cols_array(),
            eye: camera.eye.to_array(),
            pixels_per_unit: camera.pixels_per_unit,
            segment_pixels,
            factor,
            is_factor_fixed,
            pad: 0,
        }
    }
}

impl Pot {
    /// The teapot as it is tessellated for this camera.
    pub(crate) fn new(gpu: &Gpu, camera: &Camera, factors: Factors) -> anyhow::Result<Self> {
        let data: Data = serde_json::from_str(DATA).context("the teapot's data is damaged")?;
        let indices = data.patches.as_flattened();
        let settings = Settings::new(camera, factors);
        let settings = gpu.buffer("teapot settings", bytemuck::bytes_of(&settings), wgpu::BufferUsages::UNIFORM);
        let (layout, bind_group) = gpu.uniform_group("teapot", &settings);
        // patchwave reads vertices and indices in compute passes, hence STORAGE.
        let storage = wgpu::BufferUsages::STORAGE;
        Ok(Self {
            points: gpu.buffer("teapot points", bytemuck::cast_slice(&data.points), storage),
            indices: gpu.buffer("teapot indices", bytemuck::cast_slice(indices), storage),
            index_count: indices.len() as u32,
            settings,
            layout,
            bind_group,
        })
    }

    /// Tessellates for another camera or by other factors in the frames from now on.
    #[cfg(feature = "view")]
    pub(crate) fn set(&self, queue: &wgpu::Queue, camera: &Camera, factors: Factors) {
        queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&Settings::new(camera, factors)));
    }

    /// The layout that [`compile`] takes.
    pub(crate) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
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

/// The teapot's pipeline: on-chip, and compiled for every mode. The shader takes what [`SHADER`] takes.
pub(crate) fn compile(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    choice: &Choice,
    shader: &str,
) -> Result<TessellationPipeline, Error> {
    let descriptor = TessellationPipelineDescriptor {
        label: Some("teapot"),
        partitioning: choice.partitioning,
        vertex_buffers: &[wgpu::VertexBufferLayout {
            array_stride: 12,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Float32x3],
        }],
        bind_group_layouts: &[Some(layout)],
        hull_off_chip: true,
        domain_off_chip: true,
        policy: choice.policy,
        parameters: choice.parameters(),
        ..TessellationPipelineDescriptor::new(shader, Domain::Quad, 16)
    };
    TessellationPipeline::new(device, &descriptor)
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
        let pot = Pot::new(gpu, camera, factors)?;
        let choice = Choice { patches_per_threadgroup, ..Choice::new(partitioning) };
        let pipeline = compile(&gpu.device, pot.layout(), &choice, shader)?;
        gpu.check()?;
        Ok(Self { pipeline, pot })
    }

    /// Calls `with` with the draw of all patches.
    pub(crate) fn with_draw<T>(&self, with: impl FnOnce(&Draw<'_>) -> T) -> T {
        self.pot.with_draw(with)
    }
}
