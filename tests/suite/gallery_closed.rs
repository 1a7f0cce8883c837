//! The examples' closed surfaces stay closed: no crack opens between their patches, bit for bit.

use std::collections::HashMap;
use std::io::Cursor;

use patchwave::{Domain, Draw, IndexBuffer, Mesh, StageNames, TessellationPipelineDescriptor};

use crate::rig::Rig;

#[allow(dead_code, reason = "the test draws no lines")]
#[path = "../../examples/catmull_clark/cage.rs"]
mod cage;
#[path = "../../examples/integrate/knot.rs"]
mod knot;
#[path = "../../examples/catmull_clark/patches.rs"]
mod patches;

/// The `Settings` that the examples' shaders begin with, then what each has of its own.
fn settings(eye: [f32; 3], pixels_per_unit: f32, own: [f32; 4]) -> Vec<f32> {
    let unit = |i: usize| if i.is_multiple_of(5) { 1.0 } else { 0.0 };
    (0..16).map(unit).chain(eye).chain([pixels_per_unit]).chain(own).collect()
}

/// A pipeline's bind group 0 of one uniform buffer.
fn uniform_group(rig: &Rig, contents: &[f32]) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
    let layout = rig.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        }],
    });
    let buffer = rig.buffer(bytemuck::cast_slice(contents), wgpu::BufferUsages::UNIFORM);
    let group = rig.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
    });
    (layout, group)
}

/// Each edge of a triangle, by the bits of its ends, has to be there as often in one direction as in the other: else there is
/// a crack, or a triangle is turned round. How many are not.
fn open_edges(mesh: &Mesh, position: &str) -> usize {
    let places = mesh.member_bits(position).expect("the example's surface has it");
    let mut balance: HashMap<[&Vec<u32>; 2], i32> = HashMap::new();
    for triangle in mesh.indices.as_chunks::<3>().0 {
        let corners = triangle.map(|i| &places[i as usize]);
        for (a, b) in [(0, 1), (1, 2), (2, 0)].map(|(a, b)| (corners[a], corners[b])) {
            // A side of no length is its own other side.
            let (key, step) = if a < b { ([a, b], 1) } else { ([b, a], -1) };
            *balance.entry(key).or_default() += if a == b { 0 } else { step };
        }
    }
    balance.values().filter(|balance| **balance != 0).count()
}

/// Returns the number of triangles.
#[track_caller]
fn assert_closed(mesh: &Mesh, position: &str) -> usize {
    assert_eq!(open_edges(mesh, position), 0, "that many edges of {} triangles are open", mesh.indices.len() / 3);
    mesh.indices.len() / 3
}

#[test]
fn pn_triangles_of_a_closed_mesh_are_closed() {
    let rig = Rig::new();
    let load = tobj::LoadOptions { single_index: true, ..tobj::LoadOptions::default() };
    let text = include_bytes!("../../assets/meshes/duck.obj");
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(text), &load, |_| Ok(Default::default())).expect("ours");
    let mut triangles = 0;
    for tobj::Model { mesh, .. } in &models {
        let row = |i: usize| [&mesh.positions[i..i + 3], &mesh.normals[i..i + 3], &[0.5; 3]].concat();
        let vertices: Vec<f32> = (0..mesh.positions.len()).step_by(3).flat_map(row).collect();
        let (vertices, indices) = (rig.storage(&vertices), rig.storage(&mesh.indices));
        // Close by, so that factors differ from edge to edge. The instances are not moved apart.
        let (layout, group) = uniform_group(&rig, &settings([1.5, -2.0, 2.5], 400.0, [0.0, 0.0, 0.0, 10.0]));
        let mesh = rig.mesh_in_all_modes(
            &TessellationPipelineDescriptor {
                vertex_buffers: &[wgpu::VertexBufferLayout {
                    array_stride: 36,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x3],
                }],
                bind_group_layouts: &[Some(&layout)],
                output_control_points: 10,
                ..TessellationPipelineDescriptor::new(
                    include_str!("../../assets/shaders/pn_triangles.wgsl"),
                    Domain::Tri,
                    3,
                )
            },
            &Draw {
                vertex_buffers: &[vertices.slice(..)],
                index_buffer: Some(IndexBuffer { slice: indices.slice(..), format: wgpu::IndexFormat::Uint32 }),
                bind_groups: &[Some(&group)],
                // The smooth one.
                instances: 1..2,
                ..Draw::new(0..mesh.indices.len() as u32)
            },
        );
        triangles += assert_closed(&mesh, "world_position");
    }
    assert!(triangles > 10_000, "{triangles}: they are not finely cut");
}

/// Patches of bicubic Béziers over the points of a closed cage, after these many subdivisions.
fn subdivided(rig: &Rig, level: usize) -> Mesh {
    let patches = patches::Patches::new(&cage::Cage::jack(), level).expect("the cage is a manifold of quads");
    let (points, indices) = (rig.storage(&patches.points), rig.storage(&patches.indices));
    let (layout, group) = uniform_group(rig, &settings([1.5, -3.0, 4.0], 500.0, [7.0, 0.0, 0.0, 0.0]));
    rig.mesh_in_all_modes(
        &TessellationPipelineDescriptor {
            names: StageNames { hull: None, ..StageNames::default() },
            vertex_buffers: &[wgpu::VertexBufferLayout {
                array_stride: 12,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &wgpu::vertex_attr_array![0 => Float32x3],
            }],
            bind_group_layouts: &[Some(&layout)],
            ..TessellationPipelineDescriptor::new(
                include_str!("../../assets/shaders/catmull_clark.wgsl"),
                Domain::Quad,
                16,
            )
        },
        &Draw {
            vertex_buffers: &[points.slice(..)],
            index_buffer: Some(IndexBuffer { slice: indices.slice(..), format: wgpu::IndexFormat::Uint32 }),
            bind_groups: &[Some(&group)],
            ..Draw::new(0..patches.indices.len() as u32)
        },
    )
}

#[test]
fn a_subdivision_surface_is_closed_creases_and_all() {
    let rig = Rig::new();
    for level in 1..=2 {
        let triangles = assert_closed(&subdivided(&rig, level), "world_position");
        assert!(triangles > 5_000, "{triangles}: they are not finely cut");
    }
}

/// The knot of the renderer, by this shader.
fn knot_of(rig: &Rig, shader: &str) -> Mesh {
    let (points, indices) = knot::cage();
    let (cage, patches) = (rig.storage(&points), rig.storage(&indices));
    // The renderer's `Scene` has a second matrix before the eye.
    let scene = [&[0.0; 16][..], &settings([1.0, -4.0, 5.0], 500.0, [0.0; 4])].concat();
    let (layout, group) = uniform_group(rig, &scene);
    rig.mesh_in_all_modes(
        &TessellationPipelineDescriptor {
            vertex_buffers: &[wgpu::VertexBufferLayout {
                array_stride: 12,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &wgpu::vertex_attr_array![0 => Float32x3],
            }],
            bind_group_layouts: &[Some(&layout)],
            ..TessellationPipelineDescriptor::new(shader, Domain::Quad, 16)
        },
        &Draw {
            vertex_buffers: &[cage.slice(..)],
            index_buffer: Some(IndexBuffer { slice: patches.slice(..), format: wgpu::IndexFormat::Uint16 }),
            bind_groups: &[Some(&group)],
            ..Draw::new(0..indices.len() as u32)
        },
    )
}

#[test]
fn the_knot_of_the_renderer_is_closed_and_would_not_be_by_a_hair() {
    let rig = Rig::new();
    let shader = include_str!("../../assets/shaders/integrate.wgsl");
    let triangles = assert_closed(&knot_of(&rig, shader), "position");
    assert!(triangles > 10_000, "{triangles}: they are not finely cut");

    // The same curve's end, reckoned otherwise on one of its sides.
    let end = "case 0u: { return (2.0 / 3.0) * b + (1.0 / 6.0) * (a + c); }";
    let torn = shader.replace(end, "case 0u: { return 0.6666665 * b + 0.16666675 * (a + c); }");
    assert_ne!(torn, shader);
    assert!(open_edges(&knot_of(&rig, &torn), "position") > 1_000);
}

#[test]
fn patches_go_through_the_limit_surface() {
    use opensubdiv_rs::far::{PrimvarRefiner, TopologyDescriptor, TopologyRefinerFactory, UniformOptions};

    let cage = cage::Cage::jack();
    let arities = vec![4; cage.faces.len()];
    let descriptor = TopologyDescriptor::new(cage.points.len(), &arities, cage.faces.as_flattened())
        .with_creases(&cage.creases, &cage.sharpness);
    let scheme = opensubdiv_rs::sdc::SchemeType::Catmark;
    let mut refiner = TopologyRefinerFactory::create(descriptor, scheme, Default::default()).expect("a manifold");
    refiner.refine_uniform(UniformOptions::new(2));
    let finer = PrimvarRefiner::new(&refiner).interpolate_all(&cage.points);
    let last = finer.last().expect("two levels");
    let mut limits = last.clone();
    PrimvarRefiner::new(&refiner).limit(last, &mut limits);

    // Every vertex of the finest level is a corner of four patches or so, and has to be where the surface is.
    let patches = patches::Patches::new(&cage, 2).expect("the cage is a manifold of quads");
    let corners: Vec<[f32; 3]> = patches
        .indices
        .as_chunks::<16>()
        .0
        .iter()
        .flat_map(|patch| [0, 3, 12, 15].map(|i| patches.points[patch[i] as usize]))
        .collect();
    let apart = |a: &[f32; 3], b: &[f32; 3]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    for limit in &limits {
        let nearest = corners.iter().map(|corner| apart(corner, limit)).fold(f32::INFINITY, f32::min);
        assert!(nearest < 1e-5, "{limit:?} is {nearest} from any corner");
    }
    assert_eq!(patches.indices.len() / 16, 16 * cage.faces.len());
}
