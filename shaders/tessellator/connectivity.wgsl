// Connectivity: the points of any primitive of a patch by its number (docs/tessellator.md, sections 6, 10 to 12 and
// 14.2).
//
// The twin of src/tessellator/connectivity.rs. Composed after the kernel's accessor pw_shape to the shapes of the
// current patch's contexts; needs nothing else of them.

// A triangle between two rows that face each other: two neighbours of one row and a point of the other. `outside` and
// `inside` are the row positions reached; the third point is the next one outside (or else inside). Which vertex comes
// first is part of the result.
struct PwStep { outside: u32, inside: u32, next_outside: bool, inside_first: bool }

// A row of points along a ring: position i is at start + step i around the ring, whose points are stored from base on.
// Beyond `fold` it goes back: at its end onto its first point, or halfway, on a degenerate ring that is walked there
// and back.
struct PwRow { base: u32, start: u32, step: u32, perimeter: u32, fold: u32 }

// A side's row along a ring.
fn pw_side_row(base: u32, start: u32, perimeter: u32) -> PwRow {
    return PwRow(base, start, 1u, perimeter, perimeter - 1u);
}

// The number in the patch of a row's point.
fn pw_row_point(row: PwRow, i: u32) -> u32 {
    let position = row.start + row.step * i;
    return row.base + select(position, row.perimeter - position, position > row.fold);
}

// The vertices of a step between two rows.
fn pw_step_triangle(step: PwStep, outside: PwRow, inside: PwRow) -> vec3u {
    let x = pw_row_point(outside, step.outside);
    let y = pw_row_point(inside, step.inside);
    var next = inside;
    if (step.next_outside) {
        next = outside;
    }
    let z = pw_row_point(next, select(step.inside, step.outside, step.next_outside) + 1u);
    return pw_wound(select(vec3u(x, z, y), vec3u(y, x, z), step.inside_first));
}

// Clockwise as it is, counter-clockwise with the last two exchanged.
fn pw_wound(triangle: vec3u) -> vec3u {
    return select(triangle, triangle.xzy, PW_TOPOLOGY == 3u);
}

// Bit x - 1 says whether step x of 1..32 advances along a row with this many growing points (the table of 14.2): all
// levels of the bit-reversed order below the last, and the beginning of the last.
fn pw_mask(count: u32) -> u32 {
    let highest = max(count, 2u) - 1u;
    let level = firstLeadingBit(highest);
    let begun = highest + 1u - (1u << level);
    var full = 1u;
    full = select(full, 0x00010001u, level == 1u);
    full = select(full, 0x01010101u, level == 2u);
    full = select(full, 0x11111111u, level == 3u);
    full = select(full, 0x55555555u, level == 4u);
    let last = (full << (16u >> level)) & (0xffffffffu >> (32u - (begun << (5u - level))));
    return select((full | last) & 0xfffffffeu, 0u, count < 2u);
}

// How many steps of the first half come before or at x of 0..31, their very first left out.
fn pw_steps_to(x: u32, inside_mask: u32, outside_mask: u32) -> u32 {
    let low = (1u << x) - 1u;
    return countOneBits(inside_mask & low) + countOneBits(outside_mask & low);
}

// Step s of the first half of a transition (find in 14.2). `first` is 1 where it begins with a step outside.
fn pw_half_transition(s: u32, first: u32, inside_mask: u32, outside_mask: u32) -> PwStep {
    var x = 0u;
    x += select(0u, 16u, first + pw_steps_to(16u, inside_mask, outside_mask) <= s);
    x += select(0u, 8u, first + pw_steps_to(x + 8u, inside_mask, outside_mask) <= s);
    x += select(0u, 4u, first + pw_steps_to(x + 4u, inside_mask, outside_mask) <= s);
    x += select(0u, 2u, first + pw_steps_to(x + 2u, inside_mask, outside_mask) <= s);
    x += select(0u, 1u, first + pw_steps_to(x + 1u, inside_mask, outside_mask) <= s);
    let low = (1u << x) - 1u;
    let inside = countOneBits(inside_mask & low);
    let outside = first + countOneBits(outside_mask & low);
    let advances = (inside_mask >> x) & 1u;
    // Within one x the inside goes first.
    let next_inside = advances == 1u && s == inside + outside;
    let begin = s < first;
    return PwStep(
        select(outside, 0u, begin),
        select(inside + select(advances, 0u, next_inside), 0u, begin),
        begin || !next_inside,
        !begin && next_inside,
    );
}

// Step s between an edge and the first ring: as far as either row's points go, in the order they appear in as factors
// grow, then the middle, then the same steps mirrored (10.1).
fn pw_transition(s: u32, inside_shape: u32, outside_shape: u32) -> PwStep {
    let inside_odd = pw_shape_odd(inside_shape);
    let outside_odd = pw_shape_odd(outside_shape);
    let inside_half = pw_half_count(inside_shape) - inside_odd;
    let outside_half = pw_half_count(outside_shape) - outside_odd;
    let half_steps = outside_half + inside_half - 1u;
    let middle = inside_odd + outside_odd;

    let mirrored = s >= half_steps + middle;
    let half = pw_half_transition(
        select(s, 2u * half_steps + middle - 1u - s, mirrored),
        min(outside_half, 1u),
        pw_mask(inside_half),
        pw_mask(outside_half),
    );
    if (mirrored) {
        let next_outside = select(0u, 1u, half.next_outside);
        return PwStep(
            2u * outside_half + outside_odd - half.outside - next_outside,
            2u * (inside_half - 1u) + inside_odd - half.inside - (1u - next_outside),
            half.next_outside,
            half.inside_first,
        );
    }
    if (s >= half_steps) {
        // One triangle on an odd row's middle segment, or two that share a diagonal.
        let second = s - half_steps;
        return PwStep(outside_half, inside_half - 1u + second, second == 1u || inside_odd == 0u, true);
    }
    return half;
}

// Step s between two rings, the inner one's row of m points (10.2).
fn pw_regular(s: u32, m: u32) -> PwStep {
    let quad = (s - 1u) >> 1u;
    let second = (s & 1u) == 0u;
    let first_half = quad < (m >> 1u);
    if (s == 0u) {
        return PwStep(0u, 0u, true, false);
    }
    let last = s + 1u == 2u * m;
    return PwStep(
        quad + 1u + select(0u, 1u, second && !first_half),
        quad + select(0u, 1u, second && first_half),
        first_half == second,
        !first_half && !last,
    );
}

// Step s of the centre strip of a quad of this many squares. With `turned` the middle one is cut along its other
// diagonal (10.3).
fn pw_strip(s: u32, length: u32, turned: bool) -> PwStep {
    let quad = s >> 1u;
    let second = (s & 1u) == 1u;
    let middle = turned && quad == (length - 1u) >> 1u;
    return PwStep(
        quad + select(0u, 1u, second && !middle),
        quad + select(0u, 1u, second && middle),
        second == middle,
        !middle && (second || !turned),
    );
}

// The points of primitive t of the current patch, which has this many points: x of a point, xy of a line, xyz of a
// triangle.
fn pw_primitive(t: u32, points: u32) -> vec3u {
    if (PW_TOPOLOGY == 0u) {
        return vec3u(t, 0u, 0u);
    } else if (PW_DOMAIN == 0u) {
        return pw_isoline_line(t);
    } else if (PW_DOMAIN == 1u) {
        return pw_tri_triangle(t, points);
    }
    return pw_quad_triangle(t, points);
}

// Line by line; each has one point more than segments.
fn pw_isoline_line(t: u32) -> vec3u {
    let first = t + t / pw_segments(pw_shape(1u));
    return vec3u(first, first + 1u, 0u);
}

// The edges' transitions, then the rings inward, then the centre.
fn pw_tri_triangle(t: u32, points: u32) -> vec3u {
    let inside_shape = pw_shape(3u);
    if ((inside_shape & PW_MINIMUM) != 0u) {
        return pw_wound(vec3u(0u, 1u, 2u));
    }
    let edges = pw_ring_ends(pw_shape(PW_FACTORS));
    let ring_1 = pw_segments(inside_shape) - 2u;
    let end_0 = edges.x + ring_1;
    let end_1 = edges.y + 2u * ring_1;
    let end_2 = edges.z + 3u * ring_1;

    var step: PwStep;
    var outside: PwRow;
    var inside: PwRow;
    if (t < end_2) {
        let side = select(0u, 1u, t >= end_0) + select(0u, 1u, t >= end_1);
        let start = select(select(edges.y, edges.x, side == 1u), 0u, side == 0u);
        step = pw_transition(t - start - side * ring_1, inside_shape, pw_shape(side));
        outside = pw_side_row(0u, start, edges.z);
        inside = pw_side_row(edges.z, side * ring_1, 3u * ring_1);
    } else {
        // The ring that holds the triangle, by the number of segments of its sides, and the triangles left from it on.
        let left = pw_tri_triangles(ring_1) - (t - end_2);
        let s = pw_search(ring_1 & 1u, 0u, (2u * left + 2u) / 3u);
        let in_ring = pw_tri_triangles(s) - left;
        let m = s - 1u;
        let side = select(0u, 1u, in_ring >= 2u * m) + select(0u, 1u, in_ring >= 4u * m);
        let base = points - pw_tri_points(s);
        if (m == 0u) {
            // The centre triangle: the ring's first two points, and its last.
            step = PwStep(0u, 0u, true, false);
            outside = pw_side_row(base, 0u, 3u);
            inside = pw_side_row(base, 2u, 3u);
        } else {
            step = pw_regular(in_ring - side * 2u * m, m);
            outside = pw_side_row(base, side * s, 3u * s);
            inside = pw_side_row(points - pw_tri_points(m - 1u), side * (m - 1u), 3u * (m - 1u));
        }
    }
    return pw_step_triangle(step, outside, inside);
}

// A side's row along a quad ring with sides of u and of v segments, its points stored from base on.
fn pw_quad_row(base: u32, side: u32, u: u32, v: u32) -> PwRow {
    let perimeter = 2u * (u + v);
    let start = (side >> 1u) * (u + v) + (side & 1u) * v;
    return PwRow(base, start, 1u, perimeter, select(perimeter - 1u, u + v, min(u, v) == 0u));
}

// The edges' transitions, then the rings inward, then the centre strip.
fn pw_quad_triangle(t: u32, points: u32) -> vec3u {
    let shape_u = pw_shape(4u);
    let shape_v = pw_shape(5u);
    if ((shape_u & PW_MINIMUM) != 0u) {
        return pw_wound(vec3u(t, t + 1u, 3u));
    }
    let edges = pw_ring_ends(pw_shape(PW_FACTORS));
    let ring_1_u = pw_segments(shape_u) - 2u;
    let ring_1_v = pw_segments(shape_v) - 2u;
    let edge_3 = points - pw_quad_points(ring_1_u, ring_1_v);
    let end_0 = edges.x + ring_1_v;
    let end_1 = edges.y + ring_1_v + ring_1_u;
    let end_2 = edges.z + 2u * ring_1_v + ring_1_u;
    let end_3 = edge_3 + 2u * ring_1_v + 2u * ring_1_u;

    var step: PwStep;
    var outside: PwRow;
    var inside: PwRow;
    if (t < end_3) {
        let side = select(0u, 1u, t >= end_0) + select(0u, 1u, t >= end_1) + select(0u, 1u, t >= end_2);
        let before = select(select(select(end_2, end_1, side == 2u), end_0, side == 1u), 0u, side == 0u);
        let start = select(select(select(edges.z, edges.y, side == 2u), edges.x, side == 1u), 0u, side == 0u);
        step = pw_transition(t - before, select(shape_v, shape_u, (side & 1u) == 1u), pw_shape(side));
        outside = pw_side_row(0u, start, edge_3);
        inside = pw_quad_row(edge_3, side, ring_1_u, ring_1_v);
    } else {
        // The ring that holds the triangle, by the number of segments of its shorter sides, and the triangles left
        // from it on.
        let left = pw_quad_triangles(ring_1_u, ring_1_v) - (t - end_3);
        let shorter = min(ring_1_u, ring_1_v);
        let s = pw_search(shorter & 1u, max(ring_1_u, ring_1_v) - shorter, (left + 1u) >> 1u);
        let u = ring_1_u - (shorter - s);
        let v = ring_1_v - (shorter - s);
        let in_ring = pw_quad_triangles(u, v) - left;
        let base = points - pw_quad_points(u, v);
        if (s == 1u) {
            let along_u = ring_1_u > ring_1_v;
            step = pw_strip(in_ring, max(u, v), !along_u && pw_shape_odd(shape_v) == 1u);
            outside = pw_quad_row(base, select(0u, 1u, along_u), u, v);
            // The same ring, walked the other way.
            inside = outside;
            inside.start += inside.perimeter - 1u;
            inside.step = 0xffffffffu;
        } else {
            let first = 2u * (v - 1u);
            let second = first + 2u * (u - 1u);
            let third = second + first;
            let side = select(0u, 1u, in_ring >= first) + select(0u, 1u, in_ring >= second)
                + select(0u, 1u, in_ring >= third);
            let before = select(select(select(third, second, side == 2u), first, side == 1u), 0u, side == 0u);
            step = pw_regular(in_ring - before, select(v, u, (side & 1u) == 1u) - 1u);
            outside = pw_quad_row(base, side, u, v);
            inside = pw_quad_row(points - pw_quad_points(u - 2u, v - 2u), side, u - 2u, v - 2u);
        }
    }
    return pw_step_triangle(step, outside, inside);
}
