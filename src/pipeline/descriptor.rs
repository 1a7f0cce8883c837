//! What a tessellation pipeline is made from.

use crate::hardware::{PipelineStateFlags, Policy, Profile, Readings, TessellationParameters};
use crate::shader::StageNames;
use crate::tessellator::{Domain, OutputTopology, Partitioning};

/// Describes a [`TessellationPipeline`](super::TessellationPipeline).
///
/// [`TessellationPipelineDescriptor::new`] fills in the defaults; change the public fields from there.
#[derive(Clone, Debug)]
pub struct TessellationPipelineDescriptor<'a> {
    /// Name for debugging tools.
    pub label: Option<&'a str>,
    /// The user's WGSL: structs and the four stage functions, no entry points. Bind group 3 is patchwave's.
    pub shader: &'a str,
    /// The names of the stage functions.
    pub names: StageNames,
    /// Values of the shader's `override` declarations, by `@id` in decimal or by name.
    pub constants: &'a [(&'a str, f64)],
    /// Vertex buffers that the input assembler reads. They are bound as storage, so each needs `BufferUsages::STORAGE`.
    pub vertex_buffers: &'a [wgpu::VertexBufferLayout<'a>],
    /// Which vertex buffers lie in the same `wgpu::Buffer`: slots with equal numbers do, and share one storage binding, of
    /// which a stage has 8 by default. Empty, or a number for each vertex buffer; empty: each has a binding of its own. A
    /// draw that gives such slots different buffers is refused.
    pub shared_vertex_buffers: &'a [u32],
    /// Where draws have their indices; a buffer of its own by default, which costs a storage binding.
    pub indices: Indices,
    /// Whether an index of all ones (0xffff or 0xffffffff, by the index buffer's format) is a strip cut: it stands for no
    /// vertex, and the patch that it falls into is dropped as incomplete. D3D12 has this as `IBStripCutValue`, off by
    /// default as here. How many patches are left only the GPU knows: the workspace has to have room as if there were no
    /// cuts, and [`Tessellation::patches`](super::Tessellation::patches) says that number.
    pub strip_cut: bool,
    /// Layouts of the user's bind groups 0 to 2; every entry that the stage functions use must be visible to COMPUTE.
    pub bind_group_layouts: &'a [Option<&'a wgpu::BindGroupLayout>],
    /// Input control points of a patch, 1 to 32.
    pub input_control_points: u32,
    /// Output control points of a patch, 0 to 32. Without a hull function: 0, or as many as the input's.
    pub output_control_points: u32,
    /// What a patch's parameter space is.
    pub domain: Domain,
    /// How a factor becomes segments.
    pub partitioning: Partitioning,
    /// What primitives come out.
    pub output_topology: OutputTopology,
    /// Factors above it are taken as it, as HLSL's `maxtessfactor` does; 1 to 64, 64 by default.
    pub maximum_factor: f32,
    /// On-chip (the default) or off-chip, decided by each threadgroup.
    pub flags: PipelineStateFlags,
    /// Whether the hull stage is compiled for off-chip (`__XBOX_ENABLE_HSOFFCHIP`); must equal the domain stage's.
    pub hull_off_chip: bool,
    /// Whether the domain stage is compiled for off-chip.
    pub domain_off_chip: bool,
    /// Patches per threadgroup, factor threshold and wave threshold; the driver's defaults where not given.
    pub parameters: TessellationParameters,
    /// Whether what is not given is chosen as the console's driver does, or for speed on this adapter.
    pub policy: Policy,
    /// The machine that is emulated; the console's by default. It bounds patches per threadgroup, and statistics and
    /// timelines are of it.
    pub profile: Profile,
    /// How open questions of the console's documentation are read; `docs/hardware.md` lists them.
    pub readings: Readings,
    /// A cache of compiled pipelines.
    pub cache: Option<&'a wgpu::PipelineCache>,
}

/// Where the draws of a pipeline have their indices. A kernel is compiled before the buffers are known, so it is told
/// beforehand which of them are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Indices {
    /// In any buffer, or the draw has none.
    #[default]
    OwnBuffer,
    /// In the `wgpu::Buffer` that this vertex buffer slot lies in, or the draw has none. Costs no binding.
    InVertexBuffer(u32),
    /// No draw is indexed. Costs no binding.
    Never,
}

impl<'a> TessellationPipelineDescriptor<'a> {
    /// Makes the pipeline off-chip: threadgroups whose average factor reaches the threshold leave their control points
    /// in memory for other compute units. Sets the flags and both stages' defines.
    #[must_use]
    pub fn off_chip(mut self, parameters: TessellationParameters) -> Self {
        self.flags = PipelineStateFlags::GsOnchipTsOffchip;
        self.hull_off_chip = true;
        self.domain_off_chip = true;
        self.parameters = parameters;
        self
    }

    /// A descriptor of `control_points` in and out, integer partitioning, and the domain's usual topology: clockwise
    /// triangles, or lines for isolines.
    #[must_use]
    pub fn new(shader: &'a str, domain: Domain, control_points: u32) -> Self {
        Self {
            label: None,
            shader,
            names: StageNames::default(),
            constants: &[],
            vertex_buffers: &[],
            shared_vertex_buffers: &[],
            indices: Indices::OwnBuffer,
            strip_cut: false,
            bind_group_layouts: &[],
            input_control_points: control_points,
            output_control_points: control_points,
            domain,
            partitioning: Partitioning::Integer,
            output_topology: match domain {
                Domain::Isoline => OutputTopology::Line,
                Domain::Tri | Domain::Quad => OutputTopology::TriangleCw,
            },
            maximum_factor: 64.0,
            flags: PipelineStateFlags::None,
            hull_off_chip: false,
            domain_off_chip: false,
            parameters: TessellationParameters::default(),
            policy: Policy::Driver,
            profile: Profile::default(),
            readings: Readings::default(),
            cache: None,
        }
    }
}
