//! The control cage: a jack, whose six arms end in discs with rims of three kinds of sharpness.

use std::collections::HashMap;

use glam::{Quat, Vec3};
use opensubdiv_rs::sdc::SHARPNESS_INFINITE;

/// A mesh of quads with creases.
pub(crate) struct Cage {
    pub(crate) points: Vec<[f32; 3]>,
    /// Counter-clockwise from outside.
    pub(crate) faces: Vec<[u32; 4]>,
    pub(crate) creases: Vec<[u32; 2]>,
    /// Of each crease: how many subdivisions it stays sharp for.
    pub(crate) sharpness: Vec<f32>,
}

/// How far out an arm's rings are, and how wide; the first is the core's.
const RINGS: [[f32; 2]; 5] = [[0.42, 0.42], [0.78, 0.25], [1.22, 0.40], [1.36, 0.62], [1.62, 0.62]];

impl Cage {
    /// It stands on z = 0 with three of its arms: those along x are sharp for ever, those along y for two subdivisions, those along z
    /// not at all.
    pub(crate) fn jack() -> Self {
        let upright = Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::Z);
        let mut cage = Self { points: Vec::new(), faces: Vec::new(), creases: Vec::new(), sharpness: Vec::new() };
        // The core's corners belong to three arms each.
        let mut known = HashMap::new();
        for (axis, side) in (0..3).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]) {
            let (out, u) = (side * Vec3::AXES[axis], Vec3::AXES[(axis + 1) % 3]);
            let v = out.cross(u);
            let rings = RINGS.map(|[away, half]| {
                [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(a, b)| {
                    let place = away * out + half * (a * u + b * v);
                    *known.entry(place.to_array().map(|x| (x * 100.0).round() as i32)).or_insert_with(|| {
                        cage.points.push((upright * place).to_array());
                        cage.points.len() as u32 - 1
                    })
                })
            });
            for [inner, outer] in rings.array_windows() {
                cage.faces
                    .extend((0..4).map(|i| (i, (i + 1) % 4)).map(|(i, j)| [inner[i], inner[j], outer[j], outer[i]]));
            }
            cage.faces.push(rings[4]);
            let sharpness = [SHARPNESS_INFINITE, 2.0, 0.0][axis];
            if sharpness > 0.0 {
                for ring in &rings[3..] {
                    cage.creases.extend((0..4).map(|i| [ring[i], ring[(i + 1) % 4]]));
                    cage.sharpness.extend([sharpness; 4]);
                }
            }
        }
        let lowest = cage.points.iter().map(|point| point[2]).fold(f32::INFINITY, f32::min);
        cage.points.iter_mut().for_each(|point| point[2] -= lowest);
        cage
    }

    /// Each edge once, with its sharpness.
    pub(crate) fn edges(&self) -> Vec<([u32; 2], f32)> {
        let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
        let of_faces = self.faces.iter().flat_map(|face| (0..4).map(|i| [face[i], face[(i + 1) % 4]]));
        let mut edges: HashMap<_, _> = of_faces.map(|edge| (sorted(edge), 0.0)).collect();
        edges.extend(self.creases.iter().map(|edge| sorted(*edge)).zip(self.sharpness.iter().copied()));
        let mut edges: Vec<_> = edges.into_iter().collect();
        edges.sort_by_key(|(edge, _)| *edge);
        edges
    }
}
