//! Making a pipeline: the shader read, the plan made, the kernels composed and compiled.

use std::sync::atomic::{AtomicU64, Ordering};

use super::attributes::{attribute_sources, bindings, vertex_buffer_slots};
use super::checks::{check_bind_groups, check_constants, check_fixed_function, check_scalars, check_storage_buffers};
use super::descriptor::TessellationPipelineDescriptor;
use super::device::{guarded, shader_capabilities, shader_module};
use super::layout::{CHUNKS, MAX_PATCHES, PARAMS_STRIDE, Params, SLOTS};
use super::parameters::{self, on_chip_below, resolve_parameters};
use super::strip_cut::{STRIP_CUT_INDEX_BINDING, StripCut};
use super::tessellation::{ComposedKernels, TessellationPipeline};
use crate::Error;
use crate::hardware::{PatchFootprint, Profile, ThreadgroupPlan};
use crate::shader::compose::{self, FixedFunction, KernelShape, StateShape};
use crate::shader::fetch::{FIRST_VERTEX_BUFFER_BINDING, INDEX_BUFFER_BINDING, IndexPlace};
use crate::shader::{Reflection, reflect_with};

/// Lanes of a workgroup of the threadgroup kernel: two waves.
const LANES: u32 = 128;

const STATE_SHAPE: StateShape = StateShape { chunks: CHUNKS, slots: SLOTS };

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

impl TessellationPipeline {
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
        let four = [params_entry(), storage_entry(1, false), storage_entry(2, false), storage_entry(3, false)];
        let finish_layout = layout("finish", &four)?;
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
        let finish =
            compiler.compile(&kernels.finish, &["pw_finish"], &[None, None, None, Some(&finish_layout)], &[])?;
        let strip_cut = kernels.strip_cut.as_deref().map(|wgsl| StripCut::new(&compiler, wgsl)).transpose()?;
        let indirect =
            compiler.compile(&kernels.indirect, &["pw_indirect"], &[None, None, None, Some(&indirect_layout)], &[])?;
        let stream =
            compiler.compile(&kernels.stream, &["pw_stream"], &[None, None, None, Some(&stream_layout)], &[])?;
        let missing = || Error::Wgpu { what: label.clone(), message: "a kernel was not made".to_owned() };
        let mut made = [threadgroup, allocate, connectivity, finish, indirect, stream].into_iter().flatten();
        let mut next = || made.next().ok_or_else(missing);
        Ok(Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            threadgroup: next()?,
            allocate_blocks: next()?,
            allocate_draw: next()?,
            withdraw: next()?,
            connectivity: next()?,
            finish: next()?,
            finish_layout,
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
