//! What copies may copy: pure checks of ranges, boxes and formats, before wgpu sees them.

use super::error::NodeError;

pub(super) fn refuse<T>(operation: &'static str, reason: impl Into<String>) -> Result<T, NodeError> {
    Err(NodeError::Copy { operation, reason: reason.into() })
}

/// A range of bytes of a buffer that has `has` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteRange {
    pub(super) offset: u64,
    pub(super) has: u64,
}

/// Checks `copy_buffer_region`: both ranges within their buffers, and apart where the buffer is the same.
pub(super) fn check_buffer_region(
    destination: ByteRange,
    source: ByteRange,
    size: u64,
    same_buffer: bool,
) -> Result<(), NodeError> {
    let operation = "copy_buffer_region";
    for (name, range) in [("source", source), ("destination", destination)] {
        let fits = range.offset.checked_add(size).is_some_and(|end| end <= range.has);
        if !fits {
            return refuse(
                operation,
                format!("{size} bytes from offset {} end beyond the {name}'s {} bytes", range.offset, range.has),
            );
        }
    }
    let apart = source.offset + size <= destination.offset || destination.offset + size <= source.offset;
    if same_buffer && !apart && size > 0 {
        return refuse(
            operation,
            format!(
                "{size} bytes from offset {} to {} of one buffer overlap; copy by way of another buffer",
                source.offset, destination.offset
            ),
        );
    }
    Ok(())
}

/// What of a texture a check needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextureShape {
    pub(super) size: wgpu::Extent3d,
    pub(super) dimension: wgpu::TextureDimension,
    pub(super) mip_levels: u32,
    pub(super) samples: u32,
    pub(super) format: wgpu::TextureFormat,
}

impl TextureShape {
    pub(super) fn of(texture: &wgpu::Texture) -> Self {
        Self {
            size: texture.size(),
            dimension: texture.dimension(),
            mip_levels: texture.mip_level_count(),
            samples: texture.sample_count(),
            format: texture.format(),
        }
    }

    /// Texels of a mip level: layers of an array stay, slices of a volume halve.
    pub(super) fn level(&self, mip_level: u32) -> wgpu::Extent3d {
        self.size.mip_level_size(mip_level, self.dimension)
    }
}

/// A box of texels of one mip level and aspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TexelBox {
    pub(super) mip_level: u32,
    pub(super) aspect: wgpu::TextureAspect,
    pub(super) origin: wgpu::Origin3d,
    /// In whole blocks: wgpu counts the texels that pad the last blocks of a level.
    pub(super) extent: wgpu::Extent3d,
}

const fn is_empty(extent: wgpu::Extent3d) -> bool {
    extent.width == 0 || extent.height == 0 || extent.depth_or_array_layers == 0
}

impl TexelBox {
    /// The box of `extent` texels from `origin` on; blocks that reach beyond a level's edge are taken whole.
    pub(super) fn new(
        operation: &'static str,
        name: &str,
        shape: &TextureShape,
        (mip_level, aspect, origin): (u32, wgpu::TextureAspect, wgpu::Origin3d),
        extent: wgpu::Extent3d,
    ) -> Result<Self, NodeError> {
        if mip_level >= shape.mip_levels {
            return refuse(operation, format!("mip level {mip_level} of the {name}, which has {}", shape.mip_levels));
        }
        let aspect = plane_of(operation, shape.format, aspect)?;
        let level = shape.level(mip_level);
        let blocks = shape.format.block_dimensions();
        let axis = |name_of_axis: &str, origin: u32, extent: u32, level: u32, block: u32| {
            let end = u64::from(origin) + u64::from(extent);
            if end > u64::from(level.next_multiple_of(block)) {
                let reason = format!(
                    "{extent} texels in {name_of_axis} from {origin} on end beyond the {name}'s {level} at that mip level"
                );
                return refuse(operation, reason);
            }
            let whole = if end >= u64::from(level) { extent.next_multiple_of(block) } else { extent };
            if !origin.is_multiple_of(block) || !whole.is_multiple_of(block) {
                let reason = format!(
                    "{extent} texels in {name_of_axis} from {origin} on are not whole blocks of {block}, which {:?} has",
                    shape.format
                );
                return refuse(operation, reason);
            }
            Ok(whole)
        };
        let extent = wgpu::Extent3d {
            width: axis("x", origin.x, extent.width, level.width, blocks.0)?,
            height: axis("y", origin.y, extent.height, level.height, blocks.1)?,
            depth_or_array_layers: axis("z", origin.z, extent.depth_or_array_layers, level.depth_or_array_layers, 1)?,
        };
        Ok(Self { mip_level, aspect, origin, extent })
    }

    pub(super) fn is_empty(&self) -> bool {
        is_empty(self.extent)
    }

    /// Whether it is all texels of its layers.
    pub(super) fn covers_layers(&self, shape: &TextureShape) -> bool {
        let level = shape.level(self.mip_level);
        self.origin.x == 0
            && self.origin.y == 0
            && self.extent.width >= level.width
            && self.extent.height >= level.height
    }
}

/// The aspect, with `All` replaced where the format has one only. Of formats that have depth and stencil one must be
/// named: they are two planes, which Direct3D copies one by one.
pub(super) fn plane_of(
    operation: &'static str,
    format: wgpu::TextureFormat,
    aspect: wgpu::TextureAspect,
) -> Result<wgpu::TextureAspect, NodeError> {
    use wgpu::TextureAspect as Aspect;
    match (aspect, format.has_depth_aspect(), format.has_stencil_aspect()) {
        (Aspect::All, false, false) => Ok(Aspect::All),
        (Aspect::All | Aspect::DepthOnly, true, false) | (Aspect::DepthOnly, true, true) => Ok(Aspect::DepthOnly),
        (Aspect::All | Aspect::StencilOnly, false, true) | (Aspect::StencilOnly, true, true) => Ok(Aspect::StencilOnly),
        (Aspect::All, true, true) => refuse(operation, format!("{format:?} has two planes: name depth or stencil")),
        _ => refuse(operation, format!("{format:?} has no plane {aspect:?}")),
    }
}

/// Checks that two textures can be copied between at all: same format but for sRGB, same samples.
pub(super) fn check_formats(
    operation: &'static str,
    destination: &TextureShape,
    source: &TextureShape,
) -> Result<(), NodeError> {
    if destination.format.remove_srgb_suffix() != source.format.remove_srgb_suffix() {
        let reason = format!("from {:?} to {:?}; the formats must be the same", source.format, destination.format);
        return refuse(operation, reason);
    }
    if destination.samples != source.samples {
        let reason = format!("from {} samples to {}; they must be the same", source.samples, destination.samples);
        return refuse(operation, reason);
    }
    Ok(())
}

/// Checks what staging through a buffer adds: no multisampling, and planes that WebGPU copies from buffers and to them.
pub(super) fn check_staged(
    operation: &'static str,
    shape: &TextureShape,
    aspect: wgpu::TextureAspect,
) -> Result<(), NodeError> {
    use wgpu::TextureFormat as Format;
    if shape.samples != 1 {
        let reason = format!(
            "a texture of {} samples cannot be pushed to another node, since it cannot be copied to a buffer: resolve it \
             and push the result",
            shape.samples
        );
        return refuse(operation, reason);
    }
    if shape.format.is_multi_planar_format() {
        return refuse(operation, format!("{:?} cannot be pushed: push each plane as a texture", shape.format));
    }
    if aspect == wgpu::TextureAspect::DepthOnly && shape.format != Format::Depth16Unorm {
        let reason = format!(
            "the depth of {:?} cannot be pushed to another node: of depth formats only Depth16Unorm can be copied from \
             buffers; draw the depth on that node, or push it as a colour format",
            shape.format
        );
        return refuse(operation, reason);
    }
    Ok(())
}

/// Checks a copy of texels between textures whose formats go together: boxes apart, and planes and samples whole.
pub(super) fn check_boxes(
    operation: &'static str,
    (destination, to): (&TextureShape, &TexelBox),
    (source, from): (&TextureShape, &TexelBox),
    same_texture: bool,
) -> Result<(), NodeError> {
    let layers = |texels: &TexelBox| texels.origin.z..texels.origin.z + texels.extent.depth_or_array_layers;
    let (a, b) = (layers(to), layers(from));
    // Slices of a volume are one subresource, layers of an array one each.
    let volume = source.dimension == wgpu::TextureDimension::D3;
    let shared = to.mip_level == from.mip_level && to.aspect == from.aspect;
    let meet = volume || (a.start < b.end && b.start < a.end);
    if same_texture && shared && meet && !to.is_empty() {
        let reason = "source and destination are one subresource; copy by way of another texture";
        return refuse(operation, reason);
    }
    let whole_only = source.format.is_depth_stencil_format() || source.samples != 1;
    if whole_only && !to.is_empty() && !(to.covers_layers(destination) && from.covers_layers(source)) {
        let reason = format!(
            "depth, stencil and multisampled textures are copied by whole subresources, and {}x{} texels are not all",
            from.extent.width, from.extent.height
        );
        return refuse(operation, reason);
    }
    Ok(())
}

/// Rows of blocks of one layer that are staged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TexelRows {
    /// Relative to the box.
    pub(super) layer: u32,
    /// First row of texels, relative to the box.
    pub(super) y: u32,
    /// Rows of texels.
    pub(super) height: u32,
    /// Rows of blocks.
    pub(super) rows: u32,
    /// Bytes of a row of blocks.
    pub(super) row_bytes: u32,
    /// Bytes from one row of blocks to the next, a multiple of 256.
    pub(super) pitch: u32,
}

impl TexelRows {
    /// Bytes from the first row's beginning to the last one's end.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.pitch) * u64::from(self.rows.saturating_sub(1)) + u64::from(self.row_bytes)
    }
}

/// Splits a box into rows that take at most `most` bytes of staging, at least one row each, `pitch` bytes apart or as close
/// as wgpu allows. Planes of depth and stencil are not split: they are copied by whole layers.
pub(super) fn texel_rows(
    shape: &TextureShape,
    texels: &TexelBox,
    pitch: Option<u32>,
    most: u64,
) -> Result<Vec<TexelRows>, NodeError> {
    let Some(block_bytes) = shape.format.block_copy_size(Some(texels.aspect)) else {
        return refuse("push", format!("{:?} has no size in buffers", shape.format));
    };
    let (block_width, block_height) = shape.format.block_dimensions();
    let row_bytes = texels.extent.width.div_ceil(block_width) * block_bytes;
    let pitch = pitch.unwrap_or(row_bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT));
    let all = texels.extent.height.div_ceil(block_height);
    let fitting = u32::try_from(most / u64::from(pitch.max(1))).unwrap_or(u32::MAX).max(1);
    let step = if shape.format.is_depth_stencil_format() { all.max(1) } else { fitting };
    let mut parts = Vec::new();
    for layer in 0..texels.extent.depth_or_array_layers {
        let mut row = 0;
        while row < all {
            let rows = step.min(all - row);
            parts.push(TexelRows { layer, y: row * block_height, height: rows * block_height, rows, row_bytes, pitch });
            row += rows;
        }
    }
    Ok(parts)
}
