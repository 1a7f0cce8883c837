//! What a draw has to come to, from the tessellator on the CPU: counts, indices and domain locations exactly.

use patchwave::Mesh;
use patchwave::tessellator::{Domain, OutputTopology, Partitioning, TessellatedPatch};

/// The patches with these factors, of which the first few count, as many as the domain has.
pub(crate) fn tessellate(
    domain: Domain,
    partitioning: Partitioning,
    topology: OutputTopology,
    factors: &[[f32; 6]],
) -> Vec<TessellatedPatch> {
    let of = |row: &[f32; 6]| {
        let bits: Vec<u32> = row.iter().take(domain.factor_count()).map(|factor| factor.to_bits()).collect();
        TessellatedPatch::new(domain, partitioning, topology, &bits).expect("a valid patch")
    };
    factors.iter().map(of).collect()
}

/// Compares counts, factors and indices exactly, and the member `location` of the vertices where there is one.
pub(crate) fn assert_mesh(mesh: &Mesh, patches: &[TessellatedPatch]) {
    assert_eq!(mesh.patches.len(), patches.len(), "patches");
    let (mut vertices, mut primitives) = (0, 0);
    for (id, (found, expected)) in mesh.patches.iter().zip(patches).enumerate() {
        let place = [found.first_vertex, found.vertices, found.first_primitive, found.primitives];
        let counts = [expected.point_count(), expected.primitive_count()];
        assert_eq!(place, [vertices, counts[0], primitives, counts[1]], "patch {id}: where its output lies");
        let bits: Vec<u32> = found.factors.iter().map(|factor| factor.to_bits()).collect();
        assert_eq!(bits, limited(expected.factor_bits()), "patch {id}: factors");
        let per_primitive = expected.vertices_per_primitive();
        for t in 0..counts[1] {
            let begin = ((primitives + t) * per_primitive) as usize;
            let own = &mesh.indices[begin..begin + per_primitive as usize];
            let corners = expected.primitive(t).expect("a primitive").map(|corner| corner + vertices);
            assert_eq!(own, &corners[..per_primitive as usize], "patch {id}: primitive {t}");
        }
        vertices += counts[0];
        primitives += counts[1];
    }
    assert_eq!(mesh.vertex_count(), vertices as usize, "vertices");
    assert_eq!(mesh.indices.len() / mesh.topology.vertices_per_primitive() as usize, primitives as usize, "primitives");
    if let Some(locations) = mesh.member("location") {
        let expected = patches.iter().flat_map(|patch| (0..patch.point_count()).filter_map(|k| patch.location(k)));
        for (i, (found, expected)) in locations.iter().zip(expected).enumerate() {
            assert_eq!(found, &expected[..found.len()], "vertex {i}: domain location");
        }
    }
}

/// A pipeline takes factors above its maximum, here always the default of 64, as that one.
fn limited(bits: &[u32]) -> Vec<u32> {
    let most = 64f32.to_bits();
    bits.iter().map(|&bits| if (most..=f32::INFINITY.to_bits()).contains(&bits) { most } else { bits }).collect()
}

/// Calls `check` with the number of the patch, the domain location and the number of each vertex, in order.
pub(crate) fn for_each_vertex(patches: &[TessellatedPatch], mut check: impl FnMut(usize, [f64; 3], usize)) {
    let mut vertex = 0;
    for (id, patch) in patches.iter().enumerate() {
        for k in 0..patch.point_count() {
            check(id, patch.location(k).expect("a point").map(f64::from), vertex);
            vertex += 1;
        }
    }
    assert!(vertex > 0, "a comparison of nothing");
}

/// Factors of `count` patches that differ from patch to patch and from edge to edge: ordinary ones, special values, and
/// long runs of culled patches at both ends and in the middle, so that whole threadgroups (64 patches at the most) have
/// nothing to do.
pub(crate) fn mixed_factors(count: usize, seed: u32) -> Vec<[f32; 6]> {
    const SPECIAL: [f32; 10] =
        [f32::INFINITY, 1.0, 64.0, 63.5, f32::MIN_POSITIVE, 1e-40, 0.25, 2.0, 1.000_000_1, f32::MAX];
    const INSIDE_ONLY: [f32; 4] = [f32::NAN, -1.0, 0.0, f32::NEG_INFINITY];
    let mut state = seed;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let mut rows: Vec<[f32; 6]> = (0..count)
        .map(|_| {
            let small = random() % 8 != 0;
            std::array::from_fn(|_| if small { (random() % 600) as f32 / 100.0 + 0.01 } else { (random() % 20) as f32 })
        })
        .collect();
    for (i, row) in rows.iter_mut().enumerate() {
        if i % 9 == 4 {
            row[i % 6] = SPECIAL[(i / 9) % SPECIAL.len()];
        }
        if i % 7 == 3 {
            // On an inside factor it changes the patch; on an edge (as an isoline's or a triangle's may be) it culls it.
            row[3 + i % 3] = INSIDE_ONLY[(i / 7) % INSIDE_ONLY.len()];
        }
    }
    let culled = [[0.0; 6], [-1.0; 6], [f32::NAN; 6]];
    let run = || (0..130).map(|i| culled[i % 3]);
    let rest = rows.split_off(count / 2);
    run().chain(rows).chain(run()).chain(rest).chain(run()).collect()
}
