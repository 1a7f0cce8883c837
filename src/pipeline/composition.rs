//! A pipeline without a device: the shader read, the plan made, the kernels composed, and nothing compiled.

use super::attributes::{VertexBufferSlot, attribute_sources, bindings, vertex_buffer_slots};
use super::checks::{check_constants, check_fixed_function, check_scalars, check_storage_buffers};
use super::descriptor::TessellationPipelineDescriptor;
use super::device::shader_capabilities;
use super::layout::{CHUNKS, MAX_PATCHES, PARAMS_STRIDE, SLOTS};
use super::parameters::{self, resolve_parameters};
use super::strip_cut::STRIP_CUT_INDEX_BINDING;
use super::tessellation::ComposedKernels;
use crate::Error;
use crate::hardware::{LdsBudget, ParameterWarning, PatchFootprint, Profile, ResolvedParameters, ThreadgroupPlan};
use crate::shader::compose::{self, FixedFunction, KernelShape, StateShape};
use crate::shader::fetch::{Bindings, IndexPlace};
use crate::shader::{Reflection, pass_through_vertex_shader, reflect_with};

/// Lanes of a workgroup of the threadgroup kernel: two waves.
const LANES: u32 = 128;

const STATE_SHAPE: StateShape = StateShape { chunks: CHUNKS, slots: SLOTS };

/// What a [`TessellationPipeline`](super::TessellationPipeline) is before a device compiles it: to check a shader, to look
/// at the kernels, or to take them elsewhere.
#[derive(Clone, Debug)]
pub struct Composition {
    pub(super) reflection: Reflection,
    pub(super) fixed: FixedFunction,
    pub(super) profile: Profile,
    pub(super) footprint: PatchFootprint,
    pub(super) plan: ThreadgroupPlan,
    pub(super) compiled_off_chip: bool,
    pub(super) parameters: ResolvedParameters,
    pub(super) warnings: Vec<ParameterWarning>,
    pub(super) shape: KernelShape,
    pub(super) slots: Vec<VertexBufferSlot>,
    pub(super) bindings: Bindings,
    pub(super) kernels: ComposedKernels,
}

impl Composition {
    /// Composes the kernels for a device of these features and limits.
    ///
    /// # Errors
    /// As [`TessellationPipeline::new`](super::TessellationPipeline::new), without what wgpu and its compiler would say.
    /// The descriptor's bind group layouts are not looked at, since there is no device to make them.
    pub fn new(
        descriptor: &TessellationPipelineDescriptor<'_>,
        features: wgpu::Features,
        limits: &wgpu::Limits,
    ) -> Result<Self, Error> {
        check_fixed_function(descriptor)?;
        let capabilities = shader_capabilities(features);
        let reflection = reflect_with(descriptor.shader, &descriptor.names, descriptor.domain, capabilities)?;
        check_constants(&reflection, descriptor.constants)?;
        let slots = vertex_buffer_slots(descriptor.vertex_buffers, features)?;
        let sources = attribute_sources(&reflection, &slots)?;
        let bindings = bindings(descriptor, &sources)?;

        let fixed = FixedFunction {
            domain: descriptor.domain,
            partitioning: descriptor.partitioning,
            topology: descriptor.output_topology,
            maximum_factor: descriptor.maximum_factor,
        };
        check_storage_buffers(&reflection, &bindings, limits)?;
        let footprint = footprint(&reflection, descriptor);
        let profile = Profile { max_patches: descriptor.profile.max_patches.min(MAX_PATCHES), ..descriptor.profile };
        let plan = ThreadgroupPlan::maximised(&profile, &footprint, limits.max_compute_workgroup_storage_size)?;
        check_scalars(&reflection, descriptor.output_control_points)?;
        let compiled_off_chip = parameters::compiled_off_chip(descriptor.hull_off_chip, descriptor.domain_off_chip)?;
        let asked = parameters::Asked {
            flags: descriptor.flags,
            parameters: &descriptor.policy.parameters(descriptor.parameters, descriptor.flags),
            readings: descriptor.readings,
            compiled_off_chip,
        };
        let (parameters, warnings) = resolve_parameters(&asked, &plan, &profile, &footprint, descriptor.domain)?;
        let shape = KernelShape {
            input_points: descriptor.input_control_points,
            output_points: descriptor.output_control_points,
            max_patches: parameters.patches_per_threadgroup,
            lanes: LANES,
            strip_cut: descriptor.strip_cut && bindings.index != IndexPlace::Never,
        };
        let kernels = ComposedKernels {
            threadgroup: compose::threadgroup(&reflection, &fixed, &shape, STATE_SHAPE, &sources, &bindings),
            allocate: compose::allocate(&fixed, reflection.surface.stride, STATE_SHAPE),
            connectivity: compose::connectivity(&fixed, shape.max_patches, STATE_SHAPE),
            finish: compose::finish(&fixed, shape.max_patches, reflection.surface.stride, STATE_SHAPE),
            stream: compose::stream(&fixed, reflection.surface.stride, STATE_SHAPE),
            indirect: compose::indirect(&fixed, shape.input_points, PARAMS_STRIDE, STATE_SHAPE),
            strip_cut: shape
                .strip_cut
                .then(|| compose::strip_cut(&fixed, shape.input_points, STATE_SHAPE, STRIP_CUT_INDEX_BINDING)),
        };
        Ok(Self {
            reflection,
            fixed,
            profile,
            footprint,
            plan,
            compiled_off_chip,
            parameters,
            warnings,
            shape,
            slots,
            bindings,
            kernels,
        })
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

    /// How patches are packed into threadgroups.
    #[must_use]
    pub fn plan(&self) -> &ThreadgroupPlan {
        &self.plan
    }

    /// What a patch takes of LDS and of workgroup memory.
    #[must_use]
    pub fn footprint(&self) -> &PatchFootprint {
        &self.footprint
    }

    /// LDS of a threadgroup on the emulated machine, field by field, at these patches per threadgroup.
    #[must_use]
    pub fn lds_budget(&self) -> LdsBudget {
        LdsBudget::new(&self.profile, &self.footprint, self.parameters.patches_per_threadgroup)
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

    /// Storage buffers that the threadgroup kernel binds: patchwave's, the vertex and index buffers, and those of the
    /// shader's that its stages reach. WebGPU's default limit is 8.
    #[must_use]
    pub fn storage_buffers(&self) -> u32 {
        super::checks::storage_buffers(&self.reflection, &self.bindings)
    }

    /// As [`TessellationPipeline::pass_through_shader`](super::TessellationPipeline::pass_through_shader).
    ///
    /// # Errors
    /// [`Error::Shader`] where the output struct has no `@builtin(position)`.
    pub fn pass_through_shader(&self) -> Result<String, Error> {
        Ok(pass_through_vertex_shader(&self.reflection.surface)?)
    }
}

fn footprint(reflection: &Reflection, descriptor: &TessellationPipelineDescriptor<'_>) -> PatchFootprint {
    PatchFootprint {
        input_points: descriptor.input_control_points,
        input_stride: reflection.input_point.stride,
        output_points: descriptor.output_control_points,
        output_stride: reflection.output_point.stride,
        constants_stride: reflection.constants.stride,
        pass_through: descriptor.names.hull.is_none(),
        factors: descriptor.domain.factor_count() as u32,
    }
}
