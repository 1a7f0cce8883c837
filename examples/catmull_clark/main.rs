//! A Catmull–Clark surface with creases: its patches from OpenSubdiv's rules (the crate `opensubdiv-rs`), and its cage.
//!
//!     cargo run --release --example catmull_clark              # writes out/catmull_clark.png
//!     cargo run --release --features window --example catmull_clark -- --window
//!
//! The shader is assets/shaders/catmull_clark.wgsl. cage.rs has the cage, patches.rs makes patches of it.

mod cage;
#[path = "../harness/mod.rs"]
mod harness;
mod patches;

use cage::Cage;
use harness::{Bind, Example, Floor, Frame, Gpu, Line, Lines, Shade, SurfaceDraw, View};
use patches::Patches;
use patchwave::{
    Domain, Draw, GrowingWorkspace, IndexBuffer, StageNames, TessellationPipeline, TessellationPipelineDescriptor,
};
use wgpu::BufferUsages;

/// The shader's `Settings`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    eye: [f32; 3],
    pixels_per_unit: f32,
    segment_pixels: f32,
    pad: [f32; 3],
}

#[derive(clap::Args)]
struct Options {
    /// How often the cage is subdivided before patches are made of its faces; 2 for creases as sharp as here
    #[arg(long, value_name = "TIMES", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=4))]
    level: u8,
    /// The wanted length of a segment in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 5.0)]
    segment: f32,
}

struct CatmullClark {
    segment_pixels: f32,
    patches: Patches,
    pipeline: TessellationPipeline,
    workspace: Option<GrowingWorkspace>,
    points: wgpu::Buffer,
    indices: wgpu::Buffer,
    settings: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    surface: wgpu::RenderPipeline,
    cage: Lines,
    floor: Floor,
}

impl Example for CatmullClark {
    const NAME: &'static str = "catmull_clark";
    const VIEW: View =
        View { target: glam::Vec3::new(0.0, 0.0, 1.45), azimuth: -58.0, elevation: 22.0, distance: 9.0, radius: 2.2 };
    const BACKGROUND: [f64; 3] = [0.16, 0.175, 0.21];
    type Options = Options;

    fn new(gpu: &Gpu, options: &Options) -> anyhow::Result<Self> {
        let cage = Cage::jack();
        let patches = Patches::new(&cage, usize::from(options.level))?;
        let settings = gpu.uniform::<Settings>("settings");
        let (layout, bind_group) = gpu.bind_group("settings", &[Bind::Uniform(&settings)]);
        let shader = include_str!("../../assets/shaders/catmull_clark.wgsl");
        let pipeline = TessellationPipeline::new(
            &gpu.device,
            &TessellationPipelineDescriptor {
                label: Some("Catmull-Clark"),
                // Control points are passed through.
                names: StageNames { hull: None, ..StageNames::default() },
                vertex_buffers: &[wgpu::VertexBufferLayout {
                    array_stride: 12,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3],
                }],
                bind_group_layouts: &[Some(&layout)],
                ..TessellationPipelineDescriptor::new(shader, Domain::Quad, 16)
            },
        )?;
        let fragment = concat!(
            include_str!("../../assets/shaders/light.wgsl"),
            include_str!("../../assets/shaders/catmull_clark.fragment.wgsl")
        );
        let surface = gpu.surface_pipeline(
            &pipeline,
            &SurfaceDraw {
                fragment,
                layouts: &[Some(&layout)],
                front: wgpu::FrontFace::Ccw,
                cull: Some(wgpu::Face::Back),
            },
        )?;
        // Grey where it is smooth, through yellow to red where it is sharp.
        let line = |([a, b], sharpness): ([u32; 2], f32)| Line {
            from: cage.points[a as usize],
            to: cage.points[b as usize],
            color: match sharpness {
                0.0 => [0.42, 0.45, 0.50],
                ..=4.0 => [0.95, 0.60, 0.08],
                _ => [0.95, 0.13, 0.06],
            },
            width: if sharpness > 0.0 { 3.0 } else { 1.6 },
        };
        Ok(Self {
            segment_pixels: options.segment,
            workspace: None,
            points: gpu.buffer("points", &patches.points, BufferUsages::STORAGE),
            indices: gpu.buffer("indices", &patches.indices, BufferUsages::STORAGE),
            patches,
            settings,
            bind_group,
            surface,
            pipeline,
            cage: Lines::new(gpu, &cage.edges().into_iter().map(line).collect::<Vec<_>>())?,
            floor: Floor::new(gpu, Self::BACKGROUND)?,
        })
    }

    fn encode(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, frame: &Frame<'_>) -> anyhow::Result<()> {
        let settings = Settings {
            clip_from_world: frame.camera.clip_from_world.to_cols_array(),
            eye: frame.camera.eye.to_array(),
            pixels_per_unit: frame.camera.pixels_per_unit,
            segment_pixels: self.segment_pixels,
            pad: [0.0; 3],
        };
        gpu.queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&settings));
        let draw = Draw {
            vertex_buffers: &[self.points.slice(..)],
            index_buffer: Some(IndexBuffer { slice: self.indices.slice(..), format: wgpu::IndexFormat::Uint32 }),
            bind_groups: &[Some(&self.bind_group)],
            ..Draw::new(0..self.patches.indices.len() as u32)
        };
        let workspace = match &mut self.workspace {
            Some(workspace) => workspace,
            none => none.insert(gpu.workspace(&self.pipeline, &draw)?),
        };
        let tessellation = workspace.encode(&self.pipeline, &gpu.device, &gpu.queue, encoder, &draw)?;

        let mut pass = frame.begin(encoder);
        let shade = Shade { center: [0.0, 0.0], radii: [1.7, 1.7] };
        self.floor.draw(gpu, &mut pass, &frame.camera, &[shade]);
        pass.set_pipeline(&self.surface);
        pass.set_bind_group(0, &self.bind_group, &[]);
        tessellation.draw(&mut pass);
        self.cage.draw(gpu, &mut pass, &frame.camera, frame.size);
        Ok(())
    }

    fn report(&self, _gpu: &Gpu) -> anyhow::Result<Vec<String>> {
        Ok(vec![format!("{} patches of {} points", self.patches.indices.len() / 16, self.patches.points.len())])
    }
}

fn main() -> std::process::ExitCode {
    harness::main::<CatmullClark>()
}
