//! Nodes: several GPUs as one logical adapter, with Direct3D 12's masks, sharing tiers and pushes between nodes.
//!
//! A node is a wgpu device. What nodes share goes through system memory, which is what Direct3D calls TIER_1_EMULATED:
//! copies into a resource of another node, and nothing else. See `docs/nodes.md`.

mod bytes;
mod error;
mod footprint;
mod gather;
mod list;
mod mask;
mod push;
mod queue;
mod regions;
mod resource;
mod set;
mod shares;
mod split;
mod staging;
mod tessellation;
mod texture_copies;
mod tier;

pub use error::NodeError;
pub use footprint::{PITCH_ALIGNMENT, PLACEMENT_ALIGNMENT, PlacedFootprint};
pub use gather::GatheredMesh;
pub use list::{ClosedNodeCommandList, NodeCommandList};
pub use mask::{HeapMasks, MAX_NODES, MaskError, all_nodes, node_of, nodes_of};
pub use queue::{NodeFence, Progress};
pub use resource::{NodeBuffer, NodeResource, NodeTexture};
pub use set::{NodeDescriptor, NodeProvenance, NodeSet, NodeSetDescriptor, Staging};
pub use split::{PatchBlock, Split, split_patches, split_patches_weighted};
pub use tessellation::{NodeDraw, NodeTessellation, draw_of_block};
pub use texture_copies::{NodeBufferLocation, NodeCopyLocation, NodeTextureLocation};
pub use tier::{Place, Refusal, ResourceUse, check_use, lowest_tier, place};
