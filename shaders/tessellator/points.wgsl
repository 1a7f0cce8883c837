// Points: the location of any point of a patch by its number (docs/tessellator.md, sections 6, 8, 9 and 14.1).
//
// The twin of src/tessellator/points.rs. Composed after the kernel's accessors to the contexts of the current patch,
// pw_context and pw_shape. Straight lines with selects: of a wave of neighbouring points few take another path, and
// the outer ring follows the inner rings' formulas with its edges' contexts.

// 16.16 u, v of point k of the current patch, which has this many points.
fn pw_point(k: u32, points: u32) -> vec2u {
    if (PW_DOMAIN == 0u) {
        return pw_isoline_point(k);
    } else if (PW_DOMAIN == 1u) {
        return pw_tri_point(k, points);
    }
    return pw_quad_point(k, points);
}

// Line by line.
fn pw_isoline_point(k: u32) -> vec2u {
    let detail = pw_context(1u);
    let n = pw_segments(detail.shape) + 1u;
    let line = k / n;
    return vec2u(pw_place(detail, k - line * n), pw_place(pw_context(0u), line));
}

// Ring by ring from the outside; within a ring side U==0, V==0, W==0, each without its last point.
fn pw_tri_point(k: u32, points: u32) -> vec2u {
    let inside = pw_context(3u);
    let end_0 = pw_segments(pw_shape(0u));
    let end_1 = end_0 + pw_segments(pw_shape(1u));
    let end_2 = end_1 + pw_segments(pw_shape(2u));
    let outer = k < end_2;

    // The ring, by the number of segments of its sides; for a point of the outer ring this is discarded below.
    let segments = pw_segments(inside.shape);
    let s = pw_search(segments & 1u, 2u, (4u * (points - k) - 2u) / 3u);
    let ring = select((segments - s) >> 1u, 0u, outer);
    // The centre is a side of one point.
    let size = max(s, 1u);
    let from_ring = k + pw_tri_points(s) - points;
    let first = select(size, end_0, outer);
    let second = select(2u * size, end_1, outer);
    let position = select(from_ring, k, outer);
    let side = select(0u, 1u, position >= first) + select(0u, 1u, position >= second);
    let j = position - select(select(second, first, side == 1u), 0u, side == 0u);

    var along_context = inside;
    if (outer) {
        along_context = pw_context(side);
    }
    let along = pw_place(along_context, ring + j);
    let across = (pw_place(inside, ring) * 0xaaaau + PW_HALF) >> 16u;
    let x = select(PW_ONE - along, along, side == 1u) - ((across + 1u) >> 1u);
    return vec2u(select(x, across, side == 0u), select(select(PW_ONE - x - across, across, side == 1u), x, side == 0u));
}

// Ring by ring from the outside; within a ring side U==0, V==0, U==1, V==1, each without its last point. A degenerate
// row needs no rule of its own: walked as a ring, its points lie where the sides' formulas say.
fn pw_quad_point(k: u32, points: u32) -> vec2u {
    let shape_0 = pw_shape(0u);
    let shape_u = pw_shape(4u);
    let shape_v = pw_shape(5u);
    let end_0 = pw_segments(shape_0);
    let end_1 = end_0 + pw_segments(pw_shape(1u));
    let end_2 = end_1 + pw_segments(pw_shape(2u));
    let end_3 = end_2 + pw_segments(pw_shape(3u));
    let outer = k < end_3;

    // The ring, by the number of points on its shorter sides; for a point of the outer ring this is discarded below.
    let n_u = pw_segments(shape_u) + 1u;
    let n_v = pw_segments(shape_v) + 1u;
    let shorter = min(n_u, n_v);
    let t = pw_search(shorter & 1u, max(n_u, n_v) - shorter, points - k);
    let ring = select((shorter - t) >> 1u, 0u, outer);
    let u = n_u - 1u - 2u * ring;
    let v = n_v - 1u - 2u * ring;
    let from_ring = k + pw_quad_points(u, v) - points;
    let first = select(v, end_0, outer);
    let second = select(v + u, end_1, outer);
    let third = select(2u * v + u, end_2, outer);
    // The minimum patch begins one corner later than all others.
    let minimum = (shape_0 & PW_MINIMUM) != 0u;
    let position = select(from_ring, select(k, (k + 1u) & 3u, minimum), outer);
    let side = select(0u, 1u, position >= first) + select(0u, 1u, position >= second) + select(0u, 1u, position >= third);
    let start = select(select(select(third, second, side == 2u), first, side == 1u), 0u, side == 0u);
    let j = position - start;

    let runs_along_u = (side & 1u) == 1u;
    let place_u = pw_place(pw_context(select(4u, side, outer && runs_along_u)), ring + select(0u, j, runs_along_u));
    let place_v = pw_place(pw_context(select(5u, side, outer && !runs_along_u)), ring + select(j, 0u, runs_along_u));
    return vec2u(
        select(place_u, PW_ONE - place_u, side >= 2u),
        select(place_v, PW_ONE - place_v, side == 0u || side == 3u),
    );
}
