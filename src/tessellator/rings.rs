//! Rings: tri and quad patches as rings of points, counted from the inside (docs/tessellator.md, sections 7 and 14).
//!
//! The twin of shaders/tessellator/rings.wgsl. Counting from the inside makes points and primitives, tri and quad, one
//! and the same search for a product.

/// The least t of p, p + 2, p + 4, ... p + 62 with t (t + d) >= c.
pub(super) fn search(p: u32, d: u32, c: u32) -> u32 {
    let mut t = p;
    for step in [32, 16, 8, 4, 2] {
        let reached = t + step - 2;
        if reached * (reached + d) < c {
            t += step;
        }
    }
    t
}

/// The points on and within a tri ring whose sides have s segments; 1 for the centre, s = 0.
pub(super) fn tri_points(s: u32) -> u32 {
    (3 * s * (s + 2) + 4) >> 2
}

/// The triangles within a tri ring whose sides have s segments.
pub(super) fn tri_triangles(s: u32) -> u32 {
    (3 * s * s) >> 1
}

/// The points on and within a quad ring, or on a degenerate row, with sides of u and of v segments.
pub(super) fn quad_points(u: u32, v: u32) -> u32 {
    (u + 1) * (v + 1)
}

/// The triangles within a quad ring with sides of u and of v segments.
pub(super) fn quad_triangles(u: u32, v: u32) -> u32 {
    2 * u * v
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_is_a_walk() {
        for p in [0, 1] {
            for d in 0..63 {
                let mut t = p;
                for c in 0..=(p + 62) * (p + 62 + d) {
                    while t * (t + d) < c {
                        t += 2;
                    }
                    assert_eq!(search(p, d, c), t, "p {p}, d {d}, c {c}");
                }
            }
        }
    }

    #[test]
    fn rings_add_up() {
        assert_eq!([0, 1].map(tri_points), [1, 3]);
        assert_eq!([0, 1].map(tri_triangles), [0, 1]);
        for s in 2..=62 {
            assert_eq!(tri_points(s), 3 * s + tri_points(s - 2));
            assert_eq!(tri_triangles(s), 6 * (s - 1) + tri_triangles(s - 2));
            for v in 2..=62 {
                assert_eq!(quad_points(s, v), 2 * (s + v) + quad_points(s - 2, v - 2));
                assert_eq!(quad_triangles(s, v), 4 * (s + v - 2) + quad_triangles(s - 2, v - 2));
            }
        }
    }
}
