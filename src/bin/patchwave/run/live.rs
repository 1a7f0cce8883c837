//! A scene file whose camera and numbers change from frame to frame, for the viewer.

use std::sync::Arc;

use patchwave::shader::{Surface, reflect};
use patchwave::{Draw, IndexBuffer, TessellationPipeline};

use super::bindings::{Bound, Resources, parsed};
use super::camera::{Camera, Names};
use super::draws::{Inputs, Numbers};
use super::file::{Shading, Target};
use super::numbers::{Number, all, follows_camera, turned};
use super::paint;
use super::place::Place;
use super::scene::Scene;
use super::session::{compile, explained};
use super::value::Value;
use crate::scene::Choice;
use crate::scene::gpu::Gpu;

/// A scene's data on a device, apart from its pipeline.
pub(crate) struct Live<'a> {
    scene: &'a Arc<Scene>,
    resources: Resources<'a>,
    vertex: Vec<wgpu::Buffer>,
    index: Option<wgpu::Buffer>,
    /// From the first pipeline on, whose text has the types of the shader's variables.
    bound: Option<(Bound, naga::Module)>,
    /// Buffers whose value follows the camera or has numbers, and what they hold.
    moving: Vec<(&'a str, &'a Value, Vec<u8>)>,
}

/// How the file wants to be painted.
pub(crate) struct Look {
    /// The constants of the painter's shader that tell where members lie.
    pub(crate) constants: Vec<(&'static str, f64)>,
    pub(crate) color: [f32; 3],
    pub(crate) background: [f32; 3],
    pub(crate) is_flat: bool,
}

/// The target, without which there is nothing to see.
pub(crate) fn target(scene: &Scene) -> anyhow::Result<&Target> {
    let complaint = || Place::new("target").complain("the scene has no [target], so there is nothing to see of it");
    scene.file.target.as_ref().ok_or_else(|| scene.text.located(complaint().into()))
}

impl<'a> Live<'a> {
    /// The scene's data on a device.
    pub(crate) fn new(gpu: &Gpu, scene: &'a Arc<Scene>) -> anyhow::Result<Self> {
        Self::unlocated(gpu, scene).map_err(|error| scene.text.located(error))
    }

    fn unlocated(gpu: &Gpu, scene: &'a Arc<Scene>) -> anyhow::Result<Self> {
        let reflection =
            reflect(&scene.shader, &scene.names, scene.domain).map_err(|error| explained(scene, error.into()))?;
        let storage = wgpu::BufferUsages::STORAGE;
        let numbers = all(&scene.file);
        let moving = scene.file.bindings.iter().filter_map(|(name, binding)| {
            let value = binding.value.as_ref()?;
            let own = |number: &Number| {
                let rest = number.name.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            let moves = follows_camera(value) || numbers.iter().any(|number| !number.is_constant && own(number));
            moves.then_some((name.as_str(), value, Vec::new()))
        });
        Ok(Self {
            resources: Resources::new(gpu, &reflection, &scene.file, scene.text.folder())?,
            vertex: scene.vertex.iter().map(|one| gpu.buffer("scene vertices", &one.bytes, storage)).collect(),
            index: scene.index.as_ref().map(|one| gpu.buffer("scene indices", &one.bytes, storage)),
            bound: None,
            moving: moving.collect(),
            scene,
        })
    }

    /// What compiles the scene's pipeline, on any thread.
    pub(crate) fn compiler(
        &self,
        device: &wgpu::Device,
        choice: Choice,
        numbers: &[Number],
    ) -> impl FnOnce() -> anyhow::Result<TessellationPipeline> + Send + 'static {
        let (device, scene, layouts) = (device.clone(), Arc::clone(self.scene), self.resources.layouts.clone());
        let mut constants = scene.constants.clone();
        for (key, value) in &mut constants {
            if let Some(number) = numbers.iter().find(|number| number.is_constant && number.name == *key) {
                *value = number.value;
            }
        }
        move || compile(&device, &scene, &layouts, &choice, &constants).map_err(|error| scene.text.located(error))
    }

    /// Makes what the shader's variables stand for, once there is a pipeline, and writes what follows the camera or was
    /// turned.
    pub(crate) fn update(
        &mut self,
        gpu: &Gpu,
        pipeline: &TessellationPipeline,
        camera: &Camera,
        size: [u32; 2],
        numbers: &[Number],
    ) -> anyhow::Result<()> {
        let scene = self.scene;
        self.unlocated_update(gpu, pipeline, camera, size, numbers).map_err(|error| scene.text.located(error))
    }

    fn unlocated_update(
        &mut self,
        gpu: &Gpu,
        pipeline: &TessellationPipeline,
        camera: &Camera,
        size: [u32; 2],
        numbers: &[Number],
    ) -> anyhow::Result<()> {
        let target = self.scene.file.target.clone().map(|target| Target { size, ..target });
        // Where the file has no camera, its names stand for nothing, as in 'patchwave run'.
        let camera = self.scene.camera.is_some().then_some(camera);
        let names = Names::new(target.as_ref(), camera);
        let (bound, module) = match &self.bound {
            Some(bound) => bound,
            None => {
                let kernel = &pipeline.kernels().threadgroup;
                let bound = self.resources.bind(gpu, kernel, self.scene.text.folder(), &names)?;
                self.bound.insert((bound, parsed(kernel)?))
            }
        };
        for (name, value, held) in &mut self.moving {
            let bytes = self.resources.repacked(module, name, &turned(name, value, numbers), &names)?;
            if bytes != *held
                && let Some((_, buffer)) = bound.buffers.iter().find(|(known, _)| known == name)
            {
                gpu.queue.write_buffer(buffer, 0, &bytes);
                *held = bytes;
            }
        }
        Ok(())
    }

    /// The draws, those of indirect draws by the numbers of their records.
    fn numbers(&self) -> impl Iterator<Item = &Numbers> {
        self.scene.calls.iter().flat_map(|call| call.numbers())
    }

    /// Patches of an instance, and instances, of each draw.
    pub(crate) fn shapes(&self) -> Vec<[u32; 2]> {
        let points = self.scene.file.state.input_control_points;
        let shape = |one: &Numbers| [one.patches_per_instance(points), one.instances.end - one.instances.start];
        self.numbers().map(shape).collect()
    }

    /// Calls `with` with each draw; there are none before the first update.
    pub(crate) fn for_draws<E>(&self, with: &mut dyn FnMut(&Draw<'_>) -> Result<(), E>) -> Result<(), E> {
        let Some((bound, _)) = &self.bound else { return Ok(()) };
        // The buffers are padded to words; the slices are what the file has.
        let vertex = self.vertex.iter().zip(&self.scene.vertex);
        let slices: Vec<_> = vertex.map(|(on, of)| on.slice(..of.bytes.len() as u64)).collect();
        let index = self.index.as_ref().zip(self.scene.index.as_ref());
        let index_buffer = index
            .map(|(buffer, data)| IndexBuffer { slice: buffer.slice(..data.bytes.len() as u64), format: data.format });
        let bind_groups: Vec<_> = bound.groups.iter().map(Option::as_ref).collect();
        let inputs = Inputs { vertex_buffers: &slices, index_buffer, bind_groups: &bind_groups };
        self.numbers().try_for_each(|numbers| with(&inputs.draw(numbers)))
    }

    /// Whether the positions that are painted are in clip space, for want of a camera.
    pub(crate) fn is_in_clip_space(&self) -> bool {
        self.scene.camera.is_none()
    }

    /// How the file wants to be painted, where the output struct is `surface`.
    pub(crate) fn look(&self, surface: &Surface) -> anyhow::Result<Look> {
        let target = target(self.scene)?;
        let located = |complaint: super::place::Complaint| self.scene.text.located(complaint.into());
        let [color, background] = paint::colors(target).map_err(located)?;
        Ok(Look {
            constants: paint::constants(target, surface, self.scene.camera.is_some()).map_err(located)?,
            color,
            background,
            is_flat: target.shading == Shading::Flat,
        })
    }
}
