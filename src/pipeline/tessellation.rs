//! The pipeline: the user's shader and the fixed-function state, compiled.

use super::attributes::VertexBufferSlot;
use super::strip_cut::StripCut;
use crate::Error;
use crate::hardware::{ParameterWarning, PatchFootprint, Policy, Profile, ResolvedParameters, ThreadgroupPlan};
use crate::shader::compose::FixedFunction;
use crate::shader::fetch::Bindings;
use crate::shader::{Reflection, pass_through_vertex_shader, vertex_attributes};
use crate::tessellator::{Domain, OutputTopology};

/// A compiled tessellation pipeline: vertex, hull and domain stages and the tessellator between them, as compute passes.
///
/// It belongs to the device that made it and holds no memory of a draw; that is a [`Workspace`](super::Workspace)'s.
#[derive(Clone, Debug)]
pub struct TessellationPipeline {
    /// Tells pipelines apart in the caches of a workspace.
    pub(crate) id: u64,
    pub(crate) label: String,
    pub(crate) reflection: Reflection,
    pub(crate) fixed: FixedFunction,
    pub(crate) input_points: u32,
    pub(crate) profile: Profile,
    pub(crate) footprint: PatchFootprint,
    /// Of the patches that the kernels were compiled for at most.
    pub(crate) plan: ThreadgroupPlan,
    /// Whether both stages have the documentation's define.
    pub(super) compiled_off_chip: bool,
    pub(crate) parameters: ResolvedParameters,
    pub(crate) on_chip_below: [[u32; 4]; 32],
    pub(super) warnings: Vec<ParameterWarning>,
    /// Whether the adapter is no GPU.
    pub(crate) on_processor: bool,
    pub(crate) policy: Policy,
    /// Patches that the kernels' arrays hold.
    pub(super) compiled_patches: u32,
    /// Bytes of a patch in the off-chip buffer.
    pub(crate) off_chip_stride: u64,
    pub(crate) slots: Vec<VertexBufferSlot>,
    /// Where the vertex and index buffers that the vertex function reads of are bound.
    pub(crate) bindings: Bindings,
    pub(crate) limits: wgpu::Limits,
    pub(crate) threadgroup_layout: wgpu::BindGroupLayout,
    pub(crate) allocate_layout: wgpu::BindGroupLayout,
    pub(crate) connectivity_layout: wgpu::BindGroupLayout,
    pub(crate) finish_layout: wgpu::BindGroupLayout,
    pub(crate) threadgroup: wgpu::ComputePipeline,
    pub(crate) allocate_blocks: wgpu::ComputePipeline,
    pub(crate) allocate_draw: wgpu::ComputePipeline,
    pub(crate) close_draw: wgpu::ComputePipeline,
    pub(crate) withdraw: wgpu::ComputePipeline,
    pub(crate) connectivity: wgpu::ComputePipeline,
    pub(crate) finish: wgpu::ComputePipeline,
    /// In a pipeline whose indices can be strip cuts.
    pub(crate) strip_cut: Option<StripCut>,
    pub(crate) indirect: wgpu::ComputePipeline,
    pub(crate) indirect_layout: wgpu::BindGroupLayout,
    pub(crate) stream: wgpu::ComputePipeline,
    pub(crate) stream_layout: wgpu::BindGroupLayout,
    pub(super) kernels: ComposedKernels,
}

/// The WGSL of a pipeline's kernels as it was given to wgpu, to look at or to take elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposedKernels {
    /// Hull and domain passes: entry point `pw_threadgroup`.
    pub threadgroup: String,
    /// Allocate pass: entry points `pw_allocate_blocks`, `pw_allocate_draw`, `pw_close_draw` and `pw_withdraw`.
    pub allocate: String,
    /// Connectivity pass: entry point `pw_connectivity`.
    pub connectivity: String,
    /// Allocate and connectivity of small draws in one pass: entry point `pw_finish`.
    pub finish: String,
    /// The passes that look for strip cuts, in a pipeline that has them: entry points `pw_cut_blocks`, `pw_cut_totals` and
    /// `pw_cut_patches`.
    pub strip_cut: Option<String>,
    /// Set-up of indirect draws: entry point `pw_indirect`.
    pub indirect: String,
    /// Stream output: entry point `pw_stream`.
    pub stream: String,
}

impl TessellationPipeline {
    /// Features that every pipeline needs of the device: none.
    #[must_use]
    pub fn required_features() -> wgpu::Features {
        wgpu::Features::empty()
    }

    /// The limits to request from `adapter`: WebGPU's defaults, raised to what the adapter has where more lets
    /// larger draws or more patches a threadgroup through.
    #[must_use]
    pub fn required_limits(adapter: &wgpu::Adapter) -> wgpu::Limits {
        let has = adapter.limits();
        let base = wgpu::Limits::default();
        wgpu::Limits {
            max_buffer_size: base.max_buffer_size.max(has.max_buffer_size),
            max_storage_buffer_binding_size: base
                .max_storage_buffer_binding_size
                .max(has.max_storage_buffer_binding_size),
            max_compute_workgroup_storage_size: base
                .max_compute_workgroup_storage_size
                .max(has.max_compute_workgroup_storage_size),
            max_storage_buffers_per_shader_stage: base
                .max_storage_buffers_per_shader_stage
                .max(has.max_storage_buffers_per_shader_stage.min(32)),
            ..base
        }
    }

    /// How patches are packed into threadgroups.
    #[must_use]
    pub fn plan(&self) -> &ThreadgroupPlan {
        &self.plan
    }

    /// The three parameters with their defaults filled in.
    #[must_use]
    pub fn parameters(&self) -> &ResolvedParameters {
        &self.parameters
    }

    /// What was odd about the parameters without being wrong.
    #[must_use]
    pub fn warnings(&self) -> &[ParameterWarning] {
        &self.warnings
    }

    /// Bytes that a threadgroup takes in the off-chip buffer; none in an on-chip pipeline.
    pub(crate) fn off_chip_bytes_per_threadgroup(&self) -> u64 {
        if self.parameters.off_chip {
            u64::from(self.parameters.patches_per_threadgroup) * self.off_chip_stride
        } else {
            0
        }
    }

    /// What was read of the user's shader.
    #[must_use]
    pub fn reflection(&self) -> &Reflection {
        &self.reflection
    }

    /// The composed WGSL.
    #[must_use]
    pub fn kernels(&self) -> &ComposedKernels {
        &self.kernels
    }

    /// The domain of the patches.
    #[must_use]
    pub fn domain(&self) -> Domain {
        self.fixed.domain
    }

    /// The primitives that come out.
    #[must_use]
    pub fn output_topology(&self) -> OutputTopology {
        self.fixed.topology
    }

    /// Bytes of a vertex in the output.
    #[must_use]
    pub fn vertex_stride(&self) -> u64 {
        u64::from(self.reflection.surface.stride)
    }

    /// Bytes that the indices of a primitive take.
    pub(crate) fn index_stride(&self) -> u64 {
        4 * u64::from(self.fixed.topology.vertices_per_primitive())
    }

    /// Bytes that a patch's place in the off-chip buffer takes.
    #[must_use]
    pub fn off_chip_bytes_per_patch(&self) -> u64 {
        self.off_chip_stride
    }

    /// The primitive topology for the caller's render pipeline.
    #[must_use]
    pub fn primitive_topology(&self) -> wgpu::PrimitiveTopology {
        match self.fixed.topology {
            OutputTopology::Point => wgpu::PrimitiveTopology::PointList,
            OutputTopology::Line => wgpu::PrimitiveTopology::LineList,
            OutputTopology::TriangleCw | OutputTopology::TriangleCcw => wgpu::PrimitiveTopology::TriangleList,
        }
    }

    /// A vertex shader for the caller's render pipeline that hands the domain function's output through: a WGSL module
    /// with the entry point `vertex_main`, to be followed by the caller's fragment shader.
    ///
    /// # Errors
    /// [`Error::Shader`] where the output struct has no `@builtin(position)`.
    pub fn pass_through_shader(&self) -> Result<String, Error> {
        Ok(pass_through_vertex_shader(&self.reflection.surface)?)
    }

    /// The attributes of a tessellated vertex for [`wgpu::VertexBufferLayout`], as the pass-through shader reads them.
    #[must_use]
    pub fn vertex_attributes(&self) -> Vec<wgpu::VertexAttribute> {
        vertex_attributes(&self.reflection.surface)
            .into_iter()
            .map(|attribute| wgpu::VertexAttribute {
                format: super::attributes::output_format(attribute.kind, attribute.components),
                offset: u64::from(attribute.offset),
                shader_location: attribute.shader_location,
            })
            .collect()
    }
}
