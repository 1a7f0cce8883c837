//! `patchwave bench --assembly`: what the input assembler costs beside vertices that the shader pulls by hand.

use comfy_table::Table;
use patchwave::hardware::TessellationParameters;
use patchwave::{
    Domain, Draw, IndexBuffer, Indices, Mesh, TessellationPipeline, TessellationPipelineDescriptor, Workspace,
    WorkspaceDescriptor,
};
use serde::Serialize;

use super::Args;
use crate::measure::{self, Timer};
use crate::scene::gpu::Gpu;

/// What both shaders have: a flat triangle at factor 1.
const SHADER: &str = "
struct ControlPoint { position: vec3f }
struct PatchConstants { factors: TriFactors }
struct Surface { @location(0) position: vec3f }

fn patch_constants(patch_id: u32) -> PatchConstants { return PatchConstants(TriFactors(vec3f(1.0), 1.0)); }
fn domain(location: vec3f, patch_id: u32) -> Surface {
    return Surface(location.x * output_point(0).position + location.y * output_point(1).position
        + location.z * output_point(2).position);
}
";

const ASSEMBLED: &str = "
struct Attributes { @location(0) position: vec3f }
fn vertex(attributes: Attributes) -> ControlPoint { return ControlPoint(attributes.position); }
";

const PULLED: &str = "
@group(0) @binding(0) var<storage, read> positions: array<f32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
fn vertex(id: VertexId) -> ControlPoint {
    let first = indices[id.vertex_index] * 3u;
    return ControlPoint(vec3f(positions[first], positions[first + 1u], positions[first + 2u]));
}
";

/// Each way is measured so many times, in turns.
const ROUNDS: u32 = 3;

/// The patches whose meshes are read back and compared.
const COMPARED: u32 = 100_000;

/// A row of the report.
#[derive(Serialize)]
pub(super) struct Row {
    vertices: &'static str,
    patches: u32,
    milliseconds: f64,
    fastest: f64,
    slowest: f64,
    /// The hull pass, which has the input assembler in it, where the device can tell.
    hull_milliseconds: Option<f64>,
    encode_microseconds: f64,
}

/// The whole report.
#[derive(Serialize)]
pub(super) struct Report {
    rows: Vec<Row>,
    /// The assembler's time through the other's, for each number of patches.
    ratios: Vec<f64>,
    hull_ratios: Vec<f64>,
}

pub(super) fn run(args: &Args, gpu: &Gpu, timer: &Timer) -> anyhow::Result<Report> {
    let mut report = Report { rows: Vec::new(), ratios: Vec::new(), hull_ratios: Vec::new() };
    let all_patches = if args.patches.is_empty() { &[1_000_000][..] } else { &args.patches };
    for &patches in all_patches {
        let pair = Pair::new(gpu, patches, args.parameters.parameters().patches_per_threadgroup)?;
        pair.compare(gpu)?;
        let mut times = [const { Vec::new() }; 2];
        let mut hulls = [const { Vec::new() }; 2];
        let mut encoding = [const { Vec::new() }; 2];
        for _ in 0..ROUNDS {
            for (way, pipeline) in pair.pipelines.iter().enumerate() {
                let sample = pair.with_draw(way, patches, |draw| {
                    measure::tessellation(&gpu.device, &gpu.queue, timer, pipeline, draw, args.repeat)
                })?;
                anyhow::ensure!(sample.report.vertices == 3 * u64::from(patches), "{:?}", sample.report);
                times[way].extend(sample.milliseconds);
                hulls[way].extend(sample.passes.map(|passes| passes[0]));
                encoding[way].push(sample.encode_microseconds);
            }
        }
        let median = |samples: &mut Vec<f64>| {
            samples.sort_by(f64::total_cmp);
            samples.get(samples.len() / 2).copied()
        };
        let first = report.rows.len();
        for (way, vertices) in ["input assembler", "pulled by the shader"].into_iter().enumerate() {
            let row = Row {
                vertices,
                patches,
                milliseconds: median(&mut times[way]).unwrap_or(f64::NAN),
                fastest: times[way].first().copied().unwrap_or(f64::NAN),
                slowest: times[way].last().copied().unwrap_or(f64::NAN),
                hull_milliseconds: median(&mut hulls[way]),
                encode_microseconds: median(&mut encoding[way]).unwrap_or(f64::NAN),
            };
            report.rows.push(row);
        }
        if let [assembled, pulled] = &report.rows[first..] {
            report.ratios.push(assembled.milliseconds / pulled.milliseconds);
            report.hull_ratios.extend(assembled.hull_milliseconds.zip(pulled.hull_milliseconds).map(|(a, b)| a / b));
        }
    }
    Ok(report)
}

/// The same patches by both ways.
struct Pair {
    positions: wgpu::Buffer,
    indices: wgpu::Buffer,
    group: wgpu::BindGroup,
    pipelines: [TessellationPipeline; 2],
    patches: u32,
}

impl Pair {
    fn new(gpu: &Gpu, patches: u32, patches_per_threadgroup: Option<u32>) -> anyhow::Result<Self> {
        let (positions, indices) = mesh(patches);
        let positions = gpu.buffer("positions", bytemuck::cast_slice(&positions), wgpu::BufferUsages::STORAGE);
        let indices = gpu.buffer("indices", bytemuck::cast_slice(&indices), wgpu::BufferUsages::STORAGE);
        let entry = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: true },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("pulled"),
            entries: &[entry(0), entry(1)],
        });
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("pulled"),
            layout: &layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: positions.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: indices.as_entire_binding() },
            ],
        });
        let assembled = SHADER.to_owned() + ASSEMBLED;
        let pulled = SHADER.to_owned() + PULLED;
        let parameters = TessellationParameters { patches_per_threadgroup, ..TessellationParameters::default() };
        let base = |shader| {
            let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Tri, 3);
            descriptor.names.hull = None;
            descriptor.parameters = parameters;
            descriptor
        };
        let assembled = TessellationPipelineDescriptor {
            vertex_buffers: &[wgpu::VertexBufferLayout {
                array_stride: 12,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &wgpu::vertex_attr_array![0 => Float32x3],
            }],
            ..base(&assembled)
        };
        let layouts = [Some(&layout)];
        let pulled =
            TessellationPipelineDescriptor { bind_group_layouts: &layouts, indices: Indices::Never, ..base(&pulled) };
        let pipelines =
            [TessellationPipeline::new(&gpu.device, &assembled)?, TessellationPipeline::new(&gpu.device, &pulled)?];
        gpu.check()?;
        Ok(Self { positions, indices, group, pipelines, patches })
    }

    /// Calls `with` with a draw of the first patches.
    fn with_draw<T>(&self, way: usize, patches: u32, with: impl FnOnce(&Draw<'_>) -> T) -> T {
        let draw = Draw::new(0..patches * 3);
        if way == 0 {
            with(&Draw {
                vertex_buffers: &[self.positions.slice(..)],
                index_buffer: Some(IndexBuffer { slice: self.indices.slice(..), format: wgpu::IndexFormat::Uint32 }),
                ..draw
            })
        } else {
            with(&Draw { bind_groups: &[Some(&self.group)], ..draw })
        }
    }

    /// Both ways have to come to the same mesh.
    fn compare(&self, gpu: &Gpu) -> anyhow::Result<()> {
        let Gpu { device, queue, .. } = gpu;
        let mesh = |way: usize| {
            let pipeline = &self.pipelines[way];
            self.with_draw(way, self.patches.min(COMPARED), |draw| {
                let measurement = pipeline.measure_blocking(device, queue, draw)?;
                let sizes = WorkspaceDescriptor::for_measurement(pipeline, &measurement)?;
                let mut workspace = Workspace::new(device, pipeline, sizes)?;
                let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                let result = pipeline.encode(queue, &mut encoder, &mut workspace, draw)?;
                queue.submit([encoder.finish()]);
                anyhow::Ok(Mesh::read_blocking(device, queue, &result)?)
            })
        };
        anyhow::ensure!(mesh(0)? == mesh(1)?, "the two ways give different meshes");
        Ok(())
    }
}

/// A sheet of triangles that share vertices: positions and indices.
fn mesh(triangles: u32) -> (Vec<[f32; 3]>, Vec<u32>) {
    let side = (f64::from(triangles) / 2.0).sqrt().ceil() as u32;
    let position = |i: u32| {
        let (x, y) = ((i % (side + 1)) as f32, (i / (side + 1)) as f32);
        [x, y, (x * 0.7).sin() * (y * 0.9).cos()]
    };
    let corners = |triangle: u32| {
        let cell = triangle / 2;
        let first = cell / side * (side + 1) + cell % side;
        let (right, below) = (first + 1, first + side + 1);
        if triangle.is_multiple_of(2) { [first, right, below] } else { [below, right, below + 1] }
    };
    ((0..(side + 1) * (side + 1)).map(position).collect(), (0..triangles).flat_map(corners).collect())
}

pub(super) fn table(report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(["patches", "vertices", "ms", "min..max", "hull ms", "encode µs"]);
    for row in &report.rows {
        table.add_row([
            row.patches.to_string(),
            row.vertices.to_owned(),
            format!("{:.4}", row.milliseconds),
            format!("{:.4}..{:.4}", row.fastest, row.slowest),
            row.hull_milliseconds.map_or_else(String::new, |milliseconds| format!("{milliseconds:.4}")),
            format!("{:.0}", row.encode_microseconds),
        ]);
    }
    let list = |ratios: &[f64]| ratios.iter().map(|ratio| format!("{ratio:.3}")).collect::<Vec<_>>().join(", ");
    let hull = if report.hull_ratios.is_empty() {
        String::new()
    } else {
        format!(", of the hull passes {}", list(&report.hull_ratios))
    };
    format!("{table}\ninput assembler through pulled by the shader: {}{hull}\n", list(&report.ratios))
}
