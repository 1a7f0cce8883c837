//! A grid of bicubic patches, each with a factor of its own.

use patchwave::tessellator::{OutputTopology, Partitioning, TessellatedPatch};
use patchwave::{Domain, Draw, Error, TessellationPipeline, TessellationPipelineDescriptor};
use std::fmt;

use super::Choice;
use super::gpu::Gpu;

const SHADER: &str = include_str!("../../../../assets/shaders/grid.wgsl");

/// The factor of patches that are not heavy.
const LIGHT: f32 = 2.0;

/// Which patches have which factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Load {
    /// All the same.
    Uniform(f32),
    /// Every hundredth at this factor, the others at 2.
    Scattered(f32),
    /// The first hundredth at this factor, the others at 2.
    Clustered(f32),
    /// In every 512 patches, the first 64 at this factor, the others at 2.
    Neighbourhoods(f32),
}

impl Load {
    /// The factors of so many patches.
    pub(crate) fn factors(self, patches: u32) -> Vec<f32> {
        let factor = |patch: u32| {
            let (heavy, factor) = match self {
                Self::Uniform(factor) => (true, factor),
                Self::Scattered(factor) => (patch.is_multiple_of(100), factor),
                Self::Clustered(factor) => (patch < patches.div_ceil(100), factor),
                Self::Neighbourhoods(factor) => (patch % 512 < 64, factor),
            };
            if heavy { factor } else { LIGHT }
        };
        (0..patches).map(factor).collect()
    }

    /// Domain points of so many patches by the tessellator on the CPU.
    pub(crate) fn expected_points(self, patches: u32) -> u64 {
        let (mut light, mut heavy) = (0, 0);
        let factors = self.factors(patches);
        let other = factors.iter().copied().find(|factor| *factor != LIGHT).unwrap_or(LIGHT);
        factors.iter().for_each(|factor| if *factor == LIGHT { light += 1 } else { heavy += 1 });
        light * points(LIGHT) + heavy * points(other)
    }

    /// The factor of all patches, where it is one.
    pub(crate) fn uniform(self) -> Option<f32> {
        if let Self::Uniform(factor) = self { Some(factor) } else { None }
    }

    /// Domain points of the patch that has the most.
    #[cfg(feature = "native")]
    pub(crate) fn most_points_of_patch(self) -> u64 {
        let (Self::Uniform(heavy) | Self::Scattered(heavy) | Self::Clustered(heavy) | Self::Neighbourhoods(heavy)) =
            self;
        points(heavy).max(points(LIGHT))
    }
}

/// Domain points of a patch at a factor.
fn points(factor: f32) -> u64 {
    TessellatedPatch::new(Domain::Quad, Partitioning::Integer, OutputTopology::TriangleCw, &[factor.to_bits(); 6])
        .map_or(0, |patch| u64::from(patch.point_count()))
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform(factor) => write!(f, "uniform {factor}"),
            Self::Scattered(factor) => write!(f, "1 % at {factor}, scattered"),
            Self::Clustered(factor) => write!(f, "1 % at {factor}, clustered"),
            Self::Neighbourhoods(factor) => write!(f, "neighbourhoods at {factor}"),
        }
    }
}

/// A grid, ready to be drawn.
pub(crate) struct Grid {
    /// On-chip, and compiled for every mode.
    pub(crate) pipeline: TessellationPipeline,
    sheet: Sheet,
    load: Load,
}

/// What a grid is drawn from, by whatever pipeline.
pub(crate) struct Sheet {
    vertices: wgpu::Buffer,
    #[cfg_attr(not(feature = "view"), expect(dead_code, reason = "the viewer alone changes them"))]
    factors: wgpu::Buffer,
    layout: wgpu::BindGroupLayout,
    bind_group: wgpu::BindGroup,
    patches: u32,
}

/// Holds what a draw refers to.
pub(crate) struct GridParts<'a> {
    vertex_buffers: [wgpu::BufferSlice<'a>; 1],
    bind_groups: [Option<&'a wgpu::BindGroup>; 1],
    control_points: u32,
}

impl GridParts<'_> {
    /// The draw of all patches.
    pub(crate) fn draw(&self) -> Draw<'_> {
        Draw {
            vertex_buffers: &self.vertex_buffers,
            bind_groups: &self.bind_groups,
            ..Draw::new(0..self.control_points)
        }
    }
}

impl Sheet {
    pub(crate) fn new(gpu: &Gpu, patches: u32, load: Load) -> Self {
        let storage = wgpu::BufferUsages::STORAGE;
        let factors = gpu.buffer("grid factors", bytemuck::cast_slice(&load.factors(patches)), storage);
        let (layout, bind_group) = gpu.storage_group("grid factors", &factors);
        Self {
            vertices: gpu.buffer("grid points", bytemuck::cast_slice(&positions(patches)), storage),
            factors,
            layout,
            bind_group,
            patches,
        }
    }

    /// Gives the patches other factors, of the frames from now on.
    #[cfg(feature = "view")]
    pub(crate) fn set_load(&self, queue: &wgpu::Queue, load: Load) {
        queue.write_buffer(&self.factors, 0, bytemuck::cast_slice(&load.factors(self.patches)));
    }

    /// The layout that [`compile`] takes.
    pub(crate) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    /// What the draw of all patches is made of.
    pub(crate) fn parts(&self) -> GridParts<'_> {
        GridParts {
            vertex_buffers: [self.vertices.slice(..)],
            bind_groups: [Some(&self.bind_group)],
            control_points: self.patches * 16,
        }
    }
}

/// The grid's pipeline: on-chip, and compiled for every mode.
pub(crate) fn compile(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    choice: &Choice,
) -> Result<TessellationPipeline, Error> {
    let mut descriptor = TessellationPipelineDescriptor {
        label: Some("grid"),
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
        ..TessellationPipelineDescriptor::new(SHADER, Domain::Quad, 16)
    };
    descriptor.names.hull = None;
    TessellationPipeline::new(device, &descriptor)
}

impl Grid {
    pub(crate) fn new(
        gpu: &Gpu,
        patches: u32,
        load: Load,
        patches_per_threadgroup: Option<u32>,
    ) -> anyhow::Result<Self> {
        let sheet = Sheet::new(gpu, patches, load);
        let choice = Choice { patches_per_threadgroup, ..Choice::new(Partitioning::Integer) };
        let pipeline = compile(&gpu.device, sheet.layout(), &choice)?;
        gpu.check()?;
        Ok(Self { pipeline, sheet, load })
    }

    /// Calls `with` with the draw of all patches.
    pub(crate) fn with_draw<T>(&self, with: impl FnOnce(&Draw<'_>) -> T) -> T {
        with(&self.parts().draw())
    }

    /// What the draw of all patches is made of.
    pub(crate) fn parts(&self) -> GridParts<'_> {
        self.sheet.parts()
    }

    /// How many patches it has.
    pub(crate) fn patches(&self) -> u32 {
        self.sheet.patches
    }

    /// Which patches have which factor.
    pub(crate) fn load(&self) -> Load {
        self.load
    }

    /// Domain points by the tessellator on the CPU.
    pub(crate) fn expected_points(&self) -> u64 {
        self.load.expected_points(self.patches())
    }
}

/// Patches along a side of the grid.
pub(crate) fn side(patches: u32) -> u32 {
    f64::from(patches).sqrt().ceil() as u32
}

/// 16 control points a patch, on a wavy sheet.
pub(crate) fn positions(patches: u32) -> Vec<[f32; 3]> {
    let side = side(patches);
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
