//! What Direct3D 12 would say about a wgpu adapter: architecture, heaps, memory budgets, cross-node sharing.
//!
//! [`collect()`] asks an adapter's driver once and is the only part that does; everything else is computed from the
//! [`AdapterFacts`] that it returns, so that an answer about a machine can be had, and tested, without the machine.
//!
//! wgpu reports none of Direct3D 12's architecture fields. Each answer therefore carries where it comes from, and says so
//! where it is assumed: see `docs/adapter.md`.

mod collect;
mod facts;
mod identity;
pub mod nodes;

pub use collect::collect;
pub use facts::{
    AdapterFacts, DeviceGroup, DriverId, HeapFlags, MemoryHeap, MemoryLayout, MemoryType, ReportedArchitecture,
    ReportedSegment, TypeFlags,
};
pub use identity::{GpuMatch, Identity, IdentityKey, distinct_gpus, same_gpu};
