//! Copies of texels: between textures, and between a texture and a footprint in a buffer, on a node or to another.

use super::bytes::ByteRows;
use super::error::NodeError;
use super::footprint::{Direction, PlacedFootprint, check_footprint_copy};
use super::list::{NodeCommandList, check_usage};
use super::push::{End, Piece};
use super::regions::{TexelBox, TexelRows, TextureShape, check_boxes, check_formats, check_staged, refuse, texel_rows};
use super::resource::{NodeBuffer, NodeTexture};
use super::tier::Place;

/// Texels of a texture: a mip level, an aspect, and where to begin. `origin.z` is the layer of an array or the slice of a
/// volume.
#[derive(Clone, Copy, Debug)]
pub struct NodeTextureLocation<'a> {
    /// The texture.
    pub texture: &'a NodeTexture,
    /// The mip level.
    pub mip_level: u32,
    /// The aspect; `All` where the format has one plane.
    pub aspect: wgpu::TextureAspect,
    /// Texels before the first, in whole blocks.
    pub origin: wgpu::Origin3d,
}

impl<'a> NodeTextureLocation<'a> {
    /// The first texel of a mip level.
    #[must_use]
    pub fn new(texture: &'a NodeTexture, mip_level: u32) -> Self {
        Self { texture, mip_level, aspect: wgpu::TextureAspect::All, origin: wgpu::Origin3d::ZERO }
    }
}

/// Texels in a buffer: a footprint, and where in it to begin. Texels and layers count as in the texture that the footprint
/// would be.
#[derive(Clone, Copy, Debug)]
pub struct NodeBufferLocation<'a> {
    /// The buffer.
    pub buffer: &'a NodeBuffer,
    /// How texels lie in it.
    pub footprint: PlacedFootprint,
    /// Texels before the first, in whole blocks.
    pub origin: wgpu::Origin3d,
}

impl<'a> NodeBufferLocation<'a> {
    /// The first texel of a footprint.
    #[must_use]
    pub fn new(buffer: &'a NodeBuffer, footprint: PlacedFootprint) -> Self {
        Self { buffer, footprint, origin: wgpu::Origin3d::ZERO }
    }
}

/// One side of a copy of texels: Direct3D's `D3D12_TEXTURE_COPY_LOCATION`.
#[derive(Clone, Copy, Debug)]
pub enum NodeCopyLocation<'a> {
    /// In a texture: `D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX`.
    Texture(NodeTextureLocation<'a>),
    /// In a buffer: `D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT`.
    Buffer(NodeBufferLocation<'a>),
}

impl<'a> From<NodeTextureLocation<'a>> for NodeCopyLocation<'a> {
    fn from(location: NodeTextureLocation<'a>) -> Self {
        Self::Texture(location)
    }
}

impl<'a> From<NodeBufferLocation<'a>> for NodeCopyLocation<'a> {
    fn from(location: NodeBufferLocation<'a>) -> Self {
        Self::Buffer(location)
    }
}

const OPERATION: &str = "copy_texture_region";

impl NodeCommandList {
    /// Copies texels: Direct3D's `CopyTextureRegion`, between two textures or between a texture and a footprint in a buffer
    /// ([`NodeBufferLocation`]). The extent is in texels; blocks that reach beyond the edge of a mip level are copied
    /// whole. An extent of 0 copies nothing and is checked all the same. In a buffer, the bytes between rows and beside the
    /// box stay as they are.
    ///
    /// To textures of another node go colour and block-compressed formats, `Depth16Unorm` and stencil planes, of one
    /// sample; to its buffers go these and `Depth32Float`. What a footprint has between the rows of the box is staged with
    /// them on the way to another node.
    ///
    /// # Errors
    /// As [`NodeCommandList::copy_buffer_region`], and [`NodeError::Copy`] where the formats or samples differ, the box
    /// is not whole blocks, source and destination are one subresource, a depth, stencil or multisampled subresource is
    /// not copied whole, or the copy is of a depth format or samples that no buffer holds; of a footprint, where its offset
    /// or row pitch is not aligned, a row does not fit its pitch, or it ends beyond its buffer; and where both sides are
    /// buffers.
    pub fn copy_texture_region<'a>(
        &mut self,
        destination: impl Into<NodeCopyLocation<'a>>,
        source: impl Into<NodeCopyLocation<'a>>,
        extent: wgpu::Extent3d,
    ) -> Result<(), NodeError> {
        use NodeCopyLocation::{Buffer, Texture};
        let made = match (destination.into(), source.into()) {
            (Texture(to), Texture(from)) => self.between_textures(OPERATION, to, from, extent),
            (Texture(to), Buffer(from)) => self.with_footprint(to, from, Direction::ToTexture, extent),
            (Buffer(to), Texture(from)) => self.with_footprint(from, to, Direction::FromTexture, extent),
            (Buffer(_), Buffer(_)) => refuse(OPERATION, "both sides are buffers; copy_buffer_region copies those"),
        };
        self.sticky(made)
    }

    fn between_textures(
        &mut self,
        operation: &'static str,
        destination: NodeTextureLocation<'_>,
        source: NodeTextureLocation<'_>,
        extent: wgpu::Extent3d,
    ) -> Result<(), NodeError> {
        let place = self.check_copy(destination.texture.into(), source.texture.into())?;
        let same = destination.texture.texture == source.texture.texture;
        let (to_shape, from_shape) =
            (TextureShape::of(&destination.texture.texture), TextureShape::of(&source.texture.texture));
        check_formats(operation, &to_shape, &from_shape)?;
        let texels = |name, shape: &TextureShape, location: &NodeTextureLocation<'_>| {
            TexelBox::new(operation, name, shape, (location.mip_level, location.aspect, location.origin), extent)
        };
        let to = texels("destination", &to_shape, &destination)?;
        let from = texels("source", &from_shape, &source)?;
        if to.extent != from.extent || to.aspect != from.aspect {
            return Err(NodeError::Copy {
                operation,
                reason: format!(
                    "{extent:?} of {:?} is not the same blocks of one plane on both sides, {:?} and {:?}",
                    from.aspect, from.extent, to.extent
                ),
            });
        }
        check_boxes(operation, (&to_shape, &to), (&from_shape, &from), same)?;
        if place == Place::Remote {
            check_staged(operation, &from_shape, from.aspect)?;
        }
        if to.is_empty() {
            return Ok(());
        }
        let (to_texture, from_texture) = (&destination.texture.texture, &source.texture.texture);
        if place == Place::Local {
            let aspect = if to_shape.samples == 1 { to.aspect } else { wgpu::TextureAspect::All };
            let info = |texture, texels: &TexelBox| wgpu::TexelCopyTextureInfo {
                texture,
                mip_level: texels.mip_level,
                origin: texels.origin,
                aspect,
            };
            self.encoder().copy_texture_to_texture(info(from_texture, &from), info(to_texture, &to), to.extent);
            return Ok(());
        }
        let rows = texel_rows(&from_shape, &from, None, self.piece_bytes())?;
        let node = destination.texture.masks.node() as usize;
        let pieces = rows
            .into_iter()
            .map(|rows| Piece {
                from: rows_of_texture(from_texture, &from, &rows),
                to: rows_of_texture(to_texture, &to, &rows),
                bytes: rows.bytes(),
                node,
            })
            .collect();
        self.push(pieces)
    }

    /// Between a texture and a footprint in a buffer, of which one may be another node's.
    fn with_footprint(
        &mut self,
        texture: NodeTextureLocation<'_>,
        buffer: NodeBufferLocation<'_>,
        direction: Direction,
        extent: wgpu::Extent3d,
    ) -> Result<(), NodeError> {
        let to_texture = direction == Direction::ToTexture;
        let (place, [texture_name, buffer_name]) = if to_texture {
            (self.check_copy(texture.texture.into(), buffer.buffer.into())?, ["destination", "source"])
        } else {
            (self.check_copy(buffer.buffer.into(), texture.texture.into())?, ["source", "destination"])
        };
        let (shape, footprint) = (TextureShape::of(&texture.texture.texture), buffer.footprint);
        footprint.check(OPERATION, buffer_name, buffer.buffer.size)?;
        let at = (texture.mip_level, texture.aspect, texture.origin);
        let texels = TexelBox::new(OPERATION, texture_name, &shape, at, extent)?;
        check_footprint_copy(OPERATION, (&shape, &texels), (&footprint, buffer.origin), direction)?;
        // Formats are alike, so blocks are; those that a mip level ends in are whole in the buffer.
        let at = (0, wgpu::TextureAspect::All, buffer.origin);
        let side = format!("{buffer_name}'s footprint");
        let placed = TexelBox::new(OPERATION, &side, &footprint.shape(), at, texels.extent)?;
        let usages =
            if to_texture { wgpu::BufferUsages::COPY_SRC } else { self.written_usages(place, &placed, &footprint) };
        check_usage(OPERATION, buffer.buffer, usages)?;
        if texels.is_empty() {
            return Ok(());
        }
        if place == Place::Local {
            self.local_footprint((texture.texture, &texels), buffer, direction);
            return Ok(());
        }
        let rows = texel_rows(&shape, &texels, Some(footprint.row_pitch), self.piece_bytes())?;
        let pieces = rows
            .into_iter()
            .map(|rows| {
                let wgpu::Origin3d { x, y, z } = placed.origin;
                let offset = footprint.byte_of(wgpu::Origin3d { x, y: y + rows.y, z: z + rows.layer });
                let (held, bytes) = (buffer.buffer.buffer.clone(), rows.bytes());
                let texels = rows_of_texture(&texture.texture.texture, &texels, &rows);
                if to_texture {
                    let node = texture.texture.masks.node() as usize;
                    return Piece { from: End::Bytes { buffer: held, offset }, to: texels, bytes, node };
                }
                let rows = ByteRows {
                    bytes: u64::from(rows.row_bytes),
                    rows: u64::from(rows.rows),
                    pitch: u64::from(rows.pitch),
                };
                let node = buffer.buffer.masks.node() as usize;
                Piece { from: texels, to: End::Rows { buffer: held, offset, rows }, bytes, node }
            })
            .collect();
        self.push(pieces)
    }

    /// What a buffer needs to be written to: words at the edges of rows are read and merged.
    fn written_usages(&self, place: Place, placed: &TexelBox, footprint: &PlacedFootprint) -> wgpu::BufferUsages {
        let extent = wgpu::Origin3d { x: placed.origin.x + placed.extent.width, ..placed.origin };
        let edges = [placed.origin, extent].iter().any(|at| !footprint.byte_of(*at).is_multiple_of(4));
        let reads = place == Place::Remote && edges;
        wgpu::BufferUsages::COPY_DST | if reads { wgpu::BufferUsages::COPY_SRC } else { wgpu::BufferUsages::empty() }
    }

    /// On the list's node wgpu copies between the two itself.
    fn local_footprint(
        &mut self,
        (texture, texels): (&NodeTexture, &TexelBox),
        NodeBufferLocation { buffer, footprint, origin }: NodeBufferLocation<'_>,
        direction: Direction,
    ) {
        let image = wgpu::TexelCopyTextureInfo {
            texture: &texture.texture,
            mip_level: texels.mip_level,
            origin: texels.origin,
            aspect: texels.aspect,
        };
        let placed = wgpu::TexelCopyBufferInfo {
            buffer: &buffer.buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: footprint.byte_of(origin),
                bytes_per_row: Some(footprint.row_pitch),
                rows_per_image: Some(footprint.rows()),
            },
        };
        match direction {
            Direction::ToTexture => self.encoder().copy_buffer_to_texture(placed, image, texels.extent),
            Direction::FromTexture => self.encoder().copy_texture_to_buffer(image, placed, texels.extent),
        }
    }

    /// All of a texture, plane by plane.
    pub(super) fn all_texels(
        &mut self,
        operation: &'static str,
        destination: &NodeTexture,
        source: &NodeTexture,
        shape: &TextureShape,
    ) -> Result<(), NodeError> {
        let planes: &[wgpu::TextureAspect] = match (shape.format.has_depth_aspect(), shape.format.has_stencil_aspect())
        {
            (true, true) => &[wgpu::TextureAspect::DepthOnly, wgpu::TextureAspect::StencilOnly],
            _ => &[wgpu::TextureAspect::All],
        };
        // All planes are checked before the first is recorded, so that nothing is done by halves.
        if destination.masks.node() != self.node {
            for aspect in planes {
                let aspect = if shape.format.is_depth_stencil_format() && *aspect == wgpu::TextureAspect::All {
                    if shape.format.has_depth_aspect() {
                        wgpu::TextureAspect::DepthOnly
                    } else {
                        wgpu::TextureAspect::StencilOnly
                    }
                } else {
                    *aspect
                };
                check_staged(operation, shape, aspect)?;
            }
        }
        for mip_level in 0..shape.mip_levels {
            for aspect in planes {
                let location =
                    |texture| NodeTextureLocation { aspect: *aspect, ..NodeTextureLocation::new(texture, mip_level) };
                self.between_textures(operation, location(destination), location(source), shape.level(mip_level))?;
            }
        }
        Ok(())
    }
}

/// Rows of a box as one end of a piece.
fn rows_of_texture(texture: &wgpu::Texture, texels: &TexelBox, rows: &TexelRows) -> End {
    End::Texels {
        texture: texture.clone(),
        mip_level: texels.mip_level,
        aspect: texels.aspect,
        origin: wgpu::Origin3d { x: texels.origin.x, y: texels.origin.y + rows.y, z: texels.origin.z + rows.layer },
        extent: wgpu::Extent3d { width: texels.extent.width, height: rows.height, depth_or_array_layers: 1 },
        pitch: rows.pitch,
    }
}
