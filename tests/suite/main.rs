//! The integration tests, in one binary: it is linked once.

mod cli;
mod golden;
mod gpu;
mod pipeline_golden;
mod tessellator_gpu;
mod tint;
