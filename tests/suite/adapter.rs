//! What Direct3D 12 would say of adapters: recorded ones, made-up ones and those of this machine.

use patchwave::adapter::{
    AdapterFacts, ArchitectureOverrides, ArchitectureReport, BudgetSource, Certainty, CrossNodeSharingTier, DriverId,
    E_INVALIDARG, Feature, FeatureDataArchitecture1, FeatureError, FeatureSupport, GpuMatch, HeapFlags, HeapType,
    MemoryHeap, MemoryLayout, MemoryPool, MemoryType, Provenance, TypeFlags, classify, collect, distinct_gpus,
    get_custom_heap_properties, gpu_upload_support, read_layouts, residency, same_gpu,
};
use proptest::prelude::*;
use serde_json::Value;

use super::cli::{error_of, run};

pub(crate) const LAYOUTS: &str = include_str!("../../assets/adapters/layouts.json");
pub(crate) const MIB: u64 = 1 << 20;

/// Facts with Vulkan's heaps (MiB, flags) and types (flags, heap).
pub(crate) fn vulkan(
    device_type: wgpu::DeviceType,
    vendor: u32,
    heaps: &[(u64, u32)],
    types: &[(u32, u32)],
) -> AdapterFacts {
    let info = wgpu::AdapterInfo { vendor, ..wgpu::AdapterInfo::new(device_type, wgpu::Backend::Vulkan) };
    let mut facts = AdapterFacts::from_info(&info);
    facts.memory = Some(MemoryLayout {
        heaps: heaps
            .iter()
            .map(|&(size, flags)| MemoryHeap {
                size: Some(size * MIB),
                flags: HeapFlags(flags),
                budget: None,
                usage: None,
            })
            .collect(),
        types: Some(types.iter().map(|&(flags, heap)| MemoryType { flags: TypeFlags(flags), heap }).collect()),
    });
    facts
}

pub(crate) fn h200() -> AdapterFacts {
    let types = [(0, 1), (1, 0), (6, 1), (0xe, 1), (7, 0)];
    let mut facts = vulkan(wgpu::DeviceType::DiscreteGpu, 0x10de, &[(143_771, 1), (515_000, 0)], &types);
    facts.driver_id = DriverId::from_name("NVIDIA_PROPRIETARY");
    facts
}

/// Each field is as recorded, or is said to be undecided where the driver is known to hide it.
#[test]
fn recorded_layouts() {
    let layouts = read_layouts(LAYOUTS).expect("the recorded layouts");
    let (mut checked, mut undecided) = (0, Vec::new());
    for layout in &layouts {
        let report = classify(&layout.facts);
        let expected = layout.expected;
        let expected = [expected.tile_based_renderer, expected.uma, expected.cache_coherent_uma, expected.isolated_mmu];
        for ((name, found), expected) in report.fields().into_iter().zip(expected) {
            assert!(!found.why.is_empty(), "{}: {name} has no reason", layout.id);
            if found.certainty == Certainty::Undecided {
                assert_eq!(found.from, Provenance::Assumed, "{}: {name}", layout.id);
                undecided.push(format!("{} {name}", layout.id));
            } else if let Some(expected) = expected {
                assert_eq!(found.value, expected, "{}: {name} ({}: {})", layout.id, found.from, found.why);
                checked += 1;
            }
        }
        assert!(!report.cache_coherent_uma.value || report.uma.value, "{}: CC without UMA", layout.id);
    }
    assert!(layouts.len() > 30 && checked > 100, "{} layouts, {checked} fields", layouts.len());
    // dzn rewrites the bit that would decide cache coherence, and Direct3D 12's own answers have no memory types beside
    // them; nothing else may become undecided.
    let hidden = [
        "amd_win_strix_halo",
        "adreno_phone",
        "warp_dzn",
        "dzn_uma_noncc",
        "d3d12_warp",
        "d3d12_vega8",
        "d3d12_hd530",
        "d3d12_xbox_series_s",
    ];
    assert_eq!(undecided, hidden.map(|id| format!("{id} cache_coherent_uma")));
    eprintln!("{} layouts, {checked} fields as recorded, undecided: {undecided:?}", layouts.len());
}

/// A type that is device-local and host-visible over all of its memory does not make an H200 unified.
#[test]
fn an_h200() {
    let facts = h200();
    let report = classify(&facts);
    assert!(!report.uma.value && !report.cache_coherent_uma.value && !report.tile_based_renderer.value);
    assert!(report.isolated_mmu.value);
    assert_eq!(report.uma.from, Provenance::DeviceType);
    assert!(gpu_upload_support(&facts, &report).value, "all of it can be mapped");
    let memory = residency(&facts, &report);
    assert_eq!(memory.local.size, Some(143_771 * MIB));
    assert_eq!(memory.non_local.size, Some(515_000 * MIB));
    assert_eq!(memory.local.from, BudgetSource::HeapSizes);
    let own = get_custom_heap_properties(&report, 1, 0, HeapType::GpuUpload).expect("an answer");
    assert_eq!(own.memory_pool, MemoryPool::L1);
}

/// The same eleven kinds of memory on a card and on an APU: only what kind of device it is tells them apart.
#[test]
fn an_apu_is_unified_and_its_memory_is_one_group() {
    let types = [(1, 0), (1, 0), (6, 1), (7, 0), (7, 0), (0xe, 1), (0xe, 1)];
    let apu = |device_type| {
        let mut facts = vulkan(device_type, 0x1002, &[(85_000, 1), (50_000, 0)], &types);
        facts.driver_id = DriverId::from_name("MESA_RADV");
        facts.physical_memory = Some(128_000 * MIB);
        facts
    };
    let facts = apu(wgpu::DeviceType::IntegratedGpu);
    let report = classify(&facts);
    assert!(report.uma.value && report.uma.conflict, "the heaps say otherwise, and that is told");
    assert!(!report.cache_coherent_uma.value);
    let memory = residency(&facts, &report);
    assert_eq!(memory.local.size, Some(128_000 * MIB), "both heaps, and no more than there is");
    assert_eq!(memory.non_local.budget, Some(0));
    assert_eq!(memory.non_local.from, BudgetSource::NoSuchMemory);
    let card = classify(&apu(wgpu::DeviceType::DiscreteGpu));
    assert!(!card.uma.value && !card.uma.conflict);
    // Nobody says what kind: the memory decides, and that is weak.
    let hidden = classify(&apu(wgpu::DeviceType::Other));
    assert_eq!(hidden.uma.from, Provenance::MemoryTypes);
    assert_ne!(hidden.uma.certainty, Certainty::Decided);
}

#[test]
fn what_is_unknown_is_not_zero() {
    let info = wgpu::AdapterInfo::new(wgpu::DeviceType::Other, wgpu::Backend::BrowserWebGpu);
    let facts = AdapterFacts::from_info(&info);
    let report = classify(&facts);
    assert!(!report.uma.value && report.uma.from == Provenance::Assumed);
    let memory = residency(&facts, &report);
    for segment in [memory.local, memory.non_local] {
        assert_eq!((segment.size, segment.budget, segment.usage), (None, None, None));
        assert_eq!(segment.from, BudgetSource::Unknown);
    }
    // Heaps without a type are no statement either.
    let facts = vulkan(wgpu::DeviceType::DiscreteGpu, 0x10de, &[(8000, 1)], &[]);
    let local = residency(&facts, &classify(&facts)).local;
    assert_eq!((local.size, local.from), (None, BudgetSource::Unknown));
}

/// Each feature takes its own size and no other, and what it refuses it leaves alone.
#[test]
fn sizes_of_features() {
    let support = FeatureSupport::new(&reports(1)).expect("a node");
    for feature in [Feature::Options, Feature::Architecture, Feature::Architecture1, Feature::CrossNode] {
        for size in [feature.size() - 1, feature.size(), feature.size() + 1] {
            let mut data: Vec<u8> = [0xef, 0xbe, 0xad, 0xde].into_iter().cycle().take(size).collect();
            data[..4].fill(0);
            let before = data.clone();
            let answer = support.check_bytes(feature as u32, &mut data);
            assert_eq!(answer.is_ok(), size == feature.size(), "{feature:?} in {size} bytes");
            assert_eq!(data != before, answer.is_ok(), "{feature:?} in {size} bytes");
        }
    }
}

#[test]
fn overrides() {
    let report = classify(&h200());
    let changed = ArchitectureOverrides::default().with_uma(true).with_tile_based_renderer(true).apply(report);
    let changed = changed.expect("it holds together");
    assert!(changed.uma.value && changed.uma.from == Provenance::Override && changed.tile_based_renderer.value);
    // What follows from an override is changed with it, and what contradicts another is refused.
    let coherent = ArchitectureOverrides::default().with_cache_coherent_uma(true);
    assert!(coherent.apply(report).expect("it holds together").uma.value);
    coherent.with_uma(false).apply(report).expect_err("it does not hold together");
}

/// As wgpu lists lavapipe over Vulkan and over OpenGL, and a second card of the same model.
#[test]
fn one_gpu_over_two_backends() {
    let facts = |backend, uuid: Option<u8>, pci: &str| {
        let mut info = wgpu::AdapterInfo::new(wgpu::DeviceType::Cpu, backend);
        info.name = "llvmpipe (LLVM 15.0.6, 256 bits)".to_owned();
        (info.vendor, info.device, info.device_pci_bus_id) = (0x10005, 0, pci.to_owned());
        let mut identity = AdapterFacts::from_info(&info).identity;
        identity.uuid = uuid.map(|byte| [byte; 16]);
        identity
    };
    let vulkan = facts(wgpu::Backend::Vulkan, Some(7), "");
    let gl = facts(wgpu::Backend::Gl, None, "");
    assert_eq!(same_gpu(&vulkan, &gl), GpuMatch::Alike);
    let other = facts(wgpu::Backend::Vulkan, Some(8), "");
    assert_eq!(same_gpu(&vulkan, &other), GpuMatch::Different);
    assert_eq!(distinct_gpus(&[vulkan.clone(), gl.clone(), other]), [0, 0, 2]);
}

/// A GPU that OpenGL lists first, without an id, and two cards of one model that Vulkan lists behind it: the second card is
/// another GPU, since its id is not the first one's, though OpenGL's adapter may be either.
#[test]
fn a_gpu_without_an_id_joins_no_two() {
    let facts = |backend, vendor, uuid: Option<u8>, name: &str| {
        let mut info = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, backend);
        (info.name, info.vendor) = (name.to_owned(), vendor);
        let mut identity = AdapterFacts::from_info(&info).identity;
        identity.uuid = uuid.map(|byte| [byte; 16]);
        identity
    };
    let (gl, vulkan) = (wgpu::Backend::Gl, wgpu::Backend::Vulkan);
    let name = "NVIDIA GeForce RTX 3080";
    // Zink, whose vendor is Mesa on every GPU.
    let without = facts(gl, 0x10005, None, "zink Vulkan 1.3(NVIDIA GeForce RTX 3080 (NVIDIA_PROPRIETARY))");
    let (first, second) = (facts(vulkan, 0x10de, Some(1), name), facts(vulkan, 0x10de, Some(2), name));
    assert_eq!(same_gpu(&without, &first), GpuMatch::Alike);
    let (a, b, c) = (without, first, second);
    assert_eq!(distinct_gpus(&[a.clone(), b.clone(), c.clone()]), [0, 0, 2]);
    assert_eq!(distinct_gpus(&[b.clone(), a.clone(), c.clone()]), [0, 0, 2]);
    assert_eq!(distinct_gpus(&[b.clone(), c.clone(), a.clone()]), [0, 1, 0]);
    assert_eq!(distinct_gpus(&[a.clone(), b, a, c.clone()]), [0, 0, 0, 3]);
    // Another model is another GPU, whatever Mesa says.
    let other = facts(gl, 0x10005, None, "zink Vulkan 1.3(NVIDIA H200 (NVIDIA_PROPRIETARY))");
    assert_eq!(same_gpu(&other, &c), GpuMatch::Different);
}

/// Cards that Windows links have one LUID, and are two GPUs; Direct3D 12 reaches the first of them.
#[test]
fn linked_gpus_are_told_apart() {
    let facts = |mask: Option<u32>| {
        let info = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, wgpu::Backend::Vulkan);
        let mut identity = AdapterFacts::from_info(&info).identity;
        (identity.luid, identity.luid_node_mask) = (Some([3; 8]), mask);
        identity
    };
    let (first, second, unsaid) = (facts(Some(1)), facts(Some(2)), facts(None));
    assert_eq!(same_gpu(&first, &second), GpuMatch::Different);
    assert_eq!(same_gpu(&first, &unsaid), GpuMatch::Same);
    assert_ne!(first.key(), second.key());
    assert_eq!(distinct_gpus(&[first, second, unsaid]), [0, 1, 0]);
}

/// What a driver says is the answer, and a signal that disagrees is told.
#[test]
fn signals_that_disagree() {
    let mut facts = h200();
    assert!(!classify(&facts).uma.conflict);
    facts.reported.uma = Some(true);
    facts.reported.cache_coherent_uma = Some(true);
    let report = classify(&facts);
    assert!(report.uma.value && report.uma.conflict && report.uma.from == Provenance::DriverReported);
    facts.reported.uma = Some(false);
    let report = classify(&facts);
    assert!(!report.cache_coherent_uma.value && report.cache_coherent_uma.conflict, "coherent without being unified");
    // Memory that only tilers have, on a vendor's GPU that is none.
    let types = [(1, 0), (0x11, 0), (6, 1)];
    let report = classify(&vulkan(wgpu::DeviceType::DiscreteGpu, 0x10de, &[(8_000, 1), (16_000, 0)], &types));
    let tiler = report.tile_based_renderer;
    assert!(!tiler.value && tiler.conflict && tiler.from == Provenance::VendorTable);
    // A card all of whose heaps are its own.
    let report = classify(&vulkan(wgpu::DeviceType::DiscreteGpu, 0x10de, &[(8_000, 1)], &[(1, 0), (7, 0)]));
    assert!(!report.uma.value && report.uma.conflict && report.uma.from == Provenance::DeviceType);
}

/// Those of this machine: each GPU once, whatever the number of backends, and the facts hold together.
#[test]
fn the_adapters_of_this_machine() {
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    let adapters = pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(wgpu::Backends::all()));
    let facts: Vec<AdapterFacts> = adapters.iter().map(collect).collect();
    assert!(!facts.is_empty(), "no adapter: install mesa-vulkan-drivers");
    for facts in &facts {
        let report = classify(facts);
        assert!(!report.cache_coherent_uma.value || report.uma.value);
        if facts.backend == wgpu::Backend::Vulkan {
            assert!(facts.driver_id.is_some() && facts.identity.uuid.is_some(), "{facts:?}");
            let memory = facts.memory.as_ref().expect("Vulkan tells its memory");
            let types = memory.types.as_ref().expect("and its types");
            assert!(types.iter().all(|ty| (ty.heap as usize) < memory.heaps.len()));
            assert!(residency(facts, &report).local.size.is_some_and(|size| size > 0));
        }
        if facts.name.contains("llvmpipe") {
            assert!(report.uma.value && !report.isolated_mmu.value);
        }
    }
    let identities: Vec<_> = facts.iter().map(|facts| facts.identity.clone()).collect();
    let lavapipes: Vec<usize> = (0..facts.len())
        .filter(|&i| facts[i].name.starts_with("llvmpipe"))
        .map(|i| distinct_gpus(&identities)[i])
        .collect();
    if lavapipes.len() < 2 {
        eprintln!("lavapipe is not here over two backends, so the two are not compared ({} of it)", lavapipes.len());
    }
    assert!(lavapipes.windows(2).all(|pair| pair[0] == pair[1]), "lavapipe over two backends is one GPU: {facts:?}");
}

fn reports(count: usize) -> Vec<ArchitectureReport> {
    vec![classify(&h200()); count]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the facts: cache-coherent implies unified, and each custom equivalent is a heap that can be made.
    #[test]
    fn answers_hold_together(
        kind in 0usize..5, vendor in prop::sample::select(vec![0x10deu32, 0x1002, 0x8086, 0x13b5, 0x106b, 0]),
        driver in prop::option::of(0u32..30), heaps in prop::collection::vec((1u64..9000, 0u32..2), 1..4),
        types in prop::collection::vec((0u32..0x100, 0u32..4), 0..12), nodes in 1u32..33, node in 0u32..32,
    ) {
        let kinds = [wgpu::DeviceType::Other, wgpu::DeviceType::IntegratedGpu, wgpu::DeviceType::DiscreteGpu,
            wgpu::DeviceType::VirtualGpu, wgpu::DeviceType::Cpu];
        let mut facts = vulkan(kinds[kind], vendor, &heaps, &types);
        facts.driver_id = driver.map(DriverId);
        let report = classify(&facts);
        prop_assert!(!report.cache_coherent_uma.value || report.uma.value);
        let node = 1 << (node % nodes);
        for heap_type in [HeapType::Default, HeapType::Upload, HeapType::Readback, HeapType::GpuUpload] {
            let properties = get_custom_heap_properties(&report, nodes, node, heap_type).expect("an answer");
            prop_assert_eq!((properties.creation_node_mask, properties.visible_node_mask), (node, node));
            prop_assert!(properties.check(&report, nodes, true).is_ok(), "{:?}", properties);
        }
        let memory = residency(&facts, &report);
        let total: u64 = heaps.iter().map(|(size, _)| size * MIB).sum();
        prop_assert!(memory.local.size.is_none_or(|size| size <= total));
    }

    /// A call that fails leaves the caller's bytes as they were.
    #[test]
    fn failed_calls_change_nothing(
        feature in prop_oneof![Just(0u32), Just(1), Just(16), Just(25), any::<u32>()],
        size in 0usize..40, node in prop_oneof![0u32..4, any::<u32>()], count in 1usize..4,
    ) {
        let support = FeatureSupport::new(&reports(count)).expect("nodes");
        let mut data: Vec<u8> = [0xefu8, 0xbe, 0xad, 0xde].into_iter().cycle().take(size).collect();
        if size >= 4 {
            data[..4].copy_from_slice(&node.to_ne_bytes());
        }
        let before = data.clone();
        let right = match Feature::from_raw(feature) {
            None => false,
            Some(Feature::CrossNode) => size == 8,
            Some(Feature::Options) => size == Feature::Options.size(),
            Some(Feature::Architecture) => size == 16 && (node as usize) < count,
            Some(_) => size == 20 && (node as usize) < count,
        };
        match support.check_bytes(feature, &mut data) {
            Ok(()) => {
                prop_assert!(right);
                // What the caller asks with and what is not this library's to answer stays too.
                let kept = match Feature::from_raw(feature) {
                    Some(Feature::Architecture | Feature::Architecture1) => 0..4,
                    Some(Feature::Options) => 0..44,
                    _ => 0..0,
                };
                prop_assert_eq!(&data[kept.clone()], &before[kept]);
                if feature == Feature::Options as u32 {
                    prop_assert_eq!(&data[48..], &before[48..]);
                }
            }
            Err(_) => {
                prop_assert!(!right);
                prop_assert_eq!(data, before);
            }
        }
    }
}

#[test]
fn features_of_nodes() {
    let one = FeatureSupport::new(&reports(1)).expect("a node");
    assert_eq!(one.cross_node_sharing_tier(), CrossNodeSharingTier::NotSupported);
    let two = FeatureSupport::new(&reports(2)).expect("nodes");
    assert_eq!(two.cross_node().sharing_tier, 1);
    assert_eq!(two.cross_node().atomic_shader_instructions, 0);
    let mut data = FeatureDataArchitecture1 { node_index: 1, ..bytemuck::Zeroable::zeroed() };
    two.check(&mut data).expect("node 1");
    assert!(data == two.architecture1(1).expect("node 1") && data.isolated_mmu == 1 && data.uma == 0);
    data.node_index = 2;
    let before = data;
    let error = two.check(&mut data).expect_err("no node 2");
    assert!(matches!(error, FeatureError::NodeIndex { index: 2, count: 2 }), "{error:?}");
    assert_eq!(data, before);
    assert_eq!(E_INVALIDARG as u32, 0x8007_0057);
    FeatureSupport::new(&[]).expect_err("no nodes");
    FeatureSupport::new(&reports(33)).expect_err("more nodes than a mask has bits");
}

#[test]
fn layouts_on_the_command_line() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/adapters/layouts.json");
    let output = run(&["info", "--layouts", file, "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    let layouts = read_layouts(LAYOUTS).expect("the recorded layouts");
    assert_eq!(printed.as_object().expect("an object").len(), layouts.len());
    for layout in &layouts {
        for (name, field) in classify(&layout.facts).fields() {
            let printed = &printed[&layout.id][name];
            assert_eq!(printed["value"], field.value, "{} {name}", layout.id);
            assert_eq!(printed["provenance"], field.from.to_string(), "{} {name}", layout.id);
        }
    }
    assert!(error_of(&["info", "--layouts", "no such file"], 1).contains("no such file"));
}
