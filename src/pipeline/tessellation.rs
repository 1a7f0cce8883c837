//! The pipeline: the user's shader and the fixed-function state, compiled.

use std::sync::atomic::{AtomicU64, Ordering};

use super::attributes::{VertexBufferSlot, attribute_sources, bindings, vertex_buffer_slots};
use super::descriptor::TessellationPipelineDescriptor;
use super::device::{guarded, shader_capabilities, shader_module};
use super::layout::{CHUNKS, MAX_PATCHES, PARAMS_STRIDE, Params, SLOTS};
use super::parameters::{self, on_chip_below, resolve_parameters};
use super::strip_cut::{STRIP_CUT_INDEX_BINDING, StripCut};
use crate::Error;
use crate::hardware::{ParameterWarning, PatchFootprint, Policy, Profile, ResolvedParameters, ThreadgroupPlan};
use crate::shader::compose::{self, FixedFunction, KernelShape, StateShape};
use crate::shader::fetch::{Bindings, FIRST_VERTEX_BUFFER_BINDING, INDEX_BUFFER_BINDING, IndexPlace};
use crate::shader::{Reflection, pass_through_vertex_shader, reflect_with, vertex_attributes};
use crate::tessellator::{Domain, OutputTopology};

/// Lanes of a workgroup of the threadgroup kernel: two waves.
const LANES: u32 = 128;

const STATE_SHAPE: StateShape = StateShape { chunks: CHUNKS, slots: SLOTS };

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
    pub(super) footprint: PatchFootprint,
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
    pub(crate) threadgroup: wgpu::ComputePipeline,
    pub(crate) allocate_blocks: wgpu::ComputePipeline,
    pub(crate) allocate_draw: wgpu::ComputePipeline,
    pub(crate) withdraw: wgpu::ComputePipeline,
    pub(crate) connectivity: wgpu::ComputePipeline,
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
    /// Allocate pass: entry points `pw_allocate_blocks`, `pw_allocate_draw` and `pw_withdraw`.
    pub allocate: String,
    /// Connectivity pass: entry point `pw_connectivity`.
    pub connectivity: String,
    /// The passes that look for strip cuts, in a pipeline that has them: entry points `pw_cut_blocks`, `pw_cut_totals` and
    /// `pw_cut_patches`.
    pub strip_cut: Option<String>,
    /// Set-up of indirect draws: entry point `pw_indirect`.
    pub indirect: String,
    /// Stream output: entry point `pw_stream`.
    pub stream: String,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

fn in_range(what: &'static str, value: u32, low: u32, high: u32) -> Result<(), Error> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Error::OutOfRange { what, value: value.to_string(), expected: format!("{low} to {high}") })
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

    /// Compiles a pipeline.
    ///
    /// # Errors
    /// [`Error::Shader`] where the user's shader does not keep the contract, [`Error::OutOfRange`] and its neighbours
    /// where the descriptor does not hold together, [`Error::LimitExceeded`] and [`Error::Plan`] where the device has
    /// too little, [`Error::Wgpu`] and [`Error::Compiler`] where wgpu or its compiler refuses.
    pub fn new(device: &wgpu::Device, descriptor: &TessellationPipelineDescriptor<'_>) -> Result<Self, Error> {
        let label = descriptor.label.unwrap_or("patchwave").to_owned();
        check_fixed_function(descriptor)?;
        let capabilities = shader_capabilities(device.features());
        let reflection = reflect_with(descriptor.shader, &descriptor.names, descriptor.domain, capabilities)?;
        check_constants(&reflection, descriptor.constants)?;
        check_bind_groups(&reflection, descriptor.bind_group_layouts)?;
        let slots = vertex_buffer_slots(descriptor.vertex_buffers, device.features())?;
        let sources = attribute_sources(&reflection, &slots)?;
        let bindings = bindings(descriptor, &sources)?;

        let limits = device.limits();
        let fixed = FixedFunction {
            domain: descriptor.domain,
            partitioning: descriptor.partitioning,
            topology: descriptor.output_topology,
            maximum_factor: descriptor.maximum_factor,
        };
        check_storage_buffers(&reflection, &bindings, &limits)?;
        let footprint = footprint(&reflection, descriptor);
        let profile = Profile { max_patches: descriptor.profile.max_patches.min(MAX_PATCHES), ..descriptor.profile };
        let plan = ThreadgroupPlan::maximised(&profile, &footprint, limits.max_compute_workgroup_storage_size)?;
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
            stream: compose::stream(&fixed, reflection.surface.stride, STATE_SHAPE),
            indirect: compose::indirect(&fixed, shape.input_points, PARAMS_STRIDE, STATE_SHAPE),
            strip_cut: shape
                .strip_cut
                .then(|| compose::strip_cut(&fixed, shape.input_points, STATE_SHAPE, STRIP_CUT_INDEX_BINDING)),
        };

        let mut threadgroup_entries = vec![params_entry(), storage_entry(1, false), storage_entry(2, false)];
        threadgroup_entries.push(storage_entry(3, false));
        if bindings.index == IndexPlace::Own {
            threadgroup_entries.push(storage_entry(INDEX_BUFFER_BINDING, true));
        }
        let vertex_buffers = bindings.vertex_buffers();
        threadgroup_entries
            .extend(vertex_buffers.iter().map(|slot| storage_entry(FIRST_VERTEX_BUFFER_BINDING + slot, true)));
        let three = [params_entry(), storage_entry(1, false), storage_entry(2, false)];
        let layout = |what: &str, entries: &[wgpu::BindGroupLayoutEntry]| {
            guarded(device, &format!("{label}: {what} layout"), || {
                device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(what), entries })
            })
        };
        let threadgroup_layout = layout("threadgroup", &threadgroup_entries)?;
        let allocate_layout = layout("allocate", &three)?;
        let connectivity_layout = layout("connectivity", &three)?;
        let indirect_entries =
            [records_entry(), storage_entry(1, false), storage_entry(2, false), storage_entry(3, true)];
        let indirect_layout = layout("indirect", &indirect_entries)?;
        let stream_entries = [
            params_entry(),
            storage_entry(1, true),
            storage_entry(2, true),
            storage_entry(3, true),
            storage_entry(4, false),
        ];
        let stream_layout = layout("stream", &stream_entries)?;

        let compiler = KernelCompiler { device, label: &label, cache: descriptor.cache, loops_end: true };
        let users_compiler = KernelCompiler { loops_end: reflection.loops_end, ..compiler };
        let user: Vec<_> = (0..3).map(|i| descriptor.bind_group_layouts.get(i).copied().flatten()).collect();
        let with_user = [user[0], user[1], user[2], Some(&threadgroup_layout)];
        let threadgroup =
            users_compiler.compile(&kernels.threadgroup, &["pw_threadgroup"], &with_user, descriptor.constants)?;
        let allocate = compiler.compile(
            &kernels.allocate,
            &["pw_allocate_blocks", "pw_allocate_draw", "pw_withdraw"],
            &[None, None, None, Some(&allocate_layout)],
            &[],
        )?;
        let connectivity = compiler.compile(
            &kernels.connectivity,
            &["pw_connectivity"],
            &[None, None, None, Some(&connectivity_layout)],
            &[],
        )?;
        let strip_cut = kernels.strip_cut.as_deref().map(|wgsl| StripCut::new(&compiler, wgsl)).transpose()?;
        let indirect =
            compiler.compile(&kernels.indirect, &["pw_indirect"], &[None, None, None, Some(&indirect_layout)], &[])?;
        let stream =
            compiler.compile(&kernels.stream, &["pw_stream"], &[None, None, None, Some(&stream_layout)], &[])?;
        let missing = || Error::Wgpu { what: label.clone(), message: "a kernel was not made".to_owned() };
        let mut made = threadgroup.into_iter().chain(allocate).chain(connectivity).chain(indirect).chain(stream);
        let mut next = || made.next().ok_or_else(missing);
        Ok(Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            threadgroup: next()?,
            allocate_blocks: next()?,
            allocate_draw: next()?,
            withdraw: next()?,
            connectivity: next()?,
            on_processor: device.adapter_info().device_type == wgpu::DeviceType::Cpu,
            policy: descriptor.policy,
            compiled_patches: shape.max_patches,
            strip_cut,
            indirect: next()?,
            indirect_layout,
            stream: next()?,
            stream_layout,
            off_chip_stride: compose::off_chip_stride(&reflection, shape.output_points),
            label,
            reflection,
            fixed,
            input_points: descriptor.input_control_points,
            profile,
            footprint,
            plan,
            compiled_off_chip,
            parameters,
            on_chip_below: on_chip_below(&parameters, descriptor.domain),
            warnings,
            slots,
            bindings,
            limits,
            threadgroup_layout,
            allocate_layout,
            connectivity_layout,
            kernels,
        })
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

fn check_fixed_function(descriptor: &TessellationPipelineDescriptor<'_>) -> Result<(), Error> {
    in_range("input_control_points", descriptor.input_control_points, 1, 32)?;
    in_range("output_control_points", descriptor.output_control_points, 0, 32)?;
    let pass_through = descriptor.names.hull.is_none();
    let (input, output) = (descriptor.input_control_points, descriptor.output_control_points);
    if pass_through && output != 0 && output != input {
        return Err(Error::OutOfRange {
            what: "output_control_points",
            value: output.to_string(),
            expected: format!("0 or {input} (the input's) in a pipeline without a hull function"),
        });
    }
    if !(1.0..=64.0).contains(&descriptor.maximum_factor) {
        return Err(Error::OutOfRange {
            what: "maximum_factor",
            value: descriptor.maximum_factor.to_string(),
            expected: "1 to 64".to_owned(),
        });
    }
    if !descriptor.output_topology.is_valid_for(descriptor.domain) {
        return Err(Error::TopologyMismatch { topology: descriptor.output_topology, domain: descriptor.domain });
    }
    Ok(())
}

fn check_constants(reflection: &Reflection, constants: &[(&str, f64)]) -> Result<(), Error> {
    for (key, value) in constants {
        if !reflection.overrides.iter().any(|declared| declared.key == *key) {
            let known: Vec<&str> = reflection.overrides.iter().map(|declared| declared.key.as_str()).collect();
            let reason = if known.is_empty() {
                "the shader declares none".to_owned()
            } else {
                format!("the shader declares {}", known.join(", "))
            };
            return Err(Error::Constant { key: (*key).to_owned(), reason });
        }
        if !value.is_finite() {
            return Err(Error::Constant { key: (*key).to_owned(), reason: format!("its value {value} is not finite") });
        }
    }
    for declared in &reflection.overrides {
        if !declared.has_default && !constants.iter().any(|(key, _)| *key == declared.key) {
            let reason = format!("`{}` (line {}) has no default and was given no value", declared.name, declared.line);
            return Err(Error::Constant { key: declared.key.clone(), reason });
        }
    }
    Ok(())
}

fn check_bind_groups(reflection: &Reflection, layouts: &[Option<&wgpu::BindGroupLayout>]) -> Result<(), Error> {
    if layouts.len() > 3 {
        return Err(Error::OutOfRange {
            what: "bind_group_layouts",
            value: format!("{} layouts", layouts.len()),
            expected: "at most 3: group 3 is patchwave's".to_owned(),
        });
    }
    for binding in reflection.bindings.iter().filter(|binding| binding.used) {
        if layouts.get(binding.group as usize).copied().flatten().is_none() {
            return Err(Error::MissingBindGroup {
                group: binding.group,
                binding: binding.name.clone(),
                line: binding.line,
            });
        }
    }
    Ok(())
}

/// State, off-chip buffer and vertices of ours, then the index buffer, the vertex buffers and the user's.
fn check_storage_buffers(reflection: &Reflection, bindings: &Bindings, limits: &wgpu::Limits) -> Result<(), Error> {
    let user = reflection.bindings.iter().filter(|binding| binding.is_storage_buffer && binding.used).count() as u32;
    let vertex_buffers = bindings.vertex_buffers().len();
    let ours = 3 + bindings.count() - vertex_buffers as u32;
    let needed = 3 + bindings.count() + user;
    if needed > limits.max_storage_buffers_per_shader_stage {
        return Err(Error::LimitExceeded {
            what: format!(
                "the kernel ({ours} of patchwave's storage buffers, {vertex_buffers} vertex buffers, {user} of the shader's)"
            ),
            limit: "max_storage_buffers_per_shader_stage",
            needed: u64::from(needed),
            available: u64::from(limits.max_storage_buffers_per_shader_stage),
            advice: "interleave vertex buffers, put several into one buffer and say so in shared_vertex_buffers and \
                     indices, use uniform buffers or textures, or request a higher limit",
        });
    }
    Ok(())
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

pub(super) fn params_entry() -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: 0,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: true,
            min_binding_size: wgpu::BufferSize::new(size_of::<Params>() as u64),
        },
        count: None,
    }
}

/// The parameters of an indirect draw's records, written by the GPU.
fn records_entry() -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: false },
            has_dynamic_offset: true,
            min_binding_size: wgpu::BufferSize::new(2 * PARAMS_STRIDE),
        },
        ..params_entry()
    }
}

pub(super) fn storage_entry(binding: u32, read_only: bool) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}

const _: () = assert!(PARAMS_STRIDE.is_multiple_of(256));

pub(super) struct KernelCompiler<'a> {
    pub(super) device: &'a wgpu::Device,
    pub(super) label: &'a str,
    cache: Option<&'a wgpu::PipelineCache>,
    /// Whether all loops of the kernels are sure to end.
    loops_end: bool,
}

impl KernelCompiler<'_> {
    pub(super) fn compile(
        &self,
        wgsl: &str,
        entry_points: &[&str],
        layouts: &[Option<&wgpu::BindGroupLayout>],
        constants: &[(&str, f64)],
    ) -> Result<Vec<wgpu::ComputePipeline>, Error> {
        let what = format!("{}: {}", self.label, entry_points.first().unwrap_or(&""));
        guarded(self.device, &what, || {
            let module = shader_module(self.device, &what, wgsl, self.loops_end);
            let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(&what),
                bind_group_layouts: layouts,
                immediate_size: 0,
            });
            entry_points
                .iter()
                .map(|entry_point| {
                    self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                        label: Some(entry_point),
                        layout: Some(&layout),
                        module: &module,
                        entry_point: Some(entry_point),
                        compilation_options: wgpu::PipelineCompilationOptions {
                            constants,
                            // Every workgroup variable of ours is written before it is read, and the user has none.
                            zero_initialize_workgroup_memory: false,
                        },
                        cache: self.cache,
                    })
                })
                .collect()
        })
    }
}
