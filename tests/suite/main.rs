//! The test suite: one program, so that it is linked once.

mod shader_errors;
mod shader_fuzz;
