//! Tessellated meshes on the CPU: read-back in canonical order, and export.

mod obj;
mod readback;

pub use obj::ObjOptions;
pub use readback::{Mesh, MeshPatch};
