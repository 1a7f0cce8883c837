//! What is drawn into, and the way from there to a PNG file.

use image::ImageEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};

use super::Size;
use super::gpu::Gpu;

/// Samples a pixel.
pub(crate) const SAMPLES: u32 = 4;
/// The format of the picture.
pub(crate) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// The format of its depth buffer.
pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// A multisampled target with a depth buffer.
pub(crate) struct Picture {
    size: Size,
    samples: wgpu::TextureView,
    depth: wgpu::TextureView,
    resolved: wgpu::Texture,
    resolved_view: wgpu::TextureView,
    readable: wgpu::Buffer,
    /// Bytes of a row in `readable`.
    pitch: u32,
}

impl Picture {
    pub(crate) fn new(gpu: &Gpu, size: Size) -> anyhow::Result<Self> {
        let texture = |label, format, sample_count, usage| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: size.extent(),
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            })
        };
        let attachment = wgpu::TextureUsages::RENDER_ATTACHMENT;
        let view = |texture: &wgpu::Texture| texture.create_view(&wgpu::TextureViewDescriptor::default());
        let resolved = texture("picture", COLOR, 1, attachment | wgpu::TextureUsages::COPY_SRC);
        let pitch = (size.width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let readable = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("picture"),
            size: u64::from(pitch) * u64::from(size.height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let picture = Self {
            size,
            samples: view(&texture("picture samples", COLOR, SAMPLES, attachment)),
            depth: view(&texture("picture depth", DEPTH, SAMPLES, attachment)),
            resolved_view: view(&resolved),
            resolved,
            readable,
            pitch,
        };
        gpu.check()?;
        Ok(picture)
    }

    /// A pass that draws the picture, from nothing.
    pub(crate) fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.samples,
                depth_slice: None,
                resolve_target: Some(&self.resolved_view),
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Discard },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        })
    }

    /// Encodes the copy that [`Picture::read`] reads.
    pub(crate) fn copy(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_texture_to_buffer(
            self.resolved.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.readable,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(self.pitch),
                    rows_per_image: Some(self.size.height),
                },
            },
            self.size.extent(),
        );
    }

    /// The picture, once the encoder is submitted: red, green and blue of each pixel.
    pub(crate) fn read(&self, gpu: &Gpu) -> anyhow::Result<Vec<u8>> {
        let bytes = gpu.read(&self.readable)?;
        let row = self.size.width as usize * 4;
        let rows = bytes.chunks(self.pitch as usize).filter_map(|padded| padded.get(..row));
        Ok(rows.flat_map(|row| row.chunks_exact(4)).flat_map(|pixel| pixel[..3].iter().copied()).collect())
    }

    /// The picture as a PNG file's bytes.
    pub(crate) fn read_png(&self, gpu: &Gpu) -> anyhow::Result<Vec<u8>> {
        let pixels = self.read(gpu)?;
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
