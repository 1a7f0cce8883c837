//! Points: the location of any point of a patch by its number (docs/tessellator.md, sections 6, 8, 9 and 14.1).
//!
//! The twin of shaders/tessellator/points.wgsl, which takes the contexts from the kernel's accessors, and computes by
//! selection what here is computed by cases.

use super::patch::Contexts;
use super::placement::{MINIMUM, place, ring_ends, segments};
use super::rings::{quad_points, search, tri_points};
use super::{Domain, HALF, Kind, ONE};

/// 16.16 u, v of point k of the patch with these contexts, which has this many points.
pub(super) fn point(kind: Kind, contexts: &Contexts, k: u32, points: u32) -> [u32; 2] {
    match kind.domain {
        Domain::Isoline => isoline_point(contexts, k),
        Domain::Tri => tri_point(contexts, k, points),
        Domain::Quad => quad_point(contexts, k, points),
    }
}

/// Line by line.
fn isoline_point(&[density, detail, reciprocal, ..]: &Contexts, k: u32) -> [u32; 2] {
    let n = segments(detail.shape) + 1;
    // k / n, exactly, for all points there can be.
    let line = (k * reciprocal.shape) >> 19;
    [place(detail, k - line * n), place(density, line)]
}

/// Ring by ring from the outside; within a ring side U==0, V==0, W==0, each without its last point.
fn tri_point(&[edge_0, edge_1, edge_2, inside, ends, ..]: &Contexts, k: u32, points: u32) -> [u32; 2] {
    let [end_0, end_1, end_2] = ring_ends(ends.shape);
    let outer = k < end_2;

    let (ring, position, first, second) = if outer {
        (0, k, end_0, end_1)
    } else {
        // The ring, by the number of segments of its sides.
        let segments = segments(inside.shape);
        let s = search(segments & 1, 2, (4 * (points - k) - 2) / 3);
        // The centre is a side of one point.
        let size = s.max(1);
        ((segments - s) >> 1, k + tri_points(s) - points, size, 2 * size)
    };
    let side = u32::from(position >= first) + u32::from(position >= second);
    let j = position - [0, first, second][side as usize];

    let along_context = if outer { [edge_0, edge_1, edge_2][side as usize] } else { inside };
    let along = place(along_context, ring + j);
    let across = (place(inside, ring) * 0xaaaa + HALF) >> 16;
    let x = if side == 1 { along } else { ONE - along } - ((across + 1) >> 1);
    match side {
        0 => [across, x],
        1 => [x, across],
        _ => [x, ONE - x - across],
    }
}

/// Ring by ring from the outside; within a ring side U==0, V==0, U==1, V==1, each without its last point. A degenerate
/// row needs no rule of its own: walked as a ring, its points lie where the sides' formulas say.
fn quad_point(contexts: &Contexts, k: u32, points: u32) -> [u32; 2] {
    let [_, _, _, _, inside_u, inside_v, ends] = *contexts;
    let n_u = segments(inside_u.shape) + 1;
    let n_v = segments(inside_v.shape) + 1;
    let [end_0, end_1, end_2] = ring_ends(ends.shape);
    let minimum = inside_u.shape & MINIMUM != 0;
    let outer = minimum || k + quad_points(n_u - 3, n_v - 3) < points;

    let (ring, position, first, second, third) = if outer {
        // The minimum patch begins one corner later than all others.
        (0, if minimum { (k + 1) & 3 } else { k }, end_0, end_1, end_2)
    } else {
        // The ring, by the number of points on its shorter sides.
        let shorter = n_u.min(n_v);
        let t = search(shorter & 1, n_u.max(n_v) - shorter, points - k);
        let ring = (shorter - t) >> 1;
        let u = n_u - 1 - 2 * ring;
        let v = n_v - 1 - 2 * ring;
        (ring, k + quad_points(u, v) - points, v, v + u, 2 * v + u)
    };
    let side = usize::from(position >= first) + usize::from(position >= second) + usize::from(position >= third);
    let j = position - [0, first, second, third][side];

    let runs_along_u = side & 1 == 1;
    let context_u = if outer && runs_along_u { contexts[side] } else { inside_u };
    let context_v = if outer && !runs_along_u { contexts[side] } else { inside_v };
    let place_u = place(context_u, ring + if runs_along_u { j } else { 0 });
    let place_v = place(context_v, ring + if runs_along_u { 0 } else { j });
    [if side >= 2 { ONE - place_u } else { place_u }, if side == 0 || side == 3 { ONE - place_v } else { place_v }]
}
