//! What is known about an adapter before anything is concluded from it.

use super::Identity;
use std::fmt;

/// Everything that the answers of this room are computed from. Plain data: it can be made by hand, from a recorded
/// layout, or by [`collect()`](super::collect()).
///
/// A fact that nobody reported is `None`, never a zero.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdapterFacts {
    /// The adapter's name, as its driver writes it.
    pub name: String,
    /// The API that wgpu drives it through. One GPU has an adapter for each.
    pub backend: wgpu::Backend,
    /// What kind of device it is. Vulkan's and Direct3D 12's drivers say so; on OpenGL wgpu guesses from the name.
    pub device_type: wgpu::DeviceType,
    /// PCI or Khronos id of the vendor; 0 where the backend has none (Metal, WebGPU).
    pub vendor: u32,
    /// PCI id of the device; 0 where the backend has none.
    pub device: u32,
    /// The driver's name in words; may be empty.
    pub driver: String,
    /// The driver's version in words; may be empty.
    pub driver_info: String,
    /// Vulkan's id of the driver.
    pub driver_id: Option<DriverId>,
    /// Vulkan's memory heaps and types.
    pub memory: Option<MemoryLayout>,
    /// Whether attachments that are never stored cost no memory: wgpu's `transient_saves_memory`.
    pub transient_saves_memory: Option<bool>,
    /// Fields of the architecture that the driver itself answers: Direct3D 12 and Metal.
    pub reported: ReportedArchitecture,
    /// The memory segment group LOCAL as the driver budgets it: Direct3D 12 and Metal. Vulkan's budgets are in the heaps.
    pub local_segment: Option<ReportedSegment>,
    /// The memory segment group NON_LOCAL as the driver budgets it: Direct3D 12.
    pub non_local_segment: Option<ReportedSegment>,
    /// The group of linked devices that the driver counts this one to: Vulkan's device group, or Direct3D 12's nodes of
    /// one adapter. wgpu drives one device of it, whatever its size.
    pub device_group: Option<DeviceGroup>,
    /// Whether buffers that shaders use can be mapped: `wgpu::Features::MAPPABLE_PRIMARY_BUFFERS`.
    pub mappable_primary_buffers: Option<bool>,
    /// Memory of the machine in bytes, where the operating system tells.
    pub physical_memory: Option<u64>,
    /// What tells this GPU from others.
    pub identity: Identity,
}

impl AdapterFacts {
    /// What `wgpu::AdapterInfo` alone tells, as on OpenGL and WebGPU. Everything else is unknown.
    pub fn from_info(info: &wgpu::AdapterInfo) -> Self {
        Self {
            name: info.name.clone(),
            backend: info.backend,
            device_type: info.device_type,
            vendor: info.vendor,
            device: info.device,
            driver: info.driver.clone(),
            driver_info: info.driver_info.clone(),
            driver_id: None,
            memory: None,
            transient_saves_memory: info.transient_saves_memory,
            reported: ReportedArchitecture::default(),
            local_segment: None,
            non_local_segment: None,
            device_group: None,
            mappable_primary_buffers: None,
            physical_memory: None,
            identity: Identity::from_info(info),
        }
    }
}

/// Vulkan's `VkDriverId`: which driver it is, whatever the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DriverId(pub u32);

/// The drivers that Vulkan's registry lists, by their number there and their name without `VK_DRIVER_ID_`.
const DRIVERS: [(DriverId, &str); 28] = [
    (DriverId(1), "AMD_PROPRIETARY"),
    (DriverId(2), "AMD_OPEN_SOURCE"),
    (DriverId(3), "MESA_RADV"),
    (DriverId(4), "NVIDIA_PROPRIETARY"),
    (DriverId(5), "INTEL_PROPRIETARY_WINDOWS"),
    (DriverId(6), "INTEL_OPEN_SOURCE_MESA"),
    (DriverId(7), "IMAGINATION_PROPRIETARY"),
    (DriverId(8), "QUALCOMM_PROPRIETARY"),
    (DriverId(9), "ARM_PROPRIETARY"),
    (DriverId(10), "GOOGLE_SWIFTSHADER"),
    (DriverId(11), "GGP_PROPRIETARY"),
    (DriverId(12), "BROADCOM_PROPRIETARY"),
    (DriverId(13), "MESA_LLVMPIPE"),
    (DriverId(14), "MOLTENVK"),
    (DriverId(15), "COREAVI_PROPRIETARY"),
    (DriverId(16), "JUICE_PROPRIETARY"),
    (DriverId(17), "VERISILICON_PROPRIETARY"),
    (DriverId(18), "MESA_TURNIP"),
    (DriverId(19), "MESA_V3DV"),
    (DriverId(20), "MESA_PANVK"),
    (DriverId(21), "SAMSUNG_PROPRIETARY"),
    (DriverId(22), "MESA_VENUS"),
    (DriverId(23), "MESA_DOZEN"),
    (DriverId(24), "MESA_NVK"),
    (DriverId(25), "IMAGINATION_OPEN_SOURCE_MESA"),
    (DriverId(26), "MESA_HONEYKRISP"),
    (DriverId(27), "VULKAN_SC_EMULATION_ON_VULKAN"),
    (DriverId(28), "MESA_KOSMICKRISP"),
];

impl DriverId {
    /// Imagination's own driver.
    pub const IMAGINATION_PROPRIETARY: Self = Self(7);
    /// Qualcomm's own driver.
    pub const QUALCOMM_PROPRIETARY: Self = Self(8);
    /// Arm's own driver.
    pub const ARM_PROPRIETARY: Self = Self(9);
    /// Broadcom's own driver.
    pub const BROADCOM_PROPRIETARY: Self = Self(12);
    /// Mesa's Turnip, for Qualcomm's GPUs.
    pub const MESA_TURNIP: Self = Self(18);
    /// Mesa's V3DV, for Broadcom's GPUs.
    pub const MESA_V3DV: Self = Self(19);
    /// Mesa's PanVK, for Arm's GPUs.
    pub const MESA_PANVK: Self = Self(20);
    /// Mesa's Venus, which hands Vulkan on to the host of a virtual machine.
    pub const MESA_VENUS: Self = Self(22);
    /// Mesa's Dozen (dzn), Vulkan on Direct3D 12.
    pub const MESA_DOZEN: Self = Self(23);
    /// Mesa's driver for Imagination's GPUs.
    pub const IMAGINATION_OPEN_SOURCE_MESA: Self = Self(25);
    /// Mesa's Honeykrisp, for Apple's GPUs under Linux.
    pub const MESA_HONEYKRISP: Self = Self(26);
    /// NVIDIA's own driver.
    pub const NVIDIA_PROPRIETARY: Self = Self(4);

    /// The driver of a name like `MESA_RADV`, which is that of Vulkan's registry without `VK_DRIVER_ID_`.
    pub fn from_name(name: &str) -> Option<Self> {
        DRIVERS.iter().find(|(_, known)| *known == name).map(|&(id, _)| id)
    }

    /// The name of the driver, as [`from_name`](Self::from_name) takes it; `None` for a number that was given out later.
    pub fn name(self) -> Option<&'static str> {
        DRIVERS.iter().find(|(id, _)| *id == self).map(|&(_, name)| name)
    }
}

impl fmt::Display for DriverId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "VkDriverId {}", self.0),
        }
    }
}

/// The memory of a Vulkan device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryLayout {
    /// The heaps, in the driver's order.
    pub heaps: Vec<MemoryHeap>,
    /// The types, in the driver's order; `None` where only the heaps were recorded.
    pub types: Option<Vec<MemoryType>>,
}

/// One heap: an amount of memory in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryHeap {
    /// Bytes in all; `None` where only the structure was recorded.
    pub size: Option<u64>,
    /// Vulkan's flags of it.
    pub flags: HeapFlags,
    /// Bytes that this process may use, by `VK_EXT_memory_budget`.
    pub budget: Option<u64>,
    /// Bytes that this process uses, by `VK_EXT_memory_budget`.
    pub usage: Option<u64>,
}

/// One memory type: a way to use a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryType {
    /// Vulkan's flags of it.
    pub flags: TypeFlags,
    /// The heap it takes memory of, as an index into [`MemoryLayout::heaps`].
    pub heap: u32,
}

/// Vulkan's `VkMemoryHeapFlags`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapFlags(pub u32);

impl HeapFlags {
    /// Memory beside the GPU.
    pub const DEVICE_LOCAL: Self = Self(1);
    /// One such memory in each device of a group.
    pub const MULTI_INSTANCE: Self = Self(2);

    /// Whether all of these flags are set.
    pub fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

/// Vulkan's `VkMemoryPropertyFlags`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeFlags(pub u32);

impl TypeFlags {
    /// Fastest for the GPU.
    pub const DEVICE_LOCAL: Self = Self(0x1);
    /// The CPU can map it.
    pub const HOST_VISIBLE: Self = Self(0x2);
    /// Needs no flushes to be seen on the other side.
    pub const HOST_COHERENT: Self = Self(0x4);
    /// The CPU caches it.
    pub const HOST_CACHED: Self = Self(0x8);
    /// Memory of transient attachments, which a tiler never takes.
    pub const LAZILY_ALLOCATED: Self = Self(0x10);
    /// For protected content only.
    pub const PROTECTED: Self = Self(0x20);
    /// AMD's debugging aid: coherent for the device.
    pub const AMD_DEVICE_COHERENT: Self = Self(0x40);
    /// AMD's debugging aid: not cached by the device.
    pub const AMD_DEVICE_UNCACHED: Self = Self(0x80);

    /// Whether all of these flags are set.
    pub fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Whether any of these flags is set.
    pub fn intersects(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }
}

impl std::ops::BitOr for TypeFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Architecture fields that a driver answers itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedArchitecture {
    /// Direct3D 12's `TileBasedRenderer`; on Metal, membership of the family Apple1.
    pub tile_based_renderer: Option<bool>,
    /// Direct3D 12's `UMA`; on Metal, `hasUnifiedMemory`.
    pub uma: Option<bool>,
    /// Direct3D 12's `CacheCoherentUMA`.
    pub cache_coherent_uma: Option<bool>,
    /// Direct3D 12's `IsolatedMMU`, of `ARCHITECTURE1`.
    pub isolated_mmu: Option<bool>,
}

/// A memory segment group as a driver budgets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedSegment {
    /// Bytes that this process may use.
    pub budget: u64,
    /// Bytes that this process uses.
    pub usage: u64,
}

/// A group of linked devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceGroup {
    /// How many devices there are in it, 1 for a device alone.
    pub devices: u32,
    /// Whether memory can be allocated on some of them only; of Vulkan.
    pub subset_allocation: Option<bool>,
}
