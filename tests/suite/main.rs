//! The integration tests, in one binary: it is linked once.

mod cli;
mod golden;
mod gpu;
mod pipeline_golden;
mod render;
mod shader_errors;
mod shader_fuzz;
mod teapot;
mod tessellator_gpu;
mod tessellator_properties;
mod tint;
