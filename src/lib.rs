//! Hull and domain shaders for wgpu.

#![forbid(unsafe_code)]

pub mod shader;
pub mod tessellator;
