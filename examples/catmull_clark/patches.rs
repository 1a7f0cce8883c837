//! From a control cage to bicubic Bézier patches, by OpenSubdiv's rules.

use std::collections::HashMap;

use opensubdiv_rs::far::{
    PatchTableFactory, PrimvarRefiner, TopologyDescriptor, TopologyRefinerFactory, UniformOptions,
};
use opensubdiv_rs::sdc::{Options, SchemeType};
use opensubdiv_rs::vtr::TopologyError;

use super::cage::Cage;

/// Bicubic Bézier patches: 16 indices each, row by row.
pub(crate) struct Patches {
    pub(crate) points: Vec<[f32; 3]>,
    pub(crate) indices: Vec<u32>,
}

impl Patches {
    /// The limit surface of `cage`, a patch for each face after `level` subdivisions.
    ///
    /// All patches are of one level, so that along every edge one patch meets one other. Where the surface is a B-spline (away
    /// from vertices of other than four edges) a patch is exactly it; else it has the surface's own boundary curves and
    /// meets it at 16 points.
    pub(crate) fn new(cage: &Cage, level: usize) -> Result<Self, TopologyError> {
        let arities = vec![4; cage.faces.len()];
        let descriptor = TopologyDescriptor::new(cage.points.len(), &arities, cage.faces.as_flattened())
            .with_creases(&cage.creases, &cage.sharpness);
        let mut refiner = TopologyRefinerFactory::create(descriptor, SchemeType::Catmark, Options::default())?;
        refiner.refine_uniform(UniformOptions::new(level));
        let finer = PrimvarRefiner::new(&refiner).interpolate_all(&cage.points);
        let controls: Vec<[f32; 3]> = cage.points.iter().chain(finer.iter().flatten()).copied().collect();
        let table = PatchTableFactory::create(&refiner)?;

        let mut patches = Self { points: Vec::new(), indices: Vec::new() };
        // Points on boundaries belong to both patches: neighbours then agree on an edge bit for bit.
        let mut shared = HashMap::new();
        for patch in 0..table.num_patches() {
            let place = table.patch_param(patch);
            let on_surface = |s: usize, t: usize| {
                let (u, v) = place.unnormalize(s as f32 / 3.0, t as f32 / 3.0);
                table.evaluate(patch, u, v, &controls).0
            };
            let mut rows: [[[f32; 3]; 4]; 4] = std::array::from_fn(|t| std::array::from_fn(|s| on_surface(s, t)));
            rows = rows.map(through);
            let columns = [0, 1, 2, 3].map(|c| through([0, 1, 2, 3].map(|r| rows[r][c])));
            let corners = refiner.level(level).face_vertices(table.patch_face(patch) as usize);
            for (r, c) in (0..4).flat_map(|r| (0..4).map(move |c| (r, c))) {
                let mut add = || {
                    patches.points.push(columns[c][r]);
                    patches.points.len() as u32 - 1
                };
                let index = match edge_of(r, c) {
                    Some([near, far]) => *shared.entry([corners[near], corners[far]]).or_insert_with(add),
                    None => add(),
                };
                patches.indices.push(index);
            }
        }
        Ok(patches)
    }
}

/// The Bézier points of the cubic curve that is at these points at 0, 1/3, 2/3 and 1.
fn through([a, b, c, d]: [[f32; 3]; 4]) -> [[f32; 3]; 4] {
    let sum = |weights: [f32; 4]| {
        std::array::from_fn(|k| (weights[0] * a[k] + weights[1] * b[k] + weights[2] * c[k] + weights[3] * d[k]) / 6.0)
    };
    [a, sum([-5.0, 18.0, -9.0, 2.0]), sum([2.0, -9.0, 18.0, -5.0]), d]
}

/// Of a point on the boundary of a patch: the face's corner that it is next to, and the corner at the edge's other end. A
/// corner is next to itself.
fn edge_of(row: usize, column: usize) -> Option<[usize; 2]> {
    let corner = |row: usize, column: usize| [[0, 1], [3, 2]][row / 2][column / 2];
    let far = match (row, column) {
        (0 | 3, 0 | 3) => corner(row, column),
        (0 | 3, _) => corner(row, 3 - column),
        (_, 0 | 3) => corner(3 - row, column),
        _ => return None,
    };
    Some([corner(row, column), far])
}
