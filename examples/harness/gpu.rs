//! The device, and what examples make on it.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use patchwave::{Draw, GrowingWorkspace, TessellationPipeline, WorkspaceDescriptor};

use super::picture::{COLOR, DEPTH, SAMPLES};

/// A device that serves patchwave.
pub struct Gpu {
    pub instance: wgpu::Instance,
    pub adapter: wgpu::Adapter,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    /// The adapter's name.
    pub name: String,
    /// What wgpu reported first. Its own handler would panic.
    failure: Arc<Mutex<Option<String>>>,
}

/// An entry of a bind group, visible to every stage: patchwave's are compute passes.
pub enum Bind<'a> {
    Uniform(&'a wgpu::Buffer),
    /// A storage buffer that is read.
    Storage(&'a wgpu::Buffer),
    /// A texture that is filtered.
    Texture(&'a wgpu::TextureView),
    /// A texture whose texels are loaded.
    Texels(&'a wgpu::TextureView),
    Sampler(&'a wgpu::Sampler),
}

/// How a tessellated surface is drawn.
pub struct SurfaceDraw<'a> {
    /// WGSL that follows the pass-through vertex shader, which declares the domain function's struct: its entry point is
    /// `fragment_main`.
    pub fragment: &'a str,
    /// For `@group(0)` and on of the fragment shader.
    pub layouts: &'a [Option<&'a wgpu::BindGroupLayout>],
    /// The winding of the side that `cross(du, dv)` points to, as seen. Triangles of `triangle_cw` are clockwise with u to
    /// the right and v down: in a space without mirroring they are counter-clockwise seen from there.
    pub front: wgpu::FrontFace,
    /// Faces that are left out.
    pub cull: Option<wgpu::Face>,
}

impl Gpu {
    /// Opens the first adapter whose name contains `wanted`.
    pub fn open(wanted: Option<&str>) -> anyhow::Result<Self> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        Self::open_on(instance, wanted)
    }

    /// As [`Gpu::open`], on an instance that knows of a window system.
    pub fn open_on(instance: wgpu::Instance, wanted: Option<&str>) -> anyhow::Result<Self> {
        let wanted = wanted.unwrap_or_default().to_lowercase();
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        let names: Vec<String> = adapters.iter().map(|adapter| adapter.get_info().name).collect();
        let adapter = adapters
            .into_iter()
            .find(|adapter| adapter.get_info().name.to_lowercase().contains(&wanted))
            .with_context(|| match &names[..] {
                [] => "no Vulkan, Metal or DX12 adapter; 'make demo' installs a software one".to_owned(),
                names => format!("no adapter whose name contains '{wanted}'; there are {}", names.join(", ")),
            })?;
        let name = adapter.get_info().name;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("patchwave example"),
            required_features: TessellationPipeline::required_features(),
            required_limits: TessellationPipeline::required_limits(&adapter),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .with_context(|| format!("adapter '{name}' gives no device"))?;
        let failure = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&failure);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.to_string());
        }));
        Ok(Self { instance, adapter, device, queue, name, failure })
    }

    /// The first error that wgpu has reported until now, if there is one.
    pub fn check(&self) -> anyhow::Result<()> {
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some(message) => anyhow::bail!("adapter '{}': {message}", self.name),
        }
    }

    /// Waits until everything submitted is done.
    pub fn wait(&self) -> anyhow::Result<()> {
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.check()?;
        waited.with_context(|| format!("adapter '{}' stopped answering", self.name))?;
        Ok(())
    }

    /// A buffer with these contents. What patchwave reads (vertices and indices too) needs `STORAGE`.
    pub fn buffer<T: bytemuck::NoUninit>(&self, label: &str, items: &[T], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let mut bytes = bytemuck::cast_slice(items).to_vec();
        // Writes are whole words.
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: bytes.len() as u64,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, &bytes);
        buffer
    }

    /// A uniform buffer for one `T`, to be written each frame.
    pub fn uniform<T>(&self, label: &str) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: (size_of::<T>() as u64).next_multiple_of(16),
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// A bind group of these entries, at bindings 0 and on, and its layout.
    pub fn bind_group(&self, label: &str, entries: &[Bind<'_>]) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
        let layout_entry = |(binding, entry): (u32, &Bind<'_>)| wgpu::BindGroupLayoutEntry {
            binding,
            // COMPUTE is for patchwave; the other two for the render pipeline that draws the surface.
            visibility: wgpu::ShaderStages::COMPUTE | wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty: entry.ty(),
            count: None,
        };
        let layout = self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(label),
            entries: &(0..).zip(entries).map(layout_entry).collect::<Vec<_>>(),
        });
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(label),
            layout: &layout,
            entries: &(0..).zip(entries).map(|(binding, entry)| entry.at(binding)).collect::<Vec<_>>(),
        });
        (layout, group)
    }

    /// A workspace with room for `draw` as it is now, which grows where a later frame takes more.
    pub fn workspace(&self, pipeline: &TessellationPipeline, draw: &Draw<'_>) -> anyhow::Result<GrowingWorkspace> {
        let needs = pipeline.measure_blocking(&self.device, &self.queue, draw)?;
        let sizes = WorkspaceDescriptor::for_measurement(pipeline, &needs)?;
        Ok(GrowingWorkspace::new(&self.device, pipeline, sizes)?)
    }

    /// The render pipeline that draws what `pipeline` makes, into a [`super::Picture`].
    pub fn surface_pipeline(
        &self,
        pipeline: &TessellationPipeline,
        draw: &SurfaceDraw<'_>,
    ) -> anyhow::Result<wgpu::RenderPipeline> {
        // The domain function's struct and a vertex shader that hands it on, then the fragment shader.
        let text = format!("{}\n{}", pipeline.pass_through_shader()?, draw.fragment);
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("surface"),
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("surface"),
            bind_group_layouts: draw.layouts,
            immediate_size: 0,
        });
        let made = self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("surface"),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[Some(wgpu::VertexBufferLayout {
                    array_stride: pipeline.vertex_stride(),
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &pipeline.vertex_attributes(),
                })],
            },
            primitive: wgpu::PrimitiveState {
                topology: pipeline.primitive_topology(),
                front_face: draw.front,
                cull_mode: draw.cull,
                ..wgpu::PrimitiveState::default()
            },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..wgpu::MultisampleState::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(COLOR.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        self.check()?;
        Ok(made)
    }
}

impl<'a> Bind<'a> {
    fn at(&self, binding: u32) -> wgpu::BindGroupEntry<'a> {
        let resource = match *self {
            Self::Uniform(buffer) | Self::Storage(buffer) => buffer.as_entire_binding(),
            Self::Texture(view) | Self::Texels(view) => wgpu::BindingResource::TextureView(view),
            Self::Sampler(sampler) => wgpu::BindingResource::Sampler(sampler),
        };
        wgpu::BindGroupEntry { binding, resource }
    }

    fn ty(&self) -> wgpu::BindingType {
        let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
        let texture = |filterable| wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        match self {
            Self::Uniform(_) => buffer(wgpu::BufferBindingType::Uniform),
            Self::Storage(_) => buffer(wgpu::BufferBindingType::Storage { read_only: true }),
            Self::Texture(_) => texture(true),
            Self::Texels(_) => texture(false),
            Self::Sampler(_) => wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
        }
    }
}
