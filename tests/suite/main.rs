//! The integration tests, in one binary: it is linked once.

mod cli;
mod golden;
mod gpu;
mod model;
mod pipeline_golden;
mod rig;
mod surfaces;
mod tessellator_gpu;
mod tint;
