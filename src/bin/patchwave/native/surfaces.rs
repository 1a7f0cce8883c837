//! Surfaces evaluated by the driver's tessellation and by patchwave, both against 64-bit floats.

use patchwave::hardware::TessellationParameters;
use patchwave::mesh::MeshPatch;
use patchwave::tessellator::Partitioning;
use patchwave::{
    Domain, Draw, Mesh, TessellationPipeline, TessellationPipelineDescriptor, Workspace, WorkspaceDescriptor,
};
use serde::Serialize;
use std::collections::HashMap;

use super::exact::{self, Sample};
use super::factors::Random;
use super::shaders::{Shader, Shaders};
use super::vulkan::{Buffer, Device, Pipeline, PipelineDescriptor, Raster, Stages, Target};
use crate::scene::gpu::Gpu;

/// How far positions may lie apart, as a share of a patch's largest coordinate: some steps of a 32-bit float (6e-8).
const POSITION_TOLERANCE: f64 = 2e-6;
/// How far components of normals of length 1 may lie apart: square roots and their inverses are not rounded correctly on
/// GPUs.
const NORMAL_TOLERANCE: f64 = 1e-4;

/// The surfaces that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    Bicubic,
    Pn,
}

/// What came of a surface. Distances are the largest of all components.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Verdict {
    pub(super) surface: &'static str,
    pub(super) patches: usize,
    /// Distinct vertices that were compared.
    pub(super) vertices: usize,
    /// Vertices that only one of the two ways has.
    pub(super) unmatched: usize,
    pub(super) position_ours_to_native: f64,
    pub(super) position_ours_to_exact: f64,
    pub(super) position_native_to_exact: f64,
    pub(super) position_tolerance: f64,
    pub(super) normal_ours_to_native: f64,
    pub(super) normal_ours_to_exact: f64,
    pub(super) normal_native_to_exact: f64,
    pub(super) normal_tolerance: f64,
}

impl Verdict {
    pub(super) fn agrees(&self) -> bool {
        // NaN is not within.
        let within = |distances: [f64; 3], tolerance: f64| distances.iter().all(|distance| *distance <= tolerance);
        let positions = [self.position_ours_to_native, self.position_ours_to_exact, self.position_native_to_exact];
        let normals = [self.normal_ours_to_native, self.normal_ours_to_exact, self.normal_native_to_exact];
        self.unmatched == 0
            && self.vertices > 0
            && within(positions, self.position_tolerance)
            && within(normals, self.normal_tolerance)
    }
}

/// Vertices by patch and location, as bits.
type Vertices = HashMap<(u32, [u32; 3]), [[f32; 3]; 2]>;

/// Compares all surfaces.
pub(super) fn compare(native: &Device, shaders: &Shaders, gpu: &Gpu, is_quick: bool) -> anyhow::Result<Vec<Verdict>> {
    let patches = if is_quick { 12 } else { 100 };
    [Surface::Bicubic, Surface::Pn].into_iter().map(|surface| surface.compare(native, shaders, gpu, patches)).collect()
}

impl Surface {
    fn name(self) -> &'static str {
        match self {
            Self::Bicubic => "bicubic Bézier patches",
            Self::Pn => "PN triangles",
        }
    }

    fn control_points(self) -> usize {
        match self {
            Self::Bicubic => 16,
            Self::Pn => 3,
        }
    }

    /// Vectors a control point.
    fn attributes(self) -> usize {
        match self {
            Self::Bicubic => 1,
            Self::Pn => 2,
        }
    }

    /// The control points of a patch: a wavy sheet; triangles with normals that lean.
    fn patch(self, random: &mut Random) -> Vec<[f32; 3]> {
        let at = [random.between(-8.0, 8.0), random.between(-8.0, 8.0)];
        match self {
            Self::Bicubic => (0..16)
                .map(|i| {
                    let mut near = |x: u32| x as f32 / 3.0 + random.between(-0.1, 0.1);
                    let (x, y) = (at[0] + near(i % 4), at[1] + near(i / 4));
                    [x, y, random.between(-0.5, 0.5)]
                })
                .collect(),
            Self::Pn => [[0.0, 0.0], [1.0, 0.2], [0.3, 1.0]]
                .into_iter()
                .flat_map(|[x, y]: [f32; 2]| {
                    let place = [at[0] + x, at[1] + y, random.between(-0.4, 0.4)];
                    let lean = glam::Vec3::new(random.between(-0.6, 0.6), random.between(-0.6, 0.6), 1.0);
                    [place, lean.normalize().to_array()]
                })
                .collect(),
        }
    }

    fn exact(self, patch: &[[f32; 3]], location: [f32; 3]) -> Sample {
        let [u, v, w] = location.map(f64::from);
        let wide = |i: usize| patch.get(i).map_or([f64::NAN; 3], |point| point.map(f64::from));
        match self {
            Self::Bicubic => exact::bicubic(&std::array::from_fn(wide), u, v),
            Self::Pn => {
                let corners = std::array::from_fn(|i| wide(2 * i));
                exact::pn(&corners, &std::array::from_fn(|i| wide(2 * i + 1)), [u, v, w])
            }
        }
    }

    fn compare(self, native: &Device, shaders: &Shaders, gpu: &Gpu, patches: usize) -> anyhow::Result<Verdict> {
        let mut random = Random::new(self.control_points() as u64);
        let factors: Vec<f32> = (0..patches).map(|_| random.between(1.0, 40.0)).collect();
        let control: Vec<Vec<[f32; 3]>> = (0..patches).map(|_| self.patch(&mut random)).collect();
        let ours = self.ours(gpu, &factors, &control)?;
        let theirs = self.theirs(native, shaders, &factors, &control, ours.len())?;
        let mut verdict = Verdict {
            surface: self.name(),
            patches,
            vertices: 0,
            unmatched: theirs.keys().filter(|key| !ours.contains_key(*key)).count(),
            position_ours_to_native: 0.0,
            position_ours_to_exact: 0.0,
            position_native_to_exact: 0.0,
            position_tolerance: POSITION_TOLERANCE,
            normal_ours_to_native: 0.0,
            normal_ours_to_exact: 0.0,
            normal_native_to_exact: 0.0,
            normal_tolerance: NORMAL_TOLERANCE,
        };
        for (key, ours) in &ours {
            let Some(theirs) = theirs.get(key) else {
                verdict.unmatched += 1;
                continue;
            };
            verdict.vertices += 1;
            let patch = control.get(key.0 as usize).map_or(&[][..], Vec::as_slice);
            let Sample { position, normal } = self.exact(patch, key.1.map(f32::from_bits));
            let largest = patch.iter().flatten().fold(0.0f32, |largest, x| largest.max(x.abs()));
            let [[place, direction], [their_place, their_direction]] =
                [ours, theirs].map(|v| v.map(|x| x.map(f64::from)));
            for (to, a, b, unit) in [
                (&mut verdict.position_ours_to_native, place, their_place, largest.into()),
                (&mut verdict.position_ours_to_exact, place, position, largest.into()),
                (&mut verdict.position_native_to_exact, their_place, position, largest.into()),
                (&mut verdict.normal_ours_to_native, direction, their_direction, 1.0),
                (&mut verdict.normal_ours_to_exact, direction, normal, 1.0),
                (&mut verdict.normal_native_to_exact, their_direction, normal, 1.0),
            ] {
                *to = worst(*to, distance(a, b) / unit);
            }
        }
        Ok(verdict)
    }

    /// By patchwave, on the GPU.
    fn ours(self, gpu: &Gpu, factors: &[f32], control: &[Vec<[f32; 3]>]) -> anyhow::Result<Vertices> {
        let (shader, domain) = match self {
            Self::Bicubic => (include_str!("../../../../assets/shaders/native/bicubic.wgsl"), Domain::Quad),
            Self::Pn => (include_str!("../../../../assets/shaders/native/pn.wgsl"), Domain::Tri),
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let points = gpu.buffer("control points", bytemuck::cast_slice(&control.concat()), storage);
        let (layout, group) = gpu.table("factors", bytemuck::cast_slice(factors));
        let attributes: Vec<_> = (0..self.attributes() as u32)
            .map(|location| wgpu::VertexAttribute {
                format: wgpu::VertexFormat::Float32x3,
                offset: u64::from(location) * 12,
                shader_location: location,
            })
            .collect();
        let mut descriptor = TessellationPipelineDescriptor {
            label: Some("native oracle"),
            partitioning: Partitioning::FractionalEven,
            vertex_buffers: &[wgpu::VertexBufferLayout {
                array_stride: 12 * self.attributes() as u64,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &attributes,
            }],
            bind_group_layouts: &[Some(&layout)],
            parameters: TessellationParameters::default(),
            ..TessellationPipelineDescriptor::new(shader, domain, self.control_points() as u32)
        };
        descriptor.names.hull = None;
        let pipeline = TessellationPipeline::new(&gpu.device, &descriptor)?;
        let draw = Draw {
            vertex_buffers: &[points.slice(..)],
            bind_groups: &[Some(&group)],
            ..Draw::new(0..(factors.len() * self.control_points()) as u32)
        };
        let measurement = pipeline.measure_blocking(&gpu.device, &gpu.queue, &draw)?;
        let sizes = WorkspaceDescriptor::for_measurement(&pipeline, &measurement)?;
        let mut workspace = Workspace::new(&gpu.device, &pipeline, sizes)?;
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let tessellation = pipeline.encode(&gpu.queue, &mut encoder, &mut workspace, &draw)?;
        gpu.queue.submit([encoder.finish()]);
        let mesh = Mesh::read_blocking(&gpu.device, &gpu.queue, &tessellation)?;
        gpu.check()?;
        let member = |name| mesh.member_bits(name).unwrap_or_default();
        let members = [member("location"), member("position"), member("normal")];
        let mut vertices = Vertices::new();
        for (number, patch) in mesh.patches.iter().enumerate() {
            let MeshPatch { first_vertex, vertices: count, .. } = *patch;
            for vertex in first_vertex as usize..(first_vertex + count) as usize {
                let [location, position, normal] = members.each_ref().map(|member| three(member.get(vertex)));
                vertices.insert((number as u32, location), [position, normal].map(|value| value.map(f32::from_bits)));
            }
        }
        Ok(vertices)
    }

    /// By the driver, a draw a patch.
    fn theirs(
        self,
        device: &Device,
        shaders: &Shaders,
        factors: &[f32],
        control: &[Vec<[f32; 3]>],
        expected: usize,
    ) -> anyhow::Result<Vertices> {
        let [vertex, hull, evaluation] = match self {
            Self::Bicubic => [
                Shader::plain("bicubic.vert").switched("CAPTURE"),
                Shader::plain("bicubic.tesc").switched("CAPTURE"),
                Shader::surface("bicubic.tese", Partitioning::FractionalEven).switched("CAPTURE"),
            ],
            Self::Pn => [
                Shader::plain("pn.vert"),
                Shader::plain("pn.tesc"),
                Shader::surface("pn.tese", Partitioning::FractionalEven),
            ],
        };
        let stages = Stages {
            vertex: shaders.get(&vertex)?,
            control: shaders.get(&hull)?,
            evaluation: shaders.get(&evaluation)?,
            fragment: None,
        };
        let target = Target::none(device)?;
        let control_points = self.control_points() as u32;
        let attributes = self.attributes() as u32;
        let raster = Raster::Discard;
        let descriptor =
            PipelineDescriptor { stages: &stages, control_points, attributes, buffers: 3, raster, target: &target };
        let pipeline = Pipeline::new(device, &descriptor)?;
        let points = Buffer::with(device, bytemuck::cast_slice(&control.concat()))?;
        let table = Buffer::with(device, bytemuck::cast_slice(factors))?;
        let count = Buffer::new(device, 4)?;
        let captured = Buffer::new(device, (2 * expected as u64 + 4096) * 48)?;
        let bindings = pipeline.bindings(&[&table, &count, &captured])?;
        let identity = glam::Mat4::IDENTITY.to_cols_array();
        let commands = device.record(|recorder| {
            recorder.clear(&count);
            recorder.begin(&target);
            recorder.set(&pipeline, &bindings, &identity, Some(&points));
            for patch in 0..factors.len() as u32 {
                recorder.draw(patch * control_points, control_points);
            }
            recorder.end();
            Ok(())
        })?;
        commands.submit()?;
        let count: Vec<u32> = bytemuck::pod_collect_to_vec(&count.read(4)?);
        let count = u64::from(count.first().copied().unwrap_or(0));
        anyhow::ensure!(count * 48 <= captured.bytes(), "the driver ran {count} invocations for {expected} points");
        let words: Vec<[u32; 12]> = bytemuck::pod_collect_to_vec(&captured.read(count * 48)?);
        let vertex = |&[u, v, w, patch, x, y, z, _, a, b, c, _]: &[u32; 12]| {
            ((patch, [u, v, w]), [[x, y, z], [a, b, c]].map(|value| value.map(f32::from_bits)))
        };
        Ok(words.iter().map(vertex).collect())
    }
}

fn three(value: Option<&Vec<u32>>) -> [u32; 3] {
    std::array::from_fn(|i| value.and_then(|value| value.get(i)).copied().unwrap_or(u32::MAX))
}

/// The larger, NaN where there is one.
fn worst(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| worst(most, (a - b).abs()))
}
