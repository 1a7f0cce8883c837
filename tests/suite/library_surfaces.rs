//! The library's sums of points, PN triangles and Phong tessellation on the GPU against their twins, and seen from both
//! sides of an edge.

use patchwave::library::{PIECES, Vec3, blend, phong, pn};
use proptest::prelude::*;

use super::library::{assert_near, domain_coordinate, floats, points, run, run_floats, sample, vec3};
use super::rig::Rig;
use super::tint::assert_accepts;

/// A location in the tri domain.
fn location() -> impl Strategy<Value = Vec3> {
    (domain_coordinate(), domain_coordinate()).prop_map(|(u, v)| {
        let [u, v] = if u + v > 1.0 { [1.0 - u, 1.0 - v] } else { [u, v] };
        [u, v, 1.0 - u - v]
    })
}

fn unit(direction: Vec3) -> Vec3 {
    let length = direction.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-3);
    direction.map(|x| x / length)
}

/// Three corners, three normals of length 1, a location.
fn triangles(count: usize) -> Vec<Vec<f32>> {
    sample((floats::<9>(-2.0..2.0), floats::<9>(-1.0..1.0), location()), count)
        .into_iter()
        .map(|(corners, normals, location)| {
            let normals: [Vec3; 3] = points(&normals);
            corners.into_iter().chain(normals.map(unit).concat()).chain(location).collect()
        })
        .collect()
}

#[test]
fn sums_are_their_twins() {
    let rig = Rig::new();
    let cases: Vec<Vec<f32>> = sample((floats::<32>(-2.0..2.0), floats::<16>(-2.0..2.0), floats::<8>(-1.0..1.0)), 800)
        .into_iter()
        .map(|(a, b, weights)| a.into_iter().chain(b).chain(weights).collect())
        .collect();
    let body = "
        var grid: array<vec3f, 16>;
        for (var i = 0u; i < 16u; i++) { grid[i] = p(3u * i); }
        put_point(tess_bicubic(grid, q(48u), q(52u)));
        put_point(tess_blend(p(0u), p(3u), p(6u), p(9u), q(48u)));
        put_point(tess_weigh(p(0u), f(48u), p(3u), f(49u)));
        put_point(tess_barycentric(p(0u), p(3u), p(6u), abs(p(48u))));";
    for (case, found) in cases.iter().zip(run_floats(&rig, body, 12, &cases)) {
        let grid: [Vec3; 16] = points(case);
        let four = |k: usize| [case[k], case[k + 1], case[k + 2], case[k + 3]];
        let [a, b, c, d, ..] = grid;
        let expected = [
            blend::tess_bicubic(&grid, four(48), four(52)),
            blend::tess_blend(a, b, c, d, four(48)),
            blend::tess_weigh(a, case[48], b, case[49]),
            blend::tess_barycentric(a, b, c, vec3(&case[48..]).map(f32::abs)),
        ];
        assert_near(&found, &expected.concat(), 1e-5, case);
    }
}

#[test]
fn sums_turn_round() {
    let rig = Rig::new();
    let cases: Vec<Vec<u32>> = sample((floats::<12>(-2.0..2.0), domain_coordinate()), 3000)
        .into_iter()
        .map(|(points, t)| points.into_iter().chain([t, 1.0 - t]).map(f32::to_bits).collect())
        .collect();
    let body = "
        put_point(tess_blend(p(0u), p(3u), p(6u), p(9u), tess_bernstein(f(12u))));
        put_point(tess_blend(p(0u), p(3u), p(6u), p(9u), tess_bspline(f(12u))));
        put_point(tess_blend(p(9u), p(6u), p(3u), p(0u), tess_bernstein(f(13u))));
        put_point(tess_blend(p(9u), p(6u), p(3u), p(0u), tess_bspline(f(13u))));";
    for (case, found) in cases.iter().zip(run(&rig, body, 12, &cases)) {
        assert_eq!(found[..6], found[6..], "{case:x?}");
    }
}

const SURFACES: &str = "
    put_point(tess_pn_position(tess_pn_points(A, B, C, N, O, P), vec3f(U, V, W)));
    put_point(tess_phong(A, B, C, N, O, P, vec3f(U, V, W), 0.75));
    put_point(tess_barycentric(A, B, C, vec3f(U, V, W)));
    put_point(tess_pn_normal(tess_pn_normals(A, B, C, N, O, P), vec3f(U, V, W)));
    put_point(tess_phong_normal(N, O, P, vec3f(U, V, W)));";

/// The surfaces with their corners, and the coordinates that go with them, in this order.
fn surfaces(order: [usize; 3]) -> String {
    let mut text =
        SURFACES.replace("A, B, C", "@0, @1, @2").replace("N, O, P", "@3, @4, @5").replace("U, V, W", "@6, @7, @8");
    for (i, corner) in order.into_iter().enumerate() {
        text = text
            .replace(&format!("@{i}"), &format!("p({}u)", 3 * corner))
            .replace(&format!("@{}", 3 + i), &format!("p({}u)", 9 + 3 * corner))
            .replace(&format!("@{}", 6 + i), &format!("f({}u)", 18 + corner));
    }
    text
}

#[test]
fn curved_triangles_are_their_twins() {
    let rig = Rig::new();
    let cases = triangles(2000);
    for (case, found) in cases.iter().zip(run_floats(&rig, &surfaces([0, 1, 2]), 15, &cases)) {
        let corners: [Vec3; 3] = points(case);
        let normals: [Vec3; 3] = points(&case[9..]);
        let location = vec3(&case[18..]);
        let expected = [
            pn::tess_pn_position(&pn::tess_pn_points(corners, normals), location),
            phong::tess_phong(corners, normals, location, 0.75),
            blend::tess_barycentric(corners[0], corners[1], corners[2], location),
        ];
        assert_near(&found[..9], &expected.concat(), 1e-5, case);
        // Where normals nearly cancel out, making them 1 long magnifies what the roundings differ by.
        let expected = [
            pn::tess_pn_normal(&pn::tess_pn_normals(corners, normals), location),
            phong::tess_phong_normal(normals, location),
        ];
        assert_near(&found[9..], &expected.concat(), 1e-3, case);
    }
}

/// Two triangles share an edge, each with a third corner of its own; whichever corner of each that is.
#[test]
fn curved_edges_are_the_same_bits_from_both_sides() {
    let rig = Rig::new();
    // The third corner has no weight: on the edge.
    let cases: Vec<Vec<u32>> = triangles(1500)
        .into_iter()
        .zip(sample(domain_coordinate(), 1500))
        .map(|(mut case, u)| {
            case[18..].copy_from_slice(&[u, 1.0 - u, 0.0]);
            case.into_iter().map(f32::to_bits).collect()
        })
        .collect();
    // The same with another third corner.
    let others: Vec<Vec<u32>> = cases
        .iter()
        .zip(cases.iter().skip(1).chain(&cases[..1]))
        .map(|(case, other)| {
            let mut case = case.clone();
            case[6..9].copy_from_slice(&other[6..9]);
            case[15..18].copy_from_slice(&other[15..18]);
            case
        })
        .collect();
    let orders = [[0, 1, 2], [1, 0, 2], [2, 0, 1], [0, 2, 1], [1, 2, 0], [2, 1, 0]];
    // In kernels that each know of one order only: where several stand side by side, the compiler may share their products
    // instead of fusing them.
    let reference = run(&rig, &surfaces(orders[0]), 15, &cases);
    for order in orders {
        for cases in [&cases, &others] {
            for ((case, one), other) in cases.iter().zip(&reference).zip(run(&rig, &surfaces(order), 15, cases)) {
                assert_eq!(one[..9], other[..9], "{order:?} {case:x?}");
            }
        }
    }
    let body: String = orders.into_iter().map(surfaces).collect();
    for (case, all) in cases.iter().zip(run(&rig, &body, 90, &cases)) {
        for (order, one) in orders.iter().zip(all.chunks_exact(15)) {
            assert_eq!(all[..9], one[..9], "{order:?} {case:x?}");
        }
    }
}

#[test]
fn tint_takes_each_piece_alone_with_what_it_needs() {
    let structs = "
        struct QuadFactors { edges: vec4f, inside: vec2f }
        struct TriFactors { edges: vec3f, inside: f32 }
        struct IsolineFactors { density: f32, detail: f32 }\n";
    let texts: Vec<String> = PIECES
        .iter()
        .map(|piece| {
            let needed = PIECES.iter().filter(|other| piece.needs.contains(&other.name));
            let before: String = needed.map(|other| other.wgsl).collect();
            [structs, &before, piece.wgsl, "@compute @workgroup_size(1) fn main() {}"].concat()
        })
        .collect();
    let sources: Vec<(&str, &str)> =
        PIECES.iter().zip(&texts).map(|(piece, text)| (piece.name, text.as_str())).collect();
    assert_accepts(&sources);
}
