//! Control points between the stages: any numbers of them in and out, neighbours, structs of all kinds of members. On-chip,
//! and through the off-chip buffer.

use patchwave::{Domain, Draw, Mesh, OutputTopology, Partitioning, TessellationPipelineDescriptor};

use super::model::{assert_mesh, tessellate};
use super::rig::Rig;

/// Draws `patches` patches without vertex buffers; the shader says what it needs of the vertex's number.
fn draw(shader: &str, domain: Domain, points: [u32; 2], hull: bool, patches: u32) -> Mesh {
    let rig = Rig::new();
    let mut descriptor = TessellationPipelineDescriptor::new(shader, domain, points[0]);
    descriptor.output_control_points = points[1];
    if !hull {
        descriptor.names.hull = None;
    }
    rig.mesh_in_all_modes(&descriptor, &Draw::new(0..patches * points[0]))
}

/// The words of a member, by patch and vertex.
fn by_patch(mesh: &Mesh, member: &str) -> Vec<Vec<Vec<u32>>> {
    let words = mesh.member_bits(member).unwrap_or_else(|| panic!("the surface has a member {member}"));
    let of = |patch: &patchwave::mesh::MeshPatch| {
        let first = patch.first_vertex as usize;
        assert!(patch.vertices > 0, "no patch here is culled");
        words[first..first + patch.vertices as usize].to_vec()
    };
    mesh.patches.iter().map(of).collect()
}

/// Every output point hashes its own number, the patch and all input points; every vertex hashes all output points and
/// the constants, which have a hash of all input and all output points.
const HASHES: &str = "
    struct Input { hash: u32 }
    struct Output { hash: u32, patch_id: u32 }
    struct Constants { factors: QuadFactors, input: u32, output: u32 }
    struct Surface { @location(0) points: u32, @location(1) constants: vec2u, @location(2) ids: vec2u }
    fn mix_words(a: u32, b: u32) -> u32 { return (a ^ b) * 16777619u; }
    fn vertex(id: VertexId) -> Input { return Input(id.vertex_index * 7u + 1u); }
    fn hull(point: u32, patch_id: u32) -> Output {
        var hash = point;
        for (var i = 0u; i < INPUT; i++) { hash = mix_words(hash, input_point(i).hash); }
        return Output(hash, patch_id);
    }
    fn patch_constants(patch_id: u32) -> Constants {
        var hashes = vec2u();
        for (var i = 0u; i < INPUT; i++) { hashes.x = mix_words(hashes.x, input_point(i).hash); }
        for (var i = 0u; i < OUTPUT; i++) { hashes.y = mix_words(hashes.y, output_point(i).hash); }
        let factors = QuadFactors(vec4f(1.0 + f32(patch_id % 3u)), vec2f(2.0));
        return Constants(factors, hashes.x, hashes.y);
    }
    fn domain(location: vec2f, patch_id: u32) -> Surface {
        var hash = 0u;
        for (var i = 0u; i < OUTPUT; i++) { hash = mix_words(hash, output_point(i).hash); }
        let c = constants();
        return Surface(hash, vec2u(c.input, c.output), vec2u(patch_id, output_point(0u).patch_id));
    }";

fn mix(hash: u32, word: u32) -> u32 {
    (hash ^ word).wrapping_mul(16_777_619)
}

fn hashes([input, output]: [u32; 2], patches: u32) {
    let shader = HASHES.replace("INPUT", &format!("{input}u")).replace("OUTPUT", &format!("{output}u"));
    let mesh = draw(&shader, Domain::Quad, [input, output], true, patches);
    assert_eq!(mesh.patches.len(), patches as usize);
    let factors: Vec<[f32; 6]> = (0..patches)
        .map(|id| [[1.0 + (id % 3) as f32; 4].as_slice(), &[2.0; 2]].concat())
        .map(|row| row.try_into().expect("six factors"))
        .collect();
    let model = tessellate(Domain::Quad, Partitioning::Integer, OutputTopology::TriangleCw, &factors);
    assert_mesh(&mesh, &model);
    let [points, constants, ids] = ["points", "constants", "ids"].map(|member| by_patch(&mesh, member));
    for id in 0..patches {
        let inputs = || (0..input).map(|i| (id * input + i) * 7 + 1);
        let outputs = || (0..output).map(|point| inputs().fold(point, mix));
        let (all_in, all_out) = (inputs().fold(0, mix), outputs().fold(0, mix));
        let at = id as usize;
        for vertex in 0..points[at].len() {
            assert_eq!(points[at][vertex], [all_out], "{input} to {output}: patch {id}");
            assert_eq!(constants[at][vertex], [all_in, all_out], "{input} to {output}: patch {id}");
            // Without output points, reading one gives zeros.
            let own = if output == 0 { 0 } else { id };
            assert_eq!(ids[at][vertex], [id, own], "{input} to {output}: patch {id}");
        }
    }
}

/// 22 patches of 3 points span waves: 66 lanes; 43 span the workgroup's 128 lanes.
#[test]
fn patches_span_waves_and_workgroups() {
    for (points, patches) in [([3, 3], 22), ([4, 3], 22), ([3, 4], 43), ([3, 3], 200)] {
        hashes(points, patches);
    }
}

#[test]
fn any_number_of_points_goes_in_and_out() {
    for points in [[3, 10], [10, 5], [1, 32], [32, 1], [32, 32], [5, 7]] {
        hashes(points, 75);
    }
}

#[test]
fn no_output_points_leave_the_constants() {
    hashes([3, 0], 70);
    hashes([1, 0], 300);
}

/// Control point i carries i + 1, the patch constants read them all (a report against another implementation: all patches
/// saw only what the first had written).
#[test]
fn constants_see_the_points_of_their_own_patch() {
    for [input, output] in [[4, 4], [4, 3]] {
        let shader = format!(
            "struct P {{ x: f32 }} struct C {{ factors: QuadFactors }}
             struct S {{ @location(0) edges: vec4f }}
             fn vertex() -> P {{ return P(0.0); }}
             fn hull(point: u32, patch_id: u32) -> P {{ return P(f32(point + 1u)); }}
             fn patch_constants(patch_id: u32) -> C {{
                 let edges = vec4f(
                     output_point(0u).x, output_point(1u).x, output_point(2u).x, output_point({}u).x);
                 return C(QuadFactors(edges, vec2f(1.0)));
             }}
             fn domain(location: vec2f, patch_id: u32) -> S {{ return S(constants().factors.edges); }}",
            output - 1,
        );
        let mesh = draw(&shader, Domain::Quad, [input, output], true, 22);
        let expected = [1.0, 2.0, 3.0, output as f32];
        assert_eq!(mesh.patches.len(), 22);
        for patch in &mesh.patches {
            assert_eq!(patch.factors, [expected.as_slice(), &[1.0, 1.0]].concat());
        }
        assert!(mesh.member("edges").expect("edges").iter().all(|edges| *edges == expected));
    }
}

/// All kinds of members, from vec3's padding to arrays of structs, as words: vertex to hull to domain function, in
/// control points and in patch constants.
const KINDS: &str = "
    struct Inner { a: vec3f, b: u32, c: array<vec2i, 3> }
    struct All {
        scalar: f32, whole: i32, word: u32, padded: vec3f, after: f32, alone: vec3u, pair: vec2f,
        matrix: mat3x3f, wide: mat4x2f, words: array<u32, 5>, inner: array<Inner, 2>, last: vec3i,
    }
    struct Constants { before: vec3f, factors: TriFactors, all: All, last: u32 }
    struct Surface { @location(0) found: vec4u, @location(1) wanted: vec4u }

    fn f(seed: u32, i: u32) -> f32 { return f32(seed * 64u + i); }
    fn make(seed: u32) -> All {
        var all: All;
        all.scalar = f(seed, 0u);
        all.whole = -i32(seed) - 1;
        all.word = 0xffff0000u + seed;
        all.padded = vec3f(f(seed, 1u), f(seed, 2u), f(seed, 3u));
        all.after = f(seed, 4u);
        all.alone = vec3u(seed, seed + 1u, seed + 2u);
        all.pair = vec2f(f(seed, 5u), f(seed, 6u));
        for (var i = 0u; i < 3u; i++) { all.matrix[i] = vec3f(f(seed, 7u + i), f(seed, 10u + i), f(seed, 13u + i)); }
        for (var i = 0u; i < 4u; i++) { all.wide[i] = vec2f(f(seed, 16u + i), f(seed, 20u + i)); }
        for (var i = 0u; i < 5u; i++) { all.words[i] = seed * 5u + i; }
        for (var i = 0u; i < 2u; i++) {
            all.inner[i].a = vec3f(f(seed, 24u + i), f(seed, 26u + i), f(seed, 28u + i));
            all.inner[i].b = seed + i;
            for (var j = 0; j < 3; j++) { all.inner[i].c[j] = vec2i(j - i32(seed), j + i32(i)); }
        }
        all.last = vec3i(i32(seed), -1, -2);
        return all;
    }
    fn same(a: All, seed: u32) -> bool {
        let b = make(seed);
        var same = a.scalar == b.scalar && a.whole == b.whole && a.word == b.word && all(a.padded == b.padded)
            && a.after == b.after && all(a.alone == b.alone) && all(a.pair == b.pair) && all(a.last == b.last);
        for (var i = 0u; i < 3u; i++) { same = same && all(a.matrix[i] == b.matrix[i]); }
        for (var i = 0u; i < 4u; i++) { same = same && all(a.wide[i] == b.wide[i]); }
        for (var i = 0u; i < 5u; i++) { same = same && a.words[i] == b.words[i]; }
        for (var i = 0u; i < 2u; i++) {
            same = same && all(a.inner[i].a == b.inner[i].a) && a.inner[i].b == b.inner[i].b;
            for (var j = 0u; j < 3u; j++) { same = same && all(a.inner[i].c[j] == b.inner[i].c[j]); }
        }
        return same;
    }
    fn count(found: bool) -> u32 { return select(0u, 1u, found); }

    fn vertex(id: VertexId) -> All { return make(id.vertex_index); }
    fn patch_constants(patch_id: u32) -> Constants {
        var c: Constants;
        c.before = vec3f(f(patch_id, 1u));
        c.factors = TriFactors(vec3f(2.0), 2.0);
        c.all = make(patch_id + 1000u);
        c.last = patch_id;
        return c;
    }
    fn domain(location: vec3f, patch_id: u32) -> Surface {
        var points = 0u;
        for (var i = 0u; i < 3u; i++) { points += count(same(output_point(i), patch_id * 3u + i)); }
        let c = constants();
        let rest = all(c.before == vec3f(f(patch_id, 1u))) && c.last == patch_id;
        return Surface(vec4u(points, count(same(c.all, patch_id + 1000u)), count(rest), patch_id), vec4u(3, 1, 1, 0));
    }";

#[test]
fn structs_of_all_kinds_come_through_unchanged() {
    let hull = "fn hull(point: u32, patch_id: u32) -> All { return input_point(point); }";
    for with_hull in [true, false] {
        let shader = format!("{KINDS}{}", if with_hull { hull } else { "" });
        let mesh = draw(&shader, Domain::Tri, [3, 3], with_hull, 41);
        let found = by_patch(&mesh, "found");
        assert_eq!(found.len(), 41);
        for (id, vertices) in found.iter().enumerate() {
            assert!(vertices.iter().all(|words| *words == [3, 1, 1, id as u32]), "patch {id}: {vertices:?}");
        }
    }
}

/// A control point need not be a struct, and the index of an accessor beyond the patch reads its last point.
#[test]
fn plain_values_are_control_points_too() {
    let shader = "
        struct C { factors: IsolineFactors }
        struct S { @location(0) value: vec4f }
        fn vertex(id: VertexId) -> vec3f { return vec3f(f32(id.vertex_index)); }
        fn hull(point: u32, patch_id: u32) -> f32 { return input_point(point).y + 0.5; }
        fn patch_constants(patch_id: u32) -> C { return C(IsolineFactors(1.0, 1.0)); }
        fn domain(location: vec2f, patch_id: u32) -> S {
            return S(vec4f(output_point(0u), output_point(1u), output_point(2u), output_point(4000000000u)));
        }";
    let mesh = draw(shader, Domain::Isoline, [2, 2], true, 9);
    let values = mesh.member("value").expect("a value");
    assert_eq!(values.len(), 18);
    for (vertex, value) in values.iter().enumerate() {
        let first = (vertex / 2 * 2) as f32;
        assert_eq!(*value, [first + 0.5, first + 1.5, first + 1.5, first + 1.5]);
    }
}
