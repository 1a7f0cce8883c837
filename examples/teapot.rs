//! Newell's teapot: 32 bicubic Bézier patches, with as many triangles along each edge as it takes on screen.
//!
//!     cargo run --release --example teapot              # writes out/teapot.png
//!     cargo run --release --features window --example teapot -- --window
//!
//! The shader is assets/shaders/teapot.wgsl: its patch constants look at the camera, so the factors follow it.

mod harness;

use anyhow::Context;
use harness::{Bind, Example, Frame, Gpu, SurfaceDraw, View};
use patchwave::{Domain, Draw, GrowingWorkspace, IndexBuffer, TessellationPipeline, TessellationPipelineDescriptor};
use serde::Deserialize;
use wgpu::BufferUsages;

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

#[derive(clap::Args)]
struct Options {
    /// The wanted length of a segment in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 10.0)]
    segment: f32,
}

struct Teapot {
    segment_pixels: f32,
    pipeline: TessellationPipeline,
    /// Made for the first frame's draw; grows as the camera comes nearer.
    workspace: Option<GrowingWorkspace>,
    points: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    settings: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    surface: wgpu::RenderPipeline,
}

impl Example for Teapot {
    const NAME: &'static str = "teapot";
    const VIEW: View =
        View { target: glam::Vec3::new(0.3, 0.0, 1.5), azimuth: -62.0, elevation: 24.0, distance: 15.0, radius: 2.5 };
    type Options = Options;

    fn new(gpu: &Gpu, options: &Options) -> anyhow::Result<Self> {
        let data: Data = serde_json::from_str(include_str!("../assets/teapot.json")).context("the teapot's data")?;
        let indices = data.patches.as_flattened();
        let settings = gpu.uniform::<Settings>("settings");
        let (layout, bind_group) = gpu.bind_group("settings", &[Bind::Uniform(&settings)]);
        let pipeline = TessellationPipeline::new(
            &gpu.device,
            &TessellationPipelineDescriptor {
                label: Some("teapot"),
                vertex_buffers: &[wgpu::VertexBufferLayout {
                    array_stride: 12,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3],
                }],
                bind_group_layouts: &[Some(&layout)],
                ..TessellationPipelineDescriptor::new(include_str!("../assets/shaders/teapot.wgsl"), Domain::Quad, 16)
            },
        )?;
        let fragment = concat!(
            include_str!("../assets/shaders/light.wgsl"),
            include_str!("../assets/shaders/teapot.fragment.wgsl")
        );
        let surface = gpu.surface_pipeline(
            &pipeline,
            &SurfaceDraw { fragment, layouts: &[Some(&layout)], front: wgpu::FrontFace::Ccw, cull: None },
        )?;
        Ok(Self {
            segment_pixels: options.segment,
            workspace: None,
            points: gpu.buffer("points", &data.points, BufferUsages::STORAGE),
            indices: gpu.buffer("indices", indices, BufferUsages::STORAGE),
            index_count: indices.len() as u32,
            settings,
            bind_group,
            surface,
            pipeline,
        })
    }

    fn encode(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, frame: &Frame<'_>) -> anyhow::Result<()> {
        let settings = Settings {
            clip_from_world: frame.camera.clip_from_world.to_cols_array(),
            eye: frame.camera.eye.to_array(),
            pixels_per_unit: frame.camera.pixels_per_unit,
            segment_pixels: self.segment_pixels,
            factor: 0.0,
            is_factor_fixed: 0,
            pad: 0,
        };
        gpu.queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&settings));
        let draw = Draw {
            vertex_buffers: &[self.points.slice(..)],
            index_buffer: Some(IndexBuffer { slice: self.indices.slice(..), format: wgpu::IndexFormat::Uint16 }),
            bind_groups: &[Some(&self.bind_group)],
            ..Draw::new(0..self.index_count)
        };
        let workspace = match &mut self.workspace {
            Some(workspace) => workspace,
            none => none.insert(gpu.workspace(&self.pipeline, &draw)?),
        };
        let tessellation = workspace.encode(&self.pipeline, &gpu.device, &gpu.queue, encoder, &draw)?;

        let mut pass = frame.begin(encoder);
        pass.set_pipeline(&self.surface);
        pass.set_bind_group(0, &self.bind_group, &[]);
        tessellation.draw(&mut pass);
        Ok(())
    }
}

fn main() -> std::process::ExitCode {
    harness::main::<Teapot>()
}
