//! Golden vectors: what the reference tessellator makes of given factors, and the comparison with it.
//!
//! Two readers give the same cases: [`packed()`] those that are compiled in, [`read_folder()`] any folder of JSON-lines
//! files. The format is described in `assets/vectors/README.md`.

pub mod gpu;
mod json_lines;
mod packed;

use std::path::PathBuf;

pub use json_lines::{read_file, read_folder};
pub use packed::packed;

use crate::tessellator::{Domain, OutputTopology, Partitioning, TessellatedPatch, TessellatorError};

/// Why golden vectors could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldenError {
    /// A file or folder could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A folder without a single JSON-lines file.
    #[error("{}: no .jsonl file", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A line that is no case of the format.
    #[error("{}:{line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The packed vectors are damaged.
    #[error("packed golden vectors: {0}")]
    Packed(String),
}

/// The full lists of a case's points and index entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists {
    /// The bits of each point's u and v, as f32.
    pub uv: Vec<[u32; 2]>,
    /// The index entries.
    pub index: Vec<u32>,
}

/// One golden vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name; the tail is the family of cases.
    pub id: String,
    /// The domain.
    pub domain: Domain,
    /// The partitioning.
    pub partitioning: Partitioning,
    /// The output topology.
    pub topology: OutputTopology,
    /// The bits of the tessellation factors: edges, then inside; density, then detail.
    pub factor_bits: Vec<u32>,
    /// Whether the patch is dropped.
    pub culled: bool,
    /// How many points it has.
    pub points: u32,
    /// How many index entries, not primitives, it has.
    pub indices: u32,
    /// The hash of the bits of all u and v as f32, point by point.
    pub uv_hash: u64,
    /// The hash of all index entries.
    pub index_hash: u64,
    /// Everything the hashes are of, for small patches.
    pub lists: Option<Lists>,
}

/// The first thing in which a result is not the golden one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Difference {
    /// The tessellator does not take the case at all.
    #[error(transparent)]
    Refused(#[from] TessellatorError),
    /// Only one of the two is dropped.
    #[error("culled: {found}, expected {expected}")]
    Culled {
        /// By the vector.
        expected: bool,
        /// By the result.
        found: bool,
    },
    /// Another number of points.
    #[error("{found} points, expected {expected}")]
    PointCount {
        /// By the vector.
        expected: u32,
        /// By the result.
        found: u32,
    },
    /// Another number of index entries.
    #[error("{found} index entries, expected {expected}")]
    IndexCount {
        /// By the vector.
        expected: u32,
        /// By the result.
        found: u32,
    },
    /// A point elsewhere.
    #[error("point {k} at {found:08x?}, expected {expected:08x?}")]
    Point {
        /// The point.
        k: usize,
        /// The bits of u and v by the vector.
        expected: [u32; 2],
        /// The bits of u and v by the result.
        found: [u32; 2],
    },
    /// Another index entry.
    #[error("index entry {i} is {found}, expected {expected}")]
    Index {
        /// The entry.
        i: usize,
        /// By the vector.
        expected: u32,
        /// By the result.
        found: u32,
    },
    /// Some point elsewhere.
    #[error("points hash to {found:016x}, expected {expected:016x}")]
    PointHash {
        /// By the vector.
        expected: u64,
        /// By the result.
        found: u64,
    },
    /// Some other index entry.
    #[error("index entries hash to {found:016x}, expected {expected:016x}")]
    IndexHash {
        /// By the vector.
        expected: u64,
        /// By the result.
        found: u64,
    },
}

/// FNV-1a, 64 bits, over the little-endian bytes of these words.
pub fn fnv1a64(words: impl IntoIterator<Item = u32>) -> u64 {
    words
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The bits of a 16.16 fixed-point location as an f32, which is exact.
pub fn location_bits(fixed: u32) -> u32 {
    (fixed as f32 / 65536.0).to_bits()
}

impl Case {
    /// Compares a result with the case: 16.16 points and index entries, in order.
    pub fn compare(&self, culled: bool, points: &[[u32; 2]], indices: &[u32]) -> Result<(), Difference> {
        if culled != self.culled {
            return Err(Difference::Culled { expected: self.culled, found: culled });
        }
        let found = points.len() as u32;
        if found != self.points {
            return Err(Difference::PointCount { expected: self.points, found });
        }
        let found = indices.len() as u32;
        if found != self.indices {
            return Err(Difference::IndexCount { expected: self.indices, found });
        }
        let uv = || points.iter().map(|point| point.map(location_bits));
        if let Some(lists) = &self.lists {
            let mut differing = lists.uv.iter().zip(uv()).enumerate();
            if let Some((k, (&expected, found))) = differing.find(|(_, (expected, found))| *expected != found) {
                return Err(Difference::Point { k, expected, found });
            }
            let mut differing = lists.index.iter().zip(indices).enumerate();
            if let Some((i, (&expected, &found))) = differing.find(|(_, (expected, found))| expected != found) {
                return Err(Difference::Index { i, expected, found });
            }
        }
        let found = fnv1a64(uv().flatten());
        if found != self.uv_hash {
            return Err(Difference::PointHash { expected: self.uv_hash, found });
        }
        let found = fnv1a64(indices.iter().copied());
        if found != self.index_hash {
            return Err(Difference::IndexHash { expected: self.index_hash, found });
        }
        Ok(())
    }

    /// The patch of the case, by the tessellator on the CPU.
    pub fn patch(&self) -> Result<TessellatedPatch, TessellatorError> {
        TessellatedPatch::new(self.domain, self.partitioning, self.topology, &self.factor_bits)
    }

    /// Compares the tessellator on the CPU with the case.
    pub fn check(&self) -> Result<(), Difference> {
        let patch = self.patch()?;
        let points: Vec<_> = patch.points().collect();
        let indices: Vec<_> = patch.indices().collect();
        self.compare(patch.is_culled(), &points, &indices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv1a64() {
        assert_eq!(fnv1a64([]), 0xcbf2_9ce4_8422_2325);
        // The bytes 61 00 00 00.
        let by_hand = [0x61u8, 0, 0, 0]
            .iter()
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        assert_eq!(fnv1a64([0x61]), by_hand);
    }

    #[test]
    fn every_kind_of_difference_is_told() {
        let one = 1.0f32.to_bits();
        let case = Case {
            id: "minimum".to_owned(),
            domain: Domain::Tri,
            partitioning: Partitioning::Integer,
            topology: OutputTopology::TriangleCw,
            factor_bits: vec![one; 4],
            culled: false,
            points: 3,
            indices: 3,
            uv_hash: fnv1a64([0, one, 0, 0, one, 0]),
            index_hash: fnv1a64([0, 1, 2]),
            lists: Some(Lists { uv: vec![[0, one], [0, 0], [one, 0]], index: vec![0, 1, 2] }),
        };
        assert_eq!(case.check(), Ok(()));
        let fixed = [[0, 0x10000], [0, 0], [0x10000, 0]];
        assert_eq!(case.compare(false, &fixed, &[0, 1, 2]), Ok(()));
        assert!(matches!(case.compare(true, &[], &[]), Err(Difference::Culled { .. })));
        assert!(matches!(case.compare(false, &fixed[1..], &[0, 1, 2]), Err(Difference::PointCount { found: 2, .. })));
        assert!(matches!(case.compare(false, &fixed, &[0, 1]), Err(Difference::IndexCount { found: 2, .. })));
        let moved = [[0, 0x10000], [1, 0], [0x10000, 0]];
        assert!(matches!(case.compare(false, &moved, &[0, 1, 2]), Err(Difference::Point { k: 1, .. })));
        assert!(matches!(case.compare(false, &fixed, &[0, 2, 1]), Err(Difference::Index { i: 1, .. })));
        let hashed = Case { lists: None, ..case.clone() };
        assert!(matches!(hashed.compare(false, &moved, &[0, 1, 2]), Err(Difference::PointHash { .. })));
        assert!(matches!(hashed.compare(false, &fixed, &[0, 2, 1]), Err(Difference::IndexHash { .. })));
        let refused = Case { topology: OutputTopology::Line, ..case };
        assert!(matches!(refused.check(), Err(Difference::Refused(TessellatorError::Topology { .. }))));
    }
}
