//! Patch: the contexts and counts of one patch (docs/tessellator.md, sections 4.7 and 13).
//!
//! The twin of shaders/tessellator/patch.wgsl.

use super::factors::{Factors, all_one, clamped_factor, culled, fixed_factors, odd};
use super::placement::{MINIMUM, new_context, segments};
use super::rings::{quad_points, quad_triangles, tri_points, tri_triangles};
use super::{Context, Domain, Kind, ONE, OutputTopology, Partitioning, connectivity, points};

/// What a tessellator cannot be asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TessellatorError {
    /// Another number of factors than the domain has.
    #[error("{domain} has {} tessellation factors, not {given}", domain.factor_count())]
    FactorCount {
        /// The domain.
        domain: Domain,
        /// How many factors were given.
        given: usize,
    },
    /// An output topology that the domain does not allow.
    #[error("{topology} is no output topology of {domain}")]
    Topology {
        /// The domain.
        domain: Domain,
        /// The output topology.
        topology: OutputTopology,
    },
}

/// Room for the contexts of a patch, one a factor, and one more whose shape tells where the sides of the outer ring end.
pub(super) type Contexts = [Context; 7];

/// One patch, tessellated: any point and any primitive of it by its number, in the reference's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TessellatedPatch {
    kind: Kind,
    bits: Factors,
    contexts: Contexts,
    points: u32,
    primitives: u32,
}

/// The contexts of a patch of this kind and with these factors, and its numbers of points and primitives, 0 where it
/// is culled.
fn patch(kind: Kind, bits: &Factors) -> (Contexts, u32, u32) {
    let fixed = fixed_factors(kind, bits);
    let mut contexts = [Context::default(); 7];
    let count = kind.domain.factor_count();
    for (i, (context, &fixed)) in contexts.iter_mut().zip(&fixed).enumerate().take(count) {
        *context = new_context(fixed, odd(kind, i, fixed));
    }
    let minimum = kind.domain != Domain::Isoline && all_one(kind, &fixed);
    if minimum {
        for context in contexts.iter_mut().take(count) {
            context.shape |= MINIMUM;
        }
    }

    let [s0, s1, s2, s3, s4, s5, _] = contexts.map(|context| segments(context.shape));
    let (end_0, end_1, end_2) = (s0, s0 + s1, s0 + s1 + s2);
    contexts[count].shape = match kind.domain {
        Domain::Isoline => 0x80000 / (s1 + 1) + 1,
        Domain::Tri | Domain::Quad => end_0 | (end_1 << 10) | (end_2 << 20),
    };
    let (points, mut primitives) = match kind.domain {
        // As many lines as segments across: the last one, at v = 1, is not drawn.
        Domain::Isoline => (s0 * (s1 + 1), s0 * s1),
        Domain::Tri if minimum => (3, 1),
        Domain::Tri => {
            let s = s3 - 2;
            (end_2 + tri_points(s), end_2 + 3 * s + tri_triangles(s))
        }
        Domain::Quad if minimum => (4, 2),
        Domain::Quad => {
            let (end_3, u, v) = (end_2 + s3, s4 - 2, s5 - 2);
            (end_3 + quad_points(u, v), end_3 + 2 * (u + v) + quad_triangles(u, v))
        }
    };
    if kind.topology == OutputTopology::Point {
        primitives = points;
    }
    if culled(kind, bits) { (contexts, 0, 0) } else { (contexts, points, primitives) }
}

impl TessellatedPatch {
    /// The patch with these factors, as the bits of f32s: the edges' factors first, then the inside's; density, then
    /// detail. Any bits will do.
    pub fn new(
        domain: Domain,
        partitioning: Partitioning,
        topology: OutputTopology,
        factor_bits: &[u32],
    ) -> Result<Self, TessellatorError> {
        if factor_bits.len() != domain.factor_count() {
            return Err(TessellatorError::FactorCount { domain, given: factor_bits.len() });
        }
        if !topology.is_valid_for(domain) {
            return Err(TessellatorError::Topology { domain, topology });
        }
        let kind = Kind { domain, partitioning, topology };
        let mut bits = [0; 6];
        for (to, &from) in bits.iter_mut().zip(factor_bits) {
            *to = from;
        }
        let (contexts, points, primitives) = patch(kind, &bits);
        Ok(Self { kind, bits, contexts, points, primitives })
    }

    /// Its domain.
    pub fn domain(&self) -> Domain {
        self.kind.domain
    }

    /// Its partitioning.
    pub fn partitioning(&self) -> Partitioning {
        self.kind.partitioning
    }

    /// Its output topology.
    pub fn topology(&self) -> OutputTopology {
        self.kind.topology
    }

    /// The bits of its factors.
    pub fn factor_bits(&self) -> &[u32] {
        self.bits.get(..self.kind.domain.factor_count()).unwrap_or_default()
    }

    /// Its contexts, one a factor.
    pub fn contexts(&self) -> &[Context] {
        self.contexts.get(..self.kind.domain.factor_count()).unwrap_or_default()
    }

    /// Whether it is dropped, for an outer factor that is not above 0. It then has no points and no primitives.
    pub fn is_culled(&self) -> bool {
        self.points == 0
    }

    /// How many points it has.
    pub fn point_count(&self) -> u32 {
        self.points
    }

    /// How many primitives it has.
    pub fn primitive_count(&self) -> u32 {
        self.primitives
    }

    /// How many points make one of its primitives.
    pub fn vertices_per_primitive(&self) -> u32 {
        self.kind.topology.vertices_per_primitive()
    }

    /// Factor i after clamping alone, in units of 2^-23, exactly; of a culled patch too.
    pub fn clamped_factor(&self, i: usize) -> Option<u32> {
        self.factor_bits().get(i).map(|&bits| clamped_factor(self.kind, i, bits))
    }

    /// The u and v of point k in 16.16 fixed point.
    pub fn point(&self, k: u32) -> Option<[u32; 2]> {
        (k < self.points).then(|| points::point(self.kind, &self.contexts, k, self.points))
    }

    /// The domain location of point k, as the domain shader gets it: (u, v), and for tri the w that makes their sum 1.
    /// Exact: every location is a multiple of 2^-16.
    pub fn location(&self, k: u32) -> Option<[f32; 3]> {
        let [u, v] = self.point(k)?;
        let w = if self.kind.domain == Domain::Tri { ONE - u - v } else { 0 };
        Some([u, v, w].map(|x| x as f32 / ONE as f32))
    }

    /// The points of primitive t, by their numbers; of these the first [`Self::vertices_per_primitive`] count.
    pub fn primitive(&self, t: u32) -> Option<[u32; 3]> {
        (t < self.primitives).then(|| connectivity::primitive(self.kind, &self.contexts, t, self.points))
    }

    /// The u and v of all points in order, in 16.16 fixed point.
    pub fn points(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        (0..self.points).filter_map(|k| self.point(k))
    }

    /// The index entries of all primitives in order.
    pub fn indices(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.primitives)
            .filter_map(|t| self.primitive(t))
            .flat_map(|primitive| primitive.into_iter().take(self.vertices_per_primitive() as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        (domain, partitioning, topology): (Domain, Partitioning, OutputTopology),
        factors: &[f32],
        points: &[[u32; 2]],
        indices: &[u32],
    ) {
        let bits: Vec<u32> = factors.iter().map(|factor| factor.to_bits()).collect();
        let patch = TessellatedPatch::new(domain, partitioning, topology, &bits).expect("a valid patch");
        assert_eq!(patch.points().collect::<Vec<_>>(), points, "{factors:?}");
        assert_eq!(patch.indices().collect::<Vec<_>>(), indices, "{factors:?}");
        assert_eq!(patch.point(patch.point_count()), None);
        assert_eq!(patch.primitive(patch.primitive_count()), None);
    }

    #[test]
    fn worked_examples() {
        use Domain::{Isoline, Quad, Tri};
        use OutputTopology::{Line, TriangleCcw, TriangleCw};
        use Partitioning::{FractionalEven, Integer};
        const T: u32 = 0x10000;
        check(
            (Tri, Integer, TriangleCw),
            &[2.0, 3.0, 1.0, 1.0],
            &[[0, T], [0, 0x8000], [0, 0], [0x5555, 0], [0xaaab, 0], [T, 0], [0x5555, 0x5555]],
            &[0, 1, 6, 1, 2, 6, 2, 3, 6, 6, 3, 4, 4, 5, 6, 6, 5, 0],
        );
        check(
            (Tri, Integer, TriangleCw),
            &[1.0, 1.0, 1.0, 3.0],
            &[[0, T], [0, 0], [T, 0], [0x38e3, 0x8e39], [0x38e3, 0x38e3], [0x8e39, 0x38e4]],
            &[3, 0, 4, 4, 0, 1, 4, 1, 5, 5, 1, 2, 5, 2, 3, 3, 2, 0, 3, 4, 5],
        );
        check(
            (Tri, FractionalEven, TriangleCcw),
            &[2.0, 2.0, 2.0, 2.5],
            &[
                [0, T],
                [0, 0x8000],
                [0, 0],
                [0x8000, 0],
                [T, 0],
                [0x8000, 0x8000],
                [0x4aaa, 0x6aab],
                [0x4aaa, 0x5aab],
                [0x4aab, 0x4aaa],
                [0x5aab, 0x4aaa],
                [0x6aab, 0x4aab],
                [0x5aab, 0x5aab],
                [0x5555, 0x5555],
            ],
            &[
                0, 6, 1, 6, 7, 1, 7, 8, 1, 1, 8, 2, 2, 8, 3, 8, 9, 3, 9, 10, 3, 3, 10, 4, 4, 10, 5, 10, 11, 5, 11, 6,
                5, 5, 6, 0, 6, 12, 7, 7, 12, 8, 8, 12, 9, 9, 12, 10, 10, 12, 11, 11, 12, 6,
            ],
        );
        check(
            (Quad, Integer, TriangleCw),
            &[1.0, 2.0, 1.0, 1.0, 3.0, 4.0],
            &[
                [0, T],
                [0, 0],
                [0x8000, 0],
                [T, 0],
                [T, T],
                [0x5555, 0xc000],
                [0x5555, 0x8000],
                [0x5555, 0x4000],
                [0xaaab, 0x4000],
                [0xaaab, 0x8000],
                [0xaaab, 0xc000],
            ],
            &[
                5, 0, 6, 6, 0, 1, 6, 1, 7, 1, 2, 7, 7, 2, 8, 2, 3, 8, 8, 3, 9, 9, 3, 4, 9, 4, 10, 10, 4, 5, 5, 4, 0,
                10, 5, 6, 10, 6, 9, 9, 6, 7, 9, 7, 8,
            ],
        );
        check(
            (Isoline, FractionalEven, Line),
            &[1.1, 2.5],
            &[
                [0, 0],
                [0x7000, 0],
                [0x8000, 0],
                [0x9000, 0],
                [T, 0],
                [0, 0x8000],
                [0x7000, 0x8000],
                [0x8000, 0x8000],
                [0x9000, 0x8000],
                [T, 0x8000],
            ],
            &[0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9],
        );
    }

    #[test]
    fn minimum_patches() {
        use Partitioning::{FractionalOdd, Integer, Pow2};
        const T: u32 = 0x10000;
        for partitioning in [Integer, Pow2, FractionalOdd] {
            let tri = (Domain::Tri, partitioning, OutputTopology::TriangleCcw);
            check(tri, &[1.0; 4], &[[0, T], [0, 0], [T, 0]], &[0, 2, 1]);
            let quad = (Domain::Quad, partitioning, OutputTopology::TriangleCw);
            check(quad, &[1.0; 6], &[[0, 0], [T, 0], [T, T], [0, T]], &[0, 1, 3, 1, 2, 3]);
        }
    }

    #[test]
    fn the_limits_are_reached() {
        for domain in Domain::ALL {
            for topology in OutputTopology::ALL {
                let bits = vec![f32::INFINITY.to_bits(); domain.factor_count()];
                let patch = TessellatedPatch::new(domain, Partitioning::Integer, topology, &bits);
                match patch {
                    Ok(patch) => {
                        assert_eq!(patch.point_count(), domain.max_points());
                        assert_eq!(patch.primitive_count(), domain.max_primitives(topology));
                    }
                    Err(error) => assert_eq!(error, TessellatorError::Topology { domain, topology }),
                }
            }
        }
    }

    #[test]
    fn what_it_cannot_be_asked_for() {
        let error = TessellatedPatch::new(Domain::Tri, Partitioning::Integer, OutputTopology::TriangleCw, &[0; 6]);
        assert_eq!(error.map_err(|error| error.to_string()), Err("tri has 4 tessellation factors, not 6".to_owned()));
        let error = TessellatedPatch::new(Domain::Quad, Partitioning::Integer, OutputTopology::Line, &[0; 6]);
        assert_eq!(error.map_err(|error| error.to_string()), Err("line is no output topology of quad".to_owned()));
    }

    #[test]
    fn locations_are_exact() {
        let bits = [5.0f32, 7.0, 3.0, 9.0].map(f32::to_bits);
        let patch = TessellatedPatch::new(Domain::Tri, Partitioning::FractionalOdd, OutputTopology::TriangleCw, &bits)
            .expect("a valid patch");
        for k in 0..patch.point_count() {
            let [u, v, w] = patch.location(k).expect("a point");
            assert_eq!(u + v + w, 1.0);
            assert_eq!(patch.point(k), Some([(u * 65536.0) as u32, (v * 65536.0) as u32]));
        }
    }
}
