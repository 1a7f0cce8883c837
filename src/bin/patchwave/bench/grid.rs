//! The benchmark's scene: a grid of bicubic patches.

use clap::ValueEnum;
use patchwave::hardware::TessellationParameters;
use patchwave::tessellator::{OutputTopology, Partitioning, TessellatedPatch};
use patchwave::{Domain, TessellationPipeline, TessellationPipelineDescriptor};
use std::fmt;

/// Where domain waves run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// All in the workgroup that ran the hull
    Onchip,
    /// All from the off-chip buffer: both thresholds 0
    Offchip,
    /// Each threadgroup decides by its average factor
    Dynamic,
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Onchip => "onchip",
            Self::Offchip => "offchip",
            Self::Dynamic => "dynamic",
        }
    }

    /// Sets a pipeline's mode; the two thresholds are the dynamic mode's.
    pub(crate) fn apply<'a>(
        self,
        mut descriptor: TessellationPipelineDescriptor<'a>,
        parameters: &TessellationParameters,
    ) -> TessellationPipelineDescriptor<'a> {
        let patches_per_threadgroup = parameters.patches_per_threadgroup;
        match self {
            Self::Onchip => {
                descriptor.parameters = TessellationParameters { patches_per_threadgroup, ..Default::default() };
                descriptor
            }
            Self::Offchip => descriptor.off_chip(TessellationParameters {
                patches_per_threadgroup,
                tessellation_factor_threshold: Some(0.0),
                ds_wave_threshold: Some(0),
            }),
            Self::Dynamic => descriptor.off_chip(*parameters),
        }
    }
}

/// Which patches have which factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Load {
    /// All the same.
    Uniform(f32),
    /// Every hundredth at 64, the others at 2.
    Scattered,
    /// The first hundredth at 64, the others at 2.
    Clustered,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform(factor) => write!(f, "uniform {factor}"),
            Self::Scattered => write!(f, "1 % at 64, scattered"),
            Self::Clustered => write!(f, "1 % at 64, clustered"),
        }
    }
}

/// A grid, ready to be drawn.
pub(crate) struct Grid {
    pub(crate) pipeline: TessellationPipeline,
    pub(crate) vertices: wgpu::Buffer,
    pub(crate) bind_group: wgpu::BindGroup,
    pub(crate) patches: u32,
    load: Load,
}

impl Grid {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        patches: u32,
        load: Load,
        mode: Mode,
        parameters: &TessellationParameters,
    ) -> anyhow::Result<Self> {
        let positions = positions(patches);
        let vertices = filled(device, queue, bytemuck::cast_slice(&positions), wgpu::BufferUsages::STORAGE);
        let (factor, heavy_stride, heavy_count) = match load {
            Load::Uniform(factor) => (factor, 0, 0),
            Load::Scattered => (2.0, 100, 0),
            Load::Clustered => (2.0, 0, patches.div_ceil(100)),
        };
        let settings = [factor.to_bits(), 64f32.to_bits(), heavy_stride, heavy_count];
        let settings = filled(device, queue, bytemuck::cast_slice(&settings), wgpu::BufferUsages::UNIFORM);
        let group_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("settings"),
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
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("settings"),
            layout: &group_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: settings.as_entire_binding() }],
        });
        let attributes = wgpu::vertex_attr_array![0 => Float32x3];
        let layouts = [wgpu::VertexBufferLayout {
            array_stride: 12,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &attributes,
        }];
        let groups = [Some(&group_layout)];
        let shader = include_str!("../../../../assets/shaders/bench_bicubic.wgsl");
        let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Quad, 16);
        descriptor.label = Some("bicubic grid");
        descriptor.names.hull = None;
        descriptor.vertex_buffers = &layouts;
        descriptor.bind_group_layouts = &groups;
        let pipeline = TessellationPipeline::new(device, &mode.apply(descriptor, parameters))?;
        Ok(Self { pipeline, vertices, bind_group, patches, load })
    }

    /// Domain points by the tessellator on the CPU.
    pub(crate) fn expected_points(&self) -> u64 {
        let points = |factor: f32| {
            let bits = [factor.to_bits(); 6];
            TessellatedPatch::new(Domain::Quad, Partitioning::Integer, OutputTopology::TriangleCw, &bits)
                .map_or(0, |patch| u64::from(patch.point_count()))
        };
        let heavy = u64::from(self.patches.div_ceil(100));
        match self.load {
            Load::Uniform(factor) => u64::from(self.patches) * points(factor),
            Load::Scattered | Load::Clustered => heavy * points(64.0) + (u64::from(self.patches) - heavy) * points(2.0),
        }
    }
}

/// 16 control points a patch, on a wavy sheet.
fn positions(patches: u32) -> Vec<[f32; 3]> {
    let side = f64::from(patches).sqrt().ceil() as u32;
    (0..patches)
        .flat_map(|patch| {
            (0..16).map(move |point| {
                let x = (patch % side * 3 + point % 4) as f32 / 3.0;
                let y = (patch / side * 3 + point / 4) as f32 / 3.0;
                [x, y, (x * 0.7).sin() * (y * 0.9).cos()]
            })
        })
        .collect()
}

fn filled(device: &wgpu::Device, queue: &wgpu::Queue, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.len() as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytes);
    buffer
}
