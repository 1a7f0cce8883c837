//! Draws and workspaces that do not serve: refused with an error that says what to do, never a panic, never a word to
//! wgpu's handler of uncaptured errors; and the device goes on working.

use patchwave::pipeline::ChunkCapacity;
use patchwave::{
    Domain, Draw, Error, IndexBuffer, OutputTopology, TessellationPipeline, TessellationPipelineDescriptor, Workspace,
    WorkspaceDescriptor,
};

use super::model::assert_mesh;
use super::rig::{FactorTable, Rig};
use super::table_pipeline::TablePipeline;

const SHADER: &str = "
    struct A { @location(0) x: f32 } struct P { x: f32 }
    struct C { factors: TriFactors } struct S { @location(0) x: f32 }
    fn vertex(a: A) -> P { return P(a.x); }
    fn patch_constants(patch_id: u32) -> C { return C(TriFactors(vec3f(1.0), 1.0)); }
    fn domain(at: vec3f, patch_id: u32) -> S { return S(output_point(1u).x); }";

/// A pipeline of triangles of 3 control points, one float a vertex, with room for 20 patches.
fn simple(rig: &Rig) -> (TessellationPipeline, Workspace) {
    let attributes = wgpu::vertex_attr_array![0 => Float32];
    let layouts = [wgpu::VertexBufferLayout {
        array_stride: 4,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &attributes,
    }];
    let mut descriptor = TessellationPipelineDescriptor::new(SHADER, Domain::Tri, 3);
    descriptor.names.hull = None;
    descriptor.vertex_buffers = &layouts;
    let pipeline = rig.pipeline(&descriptor);
    let workspace = rig.workspace(&pipeline, WorkspaceDescriptor::new(&pipeline, 20, 60, 20));
    (pipeline, workspace)
}

fn refusal(rig: &Rig, pipeline: &TessellationPipeline, workspace: &mut Workspace, draw: &Draw<'_>) -> Error {
    let mut encoder = rig.encoder();
    let result = pipeline.encode(&rig.queue, &mut encoder, workspace, draw);
    let error = result.map(|_| ()).expect_err("the draw is refused");
    // Nothing was encoded that would not work.
    rig.queue.submit([encoder.finish()]);
    assert_eq!(rig.take_complaints(), [] as [String; 0], "after {error}");
    error
}

fn assert_still_works(rig: &Rig, pipeline: &TessellationPipeline, workspace: &mut Workspace) {
    let buffer = rig.storage(&(0..18).map(|i| i as f32).collect::<Vec<_>>());
    let slices = [buffer.slice(..)];
    workspace.reset();
    let draw = Draw { vertex_buffers: &slices, ..Draw::new(0..18) };
    let mesh = rig.read(&rig.run(pipeline, workspace, &draw));
    let expected: Vec<_> = (0..18).map(|vertex| vec![(vertex / 3 * 3 + 1) as f32]).collect();
    assert_eq!(mesh.member("x"), Some(expected));
}

#[test]
fn buffers_that_do_not_serve() {
    let rig = Rig::new();
    let (pipeline, mut workspace) = simple(&rig);
    let good = rig.storage(&[0.0f32; 12]);
    let plain = rig.buffer(&[0; 48], wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::INDEX);
    let mut check =
        |vertices: &[wgpu::BufferSlice<'_>], indices: Option<IndexBuffer<'_>>, count: u32, words: &[&str]| {
            let draw = Draw { vertex_buffers: vertices, index_buffer: indices, ..Draw::new(0..count) };
            let error = refusal(&rig, &pipeline, &mut workspace, &draw);
            assert!(matches!(error, Error::Buffer { .. }), "{error:?}");
            let text = error.to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{text}: {words:?}");
        };
    check(&[], None, 3, &["vertex buffers", "has 1", "gives 0"]);
    check(&[plain.slice(..)], None, 3, &["vertex buffer 0", "STORAGE"]);
    check(&[good.slice(..)], None, 15, &["vertex buffer 0", "15 elements", "holds 12"]);
    check(&[good.slice(40..)], None, 3, &["vertex buffer 0", "3 elements", "holds 2"]);
    check(&[good.slice(2..)], None, 3, &["vertex buffer 0", "offset 2", "multiple of 4"]);
    let index = |slice, format| Some(IndexBuffer { slice, format });
    let (wide, narrow) = (wgpu::IndexFormat::Uint32, wgpu::IndexFormat::Uint16);
    check(&[good.slice(..)], index(plain.slice(..), wide), 3, &["index buffer", "STORAGE"]);
    check(&[good.slice(..)], index(good.slice(6..), wide), 3, &["index buffer", "offset 6", "multiple of 4"]);
    check(&[good.slice(..)], index(good.slice(3..), narrow), 3, &["index buffer", "offset 3", "multiple of 2"]);
    let odd = rig.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 14,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    check(&[odd.slice(..)], None, 3, &["vertex buffer 0", "14 bytes", "multiple of 4"]);
    assert_still_works(&rig, &pipeline, &mut workspace);
}

/// Ranges at the ends of what 32 bits hold.
#[test]
fn ranges_at_the_limits() {
    let rig = Rig::new();
    let (pipeline, mut workspace) = simple(&rig);
    let good = rig.storage(&[0.0f32; 12]);
    let slices = [good.slice(..)];
    let draw = |vertices, instances| Draw { vertex_buffers: &slices, instances, ..Draw::new(vertices) };
    for (vertices, instances) in [(0..u32::MAX, 0..u32::MAX), (0..3, 0..u32::MAX), (0..u32::MAX, 0..1)] {
        let error = refusal(&rig, &pipeline, &mut workspace, &draw(vertices, instances));
        assert!(matches!(error, Error::OutOfRange { what: "patches of a draw", .. }), "{error}");
    }
    for (vertices, instances) in
        [(0..300_000_000, 0..1), (u32::MAX - 3..u32::MAX, u32::MAX - 1..u32::MAX), (12..15, 0..1)]
    {
        let error = refusal(&rig, &pipeline, &mut workspace, &draw(vertices, instances));
        assert!(matches!(error, Error::Buffer { .. }), "{error}");
    }
    // Ranges that run backwards are empty, as Rust's are.
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is tested")]
    for (vertices, instances) in [(9..3, 0..1), (0..3, 7..2), (u32::MAX..0, u32::MAX..0)] {
        let result = rig.run(&pipeline, &mut workspace, &draw(vertices, instances));
        assert_eq!((result.patches(), result.chunks().len()), (0, 0));
        assert_eq!(rig.read(&result).vertex_count(), 0);
    }
    // Indices beyond all that there is, many of them: refused for want of room, not wrapped.
    let index_buffer = Some(IndexBuffer { slice: good.slice(..), format: wgpu::IndexFormat::Uint32 });
    let error = refusal(&rig, &pipeline, &mut workspace, &Draw { index_buffer, ..draw(0..u32::MAX, 0..1) });
    assert!(matches!(error, Error::OutOfRange { .. } | Error::WorkspaceTooSmall { what: "patches", .. }), "{error}");
    assert_still_works(&rig, &pipeline, &mut workspace);
}

fn group_of(rig: &Rig, dynamic: bool, read_only: bool, bytes: usize) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
    let layout = rig.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: dynamic,
                min_binding_size: None,
            },
            count: None,
        }],
    });
    let buffer = rig.storage(&vec![0u8; bytes]);
    let group = rig.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
    });
    (layout, group)
}

#[test]
fn bind_groups_that_do_not_serve() {
    let (rig, other_rig) = Rig::two();
    let factors = [[2.0; 6]; 8];
    let table = TablePipeline::new(&rig, Domain::Quad, OutputTopology::TriangleCw, &factors);
    let mut workspace = rig.workspace(&table.pipeline, table.sizes(8, table.counts(8)));
    let mut try_groups = |groups: &[Option<&wgpu::BindGroup>]| {
        refusal(&rig, &table.pipeline, &mut workspace, &Draw { bind_groups: groups, ..Draw::new(0..8) })
    };
    for missing in [&[] as &[_], &[None], &[None, Some(&table.table.group)]] {
        let error = try_groups(missing);
        assert!(
            matches!(&error, Error::MissingBindGroup { group: 0, binding, .. } if binding == "factor_table"),
            "{error}"
        );
    }
    let (_, writable) = group_of(&rig, false, false, 192);
    let (_, dynamic) = group_of(&rig, true, true, 192);
    let (_, too_short) = group_of(&rig, false, true, 4);
    let elsewhere = FactorTable::new(&other_rig, &factors);
    for (what, group) in [
        ("of another layout", &writable),
        ("with dynamic offsets", &dynamic),
        ("with too short a buffer", &too_short),
        ("of another device", &elsewhere.group),
    ] {
        let error = try_groups(&[Some(group)]);
        assert!(matches!(error, Error::Wgpu { .. }), "{what}: {error}");
    }
    let mesh = rig.read(&table.run(&rig, &mut workspace, 8));
    assert_mesh(&mesh, &table.patches);
}

/// A group that the descriptor has a layout for has to be given, though the shader does not use it: wgpu wants it.
#[test]
fn a_group_that_the_shader_does_not_use() {
    let rig = Rig::new();
    let (layout, group) = group_of(&rig, false, true, 64);
    let shader = SHADER.replace("fn vertex(a: A) -> P { return P(a.x); }", "fn vertex() -> P { return P(4.0); }");
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Tri, 3);
    descriptor.names.hull = None;
    let layouts = [None, Some(&layout)];
    descriptor.bind_group_layouts = &layouts;
    let pipeline = rig.pipeline(&descriptor);
    let mut workspace = rig.workspace(&pipeline, WorkspaceDescriptor::new(&pipeline, 20, 60, 20));
    let error = refusal(&rig, &pipeline, &mut workspace, &Draw::new(0..3));
    assert!(matches!(error, Error::Wgpu { .. } | Error::MissingBindGroup { .. }), "{error}");
    let groups = [Some(&group), Some(&group), Some(&group), Some(&group)];
    let mesh = rig.mesh(&pipeline, &Draw { bind_groups: &groups, ..Draw::new(0..3) });
    assert_eq!(mesh.member("x"), Some(vec![vec![4.0]; 3]));
}

#[test]
fn workspaces_of_other_pipelines_and_devices() {
    let (rig, other_rig) = Rig::two();
    let factors = [[1.0; 6]; 64];
    let new = |topology| TablePipeline::new(&rig, Domain::Quad, topology, &factors);
    let (points, triangles) = (new(OutputTopology::Point), new(OutputTopology::TriangleCw));
    let lines = TablePipeline::new(&rig, Domain::Isoline, OutputTopology::Line, &factors);
    let fours = TablePipeline::with_points(&rig, Domain::Quad, OutputTopology::Point, &factors, 30);
    let elsewhere = TablePipeline::new(&other_rig, Domain::Quad, OutputTopology::TriangleCw, &factors);

    let room = triangles.counts(64);
    let mut of_triangles = rig.workspace(&triangles.pipeline, triangles.sizes(64, room));
    let refuse = |table: &TablePipeline, workspace: &mut Workspace| {
        let mut encoder = rig.encoder();
        let result = table.encode_from(&rig, &mut encoder, workspace, 2, 0);
        let error = result.map(|_| ()).expect_err("the workspace is another's");
        rig.queue.submit([encoder.finish()]);
        error
    };
    // An index of a point takes 4 bytes, a triangle 12: three times the room that there is.
    for (table, of) in [(&triangles, &points), (&lines, &points), (&fours, &triangles), (&fours, &points)] {
        let mut workspace = rig.workspace(&of.pipeline, of.sizes(64, room));
        let error = refuse(table, &mut workspace);
        assert!(matches!(error, Error::WorkspaceMismatch { .. }), "{error}");
    }
    let error = refuse(&elsewhere, &mut of_triangles);
    assert!(matches!(error, Error::WorkspaceMismatch { .. } | Error::Wgpu { .. }), "{error}");
    assert_mesh(&rig.read(&triangles.run(&rig, &mut of_triangles, 64)), &triangles.patches);

    // Reading with another device is an error as well.
    let result = triangles.run(&rig, &mut of_triangles, 0);
    assert_eq!(rig.read(&result).vertex_count(), 0);
    of_triangles.reset();
    let result = triangles.run(&rig, &mut of_triangles, 64);
    let error = patchwave::Mesh::read_blocking(&other_rig.device, &other_rig.queue, &result).map(|_| ());
    assert!(matches!(error, Err(Error::Wgpu { .. } | Error::ReadBack { .. })), "{error:?}");
}

#[test]
fn chunks_that_do_not_match_the_draw() {
    let rig = Rig::new();
    let factors = [[1.0; 6]; 300];
    let table = TablePipeline::new(&rig, Domain::Quad, OutputTopology::Point, &factors);
    let chunk = |threadgroups| ChunkCapacity { threadgroups, vertices: 1200, primitives: 1200 };
    let groups = 300u32.div_ceil(table.pipeline.plan().patches);
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is tested")]
    let wrong = [
        vec![chunk(0..1), chunk(2..groups)],
        vec![chunk(0..1), chunk(1..groups - 1)],
        vec![chunk(0..1), chunk(1..groups + 1)],
        vec![chunk(1..2), chunk(2..groups)],
        vec![chunk(0..2), chunk(1..groups)],
        vec![chunk(0..3), chunk(3..2), chunk(2..groups)],
    ];
    for chunks in wrong {
        let what = format!("{chunks:?}");
        let sizes = WorkspaceDescriptor { chunks, ..table.sizes(300, [0, 0]) };
        let mut workspace = rig.workspace(&table.pipeline, WorkspaceDescriptor { draws: 4, ..sizes });
        let mut encoder = rig.encoder();
        let result = table.encode_from(&rig, &mut encoder, &mut workspace, 300, 0).map(|_| ());
        assert!(matches!(result, Err(Error::WorkspaceMismatch { .. })), "{what}: {result:?}");
    }
    // An empty chunk among the others is no fault.
    let chunks = vec![chunk(0..1), chunk(1..1), chunk(1..groups), chunk(groups..groups)];
    let sizes = WorkspaceDescriptor { chunks, draws: 1, ..table.sizes(300, [0, 0]) };
    let mut workspace = rig.workspace(&table.pipeline, sizes);
    assert_mesh(&rig.read(&table.run(&rig, &mut workspace, 300)), &table.patches);
}

#[test]
fn workspaces_that_cannot_be() {
    let rig = Rig::new();
    let table = TablePipeline::new(&rig, Domain::Quad, OutputTopology::Point, &[[1.0; 6]]);
    let sizes = table.sizes(1, [4, 4]);
    let chunk = sizes.chunks[0].clone();
    let cases = [
        (WorkspaceDescriptor { chunks: Vec::new(), ..sizes.clone() }, "chunks"),
        (WorkspaceDescriptor { chunks: vec![chunk.clone(); 257], ..sizes.clone() }, "chunks"),
        (WorkspaceDescriptor { draws: 0, ..sizes.clone() }, "draws"),
        (WorkspaceDescriptor { draws: 1025, ..sizes.clone() }, "draws"),
        (WorkspaceDescriptor { draws: u32::MAX, chunks: vec![chunk; 2], ..sizes.clone() }, "draws"),
        (WorkspaceDescriptor { patches: u32::MAX, ..sizes.clone() }, "state"),
        (WorkspaceDescriptor { threadgroups: u32::MAX, ..sizes.clone() }, "state"),
        (WorkspaceDescriptor { off_chip_threadgroups: u32::MAX, ..sizes }, "off-chip"),
        (table.sizes(u32::MAX, [4, 4]), "state"),
        (table.sizes(1, [u32::MAX, 4]), "vertices"),
        (table.sizes(1, [4, u32::MAX]), "indices"),
    ];
    for (descriptor, what) in cases {
        let error = Workspace::new(&rig.device, &table.pipeline, descriptor).map(|_| ()).expect_err(what);
        assert!(matches!(error, Error::OutOfRange { .. } | Error::LimitExceeded { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}: {what}");
    }
    let mut workspace = rig.workspace(&table.pipeline, table.sizes(1, [4, 4]));
    assert_mesh(&rig.read(&table.run(&rig, &mut workspace, 1)), &table.patches);
}
