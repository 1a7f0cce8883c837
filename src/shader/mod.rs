//! The user's WGSL: parsed and reflected with naga, errors with the user's line, composition of kernels.
//!
//! Reading ([`reflect()`]) stays apart from composing, so that other front ends can meet the same composer.

mod reflection;

pub use reflection::*;
