//! The integration tests, in one binary: it is linked once.

mod bad_descriptor;
mod bad_draw;
mod capacity;
mod cli;
mod control_points;
mod golden;
mod gpu;
mod input_assembler;
mod limits;
mod model;
mod order;
mod pipeline_golden;
mod private_variables;
mod readme;
mod render;
mod reports;
mod rig;
mod shader_errors;
mod shader_fuzz;
mod surfaces;
mod table_pipeline;
mod teapot;
mod tessellator_gpu;
mod tessellator_properties;
mod tint;
mod tint_kernels;
