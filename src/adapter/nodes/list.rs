//! Command lists of a node: copies, pushes to other nodes, and whatever else the caller records, checked as it is recorded.

use std::sync::Arc;

use super::error::NodeError;
use super::push::{End, Piece, byte_parts, encode_write};
use super::regions::{ByteRange, TextureShape, check_buffer_region, check_formats};
use super::resource::{NodeBuffer, NodeResource};
use super::set::{NodeDevice, NodeSet};
use super::tier::{Place, ResourceUse};
use crate::adapter::CrossNodeSharingTier;
use crate::pipeline::guarded;

/// What a list does, in order.
#[derive(Debug)]
pub(super) enum Segment {
    /// For the node's own queue.
    Commands(wgpu::CommandBuffer),
    /// Between nodes.
    Push(Vec<Piece>),
}

/// A command list of one node. What it may not do is refused as it is recorded; the first error sticks, and
/// [`NodeCommandList::close`] gives it again, so that nothing of the list is executed.
///
/// Copies into a resource of another node that is visible to the list's (pushes) are staged through system memory. They
/// take effect in the list's order, and the signal that follows the list comes when they have arrived.
#[derive(Debug)]
pub struct NodeCommandList {
    set: u64,
    pub(super) node: u32,
    tier: CrossNodeSharingTier,
    chunk_bytes: u64,
    shared: Arc<NodeDevice>,
    segments: Vec<Segment>,
    encoder: Option<wgpu::CommandEncoder>,
    error: Option<NodeError>,
}

/// A closed list, to be executed once.
#[derive(Debug)]
pub struct ClosedNodeCommandList {
    pub(super) set: u64,
    pub(super) node: u32,
    pub(super) segments: Vec<Segment>,
}

impl NodeSet {
    /// Begins a command list. Its node mask has exactly one bit; 0 stands for node 0.
    ///
    /// # Errors
    /// [`NodeError::Mask`].
    pub fn create_command_list(&self, node_mask: u32) -> Result<NodeCommandList, NodeError> {
        let node = super::mask::node_of(node_mask, "command list node mask", self.node_count())?;
        Ok(NodeCommandList {
            set: self.id,
            node,
            tier: self.sharing_tier(),
            chunk_bytes: self.staging.chunk_bytes,
            shared: Arc::clone(&self.node(node)?.shared),
            segments: Vec::new(),
            encoder: None,
            error: None,
        })
    }
}

impl NodeCommandList {
    /// The node that executes it.
    #[must_use]
    pub fn node(&self) -> u32 {
        self.node
    }

    /// Copies `size` bytes: Direct3D's `CopyBufferRegion`. Offsets and size are any; bytes beside the range stay as they
    /// are. A size of 0 copies nothing and is checked all the same.
    ///
    /// # Errors
    /// [`NodeError::CrossNode`] where the source is another node's, [`NodeError::NotVisible`], and [`NodeError::Copy`]
    /// where a range ends beyond its buffer or the ranges of one buffer overlap.
    pub fn copy_buffer_region(
        &mut self,
        destination: &NodeBuffer,
        destination_offset: u64,
        source: &NodeBuffer,
        source_offset: u64,
        size: u64,
    ) -> Result<(), NodeError> {
        let made = self.buffer_region((destination, destination_offset), (source, source_offset), size);
        self.sticky(made)
    }

    /// Copies all of a buffer or a texture into another like it: Direct3D's `CopyResource`.
    ///
    /// # Errors
    /// As the other copies, and [`NodeError::Copy`] where source and destination are one resource or differ in kind,
    /// size, mip levels, samples or format.
    pub fn copy_resource<'a>(
        &mut self,
        destination: impl Into<NodeResource<'a>>,
        source: impl Into<NodeResource<'a>>,
    ) -> Result<(), NodeError> {
        let made = self.resource(destination.into(), source.into());
        self.sticky(made)
    }

    /// Records whatever `record` does with the encoder, which is of the list's node. `uses` declares the resources of the
    /// node set that it uses and how; one of another node is refused, since shaders, attachments and the input assembler
    /// reach no other node at this tier.
    ///
    /// # Errors
    /// [`NodeError::CrossNode`], [`NodeError::NotVisible`], [`NodeError::Foreign`]; `record` is not called then.
    pub fn encode(
        &mut self,
        uses: &[(NodeResource<'_>, ResourceUse)],
        record: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<(), NodeError> {
        let checked = uses.iter().try_for_each(|(resource, resource_use)| {
            let place = resource.check(self.set, self.node, *resource_use, self.tier)?;
            // What `record` encodes goes to wgpu, which knows nothing of the other device.
            if place == Place::Remote {
                return Err(NodeError::Copy {
                    operation: "encode",
                    reason: "a resource of another node is written by the list's own copies only".to_owned(),
                });
            }
            Ok(())
        });
        if checked.is_ok() && self.error.is_none() {
            record(self.encoder());
        }
        self.sticky(checked)
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// The first error of the recording, or [`NodeError::Pipeline`] where wgpu refuses what was recorded. Nothing of the
    /// list can be executed then.
    pub fn close(mut self) -> Result<ClosedNodeCommandList, NodeError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.finish_encoder()?;
        Ok(ClosedNodeCommandList { set: self.set, node: self.node, segments: self.segments })
    }

    pub(super) fn sticky(&mut self, made: Result<(), NodeError>) -> Result<(), NodeError> {
        if let Err(error) = &made {
            self.error.get_or_insert_with(|| error.clone());
        }
        made
    }

    pub(super) fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        let device = &self.shared.device;
        self.encoder.get_or_insert_with(|| {
            device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("node command list") })
        })
    }

    fn finish_encoder(&mut self) -> Result<(), NodeError> {
        if let Some(encoder) = self.encoder.take() {
            let commands = guarded(&self.shared.device, "a node's command list", || encoder.finish())?;
            self.segments.push(Segment::Commands(commands));
        }
        Ok(())
    }

    pub(super) fn push(&mut self, mut pieces: Vec<Piece>) -> Result<(), NodeError> {
        self.finish_encoder()?;
        // Pushes in a row share their chunks.
        match self.segments.last_mut() {
            Some(Segment::Push(before)) => before.append(&mut pieces),
            _ => self.segments.push(Segment::Push(pieces)),
        }
        Ok(())
    }

    /// Bytes of a piece: with the rest of its words they are a chunk.
    pub(super) fn piece_bytes(&self) -> u64 {
        self.chunk_bytes - 16
    }

    /// Where a copy goes, if it may: to this node or to another.
    pub(super) fn check_copy(
        &self,
        destination: NodeResource<'_>,
        source: NodeResource<'_>,
    ) -> Result<Place, NodeError> {
        source.check(self.set, self.node, ResourceUse::CopySource, self.tier)?;
        destination.check(self.set, self.node, ResourceUse::CopyDestination, self.tier)
    }

    fn buffer_region(
        &mut self,
        (destination, to): (&NodeBuffer, u64),
        (source, from): (&NodeBuffer, u64),
        size: u64,
    ) -> Result<(), NodeError> {
        let place = self.check_copy(destination.into(), source.into())?;
        check_buffer_region(
            ByteRange { offset: to, has: destination.size },
            ByteRange { offset: from, has: source.size },
            size,
            destination.buffer == source.buffer,
        )?;
        check_usages(destination, to, source, size)?;
        if size == 0 {
            return Ok(());
        }
        if place == Place::Local {
            return self.local_bytes((&destination.buffer, to), (&source.buffer, from), size);
        }
        let end = |buffer: &NodeBuffer, offset: u64| End::Bytes { buffer: buffer.buffer.clone(), offset };
        let pieces = byte_parts(to, size, self.piece_bytes())
            .into_iter()
            .map(|(done, bytes)| Piece {
                from: end(source, from + done),
                to: end(destination, to + done),
                bytes,
                node: destination.masks.node() as usize,
            })
            .collect();
        self.push(pieces)
    }

    fn local_bytes(
        &mut self,
        (destination, to): (&wgpu::Buffer, u64),
        (source, from): (&wgpu::Buffer, u64),
        size: u64,
    ) -> Result<(), NodeError> {
        let shared = Arc::clone(&self.shared);
        // wgpu copies no buffer to itself.
        if from % 4 == to % 4 && destination != source {
            encode_write(&shared, self.encoder(), (source, from), (destination, to), size)?;
        } else {
            let merge = shared.merge()?;
            merge.copy(&shared.device, self.encoder(), (source, from), (destination, to), size)?;
        }
        Ok(())
    }

    fn resource(&mut self, destination: NodeResource<'_>, source: NodeResource<'_>) -> Result<(), NodeError> {
        let operation = "copy_resource";
        let refuse = |reason: String| Err(NodeError::Copy { operation, reason });
        self.check_copy(destination, source)?;
        match (destination, source) {
            (NodeResource::Buffer(destination), NodeResource::Buffer(source)) => {
                if destination.buffer == source.buffer {
                    return refuse("source and destination are one buffer".to_owned());
                }
                if destination.size != source.size {
                    return refuse(format!(
                        "from {} bytes to {}; sizes must be the same",
                        source.size, destination.size
                    ));
                }
                self.buffer_region((destination, 0), (source, 0), source.size)
            }
            (NodeResource::Texture(destination), NodeResource::Texture(source)) => {
                let (to, from) = (TextureShape::of(&destination.texture), TextureShape::of(&source.texture));
                if destination.texture == source.texture {
                    return refuse("source and destination are one texture".to_owned());
                }
                check_formats(operation, &to, &from)?;
                let dimensions = |shape: &TextureShape| (shape.size, shape.dimension, shape.mip_levels);
                if dimensions(&to) != dimensions(&from) {
                    return refuse(format!(
                        "from {:?} to {:?}; they must be the same",
                        dimensions(&from),
                        dimensions(&to)
                    ));
                }
                self.all_texels(operation, destination, source, &from)
            }
            _ => refuse("a buffer and a texture; copy_texture_region takes a footprint of the buffer".to_owned()),
        }
    }
}

/// Refuses buffers without the usages that the copy needs, which adopted ones may lack.
fn check_usages(destination: &NodeBuffer, to: u64, source: &NodeBuffer, size: u64) -> Result<(), NodeError> {
    let edges = !to.is_multiple_of(4) || !size.is_multiple_of(4) || destination.buffer == source.buffer;
    let copies = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let needs = if edges { copies } else { wgpu::BufferUsages::COPY_DST };
    check_usage("copy_buffer_region", destination, needs)?;
    check_usage("copy_buffer_region", source, wgpu::BufferUsages::COPY_SRC)
}

/// Refuses a buffer without usages that a copy needs.
pub(super) fn check_usage(
    operation: &'static str,
    buffer: &NodeBuffer,
    needs: wgpu::BufferUsages,
) -> Result<(), NodeError> {
    if buffer.buffer.usage().contains(needs) {
        return Ok(());
    }
    let reason = format!("buffer '{}' was made without {needs:?}, which this copy needs", buffer.label);
    Err(NodeError::Copy { operation, reason })
}
