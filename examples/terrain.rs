//! A real mountain range, from its elevation model: 64 by 64 patches, displaced by a texture in the domain function.
//!
//!     cargo run --release --example terrain             # writes out/terrain.png
//!     cargo run --release --example terrain -- --wireframe --tolerance 2
//!
//! The shader is assets/shaders/terrain.wgsl. Each edge gets as many segments as keep it within a tolerance on screen, found
//! from the map along that edge alone, so that neighbours agree and no crack opens; patches outside the view get factor 0.

mod harness;

use std::path::PathBuf;

use harness::{Bind, Example, Frame, Gpu, SurfaceDraw, View, Wireframe};
use patchwave::{
    Domain, Draw, GrowingWorkspace, Indices, Partitioning, Tessellation, TessellationPipeline,
    TessellationPipelineDescriptor,
};

const LAND: &str =
    concat!(include_str!("../assets/shaders/terrain.heights.wgsl"), include_str!("../assets/shaders/terrain.wgsl"));
const LIGHT: &str = concat!(
    include_str!("../assets/shaders/light.wgsl"),
    include_str!("../assets/shaders/terrain.heights.wgsl"),
    include_str!("../assets/shaders/terrain.haze.wgsl"),
    include_str!("../assets/shaders/terrain.fragment.wgsl")
);
const SKY: &str = concat!(
    include_str!("../assets/shaders/light.wgsl"),
    include_str!("../assets/shaders/terrain.heights.wgsl"),
    include_str!("../assets/shaders/terrain.haze.wgsl"),
    include_str!("../assets/shaders/terrain.sky.wgsl")
);
/// Jacksboro, Tennessee: metres above the sea, 3 seconds of arc a texel.
const HEIGHTS: &[u8] = include_bytes!("../assets/jacksboro_fault_dem.png");
/// Kilometres from texel to texel, to the east and to the south.
const TEXEL: [f32; 2] = [0.0746, 0.0925];
const VERTICES: u32 = 64 * 64 * 4;

/// The shader's `Settings`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    world_from_clip: [f32; 16],
    eye: [f32; 3],
    pixels_per_unit: f32,
    extent: [f32; 3],
    tolerance: f32,
}

#[derive(clap::Args)]
struct Options {
    /// Another height map: a 16-bit greyscale PNG file, in metres
    #[arg(long, value_name = "FILE")]
    heights: Option<PathBuf>,
    /// How much steeper than nature
    #[arg(long, value_name = "FACTOR", default_value_t = 2.5)]
    exaggeration: f32,
    /// How far the triangles may be from the surface, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 0.25)]
    tolerance: f32,
    /// With the edges of the triangles
    #[arg(long)]
    wireframe: bool,
}

struct Terrain {
    extent: [f32; 3],
    tolerance: f32,
    pipeline: TessellationPipeline,
    workspace: Option<GrowingWorkspace>,
    tessellation: Option<Tessellation>,
    settings: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    sky: wgpu::RenderPipeline,
    surface: wgpu::RenderPipeline,
    wireframe: Option<Wireframe>,
}

impl Example for Terrain {
    const NAME: &'static str = "terrain";
    const VIEW: View =
        View { target: glam::Vec3::new(3.3, -1.6, 0.62), azimuth: -27.0, elevation: 10.0, distance: 11.0, radius: 3.0 };
    type Options = Options;

    fn new(gpu: &Gpu, options: &Options) -> anyhow::Result<Self> {
        let (map, [width, height]) = gpu.height_map(options.heights.as_deref(), HEIGHTS)?;
        let settings = gpu.uniform::<Settings>("settings");
        let (layout, bind_group) = gpu.bind_group("terrain", &[Bind::Uniform(&settings), Bind::Texels(&map)]);
        let pipeline = TessellationPipeline::new(
            &gpu.device,
            &TessellationPipelineDescriptor {
                label: Some("terrain"),
                bind_group_layouts: &[Some(&layout)],
                partitioning: Partitioning::FractionalOdd,
                indices: Indices::Never,
                ..TessellationPipelineDescriptor::new(LAND, Domain::Quad, 4)
            },
        )?;
        // Seen from above, where u is to the right and v is down, triangles are clockwise.
        let surface = SurfaceDraw {
            fragment: LIGHT,
            layouts: &[Some(&layout)],
            front: wgpu::FrontFace::Cw,
            cull: Some(wgpu::Face::Back),
        };
        Ok(Self {
            extent: [(width - 1) as f32 * TEXEL[0], (height - 1) as f32 * TEXEL[1], 0.001 * options.exaggeration],
            tolerance: options.tolerance,
            workspace: None,
            tessellation: None,
            settings,
            bind_group,
            sky: gpu.backdrop_pipeline(SKY, &[Some(&layout)])?,
            surface: gpu.surface_pipeline(&pipeline, &surface)?,
            wireframe: options.wireframe.then(|| Wireframe::new(gpu, &pipeline, [0.9, 0.95, 1.0, 0.6])).transpose()?,
            pipeline,
        })
    }

    fn encode(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, frame: &Frame<'_>) -> anyhow::Result<()> {
        let settings = Settings {
            clip_from_world: frame.camera.clip_from_world.to_cols_array(),
            world_from_clip: frame.camera.clip_from_world.inverse().to_cols_array(),
            eye: frame.camera.eye.to_array(),
            pixels_per_unit: frame.camera.pixels_per_unit,
            extent: self.extent,
            tolerance: self.tolerance,
        };
        gpu.queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&settings));
        let draw = Draw { bind_groups: &[Some(&self.bind_group)], ..Draw::new(0..VERTICES) };
        let workspace = match &mut self.workspace {
            Some(workspace) => workspace,
            none => none.insert(gpu.workspace(&self.pipeline, &draw)?),
        };
        let tessellation = workspace.encode(&self.pipeline, &gpu.device, &gpu.queue, encoder, &draw)?;

        let mut pass = frame.begin(encoder);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.set_pipeline(&self.sky);
        pass.draw(0..3, 0..1);
        pass.set_pipeline(&self.surface);
        tessellation.draw(&mut pass);
        if let Some(wireframe) = &self.wireframe {
            wireframe.draw(gpu, &mut pass, &tessellation);
        }
        drop(pass);
        self.tessellation = Some(tessellation);
        Ok(())
    }

    fn report(&self, gpu: &Gpu) -> anyhow::Result<Vec<String>> {
        let Some(tessellation) = &self.tessellation else { return Ok(Vec::new()) };
        let done = tessellation.statistics_blocking(&gpu.device, &gpu.queue)?;
        Ok(vec![format!(
            "{} of {} patches are out of view; the others make {} triangles",
            done.culled_patches, done.ia_primitives, done.primitives
        )])
    }
}

fn main() -> std::process::ExitCode {
    harness::main::<Terrain>()
}
