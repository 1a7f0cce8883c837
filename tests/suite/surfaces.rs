//! Whole surfaces against a model on the CPU: a bicubic quad grid, PN-like triangles and cubic isolines, in all
//! partitionings, with factors that differ per patch and culled patches between, before and after the others.

use patchwave::tessellator::TessellatedPatch;
use patchwave::{Domain, Draw, Mesh, OutputTopology, Partitioning, TessellationPipelineDescriptor};

use super::model::{assert_mesh, for_each_vertex, mixed_factors, tessellate};
use super::rig::{FactorTable, Rig, factor_table_wgsl, location_type};

type V3 = [f64; 3];

fn sum(terms: &[(f64, V3)]) -> V3 {
    terms.iter().fold([0.0; 3], |all, (weight, v)| std::array::from_fn(|i| all[i] + weight * v[i]))
}

fn dot(a: V3, b: V3) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

fn cubic(t: f64) -> [f64; 4] {
    let s = 1.0 - t;
    [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t]
}

/// Draws control points (position and normal each) and gives back the mesh and what the tessellator makes of the patches.
fn draw(
    domain: Domain,
    partitioning: Partitioning,
    topology: OutputTopology,
    points: [u32; 2],
    stages: &str,
    control_points: &[[f32; 6]],
    factors: &[[f32; 6]],
) -> (Mesh, Vec<TessellatedPatch>) {
    let rig = Rig::new();
    let table = FactorTable::new(&rig, factors);
    let shader = format!(
        "{}
         struct Point {{ @location(0) position: vec3f, @location(1) normal: vec3f }}
         struct Surface {{ @location(0) location: {location}, @builtin(position) position: vec4f }}
         fn vertex(point: Point) -> Point {{ return point; }}
         fn patch_constants(patch_id: u32) -> PatchConstants {{ return table_constants(patch_id); }}
         fn cubic(t: f32) -> vec4f {{
             let s = 1.0 - t;
             return vec4f(s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t);
         }}
         {stages}",
        factor_table_wgsl(domain),
        location = location_type(domain),
    );
    let attributes = wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3];
    let layouts = [wgpu::VertexBufferLayout {
        array_stride: 24,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &attributes,
    }];
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, domain, points[0]);
    descriptor.output_control_points = points[1];
    descriptor.partitioning = partitioning;
    descriptor.output_topology = topology;
    descriptor.vertex_buffers = &layouts;
    let groups = [Some(&table.layout)];
    descriptor.bind_group_layouts = &groups;
    let buffer = rig.storage(control_points);
    let (slices, groups) = ([buffer.slice(..)], [Some(&table.group)]);
    let mut draw = Draw::new(0..control_points.len() as u32);
    draw.vertex_buffers = &slices;
    draw.bind_groups = &groups;
    (rig.mesh_in_all_modes(&descriptor, &draw), tessellate(domain, partitioning, topology, factors))
}

/// `per_patch` control points for each row of factors, spread about where a patch of that number lies in a grid.
fn control_points(patches: usize, per_patch: usize) -> Vec<[f32; 6]> {
    let mut state = 12345u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..patches * per_patch)
        .map(|i| {
            let (patch, point) = (i / per_patch, i % per_patch);
            let mut value = [0.0; 6];
            value[0] = (patch % 16) as f32 + (point % 4) as f32 / 3.0 + 0.1 * random();
            value[1] = (patch / 16) as f32 + (point / 4) as f32 / 3.0 + 0.1 * random();
            value[2] = random();
            // Not normalised: the model does not need it to be.
            value[3] = random() - 0.5;
            value[4] = random() - 0.5;
            value[5] = 1.0;
            value
        })
        .collect()
}

fn position(point: &[f32; 6]) -> V3 {
    [point[0], point[1], point[2]].map(f64::from)
}

fn normal(point: &[f32; 6]) -> V3 {
    [point[3], point[4], point[5]].map(f64::from)
}

fn assert_positions(mesh: &Mesh, patches: &[TessellatedPatch], model: impl Fn(usize, V3) -> V3) {
    let positions = mesh.member("position").expect("the surface has a position");
    for_each_vertex(patches, |id, location, vertex| {
        let expected = model(id, location);
        for i in 0..3 {
            let found = f64::from(positions[vertex][i]);
            // Coordinates of up to about 40, sums of up to 20 products in single precision.
            assert!(
                (found - expected[i]).abs() < 5e-5,
                "patch {id} at {location:?}: {:?}, not {expected:?}",
                positions[vertex]
            );
        }
        assert_eq!(positions[vertex][3], 1.0);
    });
}

/// 16 control points in and out; each output point reads its own input point and the next one.
#[test]
fn bicubic_quads() {
    let stages = "
        struct Position { position: vec3f }
        fn hull(point: u32, patch_id: u32) -> Position {
            return Position(0.75 * input_point(point).position + 0.25 * input_point((point + 1u) % 16u).position);
        }
        fn domain(location: vec2f, patch_id: u32) -> Surface {
            let u = cubic(location.x);
            let v = cubic(location.y);
            var sum = vec3f();
            for (var i = 0u; i < 16u; i++) {
                sum += u[i % 4u] * v[i / 4u] * output_point(i).position;
            }
            return Surface(location, vec4f(sum, 1.0));
        }";
    for (i, partitioning) in Partitioning::ALL.into_iter().enumerate() {
        let factors = mixed_factors(90, i as u32);
        let points = control_points(factors.len(), 16);
        let topology = [OutputTopology::TriangleCw, OutputTopology::TriangleCcw][i % 2];
        let (mesh, patches) = draw(Domain::Quad, partitioning, topology, [16, 16], stages, &points, &factors);
        assert_mesh(&mesh, &patches);
        assert_positions(&mesh, &patches, |id, [u, v, _]| {
            let own = &points[id * 16..id * 16 + 16];
            let output = |i: usize| sum(&[(0.75, position(&own[i])), (0.25, position(&own[(i + 1) % 16]))]);
            let (u, v) = (cubic(u), cubic(v));
            sum(&std::array::from_fn::<_, 16, _>(|i| (u[i % 4] * v[i / 4], output(i))))
        });
    }
}

/// Which corners an edge point of a cubic triangle lies between: outputs 0 to 2 are the corners, 3 to 8 lie at a third
/// from `EDGES[i][0]` towards `EDGES[i][1]`, 9 is the middle.
const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 0], [1, 2], [2, 1], [2, 0], [0, 2]];

fn pn_output(own: &[[f32; 6]], i: usize) -> V3 {
    let p = |i: usize| position(&own[i]);
    let edge = |[a, b]: [usize; 2]| {
        let along = sum(&[(1.0, p(b)), (-1.0, p(a))]);
        let n = normal(&own[a]);
        sum(&[(2.0 / 3.0, p(a)), (1.0 / 3.0, p(b)), (-dot(along, n) / 3.0, n)])
    };
    match i {
        0..3 => p(i),
        3..9 => edge(EDGES[i - 3]),
        _ => {
            let edges = sum(&EDGES.map(|e| (1.0 / 6.0, edge(e))));
            let corners = sum(&[0, 1, 2].map(|i| (1.0 / 3.0, p(i))));
            sum(&[(1.5, edges), (-0.5, corners)])
        }
    }
}

/// 3 control points in, 10 out, as PN triangles do it.
#[test]
fn pn_triangles() {
    let stages = "
        const EDGES = array<vec2u, 6>(vec2u(0, 1), vec2u(1, 0), vec2u(1, 2), vec2u(2, 1), vec2u(2, 0), vec2u(0, 2));
        struct Control { position: vec3f }
        fn edge_point(i: u32) -> vec3f {
            var edges = EDGES;
            let a = input_point(edges[i].x);
            let b = input_point(edges[i].y);
            return (2.0 * a.position + b.position - dot(b.position - a.position, a.normal) * a.normal) / 3.0;
        }
        fn hull(point: u32, patch_id: u32) -> Control {
            if (point < 3u) { return Control(input_point(point).position); }
            if (point < 9u) { return Control(edge_point(point - 3u)); }
            var edges = vec3f();
            for (var i = 0u; i < 6u; i++) { edges += edge_point(i) / 6.0; }
            let corners = (input_point(0u).position + input_point(1u).position + input_point(2u).position) / 3.0;
            return Control(1.5 * edges - 0.5 * corners);
        }
        fn domain(location: vec3f, patch_id: u32) -> Surface {
            let u = location.x;
            let v = location.y;
            let w = location.z;
            var weights = array<f32, 10>(
                u * u * u, v * v * v, w * w * w, 3.0 * u * u * v, 3.0 * v * v * u, 3.0 * v * v * w, 3.0 * w * w * v,
                3.0 * w * w * u, 3.0 * u * u * w, 6.0 * u * v * w);
            var sum = vec3f();
            for (var i = 0u; i < 10u; i++) { sum += weights[i] * output_point(i).position; }
            return Surface(location, vec4f(sum, 1.0));
        }";
    for (i, partitioning) in Partitioning::ALL.into_iter().enumerate() {
        let factors = mixed_factors(150, 77 + i as u32);
        let points = control_points(factors.len(), 3);
        let topology = [OutputTopology::TriangleCcw, OutputTopology::TriangleCw][i % 2];
        let (mesh, patches) = draw(Domain::Tri, partitioning, topology, [3, 10], stages, &points, &factors);
        assert_mesh(&mesh, &patches);
        assert_positions(&mesh, &patches, |id, [u, v, w]| {
            let own = &points[id * 3..id * 3 + 3];
            let corners = [u, v, w];
            let weights = (0..10).map(|i| match i {
                0..3 => corners[i].powi(3),
                3..9 => 3.0 * corners[EDGES[i - 3][0]].powi(2) * corners[EDGES[i - 3][1]],
                _ => 6.0 * u * v * w,
            });
            let terms: Vec<_> = weights.enumerate().map(|(i, weight)| (weight, pn_output(own, i))).collect();
            sum(&terms)
        });
    }
}

/// Cubic curves through a hull function that turns the control points round; lines and points.
#[test]
fn cubic_isolines() {
    let stages = "
        fn hull(point: u32, patch_id: u32) -> Point { return input_point(3u - point); }
        fn domain(location: vec2f, patch_id: u32) -> Surface {
            let u = cubic(location.x);
            var sum = vec3f();
            for (var i = 0u; i < 4u; i++) {
                sum += u[i] * (output_point(i).position + location.y * output_point(i).normal);
            }
            return Surface(location, vec4f(sum, 1.0));
        }";
    for (i, partitioning) in Partitioning::ALL.into_iter().enumerate() {
        let factors = mixed_factors(150, 99 + i as u32);
        let points = control_points(factors.len(), 4);
        for topology in [OutputTopology::Line, OutputTopology::Point] {
            let (mesh, patches) = draw(Domain::Isoline, partitioning, topology, [4, 4], stages, &points, &factors);
            assert_mesh(&mesh, &patches);
            assert_positions(&mesh, &patches, |id, [u, v, _]| {
                let own = &points[id * 4..id * 4 + 4];
                let at = |i: usize| sum(&[(1.0, position(&own[3 - i])), (v, normal(&own[3 - i]))]);
                let u = cubic(u);
                sum(&std::array::from_fn::<_, 4, _>(|i| (u[i], at(i))))
            });
        }
    }
}

/// Three lines of five segments: 18 points at v of 0, 1/3 and 2/3.
#[test]
fn three_isolines_of_five_segments() {
    let stages = "
        fn hull(point: u32, patch_id: u32) -> Point { return input_point(point); }
        fn domain(location: vec2f, patch_id: u32) -> Surface { return Surface(location, vec4f()); }";
    let row = [3.0, 5.0, 0.0, 0.0, 0.0, 0.0];
    let (mesh, _) =
        draw(Domain::Isoline, Partitioning::Integer, OutputTopology::Line, [1, 1], stages, &[[0.0; 6]], &[row]);
    let locations = mesh.member("location").expect("a location");
    let across: Vec<u32> = locations.iter().map(|location| (location[1] * 65536.0) as u32).collect();
    let expected: Vec<u32> = [0, 0x5555, 0xaaab].into_iter().flat_map(|v| [v; 6]).collect();
    assert_eq!(across, expected);
    let lines: Vec<u32> = (0..3).flat_map(|line| (0..5).flat_map(move |i| [6 * line + i, 6 * line + i + 1])).collect();
    assert_eq!(mesh.indices, lines);
}
