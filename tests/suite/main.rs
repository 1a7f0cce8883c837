//! The integration tests, in one binary: it is linked once.

mod cli;
mod control_points;
mod golden;
mod gpu;
mod input_assembler;
mod model;
mod pipeline_golden;
mod private_variables;
mod rig;
mod surfaces;
mod tessellator_gpu;
mod tint;
