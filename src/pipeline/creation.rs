//! Making a pipeline: what was composed, compiled for a device.

use std::sync::atomic::{AtomicU64, Ordering};

use super::checks::check_bind_groups;
use super::composition::Composition;
use super::descriptor::TessellationPipelineDescriptor;
use super::device::{guarded, shader_module};
use super::layout::{PARAMS_STRIDE, Params};
use super::parameters::on_chip_below;
use super::strip_cut::StripCut;
use super::tessellation::TessellationPipeline;
use crate::Error;
use crate::shader::compose;
use crate::shader::fetch::{FIRST_VERTEX_BUFFER_BINDING, INDEX_BUFFER_BINDING, IndexPlace};

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
        let limits = device.limits();
        let composition = Composition::new(descriptor, device.features(), &limits)?;
        check_bind_groups(&composition.reflection, descriptor.bind_group_layouts)?;
        let Composition {
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
        } = composition;

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
            &["pw_allocate_blocks", "pw_allocate_draw", "pw_close_draw", "pw_withdraw"],
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
            close_draw: next()?,
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
            input_points: shape.input_points,
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
