//! The displaced sphere of the gallery: closed, whatever its factors.

use std::collections::HashMap;

use patchwave::{Domain, Draw, Indices, Mesh, Partitioning, TessellationPipelineDescriptor};

use crate::gallery::assert_draws;
use crate::rig::Rig;

/// As the shader has it.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    eye: [f32; 3],
    pixels_per_unit: f32,
    segment_pixels: f32,
    factor: f32,
    seconds: f32,
    rise: f32,
}

/// The example's sphere, with factors by size from close by where `factor` is 0.
fn sphere(shader: &str, partitioning: Partitioning, factor: f32) -> Mesh {
    let rig = Rig::new();
    let settings = Settings {
        clip_from_world: glam::Mat4::IDENTITY.to_cols_array(),
        eye: [1.2, -1.5, 0.9],
        pixels_per_unit: 600.0,
        segment_pixels: 12.0,
        factor,
        seconds: 3.0,
        rise: 0.6,
    };
    let settings = rig.buffer(bytemuck::bytes_of(&settings), wgpu::BufferUsages::UNIFORM);
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
    let group = rig.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: settings.as_entire_binding() }],
    });
    let pipeline = rig.pipeline(&TessellationPipelineDescriptor {
        bind_group_layouts: &[Some(&layout)],
        partitioning,
        indices: Indices::Never,
        ..TessellationPipelineDescriptor::new(shader, Domain::Quad, 4)
    });
    let groups = [Some(&group)];
    rig.mesh(&pipeline, &Draw { bind_groups: &groups, ..Draw::new(0..6 * 4 * 4 * 4) })
}

/// Edges of triangles that lack the neighbour which goes along them the other way round. Points are the same where all
/// bits of their positions are.
fn open_edges(mesh: &Mesh) -> usize {
    let positions = mesh.member("world_position").expect("a position in the world");
    // Sums turn -0 into 0, which is the same place.
    let point = |k: u32| positions[k as usize].iter().map(|x| (x + 0.0).to_bits()).collect::<Vec<_>>();
    let mut edges: HashMap<[Vec<u32>; 2], i32> = HashMap::new();
    for corners in mesh.indices.chunks_exact(3) {
        let corners = [0, 1, 2].map(|i| point(corners[i]));
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            // Triangles of no area, which fractional factors make, have edges from a point to itself.
            if corners[a] != corners[b] {
                *edges.entry([corners[a].clone(), corners[b].clone()]).or_default() += 1;
                *edges.entry([corners[b].clone(), corners[a].clone()]).or_default() -= 1;
            }
        }
    }
    edges.values().filter(|balance| **balance > 0).count()
}

const SHADER: &str = include_str!("../../assets/shaders/displacement.wgsl");

#[test]
fn the_displaced_sphere_is_closed() {
    for (partitioning, factor) in
        [(Partitioning::FractionalOdd, 0.0), (Partitioning::FractionalOdd, 3.4), (Partitioning::FractionalEven, 0.0)]
    {
        let mesh = sphere(SHADER, partitioning, factor);
        assert!(mesh.indices.len() > 3 * 96 * 18, "{partitioning:?}: {} indices", mesh.indices.len());
        assert_eq!(open_edges(&mesh), 0, "{partitioning:?}, factor {factor}");
    }
    // A control: factors that neighbours do not agree on.
    let torn = SHADER.replace("let edges = vec4f(", "let edges = f32(1u + patch_id % 2u) * vec4f(");
    assert_ne!(torn, SHADER);
    assert!(open_edges(&sphere(&torn, Partitioning::FractionalOdd, 0.0)) > 100);
}

#[test]
fn the_displaced_sphere_is_drawn() {
    assert_draws("displacement", "displacement", &[]);
}

#[test]
fn a_strip_of_fractional_factors_is_drawn() {
    assert_draws("displacement", "displacement-strip", &["--strip", "3", "--rise", "0.2"]);
}
