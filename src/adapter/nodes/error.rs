//! What can go wrong between nodes.

use super::mask::MaskError;
use super::tier::ResourceUse;
use crate::adapter::CrossNodeSharingTier;

/// Why something with nodes was refused or failed. Each variant says what was asked, what there is, and what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// A node mask that Direct3D answers with E_INVALIDARG.
    #[error(transparent)]
    Mask(#[from] MaskError),

    /// A node set needs 1 to 32 nodes.
    #[error("{given} nodes were given; a node set takes 1 to {most}: a node mask has 32 bits", most = super::mask::MAX_NODES)]
    NodeCount {
        /// How many were given.
        given: usize,
    },

    /// Two nodes of one GPU, or of what cannot be told apart.
    #[error(
        "node {second} ('{name}') is {how} node {first}; give one node a GPU, or ask for simulated nodes \
         (NodeSetDescriptor::simulated_nodes)"
    )]
    SameGpu {
        /// The node before.
        first: u32,
        /// The node that was refused.
        second: u32,
        /// The adapter's name.
        name: String,
        /// How they were found to be one.
        how: &'static str,
    },

    /// GPUs of several vendors in one node set.
    #[error(
        "node {node} is of vendor {vendor:#x} and a node before it of {first:#x}: drivers link GPUs of one vendor only; ask for it \
         (NodeSetDescriptor::mixed_vendors) if it is meant"
    )]
    MixedVendors {
        /// The node that differs.
        node: u32,
        /// Its vendor.
        vendor: u32,
        /// The vendor of the first node before it that has one.
        first: u32,
    },

    /// A node index that there is no node of.
    #[error("there is no node {index}: the node set has {nodes}, from 0 on")]
    NodeIndex {
        /// What was asked for.
        index: u32,
        /// How many there are.
        nodes: u32,
    },

    /// A resource, fence or list of another node set.
    #[error("{what} belongs to another node set; make it with this one")]
    Foreign {
        /// What it is.
        what: String,
    },

    /// A resource of another node whose visible mask lacks the list's node.
    #[error(
        "{what} lies on node {resource_node} and its visible node mask {visible:#x} lacks node {list_node}, which the \
         command list is of; create it visible to that node"
    )]
    NotVisible {
        /// The resource.
        what: String,
        /// Where it lies.
        resource_node: u32,
        /// Who may see it.
        visible: u32,
        /// The list's node.
        list_node: u32,
    },

    /// A use across nodes that the sharing tier does not allow.
    #[error(
        "{what} lies on node {resource_node} and a command list of node {list_node} may not use it as {}: {}; the tier is \
         {tier}. Push instead, from a list of node {resource_node} into a resource of node {list_node}",
        resource_use.words(),
        needs_words(*needs)
    )]
    CrossNode {
        /// The resource.
        what: String,
        /// What the list would do with it.
        resource_use: ResourceUse,
        /// Where it lies.
        resource_node: u32,
        /// The list's node.
        list_node: u32,
        /// The tier that there is.
        tier: CrossNodeSharingTier,
        /// The lowest tier that allows it; `None` where none does.
        needs: Option<CrossNodeSharingTier>,
    },

    /// A copy that cannot be: beyond the end, overlapping, between formats, of what cannot be copied.
    #[error("{operation}: {reason}")]
    Copy {
        /// The call.
        operation: &'static str,
        /// What is wrong and what would be right.
        reason: String,
    },

    /// Draws of the nodes that are not one draw, or one that cannot be shared out or gathered.
    #[error("the draws of the nodes: {reason}")]
    Draws {
        /// What is wrong and what to do.
        reason: String,
    },

    /// Weights that a draw cannot be shared out by.
    #[error("sharing a draw out over {nodes} nodes: {reason}")]
    Split {
        /// How many nodes there are.
        nodes: u32,
        /// What is wrong and what to do.
        reason: String,
    },

    /// The device of a node was lost.
    #[error(
        "node {node} was lost {doing}; the list that was under way and what was queued behind it are dropped, and waits for \
         signals among them fail. Make a new node set"
    )]
    Lost {
        /// The node.
        node: u32,
        /// What was under way.
        doing: &'static str,
    },

    /// A wait for a signal that a lost or failed node would have given.
    #[error(
        "node {node} waited for {fence} to reach {value}, and node {lost}, which should have signalled it, failed; what \
         was queued behind the wait is dropped"
    )]
    SignalLost {
        /// The node that waited.
        node: u32,
        /// The fence's label.
        fence: String,
        /// The value waited for.
        value: u64,
        /// The node that would have signalled.
        lost: u32,
    },

    /// A wait that nothing queued will end.
    #[error(
        "node {node} waits for {fence} to reach {value}; it is at {completed} and nothing that is queued signals it: \
         queue the signal, or signal the fence from the CPU"
    )]
    NeverSignalled {
        /// The node that waits.
        node: u32,
        /// The fence's label.
        fence: String,
        /// The value waited for.
        value: u64,
        /// The value reached.
        completed: u64,
    },

    /// What the pipeline or wgpu refused.
    #[error(transparent)]
    Pipeline(#[from] crate::Error),
}

fn needs_words(needs: Option<CrossNodeSharingTier>) -> String {
    needs.map_or_else(|| "no sharing tier allows it".to_owned(), |tier| format!("that needs {tier}"))
}
