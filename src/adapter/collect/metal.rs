//! What a Metal driver says: GPU family, unified memory, working set, registry id. Compiled, never run.

use crate::adapter::{AdapterFacts, ReportedSegment};
use objc2_metal::{MTLDevice, MTLGPUFamily};

/// Adds what the driver says. Changes nothing where the adapter is not of the Metal backend.
pub(super) fn add(adapter: &wgpu::Adapter, facts: &mut AdapterFacts) {
    // SAFETY: nothing is destroyed; the device is used only while the guard lives.
    let Some(hal) = (unsafe { adapter.as_hal::<wgpu::hal::api::Metal>() }) else { return };
    let device = hal.raw_device();
    facts.reported.tile_based_renderer = Some(device.supportsFamily(MTLGPUFamily::Apple1));
    facts.reported.uma = Some(device.hasUnifiedMemory());
    facts.identity.metal_registry_id = Some(device.registryID());
    facts.local_segment = Some(ReportedSegment {
        budget: device.recommendedMaxWorkingSetSize(),
        usage: u64::try_from(device.currentAllocatedSize()).unwrap_or(u64::MAX),
    });
}
