//! The teapot's mesh, number by number: against the twin on the CPU, across shared edges, and its normals.

use patchwave::mesh::MeshPatch;
use patchwave::tessellator::{Domain, OutputTopology, Partitioning, TessellatedPatch};
use patchwave::{
    Draw, IndexBuffer, Mesh, TessellationPipeline, TessellationPipelineDescriptor, Workspace, WorkspaceDescriptor,
};
use serde_json::Value;

use crate::gpu;

const SHADER: &str = include_str!("../../assets/shaders/teapot.wgsl");
const DATA: &str = include_str!("../../assets/teapot.json");

/// Control points of the edges U==0, V==0, U==1, V==1, in the direction in which u or v grows.
const EDGES: [[usize; 4]; 4] = [[0, 4, 8, 12], [0, 1, 2, 3], [3, 7, 11, 15], [12, 13, 14, 15]];

/// The teapot as the file has it.
struct Teapot {
    patches: Vec<Vec<u16>>,
    points: Vec<f32>,
}

impl Teapot {
    fn new() -> Self {
        let data: Value = serde_json::from_str(DATA).expect("the data is JSON");
        let numbers = |value: &Value| -> Vec<f64> {
            value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
        };
        let lists = |key: &str| -> Vec<Vec<f64>> {
            data[key].as_array().expect("a list of lists").iter().map(numbers).collect()
        };
        Self {
            patches: lists("patches").iter().map(|patch| patch.iter().map(|&i| i as u16).collect()).collect(),
            points: lists("points").into_iter().flatten().map(|number| number as f32).collect(),
        }
    }

    /// Pairs of edges with the same control points, each a patch and an edge, and whether they run in opposite directions.
    /// Edges that are pinched to a point are left out.
    fn shared_edges(&self) -> Vec<([(usize, usize); 2], bool)> {
        let points = |patch: usize, edge: usize| EDGES[edge].map(|at| self.patches[patch][at]);
        let all: Vec<(usize, usize)> =
            (0..self.patches.len()).flat_map(|patch| (0..4).map(move |edge| (patch, edge))).collect();
        let mut shared = Vec::new();
        for (n, &a) in all.iter().enumerate() {
            for &b in &all[n + 1..] {
                let (ours, theirs) = (points(a.0, a.1), points(b.0, b.1));
                let turned = [theirs[3], theirs[2], theirs[1], theirs[0]];
                if ours[0] != ours[3] && (ours == theirs || ours == turned) {
                    shared.push(([a, b], ours == turned));
                }
            }
        }
        shared
    }
}

/// How factors are found.
#[derive(Clone, Copy, Debug)]
enum Factors {
    Fixed(f32),
    /// By size on screen, from this eye.
    BySize([f32; 3]),
}

/// Tessellates the teapot on the device under test.
fn mesh(teapot: &Teapot, factors: Factors, partitioning: Partitioning) -> Mesh {
    let (device, queue) = gpu::device();
    let buffer = |bytes: &[u8], usage| {
        let size = bytes.len() as u64;
        let usage = usage | wgpu::BufferUsages::COPY_DST;
        let buffer =
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        queue.write_buffer(&buffer, 0, bytes);
        buffer
    };
    // The identity for `clip_from_world`, then the settings in the shader's order.
    let mut settings: Vec<f32> = (0..16).map(|i| if i % 5 == 0 { 1.0 } else { 0.0 }).collect();
    match factors {
        Factors::Fixed(factor) => settings.extend([0.0, 0.0, 0.0, 1.0, 1.0, factor, f32::from_bits(1), 0.0]),
        Factors::BySize(eye) => settings.extend(eye.into_iter().chain([600.0, 12.0, 0.0, 0.0, 0.0])),
    }
    let settings = buffer(bytemuck::cast_slice(&settings), wgpu::BufferUsages::UNIFORM);
    let points = buffer(bytemuck::cast_slice(&teapot.points), wgpu::BufferUsages::STORAGE);
    let indices = teapot.patches.concat();
    let index_buffer = buffer(bytemuck::cast_slice(&indices), wgpu::BufferUsages::STORAGE);
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
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
    let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: settings.as_entire_binding() }],
    });
    let pipeline = TessellationPipeline::new(
        &device,
        &TessellationPipelineDescriptor {
            partitioning,
            vertex_buffers: &[wgpu::VertexBufferLayout {
                array_stride: 12,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &wgpu::vertex_attr_array![0 => Float32x3],
            }],
            bind_group_layouts: &[Some(&layout)],
            ..TessellationPipelineDescriptor::new(SHADER, Domain::Quad, 16)
        },
    )
    .expect("the shader keeps the contract");
    let draw = Draw {
        vertex_buffers: &[points.slice(..)],
        index_buffer: Some(IndexBuffer { slice: index_buffer.slice(..), format: wgpu::IndexFormat::Uint16 }),
        bind_groups: &[Some(&bind_group)],
        ..Draw::new(0..indices.len() as u32)
    };
    let measurement = pipeline.measure_blocking(&device, &queue, &draw).expect("it can be measured");
    let sizes = WorkspaceDescriptor::for_measurement(&pipeline, &measurement).expect("it fits the device");
    let mut workspace = Workspace::new(&device, &pipeline, sizes).expect("there is memory");
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let tessellation = pipeline.encode(&queue, &mut encoder, &mut workspace, &draw).expect("it can be encoded");
    queue.submit([encoder.finish()]);
    Mesh::read_blocking(&device, &queue, &tessellation).expect("it can be read")
}

/// The patch on the CPU that has a mesh patch's factors.
fn twin(patch: &MeshPatch, partitioning: Partitioning) -> TessellatedPatch {
    let bits: Vec<u32> = patch.factors.iter().map(|factor| factor.to_bits()).collect();
    TessellatedPatch::new(Domain::Quad, partitioning, OutputTopology::TriangleCw, &bits).expect("a quad patch")
}

/// Vertices of a mesh patch on one of its edges, in the direction in which u or v grows: where they are, and their number.
fn on_edge(patch: &MeshPatch, twin: &TessellatedPatch, edge: usize) -> Vec<(u32, usize)> {
    let (across, along) = if edge.is_multiple_of(2) { (0, 1) } else { (1, 0) };
    let at = if edge < 2 { 0 } else { 0x10000 };
    let mut found: Vec<(u32, usize)> = twin
        .points()
        .enumerate()
        .filter(|(_, point)| point[across] == at)
        .map(|(k, point)| (point[along], patch.first_vertex as usize + k))
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn meshes_are_those_of_the_twin() {
    let teapot = Teapot::new();
    for (factor, partitioning) in [
        (1.0, Partitioning::Integer),
        (5.5, Partitioning::Integer),
        (7.3, Partitioning::FractionalOdd),
        (1.0, Partitioning::FractionalEven),
        (64.0, Partitioning::FractionalEven),
        (f32::INFINITY, Partitioning::Pow2),
        (f32::NAN, Partitioning::FractionalOdd),
        (0.0, Partitioning::Integer),
    ] {
        let mesh = mesh(&teapot, Factors::Fixed(factor), partitioning);
        assert_eq!(mesh.patches.len(), 32);
        let bits = [factor.to_bits(); 6];
        let twin = TessellatedPatch::new(Domain::Quad, partitioning, OutputTopology::TriangleCw, &bits);
        let twin = twin.expect("a quad patch");
        for (i, patch) in mesh.patches.iter().enumerate() {
            let counts = (patch.vertices, patch.primitives);
            assert_eq!(counts, (twin.point_count(), twin.primitive_count()), "patch {i}, {factor} {partitioning}");
            let first = patch.first_primitive as usize * 3;
            let indices = &mesh.indices[first..first + patch.primitives as usize * 3];
            assert!(indices.iter().map(|index| index - patch.first_vertex).eq(twin.indices()), "patch {i}");
        }
    }
}

#[test]
fn shared_edges_are_the_same_bit_for_bit() {
    let teapot = Teapot::new();
    let shared = teapot.shared_edges();
    // Rim, body and bottom 28, lid with its knob 12, handle and spout 6 each.
    assert_eq!(shared.len(), 52);
    assert!(shared.iter().any(|(_, turned)| *turned), "some run in opposite directions");
    for factors in [Factors::Fixed(6.0), Factors::Fixed(13.7), Factors::BySize([3.0, -6.0, 4.0])] {
        for partitioning in [Partitioning::Integer, Partitioning::FractionalOdd, Partitioning::FractionalEven] {
            let mesh = mesh(&teapot, factors, partitioning);
            let positions = mesh.member_bits("world_position").expect("a member of the output");
            let side = |(patch, edge): (usize, usize)| {
                let patch = &mesh.patches[patch];
                (on_edge(patch, &twin(patch, partitioning), edge), patch.factors[edge].to_bits())
            };
            for ([a, b], turned) in &shared {
                let what = format!("{a:?} and {b:?}, {factors:?}, {partitioning}");
                let ((ours, our_factor), (mut theirs, their_factor)) = (side(*a), side(*b));
                assert_eq!(our_factor, their_factor, "{what}");
                if *turned {
                    theirs = theirs.into_iter().rev().map(|(at, k)| (0x10000 - at, k)).collect();
                }
                assert_eq!(ours.len(), theirs.len(), "{what}");
                for (&(at, k), &(their_at, their_k)) in ours.iter().zip(&theirs) {
                    assert_eq!(at, their_at, "{what}");
                    assert_eq!(positions[k], positions[their_k], "{what} at {at}/65536");
                }
            }
        }
    }
}

#[test]
fn normals_are_unit_vectors_and_point_out() {
    let teapot = Teapot::new();
    for (factors, partitioning) in [
        (Factors::Fixed(64.0), Partitioning::Integer),
        (Factors::Fixed(9.4), Partitioning::FractionalOdd),
        (Factors::BySize([3.0, -6.0, 4.0]), Partitioning::FractionalEven),
    ] {
        let is_fine = matches!(factors, Factors::Fixed(64.0));
        let mesh = mesh(&teapot, factors, partitioning);
        let normals = mesh.member("normal").expect("a member of the output");
        let positions = mesh.member("world_position").expect("a member of the output");
        let dot = |a: &[f32], b: &[f32]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        for (k, normal) in normals.iter().enumerate() {
            let length = dot(normal, normal).sqrt();
            assert!((length - 1.0).abs() < 1e-5, "vertex {k}: {normal:?} of length {length}");
            assert!(positions[k].iter().all(|x| x.is_finite()), "vertex {k}");
        }
        for (t, triangle) in mesh.indices.chunks_exact(3).enumerate() {
            let [a, b, c] = [triangle[0], triangle[1], triangle[2]].map(|k| k as usize);
            let from_a = |k: usize| [0, 1, 2].map(|i| positions[k][i] - positions[a][i]);
            let (ab, ac) = (from_a(b), from_a(c));
            // Clockwise with u to the right and v down is counter-clockwise from outside, where du x dv points.
            let face = [ab[1] * ac[2] - ab[2] * ac[1], ab[2] * ac[0] - ab[0] * ac[2], ab[0] * ac[1] - ab[1] * ac[0]];
            let area = dot(&face, &face).sqrt();
            // Slivers at pinched edges have no direction, and a coarse triangle at the spout's lip turns away from what it
            // stands for.
            if is_fine && area > 1e-6 {
                for k in [a, b, c] {
                    assert!(dot(&face, &normals[k]) > 0.0, "triangle {t} at {:?}", positions[k]);
                }
            }
        }
        // The lid's top and the middle of the bottom, where patches are pinched.
        for (patch, up) in (20..24).map(|i| (i, 1.0)).chain((28..32).map(|i| (i, -1.0))) {
            let pinched = &mesh.patches[patch];
            for (_, k) in on_edge(pinched, &twin(pinched, partitioning), 1) {
                assert!(normals[k][2] * up > 0.9999, "patch {patch}: {:?}", normals[k]);
            }
        }
    }
}
