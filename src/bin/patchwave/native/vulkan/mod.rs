//! The little of Vulkan that native tessellation takes: the only unsafe code of the program.
//!
//! What is recorded borrows what it uses, and submitting waits until the queue is done: so nothing is destroyed that the
//! device still works on. All handles that are combined come from one [`Device`], which every one of them borrows.

mod buffer;
mod device;
mod pipeline;
mod query;
mod recorder;
mod target;

pub(crate) use buffer::Buffer;
pub(crate) use device::Device;
pub(crate) use pipeline::{Bindings, Pipeline, PipelineDescriptor, Raster, Stages};
pub(crate) use query::{Queries, QueryKind};
pub(crate) use recorder::Recorder;
pub(crate) use target::Target;
