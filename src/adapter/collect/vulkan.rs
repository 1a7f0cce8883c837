//! What a Vulkan driver says: memory, budgets, driver, ids, device group.

use crate::adapter::{AdapterFacts, DeviceGroup, DriverId, HeapFlags, MemoryHeap, MemoryLayout, MemoryType, TypeFlags};
use ash::vk;

/// Adds what the driver says. Changes nothing where the adapter is not of the Vulkan backend.
pub(super) fn add(adapter: &wgpu::Adapter, facts: &mut AdapterFacts) {
    // SAFETY: nothing is destroyed; the handles are used only while the guard lives.
    let Some(hal) = (unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }) else { return };
    let shared = hal.shared_instance();
    let instance = shared.raw_instance();
    let device = hal.raw_physical_device();
    let capabilities = hal.physical_device_capabilities();

    // `vkGetPhysicalDeviceProperties2` and its like are functions of Vulkan 1.1, of the instance and of the device; ash
    // has pointers that abort in place of functions that are not there.
    let version = shared.instance_api_version().min(capabilities.properties().api_version);
    if version < vk::API_VERSION_1_1 {
        // SAFETY: the physical device is of this instance, which lives while the guard does.
        let memory = unsafe { instance.get_physical_device_memory_properties(device) };
        facts.memory = Some(layout(&memory, None));
        return;
    }

    // wgpu takes the extension out of its own list on RADV, and what is asked here is of the physical device: no device
    // has to enable it.
    let has_budget = has_extension(instance, device, ash::ext::memory_budget::NAME);
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut memory = vk::PhysicalDeviceMemoryProperties2::default();
    if has_budget {
        memory = memory.push_next(&mut budget);
    }
    // SAFETY: as above; the functions are those of Vulkan 1.1, which both have, and a structure of an extension is
    // chained only where the device has the extension.
    unsafe { instance.get_physical_device_memory_properties2(device, &mut memory) };
    let memory = memory.memory_properties;
    facts.memory = Some(layout(&memory, has_budget.then_some(&budget)));

    let has_driver =
        version >= vk::API_VERSION_1_2 || capabilities.supports_extension(ash::khr::driver_properties::NAME);
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut ids = vk::PhysicalDeviceIDProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut ids);
    if has_driver {
        properties = properties.push_next(&mut driver);
    }
    // SAFETY: as above.
    unsafe { instance.get_physical_device_properties2(device, &mut properties) };
    if has_driver {
        facts.driver_id = u32::try_from(driver.driver_id.as_raw()).ok().filter(|&id| id != 0).map(DriverId);
    }
    facts.identity.uuid = Some(ids.device_uuid);
    if ids.device_luid_valid == vk::TRUE {
        facts.identity.luid = Some(ids.device_luid);
        facts.identity.luid_node_mask = Some(ids.device_node_mask);
    }
    facts.device_group = group(instance, device);
}

/// Whether the driver itself has an extension of the device.
fn has_extension(instance: &ash::Instance, device: vk::PhysicalDevice, name: &std::ffi::CStr) -> bool {
    // SAFETY: the physical device is of this instance, which lives while the guard does.
    let extensions = unsafe { instance.enumerate_device_extension_properties(device) };
    extensions.is_ok_and(|all| all.iter().any(|known| known.extension_name_as_c_str() == Ok(name)))
}

/// The memory of the device in this room's words.
fn layout(
    memory: &vk::PhysicalDeviceMemoryProperties,
    budget: Option<&vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'_>>,
) -> MemoryLayout {
    let heaps = memory.memory_heaps_as_slice().iter().enumerate().map(|(index, heap)| MemoryHeap {
        size: Some(heap.size),
        flags: HeapFlags(heap.flags.as_raw()),
        budget: budget.and_then(|budget| budget.heap_budget.get(index).copied()),
        usage: budget.and_then(|budget| budget.heap_usage.get(index).copied()),
    });
    let types = memory
        .memory_types_as_slice()
        .iter()
        .map(|kind| MemoryType { flags: TypeFlags(kind.property_flags.as_raw()), heap: kind.heap_index });
    MemoryLayout { heaps: heaps.collect(), types: Some(types.collect()) }
}

/// The device group that has this device in it.
fn group(instance: &ash::Instance, device: vk::PhysicalDevice) -> Option<DeviceGroup> {
    // SAFETY: the instance lives, and is of Vulkan 1.1 at least.
    let mut count = u32::try_from(unsafe { instance.enumerate_physical_device_groups_len() }.ok()?).ok()?;
    let mut groups = vec![vk::PhysicalDeviceGroupProperties::default(); usize::try_from(count).ok()?];
    // ash's own wrapper panics where a group has gone since they were counted.
    let enumerate = instance.fp_v1_1().enumerate_physical_device_groups;
    // SAFETY: as above; the pointer is to as many elements as `count` says, and the driver sets it to those it fills.
    unsafe { enumerate(instance.handle(), &mut count, groups.as_mut_ptr()) }.result().ok()?;
    groups.iter().take(usize::try_from(count).ok()?).find_map(|group| {
        let devices = group.physical_devices.get(..usize::try_from(group.physical_device_count).ok()?)?;
        devices.contains(&device).then_some(DeviceGroup {
            devices: group.physical_device_count,
            subset_allocation: Some(group.subset_allocation == vk::TRUE),
        })
    })
}
