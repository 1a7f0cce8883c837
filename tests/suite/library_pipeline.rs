//! Shaders that call the library, through reading and whole pipelines.

use std::collections::{BTreeMap, BTreeSet};

use patchwave::library::{PIECES, culling, edges, rounding};
use patchwave::shader::ShaderError;
use patchwave::{Domain, Draw, Mesh, Partitioning, TessellationPipelineDescriptor};

use super::rig::Rig;
use super::shader_errors::{GOOD, read, refused};
use super::tint::assert_accepts;

/// An octahedron's corners, and its faces, counter-clockwise from outside, each beginning somewhere else.
const CORNERS: [[f32; 3]; 6] =
    [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]];
const FACES: [[usize; 3]; 8] = [[0, 2, 4], [2, 1, 4], [4, 1, 3], [3, 0, 4], [0, 5, 2], [5, 1, 2], [1, 5, 3], [0, 3, 5]];
const EYE: [f32; 3] = [3.0, 2.0, 0.7];

/// The octahedron as PN triangles, curved by hull and domain functions, its edges by their size on screen.
fn pn_shader(is_culled: bool) -> String {
    let corners: Vec<String> = CORNERS.iter().map(|[x, y, z]| format!("vec3f({x:?}, {y:?}, {z:?})")).collect();
    let faces: Vec<String> = FACES.iter().flatten().map(|corner| format!("{corner}u")).collect();
    format!(
        "struct Corner {{ position: vec3f, normal: vec3f }}
         struct PatchConstants {{ factors: TriFactors }}
         struct Surface {{
             @location(0) location: vec3f, @location(1) position: vec3f, @location(2) normal: vec3f,
             @location(3) state: vec2f,
         }}
         const eye = vec3f({}, {}, {});
         fn vertex(id: VertexId) -> Corner {{
             var corners = array<vec3f, 6>({});
             var faces = array<u32, 24>({});
             let position = corners[faces[id.vertex_index]];
             return Corner(position, position);
         }}
         fn hull(point: u32, patch_id: u32) -> Corner {{
             let a = input_point(0u);
             let b = input_point(1u);
             let c = input_point(2u);
             var points = tess_pn_points(a.position, b.position, c.position, a.normal, b.normal, c.normal);
             var normals = tess_pn_normals(a.position, b.position, c.position, a.normal, b.normal, c.normal);
             return Corner(points[point], normals[min(point, 5u)]);
         }}
         fn edge(a: u32, b: u32) -> f32 {{
             return tess_edge_sphere(output_point(a).position, output_point(b).position, eye, 100.0, 8.0);
         }}
         fn patch_constants(patch_id: u32) -> PatchConstants {{
             let edges = vec3f(edge(1u, 2u), edge(2u, 0u), edge(0u, 1u));
             let away =
                 tess_faces_away(output_point(0u).position, output_point(1u).position, output_point(2u).position, eye);
             let factors = tess_process_tri_max(edges, 1.0, tess_partitioning()).factors;
             return PatchConstants(tess_cull_tri(factors, {is_culled} && away));
         }}
         fn domain(location: vec3f, patch_id: u32) -> Surface {{
             var points: array<vec3f, 10>;
             var normals: array<vec3f, 6>;
             for (var i = 0u; i < 10u; i++) {{ points[i] = output_point(i).position; }}
             for (var i = 0u; i < 6u; i++) {{ normals[i] = output_point(i).normal; }}
             return Surface(location, tess_pn_position(points, location), tess_pn_normal(normals, location),
                 vec2f(f32(tess_partitioning()), tess_maximum_factor()));
         }}",
        EYE[0],
        EYE[1],
        EYE[2],
        corners.join(", "),
        faces.join(", "),
    )
}

fn octahedron(rig: &Rig, partitioning: Partitioning, is_culled: bool) -> Mesh {
    let shader = pn_shader(is_culled);
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Tri, 3);
    descriptor.output_control_points = 10;
    descriptor.partitioning = partitioning;
    descriptor.maximum_factor = 16.0;
    let pipeline = rig.pipeline(&descriptor);
    let kernel = &pipeline.kernels().threadgroup;
    assert!(kernel.contains("fn tess_weigh") && !kernel.contains("fn tess_bspline"), "what is asked for, no more");
    rig.mesh(&pipeline, &Draw::new(0..24))
}

#[test]
fn curved_triangles_leave_no_crack() {
    let rig = Rig::new();
    for partitioning in Partitioning::ALL {
        let mesh = octahedron(&rig, partitioning, false);
        let (locations, positions) = (mesh.member("location").unwrap(), mesh.member_bits("position").unwrap());
        // The points on each edge, by its corners; each has to come twice.
        let mut found: BTreeMap<[usize; 2], Vec<BTreeSet<&[u32]>>> = BTreeMap::new();
        for (patch, face) in mesh.patches.iter().zip(FACES) {
            for side in 0..3 {
                let mut corners = [face[(side + 1) % 3], face[(side + 2) % 3]];
                corners.sort_unstable();
                let own = patch.first_vertex as usize..(patch.first_vertex + patch.vertices) as usize;
                let on_edge = own.filter(|i| locations[*i][side] == 0.0).map(|i| positions[i].as_slice());
                found.entry(corners).or_default().push(on_edge.collect());

                // The factor is the twin's, up to rounding; where it is then rounded up, by less than a segment or two.
                let [a, b] = corners.map(|corner| CORNERS[corner]);
                let raw = edges::tess_edge_sphere(a, b, EYE, 100.0, 8.0);
                let expected = rounding::tess_round_factor(raw, partitioning);
                assert!((patch.factors[side] - expected.min(16.0)).abs() < 1e-3, "{partitioning} {:?}", patch.factors);
            }
        }
        assert_eq!(found.len(), 12, "edges");
        for (edge, sides) in found {
            assert_eq!(sides.len(), 2, "{edge:?}");
            assert!(sides[0].len() > 3, "{edge:?} is divided");
            assert_eq!(sides[0], sides[1], "{partitioning}: the points on {edge:?} from both sides");
        }
        let state = mesh.member("state").unwrap();
        assert!(state.iter().all(|state| *state == [partitioning.number() as f32, 16.0]), "{:?}", state[0]);
    }
}

#[test]
fn faces_that_turn_away_are_dropped() {
    let rig = Rig::new();
    let mesh = octahedron(&rig, Partitioning::Integer, true);
    let expected = FACES.map(|face| {
        let [a, b, c] = face.map(|corner| CORNERS[corner]);
        culling::tess_faces_away(a, b, c, EYE)
    });
    let found: Vec<bool> = mesh.patches.iter().map(|patch| patch.primitives == 0).collect();
    assert_eq!(found, expected);
    assert_eq!(expected.iter().filter(|away| **away).count(), 5, "faces of eight");
}

#[test]
fn tint_takes_a_kernel_with_pieces_of_the_library() {
    let rig = Rig::with_limits(wgpu::Limits::default());
    let shader = pn_shader(true);
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Tri, 3);
    descriptor.output_control_points = 10;
    let pipeline = rig.pipeline(&descriptor);
    assert_accepts(&[("a kernel with the library", &pipeline.kernels().threadgroup)]);
}

#[test]
fn names_of_the_library_are_its_own() {
    for (declaration, name) in [
        ("fn tess_bernstein(t: f32) -> f32 { return t; }", "tess_bernstein"),
        ("const TESS_POW2 = 3;", "TESS_POW2"),
        ("struct TessQuad { a: f32 }", "TessQuad"),
        ("var<private> tess_partitioning: f32;", "tess_partitioning"),
    ] {
        let error = refused(&format!("{GOOD}\n{declaration}\n"));
        assert!(matches!(&error, ShaderError::ReservedName { name: found, .. } if found == name), "{error:?}");
        assert_eq!(error.line(), Some(10), "{error}");
        assert!(error.to_string().contains("docs/library.md"), "{error}");
    }
    // Other names with the prefix are anybody's, and so are all within a function.
    let more = "fn tess_level(tess_bernstein: f32) -> f32 { let TESS_POW2 = tess_bernstein; return TESS_POW2; }";
    read(&format!("{GOOD}{more}")).unwrap();
}

#[test]
fn every_name_is_documented() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/library.md");
    let text = std::fs::read_to_string(path).expect("the document is there");
    let words: BTreeSet<&str> = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    for piece in PIECES {
        let missing: Vec<&str> = piece.names().filter(|name| !words.contains(name)).collect();
        assert!(missing.is_empty(), "docs/library.md lacks {missing:?} of {}", piece.name);
    }
}

#[test]
fn errors_stay_at_the_users_line() {
    let with = |body: &str| refused(&format!("{GOOD}fn helper() -> vec4f {{\n    return {body};\n}}\n"));
    for body in ["tess_bernstein(1u)", "tess_bernstein()", "tess_bernstein(0.5).xy", "tess_bspline(missing)"] {
        let error = with(body);
        assert!(matches!(error, ShaderError::Wgsl { .. }), "{error:?}");
        assert_eq!(error.line(), Some(10), "{body}: {error}");
    }
    // Only what is there: a name that the library lacks is missing.
    assert_eq!(with("tess_bernstien(0.5)").line(), Some(10));
    read(&format!("{GOOD}fn helper() -> vec4f {{ return tess_bernstein(0.5); }}")).unwrap();
    // An accessor that a stage may not use is found all the same.
    let error =
        refused(&GOOD.replace("return input_point(point)", "let w = tess_bernstein(0.5); return output_point(point)"));
    assert!(matches!(error, ShaderError::ForbiddenAccessor { .. }), "{error:?}");
}
