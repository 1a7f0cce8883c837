//! Tessellated meshes on the CPU: read-back in canonical order, and export.

#[cfg(feature = "cli")]
mod glb;
mod members;
mod obj;
#[cfg(feature = "cli")]
mod ply;
mod readback;

pub use members::ExportMembers;
pub use readback::{Mesh, MeshPatch};
