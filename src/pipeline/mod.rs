//! The tessellation pipeline on wgpu: the compiled pipeline, the memory that draws work in, the encoding of the passes,
//! and what comes out.

mod attributes;
mod batch_workspace;
mod batches;
mod bind_groups;
mod checks;
mod composition;
mod creation;
mod descriptor;
mod device;
mod draw;
mod encode;
mod epoch;
mod growing;
mod indirect;
pub(crate) mod layout;
#[cfg(test)]
mod layout_tests;
mod measure;
mod output;
mod parameters;
mod read;
mod records;
mod report;
mod state;
mod statistics;
mod stream;
mod strip_cut;
mod tessellation;
mod workspace;

pub use batch_workspace::BatchWorkspace;
pub use batches::{Batch, BatchPlan};
pub use composition::Composition;
pub use descriptor::{Indices, TessellationPipelineDescriptor};
pub use draw::{Draw, IndexBuffer};
pub use encode::PassTimestamps;
pub use growing::GrowingWorkspace;
pub use indirect::IndirectDraw;
pub use measure::Measurement;
pub use output::{OutputChunk, Tessellation};
pub use parameters::profile_of;
pub use records::GpuRecords;
pub(crate) use report::report as slot_report;
pub use report::{DrawReport, Shortage};
pub use stream::StreamOutput;
pub use tessellation::{ComposedKernels, TessellationPipeline};
pub use workspace::{ChunkCapacity, Workspace, WorkspaceDescriptor};

pub(crate) use device::{buffer, guarded};
pub(crate) use draw::DrawShape;
pub(crate) use measure::MeasuringPatches;
pub(crate) use read::{Reading, Source};
