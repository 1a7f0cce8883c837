//! A coarse mesh made smooth: curved PN triangles with quadratic normals, from the corners' normals alone.
//!
//!     cargo run --release --example pn_triangles              # writes out/pn_triangles.png
//!     cargo run --release --example pn_triangles -- --mesh FILE.obj
//!     cargo run --release --features window --example pn_triangles -- --window
//!
//! The shader is assets/shaders/pn_triangles.wgsl. Neighbours that share an edge's two points and normals meet on it bit for
//! bit; where a mesh has two normals at a point (a hard edge), its sides bend away from each other and a gap opens.

#[path = "../harness/mod.rs"]
mod harness;
mod mesh;

use std::path::PathBuf;

use glam::Vec3;
use harness::{Bind, Example, Floor, Frame, Gpu, Shade, SurfaceDraw, View};
use mesh::Mesh;
use patchwave::{Domain, Draw, GrowingWorkspace, IndexBuffer, TessellationPipeline, TessellationPipelineDescriptor};
use wgpu::BufferUsages;

/// The shader's `Settings`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    eye: [f32; 3],
    pixels_per_unit: f32,
    apart: [f32; 3],
    segment_pixels: f32,
}

#[derive(clap::Args)]
struct Options {
    /// A mesh of your own instead of the duck; its z axis points up
    #[arg(long, value_name = "FILE.obj")]
    mesh: Option<PathBuf>,
    /// Its y axis points up
    #[arg(long)]
    y_up: bool,
    /// Compute its normals though it has some: one at each point, so that hard edges become smooth ones and do not gape
    #[arg(long)]
    smooth: bool,
    /// The wanted length of a segment in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 6.0)]
    segment: f32,
}

struct PnTriangles {
    segment_pixels: f32,
    mesh: Mesh,
    pipeline: TessellationPipeline,
    workspace: Option<GrowingWorkspace>,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    settings: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    surface: wgpu::RenderPipeline,
    floor: Floor,
}

impl Example for PnTriangles {
    const NAME: &'static str = "pn_triangles";
    const VIEW: View =
        View { target: Vec3::new(0.0, 0.0, 0.68), azimuth: -36.0, elevation: 15.0, distance: 8.0, radius: 1.32 };
    const BACKGROUND: [f64; 3] = [0.28, 0.45, 0.54];
    type Options = Options;

    fn new(gpu: &Gpu, options: &Options) -> anyhow::Result<Self> {
        let mesh = Mesh::load(options.mesh.as_deref(), options.y_up, !options.smooth)?;
        let settings = gpu.uniform::<Settings>("settings");
        let (layout, bind_group) = gpu.bind_group("settings", &[Bind::Uniform(&settings)]);
        let shader = include_str!("../../assets/shaders/pn_triangles.wgsl");
        let pipeline = TessellationPipeline::new(
            &gpu.device,
            &TessellationPipelineDescriptor {
                label: Some("PN triangles"),
                vertex_buffers: &[wgpu::VertexBufferLayout {
                    array_stride: 36,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x3],
                }],
                bind_group_layouts: &[Some(&layout)],
                output_control_points: 10,
                ..TessellationPipelineDescriptor::new(shader, Domain::Tri, 3)
            },
        )?;
        let fragment = concat!(
            include_str!("../../assets/shaders/light.wgsl"),
            include_str!("../../assets/shaders/pn_triangles.fragment.wgsl")
        );
        let surface = gpu.surface_pipeline(
            &pipeline,
            &SurfaceDraw { fragment, layouts: &[Some(&layout)], front: wgpu::FrontFace::Ccw, cull: None },
        )?;
        Ok(Self {
            segment_pixels: options.segment,
            workspace: None,
            vertices: gpu.buffer("vertices", &mesh.vertices, BufferUsages::STORAGE),
            indices: gpu.buffer("indices", &mesh.indices, BufferUsages::STORAGE),
            mesh,
            settings,
            bind_group,
            surface,
            pipeline,
            floor: Floor::new(gpu, Self::BACKGROUND)?,
        })
    }

    fn encode(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, frame: &Frame<'_>) -> anyhow::Result<()> {
        let toward = Self::VIEW.target - frame.camera.eye;
        let apart = 1.82 * toward.cross(Vec3::Z).normalize();
        let settings = Settings {
            clip_from_world: frame.camera.clip_from_world.to_cols_array(),
            eye: frame.camera.eye.to_array(),
            pixels_per_unit: frame.camera.pixels_per_unit,
            apart: apart.to_array(),
            segment_pixels: self.segment_pixels,
        };
        gpu.queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&settings));
        let draw = Draw {
            vertex_buffers: &[self.vertices.slice(..)],
            index_buffer: Some(IndexBuffer { slice: self.indices.slice(..), format: wgpu::IndexFormat::Uint32 }),
            bind_groups: &[Some(&self.bind_group)],
            instances: 0..2,
            ..Draw::new(0..self.mesh.indices.len() as u32)
        };
        let workspace = match &mut self.workspace {
            Some(workspace) => workspace,
            none => none.insert(gpu.workspace(&self.pipeline, &draw)?),
        };
        let tessellation = workspace.encode(&self.pipeline, &gpu.device, &gpu.queue, encoder, &draw)?;

        let mut pass = frame.begin(encoder);
        let shade = |side: f32| Shade { center: (side * apart).truncate().to_array(), radii: self.mesh.radii };
        self.floor.draw(gpu, &mut pass, &frame.camera, &[shade(-0.5), shade(0.5)]);
        pass.set_pipeline(&self.surface);
        pass.set_bind_group(0, &self.bind_group, &[]);
        tessellation.draw(&mut pass);
        Ok(())
    }

    fn report(&self, _gpu: &Gpu) -> anyhow::Result<Vec<String>> {
        let Mesh { indices, degenerate, torn, .. } = &self.mesh;
        let mut lines = vec![format!("{} triangles, each a PN triangle", indices.len() / 3)];
        if *degenerate > 0 {
            lines.push(format!("{degenerate} triangles without area are left out"));
        }
        if *torn > 0 {
            lines.push(format!("{torn} points have more than one normal and gape; --smooth gives each of them one"));
        }
        Ok(lines)
    }
}

fn main() -> std::process::ExitCode {
    harness::main::<PnTriangles>()
}
