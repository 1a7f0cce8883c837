//! The golden vectors through the whole pipeline on a device: "does my driver compute this right?"

use std::collections::BTreeMap;

use super::{Case, Difference, location_bits};
use crate::hardware::TessellationParameters;
use crate::pipeline::{Draw, TessellationPipeline, TessellationPipelineDescriptor, Workspace, WorkspaceDescriptor};
use crate::tessellator::{Domain, OutputTopology, Partitioning};
use crate::{Error, Mesh};

/// One control point a patch carries the factors' bits; the domain function hands its location out.
const SHADER: &str = include_str!("golden.wgsl");

/// Patches of one kind, drawn together.
type Kind = (Domain, Partitioning, OutputTopology);

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
    for (kind, numbers) in kinds.into_values() {
        run_kind(device, queue, kind, cases, &numbers, &mut differences)?;
    }
    differences.sort_by_key(|(i, _)| *i);
    Ok(differences)
}

fn run_kind(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    (domain, partitioning, topology): Kind,
    cases: &[Case],
    numbers: &[usize],
    differences: &mut Vec<(usize, Difference)>,
) -> Result<(), Error> {
    let mut factors: Vec<u32> = Vec::with_capacity(numbers.len() * 6);
    let of_kind = || numbers.iter().filter_map(|i| Some((*i, cases.get(*i)?)));
    for (_, case) in of_kind() {
        let mut bits = case.factor_bits.clone();
        bits.resize(6, 0);
        factors.extend(bits);
    }
    let bytes: &[u8] = bytemuck::cast_slice(&factors);
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    let buffer = crate::pipeline::buffer(device, "golden factors", bytes.len() as u64, usage)?;
    queue.write_buffer(&buffer, 0, bytes);

    let shader = shader(domain);
    let attributes = wgpu::vertex_attr_array![0 => Uint32x4, 1 => Uint32x2];
    let layout = wgpu::VertexBufferLayout {
        array_stride: 24,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &attributes,
    };
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, domain, 1);
    descriptor.label = Some("golden vectors");
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

    let mut draw = Draw::new(0..numbers.len() as u32);
    let slices = [buffer.slice(..)];
    draw.vertex_buffers = &slices;
    let measurement = pipeline.measure_blocking(device, queue, &draw)?;
    let sizes = WorkspaceDescriptor::for_measurement(&pipeline, &measurement)?;
    let mut workspace = Workspace::new(device, &pipeline, sizes)?;
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("golden vectors") });
    let tessellation = pipeline.encode(queue, &mut encoder, &mut workspace, &draw)?;
    queue.submit([encoder.finish()]);
    let mesh = Mesh::read_blocking(device, queue, &tessellation)?;

    let locations = mesh.member_bits("location").unwrap_or_default();
    let per_primitive = topology.vertices_per_primitive() as usize;
    for ((i, case), patch) in of_kind().zip(&mesh.patches) {
        let first = patch.first_vertex as usize;
        let points: Vec<[u32; 2]> = locations
            .get(first..first + patch.vertices as usize)
            .unwrap_or(&[])
            .iter()
            .map(|location| fixed(domain, location))
            .collect();
        let first = patch.first_primitive as usize * per_primitive;
        let indices: Vec<u32> = mesh
            .indices
            .get(first..first + patch.primitives as usize * per_primitive)
            .unwrap_or(&[])
            .iter()
            .map(|index| index.wrapping_sub(patch.first_vertex))
            .collect();
        if let Err(difference) = case.compare(patch.vertices == 0, &points, &indices) {
            differences.push((i, difference));
        }
    }
    Ok(())
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
