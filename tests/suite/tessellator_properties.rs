//! Properties of the tessellator on any factors: Vulkan's seven invariance rules, which D3D's tessellator keeps too,
//! what neighbours that share an edge rely on, and the soundness of the mesh.

use std::collections::HashMap;

use patchwave::tessellator::{Domain, ONE, OutputTopology, Partitioning, TessellatedPatch};
use proptest::prelude::*;
use proptest::sample::select;

/// Factors that something is special about.
const SPECIAL: [f32; 22] = [
    0.0,
    -0.0,
    -0.5,
    -1.0,
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::from_bits(1),
    f32::MIN_POSITIVE,
    0.25,
    0.5,
    1.0,
    1.0 + f32::EPSILON,
    1.0 + 1.0 / 131_072.0,
    1.0 + 1.0 / 65_536.0,
    62.999,
    63.0,
    63.999,
    64.0,
    64.5,
    1e30,
    f32::MAX,
];

/// A factor that keeps its patch.
fn kept() -> impl Strategy<Value = f32> {
    prop_oneof![
        (1u32..=64).prop_map(|factor| factor as f32),
        1f32..8.0,
        0.01f32..66.0,
        select(&SPECIAL[..]).prop_filter("above 0", |&factor| factor > 0.0),
    ]
}

/// A factor with any bits.
fn any_factor() -> impl Strategy<Value = f32> {
    prop_oneof![kept(), select(&SPECIAL[..]), any::<u32>().prop_map(f32::from_bits)]
}

/// Any factors, of which a domain takes as many as it has.
fn any_factors() -> impl Strategy<Value = [f32; 6]> {
    proptest::array::uniform6(any_factor())
}

/// Factors that keep their patch, the inside's of a quad any at all.
fn kept_factors() -> impl Strategy<Value = [f32; 6]> {
    (proptest::array::uniform4(kept()), any_factor(), any_factor()).prop_map(|([a, b, c, d], e, f)| [a, b, c, d, e, f])
}

fn partitioning() -> impl Strategy<Value = Partitioning> {
    select(&Partitioning::ALL[..])
}

/// Tri or quad.
fn surface() -> impl Strategy<Value = Domain> {
    select(&[Domain::Tri, Domain::Quad][..])
}

fn patch(domain: Domain, partitioning: Partitioning, topology: OutputTopology, factors: &[f32]) -> TessellatedPatch {
    let bits: Vec<u32> = factors.iter().take(domain.factor_count()).map(|factor| factor.to_bits()).collect();
    TessellatedPatch::new(domain, partitioning, topology, &bits).expect("a valid patch")
}

fn clockwise(domain: Domain, partitioning: Partitioning, factors: &[f32]) -> TessellatedPatch {
    patch(domain, partitioning, OutputTopology::TriangleCw, factors)
}

/// The patch with its edges' factors changed to those of `others`, but that of the edge kept.
fn with_other_edges(patch: &TessellatedPatch, kept: usize, others: &[f32]) -> TessellatedPatch {
    let mut factors: Vec<f32> = patch.factor_bits().iter().copied().map(f32::from_bits).collect();
    for (e, factor) in factors.iter_mut().enumerate().take(patch.domain().edge_count()) {
        if e != kept {
            *factor = others[e];
        }
    }
    clockwise(patch.domain(), patch.partitioning(), &factors)
}

/// Whether it is the patch of one or two triangles that has no inside.
fn is_minimum(patch: &TessellatedPatch) -> bool {
    patch.primitive_count() < 3
}

/// How many points the outer ring has.
fn outer_points(patch: &TessellatedPatch) -> u32 {
    patch.contexts().iter().take(patch.domain().edge_count()).map(|context| context.segments()).sum()
}

/// The points of an edge, in the order of the ring, both ends included.
fn edge(patch: &TessellatedPatch, e: usize) -> Vec<[u32; 2]> {
    let segments: Vec<u32> = patch.contexts().iter().map(|context| context.segments()).collect();
    // The minimum quad begins one corner later.
    let first = segments[..e].iter().sum::<u32>() + if patch.point_count() == 4 && is_minimum(patch) { 3 } else { 0 };
    let outer = outer_points(patch);
    (first..=first + segments[e]).filter_map(|k| patch.point(k % outer)).collect()
}

/// Where an edge's points lie along it, rising.
fn along(patch: &TessellatedPatch, e: usize) -> Vec<u32> {
    // Tri: U==0, V==0, W==0; quad: U==0, V==0, U==1, V==1. On W==0 u says it all.
    let component = if patch.domain() == Domain::Tri { [1, 0, 0, 0][e] } else { [1, 0, 1, 0][e] };
    let mut along: Vec<u32> = edge(patch, e).iter().map(|point| point[component]).collect();
    if along.first() > along.last() {
        along.reverse();
    }
    along
}

/// The positions of the triangles between an edge and the first ring.
fn outer_triangles(patch: &TessellatedPatch, e: usize) -> Vec<[Option<[u32; 2]>; 3]> {
    let segments: Vec<u32> = patch.contexts().iter().map(|context| context.segments()).collect();
    let inside = |side: usize| match patch.domain() {
        Domain::Tri => segments[3] - 2,
        _ => [segments[5], segments[4]][side % 2] - 2,
    };
    let first: u32 = (0..e).map(|side| segments[side] + inside(side)).sum();
    (first..first + segments[e] + inside(e))
        .filter_map(|t| patch.primitive(t))
        .map(|triangle| triangle.map(|k| patch.point(k)))
        .collect()
}

/// All that lies within the first ring: its points, and its triangles by their points' numbers counted from there.
fn inner(patch: &TessellatedPatch) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let outer = outer_points(patch);
    let points = patch.points().skip(outer as usize).collect();
    let triangles = (0..patch.primitive_count())
        .filter_map(|t| patch.primitive(t))
        .filter(|triangle| triangle.iter().all(|&k| k >= outer))
        .map(|triangle| triangle.map(|k| k - outer))
        .collect();
    (points, triangles)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn rule_1_same_factors_same_sequence(
        domain in select(&Domain::ALL[..]), partitioning in partitioning(), factors in any_factors(),
    ) {
        for topology in OutputTopology::ALL.into_iter().filter(|topology| topology.is_valid_for(domain)) {
            let [once, again] = [(); 2].map(|()| patch(domain, partitioning, topology, &factors));
            let mut backwards: Vec<_> = (0..again.point_count()).rev().filter_map(|k| again.point(k)).collect();
            backwards.reverse();
            prop_assert_eq!(once.points().collect::<Vec<_>>(), backwards);
            prop_assert_eq!(once.indices().collect::<Vec<_>>(), again.indices().collect::<Vec<_>>());
        }
    }

    #[test]
    fn rules_2_to_4_an_edge_is_divided_by_its_own_factor_alone_symmetrically_and_as_any_other(
        partitioning in partitioning(), factor in kept(),
        mut tri in proptest::array::uniform4(kept()), inside in any_factor(), quad in kept_factors(),
    ) {
        tri[3] = inside;
        // An isoline's detail is divided in the same way.
        let line = patch(Domain::Isoline, partitioning, OutputTopology::Line, &[1.0, factor]);
        let expected: Vec<u32> = line.points().map(|[u, _]| u).collect();
        let mirrored: Vec<u32> = expected.iter().rev().map(|u| ONE - u).collect();
        prop_assert_eq!(&expected, &mirrored);
        for (domain, factors) in [(Domain::Tri, &tri[..]), (Domain::Quad, &quad[..])] {
            for e in 0..domain.edge_count() {
                let mut factors = factors.to_vec();
                factors[e] = factor;
                let patch = clockwise(domain, partitioning, &factors);
                prop_assert_eq!(&along(&patch, e), &expected, "{} edge {}", domain, e);
                // On the edge it lies; where w is 0, u and v mirror each other.
                for [u, v] in edge(&patch, e) {
                    let on = match (domain, e) {
                        (_, 0) => u == 0,
                        (_, 1) => v == 0,
                        (Domain::Tri, _) => u + v == ONE,
                        (_, 2) => u == ONE,
                        (_, _) => v == ONE,
                    };
                    prop_assert!(on, "{} edge {}: {}, {}", domain, e, u, v);
                }
            }
        }
    }

    #[test]
    fn rule_5_winding_and_point_topology_change_neither_triangles_nor_points(
        domain in surface(), partitioning in partitioning(), factors in any_factors(),
    ) {
        let [point, cw, ccw] = [OutputTopology::Point, OutputTopology::TriangleCw, OutputTopology::TriangleCcw]
            .map(|topology| patch(domain, partitioning, topology, &factors));
        prop_assert_eq!(cw.primitive_count(), ccw.primitive_count());
        for t in 0..cw.primitive_count() {
            prop_assert_eq!(cw.primitive(t), ccw.primitive(t).map(|[a, b, c]| [a, c, b]));
        }
        let points: Vec<_> = cw.points().collect();
        prop_assert_eq!(&points, &ccw.points().collect::<Vec<_>>());
        prop_assert_eq!(&points, &point.points().collect::<Vec<_>>());
        prop_assert!(point.indices().eq(0..point.point_count()));
    }

    #[test]
    fn rules_6_and_7_inner_triangles_follow_the_inside_and_outer_ones_their_edge_too(
        domain in surface(), partitioning in partitioning(), kept_edge in 0usize..4,
        mut factors in kept_factors(), inside in any_factor(), others in proptest::array::uniform4(kept()),
    ) {
        if domain == Domain::Tri {
            factors[3] = inside;
        }
        let kept_edge = kept_edge % domain.edge_count();
        let one = clockwise(domain, partitioning, &factors);
        let other = with_other_edges(&one, kept_edge, &others);
        prop_assume!(!is_minimum(&one) && !is_minimum(&other));
        prop_assert_eq!(inner(&one), inner(&other));
        prop_assert_eq!(outer_triangles(&one, kept_edge), outer_triangles(&other, kept_edge));
    }

    #[test]
    fn locations_are_in_range_and_one_minus_them_is_exact(
        domain in select(&Domain::ALL[..]), partitioning in partitioning(), factors in kept_factors(),
    ) {
        let patch = patch(domain, partitioning, OutputTopology::Point, &factors);
        for k in 0..patch.point_count() {
            let location = patch.location(k).expect("a point");
            for x in location {
                prop_assert!((0.0..=1.0).contains(&x));
                prop_assert_eq!(1.0 - (1.0 - x), x);
            }
            if domain == Domain::Tri {
                prop_assert_eq!(location.iter().sum::<f32>(), 1.0);
            }
        }
    }

    #[test]
    fn the_triangles_are_one_disc_with_all_points_in_it(
        domain in surface(), partitioning in partitioning(), factors in kept_factors(),
    ) {
        let patch = clockwise(domain, partitioning, &factors);
        prop_assume!(!patch.is_culled());
        let (points, triangles, outer) = (patch.point_count(), patch.primitive_count(), outer_points(&patch));
        prop_assert!(points <= domain.max_points());
        prop_assert!(triangles <= domain.max_primitives(patch.topology()));
        let mut used = vec![false; points as usize];
        let mut edges = HashMap::new();
        for triangle in (0..triangles).filter_map(|t| patch.primitive(t)) {
            for i in 0..3 {
                let (from, to) = (triangle[i], triangle[(i + 1) % 3]);
                prop_assert!(from < points && to < points && from != to);
                used[from as usize] = true;
                prop_assert_eq!(edges.insert((from, to), ()), None, "two triangles run from {} to {}", from, to);
            }
        }
        prop_assert!(used.iter().all(|&used| used));
        let border: Vec<_> = edges.keys().filter(|&&(from, to)| !edges.contains_key(&(to, from))).collect();
        prop_assert_eq!(border.len() as u32, outer, "the border is the outer ring");
        prop_assert!(border.iter().all(|&&(from, to)| from < outer && to < outer));
        let undirected = (edges.len() + border.len()) as u32 / 2;
        prop_assert_eq!(points + triangles, undirected + 1, "Euler's formula for a disc");
    }

    #[test]
    fn isolines_are_their_points_in_turn(partitioning in partitioning(), density in kept(), detail in kept()) {
        let patch = patch(Domain::Isoline, partitioning, OutputTopology::Line, &[density, detail]);
        let segments = patch.contexts()[1].segments();
        let lines = density.clamp(1.0, 64.0).ceil() as u32;
        prop_assert_eq!(patch.point_count(), lines * (segments + 1));
        let expected = (0..lines).flat_map(|line| (0..segments).map(move |p| line * (segments + 1) + p));
        prop_assert!(patch.indices().eq(expected.flat_map(|first| [first, first + 1])));
        for (k, [_, v]) in (0..).zip(patch.points()) {
            prop_assert_eq!(Some(v), patch.contexts()[0].place(k / (segments + 1)));
            prop_assert!(v < ONE, "the last line is not drawn");
        }
    }
}

#[test]
fn each_special_factor_is_what_it_is_clamped_to_or_drops_the_patch() {
    for domain in Domain::ALL {
        let topology = if domain == Domain::Isoline { OutputTopology::Line } else { OutputTopology::TriangleCw };
        for partitioning in Partitioning::ALL {
            for i in 0..domain.factor_count() {
                let (low, high) = match partitioning {
                    _ if domain == Domain::Isoline && i == 0 => (1.0, 64.0),
                    Partitioning::Integer | Partitioning::Pow2 => (1.0, 64.0),
                    Partitioning::FractionalOdd => (1.0, 63.0),
                    Partitioning::FractionalEven => (2.0, 64.0),
                };
                for special in SPECIAL {
                    let mut factors = [3.0f32, 5.5, 2.25, 7.0, 4.5, 6.0];
                    factors[i] = special;
                    let given = patch(domain, partitioning, topology, &factors);
                    let dropped = i < domain.edge_count() && (special.is_nan() || special <= 0.0);
                    assert_eq!(given.is_culled(), dropped, "{domain} {partitioning} {special} at {i}");
                    if !dropped {
                        factors[i] = if special.is_nan() { low } else { special.clamp(low, high) };
                        let clamped = patch(domain, partitioning, topology, &factors);
                        assert!(given.points().eq(clamped.points()), "{domain} {partitioning} {special} at {i}");
                        assert!(given.indices().eq(clamped.indices()), "{domain} {partitioning} {special} at {i}");
                    }
                    assert_eq!(given.point(given.point_count()), None);
                    assert_eq!(given.primitive(given.primitive_count()), None);
                }
            }
        }
    }
}
