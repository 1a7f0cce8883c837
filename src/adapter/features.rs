//! `CheckFeatureSupport` in Direct3D 12's shapes: its structures byte for byte, its feature numbers, its errors.

use super::report::ArchitectureReport;
use bytemuck::{Pod, Zeroable};

/// `D3D12_FEATURE`: what can be asked. The values are Direct3D 12's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Feature {
    /// `D3D12_FEATURE_D3D12_OPTIONS`, of which only `CrossNodeSharingTier` is answered.
    Options = 0,
    /// `D3D12_FEATURE_ARCHITECTURE`: [`FeatureDataArchitecture`].
    Architecture = 1,
    /// `D3D12_FEATURE_ARCHITECTURE1`: [`FeatureDataArchitecture1`].
    Architecture1 = 16,
    /// `D3D12_FEATURE_CROSS_NODE`: [`FeatureDataCrossNode`].
    CrossNode = 25,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Options, Self::Architecture, Self::Architecture1, Self::CrossNode];

    /// The feature of a raw number.
    pub fn from_raw(feature: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|known| *known as u32 == feature)
    }

    /// Bytes of its structure.
    pub const fn size(self) -> usize {
        match self {
            Self::Options => size_of::<FeatureDataOptions>(),
            Self::Architecture => size_of::<FeatureDataArchitecture>(),
            Self::Architecture1 => size_of::<FeatureDataArchitecture1>(),
            Self::CrossNode => size_of::<FeatureDataCrossNode>(),
        }
    }
}

/// Direct3D's `BOOL`: a 32-bit integer, 0 or 1.
pub type Bool = i32;

/// `D3D12_FEATURE_DATA_ARCHITECTURE`, 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FeatureDataArchitecture {
    /// Which node is asked about; the caller's.
    pub node_index: u32,
    /// Whether it renders tile by tile.
    pub tile_based_renderer: Bool,
    /// Whether CPU and GPU have one memory.
    pub uma: Bool,
    /// Whether that memory is cache-coherent.
    pub cache_coherent_uma: Bool,
}

/// `D3D12_FEATURE_DATA_ARCHITECTURE1`, 20 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FeatureDataArchitecture1 {
    /// Which node is asked about; the caller's.
    pub node_index: u32,
    /// Whether it renders tile by tile.
    pub tile_based_renderer: Bool,
    /// Whether CPU and GPU have one memory.
    pub uma: Bool,
    /// Whether that memory is cache-coherent.
    pub cache_coherent_uma: Bool,
    /// Whether the GPU goes past the CPU's page tables.
    pub isolated_mmu: Bool,
}

/// `D3D12_FEATURE_DATA_CROSS_NODE`, 8 bytes. It has no node index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FeatureDataCrossNode {
    /// A [`CrossNodeSharingTier`].
    pub sharing_tier: u32,
    /// Whether atomics of shaders hold across nodes.
    pub atomic_shader_instructions: Bool,
}

/// `D3D12_FEATURE_DATA_D3D12_OPTIONS`, 60 bytes, of which `CrossNodeSharingTier` alone is this library's to answer: the
/// other fields stay as the caller left them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FeatureDataOptions {
    /// `DoublePrecisionFloatShaderOps` to `StandardSwizzle64KBSupported`: not answered.
    pub before: [u32; 11],
    /// A [`CrossNodeSharingTier`].
    pub cross_node_sharing_tier: u32,
    /// `CrossAdapterRowMajorTextureSupported` to `ResourceHeapTier`: not answered.
    pub after: [u32; 3],
}

/// `D3D12_CROSS_NODE_SHARING_TIER`: what one node may do with the memory of another. The values are Direct3D 12's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum CrossNodeSharingTier {
    /// One node, or nothing shared.
    #[default]
    NotSupported = 0,
    /// Copies into a resource of another node, staged through system memory: time on both nodes.
    Tier1Emulated = 1,
    /// Copies into a resource of another node.
    Tier1 = 2,
    /// Everything but render targets and depth stencils; atomics of shaders are not atomic between nodes.
    Tier2 = 3,
    /// Tier 2, and atomics of shaders in heaps that allow them.
    Tier3 = 4,
}

impl CrossNodeSharingTier {
    /// What so many nodes of several wgpu devices honestly offer.
    #[must_use]
    pub const fn of_nodes(nodes: u32) -> Self {
        if nodes > 1 { Self::Tier1Emulated } else { Self::NotSupported }
    }

    /// Direct3D's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotSupported => "NOT_SUPPORTED",
            Self::Tier1Emulated => "TIER_1_EMULATED",
            Self::Tier1 => "TIER_1",
            Self::Tier2 => "TIER_2",
            Self::Tier3 => "TIER_3",
        }
    }
}

impl std::fmt::Display for CrossNodeSharingTier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Why [`FeatureSupport::check`] refused. The caller's data is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureError {
    /// A number that is none of [`Feature::ALL`].
    #[error(
        "E_INVALIDARG: feature {feature} is not answered; there is OPTIONS 0, ARCHITECTURE 1, ARCHITECTURE1 16, CROSS_NODE 25"
    )]
    UnknownFeature {
        /// The number that was asked.
        feature: u32,
    },
    /// Data that is not exactly the feature's structure.
    #[error("E_INVALIDARG: the data of {feature:?} is {size} bytes; its structure has {expected}")]
    WrongSize {
        /// The feature.
        feature: Feature,
        /// Bytes that were given.
        size: usize,
        /// Bytes of the structure.
        expected: usize,
    },
    /// A node that is not there.
    #[error("E_INVALIDARG: node index {index} was asked for; there {} {count}, counted from 0", if *.count == 1 { "is" } else { "are" })]
    NodeIndex {
        /// The index that was asked for.
        index: u32,
        /// How many nodes there are.
        count: u32,
    },
    /// Not 1 to 32 nodes.
    #[error("E_INVALIDARG: {count} nodes were given; a node mask has room for 1 to 32")]
    NodeCount {
        /// How many were given.
        count: usize,
    },
}

impl FeatureError {
    /// The `HRESULT` that Direct3D 12 returns for it: `E_INVALIDARG`.
    pub const fn hresult(&self) -> i32 {
        E_INVALIDARG
    }
}

/// `E_INVALIDARG`, as an `HRESULT`.
pub const E_INVALIDARG: i32 = 0x8007_0057_u32 as i32;

/// The nodes of one logical adapter, and what they answer.
#[derive(Clone, Debug)]
pub struct FeatureSupport {
    nodes: Vec<ArchitectureReport>,
}

impl FeatureSupport {
    /// Takes a report for each node, in the order of node indices; one for an ordinary adapter.
    ///
    /// # Errors
    ///
    /// [`FeatureError::NodeCount`] for none, or more than the 32 that a node mask has bits for.
    pub fn new(nodes: &[ArchitectureReport]) -> Result<Self, FeatureError> {
        if nodes.is_empty() || nodes.len() > 32 {
            return Err(FeatureError::NodeCount { count: nodes.len() });
        }
        Ok(Self { nodes: nodes.to_vec() })
    }

    /// `ID3D12Device::GetNodeCount`: 1 to 32.
    pub fn node_count(&self) -> u32 {
        // `new` admits 32 at most.
        self.nodes.len() as u32
    }

    /// What nodes may do with each other's memory: nothing where there is one, and staged copies where there are more,
    /// since wgpu has no memory that two devices share.
    pub fn cross_node_sharing_tier(&self) -> CrossNodeSharingTier {
        CrossNodeSharingTier::of_nodes(self.node_count())
    }

    fn node(&self, index: u32) -> Result<&ArchitectureReport, FeatureError> {
        let node = usize::try_from(index).ok().and_then(|place| self.nodes.get(place));
        node.ok_or(FeatureError::NodeIndex { index, count: self.node_count() })
    }

    /// `ARCHITECTURE` of a node.
    ///
    /// # Errors
    ///
    /// [`FeatureError::NodeIndex`].
    pub fn architecture(&self, node_index: u32) -> Result<FeatureDataArchitecture, FeatureError> {
        let FeatureDataArchitecture1 { tile_based_renderer, uma, cache_coherent_uma, .. } =
            self.architecture1(node_index)?;
        Ok(FeatureDataArchitecture { node_index, tile_based_renderer, uma, cache_coherent_uma })
    }

    /// `ARCHITECTURE1` of a node.
    ///
    /// # Errors
    ///
    /// [`FeatureError::NodeIndex`].
    pub fn architecture1(&self, node_index: u32) -> Result<FeatureDataArchitecture1, FeatureError> {
        let node = self.node(node_index)?;
        Ok(FeatureDataArchitecture1 {
            node_index,
            tile_based_renderer: node.tile_based_renderer.value.into(),
            uma: node.uma.value.into(),
            cache_coherent_uma: node.cache_coherent_uma.value.into(),
            isolated_mmu: node.isolated_mmu.value.into(),
        })
    }

    /// `CROSS_NODE`. Atomics never hold across nodes.
    pub fn cross_node(&self) -> FeatureDataCrossNode {
        FeatureDataCrossNode { sharing_tier: self.cross_node_sharing_tier() as u32, atomic_shader_instructions: 0 }
    }

    /// `CheckFeatureSupport` with a structure of its own type: the node index is read from it, the rest filled in.
    ///
    /// # Errors
    ///
    /// [`FeatureError::NodeIndex`]; the data is then as it was.
    pub fn check<T: FeatureData>(&self, data: &mut T) -> Result<(), FeatureError> {
        self.check_bytes(T::FEATURE as u32, bytemuck::bytes_of_mut(data))
    }

    /// `CheckFeatureSupport` as Direct3D 12 has it: a feature's number and the bytes of its structure, whose length must
    /// be exactly the structure's. The bytes may be unaligned; integers in them are in the machine's order.
    ///
    /// # Errors
    ///
    /// [`FeatureError`], each of which Direct3D 12 reports as `E_INVALIDARG`; the data is then as it was.
    pub fn check_bytes(&self, feature: u32, data: &mut [u8]) -> Result<(), FeatureError> {
        let Some(feature) = Feature::from_raw(feature) else {
            return Err(FeatureError::UnknownFeature { feature });
        };
        let wrong_size = || FeatureError::WrongSize { feature, size: data.len(), expected: feature.size() };
        match feature {
            Feature::Options => {
                let mut options: FeatureDataOptions =
                    bytemuck::try_pod_read_unaligned(data).map_err(|_| wrong_size())?;
                options.cross_node_sharing_tier = self.cross_node_sharing_tier() as u32;
                data.copy_from_slice(bytemuck::bytes_of(&options));
            }
            Feature::Architecture => {
                let asked: FeatureDataArchitecture =
                    bytemuck::try_pod_read_unaligned(data).map_err(|_| wrong_size())?;
                data.copy_from_slice(bytemuck::bytes_of(&self.architecture(asked.node_index)?));
            }
            Feature::Architecture1 => {
                let asked: FeatureDataArchitecture1 =
                    bytemuck::try_pod_read_unaligned(data).map_err(|_| wrong_size())?;
                data.copy_from_slice(bytemuck::bytes_of(&self.architecture1(asked.node_index)?));
            }
            Feature::CrossNode => {
                let _: FeatureDataCrossNode = bytemuck::try_pod_read_unaligned(data).map_err(|_| wrong_size())?;
                data.copy_from_slice(bytemuck::bytes_of(&self.cross_node()));
            }
        }
        Ok(())
    }
}

/// The structures of [`Feature`].
pub trait FeatureData: Pod {
    /// The feature that the structure belongs to.
    const FEATURE: Feature;
}

impl FeatureData for FeatureDataOptions {
    const FEATURE: Feature = Feature::Options;
}

impl FeatureData for FeatureDataArchitecture {
    const FEATURE: Feature = Feature::Architecture;
}

impl FeatureData for FeatureDataArchitecture1 {
    const FEATURE: Feature = Feature::Architecture1;
}

impl FeatureData for FeatureDataCrossNode {
    const FEATURE: Feature = Feature::CrossNode;
}
