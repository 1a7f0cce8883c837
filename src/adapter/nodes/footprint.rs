//! Texels that lie in a buffer: Direct3D 12's placed footprints, and what may be copied between them and textures.
//!
//! Source: the documentation of `D3D12_PLACED_SUBRESOURCE_FOOTPRINT`, `D3D12_SUBRESOURCE_FOOTPRINT`,
//! `ID3D12Device::GetCopyableFootprints` and `ID3D12GraphicsCommandList::CopyTextureRegion`. Which planes of depth and
//! stencil formats can be copied is WebGPU's rule ("Depth-stencil formats").

use super::error::NodeError;
use super::regions::{TexelBox, TextureShape, plane_of, refuse};
use super::resource::NodeTexture;

/// `D3D12_TEXTURE_DATA_PLACEMENT_ALIGNMENT`: what the offset of a footprint is a multiple of, in bytes.
pub const PLACEMENT_ALIGNMENT: u64 = 512;

/// `D3D12_TEXTURE_DATA_PITCH_ALIGNMENT`: what the row pitch of a footprint is a multiple of, in bytes; WebGPU's too.
pub const PITCH_ALIGNMENT: u32 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;

/// How texels lie in a buffer: `D3D12_PLACED_SUBRESOURCE_FOOTPRINT`. Rows of blocks follow one another `row_pitch` bytes
/// apart, and the rows of a slice those of the slice before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlacedFootprint {
    /// Where the first row begins, in bytes: a multiple of [`PLACEMENT_ALIGNMENT`].
    pub offset: u64,
    /// The format of the texels: that of the texture but for sRGB. Of a depth or stencil plane, the plane's:
    /// `Depth16Unorm`, `R16Unorm` or `R16Uint`; `Depth32Float` or `R32Float`; `Stencil8` or `R8Uint`.
    pub format: wgpu::TextureFormat,
    /// Texels in a row: at least 1, in whole blocks.
    pub width: u32,
    /// Rows of texels: at least 1, in whole blocks.
    pub height: u32,
    /// Slices of a volume; here also layers of an array, which Direct3D copies one by one. At least 1.
    pub depth: u32,
    /// Bytes from one row of blocks to the next: a multiple of [`PITCH_ALIGNMENT`], at least a row's bytes.
    pub row_pitch: u32,
}

impl PlacedFootprint {
    /// Bytes of a row of blocks without what pads it; `None` for a format that buffers do not hold.
    #[must_use]
    pub fn row_bytes(&self) -> Option<u64> {
        let block = self.format.block_copy_size(None)?;
        Some(u64::from(self.width.div_ceil(self.format.block_dimensions().0)) * u64::from(block))
    }

    /// Bytes from `offset` to the end of the last row, which is not padded: `pTotalBytes` of `GetCopyableFootprints`, but
    /// for the offset. `None` for a format that buffers do not hold, and where 64 bits do not suffice.
    #[must_use]
    pub fn total_bytes(&self) -> Option<u64> {
        let before = (u64::from(self.rows()) * u64::from(self.depth)).saturating_sub(1);
        before.checked_mul(u64::from(self.row_pitch))?.checked_add(self.row_bytes()?)
    }

    /// Rows of blocks of a slice.
    pub(super) fn rows(&self) -> u32 {
        self.height.div_ceil(self.format.block_dimensions().1)
    }

    /// The texture that such texels would be.
    pub(super) fn shape(&self) -> TextureShape {
        TextureShape {
            size: wgpu::Extent3d { width: self.width, height: self.height, depth_or_array_layers: self.depth },
            dimension: wgpu::TextureDimension::D3,
            mip_levels: 1,
            samples: 1,
            format: self.format,
        }
    }

    /// Byte of the buffer where a block begins, which is given in texels.
    pub(super) fn byte_of(&self, texel: wgpu::Origin3d) -> u64 {
        let (width, height) = self.format.block_dimensions();
        let row = u64::from(texel.z) * u64::from(self.rows()) + u64::from(texel.y / height);
        let block = u64::from(self.format.block_copy_size(None).unwrap_or(0));
        // Below the footprint's end, which was checked against a buffer's size.
        self.offset + row * u64::from(self.row_pitch) + u64::from(texel.x / width) * block
    }

    /// Checks it against a buffer of `has` bytes.
    pub(super) fn check(&self, operation: &'static str, name: &str, has: u64) -> Result<(), NodeError> {
        let (format, width, height) = (self.format, self.width, self.height);
        let Some(row_bytes) = self.row_bytes() else {
            let reason =
                format!("buffers hold no texels of {format:?}; give the {name}'s footprint one plane's format");
            return refuse(operation, reason);
        };
        if !self.offset.is_multiple_of(PLACEMENT_ALIGNMENT) {
            let reason =
                format!("the {name}'s footprint begins at byte {}, no multiple of {PLACEMENT_ALIGNMENT}", self.offset);
            return refuse(operation, reason);
        }
        let blocks = format.block_dimensions();
        if [width, height, self.depth].contains(&0) || width % blocks.0 != 0 || height % blocks.1 != 0 {
            let reason = format!(
                "the {name}'s footprint is {width}x{height}x{} texels of {format:?}: it must be at least one block and \
                 whole ones, of {}x{}",
                self.depth, blocks.0, blocks.1
            );
            return refuse(operation, reason);
        }
        if !self.row_pitch.is_multiple_of(PITCH_ALIGNMENT) || u64::from(self.row_pitch) < row_bytes {
            let reason = format!(
                "the {name}'s footprint has a row pitch of {} bytes: it must be a multiple of {PITCH_ALIGNMENT} and hold a \
                 row's {row_bytes}",
                self.row_pitch
            );
            return refuse(operation, reason);
        }
        if self.total_bytes().and_then(|bytes| bytes.checked_add(self.offset)).is_none_or(|end| end > has) {
            let reason = format!(
                "the {name}'s footprint of {} rows, {} bytes apart from byte {} on, ends beyond the buffer's {has} bytes",
                u64::from(self.rows()) * u64::from(self.depth),
                self.row_pitch,
                self.offset
            );
            return refuse(operation, reason);
        }
        Ok(())
    }
}

impl NodeTexture {
    /// How all of a mip level would lie in a buffer from `offset` on, with the least row pitch:
    /// `ID3D12Device::GetCopyableFootprints` of one mip level and plane, its layers behind one another.
    ///
    /// # Errors
    /// [`NodeError::Copy`] where there is no such mip level or plane, or buffers do not hold it.
    pub fn copyable_footprint(
        &self,
        mip_level: u32,
        aspect: wgpu::TextureAspect,
        offset: u64,
    ) -> Result<PlacedFootprint, NodeError> {
        let operation = "copyable_footprint";
        let shape = TextureShape::of(&self.texture);
        if mip_level >= shape.mip_levels {
            return refuse(operation, format!("mip level {mip_level} of a texture that has {}", shape.mip_levels));
        }
        let aspect = plane_of(operation, shape.format, aspect)?;
        check_plane(operation, &shape, aspect, Direction::FromTexture)?;
        let format = plane_format(shape.format, aspect);
        let level = shape.level(mip_level);
        let (block_width, block_height) = format.block_dimensions();
        let [width, height] = [(level.width, block_width), (level.height, block_height)]
            .map(|(size, block)| size.next_multiple_of(block));
        let depth = level.depth_or_array_layers;
        let footprint = PlacedFootprint { offset, format, width, height, depth, row_pitch: 0 };
        // No texture that devices make has rows of anywhere near 4 GiB.
        let row = footprint.row_bytes().and_then(|bytes| u32::try_from(bytes).ok());
        match row.and_then(|bytes| bytes.checked_next_multiple_of(PITCH_ALIGNMENT)) {
            Some(row_pitch) => Ok(PlacedFootprint { row_pitch, ..footprint }),
            None => refuse(operation, format!("buffers hold no texels of {format:?}")),
        }
    }
}

/// Which way texels go between a texture and a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    ToTexture,
    FromTexture,
}

/// The format of a plane by itself.
fn plane_format(format: wgpu::TextureFormat, aspect: wgpu::TextureAspect) -> wgpu::TextureFormat {
    use wgpu::{TextureAspect as Aspect, TextureFormat as Format};
    match (aspect, format) {
        (Aspect::StencilOnly, _) => Format::Stencil8,
        (Aspect::DepthOnly, Format::Depth32FloatStencil8) => Format::Depth32Float,
        _ => format,
    }
}

/// Checks that a plane can be copied between textures and buffers at all.
fn check_plane(
    operation: &'static str,
    shape: &TextureShape,
    aspect: wgpu::TextureAspect,
    direction: Direction,
) -> Result<(), NodeError> {
    use wgpu::TextureFormat as Format;
    let format = shape.format;
    if shape.samples != 1 {
        let reason = format!(
            "a texture of {} samples cannot be copied to a buffer or from one: resolve it first",
            shape.samples
        );
        return refuse(operation, reason);
    }
    let held = format.block_copy_size(Some(aspect)).is_some() && !format.is_multi_planar_format();
    let written = aspect != wgpu::TextureAspect::DepthOnly || format == Format::Depth16Unorm;
    if !held || (direction == Direction::ToTexture && !written) {
        let reason = match direction {
            Direction::ToTexture => "cannot be copied from a buffer; of depth formats only Depth16Unorm can",
            Direction::FromTexture => {
                "cannot be copied to a buffer; of depth formats Depth16Unorm and Depth32Float can"
            }
        };
        return refuse(operation, format!("{aspect:?} of {format:?} {reason}"));
    }
    Ok(())
}

/// Checks a copy between a box of a texture and one of a footprint that was checked, and of which the caller knows that they
/// have the same extent.
pub(super) fn check_footprint_copy(
    operation: &'static str,
    (shape, texels): (&TextureShape, &TexelBox),
    (footprint, origin): (&PlacedFootprint, wgpu::Origin3d),
    direction: Direction,
) -> Result<(), NodeError> {
    use wgpu::TextureFormat as Format;
    check_plane(operation, shape, texels.aspect, direction)?;
    let plane = plane_format(shape.format, texels.aspect);
    let alike: &[Format] = match plane {
        Format::Depth16Unorm => &[Format::Depth16Unorm, Format::R16Unorm, Format::R16Uint],
        Format::Depth32Float => &[Format::Depth32Float, Format::R32Float],
        Format::Stencil8 => &[Format::Stencil8, Format::R8Uint],
        _ => &[],
    };
    if plane.remove_srgb_suffix() != footprint.format.remove_srgb_suffix() && !alike.contains(&footprint.format) {
        let reason = format!(
            "between texels of {plane:?} and a footprint of {:?}; the formats must be the same but for sRGB",
            footprint.format
        );
        return refuse(operation, reason);
    }
    let whole = texels.covers_layers(shape) && origin.x == 0 && origin.y == 0;
    if shape.format.is_depth_stencil_format() && !texels.is_empty() && !whole {
        let reason = format!(
            "planes of depth and stencil are copied by whole subresources, and {}x{} texels to or from {},{} of the \
             footprint are not",
            texels.extent.width, texels.extent.height, origin.x, origin.y
        );
        return refuse(operation, reason);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Bytes of the blocks of a footprint lie within it, apart from one another, and the last ends it.
        #[test]
        fn blocks_lie_within(
            width in 1u32..40, height in 1u32..20, depth in 1u32..5, more in 0u32..3, place in 0u64..4,
            format in prop::sample::select(vec![
                wgpu::TextureFormat::R8Uint, wgpu::TextureFormat::Rgba32Float, wgpu::TextureFormat::Bc1RgbaUnorm,
                wgpu::TextureFormat::Astc { block: wgpu::AstcBlock::B10x6, channel: wgpu::AstcChannel::Unorm },
            ]),
        ) {
            let blocks = format.block_dimensions();
            let bytes = format.block_copy_size(None).expect("it has a size");
            let row_pitch = (width * bytes).next_multiple_of(PITCH_ALIGNMENT) + more * PITCH_ALIGNMENT;
            let footprint = PlacedFootprint {
                offset: place * PLACEMENT_ALIGNMENT,
                format,
                width: width * blocks.0,
                height: height * blocks.1,
                depth,
                row_pitch,
            };
            let end = footprint.offset + footprint.total_bytes().expect("it is small");
            prop_assert!(footprint.check("a copy", "source", end).is_ok());
            prop_assert!(footprint.check("a copy", "source", end - 1).is_err());
            let mut at = footprint.offset;
            for z in 0..depth {
                for y in 0..height {
                    for x in 0..width {
                        let byte = footprint.byte_of(wgpu::Origin3d { x: x * blocks.0, y: y * blocks.1, z });
                        prop_assert!(byte >= at, "{x},{y},{z} begins at {byte}, within the block before");
                        at = byte + u64::from(bytes);
                    }
                }
            }
            prop_assert_eq!(at, end);
        }
    }
}
