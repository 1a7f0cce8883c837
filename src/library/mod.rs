//! A library of WGSL functions for the user's shader, and their CPU twins.
//!
//! A shader calls them by name, as if WGSL had them; the pieces that it names, and what they need, are put behind it. What
//! each is for, with HLSL's and GLSL's equivalents and examples, is in `docs/library.md`. Nothing here knows of wgpu.
//!
//! A piece is a file of `shaders/library/`, and its twin a module here: the same functions in the same order, under the
//! same names without `pw_lib_`. Points that come in numbers are arrays here and parameters there, and a partitioning
//! is a `u32` there ([`Partitioning`] in its order, from `TESS_INTEGER` on).
//!
//! ```
//! use patchwave::Partitioning;
//! use patchwave::library::process::tess_process_quad_max;
//!
//! let quad = tess_process_quad_max([2.5, 3.0, 5.5, 9.0], 0.5, Partitioning::Integer);
//! assert_eq!(quad.factors.edges, [3.0, 3.0, 6.0, 9.0]);
//! assert_eq!((quad.unrounded_inside, quad.factors.inside), ([4.5; 2], [5.0; 2]));
//! ```

pub mod bernstein;
pub mod blend;
pub mod bspline;
pub mod culling;
pub mod edges;
pub mod phong;
pub mod pn;
pub mod process;
pub mod rounding;
mod vector;
mod wgsl;

#[cfg(doc)]
use crate::tessellator::Partitioning;

pub use wgsl::{PIECES, Piece};
pub(crate) use wgsl::{Selection, has_name};

/// A point or a direction: WGSL's `vec3f`.
pub type Vec3 = [f32; 3];

/// A matrix as its columns: WGSL's `mat4x4f`.
pub type Mat4 = [[f32; 4]; 4];
