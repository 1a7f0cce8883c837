//! Hull and domain shaders for wgpu.

#![forbid(unsafe_code)]

#[cfg(feature = "cli")]
pub mod golden;
pub mod shader;
pub mod tessellator;
