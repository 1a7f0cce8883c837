//! What Direct3D 12 would say about a wgpu adapter: architecture, heaps, memory budgets, cross-node sharing.
//!
//! [`collect()`] asks an adapter's driver once and is the only part that does; everything else is computed from the
//! [`AdapterFacts`] that it returns, so that an answer about a machine can be had, and tested, without the machine.
//!
//! wgpu reports none of Direct3D 12's architecture fields. Each answer therefore carries where it comes from, and says so
//! where it is assumed: see `docs/adapter.md`.

mod classify;
mod collect;
mod facts;
mod features;
mod heaps;
mod identity;
#[cfg(feature = "cli")]
mod layouts;
pub mod nodes;
mod overrides;
mod report;
mod residency;

pub use classify::classify;
pub use collect::collect;
pub use facts::{
    AdapterFacts, DeviceGroup, DriverId, HeapFlags, MemoryHeap, MemoryLayout, MemoryType, ReportedArchitecture,
    ReportedSegment, TypeFlags,
};
pub use features::{
    Bool, CrossNodeSharingTier, E_INVALIDARG, Feature, FeatureData, FeatureDataArchitecture, FeatureDataArchitecture1,
    FeatureDataCrossNode, FeatureDataOptions, FeatureError, FeatureSupport,
};
pub use heaps::{
    CpuPageProperty, HeapAdvice, HeapError, HeapKinds, HeapProperties, HeapType, MemoryPool, ZeroCopy,
    get_custom_heap_properties, gpu_upload_support, heap_advice,
};
pub use identity::{GpuMatch, Identity, IdentityKey, distinct_gpus, same_gpu};
#[cfg(feature = "cli")]
pub use layouts::{ExpectedArchitecture, LayoutError, RecordedLayout, read_layouts};
pub use overrides::{ArchitectureOverrides, OverrideError};
pub use report::{ArchitectureReport, Certainty, Provenance, Reported};
pub use residency::{BudgetSource, Residency, Segment, residency};
