//! What a command list may do with a resource of another node: a pure function of the nodes, the use and the tier.

use super::mask::HeapMasks;
use crate::adapter::CrossNodeSharingTier;

/// Where a resource lies, seen from the node that executes a command list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the list's node.
    Local,
    /// On another node that the list's node may see.
    Remote,
    /// On another node, and its visible mask lacks the list's.
    Invisible,
}

/// Where a resource lies, seen from `list_node`.
#[must_use]
pub const fn place(list_node: u32, masks: HeapMasks) -> Place {
    if masks.node() == list_node {
        Place::Local
    } else if masks.is_visible_to(list_node) {
        Place::Remote
    } else {
        Place::Invisible
    }
}

/// What a command does with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceUse {
    /// Read by `copy_buffer_region`, `copy_texture_region` or `copy_resource`.
    CopySource,
    /// Written by one of them.
    CopyDestination,
    /// A uniform buffer.
    ConstantBuffer,
    /// Read by shaders: a read-only storage buffer, a sampled texture.
    ShaderResource,
    /// Read and written by shaders.
    UnorderedAccess,
    /// Operated on by atomics of shaders.
    ShaderAtomics,
    /// A vertex or index buffer.
    InputAssembler,
    /// Arguments of an indirect draw or dispatch.
    IndirectArguments,
    /// A colour attachment.
    RenderTarget,
    /// A depth or stencil attachment.
    DepthStencil,
    /// Source or destination of a multisample resolve, or of a query's.
    Resolve,
}

impl ResourceUse {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::CopySource => "copy source",
            Self::CopyDestination => "copy destination",
            Self::ConstantBuffer => "constant buffer",
            Self::ShaderResource => "shader resource",
            Self::UnorderedAccess => "unordered access",
            Self::ShaderAtomics => "shader atomics",
            Self::InputAssembler => "vertex or index buffer",
            Self::IndirectArguments => "indirect arguments",
            Self::RenderTarget => "render target",
            Self::DepthStencil => "depth stencil",
            Self::Resolve => "resolve",
        }
    }
}

/// The lowest tier at which a list may use a remote resource so; `None` where no tier allows it.
///
/// Source: the documentation of `D3D12_CROSS_NODE_SHARING_TIER`.
#[must_use]
pub const fn lowest_tier(resource_use: ResourceUse) -> Option<CrossNodeSharingTier> {
    match resource_use {
        ResourceUse::CopyDestination => Some(CrossNodeSharingTier::Tier1Emulated),
        ResourceUse::ShaderAtomics => Some(CrossNodeSharingTier::Tier3),
        ResourceUse::RenderTarget | ResourceUse::DepthStencil => None,
        _ => Some(CrossNodeSharingTier::Tier2),
    }
}

/// Whether a list of `list_node` may use a resource of these masks so, at `tier`.
///
/// # Errors
/// [`Refusal`] says what keeps it from doing so.
pub fn check_use(
    list_node: u32,
    masks: HeapMasks,
    resource_use: ResourceUse,
    tier: CrossNodeSharingTier,
) -> Result<Place, Refusal> {
    let place = place(list_node, masks);
    match place {
        Place::Local => Ok(place),
        Place::Invisible => Err(Refusal::Invisible),
        Place::Remote => match lowest_tier(resource_use) {
            Some(needs) if needs <= tier => Ok(place),
            needs => Err(Refusal::Tier { needs }),
        },
    }
}

/// Why a list may not use a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its visible mask lacks the list's node.
    Invisible,
    /// The tier does not allow it.
    Tier {
        /// The lowest that would; `None` where none does.
        needs: Option<CrossNodeSharingTier>,
    },
}
