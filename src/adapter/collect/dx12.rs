//! What a Direct3D 12 driver says: architecture, budgets, LUID, linked nodes. Compiled, never run.

use crate::adapter::{AdapterFacts, DeviceGroup, ReportedArchitecture, ReportedSegment};
use windows::Win32::Graphics::Direct3D::D3D_FEATURE_LEVEL_11_0;
use windows::Win32::Graphics::Direct3D12::{
    D3D12_FEATURE, D3D12_FEATURE_ARCHITECTURE, D3D12_FEATURE_ARCHITECTURE1, D3D12_FEATURE_DATA_ARCHITECTURE,
    D3D12_FEATURE_DATA_ARCHITECTURE1, D3D12CreateDevice, ID3D12Device,
};
use windows::Win32::Graphics::Dxgi::{
    DXGI_MEMORY_SEGMENT_GROUP, DXGI_MEMORY_SEGMENT_GROUP_LOCAL, DXGI_MEMORY_SEGMENT_GROUP_NON_LOCAL,
    DXGI_QUERY_VIDEO_MEMORY_INFO, IDXGIAdapter3,
};

/// Adds what the driver says of node 0, the only one that wgpu reaches. Changes nothing where the adapter is not of the
/// Direct3D 12 backend.
pub(super) fn add(adapter: &wgpu::Adapter, facts: &mut AdapterFacts) {
    // SAFETY: nothing is destroyed; the interfaces are used only while the guard lives.
    let Some(hal) = (unsafe { adapter.as_hal::<wgpu::hal::api::Dx12>() }) else { return };
    let dxgi = hal.as_raw();

    // SAFETY: the interface is alive.
    if let Ok(description) = unsafe { dxgi.GetDesc1() } {
        let mut luid = [0; 8];
        luid[..4].copy_from_slice(&description.AdapterLuid.LowPart.to_le_bytes());
        luid[4..].copy_from_slice(&description.AdapterLuid.HighPart.to_le_bytes());
        facts.identity.luid = Some(luid);
        facts.identity.luid_node_mask = Some(1);
    }
    facts.local_segment = segment(dxgi, DXGI_MEMORY_SEGMENT_GROUP_LOCAL);
    facts.non_local_segment = segment(dxgi, DXGI_MEMORY_SEGMENT_GROUP_NON_LOCAL);

    // wgpu keeps its device to itself until one is requested. Direct3D 12 has one device an adapter, so this is that one.
    let mut device: Option<ID3D12Device> = None;
    // SAFETY: the adapter is alive, and the result is written to a place of the type that the function's generic names.
    let created = unsafe { D3D12CreateDevice(dxgi, D3D_FEATURE_LEVEL_11_0, &mut device) };
    let (Ok(()), Some(device)) = (created, device) else { return };
    // SAFETY: the device is alive.
    let devices = unsafe { device.GetNodeCount() };
    facts.device_group = Some(DeviceGroup { devices, subset_allocation: None });
    facts.reported = architecture(&device);
}

/// `ARCHITECTURE1`, or what `ARCHITECTURE` has of it where the runtime is older.
fn architecture(device: &ID3D12Device) -> ReportedArchitecture {
    let mut data = D3D12_FEATURE_DATA_ARCHITECTURE1::default();
    if ask(device, D3D12_FEATURE_ARCHITECTURE1, &mut data) {
        return ReportedArchitecture {
            tile_based_renderer: Some(data.TileBasedRenderer.as_bool()),
            uma: Some(data.UMA.as_bool()),
            cache_coherent_uma: Some(data.CacheCoherentUMA.as_bool()),
            isolated_mmu: Some(data.IsolatedMMU.as_bool()),
        };
    }
    let mut data = D3D12_FEATURE_DATA_ARCHITECTURE::default();
    if ask(device, D3D12_FEATURE_ARCHITECTURE, &mut data) {
        return ReportedArchitecture {
            tile_based_renderer: Some(data.TileBasedRenderer.as_bool()),
            uma: Some(data.UMA.as_bool()),
            cache_coherent_uma: Some(data.CacheCoherentUMA.as_bool()),
            isolated_mmu: None,
        };
    }
    ReportedArchitecture::default()
}

/// Whether the driver answers a feature.
fn ask<T>(device: &ID3D12Device, feature: D3D12_FEATURE, data: &mut T) -> bool {
    let size = size_of::<T>() as u32;
    // SAFETY: the device is alive; the callers pair each feature with its structure, which `data` is exactly one of.
    unsafe { device.CheckFeatureSupport(feature, std::ptr::from_mut(data).cast(), size) }.is_ok()
}

/// Budget and usage of a memory segment group.
fn segment(dxgi: &IDXGIAdapter3, group: DXGI_MEMORY_SEGMENT_GROUP) -> Option<ReportedSegment> {
    let mut info = DXGI_QUERY_VIDEO_MEMORY_INFO::default();
    // SAFETY: the interface is alive, and the structure is the one that the method fills.
    unsafe { dxgi.QueryVideoMemoryInfo(0, group, &mut info) }.ok()?;
    Some(ReportedSegment { budget: info.Budget, usage: info.CurrentUsage })
}
