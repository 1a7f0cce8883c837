//! Golden vectors: the tessellator on the CPU against the reference's results, bit for bit.

use patchwave::golden::{Case, packed};
use patchwave::tessellator::{Domain, OutputTopology, Partitioning};

/// All golden vectors; fails where they are missing.
pub(crate) fn cases() -> Vec<Case> {
    let cases = packed().expect("the packed golden vectors are whole");
    assert_eq!(cases.len(), 4551);
    cases
}

#[test]
fn vectors_are_all_there() {
    let cases = cases();
    for domain in Domain::ALL {
        for partitioning in Partitioning::ALL {
            let of_these = || cases.iter().filter(|case| (case.domain, case.partitioning) == (domain, partitioning));
            assert!(of_these().count() > 250, "{domain} {partitioning}");
            assert!(of_these().any(|case| case.culled) && of_these().any(|case| case.lists.is_none()));
            for topology in OutputTopology::ALL.into_iter().filter(|topology| topology.is_valid_for(domain)) {
                assert!(of_these().any(|case| case.topology == topology), "{domain} {partitioning} {topology}");
            }
        }
    }
}

#[test]
fn tessellator_is_bit_exact() {
    let failed: Vec<String> =
        cases().iter().filter_map(|case| case.check().err().map(|error| format!("{}: {error}", case.id))).collect();
    assert!(failed.is_empty(), "{} cases fail, among them {:#?}", failed.len(), failed.get(..8).unwrap_or(&failed));
}

#[test]
fn any_order_of_points_and_primitives_gives_the_same() {
    for case in cases() {
        let patch = case.patch().expect("a valid patch");
        let (points, primitives) = (patch.point_count(), patch.primitive_count());
        // A step that shares no divisor with the count reaches everything once; 4229 is a prime above all counts but
        // the largest ones of primitives, and no divisor of those.
        let shuffled = |count: u32| (0..count).map(move |i| (i * 4229 + 1) % count);
        let mut uv = vec![[u32::MAX; 2]; points as usize];
        for k in shuffled(points) {
            uv[k as usize] = patch.point(k).expect("a point");
        }
        let mut index = vec![[u32::MAX; 3]; primitives as usize];
        for t in shuffled(primitives) {
            index[t as usize] = patch.primitive(t).expect("a primitive");
        }
        let vertices = patch.vertices_per_primitive() as usize;
        let index: Vec<u32> = index.iter().flat_map(|primitive| &primitive[..vertices]).copied().collect();
        assert_eq!(case.compare(patch.is_culled(), &uv, &index), Ok(()), "{}", case.id);
        assert!(index.iter().all(|&entry| entry < points), "{}", case.id);
    }
}
