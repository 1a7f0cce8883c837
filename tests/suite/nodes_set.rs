//! What may be a node set, and what it says of itself.

use patchwave::adapter::CrossNodeSharingTier;
use patchwave::adapter::nodes::{NodeDescriptor, NodeError, NodeProvenance, NodeSet, NodeSetDescriptor, Staging};
use patchwave::adapter::{AdapterFacts, collect};

use super::rig::Rig;

fn node(rig: &Rig, facts: &AdapterFacts) -> NodeDescriptor {
    NodeDescriptor { device: rig.device.clone(), queue: rig.queue.clone(), facts: facts.clone() }
}

#[test]
fn one_gpu_is_one_node_unless_asked() {
    let (a, b) = Rig::two();
    let facts = collect(&crate::gpu::adapter());
    let plain = NodeSetDescriptor::default();
    let error = NodeSet::new(vec![node(&a, &facts), node(&b, &facts)], &plain).expect_err("they are one GPU");
    match error {
        NodeError::SameGpu { first: 0, second: 1, ref name, .. } => assert_eq!(*name, facts.name),
        other => panic!("another error: {other}"),
    }
    let simulated = NodeSetDescriptor { simulated_nodes: true, ..plain };
    let set = NodeSet::new(vec![node(&a, &facts), node(&b, &facts)], &simulated).expect("asked for");
    assert_eq!((set.node_count(), set.all_nodes()), (2, 3));
    assert_eq!(set.provenance(), NodeProvenance::Simulated);
    assert_eq!((set.simulated_on(0).expect("a node"), set.simulated_on(1).expect("a node")), (None, Some(0)));
    assert_eq!(set.sharing_tier(), CrossNodeSharingTier::Tier1Emulated);
    assert!(!set.atomic_shader_instructions());
    assert!(matches!(set.facts(2), Err(NodeError::NodeIndex { index: 2, nodes: 2 })));
    // One device is never two nodes.
    let error = NodeSet::new(vec![node(&a, &facts), node(&a, &facts)], &simulated).expect_err("it is one device");
    assert!(error.to_string().contains("is the very device of node 0"), "{error}");
}

/// Told apart by identity, whatever device stands behind them here.
#[test]
fn gpus_of_their_own() {
    let (a, b) = Rig::two();
    let mut first = collect(&crate::gpu::adapter());
    first.identity.uuid = Some([1; 16]);
    let mut second = first.clone();
    second.identity.uuid = Some([2; 16]);
    let set = NodeSet::new(vec![node(&a, &first), node(&b, &second)], &NodeSetDescriptor::default()).expect("two GPUs");
    assert_eq!(set.provenance(), NodeProvenance::PhysicalGpus);
    second.vendor = first.vendor ^ 1;
    let error = NodeSet::new(vec![node(&a, &first), node(&b, &second)], &NodeSetDescriptor::default());
    assert!(matches!(error, Err(NodeError::MixedVendors { node: 1, .. })));
    let mixed = NodeSetDescriptor { mixed_vendors: true, ..NodeSetDescriptor::default() };
    assert!(NodeSet::new(vec![node(&a, &first), node(&b, &second)], &mixed).is_ok());
}

#[test]
fn one_node_shares_nothing() {
    let rig = Rig::new();
    let facts = collect(&crate::gpu::adapter());
    let set = NodeSet::new(vec![node(&rig, &facts)], &NodeSetDescriptor::default()).expect("one node");
    assert_eq!((set.node_count(), set.sharing_tier()), (1, CrossNodeSharingTier::NotSupported));
    assert_eq!(set.provenance(), NodeProvenance::PhysicalGpus);
    assert!(matches!(set.heap_masks(1, 2), Err(NodeError::Mask(_))));
    assert!(matches!(set.create_command_list(2), Err(NodeError::Mask(_))));
    assert!(set.create_command_list(0).is_ok());
}

/// What all nodes have: the lesser of each limit, the common features.
#[test]
fn features_and_limits_are_those_of_all() {
    let adapter = crate::gpu::adapter();
    let facts = collect(&adapter);
    let small = wgpu::Limits { max_buffer_size: 1 << 28, max_texture_dimension_2d: 4_096, ..wgpu::Limits::default() };
    let large = wgpu::Limits { max_texture_dimension_2d: 8_192, ..wgpu::Limits::default() };
    let some = wgpu::Features::TIMESTAMP_QUERY & adapter.features();
    let a = Rig::on(crate::gpu::device_with_features(&adapter, small.clone(), wgpu::Features::empty()));
    let b = Rig::on(crate::gpu::device_with_features(&adapter, large, some));
    let descriptor = NodeSetDescriptor { simulated_nodes: true, ..NodeSetDescriptor::default() };
    let set = NodeSet::new(vec![node(&a, &facts), node(&b, &facts)], &descriptor).expect("two nodes");
    let limits = set.limits();
    assert_eq!((limits.max_buffer_size, limits.max_texture_dimension_2d), (1 << 28, 4_096));
    assert_eq!(set.features(), wgpu::Features::empty());
}

#[test]
fn counts_and_staging_out_of_range() {
    let rig = Rig::new();
    let facts = collect(&crate::gpu::adapter());
    let error = NodeSet::new(Vec::new(), &NodeSetDescriptor::default()).expect_err("no nodes");
    assert_eq!(error.to_string(), "0 nodes were given; a node set takes 1 to 32: a node mask has 32 bits");
    let many = (0..33).map(|_| node(&rig, &facts)).collect();
    assert!(matches!(NodeSet::new(many, &NodeSetDescriptor::default()), Err(NodeError::NodeCount { given: 33 })));
    for staging in [
        Staging { chunk_bytes: 1_000, ..Staging::default() },
        Staging { ring: 0, ..Staging::default() },
        Staging { copy_threads: 0, ..Staging::default() },
    ] {
        let descriptor = NodeSetDescriptor { staging, ..NodeSetDescriptor::default() };
        let answer = NodeSet::new(vec![node(&rig, &facts)], &descriptor);
        assert!(matches!(answer, Err(NodeError::Pipeline(patchwave::Error::OutOfRange { .. }))));
    }
}
