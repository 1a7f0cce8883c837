// Rings: tri and quad patches as rings of points, counted from the inside (docs/tessellator.md, sections 7 and 14).
//
// The twin of src/tessellator/rings.rs. Counting from the inside makes points and primitives, tri and quad, one and
// the same search for a product.

// The least t of p, p + 2, p + 4, ... p + 62 with t (t + d) >= c. Five steps by hand: a loop would get a bound and
// a counter added to it, and is not always unrolled.
fn pw_search(p: u32, d: u32, c: u32) -> u32 {
    var t = p;
    t += select(0u, 32u, (t + 30u) * (t + 30u + d) < c);
    t += select(0u, 16u, (t + 14u) * (t + 14u + d) < c);
    t += select(0u, 8u, (t + 6u) * (t + 6u + d) < c);
    t += select(0u, 4u, (t + 2u) * (t + 2u + d) < c);
    t += select(0u, 2u, t * (t + d) < c);
    return t;
}

// The points on and within a tri ring whose sides have s segments; 1 for the centre, s = 0.
fn pw_tri_points(s: u32) -> u32 {
    return (3u * s * (s + 2u) + 4u) >> 2u;
}

// The triangles within a tri ring whose sides have s segments.
fn pw_tri_triangles(s: u32) -> u32 {
    return (3u * s * s) >> 1u;
}

// The points on and within a quad ring, or on a degenerate row, with sides of u and of v segments.
fn pw_quad_points(u: u32, v: u32) -> u32 {
    return (u + 1u) * (v + 1u);
}

// The triangles within a quad ring with sides of u and of v segments.
fn pw_quad_triangles(u: u32, v: u32) -> u32 {
    return 2u * u * v;
}
