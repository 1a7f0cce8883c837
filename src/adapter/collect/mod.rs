//! Asking an adapter's driver. The only part of the crate that calls an API below wgpu, and so the only unsafe one.
//!
//! Vulkan is tried. Direct3D 12 and Metal are compiled and have never been run. OpenGL and WebGPU have nothing below
//! `wgpu::AdapterInfo` that would help.

use super::AdapterFacts;

#[cfg(all(feature = "dx12", windows))]
#[allow(unsafe_code, reason = "Direct3D 12's own objects are reached through wgpu's as_hal")]
mod dx12;
#[cfg(all(feature = "metal", target_vendor = "apple"))]
#[allow(unsafe_code, reason = "Metal's own objects are reached through wgpu's as_hal")]
mod metal;
#[cfg(all(feature = "vulkan", any(windows, target_os = "linux", target_os = "android", target_os = "freebsd")))]
#[allow(unsafe_code, reason = "Vulkan's own objects are reached through wgpu's as_hal")]
mod vulkan;

/// Asks the driver of an adapter for all that [`AdapterFacts`] hold.
///
/// A backend that was not compiled in (features `vulkan`, `dx12`, `metal`) or has nothing to add leaves what
/// `wgpu::AdapterInfo` tells. Budgets and usage are those of the moment; the rest does not change while the adapter lives.
pub fn collect(adapter: &wgpu::Adapter) -> AdapterFacts {
    let mut facts = AdapterFacts::from_info(&adapter.get_info());
    facts.mappable_primary_buffers = Some(adapter.features().contains(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS));
    facts.physical_memory = physical_memory();
    match facts.backend {
        #[cfg(all(
            feature = "vulkan",
            any(windows, target_os = "linux", target_os = "android", target_os = "freebsd")
        ))]
        wgpu::Backend::Vulkan => vulkan::add(adapter, &mut facts),
        #[cfg(all(feature = "dx12", windows))]
        wgpu::Backend::Dx12 => dx12::add(adapter, &mut facts),
        #[cfg(all(feature = "metal", target_vendor = "apple"))]
        wgpu::Backend::Metal => metal::add(adapter, &mut facts),
        _ => {}
    }
    facts
}

/// The machine's memory in bytes: `MemTotal` of Linux. Other systems are not asked.
fn physical_memory() -> Option<u64> {
    if !cfg!(any(target_os = "linux", target_os = "android")) {
        return None;
    }
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}
