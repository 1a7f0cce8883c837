//! Buffers and textures that lie on a node.

use super::error::NodeError;
use super::mask::HeapMasks;
use super::set::NodeSet;
use super::tier::{Place, Refusal, ResourceUse, check_use};
use crate::pipeline::guarded;

/// A buffer on a node.
#[derive(Clone, Debug)]
pub struct NodeBuffer {
    pub(super) set: u64,
    pub(super) masks: HeapMasks,
    pub(super) buffer: wgpu::Buffer,
    pub(super) size: u64,
    pub(super) label: String,
}

impl NodeBuffer {
    /// The masks it was created with.
    #[must_use]
    pub fn masks(&self) -> HeapMasks {
        self.masks
    }

    /// Bytes, as asked for; wgpu's buffer is rounded up to a multiple of 4.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// wgpu's buffer, of the device of its node.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

/// A texture on a node.
#[derive(Clone, Debug)]
pub struct NodeTexture {
    pub(super) set: u64,
    pub(super) masks: HeapMasks,
    pub(super) texture: wgpu::Texture,
    pub(super) label: String,
}

impl NodeTexture {
    /// The masks it was created with.
    #[must_use]
    pub fn masks(&self) -> HeapMasks {
        self.masks
    }

    /// wgpu's texture, of the device of its node.
    #[must_use]
    pub fn texture(&self) -> &wgpu::Texture {
        &self.texture
    }
}

/// A buffer or a texture of a node, where a call takes either.
#[derive(Clone, Copy, Debug)]
pub enum NodeResource<'a> {
    /// A buffer.
    Buffer(&'a NodeBuffer),
    /// A texture.
    Texture(&'a NodeTexture),
}

impl<'a> From<&'a NodeBuffer> for NodeResource<'a> {
    fn from(buffer: &'a NodeBuffer) -> Self {
        Self::Buffer(buffer)
    }
}

impl<'a> From<&'a NodeTexture> for NodeResource<'a> {
    fn from(texture: &'a NodeTexture) -> Self {
        Self::Texture(texture)
    }
}

impl NodeResource<'_> {
    fn set(self) -> u64 {
        match self {
            Self::Buffer(buffer) => buffer.set,
            Self::Texture(texture) => texture.set,
        }
    }

    /// The masks it was created with.
    #[must_use]
    pub fn masks(self) -> HeapMasks {
        match self {
            Self::Buffer(buffer) => buffer.masks,
            Self::Texture(texture) => texture.masks,
        }
    }

    fn what(self) -> String {
        match self {
            Self::Buffer(buffer) => format!("buffer '{}'", buffer.label),
            Self::Texture(texture) => format!("texture '{}'", texture.label),
        }
    }

    /// Whether a list of a node of `set` may use it so.
    pub(super) fn check(
        self,
        set: u64,
        list_node: u32,
        resource_use: ResourceUse,
        tier: crate::adapter::CrossNodeSharingTier,
    ) -> Result<Place, NodeError> {
        if self.set() != set {
            return Err(NodeError::Foreign { what: self.what() });
        }
        let masks = self.masks();
        check_use(list_node, masks, resource_use, tier).map_err(|refusal| match refusal {
            Refusal::Invisible => NodeError::NotVisible {
                what: self.what(),
                resource_node: masks.node(),
                visible: masks.visible(),
                list_node,
            },
            Refusal::Tier { needs } => NodeError::CrossNode {
                what: self.what(),
                resource_use,
                resource_node: masks.node(),
                list_node,
                tier,
                needs,
            },
        })
    }
}

impl NodeSet {
    /// Checks the masks of a heap against this set's nodes: see [`HeapMasks::new`].
    ///
    /// # Errors
    /// [`NodeError::Mask`].
    pub fn heap_masks(&self, creation: u32, visible: u32) -> Result<HeapMasks, NodeError> {
        Ok(HeapMasks::new(creation, visible, self.node_count())?)
    }

    /// Creates a buffer on the node of a heap's creation mask, for the nodes of its visible mask.
    ///
    /// As every buffer in Direct3D, it can be copied from and to: `COPY_SRC` and `COPY_DST` are added to its usages, but
    /// for those that are to be mapped, with which wgpu allows only one of the two. Any size will do.
    ///
    /// # Errors
    /// [`NodeError::Mask`] where the masks are of a set with more nodes, [`NodeError::Pipeline`] where wgpu refuses.
    pub fn create_buffer(
        &self,
        masks: HeapMasks,
        descriptor: &wgpu::BufferDescriptor<'_>,
    ) -> Result<NodeBuffer, NodeError> {
        let masks = self.heap_masks(masks.creation(), masks.visible())?;
        let mappable = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE;
        let copies = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let usage = descriptor.usage | if descriptor.usage.intersects(mappable) { descriptor.usage } else { copies };
        let label = descriptor.label.unwrap_or("buffer").to_owned();
        let device = self.device(masks.node())?;
        let size = descriptor.size.checked_next_multiple_of(4).unwrap_or(descriptor.size);
        let buffer =
            guarded(device, &label, || device.create_buffer(&wgpu::BufferDescriptor { size, usage, ..*descriptor }))?;
        Ok(NodeBuffer { set: self.id, masks, buffer, size: descriptor.size, label })
    }

    /// Creates a texture on the node of a heap's creation mask, for the nodes of its visible mask. `COPY_SRC` and
    /// `COPY_DST` are added to its usages.
    ///
    /// # Errors
    /// As [`NodeSet::create_buffer`].
    pub fn create_texture(
        &self,
        masks: HeapMasks,
        descriptor: &wgpu::TextureDescriptor<'_>,
    ) -> Result<NodeTexture, NodeError> {
        let masks = self.heap_masks(masks.creation(), masks.visible())?;
        let usage = descriptor.usage | wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST;
        let label = descriptor.label.unwrap_or("texture").to_owned();
        let device = self.device(masks.node())?;
        let texture = guarded(device, &label, || {
            device.create_texture(&wgpu::TextureDescriptor { usage, ..descriptor.clone() })
        })?;
        Ok(NodeTexture { set: self.id, masks, texture, label })
    }

    /// Takes a buffer that was made with a node's own device, such as the output of a tessellation. Copies need its
    /// `COPY_SRC` or `COPY_DST`, and copies of unaligned bytes to it both.
    ///
    /// # Errors
    /// [`NodeError::Mask`].
    pub fn adopt_buffer(&self, masks: HeapMasks, label: &str, buffer: &wgpu::Buffer) -> Result<NodeBuffer, NodeError> {
        let masks = self.heap_masks(masks.creation(), masks.visible())?;
        Ok(NodeBuffer { set: self.id, masks, size: buffer.size(), buffer: buffer.clone(), label: label.to_owned() })
    }
}
