//! Memory as Direct3D 12 sees it: windows of the CPU into a card's memory, custom heaps, budgets.

use patchwave::adapter::{
    AdapterFacts, ArchitectureOverrides, BudgetSource, Certainty, CpuPageProperty, HeapError, HeapProperties, HeapType,
    MemoryPool, Provenance, ReportedSegment, classify, get_custom_heap_properties, gpu_upload_support, residency,
};
use proptest::prelude::*;

use super::adapter::{MIB, h200, vulkan};

const NVIDIA: u32 = 0x10de;
const AMD: u32 = 0x1002;

/// A card of 24 GiB of which the CPU sees 256 MiB, as a heap of their own that is device-local and host-visible.
fn with_window(device_type: wgpu::DeviceType, vendor: u32) -> AdapterFacts {
    let heaps = [(24_576, 1), (64_000, 0), (256, 1)];
    vulkan(device_type, vendor, &heaps, &[(0, 1), (1, 0), (6, 1), (0xe, 1), (7, 2)])
}

/// Resizable BAR: the same types of one heap.
fn without_window(device_type: wgpu::DeviceType, vendor: u32) -> AdapterFacts {
    vulkan(device_type, vendor, &[(24_576, 1), (64_000, 0)], &[(0, 1), (1, 0), (6, 1), (0xe, 1), (7, 0)])
}

/// Neither a window into the card's memory nor a view of all of it makes it unified, whoever made the card and even where
/// nobody says that it is one.
#[test]
fn memory_that_the_cpu_sees_is_not_unified() {
    for vendor in [NVIDIA, AMD, 0x8086] {
        for (kind, from) in [
            (wgpu::DeviceType::DiscreteGpu, Provenance::DeviceType),
            (wgpu::DeviceType::VirtualGpu, Provenance::MemoryTypes),
            (wgpu::DeviceType::Other, Provenance::MemoryTypes),
        ] {
            for (facts, mapped) in [(with_window(kind, vendor), false), (without_window(kind, vendor), true)] {
                let report = classify(&facts);
                let what = format!("{kind:?} of {vendor:#x}, all mapped: {mapped}");
                assert!(!report.uma.value && !report.cache_coherent_uma.value && !report.uma.conflict, "{what}");
                assert_eq!(report.uma.from, from, "{what}");
                assert_eq!(report.uma.certainty == Certainty::Decided, from == Provenance::DeviceType, "{what}");
                assert_eq!(gpu_upload_support(&facts, &report).value, mapped, "{what}");
                let memory = residency(&facts, &report);
                // NVIDIA's window is a part of the heap beside it, AMD's lies beside it.
                let window = if mapped || vendor == NVIDIA { 0 } else { 256 };
                assert_eq!(memory.local.size, Some((24_576 + window) * MIB), "{what}");
                assert_eq!(memory.non_local.size, Some(64_000 * MIB), "{what}");
            }
        }
    }
}

const PAGES: [CpuPageProperty; 4] = [
    CpuPageProperty::Unknown,
    CpuPageProperty::NotAvailable,
    CpuPageProperty::WriteCombine,
    CpuPageProperty::WriteBack,
];
const POOLS: [MemoryPool; 3] = [MemoryPool::Unknown, MemoryPool::L0, MemoryPool::L1];

fn custom(page: CpuPageProperty, pool: MemoryPool) -> HeapProperties {
    HeapProperties {
        heap_type: HeapType::Custom,
        cpu_page_property: page,
        memory_pool: pool,
        creation_node_mask: 0,
        visible_node_mask: 0,
    }
}

/// Every page property with every pool on every architecture: which are heaps, and of the others why not.
#[test]
fn custom_heaps() {
    use CpuPageProperty::{NotAvailable, Unknown, WriteBack, WriteCombine};
    use MemoryPool::{L0, L1};
    let found = classify(&h200());
    for (uma, upload) in [(false, false), (false, true), (true, false), (true, true)] {
        let report = ArchitectureOverrides::default().with_uma(uma).apply(found).expect("it holds together");
        let mut refused = 0;
        for page in PAGES {
            for pool in POOLS {
                // What is wrong, by the first rule that says so.
                let words = match (page, pool) {
                    (Unknown, _) => Some("a custom heap needs a CPU page property"),
                    (_, MemoryPool::Unknown) => Some("a custom heap needs a memory pool"),
                    (_, L0) => None,
                    (_, L1) if uma => Some("there is no L1 where memory is unified; use L0"),
                    (WriteBack, L1) => Some("the CPU does not cache L1; use WRITE_COMBINE or L0"),
                    (WriteCombine, L1) if !upload => Some("the CPU cannot map all of L1 on this adapter"),
                    (NotAvailable | WriteCombine, L1) => None,
                };
                let answer = custom(page, pool).check(&report, 1, upload);
                match (answer, words) {
                    (Ok(()), None) => {}
                    (Err(error @ HeapError::Properties { .. }), Some(words)) => {
                        let text = error.to_string();
                        assert!(text.starts_with("E_INVALIDARG: Custom with ") && text.contains(words), "{text}");
                        refused += 1;
                    }
                    (answer, words) => panic!("{page:?} {pool:?} uma {uma} upload {upload}: {answer:?}, {words:?}"),
                }
            }
        }
        // Six without page or pool; of L1 three where memory is unified, one of a card, two without GPU_UPLOAD.
        assert_eq!(refused, 6 + if uma { 3 } else { 2 - usize::from(upload) });
        // Pages and pools are for custom heaps alone.
        for heap_type in [HeapType::Default, HeapType::Upload, HeapType::Readback, HeapType::GpuUpload] {
            for page in PAGES {
                for pool in POOLS {
                    let properties = HeapProperties { heap_type, ..custom(page, pool) };
                    let plain = page == Unknown && pool == MemoryPool::Unknown;
                    let right = plain && (heap_type != HeapType::GpuUpload || upload);
                    let answer = properties.check(&report, 1, upload);
                    assert_eq!(answer.is_ok(), right, "{heap_type:?} {page:?} {pool:?}: {answer:?}");
                }
            }
        }
    }
}

#[test]
fn masks_of_heaps() {
    let report = classify(&h200());
    let check = |creation_node_mask, visible_node_mask, nodes| {
        let properties = custom(CpuPageProperty::WriteBack, MemoryPool::L0);
        HeapProperties { creation_node_mask, visible_node_mask, ..properties }.check(&report, nodes, false)
    };
    for (creation, visible, nodes) in [(0, 0, 1), (1, 1, 1), (1, 0, 2), (2, 3, 2), (0, 3, 2), (1 << 31, 1 << 31, 32)] {
        assert_eq!(check(creation, visible, nodes), Ok(()), "{creation:#x} {visible:#x} of {nodes}");
    }
    for (creation, nodes) in [(3, 2), (4, 2), (2, 1), (u32::MAX, 32)] {
        let answer = check(creation, u32::MAX, nodes);
        assert!(
            matches!(answer, Err(HeapError::NodeMask { what: "CreationNodeMask", .. })),
            "{creation:#x}: {answer:?}"
        );
    }
    // Visible 0 stands for 1.
    for (creation, visible, nodes) in [(1, 2, 2), (2, 0, 2), (2, 1, 2), (1, 5, 2), (1, 3, 1)] {
        let answer = check(creation, visible, nodes);
        assert!(matches!(answer, Err(HeapError::VisibleNodeMask { .. })), "{creation:#x} {visible:#x}: {answer:?}");
    }
    for mask in [3, 4] {
        let answer = get_custom_heap_properties(&report, 2, mask, HeapType::Upload);
        assert!(matches!(answer, Err(HeapError::NodeMask { what: "nodeMask", .. })), "{mask:#x}: {answer:?}");
    }
    let answer = get_custom_heap_properties(&report, 1, 0, HeapType::Custom);
    assert_eq!(answer, Err(HeapError::CustomOfCustom));
}

/// The table of Microsoft's documentation, and that each of its heaps can be made: GPU_UPLOAD's only where there is one.
#[test]
fn custom_equivalents() {
    use CpuPageProperty::{NotAvailable, WriteBack, WriteCombine};
    use MemoryPool::{L0, L1};
    let found = classify(&h200());
    for (uma, coherent, rows) in [
        (false, false, [(NotAvailable, L1), (WriteCombine, L0), (WriteBack, L0), (WriteCombine, L1)]),
        (true, false, [(NotAvailable, L0), (WriteCombine, L0), (WriteBack, L0), (WriteCombine, L0)]),
        (true, true, [(NotAvailable, L0), (WriteBack, L0), (WriteBack, L0), (WriteBack, L0)]),
    ] {
        let overrides = ArchitectureOverrides::default().with_uma(uma).with_cache_coherent_uma(coherent);
        let report = overrides.apply(found).expect("it holds together");
        let types = [HeapType::Default, HeapType::Upload, HeapType::Readback, HeapType::GpuUpload];
        for (heap_type, (page, pool)) in types.into_iter().zip(rows) {
            let own = get_custom_heap_properties(&report, 2, 2, heap_type).expect("an answer");
            let expected = HeapProperties { creation_node_mask: 2, visible_node_mask: 2, ..custom(page, pool) };
            assert_eq!(own, expected, "{heap_type:?}, uma {uma}, coherent {coherent}");
            assert_eq!(own.check(&report, 2, true), Ok(()));
            let without = heap_type != HeapType::GpuUpload || uma;
            assert_eq!(own.check(&report, 2, false).is_ok(), without, "{heap_type:?}, uma {uma}");
        }
    }
}

/// Budgets of the driver, of both architectures, and as an override folds them.
#[test]
fn budgets_follow_the_architecture() {
    let mut facts = without_window(wgpu::DeviceType::DiscreteGpu, AMD);
    let memory = facts.memory.as_mut().expect("made with heaps");
    for (heap, [budget, usage]) in memory.heaps.iter_mut().zip([[20_000, 1_000], [50_000, 30]]) {
        (heap.budget, heap.usage) = (Some(budget * MIB), Some(usage * MIB));
    }
    let report = classify(&facts);
    let two = residency(&facts, &report);
    assert_eq!((two.local.budget, two.local.usage), (Some(20_000 * MIB), Some(1_000 * MIB)));
    assert_eq!((two.non_local.budget, two.non_local.usage), (Some(50_000 * MIB), Some(30 * MIB)));
    assert_eq!([two.local.from, two.non_local.from], [BudgetSource::Driver; 2]);
    let unified = ArchitectureOverrides::default().with_uma(true).apply(report).expect("it holds together");
    facts.physical_memory = Some(64_000 * MIB);
    let one = residency(&facts, &unified);
    assert_eq!((one.local.budget, one.local.usage), (Some(64_000 * MIB), Some(1_030 * MIB)), "no more than there is");
    assert_eq!((one.non_local.budget, one.non_local.from), (Some(0), BudgetSource::NoSuchMemory));

    // A budget of one heap alone is none of the group's.
    facts.memory.as_mut().expect("made with heaps").heaps[1].budget = None;
    assert_eq!(residency(&facts, &report).non_local.budget, Some(64_000 * MIB / 10 * 8));
    assert_eq!(residency(&facts, &report).non_local.from, BudgetSource::HeapSizes);
    assert_eq!(residency(&facts, &unified).local.from, BudgetSource::HeapSizes);
    // A heap of unknown size leaves its group unknown, and that group only.
    facts.memory.as_mut().expect("made with heaps").heaps[1].size = None;
    let memory = residency(&facts, &report);
    assert_eq!((memory.non_local.size, memory.non_local.budget), (None, None));
    assert_eq!(memory.non_local.from, BudgetSource::Unknown);
    assert_eq!(memory.local.from, BudgetSource::Driver);

    // As Direct3D 12 and Metal give them.
    let info = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, wgpu::Backend::Dx12);
    let mut facts = AdapterFacts::from_info(&info);
    facts.local_segment = Some(ReportedSegment { budget: 7 * MIB, usage: MIB });
    let report = classify(&facts);
    let memory = residency(&facts, &report);
    assert_eq!((memory.local.budget, memory.local.usage), (Some(7 * MIB), Some(MIB)));
    assert_eq!((memory.non_local.budget, memory.non_local.from), (None, BudgetSource::Unknown));
    facts.non_local_segment = Some(ReportedSegment { budget: 5 * MIB, usage: 0 });
    let memory = residency(&facts, &report);
    assert_eq!((memory.non_local.budget, memory.non_local.usage), (Some(5 * MIB), Some(0)));
    let unified = ArchitectureOverrides::default().with_uma(true).apply(report).expect("it holds together");
    assert_eq!(residency(&facts, &unified).local.budget, Some(12 * MIB));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A 0 is said where there is no such memory, and nowhere else; with unified memory there is one group, and no more in it
    /// than the machine has.
    #[test]
    fn zero_is_a_statement(
        kind in 0usize..5, vendor in prop::sample::select(vec![NVIDIA, AMD, 0]),
        heaps in prop::collection::vec((1u64..9_000, 0u32..2), 0..4), sizes in any::<[bool; 4]>(),
        budgets in any::<[bool; 4]>(), types in prop::collection::vec((0u32..0x100, 0u32..4), 0..12),
        physical in prop::option::of(1u64..9_000), known in any::<bool>(),
    ) {
        let kinds = [wgpu::DeviceType::Other, wgpu::DeviceType::IntegratedGpu, wgpu::DeviceType::DiscreteGpu,
            wgpu::DeviceType::VirtualGpu, wgpu::DeviceType::Cpu];
        let mut facts = vulkan(kinds[kind], vendor, &heaps, &types);
        let memory = facts.memory.as_mut().expect("made with heaps");
        for (i, heap) in memory.heaps.iter_mut().enumerate() {
            heap.budget = heap.size.filter(|_| budgets[i]);
            heap.size = heap.size.filter(|_| sizes[i]);
        }
        facts.physical_memory = physical.map(|mib| mib * MIB);
        facts.memory = facts.memory.filter(|_| known);
        let report = classify(&facts);
        let memory = residency(&facts, &report);
        for segment in [memory.local, memory.non_local] {
            let none = segment.from == BudgetSource::NoSuchMemory;
            prop_assert_eq!(segment.budget == Some(0), none, "{:?}", segment);
            prop_assert_eq!(segment.size == Some(0), none, "{:?}", segment);
            prop_assert_eq!(segment.budget.is_none(), segment.from == BudgetSource::Unknown, "{:?}", segment);
        }
        if report.uma.value {
            prop_assert_eq!(memory.non_local.from, BudgetSource::NoSuchMemory);
            if let (Some(most), Some(budget)) = (facts.physical_memory, memory.local.budget) {
                prop_assert!(budget <= most);
            }
        }
    }
}
