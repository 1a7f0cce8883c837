//! A node set: several wgpu devices as the nodes of one logical adapter.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::bytes::MergeKernel;
use super::error::NodeError;
use super::gather::GatherKernel;
use super::mask::{self, MAX_NODES};
use super::queue::NodeQueue;
use super::staging::{Notify, StagingPool, is_lost};
use crate::Error;
use crate::adapter::CrossNodeSharingTier;
use crate::adapter::{AdapterFacts, GpuMatch, same_gpu};

/// One node: a device, its queue, and what is known of its adapter ([`collect`](crate::adapter::collect())).
#[derive(Clone, Debug)]
pub struct NodeDescriptor {
    /// wgpu's device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// Facts of the adapter that it was made from.
    pub facts: AdapterFacts,
}

/// How pushes go through system memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staging {
    /// Bytes of a chunk: the size of a staging buffer, at least 64 KiB.
    pub chunk_bytes: u64,
    /// Staging buffers of a push that are under way on each side at once, at least 1.
    pub ring: usize,
    /// Threads that copy a chunk from one node's staging buffer to the other's; 1 copies on the calling thread.
    pub copy_threads: usize,
}

impl Default for Staging {
    fn default() -> Self {
        Self { chunk_bytes: 32 << 20, ring: 4, copy_threads: 1 }
    }
}

/// What a node set is made with, besides the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeSetDescriptor {
    /// Lets several nodes be devices of one GPU, as tests without a second one need; such nodes are reported as
    /// simulated.
    pub simulated_nodes: bool,
    /// Lets GPUs of several vendors be nodes of one set, which no driver links.
    pub mixed_vendors: bool,
    /// How pushes go through system memory.
    pub staging: Staging,
}

/// What the nodes of a set are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeProvenance {
    /// Each node is a GPU of its own.
    PhysicalGpus,
    /// Some nodes are devices of one GPU: asked for, for tests.
    Simulated,
}

impl NodeProvenance {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::PhysicalGpus => "each node is a GPU of its own",
            Self::Simulated => "simulated: several nodes are devices of one GPU",
        }
    }
}

/// What belongs to a node and is shared with the lists that are recorded for it.
#[derive(Debug)]
pub(super) struct NodeDevice {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    merge: OnceLock<MergeKernel>,
    gather: OnceLock<GatherKernel>,
}

impl NodeDevice {
    /// The kernel that merges bytes into words, compiled on first use.
    pub(super) fn merge(&self) -> Result<&MergeKernel, Error> {
        if let Some(kernel) = self.merge.get() {
            return Ok(kernel);
        }
        let kernel = MergeKernel::new(&self.device)?;
        Ok(self.merge.get_or_init(|| kernel))
    }

    /// The kernel that brings tessellated chunks into order, compiled on first use.
    pub(super) fn gather(&self) -> Result<&GatherKernel, Error> {
        if let Some(kernel) = self.gather.get() {
            return Ok(kernel);
        }
        let kernel = GatherKernel::new(&self.device)?;
        Ok(self.gather.get_or_init(|| kernel))
    }
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) shared: Arc<NodeDevice>,
    facts: AdapterFacts,
    /// The first node on the same GPU, where this is not the first.
    simulated_on: Option<u32>,
    pub(super) staging: StagingPool,
}

/// Several wgpu devices as the nodes of one logical adapter, as a driver that links GPUs offers them in Direct3D 12.
///
/// What the nodes share, they share through system memory: the tier is TIER_1_EMULATED, copies into a resource of another
/// node and nothing else. With one node it is NOT_SUPPORTED.
///
/// Work is queued on nodes ([`NodeSet::execute`], [`NodeSet::signal`], [`NodeSet::wait`]) and runs as
/// [`NodeSet::advance`], [`NodeSet::finish`] or `NodeSet::finish_blocking` are called. What is submitted to a node's wgpu
/// queue directly is not ordered with what is held back here.
#[derive(Debug)]
pub struct NodeSet {
    pub(super) id: u64,
    pub(super) nodes: Vec<Node>,
    pub(super) queues: Vec<NodeQueue>,
    pub(super) staging: Staging,
    pub(super) notify: Arc<Notify>,
    /// Errors of queued work that nobody has been told yet.
    pub(super) errors: VecDeque<NodeError>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

impl NodeSet {
    /// Makes a set of 1 to 32 nodes; node k is the k-th given.
    ///
    /// # Errors
    /// [`NodeError::NodeCount`]; [`NodeError::SameGpu`] where two nodes are one GPU, on whatever backends, or cannot be
    /// told apart, unless simulated nodes are asked for, and always where they are one device; [`NodeError::MixedVendors`];
    /// [`Error::OutOfRange`] where the staging cannot be.
    pub fn new(nodes: Vec<NodeDescriptor>, descriptor: &NodeSetDescriptor) -> Result<Self, NodeError> {
        if nodes.is_empty() || nodes.len() > MAX_NODES as usize {
            return Err(NodeError::NodeCount { given: nodes.len() });
        }
        check_staging(&descriptor.staging)?;
        let mut made: Vec<Node> = Vec::with_capacity(nodes.len());
        for (index, node) in (0..).zip(nodes) {
            let simulated_on = check_node(&made, index, &node, descriptor)?;
            let shared =
                NodeDevice { device: node.device, queue: node.queue, merge: OnceLock::new(), gather: OnceLock::new() };
            made.push(Node {
                shared: Arc::new(shared),
                facts: node.facts,
                simulated_on,
                staging: StagingPool::default(),
            });
        }
        Ok(Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            queues: made.iter().map(|_| NodeQueue::default()).collect(),
            nodes: made,
            staging: descriptor.staging,
            notify: Arc::default(),
            errors: VecDeque::new(),
        })
    }

    /// How many nodes there are: Direct3D's `GetNodeCount`.
    #[must_use]
    pub fn node_count(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The mask of all nodes.
    #[must_use]
    pub fn all_nodes(&self) -> u32 {
        mask::all_nodes(self.node_count())
    }

    /// TIER_1_EMULATED, or NOT_SUPPORTED where there is one node. The same number answers both `D3D12_FEATURE_CROSS_NODE`
    /// and the options.
    #[must_use]
    pub fn sharing_tier(&self) -> CrossNodeSharingTier {
        CrossNodeSharingTier::of_nodes(self.node_count())
    }

    /// `AtomicShaderInstructions` of `D3D12_FEATURE_CROSS_NODE`: shaders reach no other node, so `false`.
    #[must_use]
    pub const fn atomic_shader_instructions(&self) -> bool {
        false
    }

    /// Whether nodes are GPUs of their own.
    #[must_use]
    pub fn provenance(&self) -> NodeProvenance {
        if self.nodes.iter().any(|node| node.simulated_on.is_some()) {
            NodeProvenance::Simulated
        } else {
            NodeProvenance::PhysicalGpus
        }
    }

    /// The first node on the same GPU as this one, where this is not the first.
    ///
    /// # Errors
    /// [`NodeError::NodeIndex`].
    pub fn simulated_on(&self, node: u32) -> Result<Option<u32>, NodeError> {
        Ok(self.node(node)?.simulated_on)
    }

    /// Facts of a node's adapter: architecture and budgets are per node.
    ///
    /// # Errors
    /// [`NodeError::NodeIndex`].
    pub fn facts(&self, node: u32) -> Result<&AdapterFacts, NodeError> {
        Ok(&self.node(node)?.facts)
    }

    /// A node's device.
    ///
    /// # Errors
    /// [`NodeError::NodeIndex`].
    pub fn device(&self, node: u32) -> Result<&wgpu::Device, NodeError> {
        Ok(&self.node(node)?.shared.device)
    }

    /// A node's queue.
    ///
    /// # Errors
    /// [`NodeError::NodeIndex`].
    pub fn queue(&self, node: u32) -> Result<&wgpu::Queue, NodeError> {
        Ok(&self.node(node)?.shared.queue)
    }

    /// Features that the devices of all nodes have.
    #[must_use]
    pub fn features(&self) -> wgpu::Features {
        self.nodes.iter().fold(wgpu::Features::all(), |common, node| common & node.shared.device.features())
    }

    /// Limits that the devices of all nodes have.
    #[must_use]
    pub fn limits(&self) -> wgpu::Limits {
        let mut limits = self.nodes.iter().map(|node| node.shared.device.limits());
        let first = limits.next().unwrap_or_default();
        limits.fold(first, |common, limits| common.or_worse_values_from(&limits))
    }

    pub(super) fn node(&self, index: u32) -> Result<&Node, NodeError> {
        self.nodes.get(index as usize).ok_or(NodeError::NodeIndex { index, nodes: self.node_count() })
    }

    /// An error of a pipeline or of wgpu, by the name of what it comes of where the device of a node is lost, the first of
    /// `nodes` that is.
    pub(super) fn or_lost(
        &self,
        error: NodeError,
        mut nodes: impl Iterator<Item = u32>,
        doing: &'static str,
    ) -> NodeError {
        let may_be =
            matches!(error, NodeError::Pipeline(Error::Wgpu { .. } | Error::Compiler { .. } | Error::ReadBack { .. }));
        let is_lost = |node: &u32| self.node(*node).is_ok_and(|node| is_lost(&node.shared.device));
        match may_be.then(|| nodes.find(is_lost)).flatten() {
            Some(node) => NodeError::Lost { node, doing },
            None => error,
        }
    }

    pub(super) fn check_index(&self, index: u32) -> Result<usize, NodeError> {
        self.node(index).map(|_| index as usize)
    }
}

fn check_staging(staging: &Staging) -> Result<(), Error> {
    let refuse =
        |what, value: String, expected: &str| Err(Error::OutOfRange { what, value, expected: expected.to_owned() });
    if staging.chunk_bytes < 64 << 10 || staging.chunk_bytes > 1 << 30 {
        return refuse("chunk_bytes of a node set's staging", staging.chunk_bytes.to_string(), "64 KiB to 1 GiB");
    }
    if staging.ring == 0 || staging.ring > 64 {
        return refuse("ring of a node set's staging", staging.ring.to_string(), "1 to 64");
    }
    if staging.copy_threads == 0 || staging.copy_threads > 64 {
        return refuse("copy_threads of a node set's staging", staging.copy_threads.to_string(), "1 to 64");
    }
    Ok(())
}

/// Refuses a node that goes with none of those before it; the first of the same GPU, where there is one.
fn check_node(
    before: &[Node],
    index: u32,
    node: &NodeDescriptor,
    descriptor: &NodeSetDescriptor,
) -> Result<Option<u32>, NodeError> {
    let vendor = node.facts.vendor;
    // Those that have none tell nothing.
    let other = before.iter().map(|other| other.facts.vendor).find(|other| *other != 0);
    if let Some(first) = other.filter(|first| vendor != 0 && *first != vendor && !descriptor.mixed_vendors) {
        return Err(NodeError::MixedVendors { node: index, vendor, first });
    }
    let mut simulated_on = None;
    for (first, other) in (0..).zip(before) {
        let refuse = |how| Err(NodeError::SameGpu { first, second: index, name: node.facts.name.clone(), how });
        if other.shared.device == node.device {
            return refuse("the very device of");
        }
        let how = match same_gpu(&other.facts.identity, &node.facts.identity) {
            GpuMatch::Different => continue,
            GpuMatch::Same => "the GPU of",
            GpuMatch::Alike => "by vendor, device and name (there is no unique id) the GPU of",
        };
        if !descriptor.simulated_nodes {
            return refuse(how);
        }
        simulated_on = simulated_on.or(Some(first));
    }
    Ok(simulated_on)
}
