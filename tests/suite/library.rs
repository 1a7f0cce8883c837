//! The library's WGSL on the GPU against its CPU twin, each function in a small kernel of its own; and neighbours' edges,
//! which have to agree bit for bit.

use patchwave::library::{Mat4, PIECES, Vec3, bernstein, bspline, culling, edges, process, rounding};
use patchwave::tessellator::Partitioning;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::rig::Rig;

const FACTOR_STRUCTS: &str = "
struct QuadFactors { edges: vec4f, inside: vec2f }
struct TriFactors { edges: vec3f, inside: f32 }
struct IsolineFactors { density: f32, detail: f32 }
";

/// A kernel that runs a body once for each case: `f(k)` and `p(k)` are a case's number k and the point from number k on,
/// `put` and `put_point` write its results in order.
fn kernel(body: &str, inputs: usize, outputs: usize) -> String {
    let pieces: String = PIECES.iter().map(|piece| piece.wgsl).collect();
    format!(
        "{FACTOR_STRUCTS}{pieces}
        @group(0) @binding(0) var<storage> cases: array<u32>;
        @group(0) @binding(1) var<storage, read_write> results: array<u32>;
        var<private> base: u32;
        var<private> next: u32;
        fn word(k: u32) -> u32 {{ return cases[base + k]; }}
        fn f(k: u32) -> f32 {{ return bitcast<f32>(cases[base + k]); }}
        fn p(k: u32) -> vec3f {{ return vec3f(f(k), f(k + 1u), f(k + 2u)); }}
        fn q(k: u32) -> vec4f {{ return vec4f(f(k), f(k + 1u), f(k + 2u), f(k + 3u)); }}
        fn put_word(value: u32) {{ results[next] = value; next += 1u; }}
        fn put(value: f32) {{ put_word(bitcast<u32>(value)); }}
        fn put_point(value: vec3f) {{ put(value.x); put(value.y); put(value.z); }}
        fn put_four(value: vec4f) {{ put_point(value.xyz); put(value.w); }}
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3u) {{
            if ((id.x + 1u) * {inputs}u > arrayLength(&cases)) {{ return; }}
            base = id.x * {inputs}u;
            next = id.x * {outputs}u;
            {body}
        }}"
    )
}

/// Runs the body over the cases, given as words; a vector of `outputs` words for each.
pub(crate) fn run(rig: &Rig, body: &str, outputs: usize, cases: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let inputs = cases[0].len();
    let text = kernel(body, inputs, outputs);
    let module = rig.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    let pipeline = rig.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let words = rig.storage(&cases.concat());
    let results = rig.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 4 * (outputs * cases.len()) as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let group = rig.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: words.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: results.as_entire_binding() },
        ],
    });
    let mut encoder = rig.encoder();
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(cases.len().div_ceil(64) as u32, 1, 1);
    drop(pass);
    rig.queue.submit([encoder.finish()]);
    rig.words(&results).chunks_exact(outputs).map(<[u32]>::to_vec).collect()
}

/// As [`run`], of numbers.
pub(crate) fn run_floats(rig: &Rig, body: &str, outputs: usize, cases: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let words: Vec<Vec<u32>> = cases.iter().map(|case| case.iter().map(|x| x.to_bits()).collect()).collect();
    let results = run(rig, body, outputs, &words);
    results.into_iter().map(|result| result.into_iter().map(f32::from_bits).collect()).collect()
}

/// As many values of a strategy, the same on every run.
pub(crate) fn sample<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("a value").current()).collect()
}

/// Numbers that may be what a shader makes by mistake.
fn any_factor() -> impl Strategy<Value = f32> {
    let odd = [
        0.0,
        -0.0,
        1.0,
        f32::from_bits(0x3f80_0001),
        f32::from_bits(1),
        -1.0,
        2.0,
        3.0,
        63.0,
        64.0,
        65.0,
        f32::NAN,
        -f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
    ];
    prop_oneof![3 => 0.5f32..70.0, 1 => 0.9f32..4.0, 2 => prop::sample::select(odd.to_vec()), 1 => any::<u32>().prop_map(f32::from_bits)]
}

pub(crate) fn floats<const N: usize>(range: std::ops::Range<f32>) -> impl Strategy<Value = [f32; N]> {
    prop::array::uniform::<_, N>(range)
}

#[track_caller]
pub(crate) fn assert_near(found: &[f32], expected: &[f32], tolerance: f32, of: &dyn std::fmt::Debug) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let off = (found - expected).abs();
        assert!(off <= tolerance * expected.abs().max(1.0), "{found} instead of {expected} for {of:?}");
    }
}

#[test]
fn rounding_is_its_twin_to_the_bit() {
    let rig = Rig::new();
    let cases = sample((any_factor(), 0u32..4, prop_oneof![Just(8.0f32), 1.0f32..64.0]), 4000);
    let words: Vec<_> = cases.iter().map(|case| vec![case.0.to_bits(), case.1, case.2.to_bits()]).collect();
    let body = "put(tess_limit_factor(f(0u), f(2u))); put(tess_round_pow2(f(0u)));
        put(tess_clamp_factor(f(0u), word(1u))); put(tess_round_factor(f(0u), word(1u)));";
    for ((factor, number, maximum), found) in cases.into_iter().zip(run(&rig, body, 4, &words)) {
        let partitioning = Partitioning::ALL[number as usize];
        let expected = [
            rounding::tess_limit_factor(factor, maximum),
            rounding::tess_round_pow2(factor),
            rounding::tess_clamp_factor(factor, partitioning),
            rounding::tess_round_factor(factor, partitioning),
        ];
        assert_eq!(found, expected.map(f32::to_bits), "{factor} {:#x} {partitioning} {maximum}", factor.to_bits());
    }
}

/// Edges and clamps to the bit. An average may be off by the last bits on another device, and rounding up may make a
/// whole segment of that: what was rounded is compared with what the device itself had before.
#[test]
fn processed_factors_are_their_twins() {
    let rig = Rig::new();
    let cases = sample(
        (prop::array::uniform4(any_factor()), [any_factor(), any_factor()], floats::<2>(0.0..1.0), any::<bool>()),
        1500,
    );
    let cases: Vec<_> = cases
        .into_iter()
        .flat_map(|(edges, odd, usual, is_usual)| {
            let scales = if is_usual { usual } else { odd };
            Partitioning::ALL.map(|partitioning| (edges, scales, partitioning))
        })
        .collect();
    let words: Vec<_> = cases
        .iter()
        .map(|(edges, scales, partitioning)| {
            edges.iter().chain(scales).map(|x| x.to_bits()).chain([partitioning.number()]).collect()
        })
        .collect();
    let quad = |call: &str| {
        format!(
            "{{ let t = tess_process_{call}, word(6u)); put_four(t.factors.edges); put(t.factors.inside.x);
            put(t.factors.inside.y); put(t.unrounded_inside.x); put(t.unrounded_inside.y); }}\n"
        )
    };
    let tri = |call: &str| {
        format!(
            "{{ let t = tess_process_{call}(p(0u), f(4u), word(6u)); put_point(t.factors.edges); put(t.factors.inside);
            put(t.unrounded_inside); }}\n"
        )
    };
    let body = [
        quad("quad_avg(q(0u), f(4u)"),
        quad("quad_max(q(0u), f(4u)"),
        quad("quad_min(q(0u), f(4u)"),
        quad("2d_quad_avg(q(0u), vec2f(f(4u), f(5u))"),
        quad("2d_quad_max(q(0u), vec2f(f(4u), f(5u))"),
        quad("2d_quad_min(q(0u), vec2f(f(4u), f(5u))"),
        tri("tri_avg"),
        tri("tri_max"),
        tri("tri_min"),
        "{ let t = tess_process_isoline(IsolineFactors(f(0u), f(1u)), word(6u)); put(t.density); put(t.detail); }"
            .to_owned(),
    ];
    for ((edges, scales, partitioning), found) in cases.into_iter().zip(run(&rig, &body.concat(), 65, &words)) {
        let of = || format!("{edges:?} {scales:?} {partitioning}");
        let found: Vec<f32> = found.into_iter().map(f32::from_bits).collect();
        let quads = [
            process::tess_process_quad_avg(edges, scales[0], partitioning),
            process::tess_process_quad_max(edges, scales[0], partitioning),
            process::tess_process_quad_min(edges, scales[0], partitioning),
            process::tess_process_2d_quad_avg(edges, scales, partitioning),
            process::tess_process_2d_quad_max(edges, scales, partitioning),
            process::tess_process_2d_quad_min(edges, scales, partitioning),
        ];
        for (i, (expected, found)) in quads.iter().zip(found.chunks_exact(8)).enumerate() {
            assert_eq!(found[..4], expected.factors.edges, "quad {i}, {}", of());
            assert_near(&found[6..], &expected.unrounded_inside, 1e-6, &(i, of()));
            let rounded = [found[6], found[7]].map(|inside| rounding::tess_round_factor(inside, partitioning));
            assert_eq!(found[4..6], rounded, "quad {i}, {}", of());
        }
        let corner = [edges[0], edges[1], edges[2]];
        let tris = [
            process::tess_process_tri_avg(corner, scales[0], partitioning),
            process::tess_process_tri_max(corner, scales[0], partitioning),
            process::tess_process_tri_min(corner, scales[0], partitioning),
        ];
        for (i, (expected, found)) in tris.iter().zip(found[48..].chunks_exact(5)).enumerate() {
            assert_eq!(found[..3], expected.factors.edges, "tri {i}, {}", of());
            assert_near(&found[4..], &[expected.unrounded_inside], 1e-6, &(i, of()));
            assert_eq!(found[3], rounding::tess_round_factor(found[4], partitioning), "tri {i}, {}", of());
        }
        let raw = process::IsolineFactors { density: edges[0], detail: edges[1] };
        let isoline = process::tess_process_isoline(raw, partitioning);
        assert_eq!(found[63..], [isoline.density, isoline.detail], "isoline, {}", of());
    }
}

pub(crate) fn vec3(numbers: &[f32]) -> Vec3 {
    [numbers[0], numbers[1], numbers[2]]
}

pub(crate) fn points<const N: usize>(numbers: &[f32]) -> [Vec3; N] {
    std::array::from_fn(|i| vec3(&numbers[3 * i..]))
}

/// A perspective that looks from the eye along -z.
fn camera(eye: Vec3) -> Mat4 {
    let scale = 100.0 / (0.1 - 100.0);
    let [x, y, z] = eye;
    let columns = [[1.2, 0.0, 0.0, 0.0], [0.0, 1.6, 0.0, 0.0], [0.0, 0.0, scale, -1.0]];
    let last: Vec<f32> = (0..4).map(|row| -columns[0][row] * x - columns[1][row] * y - columns[2][row] * z).collect();
    [columns[0], columns[1], columns[2], [last[0], last[1], last[2] + 0.1 * scale, last[3]]]
}

/// All edge factors of an edge from number `a` to number `b`, the eye at 12, the camera at 15.
const EDGE_FACTORS: &str = "
    put(tess_edge_sphere(A, D, p(12u), 500.0, 8.0));
    put(tess_edge_curve(A, B, C, D, p(12u), 500.0, 8.0));
    put(tess_edge_pixels(A, D, mat4x4f(q(15u), q(19u), q(23u), q(27u)), vec2f(800.0, 600.0), 8.0));
    put(tess_edge_distance(A, D, p(12u), vec2f(1.0, 9.0), vec2f(32.0, 1.5)));
    put(tess_edge_flatness(A, B, C, D, 0.01));
    put(tess_edge_normals(A, D, 0.1));";

fn edge_factors(order: [&str; 4]) -> String {
    let named = |text: String, (name, number): (&str, &str)| text.replace(name, &format!("p({number}u)"));
    // Letters only where they are arguments.
    let text = EDGE_FACTORS.replace("(A,", "(@A,").replace(" B,", " @B,").replace(" C,", " @C,").replace(" D,", " @D,");
    ["@A", "@B", "@C", "@D"].into_iter().zip(order).fold(text, named)
}

fn edge_cases(count: usize) -> Vec<Vec<f32>> {
    sample((floats::<12>(-3.0..3.0), floats::<3>(-1.0..1.0), 2.0f32..8.0, 0u32..4), count)
        .into_iter()
        .map(|(points, eye, away, shape)| {
            let mut points = points;
            if shape == 0 {
                // An edge in parallel to an axis, and one that is a point.
                points[9] = points[0];
                points[10] = points[1];
            } else if shape == 1 {
                points.copy_within(0..3, 9);
            }
            let eye = [eye[0], eye[1], eye[2] + away];
            points.into_iter().chain(eye).chain(camera(eye).concat()).collect()
        })
        .collect()
}

#[test]
fn edge_factors_are_their_twins() {
    let rig = Rig::new();
    let cases = edge_cases(2000);
    let body = edge_factors(["0", "3", "6", "9"]);
    for (case, found) in cases.iter().zip(run_floats(&rig, &body, 6, &cases)) {
        let curve: [Vec3; 4] = points(case);
        let [a, _, _, d] = curve;
        let eye = vec3(&case[12..]);
        let expected = [
            edges::tess_edge_sphere(a, d, eye, 500.0, 8.0),
            edges::tess_edge_curve(curve, eye, 500.0, 8.0),
            edges::tess_edge_pixels(a, d, &camera(eye), [800.0, 600.0], 8.0),
            edges::tess_edge_distance(a, d, eye, [1.0, 9.0], [32.0, 1.5]),
            edges::tess_edge_flatness(curve, 0.01),
            edges::tess_edge_normals(a, d, 0.1),
        ];
        // Near the eye's plane the projection magnifies what the roundings differ by.
        assert_near(&found[..2], &expected[..2], 1e-5, case);
        assert_near(&found[2..3], &expected[2..3], 1e-3, case);
        assert_near(&found[3..5], &expected[3..5], 1e-5, case);
        // WGSL lets atan2 be off by 4096 units in the last place.
        assert_near(&found[5..], &expected[5..], 1e-3, case);
    }
}

/// Both sides in one kernel, with other edges between them, so that the compiler has every opportunity to treat one side
/// otherwise than the other.
#[test]
fn edge_factors_are_the_same_bits_from_either_end() {
    let rig = Rig::new();
    let cases = edge_cases(4000);
    let words: Vec<Vec<u32>> = cases.iter().map(|case| case.iter().map(|x| x.to_bits()).collect()).collect();
    let orders = [["0", "3", "6", "9"], ["3", "0", "9", "6"], ["9", "6", "3", "0"], ["6", "9", "0", "3"]];
    let body: String = orders.into_iter().map(edge_factors).collect();
    for (case, found) in cases.iter().zip(run(&rig, &body, 24, &words)) {
        assert_eq!(found[..6], found[12..18], "{case:?}");
        assert_eq!(found[6..12], found[18..], "{case:?}");
    }
    // And in kernels that know of one side only.
    let [there, back] = [orders[0], orders[2]].map(|order| run(&rig, &edge_factors(order), 6, &words));
    assert_eq!(there, back);
}

#[test]
fn edge_factors_of_what_is_no_edge_are_1_to_64() {
    let rig = Rig::new();
    let odd =
        prop::sample::select(vec![0.0, -0.0, 1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e38, -1e38, 1e-40]);
    let cases =
        sample(prop::array::uniform32(odd), 500).into_iter().map(|case| case[..31].to_vec()).collect::<Vec<_>>();
    for (case, found) in cases.iter().zip(run_floats(&rig, &edge_factors(["0", "3", "6", "9"]), 6, &cases)) {
        assert!(found.iter().all(|factor| (1.0..=64.0).contains(factor)), "{found:?} for {case:?}");
    }
}

#[test]
fn culling_is_its_twin() {
    let rig = Rig::new();
    let cases = edge_cases(3000);
    let body = "
        let planes = tess_frustum_planes(mat4x4f(q(15u), q(19u), q(23u), q(27u)));
        put_word(select(0u, 1u, tess_faces_away(p(0u), p(3u), p(6u), p(12u))));
        put_word(select(0u, 1u, tess_cone_faces_away(p(0u), abs(f(3u)) * 0.2, normalize(p(6u)), f(9u) * 0.4, p(12u))));
        put_word(select(0u, 1u, tess_sphere_outside(p(0u), abs(f(3u)), planes)));
        put_word(select(0u, 1u, tess_box_outside(min(p(0u), p(3u)), max(p(0u), p(3u)), planes)));
        put_word(tess_clip_code(vec4f(p(0u), f(3u))));
        let quad = tess_cull_quad(QuadFactors(q(0u), vec2f(f(4u), f(5u))), f(6u) < 0.0);
        put_four(quad.edges); put(quad.inside.x); put(quad.inside.y);
        let tri = tess_cull_tri(TriFactors(p(0u), f(4u)), f(6u) < 0.0);
        put_point(tri.edges); put(tri.inside);
        let isoline = tess_cull_isoline(IsolineFactors(f(0u), f(1u)), f(6u) < 0.0);
        put(isoline.density); put(isoline.detail);
        for (var i = 0u; i < 6u; i++) { var copy = planes; put_four(copy[i]); }";
    let words: Vec<Vec<u32>> = cases.iter().map(|case| case.iter().map(|x| x.to_bits()).collect()).collect();
    let mut differing = 0;
    let mut counts = [0; 4];
    for (case, found) in cases.iter().zip(run(&rig, body, 41, &words)) {
        let [a, b, c, _]: [Vec3; 4] = points(case);
        let eye = vec3(&case[12..]);
        let planes = culling::tess_frustum_planes(&camera(eye));
        let axis = c.map(|x| x / (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]).sqrt());
        let low = std::array::from_fn(|i| a[i].min(b[i]));
        let high = std::array::from_fn(|i| a[i].max(b[i]));
        let expected = [
            culling::tess_faces_away(a, b, c, eye),
            culling::tess_cone_faces_away(a, b[0].abs() * 0.2, axis, case[9] * 0.4, eye),
            culling::tess_sphere_outside(a, b[0].abs(), &planes),
            culling::tess_box_outside(low, high, &planes),
        ];
        for (i, expected) in expected.into_iter().enumerate() {
            differing += usize::from(found[i] != u32::from(expected));
            counts[i] += usize::from(expected);
        }
        assert_eq!(found[4], culling::tess_clip_code([a[0], a[1], a[2], b[0]]), "{case:?}");
        let cull = case[6] < 0.0;
        let quad = process::QuadFactors { edges: [case[0], case[1], case[2], case[3]], inside: [case[4], case[5]] };
        let quad = culling::tess_cull_quad(quad, cull);
        let tri = culling::tess_cull_tri(process::TriFactors { edges: a, inside: case[4] }, cull);
        let isoline = culling::tess_cull_isoline(process::IsolineFactors { density: a[0], detail: a[1] }, cull);
        let factors: Vec<f32> = quad
            .edges
            .into_iter()
            .chain(quad.inside)
            .chain(tri.edges)
            .chain([tri.inside, isoline.density, isoline.detail])
            .collect();
        let numbers: Vec<f32> = found[5..].iter().map(|word| f32::from_bits(*word)).collect();
        assert_eq!(numbers[..12], factors, "{case:?}");
        assert_near(&numbers[12..], &planes.concat(), 1e-6, case);
    }
    // What lies within rounding of a plane; nothing of 12000 answers does by chance.
    assert!(differing <= 2, "{differing} answers differ");
    assert!(counts.iter().all(|count| *count > 50), "both answers come up: {counts:?}");
}

pub(crate) fn domain_coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![(0u32..=65536).prop_map(|u| u as f32 / 65536.0), prop::sample::select(vec![0.0, 0.5, 1.0])]
}

#[test]
fn bases_are_their_twins_and_turn_round() {
    let rig = Rig::new();
    let ts = sample(domain_coordinate(), 3000);
    let cases: Vec<Vec<u32>> = ts.iter().map(|t| vec![t.to_bits(), (1.0 - t).to_bits()]).collect();
    let at = |k: u32| {
        format!(
            "put_four(tess_bernstein(f({k}u))); put_four(tess_bspline(f({k}u)));
             put_four(tess_bernstein_derivative(f({k}u))); put_four(tess_bspline_derivative(f({k}u)));\n"
        )
    };
    for (t, found) in ts.iter().zip(run(&rig, &(at(0) + &at(1)), 32, &cases)) {
        let found: Vec<f32> = found.into_iter().map(f32::from_bits).collect();
        let twins = [
            bernstein::tess_bernstein(*t),
            bspline::tess_bspline(*t),
            bernstein::tess_bernstein_derivative(*t),
            bspline::tess_bspline_derivative(*t),
        ];
        assert_near(&found[..16], &twins.concat(), 1e-6, t);
        for i in 0..4 {
            let (mut back, sign) = (found[16 + 4 * i..20 + 4 * i].to_vec(), if i < 2 { 1.0 } else { -1.0 });
            back.reverse();
            let back: Vec<f32> = back.into_iter().map(|weight| sign * weight).collect();
            assert_eq!(found[4 * i..4 * i + 4], back, "basis {i} at {t} and back");
        }
    }
    let points: Vec<Vec<u32>> = (0..6).map(|i| vec![i, 0]).collect();
    for (i, found) in (0..6).zip(run(&rig, "put_four(tess_bspline_to_bezier(word(0u)));", 4, &points)) {
        let found: Vec<f32> = found.into_iter().map(f32::from_bits).collect();
        assert_near(&found, &bspline::tess_bspline_to_bezier(i), 1e-7, &i);
    }
}
