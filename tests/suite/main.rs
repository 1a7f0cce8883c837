//! The integration tests, in one binary: it is linked once.

mod golden;
mod tessellator_gpu;
mod tessellator_properties;
