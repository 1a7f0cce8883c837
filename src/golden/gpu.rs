//! The golden vectors through the whole pipeline on a device: "does my driver compute this right?"

use std::collections::BTreeMap;

use super::{Case, Difference, location_bits};
use crate::hardware::TessellationParameters;
use crate::mesh::MeshPatch;
use crate::pipeline::{Draw, TessellationPipeline, TessellationPipelineDescriptor, Workspace, WorkspaceDescriptor};
use crate::tessellator::{Domain, OutputTopology, Partitioning};
use crate::{Error, Mesh};

/// One control point a patch carries the factors' bits; the domain function hands its location out.
const SHADER: &str = include_str!("golden.wgsl");

/// What patches that are drawn together have in common.
type Kind = (Domain, Partitioning, OutputTopology);

/// What a device makes of one patch, in the units of [`TessellatedPatch`](crate::tessellator::TessellatedPatch).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuPatch {
    /// Whether it is dropped; it has no points and no indices then.
    pub culled: bool,
    /// u and v of each point in 1/65536; all ones where what came out is no such number.
    pub points: Vec<[u32; 2]>,
    /// Index entries, counted from the patch's first point.
    pub indices: Vec<u32>,
}

/// Runs `cases` on a device and gives back what differs, by the number of the case.
///
/// # Errors
/// What the pipeline says; a device that cannot run it at all.
pub fn run(device: &wgpu::Device, queue: &wgpu::Queue, cases: &[Case]) -> Result<Vec<(usize, Difference)>, Error> {
    let mut kinds: BTreeMap<[u32; 3], (Kind, Vec<usize>)> = BTreeMap::new();
    let mut differences = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        if let Err(error) = case.patch() {
            differences.push((i, error.into()));
            continue;
        }
        let kind = (case.domain, case.partitioning, case.topology);
        let key = [case.domain.number(), case.partitioning.number(), case.topology.number()];
        kinds.entry(key).or_insert_with(|| (kind, Vec::new())).1.push(i);
    }
    for ((domain, partitioning, topology), numbers) in kinds.into_values() {
        let numbered = || numbers.iter().filter_map(|i| Some((*i, cases.get(*i)?)));
        let factor_bits: Vec<&[u32]> = numbered().map(|(_, case)| case.factor_bits.as_slice()).collect();
        let patches = tessellate(device, queue, domain, partitioning, topology, &factor_bits)?;
        for ((i, case), patch) in numbered().zip(&patches) {
            if let Err(difference) = case.compare(patch.culled, &patch.points, &patch.indices) {
                differences.push((i, difference));
            }
        }
    }
    differences.sort_by_key(|(i, _)| *i);
    Ok(differences)
}

/// Tessellates patches of one kind on a device, each with its factors as the bits of f32s: edges, then inside; density,
/// then detail. Any bits will do.
///
/// # Errors
/// Another number of factors than the domain has, a topology that does not go with it; what the pipeline says.
pub fn tessellate(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    domain: Domain,
    partitioning: Partitioning,
    topology: OutputTopology,
    factor_bits: &[&[u32]],
) -> Result<Vec<GpuPatch>, Error> {
    // An empty buffer cannot be bound.
    if factor_bits.is_empty() {
        return Ok(Vec::new());
    }
    let mut factors: Vec<u32> = Vec::with_capacity(factor_bits.len() * 6);
    for bits in factor_bits {
        if bits.len() != domain.factor_count() {
            return Err(Error::OutOfRange {
                what: "number of factors of a patch",
                value: bits.len().to_string(),
                expected: format!("{}, as many as {domain} has", domain.factor_count()),
            });
        }
        factors.extend(bits.iter().copied().chain(std::iter::repeat(0)).take(6));
    }
    let bytes: &[u8] = bytemuck::cast_slice(&factors);
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    let buffer = crate::pipeline::buffer(device, "factors", bytes.len() as u64, usage)?;
    queue.write_buffer(&buffer, 0, bytes);

    let shader = shader(domain);
    let attributes = wgpu::vertex_attr_array![0 => Uint32x4, 1 => Uint32x2];
    let layout =
        wgpu::VertexBufferLayout { array_stride: 24, step_mode: wgpu::VertexStepMode::Vertex, attributes: &attributes };
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, domain, 1);
    descriptor.label = Some("given factors");
    descriptor.names.hull = None;
    descriptor.partitioning = partitioning;
    descriptor.output_topology = topology;
    let layouts = [layout];
    descriptor.vertex_buffers = &layouts;
    // Small factors stay on-chip, large ones go off-chip after their first wave: both ways are verified.
    let descriptor = descriptor.off_chip(TessellationParameters {
        tessellation_factor_threshold: Some(8.0),
        ds_wave_threshold: Some(1),
        ..TessellationParameters::default()
    });
    let pipeline = TessellationPipeline::new(device, &descriptor)?;

    let mut draw = Draw::new(0..factor_bits.len() as u32);
    let slices = [buffer.slice(..)];
    draw.vertex_buffers = &slices;
    let measurement = pipeline.measure_blocking(device, queue, &draw)?;
    let sizes = WorkspaceDescriptor::for_measurement(&pipeline, &measurement)?;
    let mut workspace = Workspace::new(device, &pipeline, sizes)?;
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("given factors") });
    let tessellation = pipeline.encode(queue, &mut encoder, &mut workspace, &draw)?;
    queue.submit([encoder.finish()]);
    let mesh = Mesh::read_blocking(device, queue, &tessellation)?;
    // A patch that is missing would go unchecked.
    if mesh.patches.len() != factor_bits.len() {
        let reason = format!("{} patches came back of {}", mesh.patches.len(), factor_bits.len());
        return Err(Error::ReadBack { what: "a mesh", reason });
    }

    let locations = mesh.member_bits("location").unwrap_or_default();
    let per_primitive = topology.vertices_per_primitive() as usize;
    let patch = |patch: &MeshPatch| {
        let first = patch.first_vertex as usize;
        let points = locations.get(first..first + patch.vertices as usize).unwrap_or(&[]);
        let first = patch.first_primitive as usize * per_primitive;
        let count = patch.primitives as usize * per_primitive;
        let indices = mesh.indices.get(first..first + count).unwrap_or(&[]);
        GpuPatch {
            culled: patch.vertices == 0,
            points: points.iter().map(|location| fixed(domain, location)).collect(),
            indices: indices.iter().map(|index| index.wrapping_sub(patch.first_vertex)).collect(),
        }
    };
    Ok(mesh.patches.iter().map(patch).collect())
}

fn shader(domain: Domain) -> String {
    let (factors, value, location) = match domain {
        Domain::Quad => ("QuadFactors", "bitcast<vec4f>(p.first), bitcast<vec2f>(p.second)", "vec2f"),
        Domain::Tri => ("TriFactors", "bitcast<vec3f>(p.first.xyz), bitcast<f32>(p.first.w)", "vec3f"),
        Domain::Isoline => ("IsolineFactors", "bitcast<f32>(p.first.x), bitcast<f32>(p.first.y)", "vec2f"),
    };
    SHADER.replace("FACTOR_VALUES", value).replace("FACTORS", factors).replace("LOCATION", location)
}

/// 16.16 u and v out of the bits that came back; all ones where they are no 16.16 number, or w is not 1 - u - v.
fn fixed(domain: Domain, location: &[u32]) -> [u32; 2] {
    let exact = |bits: u32| {
        let value = (f32::from_bits(bits) * 65536.0) as u32;
        if location_bits(value) == bits { value } else { u32::MAX }
    };
    let [u, v, ..] = location else { return [u32::MAX; 2] };
    let point = [exact(*u), exact(*v)];
    if domain == Domain::Tri {
        let w = location.get(2).map(|bits| exact(*bits));
        if w != 0x10000u32.checked_sub(point[0]).and_then(|rest| rest.checked_sub(point[1])) {
            return [u32::MAX; 2];
        }
    }
    point
}
