//! Node masks, with Direct3D 12's rules: pure functions of the mask and the number of nodes.
//!
//! A mask has bit k set for node k. 0 stands for 1, the first node, in every mask, and so in a visible mask too: a heap
//! with the masks {creation 2, visible 0} is refused, since node 0 alone could see what lies on node 1.
//!
//! Source: the documentation of `D3D12_HEAP_PROPERTIES`, `D3D12_COMMAND_QUEUE_DESC` and of the multi-adapter systems. That
//! bits of nodes that do not exist are refused follows from the debug layer's TOO_MANY_NODES_SPECIFIED. Where Direct3D
//! answers E_INVALIDARG, these functions give a [`MaskError`].

/// Nodes of a logical adapter at most: a mask has 32 bits.
pub const MAX_NODES: u32 = 32;

/// Why a node mask was refused; in Direct3D, E_INVALIDARG.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaskError {
    /// A mask of a call for exactly one node has several bits.
    #[error("{what} {mask:#x} has {} bits; set exactly one (0 stands for node 0)", mask.count_ones())]
    NotOneBit {
        /// Which mask.
        what: &'static str,
        /// The mask.
        mask: u32,
    },
    /// A mask names a node that there is none of.
    #[error("{what} {mask:#x} names node {}, and there are {nodes}; use bits 0 to {}", 31 - mask.leading_zeros(), nodes - 1)]
    UnknownNode {
        /// Which mask.
        what: &'static str,
        /// The mask.
        mask: u32,
        /// Nodes that there are, at least 1.
        nodes: u32,
    },
    /// A visible mask lacks the node that the memory lies on.
    #[error(
        "visible node mask {visible:#x} lacks the creation node mask {creation:#x}; include it (a visible mask of 0 \
         stands for 1, node 0)"
    )]
    NotVisibleWhereCreated {
        /// The creation mask, 0 replaced by 1.
        creation: u32,
        /// The visible mask, 0 replaced by 1.
        visible: u32,
    },
}

/// Where a heap or a resource lies and who may use it: the two masks of `D3D12_HEAP_PROPERTIES`, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeapMasks {
    creation: u32,
    visible: u32,
}

impl HeapMasks {
    /// Checks a creation mask (exactly one bit) and a visible mask (at least that bit) against the number of nodes, at
    /// least 1; 0 stands for 1 in both.
    ///
    /// # Errors
    /// [`MaskError`], as Direct3D's E_INVALIDARG.
    pub fn new(creation: u32, visible: u32, nodes: u32) -> Result<Self, MaskError> {
        let creation = 1 << node_of(creation, "creation node mask", nodes)?;
        let visible = nodes_of(visible, "visible node mask", nodes)?;
        if visible & creation == 0 {
            return Err(MaskError::NotVisibleWhereCreated { creation, visible });
        }
        Ok(Self { creation, visible })
    }

    /// The creation mask: exactly one bit.
    #[must_use]
    pub const fn creation(self) -> u32 {
        self.creation
    }

    /// The visible mask: at least the creation mask's bit.
    #[must_use]
    pub const fn visible(self) -> u32 {
        self.visible
    }

    /// Index of the node that the memory lies on.
    #[must_use]
    pub const fn node(self) -> u32 {
        self.creation.trailing_zeros()
    }

    /// Whether a node may use it at all.
    #[must_use]
    pub const fn is_visible_to(self, node: u32) -> bool {
        node < MAX_NODES && self.visible & (1 << node) != 0
    }
}

/// The node of a mask of exactly one bit, as queues, command lists, and descriptor and query heaps take it; 0 stands for
/// 1. `what` names the mask in the error.
///
/// # Errors
/// [`MaskError::NotOneBit`], [`MaskError::UnknownNode`].
pub fn node_of(mask: u32, what: &'static str, nodes: u32) -> Result<u32, MaskError> {
    let mask = nodes_of(mask, what, nodes)?;
    if mask.is_power_of_two() { Ok(mask.trailing_zeros()) } else { Err(MaskError::NotOneBit { what, mask }) }
}

/// A mask of one or more nodes, as pipeline states, root signatures and command signatures take it; 0 stands for 1.
///
/// # Errors
/// [`MaskError::UnknownNode`].
pub fn nodes_of(mask: u32, what: &'static str, nodes: u32) -> Result<u32, MaskError> {
    let mask = if mask == 0 { 1 } else { mask };
    if mask & !all_nodes(nodes) != 0 { Err(MaskError::UnknownNode { what, mask, nodes }) } else { Ok(mask) }
}

/// The mask of all of `nodes` nodes; of none, 0.
#[must_use]
pub const fn all_nodes(nodes: u32) -> u32 {
    if nodes >= MAX_NODES { u32::MAX } else { (1 << nodes) - 1 }
}
