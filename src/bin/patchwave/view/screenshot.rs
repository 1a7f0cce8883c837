//! A frame's texture as a PNG file.

use image::ImageEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};

use crate::scene::Size;
use crate::scene::gpu::Gpu;

/// A copy of a frame's texture under way.
pub(super) struct Copy {
    buffer: wgpu::Buffer,
    size: Size,
    /// Bytes of a row.
    pitch: u32,
    is_blue_first: bool,
}

/// Formats whose bytes are understood: 8 bits a channel.
pub(super) fn is_readable(format: wgpu::TextureFormat) -> bool {
    matches!(format.remove_srgb_suffix(), wgpu::TextureFormat::Rgba8Unorm | wgpu::TextureFormat::Bgra8Unorm)
}

impl Copy {
    /// Encodes the copy; the texture has to have `COPY_SRC` and a format that [`is_readable`].
    pub(super) fn new(gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, texture: &wgpu::Texture) -> Self {
        let size = Size { width: texture.width(), height: texture.height() };
        let pitch = (size.width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("screenshot"),
            size: u64::from(pitch) * u64::from(size.height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(pitch),
                    rows_per_image: Some(size.height),
                },
            },
            size.extent(),
        );
        let is_blue_first = texture.format().remove_srgb_suffix() == wgpu::TextureFormat::Bgra8Unorm;
        Self { buffer, size, pitch, is_blue_first }
    }

    /// The picture, once the encoder is submitted; waits for it.
    pub(super) fn png(&self, gpu: &Gpu) -> anyhow::Result<Vec<u8>> {
        let bytes = gpu.read(&self.buffer)?;
        let pixels = pixels(&bytes, self.size, self.pitch, self.is_blue_first);
        let mut png = Vec::new();
        PngEncoder::new_with_quality(&mut png, CompressionType::Best, FilterType::Adaptive).write_image(
            &pixels,
            self.size.width,
            self.size.height,
            image::ExtendedColorType::Rgb8,
        )?;
        Ok(png)
    }
}

/// Red, green and blue of each pixel, of rows of `pitch` bytes.
fn pixels(bytes: &[u8], size: Size, pitch: u32, is_blue_first: bool) -> Vec<u8> {
    let row = size.width as usize * 4;
    let rows = bytes.chunks(pitch as usize).filter_map(|padded| padded.get(..row));
    let order = if is_blue_first { [2, 1, 0] } else { [0, 1, 2] };
    rows.flat_map(|row| row.chunks_exact(4)).flat_map(|pixel| order.map(|channel| pixel[channel])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_come_in_order_and_padding_is_left_out() {
        let size = Size { width: 2, height: 2 };
        let bytes: Vec<u8> = (0..24).collect();
        let expected = [2, 1, 0, 6, 5, 4, 14, 13, 12, 18, 17, 16];
        assert_eq!(pixels(&bytes, size, 12, true), expected);
        assert_eq!(pixels(&bytes, size, 12, false)[..3], [0, 1, 2]);
    }
}
