//! From facts to the architecture's four fields. Pure: `docs/adapter.md` restates the rules with their reasons.

use super::report::{ArchitectureReport, Provenance, Reported};
use super::{AdapterFacts, DriverId, HeapFlags, MemoryLayout, TypeFlags};
use wgpu::{Backend, DeviceType};

/// What Direct3D 12 would say about this adapter.
///
/// Decides from the facts alone. [`ArchitectureOverrides`](super::ArchitectureOverrides) correct the result where the
/// user knows better.
pub fn classify(facts: &AdapterFacts) -> ArchitectureReport {
    let uma = uma(facts);
    ArchitectureReport {
        tile_based_renderer: tile_based_renderer(facts),
        uma,
        cache_coherent_uma: cache_coherent_uma(facts, uma),
        isolated_mmu: isolated_mmu(facts),
    }
}

/// Types that an application would not use in the ordinary course: nothing is concluded from them.
const UNUSED: TypeFlags = TypeFlags(
    TypeFlags::LAZILY_ALLOCATED.0
        | TypeFlags::PROTECTED.0
        | TypeFlags::AMD_DEVICE_COHERENT.0
        | TypeFlags::AMD_DEVICE_UNCACHED.0,
);

/// The heaps that a type for ordinary use takes memory of, by index; all heaps where no types were recorded.
pub(super) fn used_heaps(memory: &MemoryLayout) -> Vec<usize> {
    let used = |heap: usize| match &memory.types {
        None => true,
        Some(types) => {
            types.iter().any(|kind| !kind.flags.intersects(UNUSED) && usize::try_from(kind.heap) == Ok(heap))
        }
    };
    (0..memory.heaps.len()).filter(|&heap| used(heap)).collect()
}

/// Whether all heaps in use are device local; `None` where there is none.
///
/// The heap's flag counts and not the type's: some drivers leave the type's out where all memory is the device's.
fn all_device_local(facts: &AdapterFacts) -> Option<bool> {
    let memory = facts.memory.as_ref()?;
    let used = used_heaps(memory);
    let local = |&heap: &usize| memory.heaps[heap].flags.contains(HeapFlags::DEVICE_LOCAL);
    (!used.is_empty()).then(|| used.iter().all(local))
}

/// Whether wgpu guessed the device type from the renderer's name.
fn is_guessed(facts: &AdapterFacts) -> bool {
    facts.backend == Backend::Gl
}

fn uma(facts: &AdapterFacts) -> Reported<bool> {
    let heaps = all_device_local(facts);
    if let Some(uma) = facts.reported.uma {
        return Reported::new(uma, Provenance::DriverReported, "the driver says so")
            .conflict_if(heaps.is_some_and(|local| local != uma));
    }
    if facts.backend == Backend::BrowserWebGpu {
        return Reported::undecided(false, "a browser does not say; taken as no, since that costs a copy at most");
    }
    let by_type = |uma, why| {
        Reported::new(uma, Provenance::DeviceType, why)
            .conflict_if(heaps.is_some_and(|local| local != uma))
            .weak_if(is_guessed(facts))
    };
    match facts.device_type {
        DeviceType::Cpu => by_type(true, "a CPU's memory is the CPU's"),
        DeviceType::IntegratedGpu => by_type(true, "an integrated GPU works in the machine's memory"),
        DeviceType::DiscreteGpu => by_type(false, "a discrete GPU has memory of its own, visible to the CPU or not"),
        DeviceType::VirtualGpu | DeviceType::Other => match heaps {
            Some(uma) => Reported::new(
                uma,
                Provenance::MemoryTypes,
                "the device type hides the hardware; unified if all heaps in use are device local",
            )
            .weak_if(true),
            None => Reported::undecided(false, "neither device type nor heaps are known; taken as no"),
        },
    }
}

/// Drivers that rewrite the cached flag of memory types.
const HIDES_CACHES: [DriverId; 2] = [DriverId::MESA_DOZEN, DriverId::MESA_VENUS];

fn cache_coherent_uma(facts: &AdapterFacts, uma: Reported<bool>) -> Reported<bool> {
    use super::report::Certainty;
    if !uma.value {
        let follows = Reported::new(false, uma.from, "follows from UMA being no");
        let says_otherwise = facts.reported.cache_coherent_uma == Some(true);
        return Reported { certainty: uma.certainty, ..follows }.conflict_if(says_otherwise);
    }
    if let Some(coherent) = facts.reported.cache_coherent_uma {
        return Reported::new(coherent, Provenance::DriverReported, "the driver says so");
    }
    if facts.backend == Backend::Metal && facts.reported.uma.is_some() {
        return Reported::new(
            true,
            Provenance::DriverReported,
            "inferred from unified memory: Metal's shared storage is cached by the CPU and coherent",
        )
        .weak_if(true);
    }
    if facts.driver_id.is_some_and(|driver| HIDES_CACHES.contains(&driver)) {
        return Reported::undecided(
            false,
            "the driver rewrites the cached flag of memory types, so they cannot tell; taken as no",
        );
    }
    let Some((memory, types)) = facts.memory.as_ref().and_then(|memory| Some((memory, memory.types.as_ref()?))) else {
        return Reported::undecided(false, "the memory types are not known; taken as no");
    };
    const CACHED: TypeFlags =
        TypeFlags(TypeFlags::HOST_VISIBLE.0 | TypeFlags::HOST_COHERENT.0 | TypeFlags::HOST_CACHED.0);
    let in_device_heap = |heap: u32| {
        usize::try_from(heap)
            .ok()
            .and_then(|heap| memory.heaps.get(heap))
            .is_some_and(|heap| heap.flags.contains(HeapFlags::DEVICE_LOCAL))
    };
    let usable = || types.iter().filter(|kind| !kind.flags.intersects(UNUSED));
    if usable().next().is_none() {
        return Reported::undecided(false, "no memory type for ordinary use is known; taken as no");
    }
    let coherent = usable().any(|kind| kind.flags.contains(CACHED) && in_device_heap(kind.heap));
    let weak = uma.certainty != Certainty::Decided;
    // A type that lacks the flag of its heap speaks against it: which of the two is wrong cannot be told.
    let by_type = usable().any(|kind| kind.flags.contains(CACHED | TypeFlags::DEVICE_LOCAL));
    let why = if coherent {
        "a heap of the device has memory that the CPU caches and that is coherent"
    } else {
        "no heap of the device has memory that the CPU caches and that is coherent"
    };
    Reported::new(coherent, Provenance::MemoryTypes, why).conflict_if(by_type != coherent).weak_if(weak)
}

/// Drivers of tilers, whatever vendor they report.
const TILER_DRIVERS: [DriverId; 9] = [
    DriverId::MESA_TURNIP,
    DriverId::QUALCOMM_PROPRIETARY,
    DriverId::MESA_HONEYKRISP,
    DriverId::MESA_PANVK,
    DriverId::ARM_PROPRIETARY,
    DriverId::MESA_V3DV,
    DriverId::BROADCOM_PROPRIETARY,
    DriverId::IMAGINATION_OPEN_SOURCE_MESA,
    DriverId::IMAGINATION_PROPRIETARY,
];

/// Vendors of tilers: Arm, Imagination, Qualcomm (two ids), Apple, Broadcom.
const TILER_VENDORS: [u32; 6] = [0x13B5, 0x1010, 0x5143, 0x4D4F_4351, 0x106B, 0x14E4];

/// Vendors of GPUs that are no tilers in Direct3D's sense: NVIDIA, AMD, Intel, Microsoft, Samsung.
const IMMEDIATE_VENDORS: [u32; 5] = [0x10DE, 0x1002, 0x8086, 0x1414, 0x144D];

/// What the names of tilers have in them on OpenGL, where the vendor's id may be missing.
const TILER_NAMES: [&str; 8] = ["adreno", "freedreno", "turnip", "mali", "powervr", "apple m", "v3d", "videocore"];

fn tile_based_renderer(facts: &AdapterFacts) -> Reported<bool> {
    if let Some(tiler) = facts.reported.tile_based_renderer {
        return Reported::new(tiler, Provenance::DriverReported, "the driver says so");
    }
    let lazy = has_lazy_memory(facts);
    if facts.driver_id.is_some_and(|driver| TILER_DRIVERS.contains(&driver)) {
        return Reported::new(true, Provenance::DriverTable, "the driver is one for tilers");
    }
    if facts.device_type == DeviceType::Cpu {
        return Reported::new(false, Provenance::DeviceType, "a CPU is not counted as a tiler, as WARP is not")
            .conflict_if(lazy == Some(true))
            .weak_if(is_guessed(facts));
    }
    if TILER_VENDORS.contains(&facts.vendor) {
        return Reported::new(true, Provenance::VendorTable, "all GPUs of the vendor are tilers");
    }
    if IMMEDIATE_VENDORS.contains(&facts.vendor) {
        return Reported::new(false, Provenance::VendorTable, "no GPU of the vendor counts as a tiler")
            .conflict_if(lazy == Some(true));
    }
    if facts.backend == Backend::Gl {
        let name = facts.name.to_lowercase();
        if TILER_NAMES.iter().any(|part| name.contains(part)) {
            return Reported::new(true, Provenance::VendorTable, "the renderer's name is that of a tiler")
                .weak_if(true);
        }
    }
    if lazy == Some(true) {
        return Reported::new(true, Provenance::MemoryTypes, "there is memory for attachments that are never stored")
            .weak_if(true);
    }
    Reported::undecided(false, "neither driver nor vendor is in the tables; taken as no")
}

/// Whether there is lazily allocated memory, which only tilers have; not all of them do.
fn has_lazy_memory(facts: &AdapterFacts) -> Option<bool> {
    let types = facts.memory.as_ref().and_then(|memory| memory.types.as_ref());
    match types {
        Some(types) => Some(types.iter().any(|kind| kind.flags.intersects(TypeFlags::LAZILY_ALLOCATED))),
        None => facts.transient_saves_memory,
    }
}

fn isolated_mmu(facts: &AdapterFacts) -> Reported<bool> {
    if let Some(isolated) = facts.reported.isolated_mmu {
        return Reported::new(isolated, Provenance::DriverReported, "the driver says so");
    }
    if facts.device_type == DeviceType::Cpu {
        return Reported::new(false, Provenance::DeviceType, "a CPU's accesses go through the CPU's page tables")
            .weak_if(is_guessed(facts));
    }
    Reported::new(true, Provenance::Assumed, "every GPU that was seen to answer says so")
}
