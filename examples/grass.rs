//! A meadow in the wind: isolines, a line for each of tens of thousands of strands.
//!
//!     cargo run --release --example grass              # writes out/grass.png
//!     cargo run --release --example grass -- --seconds 2.5
//!     cargo run --release --features window --example grass -- --window
//!
//! The shader is assets/shaders/grass.wgsl. It reads no vertices: a patch is one control point, made from its number.

mod harness;

use harness::{Bind, Example, Frame, Gpu, SurfaceDraw, View};
use patchwave::{
    Domain, Draw, GrowingWorkspace, Indices, StageNames, TessellationPipeline, TessellationPipelineDescriptor,
};

/// The shader's `CELLS`.
const CELLS: u32 = 128;

/// The shader's `Settings`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    world_from_clip: [f32; 16],
    eye: [f32; 3],
    pixels_per_unit: f32,
    seconds: f32,
    lushness: f32,
    pad: [f32; 2],
}

#[derive(clap::Args)]
struct Options {
    /// How many strands there are on an area of the picture; 0.1 for a tenth
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    lushness: f32,
}

struct Grass {
    lushness: f32,
    pipeline: TessellationPipeline,
    workspace: Option<GrowingWorkspace>,
    settings: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    strands: wgpu::RenderPipeline,
    ground: wgpu::RenderPipeline,
}

impl Example for Grass {
    const NAME: &'static str = "grass";
    const VIEW: View =
        View { target: glam::Vec3::new(0.0, 0.0, 1.05), azimuth: -90.0, elevation: 7.0, distance: 11.0, radius: 2.9 };
    type Options = Options;

    fn new(gpu: &Gpu, options: &Options) -> anyhow::Result<Self> {
        let settings = gpu.uniform::<Settings>("settings");
        let (layout, bind_group) = gpu.bind_group("settings", &[Bind::Uniform(&settings)]);
        let field = include_str!("../assets/shaders/grass.field.wgsl");
        let shader = [field, include_str!("../assets/shaders/grass.wgsl")].concat();
        let pipeline = TessellationPipeline::new(
            &gpu.device,
            &TessellationPipelineDescriptor {
                label: Some("grass"),
                names: StageNames { hull: None, ..StageNames::default() },
                // Neither vertex nor index buffers.
                indices: Indices::Never,
                bind_group_layouts: &[Some(&layout)],
                ..TessellationPipelineDescriptor::new(&shader, Domain::Isoline, 1)
            },
        )?;
        let strands = gpu.surface_pipeline(
            &pipeline,
            &SurfaceDraw {
                fragment: include_str!("../assets/shaders/grass.fragment.wgsl"),
                layouts: &[],
                front: wgpu::FrontFace::Ccw,
                cull: None,
            },
        )?;
        let ground = [field, include_str!("../assets/shaders/grass.ground.wgsl")].concat();
        Ok(Self {
            lushness: options.lushness,
            pipeline,
            workspace: None,
            settings,
            bind_group,
            strands,
            ground: gpu.plain_pipeline("ground", &ground, &[Some(&layout)])?,
        })
    }

    fn encode(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, frame: &Frame<'_>) -> anyhow::Result<()> {
        let settings = Settings {
            clip_from_world: frame.camera.clip_from_world.to_cols_array(),
            world_from_clip: frame.camera.clip_from_world.inverse().to_cols_array(),
            eye: frame.camera.eye.to_array(),
            pixels_per_unit: frame.camera.pixels_per_unit,
            seconds: frame.seconds,
            lushness: self.lushness,
            pad: [0.0; 2],
        };
        gpu.queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&settings));
        let bind_groups = [Some(&self.bind_group)];
        let draw = self.draw(&bind_groups);
        let workspace = match &mut self.workspace {
            Some(workspace) => workspace,
            none => none.insert(gpu.workspace(&self.pipeline, &draw)?),
        };
        let tessellation = workspace.encode(&self.pipeline, &gpu.device, &gpu.queue, encoder, &draw)?;

        let mut pass = frame.begin(encoder);
        pass.set_pipeline(&self.ground);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.draw(0..3 + 6 * CELLS * CELLS, 0..1);
        pass.set_pipeline(&self.strands);
        tessellation.draw(&mut pass);
        Ok(())
    }

    fn report(&self, gpu: &Gpu) -> anyhow::Result<Vec<String>> {
        let needs = self.pipeline.measure_blocking(&gpu.device, &gpu.queue, &self.draw(&[Some(&self.bind_group)]))?;
        // A line of n segments has n + 1 points.
        let strands = needs.vertices() - needs.primitives();
        Ok(vec![format!("{strands} strands of {} segments in all", needs.primitives())])
    }
}

impl Grass {
    /// A patch for each cell of the meadow: a vertex each, with no buffer behind it.
    fn draw<'a>(&self, bind_groups: &'a [Option<&'a wgpu::BindGroup>]) -> Draw<'a> {
        Draw { bind_groups, ..Draw::new(0..CELLS * CELLS) }
    }
}

fn main() -> std::process::ExitCode {
    harness::main::<Grass>()
}
