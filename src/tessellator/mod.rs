//! The fixed-function tessellator on the CPU: factors, points, connectivity.
//!
//! The twin of `shaders/tessellator/`, file by file. What it computes is written down in `docs/tessellator.md`; the
//! section numbers in the comments of this room are that document's. Nothing here knows of wgpu.
//!
//! ```
//! use patchwave::tessellator::{Domain, OutputTopology, Partitioning, TessellatedPatch};
//!
//! let factors = [2.0f32, 3.0, 1.0, 1.0].map(f32::to_bits);
//! let patch = TessellatedPatch::new(Domain::Tri, Partitioning::Integer, OutputTopology::TriangleCw, &factors)?;
//! assert_eq!(patch.point(1), Some([0, 0x8000]));
//! assert_eq!(patch.primitive(0), Some([0, 1, 6]));
//! # Ok::<(), patchwave::tessellator::TessellatorError>(())
//! ```

mod connectivity;
mod factors;
mod patch;
mod placement;
mod points;
mod rings;
mod vocabulary;
mod wgsl;

pub use patch::{TessellatedPatch, TessellatorError};
pub use placement::Context;
pub use vocabulary::{Domain, OutputTopology, Partitioning, UnknownName};
pub use wgsl::{CONNECTIVITY_WGSL, WGSL, wgsl_constants};

/// 1 in 16.16 fixed point.
pub const ONE: u32 = 0x10000;
/// 1/2 in 16.16 fixed point.
pub const HALF: u32 = 0x8000;

/// What the `PW_` constants are to the WGSL: one kind of tessellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    domain: Domain,
    partitioning: Partitioning,
    topology: OutputTopology,
}
