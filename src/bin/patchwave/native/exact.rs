//! Surfaces in 64-bit floats on the CPU, from their formulas: what both ways are measured against.

type Vec3 = [f64; 3];

/// Position and normal at a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) position: Vec3,
    pub(super) normal: Vec3,
}

fn sum<const N: usize>(terms: [(f64, Vec3); N]) -> Vec3 {
    let mut sum = [0.0; 3];
    for (weight, vector) in terms {
        for (sum, x) in sum.iter_mut().zip(vector) {
            *sum += weight * x;
        }
    }
    sum
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cross([a, b, c]: Vec3, [x, y, z]: Vec3) -> Vec3 {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

fn normalize(a: Vec3) -> Vec3 {
    sum([(1.0 / dot(a, a).sqrt(), a)])
}

fn bernstein(t: f64) -> [f64; 4] {
    let s = 1.0 - t;
    [s * s * s, 3.0 * t * s * s, 3.0 * t * t * s, t * t * t]
}

fn slope(t: f64) -> [f64; 4] {
    let s = 1.0 - t;
    [-3.0 * s * s, 3.0 * s * (s - 2.0 * t), 3.0 * t * (2.0 * s - t), 3.0 * t * t]
}

/// A bicubic Bézier patch; u goes along the rows of four.
pub(super) fn bicubic(points: &[Vec3; 16], u: f64, v: f64) -> Sample {
    let blend = |u: [f64; 4], v: [f64; 4]| -> Vec3 {
        sum(std::array::from_fn::<_, 16, _>(|i| (u[i % 4] * v[i / 4], points[i])))
    };
    let (along_u, along_v) = (blend(slope(u), bernstein(v)), blend(bernstein(u), slope(v)));
    Sample { position: blend(bernstein(u), bernstein(v)), normal: normalize(cross(along_u, along_v)) }
}

/// A PN triangle at barycentric a, b, c.
pub(super) fn pn(corners: &[Vec3; 3], normals: &[Vec3; 3], [a, b, c]: Vec3) -> Sample {
    let edge = |i: usize, j: usize| {
        let along = sum([(1.0, corners[j]), (-1.0, corners[i])]);
        sum([(2.0 / 3.0, corners[i]), (1.0 / 3.0, corners[j]), (-dot(along, normals[i]) / 3.0, normals[i])])
    };
    let edge_normal = |i: usize, j: usize| {
        let along = sum([(1.0, corners[j]), (-1.0, corners[i])]);
        let both = sum([(1.0, normals[i]), (1.0, normals[j])]);
        normalize(sum([(1.0, both), (-2.0 * dot(along, both) / dot(along, along), along)]))
    };
    let edges = [edge(0, 1), edge(1, 0), edge(1, 2), edge(2, 1), edge(2, 0), edge(0, 2)];
    let middle = sum(edges.map(|edge| (0.25, edge)));
    let middle = sum([(1.0, middle), (-1.0 / 6.0, corners[0]), (-1.0 / 6.0, corners[1]), (-1.0 / 6.0, corners[2])]);
    let [ab, ba, bc, cb, ca, ac] = edges;
    let position = sum([
        (a * a * a, corners[0]),
        (b * b * b, corners[1]),
        (c * c * c, corners[2]),
        (3.0 * a * a * b, ab),
        (3.0 * a * b * b, ba),
        (3.0 * b * b * c, bc),
        (3.0 * b * c * c, cb),
        (3.0 * c * c * a, ca),
        (3.0 * c * a * a, ac),
        (6.0 * a * b * c, middle),
    ]);
    let normal = sum([
        (a * a, normals[0]),
        (b * b, normals[1]),
        (c * c, normals[2]),
        (a * b, edge_normal(0, 1)),
        (b * c, edge_normal(1, 2)),
        (c * a, edge_normal(2, 0)),
    ]);
    Sample { position, normal: normalize(normal) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Vec3, b: Vec3) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn a_flat_sheet_stays_flat() {
        let points = std::array::from_fn(|i| [(i % 4) as f64 / 3.0, (i / 4) as f64 / 3.0, 2.0]);
        let Sample { position, normal } = bicubic(&points, 0.25, 0.75);
        assert!(near(position, [0.25, 0.75, 2.0]) && near(normal, [0.0, 0.0, 1.0]), "{position:?} {normal:?}");
    }

    #[test]
    fn an_octant_bulges_as_worked_out_by_hand() {
        let corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let Sample { position, normal } = pn(&corners, &corners, [1.0 / 3.0; 3]);
        // All edge points are (1, 1/3, 0) in some order; the middle is 1/2 on each axis, the centre (1 + 8 + 3) / 27.
        assert!(near(position, [4.0 / 9.0; 3]), "{position:?}");
        assert!(near(normal, [1.0 / 3f64.sqrt(); 3]), "{normal:?}");
    }
}
