//! On-chip and off-chip made visible: what each threadgroup decided, its average factor and its domain waves, as colours.
//!
//!     cargo run --release --example heatmap             # writes out/heatmap.png
//!     cargo run --release --example heatmap -- --show waves --threshold 4
//!
//! The pipeline is dynamic: a threadgroup whose average factor reaches the threshold leaves its control points in memory, so
//! that other compute units can take its domain waves.

mod harness;

use clap::ValueEnum as _;
use harness::{Bind, Example, Frame, Gpu, SurfaceDraw, View, Wireframe};
use patchwave::hardware::{TessellationParameters, ThreadgroupRecord};
use patchwave::{
    Domain, Draw, GrowingWorkspace, Indices, Partitioning, TessellationPipeline, TessellationPipelineDescriptor,
};

/// Patches along the water's side, four corners each.
const SIDE: u32 = 32;

/// The shader's `Settings`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    eye: [f32; 3],
    pixels_per_unit: f32,
    tolerance: f32,
    patches_per_threadgroup: u32,
    pad: [u32; 2],
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Show {
    /// The surface and its triangles
    Surface,
    /// Which threadgroups went off-chip
    OffChip,
    /// Their average factors
    Factor,
    /// Their domain waves
    Waves,
}

#[derive(clap::Args)]
struct Options {
    /// One of the four alone
    #[arg(long)]
    show: Option<Show>,
    /// The least average factor that goes off-chip
    #[arg(long, value_name = "FACTOR", default_value_t = 5.0)]
    threshold: f32,
    /// Domain waves that a threadgroup keeps when it goes off-chip
    #[arg(long, value_name = "WAVES", default_value_t = 2)]
    waves: u32,
    /// Patches of a threadgroup
    #[arg(long, value_name = "PATCHES", default_value_t = 4)]
    patches: u32,
}

struct Heatmap {
    pipeline: TessellationPipeline,
    workspace: Option<GrowingWorkspace>,
    settings: wgpu::Buffer,
    heat: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    /// What is shown, and how.
    panels: Vec<(Show, wgpu::RenderPipeline)>,
    wireframe: Wireframe,
    legend: Vec<String>,
}

impl Example for Heatmap {
    const NAME: &'static str = "heatmap";
    const VIEW: View =
        View { target: glam::Vec3::new(0.15, -0.4, 0.0), azimuth: -72.0, elevation: 38.0, distance: 11.0, radius: 2.4 };
    type Options = Options;

    fn new(gpu: &Gpu, options: &Options) -> anyhow::Result<Self> {
        let settings = gpu.uniform::<Settings>("settings");
        let heat = gpu.buffer("heat", &vec![[0f32; 4]; (SIDE * SIDE) as usize], wgpu::BufferUsages::STORAGE);
        let (layout, bind_group) = gpu.bind_group("heatmap", &[Bind::Uniform(&settings), Bind::Storage(&heat)]);
        let descriptor = TessellationPipelineDescriptor {
            label: Some("heatmap"),
            bind_group_layouts: &[Some(&layout)],
            partitioning: Partitioning::FractionalOdd,
            indices: Indices::Never,
            ..TessellationPipelineDescriptor::new(include_str!("../assets/shaders/heatmap.wgsl"), Domain::Quad, 4)
        };
        let pipeline = TessellationPipeline::new(
            &gpu.device,
            &descriptor.off_chip(TessellationParameters {
                patches_per_threadgroup: Some(options.patches),
                tessellation_factor_threshold: Some(options.threshold),
                ds_wave_threshold: Some(options.waves),
            }),
        )?;
        let shown = options.show.map_or(Show::value_variants().to_vec(), |show| vec![show]);
        let panel = |show: Show| {
            let light = include_str!("../assets/shaders/light.wgsl");
            let fragment = include_str!("../assets/shaders/heatmap.fragment.wgsl");
            let draw = SurfaceDraw {
                fragment: &format!("const SHOW: u32 = {}u;\n{light}{fragment}", show as u32),
                layouts: &[Some(&layout)],
                front: wgpu::FrontFace::Cw,
                cull: None,
            };
            Ok((show, gpu.surface_pipeline(&pipeline, &draw)?))
        };
        Ok(Self {
            panels: shown.into_iter().map(panel).collect::<anyhow::Result<_>>()?,
            wireframe: Wireframe::new(gpu, &pipeline, [0.75, 0.85, 0.9, 0.4])?,
            workspace: None,
            settings,
            heat,
            bind_group,
            legend: Vec::new(),
            pipeline,
        })
    }

    fn encode(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, frame: &Frame<'_>) -> anyhow::Result<()> {
        // One panel fills the picture, four have a quarter each.
        let across = if self.panels.len() > 1 { 2.0 } else { 1.0 };
        let settings = Settings {
            clip_from_world: frame.camera.clip_from_world.to_cols_array(),
            eye: frame.camera.eye.to_array(),
            pixels_per_unit: frame.camera.pixels_per_unit / across,
            tolerance: 0.15,
            patches_per_threadgroup: self.pipeline.parameters().patches_per_threadgroup,
            pad: [0; 2],
        };
        gpu.queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&settings));
        let draw = Draw { bind_groups: &[Some(&self.bind_group)], ..Draw::new(0..SIDE * SIDE * 4) };
        let workspace = match &mut self.workspace {
            Some(workspace) => workspace,
            none => none.insert(gpu.workspace(&self.pipeline, &draw)?),
        };
        // Submitted on its own and waited for: the colours are of this very frame. Who only wants numbers takes those of a
        // frame before, with `Workspace::request_statistics`, and waits for nothing.
        let mut first = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let tessellation = workspace.encode(&self.pipeline, &gpu.device, &gpu.queue, &mut first, &draw)?;
        gpu.queue.submit([first.finish()]);
        match tessellation.threadgroup_records_blocking(&gpu.device, &gpu.queue) {
            Ok(records) => {
                let heat = self.judge(&records);
                gpu.queue.write_buffer(&self.heat, 0, bytemuck::cast_slice(&heat));
            }
            // Draws nothing in this frame; the next one has the room.
            Err(patchwave::Error::WorkspaceTooSmall { .. }) => {}
            Err(error) => return Err(error.into()),
        }

        let [width, height] = frame.size.map(|side| side as f32 / across);
        let mut pass = frame.begin(encoder);
        for (k, (show, surface)) in self.panels.iter().enumerate() {
            pass.set_viewport((k % 2) as f32 * width, (k / 2) as f32 * height, width, height, 0.0, 1.0);
            pass.set_pipeline(surface);
            pass.set_bind_group(0, &self.bind_group, &[]);
            tessellation.draw(&mut pass);
            if *show == Show::Surface {
                self.wireframe.draw(gpu, &mut pass, &tessellation);
            }
        }
        Ok(())
    }

    fn report(&self, _gpu: &Gpu) -> anyhow::Result<Vec<String>> {
        Ok(self.legend.clone())
    }
}

impl Heatmap {
    /// The shader's `heat`; and says in words what the colours are.
    fn judge(&mut self, records: &[ThreadgroupRecord]) -> Vec<[f32; 4]> {
        let parameters = self.pipeline.parameters();
        let average = |record: &ThreadgroupRecord| record.average_factor(Domain::Quad, &parameters.readings) as f32;
        let most_factor = records.iter().map(average).fold(1.0, f32::max);
        let most_waves = records.iter().map(ThreadgroupRecord::domain_waves).fold(2, u32::max);
        let off_chip = records.iter().filter(|record| record.off_chip).count();
        let waves: u32 = records.iter().map(ThreadgroupRecord::domain_waves).sum();
        let kept: u32 = records.iter().map(|record| record.on_chip_waves(parameters.on_chip_waves)).sum();
        let line = |show| match show {
            Show::Surface => "surface: what the patches are made into".to_owned(),
            Show::OffChip => format!("off-chip: {off_chip} of {} threadgroups, orange; others blue", records.len()),
            Show::Factor => format!("factor: a threadgroup's average, from 0 (black) to {most_factor:.1} (yellow)"),
            Show::Waves => {
                format!("waves: 1 (black) to {most_waves} (yellow) a threadgroup; {kept} of all {waves} ran on-chip")
            }
        };
        self.legend = self.panels.iter().map(|(show, _)| line(*show)).collect();
        let heat = |record: &ThreadgroupRecord| {
            let waves = (record.domain_waves() as f32).log(most_waves as f32);
            [f32::from(u8::from(record.off_chip)), average(record) / most_factor, waves, 0.0]
        };
        records.iter().map(heat).collect()
    }
}

fn main() -> std::process::ExitCode {
    harness::main::<Heatmap>()
}
