//! What the evaluation shader wrote of a grid, against the grid itself.

use super::exact::{self, Sample};
use crate::scene::grid;

/// Vertices that are evaluated anew on the CPU.
const LOOKED_AT: usize = 4096;
/// How far they may lie off: places are found again from 32-bit coordinates of up to some hundreds.
const TOLERANCE: f64 = 1e-3;

/// Every vertex is written, and those that are looked at lie on the grid.
pub(super) fn check(patches: u32, ring: &[[f32; 8]]) -> anyhow::Result<()> {
    anyhow::ensure!(!ring.is_empty(), "no vertex is written");
    let is_unit = |[.., a, b, c, _, _]: &[f32; 8]| (a * a + b * b + c * c - 1.0).abs() < 1e-3;
    let unwritten = ring.iter().filter(|vertex| !is_unit(vertex)).count();
    anyhow::ensure!(unwritten == 0, "{unwritten} of {} vertices are not written, or have no normal", ring.len());
    let control = grid::positions(patches);
    for vertex in ring.iter().step_by(ring.len().div_ceil(LOOKED_AT)) {
        let error = distance(patches, &control, vertex);
        anyhow::ensure!(error < TOLERANCE, "a vertex lies {error:e} off the grid: {vertex:?}");
    }
    Ok(())
}

/// How far a vertex lies off the grid, whose x and y are locations in their patch. On the border of a patch the normal has
/// no say, as each side has its own.
fn distance(patches: u32, control: &[[f32; 3]], &[x, y, z, a, b, c, ..]: &[f32; 8]) -> f64 {
    const BORDER: f64 = 1e-3;
    let side = f64::from(grid::side(patches));
    let [x, y] = [x, y].map(f64::from);
    // Borders belong to two patches, of which one may not be there.
    let candidates =
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]].map(|[left, up]| [x.floor() - left, y.floor() - up]);
    let found = candidates.into_iter().find_map(|[column, row]| {
        let [u, v] = [x - column, y - row];
        let is_there = column >= 0.0 && column < side && row >= 0.0 && u < 1.0 + BORDER && v < 1.0 + BORDER;
        let patch = is_there.then_some((row * side + column) as usize)?;
        let points = control.get(patch * 16..patch * 16 + 16)?;
        Some((exact::bicubic(&std::array::from_fn(|i| points[i].map(f64::from)), u, v), [u, v]))
    });
    let Some((Sample { position, normal }, location)) = found else { return f64::INFINITY };
    let is_inside = location.iter().all(|at| (BORDER..1.0 - BORDER).contains(at));
    let off = |a: f32, b: f64| (f64::from(a) - b).abs();
    let directions = if is_inside { [off(a, normal[0]), off(b, normal[1]), off(c, normal[2])] } else { [0.0; 3] };
    directions.into_iter().fold(off(z, position[2]), f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vertex of a patch at a location.
    fn vertex(patches: u32, patch: u32, [u, v]: [f64; 2]) -> [f32; 8] {
        let control = grid::positions(patches);
        let points = std::array::from_fn(|i| control[patch as usize * 16 + i].map(f64::from));
        let Sample { position, normal } = exact::bicubic(&points, u, v);
        let [[x, y, z], [a, b, c]] = [position, normal].map(|value| value.map(|x| x as f32));
        [x, y, z, a, b, c, 0.0, 0.0]
    }

    #[test]
    fn vertices_of_the_grid_lie_on_it() {
        // The last row of ten patches on a side of four is not full.
        let places = [(0, [0.0, 0.0]), (3, [1.0, 0.5]), (9, [1.0, 1.0]), (5, [0.25, 0.7]), (8, [0.0, 1.0])];
        let ring = places.map(|(patch, location)| vertex(10, patch, location));
        check(10, &ring).expect("they lie on the grid");
    }

    #[test]
    fn others_do_not() {
        let right = vertex(10, 5, [0.25, 0.7]);
        let said = |ring: &[[f32; 8]]| check(10, ring).expect_err("it is wrong").to_string();
        assert!(said(&[]).contains("no vertex"));
        assert!(said(&[right, [0.0; 8]]).contains("1 of 2 vertices are not written"));
        let mut high = right;
        high[2] += 0.01;
        assert!(said(&[right, high]).contains("off the grid"));
        let mut turned = right;
        turned.swap(3, 4);
        assert!(said(&[turned]).contains("off the grid"));
        let mut outside = right;
        outside[0] += 40.0;
        assert!(said(&[outside]).contains("inf off the grid"));
    }
}
