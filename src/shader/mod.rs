//! The user's WGSL: parsed and reflected with naga, errors with the user's line, composition of kernels.
//!
//! Reading ([`reflect()`]) stays apart from composing, so that other front ends can meet the same composer.

pub(crate) mod compose;
mod error;
pub(crate) mod fetch;
mod graph;
mod layout;
mod lines;
mod loops;
mod naga_front;
mod nesting;
mod outline;
mod pass_through;
mod prelude;
mod reflect;
mod reflection;
mod reserved;
mod resources;
mod scan;
mod signature;
mod tokens;

#[cfg(test)]
mod tests;

pub use error::ShaderError;
pub use outline::{Outline, outline};
pub(crate) use pass_through::{pass_through_vertex_shader, vertex_attributes};
pub use reflect::reflect;
pub(crate) use reflect::{any_capabilities, reflect_with};
pub use reflection::*;
