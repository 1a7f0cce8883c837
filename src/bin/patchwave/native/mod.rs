//! The driver's own tessellation, through Vulkan: an oracle for patchwave's.
//!
//! `vulkan` wraps the little of the interface that this takes; `shaders` has GLSL compiled by glslang. `points`,
//! `surfaces` and `pictures` compare; `timed` and `bench` measure.

pub(crate) mod bench;
mod exact;
mod factors;
mod painter;
mod pictures;
mod points;
mod shaders;
mod surfaces;
mod timed;
pub(crate) mod verify;
#[allow(unsafe_code, reason = "Vulkan is a C interface, and wgpu has no tessellation stages")]
mod vulkan;
mod written;
