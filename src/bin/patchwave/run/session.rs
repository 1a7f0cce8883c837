//! A scene on a device: its pipeline, compiled once, and what it comes to in each mode.

use patchwave::hardware::{TessellationParameters, ThreadgroupRecord};
use patchwave::pipeline::Indices;
use patchwave::shader::reflect;
use patchwave::{Error, IndexBuffer, Mesh, Tessellation, TessellationPipeline, TessellationPipelineDescriptor};

use super::bindings::Resources;
use super::camera::Names;
use super::draws::{Call, Inputs};
use super::place::Place;
use super::scene::Scene;
use crate::scene::Choice;
use crate::scene::gpu::Gpu;
use crate::scene::mode::Mode;

/// A scene whose pipeline is compiled.
pub(crate) struct Session<'a> {
    gpu: &'a Gpu,
    scene: &'a Scene,
    resources: Resources<'a>,
    pipeline: TessellationPipeline,
}

/// A scene that was run in one mode.
pub(crate) struct Ran {
    pub(crate) pipeline: TessellationPipeline,
    /// One a draw; an indirect draw has one a record.
    pub(crate) draws: Vec<RanDraw>,
    /// The buffers of the scene's resources, by name.
    pub(crate) buffers: Vec<(String, wgpu::Buffer)>,
}

/// A draw that was run.
pub(crate) struct RanDraw {
    pub(crate) tessellation: Tessellation,
    pub(crate) mesh: Mesh,
    pub(crate) threadgroups: Vec<ThreadgroupRecord>,
}

impl<'a> Session<'a> {
    /// Compiles the scene's pipeline.
    pub(crate) fn new(gpu: &'a Gpu, scene: &'a Scene) -> anyhow::Result<Self> {
        let reflection =
            reflect(&scene.shader, &scene.names, scene.domain).map_err(|error| explained(scene, error.into()))?;
        let resources = Resources::new(gpu, &reflection, &scene.file, scene.text.folder())?;
        let choice = Choice {
            patches_per_threadgroup: scene.file.tessellation.patches_per_threadgroup,
            ..Choice::new(scene.partitioning)
        };
        let pipeline = compile(&gpu.device, scene, &resources.layouts, &choice, &scene.constants)?;
        Ok(Self { gpu, scene, resources, pipeline })
    }

    /// Runs the scene in a mode.
    pub(crate) fn run(&self, mode: Mode) -> anyhow::Result<Ran> {
        let Self { gpu, scene, .. } = self;
        let given = &scene.file.tessellation;
        let parameters = TessellationParameters {
            patches_per_threadgroup: given.patches_per_threadgroup,
            tessellation_factor_threshold: given.factor_threshold,
            ds_wave_threshold: given.wave_threshold,
        };
        let pipeline = mode.of(&self.pipeline, &parameters).map_err(|error| match error.downcast::<Error>() {
            Ok(error) => explained(scene, error),
            Err(error) => error,
        })?;
        let names = Names::new(scene.file.target.as_ref(), scene.camera.as_ref());
        let bound = self.resources.bind(gpu, &pipeline.kernels().threadgroup, scene.text.folder(), &names)?;

        let storage = wgpu::BufferUsages::STORAGE;
        let vertex: Vec<_> = scene.vertex.iter().map(|one| gpu.buffer("scene vertices", &one.bytes, storage)).collect();
        let index = scene.index.as_ref().map(|one| gpu.buffer("scene indices", &one.bytes, storage));
        // The buffers are padded to words; the slices are what the file has.
        let slices: Vec<_> =
            vertex.iter().zip(&scene.vertex).map(|(on, of)| on.slice(..of.bytes.len() as u64)).collect();
        let index_buffer = index
            .as_ref()
            .zip(scene.index.as_ref())
            .map(|(buffer, data)| IndexBuffer { slice: buffer.slice(..data.bytes.len() as u64), format: data.format });
        let bind_groups: Vec<_> = bound.groups.iter().map(Option::as_ref).collect();
        let inputs = Inputs { vertex_buffers: &slices, index_buffer, bind_groups: &bind_groups };

        let points = scene.file.state.input_control_points;
        let mut workspace = inputs.workspace(gpu, &pipeline, &scene.calls, points, scene.file.workspace.as_ref())?;
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("scene") });
        let mut results = Vec::new();
        for (i, call) in scene.calls.iter().enumerate() {
            let relay = |error: Error| Place::new("draws").at(i).relay(&error);
            match call {
                Call::Direct(numbers) => {
                    let draw = inputs.draw(numbers);
                    let result = pipeline.encode(&gpu.queue, &mut encoder, &mut workspace, &draw);
                    results.push(result.map_err(relay)?);
                }
                Call::Indirect(records) => {
                    let arguments = gpu.buffer("scene arguments", &records.bytes, storage);
                    let draw = inputs.indirect(records, &arguments);
                    let made = pipeline.encode_indirect(&gpu.queue, &mut encoder, &mut workspace, &draw);
                    results.extend(made.map_err(relay)?);
                }
            }
        }
        gpu.queue.submit([encoder.finish()]);
        gpu.wait()?;
        let mut draws = Vec::with_capacity(results.len());
        for tessellation in results {
            let mesh = Mesh::read_blocking(&gpu.device, &gpu.queue, &tessellation)?;
            let threadgroups = tessellation.threadgroup_records_blocking(&gpu.device, &gpu.queue)?;
            draws.push(RanDraw { tessellation, mesh, threadgroups });
        }
        gpu.check()?;
        Ok(Ran { pipeline, draws, buffers: bound.buffers })
    }
}

/// The scene's pipeline with this choice and these constants. The thresholds go with a mode, which takes no compiling.
pub(super) fn compile(
    device: &wgpu::Device,
    scene: &Scene,
    layouts: &[Option<wgpu::BindGroupLayout>],
    choice: &Choice,
    constants: &[(String, f64)],
) -> anyhow::Result<TessellationPipeline> {
    let constants: Vec<(&str, f64)> = constants.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let vertex_buffers: Vec<_> = scene
        .vertex
        .iter()
        .map(|buffer| wgpu::VertexBufferLayout {
            array_stride: buffer.stride,
            step_mode: buffer.step,
            attributes: &buffer.attributes,
        })
        .collect();
    let groups: Vec<_> = layouts.iter().map(Option::as_ref).collect();
    let state = &scene.file.state;
    let points = state.input_control_points;
    let descriptor = TessellationPipelineDescriptor {
        label: Some("scene"),
        names: scene.names.clone(),
        constants: &constants,
        vertex_buffers: &vertex_buffers,
        // A draw without indices leaves a storage binding to the user.
        indices: if scene.index.is_some() { Indices::OwnBuffer } else { Indices::Never },
        strip_cut: scene.file.indices.as_ref().is_some_and(|indices| indices.strip_cut),
        bind_group_layouts: &groups,
        output_control_points: state.output_control_points.unwrap_or(points),
        partitioning: choice.partitioning,
        output_topology: scene.topology,
        maximum_factor: state.maximum_factor.unwrap_or(64.0),
        policy: choice.policy,
        parameters: choice.parameters(),
        ..TessellationPipelineDescriptor::new(&scene.shader, scene.domain, points)
    };
    TessellationPipeline::new(device, &descriptor).map_err(|error| explained(scene, error))
}

/// A library error while the pipeline is made, with the shader's name or the place of what it is about.
pub(super) fn explained(scene: &Scene, error: Error) -> anyhow::Error {
    let place = match &error {
        Error::Shader(_) => return anyhow::Error::new(error).context(scene.shader_name.clone()),
        Error::OutOfRange { what, .. } => Place::new("state").key(what),
        Error::TopologyMismatch { .. } => Place::new("state").key("topology"),
        Error::VertexLayout { slot, .. } => Place::new("vertex_buffers").at(*slot),
        Error::Attribute { .. } => Place::new("vertex_buffers"),
        Error::Constant { key, .. } => Place::new("shader").key("constants").key(key),
        Error::Parameters(_) => Place::new("tessellation"),
        _ => return error.into(),
    };
    place.relay(&error).into()
}
