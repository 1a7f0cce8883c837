//! At the limits of devices: WebGPU's defaults, more threadgroups than a dimension of a dispatch has, results above one
//! binding's limit, control points too large for workgroup memory.

use patchwave::hardware::PlanError;
use patchwave::{
    Domain, Draw, Error, Mesh, OutputTopology, TessellationPipeline, TessellationPipelineDescriptor,
    WorkspaceDescriptor,
};

use super::model::{assert_mesh, mixed_factors};
use super::rig::Rig;
use super::table_pipeline::TablePipeline;

#[test]
fn no_patches_and_one() {
    let rig = Rig::new();
    let table = TablePipeline::new(&rig, Domain::Quad, OutputTopology::TriangleCw, &[[3.0; 6]]);
    let groups = [Some(&table.table.group)];
    for count in [0, 1] {
        let draw = Draw { bind_groups: &groups, ..Draw::new(0..count) };
        let measured = table.pipeline.measure_blocking(&rig.device, &rig.queue, &draw).expect("it can be measured");
        assert_eq!((measured.patches(), measured.threadgroups()), (count, count));
        let expected = table.counts(count).map(u64::from);
        assert_eq!([measured.vertices(), measured.primitives()], expected);
        assert_mesh(&rig.mesh(&table.pipeline, &draw), &table.patches[..count as usize]);
    }
}

#[test]
fn webgpu_defaults_are_enough() {
    let rig = Rig::with_limits(wgpu::Limits::default());
    let limits = rig.device.limits();
    assert_eq!((limits.max_compute_workgroup_storage_size, limits.max_storage_buffers_per_shader_stage), (16_384, 8));
    let table = TablePipeline::with_points(&rig, Domain::Quad, OutputTopology::TriangleCw, &mixed_factors(90, 41), 16);
    let groups = [Some(&table.table.group)];
    let draw = Draw { bind_groups: &groups, ..Draw::new(0..16 * table.patches.len() as u32) };
    assert_mesh(&rig.mesh(&table.pipeline, &draw), &table.patches);
}

/// A shader of control points of `vec4s` vec4s, with this many storage buffers of its own.
fn shader_of(vec4s: u32, buffers: u32) -> String {
    let declarations: String =
        (0..buffers).map(|i| format!("@group(0) @binding({i}) var<storage, read> own_{i}: array<u32>;\n")).collect();
    let sum: String = (0..buffers).map(|i| format!(" + own_{i}[0]")).collect();
    format!(
        "{declarations}
         struct P {{ all: array<vec4f, {vec4s}> }} struct C {{ factors: QuadFactors }} struct S {{ @location(0) x: u32 }}
         fn vertex() -> P {{ return P(); }}
         fn patch_constants(patch_id: u32) -> C {{ return C(QuadFactors(vec4f(2.0), vec2f(2.0))); }}
         fn domain(at: vec2f, patch_id: u32) -> S {{ return S(7u{sum}); }}"
    )
}

#[test]
fn control_points_too_large_for_workgroup_memory() {
    let rig = Rig::with_limits(wgpu::Limits::default());
    let make = |vec4s: u32, points: u32| {
        let shader = shader_of(vec4s, 0);
        let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Quad, points);
        descriptor.names.hull = None;
        TessellationPipeline::new(&rig.device, &descriptor)
    };
    let fits = make(30, 32).expect("32 points of 480 bytes fit 16 KiB");
    assert_eq!(fits.plan().patches, 1);
    assert!(fits.plan().wgsl_workgroup_bytes <= 16_384);
    let mesh = rig.mesh(&fits, &Draw::new(0..96));
    assert_eq!(mesh.member_bits("x"), Some(vec![vec![7]; 27]));
    for (vec4s, points) in [(32, 32), (1024, 1), (4096, 32), (1_000_000, 32)] {
        match make(vec4s, points).map(|_| ()) {
            Err(Error::Plan(PlanError::PatchTooLarge { needed, available })) => {
                assert_eq!(available, 16_384);
                let points = u64::from(vec4s) * 16 * u64::from(points);
                assert!((points..points + 1024).contains(&needed), "{needed} for points of {points}");
            }
            other => panic!("{vec4s} vec4s in {points} points: {other:?}"),
        }
    }
}

/// A patch of `points` output control points of so many vec4s, and patch constants of so many scalars, the six factors
/// included. Vertices carry the sums of the first and the last vector of all points, and the last constant.
fn at_the_maximum(rig: &Rig, points: u32, vec4s: u32, constants: u32) -> Result<TessellationPipeline, Error> {
    let rest = constants - 6;
    let shader = format!(
        "struct I {{ x: f32 }} struct P {{ all: array<vec4u, {vec4s}> }}
         struct C {{ factors: QuadFactors, rest: array<u32, {rest}> }}
         struct S {{ @location(0) first: vec4u, @location(1) last: vec4u, @location(2) constant: u32 }}
         fn vertex() -> I {{ return I(0.0); }}
         fn hull(point: u32, id: u32) -> P {{
             var p: P;
             p.all[0] = vec4u(1u, 2u, 3u, id);
             p.all[{vec4s}u - 1u] = vec4u(point, id, point * 7u, 5u);
             return p;
         }}
         fn patch_constants(id: u32) -> C {{
             var c: C;
             c.factors = QuadFactors(vec4f(1.0), vec2f(1.0));
             c.rest[{rest}u - 1u] = id + 9u;
             return c;
         }}
         fn domain(at: vec2f, id: u32) -> S {{
             var first = vec4u();
             var last = vec4u();
             for (var j = 0u; j < {points}u; j++) {{
                 first += output_point(j).all[0];
                 last += output_point(j).all[{vec4s}u - 1u];
             }}
             return S(first, last, constants().rest[{rest}u - 1u]);
         }}"
    );
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Quad, 1);
    descriptor.output_control_points = points;
    TessellationPipeline::new(&rig.device, &descriptor)
}

/// 3,968 scalars of output control points and 128 of patch constants are Direct3D's most.
#[test]
fn direct3d_s_most_scalars_and_one_more() {
    let rig = Rig::new();
    let memory = rig.device.limits().max_compute_workgroup_storage_size;
    match at_the_maximum(&rig, 32, 31, 128) {
        Ok(pipeline) => {
            let mesh = rig.mesh(&pipeline, &Draw::new(0..3));
            for id in 0..3 {
                let points = (0..32).sum::<u32>();
                let expected = [
                    ("first", vec![32, 64, 96, 32 * id]),
                    ("last", vec![points, 32 * id, 7 * points, 5 * 32]),
                    ("constant", vec![id + 9]),
                ];
                for (member, expected) in expected {
                    let found = mesh.member_bits(member).expect("the member");
                    assert_eq!(
                        found[4 * id as usize..][..4],
                        [const { Vec::new() }; 4].map(|_: Vec<u32>| expected.clone())
                    );
                }
            }
        }
        Err(Error::Plan(PlanError::PatchTooLarge { available, .. })) if memory < 20 << 10 => {
            assert_eq!(available, u64::from(memory));
            println!("only refused, not run: this device has {memory} bytes of workgroup memory");
        }
        Err(error) => panic!("{error}"),
    }
    let refused = |points, vec4s, constants, what: &str| match at_the_maximum(&rig, points, vec4s, constants) {
        Err(Error::Plan(_)) if memory < 20 << 10 => {}
        Err(error) => assert!(error.to_string().contains(what), "{error}"),
        Ok(_) => panic!("not refused: {what}"),
    };
    refused(32, 32, 20, "output control points is 4096 scalars a patch; it must be at most 3968");
    refused(3, 8, 129, "patch constants is 129 scalars a patch; it must be at most 128");
    // One scalar too many, which 3,969 = 27 × 147 divides into points of words.
    let shader = "
        struct I { x: f32 } struct P { all: array<u32, 147> } struct C { factors: QuadFactors }
        struct S { @location(0) x: u32 }
        fn vertex() -> I { return I(0.0); }
        fn hull(point: u32, id: u32) -> P { return P(); }
        fn patch_constants(id: u32) -> C { return C(); }
        fn domain(at: vec2f, id: u32) -> S { return S(output_point(0u).all[0]); }";
    let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Quad, 1);
    descriptor.output_control_points = 27;
    match TessellationPipeline::new(&rig.device, &descriptor).map(|_| ()) {
        Err(Error::Plan(_)) if memory < 20 << 10 => {}
        Err(Error::OutOfRange { what: "output control points", value, .. }) => {
            assert_eq!(value, "3969 scalars a patch");
        }
        other => panic!("{other:?}"),
    }
}

/// With WebGPU's own 16 KiB, workgroup memory ends first, and is named.
#[test]
fn workgroup_memory_ends_before_direct3d_s_limit() {
    let rig = Rig::with_limits(wgpu::Limits::default());
    at_the_maximum(&rig, 32, 25, 128).expect("12,800 bytes of points fit");
    let error = at_the_maximum(&rig, 32, 31, 128).map(|_| ()).expect_err("15,872 bytes of points do not fit");
    assert!(matches!(error, Error::Plan(PlanError::PatchTooLarge { available: 16_384, .. })), "{error}");
}

#[test]
fn storage_buffers_of_the_shader_count() {
    let rig = Rig::with_limits(wgpu::Limits::default());
    let make = |buffers: u32| {
        let entries: Vec<_> = (0..buffers)
            .map(|binding| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: true },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        let layout =
            rig.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let shader = shader_of(1, buffers);
        let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Quad, 1);
        descriptor.names.hull = None;
        let layouts = [Some(&layout)];
        descriptor.bind_group_layouts = &layouts;
        TessellationPipeline::new(&rig.device, &descriptor).map(|_| ())
    };
    make(4).expect("four of the shader's and four of ours");
    match make(5) {
        Err(Error::LimitExceeded {
            limit: "max_storage_buffers_per_shader_stage", needed: 9, available: 8, ..
        }) => {}
        other => panic!("{other:?}"),
    }
}

/// 70,000 threadgroups: the dispatches fold into two dimensions, and allocate scans in two levels. Factors cost one
/// primitive of one vertex a patch.
#[test]
fn more_threadgroups_than_a_dimension_has() {
    let rig = Rig::new();
    let shader = "
        struct P { x: u32 } struct C { factors: QuadFactors } struct S { @location(0) ids: vec2u }
        fn vertex(id: VertexId) -> P { return P(id.vertex_index); }
        fn patch_constants(id: u32) -> C {
            // Of every 70 patches all but four are culled.
            let alive = select(0.0, 1.0, id % 70u >= 66u);
            return C(QuadFactors(vec4f(alive), vec2f(1.0)));
        }
        fn domain(at: vec2f, id: u32) -> S { return S(vec2u(id, output_point(31u).x)); }";
    let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Quad, 32);
    descriptor.names.hull = None;
    let pipeline = rig.pipeline(&descriptor);
    let per_group = pipeline.plan().patches;
    let patches = 70_000 * per_group - 3;
    let draw = Draw::new(0..32 * patches);
    let mesh = rig.mesh(&pipeline, &draw);
    assert_eq!(mesh.patches.len(), patches as usize);
    let alive: Vec<u32> = (0..patches).filter(|id| id % 70 >= 66).collect();
    let ids = mesh.member_bits("ids").expect("ids");
    assert_eq!(ids.len(), 4 * alive.len());
    let expected = alive.iter().flat_map(|id| [[*id, 32 * id + 31]; 4]);
    assert!(ids.iter().zip(expected).all(|(found, expected)| *found == expected));
    let quads = (0..alive.len() as u32).flat_map(|i| [0, 1, 3, 1, 2, 3].map(|corner| 4 * i + corner));
    assert!(mesh.indices.iter().copied().eq(quads));
}

/// The same draw in one chunk and in many, whatever their number.
#[test]
fn chunks_come_to_the_same_as_one() {
    let rig = Rig::new();
    for (domain, topology) in [(Domain::Tri, OutputTopology::TriangleCw), (Domain::Isoline, OutputTopology::Line)] {
        let factors = mixed_factors(2000, 42);
        let table = TablePipeline::with_points(&rig, domain, topology, &factors, 4);
        let groups = [Some(&table.table.group)];
        // Two instances: chunks split within them, not only between.
        let draw = Draw { bind_groups: &groups, instances: 0..2, ..Draw::new(0..4 * table.patches.len() as u32) };
        let whole = rig.mesh(&table.pipeline, &draw);
        let measurement = table.pipeline.measure_blocking(&rig.device, &rig.queue, &draw).expect("measured");
        let mut most = 0;
        for bytes in [128 << 10, 500_000, 1 << 30] {
            let sizes = WorkspaceDescriptor::for_measurement_within(&table.pipeline, &measurement, bytes);
            let sizes = sizes.expect("a threadgroup fits");
            for chunk in &sizes.chunks {
                assert!(u64::from(chunk.vertices) * table.pipeline.vertex_stride() <= bytes);
                assert!(u64::from(chunk.primitives * topology.vertices_per_primitive()) * 4 <= bytes);
            }
            most = most.max(sizes.chunks.len());
            let count = sizes.chunks.len();
            let mut workspace = rig.workspace(&table.pipeline, sizes);
            let result = rig.run(&table.pipeline, &mut workspace, &draw);
            assert_eq!(result.chunks().len(), count);
            assert!(rig.read(&result) == whole, "{domain} in {count} chunks");
            // Once more in the same workspace.
            workspace.reset();
            assert!(rig.read(&rig.run(&table.pipeline, &mut workspace, &draw)) == whole, "{domain} again");
        }
        assert!(most > 5, "{most} chunks at the most");
        let error = WorkspaceDescriptor::for_measurement_within(&table.pipeline, &measurement, 1000);
        assert!(matches!(error, Err(Error::LimitExceeded { available: 1000, needed: 1001.., .. })), "{error:?}");
    }
}

/// A result above what the device lets one binding have, without being asked for chunks. The device is given the least
/// binding limit that WebGPU allows, 128 MiB; the points come to more.
#[test]
fn more_than_one_binding_holds() {
    let rig = Rig::with_limits(wgpu::Limits::default());
    let shader = "
        struct P { x: u32 } struct C { factors: QuadFactors } struct S { @location(0) a: vec4u }
        fn vertex(id: VertexId) -> P { return P(id.vertex_index); }
        fn patch_constants(id: u32) -> C { return C(QuadFactors(vec4f(64.0), vec2f(64.0))); }
        fn domain(at: vec2f, id: u32) -> S { return S(vec4u(id, bitcast<u32>(at.x), bitcast<u32>(at.y), 9u)); }";
    let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Quad, 1);
    descriptor.names.hull = None;
    descriptor.output_topology = OutputTopology::Point;
    let pipeline = rig.pipeline(&descriptor);
    let patches = 2200;
    let draw = Draw::new(0..patches);
    let measurement = pipeline.measure_blocking(&rig.device, &rig.queue, &draw).expect("measured");
    assert!(measurement.vertices() * pipeline.vertex_stride() > 128 << 20);
    let sizes = WorkspaceDescriptor::for_measurement(&pipeline, &measurement).expect("in chunks");
    assert!(sizes.chunks.len() > 1);
    let whole = WorkspaceDescriptor::new(&pipeline, patches, patches * 4225, patches * 4225);
    let error = patchwave::Workspace::new(&rig.device, &pipeline, whole).map(|_| ());
    let limit = "max_storage_buffer_binding_size";
    assert!(matches!(&error, Err(Error::LimitExceeded { limit: l, .. }) if *l == limit), "{error:?}");

    let mut workspace = rig.workspace(&pipeline, sizes);
    let mesh: Mesh = rig.read(&rig.run(&pipeline, &mut workspace, &draw));
    assert_eq!((mesh.patches.len(), mesh.vertex_count()), (2200, 2200 * 4225));
    // Each patch has the same points; the tests of surfaces compare those with the model.
    let words: &[[u32; 4]] = bytemuck::cast_slice(&mesh.vertices);
    let first = &words[..4225];
    for (id, patch) in words.chunks_exact(4225).enumerate() {
        let same = patch.iter().zip(first).all(|(a, b)| *a == [id as u32, b[1], b[2], 9]);
        assert!(same, "patch {id}");
    }
    assert!(mesh.indices.iter().copied().eq(0..2200 * 4225));
}

/// Tens of millions of primitives, counted and not drawn: 64 bits of them add up.
#[test]
fn tens_of_millions_of_primitives_are_counted() {
    let rig = Rig::new();
    let shader = "
        struct P { x: u32 } struct C { factors: QuadFactors } struct S { @location(0) x: u32 }
        fn vertex() -> P { return P(); }
        fn patch_constants(id: u32) -> C { return C(QuadFactors(vec4f(64.0), vec2f(64.0))); }
        fn domain(at: vec2f, id: u32) -> S { return S(1u); }";
    let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Quad, 1);
    descriptor.names.hull = None;
    let pipeline = rig.pipeline(&descriptor);
    // Above 2^32 vertices and primitives in all; 8,192 and 4,225 a patch.
    let patches = 1_100_000;
    let draw = Draw::new(0..patches);
    let measured = pipeline.measure_blocking(&rig.device, &rig.queue, &draw).expect("measured");
    assert_eq!(measured.vertices(), u64::from(patches) * 4225);
    assert_eq!(measured.primitives(), u64::from(patches) * 8192);
    assert!(measured.vertices() > 1 << 32);
    // A draw of it says what it needs, and draws nothing, though its counters have gone round.
    let sizes = WorkspaceDescriptor::new(&pipeline, patches, 1000, 1000);
    let mut workspace = rig.workspace(&pipeline, sizes);
    let result = rig.run(&pipeline, &mut workspace, &draw);
    match Mesh::read_blocking(&rig.device, &rig.queue, &result).map(|_| ()) {
        Err(Error::WorkspaceTooSmall { what: "vertices", needed, available: 1000 }) => {
            assert_eq!(needed, u64::from(patches) * 4225);
        }
        other => panic!("{other:?}"),
    }
    let begin = result.chunks()[0].arguments_offset as usize / 4;
    assert_eq!(rig.words(&result.chunks()[0].arguments)[begin..begin + 16], [0; 16]);
}
