//! Hull and domain shaders for wgpu: the whole D3D-style tessellation pipeline as WGSL compute passes.

#![deny(unsafe_code)]

pub mod adapter;
mod error;
#[cfg(feature = "cli")]
pub mod golden;
pub mod hardware;
pub mod library;
pub mod mesh;
pub mod pipeline;
pub mod shader;
pub mod tessellator;

pub use error::Error;
pub use mesh::Mesh;
pub use pipeline::{
    Draw, GrowingWorkspace, IndexBuffer, Indices, Tessellation, TessellationPipeline, TessellationPipelineDescriptor,
    Workspace, WorkspaceDescriptor,
};
pub use shader::{ShaderError, StageNames};
pub use tessellator::{Domain, OutputTopology, Partitioning};
