//! The integration tests, one program: what needs a device, the command line, and the second WGSL compiler.

mod cli;
mod tint;
