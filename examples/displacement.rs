//! A sphere displaced by noise in the domain function, with the edges of its triangles.
//!
//!     cargo run --release --example displacement        # writes out/displacement.png
//!     cargo run --release --example displacement -- --strip 6 --rise 0.2 --size 1536x256
//!
//! `--strip` shows how fractional factors grow: frames side by side, from one odd factor to the next. New points begin where
//! old ones are and move away, so that nothing jumps.

mod harness;

use harness::{Bind, Example, Frame, Gpu, SurfaceDraw, View, Wireframe};
use patchwave::{
    Domain, Draw, GrowingWorkspace, Indices, Partitioning, TessellationPipeline, TessellationPipelineDescriptor,
};

/// Six sides of the cube, four by four patches each, four corners each.
const VERTICES: u32 = 6 * 4 * 4 * 4;

/// The shader's `Settings`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    eye: [f32; 3],
    pixels_per_unit: f32,
    segment_pixels: f32,
    factor: f32,
    seconds: f32,
    rise: f32,
}

#[derive(clap::Args)]
struct Options {
    /// Frames of a strip: factors grow by 2 from the first to the last
    #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u32).range(1..=64))]
    strip: Option<u32>,
    /// The factor of all edges and insides, the first one of a strip [default: by size, 3 in a strip]
    #[arg(long, value_name = "FACTOR")]
    factor: Option<f32>,
    /// Even fractional factors rather than odd ones
    #[arg(long)]
    even: bool,
    /// The wanted length of a segment in pixels, where factors are by size
    #[arg(long, value_name = "PIXELS", default_value_t = 9.0)]
    segment: f32,
    /// How far the highest places are from the lowest, in radii
    #[arg(long, value_name = "RADII", default_value_t = 0.62)]
    rise: f32,
}

/// What is drawn beside others in one picture.
struct Ball {
    factor: f32,
    settings: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    workspace: Option<GrowingWorkspace>,
}

struct Displacement {
    segment_pixels: f32,
    rise: f32,
    balls: Vec<Ball>,
    pipeline: TessellationPipeline,
    surface: wgpu::RenderPipeline,
    wireframe: Wireframe,
}

impl Example for Displacement {
    const NAME: &'static str = "displacement";
    const VIEW: View = View { target: glam::Vec3::ZERO, azimuth: -62.0, elevation: 20.0, distance: 4.5, radius: 1.18 };
    type Options = Options;

    fn new(gpu: &Gpu, options: &Options) -> anyhow::Result<Self> {
        let first = options.factor.unwrap_or(if options.strip.is_some() { 3.0 } else { 0.0 });
        let frames = options.strip.unwrap_or(1);
        let (layouts, balls): (Vec<_>, Vec<_>) = (0..frames)
            .map(|frame| {
                let settings = gpu.uniform::<Settings>("settings");
                let (layout, bind_group) = gpu.bind_group("settings", &[Bind::Uniform(&settings)]);
                let factor = first + 2.0 * frame as f32 / (frames - 1).max(1) as f32;
                (layout, Ball { factor, settings, bind_group, workspace: None })
            })
            .unzip();
        let pipeline = TessellationPipeline::new(
            &gpu.device,
            &TessellationPipelineDescriptor {
                label: Some("displacement"),
                bind_group_layouts: &[layouts.first()],
                partitioning: if options.even { Partitioning::FractionalEven } else { Partitioning::FractionalOdd },
                indices: Indices::Never,
                ..TessellationPipelineDescriptor::new(
                    include_str!("../assets/shaders/displacement.wgsl"),
                    Domain::Quad,
                    4,
                )
            },
        )?;
        let fragment = concat!(
            include_str!("../assets/shaders/light.wgsl"),
            include_str!("../assets/shaders/displacement.fragment.wgsl")
        );
        let surface = SurfaceDraw {
            fragment,
            layouts: &[layouts.first()],
            front: wgpu::FrontFace::Ccw,
            cull: Some(wgpu::Face::Back),
        };
        Ok(Self {
            segment_pixels: options.segment,
            rise: options.rise,
            balls,
            surface: gpu.surface_pipeline(&pipeline, &surface)?,
            wireframe: Wireframe::new(gpu, &pipeline, [0.75, 0.85, 0.9, 0.2])?,
            pipeline,
        })
    }

    fn encode(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, frame: &Frame<'_>) -> anyhow::Result<()> {
        let [width, height] = frame.size.map(|side| side as f32);
        let frames = self.balls.len() as f32;
        // The camera is for the whole picture; a frame of it is narrower, and may be less wide than high.
        let fit = |width: f32| (width / height).min(1.0);
        let zoom = fit(width / frames) / fit(width);
        let squeeze = glam::Mat4::from_scale(glam::Vec3::new(frames * zoom, zoom, 1.0));
        let mut done = Vec::new();
        for ball in &mut self.balls {
            let settings = Settings {
                clip_from_world: (squeeze * frame.camera.clip_from_world).to_cols_array(),
                eye: frame.camera.eye.to_array(),
                pixels_per_unit: frame.camera.pixels_per_unit * zoom,
                segment_pixels: self.segment_pixels,
                factor: ball.factor,
                seconds: frame.seconds,
                rise: self.rise,
            };
            gpu.queue.write_buffer(&ball.settings, 0, bytemuck::bytes_of(&settings));
            let draw = Draw { bind_groups: &[Some(&ball.bind_group)], ..Draw::new(0..VERTICES) };
            let workspace = match &mut ball.workspace {
                Some(workspace) => workspace,
                none => none.insert(gpu.workspace(&self.pipeline, &draw)?),
            };
            done.push(workspace.encode(&self.pipeline, &gpu.device, &gpu.queue, encoder, &draw)?);
        }

        let mut pass = frame.begin(encoder);
        for (k, (ball, tessellation)) in self.balls.iter().zip(&done).enumerate() {
            pass.set_viewport(k as f32 * width / frames, 0.0, width / frames, height, 0.0, 1.0);
            pass.set_pipeline(&self.surface);
            pass.set_bind_group(0, &ball.bind_group, &[]);
            tessellation.draw(&mut pass);
            self.wireframe.draw(gpu, &mut pass, tessellation);
        }
        Ok(())
    }
}

fn main() -> std::process::ExitCode {
    harness::main::<Displacement>()
}
