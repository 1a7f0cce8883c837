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
    // k / n, exactly, for all points there can be.
    let line = (k * pw_shape(2u)) >> 19u;
    return vec2u(pw_place(detail, k - line * n), pw_place(pw_context(0u), line));
}

// Ring by ring from the outside; within a ring side U==0, V==0, W==0, each without its last point.
fn pw_tri_point(k: u32, points: u32) -> vec2u {
    let inside = pw_context(3u);
    let ends = pw_ring_ends(pw_shape(PW_FACTORS));
    let outer = k < ends.z;

    // The ring, by the number of segments of its sides; for a point of the outer ring this is discarded below.
    let segments = pw_segments(inside.shape);
    let s = pw_search(segments & 1u, 2u, (4u * (points - k) - 2u) / 3u);
    let ring = select((segments - s) >> 1u, 0u, outer);
    // The centre is a side of one point.
    let size = max(s, 1u);
    let from_ring = k + pw_tri_points(s) - points;
    let first = select(size, ends.x, outer);
    let second = select(2u * size, ends.y, outer);
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
    let inside_u = pw_context(4u);
    let inside_v = pw_context(5u);
    let n_u = pw_segments(inside_u.shape) + 1u;
    let n_v = pw_segments(inside_v.shape) + 1u;
    let ends = pw_ring_ends(pw_shape(PW_FACTORS));
    let minimum = (inside_u.shape & PW_MINIMUM) != 0u;
    let outer = minimum || k + pw_quad_points(n_u - 3u, n_v - 3u) < points;

    // The ring, by the number of points on its shorter sides; for a point of the outer ring this is discarded below.
    let shorter = min(n_u, n_v);
    let t = pw_search(shorter & 1u, max(n_u, n_v) - shorter, points - k);
    let ring = select((shorter - t) >> 1u, 0u, outer);
    let u = n_u - 1u - 2u * ring;
    let v = n_v - 1u - 2u * ring;
    let from_ring = k + pw_quad_points(u, v) - points;
    let first = select(v, ends.x, outer);
    let second = select(v + u, ends.y, outer);
    let third = select(2u * v + u, ends.z, outer);
    // The minimum patch begins one corner later than all others.
    let position = select(from_ring, select(k, (k + 1u) & 3u, minimum), outer);
    let side = select(0u, 1u, position >= first) + select(0u, 1u, position >= second) + select(0u, 1u, position >= third);
    let start = select(select(select(third, second, side == 2u), first, side == 1u), 0u, side == 0u);
    let j = position - start;

    let runs_along_u = (side & 1u) == 1u;
    var context_u = inside_u;
    var context_v = inside_v;
    if (outer) {
        let edge = pw_context(side);
        if (runs_along_u) {
            context_u = edge;
        } else {
            context_v = edge;
        }
    }
    let place_u = pw_place(context_u, ring + select(0u, j, runs_along_u));
    let place_v = pw_place(context_v, ring + select(j, 0u, runs_along_u));
    return vec2u(
        select(place_u, PW_ONE - place_u, side >= 2u),
        select(place_v, PW_ONE - place_v, side == 0u || side == 3u),
    );
}
