//! A scene, read and checked as far as that goes without a device; and what it comes to on one.

use std::path::Path;

use anyhow::Context;
use patchwave::hardware::{TessellationParameters, ThreadgroupRecord};
use patchwave::shader::{StageNames, reflect};
use patchwave::{
    Domain, Error, IndexBuffer, Mesh, OutputTopology, Partitioning, Tessellation, TessellationPipeline,
    TessellationPipelineDescriptor,
};

use super::bindings::Resources;
use super::buffers::{IndexData, VertexData, read_file};
use super::camera::{Camera, Names};
use super::draws::{Call, Inputs};
use super::file::{Hull, SceneFile};
use super::meshes::Polygons;
use super::modes::Mode;
use super::place::{Complaint, Place, SceneText, suggestion};
use super::value::Value;
use crate::scene::gpu::Gpu;

/// A scene with its data.
pub(crate) struct Scene {
    pub(crate) text: SceneText,
    pub(crate) file: SceneFile,
    shader: String,
    /// The shader as messages call it.
    shader_name: String,
    names: StageNames,
    constants: Vec<(String, f64)>,
    domain: Domain,
    partitioning: Partitioning,
    topology: OutputTopology,
    vertex: Vec<VertexData>,
    index: Option<IndexData>,
    calls: Vec<Call>,
    pub(crate) camera: Option<Camera>,
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

impl Scene {
    /// Reads a scene file and all that it names.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        anyhow::ensure!(
            !path.is_dir(),
            "cannot read {shown}: it is a folder; name a scene file, or see 'patchwave test'"
        );
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let text = SceneText { path: path.to_owned(), text };
        let file = SceneFile::read(&text)?;
        Self::new(&text, file).map_err(|complaint| text.located(complaint.into()))
    }

    fn new(text: &SceneText, file: SceneFile) -> Result<Self, Complaint> {
        let folder = text.folder();
        let place = Place::new("shader");
        let (shader, shader_name) = match (&file.shader.file, &file.shader.text) {
            (Some(name), None) => {
                let bytes = read_file(folder, name, &place.key("file"))?;
                let refuse = |_| place.key("file").complain(format!("{name} is not UTF-8 text"));
                (String::from_utf8(bytes).map_err(refuse)?, name.clone())
            }
            (None, Some(text)) => (text.clone(), "shader.text".to_owned()),
            (Some(_), Some(_)) => {
                return Err(place.key("text").complain("a file is given as well; leave one of them out"));
            }
            (None, None) => return Err(place.complain("give the shader's file or its text")),
        };
        let names = StageNames::default();
        let names = StageNames {
            vertex: file.shader.vertex.clone().unwrap_or(names.vertex),
            hull: match &file.shader.hull {
                None => names.hull,
                Some(Hull::Named(name)) => Some(name.clone()),
                Some(Hull::PassThrough) => None,
            },
            patch_constants: file.shader.patch_constants.clone().unwrap_or(names.patch_constants),
            domain: file.shader.domain.clone().unwrap_or(names.domain),
        };
        let constants = file.shader.constants.iter().map(|(key, value)| {
            let number = match value {
                Value::Bool(value) => Ok(f64::from(u8::from(*value))),
                value => value.double(),
            };
            let number = number.map_err(|message| place.key("constants").key(key).complain(message))?;
            Ok((key.clone(), number))
        });
        let constants = constants.collect::<Result<_, _>>()?;

        let domain = named(&file.state.domain, "domain", &Domain::ALL.map(Domain::name))?;
        let partitioning = match &file.state.partitioning {
            None => Partitioning::Integer,
            Some(name) => named(name, "partitioning", &Partitioning::ALL.map(Partitioning::name))?,
        };
        let usual = if domain == Domain::Isoline { OutputTopology::Line } else { OutputTopology::TriangleCw };
        let topology = match &file.state.topology {
            None => usual,
            Some(name) => named(name, "topology", &OutputTopology::ALL.map(OutputTopology::name))?,
        };

        let polygons = Polygons { corners: file.state.input_control_points, triangulate: false };
        let buffers = file.vertex_buffers.iter().enumerate();
        let buffers = buffers.map(|(i, buffer)| {
            let place = Place::new("vertex_buffers").at(i);
            VertexData::new(buffer, folder, polygons, &place)
        });
        let vertex: Vec<VertexData> = buffers.collect::<Result<_, _>>()?;
        let index =
            file.indices.as_ref().map(|indices| IndexData::new(indices, folder, polygons, &Place::new("indices")));
        let index = index.transpose()?;
        let calls = Call::all(&file, &vertex, index.as_ref())?;
        let camera = match &file.target {
            None => None,
            Some(target) if target.size.iter().all(|side| (1..=8192).contains(side)) => Camera::new(target)?,
            Some(_) => return Err(Place::new("target").key("size").complain("width and height are each 1 to 8192")),
        };
        Ok(Self {
            text: text.clone(),
            shader,
            shader_name,
            names,
            constants,
            domain,
            partitioning,
            topology,
            vertex,
            index,
            calls,
            camera,
            file,
        })
    }

    /// The mode that the file asks for.
    pub(crate) fn mode(&self) -> Mode {
        self.file.tessellation.mode.unwrap_or(Mode::Onchip)
    }

    fn descriptor<'a>(
        &'a self,
        constants: &'a [(&'a str, f64)],
        vertex_buffers: &'a [wgpu::VertexBufferLayout<'a>],
        bind_group_layouts: &'a [Option<&'a wgpu::BindGroupLayout>],
        mode: Mode,
    ) -> TessellationPipelineDescriptor<'a> {
        let state = &self.file.state;
        let given = &self.file.tessellation;
        let points = state.input_control_points;
        let descriptor = TessellationPipelineDescriptor {
            label: Some("scene"),
            names: self.names.clone(),
            constants,
            vertex_buffers,
            bind_group_layouts,
            output_control_points: state.output_control_points.unwrap_or(points),
            partitioning: self.partitioning,
            output_topology: self.topology,
            maximum_factor: state.maximum_factor.unwrap_or(64.0),
            ..TessellationPipelineDescriptor::new(&self.shader, self.domain, points)
        };
        let parameters = TessellationParameters {
            patches_per_threadgroup: given.patches_per_threadgroup,
            tessellation_factor_threshold: given.factor_threshold,
            ds_wave_threshold: given.wave_threshold,
        };
        mode.of(descriptor, &parameters)
    }

    /// Runs the scene in a mode.
    pub(crate) fn run(&self, gpu: &Gpu, mode: Mode) -> anyhow::Result<Ran> {
        let folder = self.text.folder();
        let reflection =
            reflect(&self.shader, &self.names, self.domain).map_err(|error| self.explained(error.into()))?;
        let resources = Resources::new(gpu, &reflection, &self.file, folder)?;
        let constants: Vec<(&str, f64)> = self.constants.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        let layouts: Vec<_> = self
            .vertex
            .iter()
            .map(|buffer| wgpu::VertexBufferLayout {
                array_stride: buffer.stride,
                step_mode: buffer.step,
                attributes: &buffer.attributes,
            })
            .collect();
        let groups: Vec<_> = resources.layouts.iter().map(Option::as_ref).collect();
        let descriptor = self.descriptor(&constants, &layouts, &groups, mode);
        let pipeline = TessellationPipeline::new(&gpu.device, &descriptor).map_err(|error| self.explained(error))?;
        let names = Names::new(self.file.target.as_ref(), self.camera.as_ref());
        let bound = resources.bind(gpu, &pipeline.kernels().threadgroup, folder, &names)?;

        let storage = wgpu::BufferUsages::STORAGE;
        let vertex: Vec<_> = self.vertex.iter().map(|one| gpu.buffer("scene vertices", &one.bytes, storage)).collect();
        let index = self.index.as_ref().map(|one| gpu.buffer("scene indices", &one.bytes, storage));
        // The buffers are padded to words; the slices are what the file has.
        let slices: Vec<_> =
            vertex.iter().zip(&self.vertex).map(|(on, of)| on.slice(..of.bytes.len() as u64)).collect();
        let index_buffer = index
            .as_ref()
            .zip(self.index.as_ref())
            .map(|(buffer, data)| IndexBuffer { slice: buffer.slice(..data.bytes.len() as u64), format: data.format });
        let bind_groups: Vec<_> = bound.groups.iter().map(Option::as_ref).collect();
        let inputs = Inputs { vertex_buffers: &slices, index_buffer, bind_groups: &bind_groups };

        let points = self.file.state.input_control_points;
        let mut workspace = inputs.workspace(gpu, &pipeline, &self.calls, points, self.file.workspace.as_ref())?;
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("scene") });
        let mut results = Vec::new();
        for (i, call) in self.calls.iter().enumerate() {
            let relay = |error: Error| Place::new("draws").at(i).relay(&error);
            match call {
                Call::Direct(numbers) => {
                    let draw = inputs.draw(numbers);
                    results.push(pipeline.encode(&gpu.queue, &mut encoder, &mut workspace, &draw).map_err(relay)?);
                }
                Call::Indirect(records) => {
                    let arguments = gpu.buffer("scene arguments", &records.bytes, storage);
                    let draw = inputs.indirect(records, &arguments);
                    results.extend(
                        pipeline.encode_indirect(&gpu.queue, &mut encoder, &mut workspace, &draw).map_err(relay)?,
                    );
                }
            }
        }
        gpu.queue.submit([encoder.finish()]);
        gpu.wait()?;
        let per_threadgroup = pipeline.parameters().patches_per_threadgroup;
        let numbers = self.calls.iter().flat_map(Call::numbers);
        let mut draws = Vec::with_capacity(results.len());
        for (tessellation, numbers) in results.into_iter().zip(numbers) {
            let mesh = Mesh::read_blocking(&gpu.device, &gpu.queue, &tessellation)?;
            let mut threadgroups = tessellation.threadgroup_records_blocking(&gpu.device, &gpu.queue)?;
            // Of an indirect draw there is room for more than there are.
            let instances = numbers.instances.len();
            let used = numbers.patches_per_instance(points).div_ceil(per_threadgroup) as usize * instances;
            threadgroups.truncate(used);
            draws.push(RanDraw { tessellation, mesh, threadgroups });
        }
        gpu.check()?;
        Ok(Ran { pipeline, draws, buffers: bound.buffers })
    }

    /// A library error while the pipeline is made, with the shader's name or the place of what it is about.
    fn explained(&self, error: Error) -> anyhow::Error {
        let place = match &error {
            Error::Shader(_) => return anyhow::Error::new(error).context(self.shader_name.clone()),
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
}

/// What one of the library's names stands for.
fn named<T: std::str::FromStr>(name: &str, key: &str, known: &[&str]) -> Result<T, Complaint> {
    name.parse().map_err(|_| {
        let hint = suggestion(name, known.iter().copied());
        Place::new("state").key(key).complain(format!("'{name}' is no {key}{hint}"))
    })
}
