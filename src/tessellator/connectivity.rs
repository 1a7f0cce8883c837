//! Connectivity: the points of any primitive of a patch by its number (docs/tessellator.md, sections 6, 10 to 12 and
//! 14.2).
//!
//! The twin of shaders/tessellator/connectivity.wgsl, which takes the contexts' shapes from the kernel's accessor.

use super::patch::Contexts;
use super::placement::{MINIMUM, half_count, ring_ends, segments, shape_odd};
use super::rings::{quad_points, quad_triangles, search, tri_points, tri_triangles};
use super::{Domain, Kind, OutputTopology};

/// A triangle between two rows that face each other: two neighbours of one row and a point of the other. `outside` and
/// `inside` are the row positions reached; the third point is the next one outside (or else inside). Which vertex comes
/// first is part of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    outside: u32,
    inside: u32,
    next_outside: bool,
    inside_first: bool,
}

/// A row of points along a ring: position i is at start + i around the ring (or start - i, backwards), whose points are
/// stored from base on. Beyond `fold` it goes back: at its end onto its first point, or halfway, on a degenerate ring
/// that is walked there and back.
#[derive(Clone, Copy, Debug)]
struct Row {
    base: u32,
    start: u32,
    backwards: bool,
    perimeter: u32,
    fold: u32,
}

/// A side's row along a ring.
fn side_row(base: u32, start: u32, perimeter: u32) -> Row {
    Row { base, start, backwards: false, perimeter, fold: perimeter.saturating_sub(1) }
}

/// The number in the patch of a row's point.
fn row_point(row: Row, i: u32) -> u32 {
    let position = if row.backwards { row.start - i } else { row.start + i };
    row.base + if position > row.fold { row.perimeter - position } else { position }
}

/// The vertices of a step between two rows.
fn step_triangle(kind: Kind, step: Step, outside: Row, inside: Row) -> [u32; 3] {
    let x = row_point(outside, step.outside);
    let y = row_point(inside, step.inside);
    let z = if step.next_outside { row_point(outside, step.outside + 1) } else { row_point(inside, step.inside + 1) };
    wound(kind, if step.inside_first { [y, x, z] } else { [x, z, y] })
}

/// Clockwise as it is, counter-clockwise with the last two exchanged.
fn wound(kind: Kind, [a, b, c]: [u32; 3]) -> [u32; 3] {
    if kind.topology == OutputTopology::TriangleCcw { [a, c, b] } else { [a, b, c] }
}

/// Bit x - 1 says whether step x of 1..32 advances along a row with this many growing points (the table of 14.2): all
/// levels of the bit-reversed order below the last, and the beginning of the last.
fn mask(count: u32) -> u32 {
    if count < 2 {
        return 0;
    }
    let highest = count - 1;
    let level = highest.ilog2();
    let begun = count - (1 << level);
    let full = match level {
        0 => 1,
        1 => 0x0001_0001,
        2 => 0x0101_0101,
        3 => 0x1111_1111,
        _ => 0x5555_5555u32,
    };
    let last = (full << (16 >> level)) & (0xffff_ffff >> (32 - (begun << (5 - level))));
    (full | last) & 0xffff_fffe
}

/// How many steps of the first half come before or at x of 0..31, their very first left out.
fn steps_to(x: u32, inside_mask: u32, outside_mask: u32) -> u32 {
    let low = (1 << x) - 1;
    (inside_mask & low).count_ones() + (outside_mask & low).count_ones()
}

/// Step s of the first half of a transition (find in 14.2). `first` is 1 where it begins with a step outside.
fn half_transition(s: u32, first: u32, inside_mask: u32, outside_mask: u32) -> Step {
    if s < first {
        return Step { outside: 0, inside: 0, next_outside: true, inside_first: false };
    }
    let mut x = 0;
    for step in [16, 8, 4, 2, 1] {
        if first + steps_to(x + step, inside_mask, outside_mask) <= s {
            x += step;
        }
    }
    let low = (1 << x) - 1;
    let inside = (inside_mask & low).count_ones();
    let outside = first + (outside_mask & low).count_ones();
    let advances = (inside_mask >> x) & 1;
    // Within one x the inside goes first.
    let next_inside = advances == 1 && s == inside + outside;
    Step {
        outside,
        inside: inside + if next_inside { 0 } else { advances },
        next_outside: !next_inside,
        inside_first: next_inside,
    }
}

/// Step s between an edge and the first ring: as far as either row's points go, in the order they appear in as factors
/// grow, then the middle, then the same steps mirrored (10.1).
fn transition(s: u32, inside_shape: u32, outside_shape: u32) -> Step {
    let inside_odd = shape_odd(inside_shape);
    let outside_odd = shape_odd(outside_shape);
    let inside_half = half_count(inside_shape) - inside_odd;
    let outside_half = half_count(outside_shape) - outside_odd;
    let half_steps = outside_half + inside_half - 1;
    let middle = inside_odd + outside_odd;

    let mirrored = s >= half_steps + middle;
    if !mirrored && s >= half_steps {
        // One triangle on an odd row's middle segment, or two that share a diagonal.
        let second = s - half_steps;
        return Step {
            outside: outside_half,
            inside: inside_half - 1 + second,
            next_outside: second == 1 || inside_odd == 0,
            inside_first: true,
        };
    }
    let half = half_transition(
        if mirrored { 2 * half_steps + middle - 1 - s } else { s },
        outside_half.min(1),
        mask(inside_half),
        mask(outside_half),
    );
    if mirrored {
        let next_outside = u32::from(half.next_outside);
        return Step {
            outside: 2 * outside_half + outside_odd - half.outside - next_outside,
            inside: 2 * (inside_half - 1) + inside_odd - half.inside - (1 - next_outside),
            ..half
        };
    }
    half
}

/// Step s between two rings, the inner one's row of m points (10.2).
fn regular(s: u32, m: u32) -> Step {
    if s == 0 {
        return Step { outside: 0, inside: 0, next_outside: true, inside_first: false };
    }
    let quad = (s - 1) >> 1;
    let second = s & 1 == 0;
    let first_half = quad < m >> 1;
    let last = s + 1 == 2 * m;
    Step {
        outside: quad + 1 + u32::from(second && !first_half),
        inside: quad + u32::from(second && first_half),
        next_outside: first_half == second,
        inside_first: !first_half && !last,
    }
}

/// Step s of the centre strip of a quad of this many squares. With `turned` the middle one is cut along its other
/// diagonal (10.3).
fn strip(s: u32, length: u32, turned: bool) -> Step {
    let quad = s >> 1;
    let second = s & 1 == 1;
    let middle = turned && quad == (length - 1) >> 1;
    Step {
        outside: quad + u32::from(second && !middle),
        inside: quad + u32::from(second && middle),
        next_outside: second == middle,
        inside_first: !middle && (second || !turned),
    }
}

/// The points of primitive t of the patch with these contexts, which has this many points: the first of a point, the
/// first two of a line, all of a triangle.
pub(super) fn primitive(kind: Kind, contexts: &Contexts, t: u32, points: u32) -> [u32; 3] {
    match (kind.topology, kind.domain) {
        (OutputTopology::Point, _) => [t, 0, 0],
        (_, Domain::Isoline) => isoline_line(contexts, t),
        (_, Domain::Tri) => tri_triangle(kind, contexts, t, points),
        (_, Domain::Quad) => quad_triangle(kind, contexts, t, points),
    }
}

/// Line by line; each has one point more than segments.
fn isoline_line(contexts: &Contexts, t: u32) -> [u32; 3] {
    let first = t + t / segments(contexts[1].shape);
    [first, first + 1, 0]
}

/// The edges' transitions, then the rings inward, then the centre.
fn tri_triangle(kind: Kind, contexts: &Contexts, t: u32, points: u32) -> [u32; 3] {
    let [shape_0, shape_1, shape_2, inside_shape, ends, ..] = contexts.map(|context| context.shape);
    if inside_shape & MINIMUM != 0 {
        return wound(kind, [0, 1, 2]);
    }
    let [edge_0, edge_1, edge_2] = ring_ends(ends);
    let ring_1 = segments(inside_shape) - 2;
    let end_0 = edge_0 + ring_1;
    let end_1 = edge_1 + 2 * ring_1;
    let end_2 = edge_2 + 3 * ring_1;

    let step;
    let outside;
    let inside;
    if t < end_2 {
        let side = u32::from(t >= end_0) + u32::from(t >= end_1);
        let start = [0, edge_0, edge_1][side as usize];
        step = transition(t - start - side * ring_1, inside_shape, [shape_0, shape_1, shape_2][side as usize]);
        outside = side_row(0, start, edge_2);
        inside = side_row(edge_2, side * ring_1, 3 * ring_1);
    } else {
        // The ring that holds the triangle, by the number of segments of its sides, and the triangles left from it on.
        let left = tri_triangles(ring_1) - (t - end_2);
        let s = search(ring_1 & 1, 0, (2 * left).div_ceil(3));
        let in_ring = tri_triangles(s) - left;
        let m = s - 1;
        let base = points - tri_points(s);
        if m == 0 {
            // The centre triangle: the ring's first two points, and its last.
            step = Step { outside: 0, inside: 0, next_outside: true, inside_first: false };
            outside = side_row(base, 0, 3);
            inside = side_row(base, 2, 3);
        } else {
            let side = u32::from(in_ring >= 2 * m) + u32::from(in_ring >= 4 * m);
            step = regular(in_ring - side * 2 * m, m);
            outside = side_row(base, side * s, 3 * s);
            inside = side_row(points - tri_points(m - 1), side * (m - 1), 3 * (m - 1));
        }
    }
    step_triangle(kind, step, outside, inside)
}

/// A side's row along a quad ring with sides of u and of v segments, its points stored from base on.
fn quad_row(base: u32, side: u32, u: u32, v: u32) -> Row {
    let perimeter = 2 * (u + v);
    let start = (side >> 1) * (u + v) + (side & 1) * v;
    let fold = if u.min(v) == 0 { u + v } else { perimeter - 1 };
    Row { base, start, backwards: false, perimeter, fold }
}

/// The edges' transitions, then the rings inward, then the centre strip.
fn quad_triangle(kind: Kind, contexts: &Contexts, t: u32, points: u32) -> [u32; 3] {
    let [shape_0, shape_1, shape_2, shape_3, shape_u, shape_v, ends] = contexts.map(|context| context.shape);
    if shape_u & MINIMUM != 0 {
        return wound(kind, [t, t + 1, 3]);
    }
    let [edge_0, edge_1, edge_2] = ring_ends(ends);
    let ring_1_u = segments(shape_u) - 2;
    let ring_1_v = segments(shape_v) - 2;
    let edge_3 = points - quad_points(ring_1_u, ring_1_v);
    let end_0 = edge_0 + ring_1_v;
    let end_1 = edge_1 + ring_1_v + ring_1_u;
    let end_2 = edge_2 + 2 * ring_1_v + ring_1_u;
    let end_3 = edge_3 + 2 * ring_1_v + 2 * ring_1_u;

    let step;
    let outside;
    let inside;
    if t < end_3 {
        let side = u32::from(t >= end_0) + u32::from(t >= end_1) + u32::from(t >= end_2);
        let before = [0, end_0, end_1, end_2][side as usize];
        let start = [0, edge_0, edge_1, edge_2][side as usize];
        let edge_shape = [shape_0, shape_1, shape_2, shape_3][side as usize];
        step = transition(t - before, if side & 1 == 1 { shape_u } else { shape_v }, edge_shape);
        outside = side_row(0, start, edge_3);
        inside = quad_row(edge_3, side, ring_1_u, ring_1_v);
    } else {
        // The ring that holds the triangle, by the number of segments of its shorter sides, and the triangles left
        // from it on.
        let left = quad_triangles(ring_1_u, ring_1_v) - (t - end_3);
        let shorter = ring_1_u.min(ring_1_v);
        let s = search(shorter & 1, ring_1_u.max(ring_1_v) - shorter, (left + 1) >> 1);
        let u = ring_1_u - (shorter - s);
        let v = ring_1_v - (shorter - s);
        let in_ring = quad_triangles(u, v) - left;
        let base = points - quad_points(u, v);
        if s == 1 {
            let along_u = ring_1_u > ring_1_v;
            step = strip(in_ring, u.max(v), !along_u && shape_odd(shape_v) == 1);
            outside = quad_row(base, u32::from(along_u), u, v);
            // The same ring, walked the other way.
            inside = Row { start: outside.start + outside.perimeter - 1, backwards: true, ..outside };
        } else {
            let first = 2 * (v - 1);
            let second = first + 2 * (u - 1);
            let third = second + first;
            let side = u32::from(in_ring >= first) + u32::from(in_ring >= second) + u32::from(in_ring >= third);
            let before = [0, first, second, third][side as usize];
            step = regular(in_ring - before, if side & 1 == 1 { u } else { v } - 1);
            outside = quad_row(base, side, u, v);
            inside = quad_row(points - quad_points(u - 2, v - 2), side, u - 2, v - 2);
        }
    }
    step_triangle(kind, step, outside, inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_the_order_in_which_points_appear() {
        // T of 10.1.
        let order = |x: u32| match x {
            1 => 32,
            _ => {
                let y = x - 1;
                let z = y.trailing_zeros();
                (1 << (4 - z)) + (y >> (z + 1))
            }
        };
        for count in 0..=32 {
            let expected = (1..=32).filter(|&x| order(x) < count).fold(0, |mask, x| mask | 1 << (x - 1));
            assert_eq!(mask(count), expected, "{count}");
        }
    }

    /// The transition stitch between a row of `inside` (h, odd) and one of `outside`, written as in section 15.
    fn stitch(inside: (u32, u32), outside: (u32, u32)) -> String {
        let shape = |(h, odd): (u32, u32)| (h << 16) | (odd << 24);
        let (inside, outside) = (shape(inside), shape(outside));
        let count = segments(outside) + segments(inside) - 2;
        let word = |s| {
            let Step { outside: o, inside: i, next_outside, inside_first } = transition(s, inside, outside);
            let next = if next_outside { format!("o{}", o + 1) } else { format!("i{}", i + 1) };
            if inside_first { format!("i{i},o{o},{next}") } else { format!("o{o},{next},i{i}") }
        };
        (0..count).map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn worked_transitions() {
        assert_eq!(
            stitch((3, 0), (5, 1)),
            "o0,o1,i0 i0,o1,i1 o1,o2,i1 i1,o2,i2 o2,o3,i2 o3,o4,i2 i2,o4,o5 o5,o6,i2 o6,o7,i2 i2,o7,i3 o7,o8,i3 \
             i3,o8,i4 o8,o9,i4"
        );
        assert_eq!(stitch((4, 1), (2, 1)), "o0,o1,i0 i0,o1,i1 i1,o1,i2 i2,o1,i3 i3,o1,o2 i3,o2,i4 i4,o2,i5 o2,o3,i5");
        assert_eq!(stitch((2, 1), (3, 0)), "o0,o1,i0 o1,o2,i0 o2,o3,i0 i0,o3,i1 o3,o4,i1 o4,o5,i1 o5,o6,i1");
    }
}
