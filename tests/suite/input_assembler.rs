//! The input assembler: which vertex a control point is made from, with indices of all kinds, reads beyond the buffers,
//! instances, and what the stages are told of all that.

use patchwave::{Domain, Draw, Error, IndexBuffer, Mesh, TessellationPipeline, TessellationPipelineDescriptor};

use super::rig::Rig;

/// Each patch is one line of one segment; its vertices carry the ids that the stages of the patch saw, and what the
/// vertex function fetched for each of its three control points.
const SHADER: &str = "
    struct Attributes {
        @location(0) value: vec4f,
        @location(3) whole: i32,
        @location(1) instance: vec2u,
    }
    struct P { value: vec4f, whole: i32, instance: vec2u, vertex: u32, instance_index: u32 }
    struct C { factors: IsolineFactors, id: u32 }
    struct S {
        @location(0) x: vec3f, @location(1) w: vec3f, @location(2) whole: vec3i, @location(3) instance: vec2u,
        @location(4) vertices: vec3u, @location(5) instances: vec3u, @location(6) ids: vec3u,
    }
    fn vertex(a: Attributes, id: VertexId) -> P {
        return P(a.value, a.whole, a.instance, id.vertex_index, id.instance_index);
    }
    fn patch_constants(patch_id: u32) -> C { return C(IsolineFactors(1.0, 1.0), patch_id); }
    fn hull(point: u32, patch_id: u32) -> P {
        var p = input_point(point);
        // Checked against the others' below.
        p.instance.y += 100000u * patch_id;
        return p;
    }
    fn domain(location: vec2f, patch_id: u32) -> S {
        let a = output_point(0u);
        let b = output_point(1u);
        let c = output_point(2u);
        return S(
            vec3f(a.value.x, b.value.x, c.value.x), vec3f(a.value.w, b.value.w, c.value.w),
            vec3i(a.whole, b.whole, c.whole), a.instance, vec3u(a.vertex, b.vertex, c.vertex),
            vec3u(a.instance_index, b.instance_index, c.instance_index), vec3u(patch_id, constants().id, c.instance.y));
    }";

/// Vertex i: x is i + 1/2, `whole` is -i - 1; instance i: 10 i, 10 i + 1. The vertex buffer has only x and y of `value`.
struct Assembler {
    rig: Rig,
    pipeline: TessellationPipeline,
    vertices: wgpu::Buffer,
    instances: wgpu::Buffer,
}

const VERTICES: u32 = 40;
const INSTANCES: u32 = 6;
/// Both buffers begin after something else, so that offsets count.
const BEFORE: u64 = 12;

impl Assembler {
    fn new() -> Self {
        let rig = Rig::new();
        let attributes = wgpu::vertex_attr_array![0 => Float32x2, 3 => Sint32];
        let per_instance = wgpu::vertex_attr_array![1 => Uint32x2];
        let layout =
            |array_stride, step_mode, attributes| wgpu::VertexBufferLayout { array_stride, step_mode, attributes };
        let layouts = [
            // 4 bytes of padding after each vertex.
            layout(16, wgpu::VertexStepMode::Vertex, attributes.as_slice()),
            layout(8, wgpu::VertexStepMode::Instance, per_instance.as_slice()),
        ];
        let mut descriptor = TessellationPipelineDescriptor::new(SHADER, Domain::Isoline, 3);
        descriptor.vertex_buffers = &layouts;
        let pipeline = rig.pipeline(&descriptor);
        let before = [0xdead_beef_u32; 3];
        let vertex = |i: u32| [(i as f32 + 0.5).to_bits(), 0, (-(i as i32) - 1) as u32, 0xdead_beef];
        let words: Vec<u32> = before.into_iter().chain((0..VERTICES).flat_map(vertex)).collect();
        let vertices = rig.storage(&words);
        let words: Vec<u32> = before.into_iter().chain((0..INSTANCES).flat_map(|i| [10 * i, 10 * i + 1])).collect();
        let instances = rig.storage(&words);
        Self { rig, pipeline, vertices, instances }
    }

    fn mesh(&self, draw: Draw<'_>) -> Mesh {
        let slices = [self.vertices.slice(BEFORE..), self.instances.slice(BEFORE..)];
        self.rig.mesh(&self.pipeline, &Draw { vertex_buffers: &slices, ..draw })
    }

    /// Draws, and compares every patch with the vertices that it should be made of, instance by instance.
    fn check(&self, draw: Draw<'_>, expected: &[[u32; 3]]) {
        let instances = draw.instances.clone();
        let what = format!("vertices {:?}, base {}, instances {instances:?}", draw.vertices, draw.base_vertex);
        let mesh = self.mesh(draw);
        let count = instances.len() * expected.len();
        assert_eq!(mesh.patches.len(), count, "{what}");
        assert_eq!(mesh.vertex_count(), 2 * count, "{what}");
        let bits = |name: &str| mesh.member_bits(name).unwrap_or_else(|| panic!("a member {name}"));
        let [x, w, whole, instance, vertices, of_instance, ids] =
            ["x", "w", "whole", "instance", "vertices", "instances", "ids"].map(bits);
        for (i, number) in instances.enumerate() {
            for (id, patch) in expected.iter().enumerate() {
                for at in [0, 1].map(|end| 2 * (i * expected.len() + id) + end) {
                    let of = || format!("{what}: instance {number}, patch {id}");
                    let inside = |vertex: u32| vertex < VERTICES;
                    let value = |v: u32| if inside(v) { (v as f32 + 0.5).to_bits() } else { 0 };
                    assert_eq!(vertices[at], patch, "{}: vertex_index", of());
                    assert_eq!(x[at], patch.map(value), "{}: x", of());
                    // The buffer has no fourth component: 1, as D3D fills it in.
                    assert_eq!(w[at], [1f32.to_bits(); 3], "{}: w", of());
                    let value = |v: u32| if inside(v) { (-(v as i32) - 1) as u32 } else { 0 };
                    assert_eq!(whole[at], patch.map(value), "{}: whole", of());
                    let own = if number < INSTANCES { [10 * number, 10 * number + 1] } else { [0, 0] };
                    let id = id as u32;
                    assert_eq!(instance[at], [own[0], own[1] + 100_000 * id], "{}: instance attribute", of());
                    assert_eq!(of_instance[at], [number; 3], "{}: instance_index", of());
                    assert_eq!(ids[at], [id, id, own[1] + 100_000 * id], "{}: patch ids", of());
                }
            }
        }
    }

    fn check_indexed(&self, index_buffer: &IndexBuffer<'_>, draw: Draw<'_>, expected: &[[u32; 3]]) {
        self.check(Draw { index_buffer: Some(index_buffer.clone()), ..draw }, expected);
    }
}

fn draw(vertices: std::ops::Range<u32>, base_vertex: i32, instances: std::ops::Range<u32>) -> Draw<'static> {
    Draw { base_vertex, instances, ..Draw::new(vertices) }
}

#[test]
fn without_indices() {
    let assembler = Assembler::new();
    let patches = |first: u32, count: u32| (0..count).map(|i| [0, 1, 2].map(|j| first + 3 * i + j)).collect::<Vec<_>>();
    assembler.check(draw(0..39, 0, 0..1), &patches(0, 13));
    assembler.check(draw(1..40, 0, 0..1), &patches(1, 13));
    // The base vertex is an indexed draw's.
    assembler.check(draw(5..11, 17, 0..1), &patches(5, 2));
}

/// Seven vertices make two patches in each instance and leave one; ids begin at 0 in each instance.
#[test]
fn incomplete_patches_are_dropped_in_each_instance() {
    let assembler = Assembler::new();
    for instances in [0..1, 0..2, 2..5, 5..6] {
        assembler.check(draw(0..7, 0, instances.clone()), &[[0, 1, 2], [3, 4, 5]]);
        assembler.check(draw(10..18, 0, instances.clone()), &[[10, 11, 12], [13, 14, 15]]);
    }
    for nothing in [draw(0..2, 0, 0..3), draw(4..4, 0, 0..3), draw(0..30, 0, 2..2)] {
        let mesh = assembler.mesh(nothing);
        assert_eq!((mesh.vertices.len(), mesh.indices.len(), mesh.patches.len()), (0, 0, 0));
    }
}

#[test]
fn indices_of_both_widths() {
    let assembler = Assembler::new();
    let wide: Vec<u32> = vec![0xffff_ffff, 5, 4, 3, 2, 1, 0, 7, 7, 7, 20, 39, 0, 1, 1000, 3];
    let narrow: Vec<u16> = wide.iter().map(|index| *index as u16).collect();
    let buffers = [assembler.rig.storage(&wide), assembler.rig.storage(&narrow)];
    let formats = [(wgpu::IndexFormat::Uint32, 4), (wgpu::IndexFormat::Uint16, 2)];
    for (buffer, (format, width)) in buffers.iter().zip(formats) {
        for skipped in [0, 1, 3] {
            let index_buffer = IndexBuffer { slice: buffer.slice(skipped * width..), format };
            let at = |index: u32| index - skipped as u32;
            let check = |draw, expected: &[[u32; 3]]| assembler.check_indexed(&index_buffer, draw, expected);
            check(draw(at(4)..at(7), 10, 0..1), &[[12, 11, 10]]);
            check(draw(at(7)..at(13), 0, 0..2), &[[7, 7, 7], [20, 39, 0]]);
            check(draw(at(7)..at(15), -2, 1..3), &[[5, 5, 5], [18, 37, 0xffff_fffe]]);
            check(draw(at(12)..at(15), 0, 0..1), &[[0, 1, 1000]]);
            check(draw(at(12)..at(15), i32::MAX, 0..1), &[[0x7fff_ffff, 0x8000_0000, 0x8000_03e7]]);
            check(draw(at(12)..at(15), i32::MIN, 0..1), &[[0x8000_0000, 0x8000_0001, 0x8000_03e8]]);
            // Beyond the buffer an index is 0, to which the base vertex is added.
            check(draw(at(15)..at(21), 4, 0..1), &[[7, 4, 4], [4, 4, 4]]);
            check(draw(4_000_000_000..4_000_000_003, 4, 0..1), &[[4, 4, 4]]);
            check(draw(u32::MAX - 3..u32::MAX, 0, 0..1), &[[0, 0, 0]]);
        }
        // A slice's end is an end, though the buffer goes on.
        let index_buffer = IndexBuffer { slice: buffer.slice(2 * width..5 * width), format };
        assembler.check_indexed(&index_buffer, draw(0..6, 1, 0..1), &[[5, 4, 3], [1, 1, 1]]);
    }
    // The patch after one that reads beyond the buffers is not touched by that: 43 patches of 3 are 129 lanes.
    let mut many: Vec<u32> = (0..129).map(|i| i % 30).collect();
    many[7] = u32::MAX;
    let buffer = assembler.rig.storage(&many);
    let index_buffer = IndexBuffer { slice: buffer.slice(..), format: wgpu::IndexFormat::Uint32 };
    let expected: Vec<[u32; 3]> = many.chunks(3).map(|patch| [patch[0], patch[1], patch[2]]).collect();
    assembler.check_indexed(&index_buffer, draw(0..129, 0, 0..1), &expected);
}

/// The last vertex counts when all its attributes lie in the buffer, though the padding after it does not; a slice ends
/// where it says.
#[test]
fn the_last_element_needs_no_padding() {
    let assembler = Assembler::new();
    let instances = assembler.instances.slice(BEFORE..);
    let run = |bytes: u64| {
        let slices = [assembler.vertices.slice(BEFORE..BEFORE + bytes), instances];
        let draw = Draw { vertex_buffers: &slices, ..Draw::new(0..6) };
        assembler.pipeline.measure_blocking(&assembler.rig.device, &assembler.rig.queue, &draw)
    };
    assert_eq!(run(5 * 16 + 12).map(|m| m.patches()).ok(), Some(2));
    let error = run(5 * 16 + 8).expect_err("one word of the last vertex is missing").to_string();
    assert!(error.contains("vertex buffer 0") && error.contains("reads 6 elements"), "{error}");
    // With indices, what lies beyond reads as zeros.
    let indices = assembler.rig.storage(&[4u32, 5, 6]);
    let slices = [assembler.vertices.slice(BEFORE..BEFORE + 5 * 16 + 8), instances];
    let index_buffer = Some(IndexBuffer { slice: indices.slice(..), format: wgpu::IndexFormat::Uint32 });
    let draw = Draw { vertex_buffers: &slices, index_buffer, ..Draw::new(0..3) };
    let mesh = assembler.rig.mesh(&assembler.pipeline, &draw);
    assert_eq!(mesh.member("x"), Some(vec![vec![4.5, 0.0, 0.0]; 2]));
    assert_eq!(mesh.member_bits("whole"), Some(vec![vec![-5i32 as u32, 0, 0]; 2]));
}

/// Buffers that step an instance have to reach to the last instance, first instance counted in.
#[test]
fn instance_buffers_are_checked_for_all_instances() {
    let assembler = Assembler::new();
    let slices = [assembler.vertices.slice(BEFORE..), assembler.instances.slice(BEFORE..)];
    let try_instances = |instances| {
        let draw = Draw { vertex_buffers: &slices, ..draw(0..3, 0, instances) };
        assembler.pipeline.measure_blocking(&assembler.rig.device, &assembler.rig.queue, &draw).map(|m| m.patches())
    };
    assert_eq!(try_instances(3..6).ok(), Some(3));
    let error = try_instances(3..7).expect_err("there are 6 instances");
    assert!(matches!(&error, Error::Buffer { what, .. } if what == "vertex buffer 1"), "{error}");
}

/// An element stride of 0 gives all vertices the first element.
#[test]
fn a_stride_of_zero_repeats_the_first_element() {
    let rig = Rig::new();
    let attributes = wgpu::vertex_attr_array![2 => Uint32];
    let layouts = [wgpu::VertexBufferLayout {
        array_stride: 0,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &attributes,
    }];
    let shader = "
        struct A { @location(2) x: u32 } struct P { x: u32 }
        struct C { factors: TriFactors } struct S { @location(0) x: vec3u }
        fn vertex(a: A, id: VertexId) -> P { return P(a.x + id.vertex_index); }
        fn patch_constants(patch_id: u32) -> C { return C(TriFactors(vec3f(1.0), 1.0)); }
        fn domain(at: vec3f, patch_id: u32) -> S {
            return S(vec3u(output_point(0u).x, output_point(1u).x, output_point(2u).x));
        }";
    let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Tri, 3);
    descriptor.names.hull = None;
    descriptor.vertex_buffers = &layouts;
    let pipeline = rig.pipeline(&descriptor);
    let buffer = rig.storage(&[500u32]);
    let slices = [buffer.slice(..)];
    let draw = Draw { vertex_buffers: &slices, ..Draw::new(0..6) };
    let expected: Vec<Vec<u32>> = [[500, 501, 502]; 3].into_iter().chain([[503, 504, 505]; 3]).map(Vec::from).collect();
    assert_eq!(rig.mesh(&pipeline, &draw).member_bits("x"), Some(expected));
}
