//! What is drawn into: four samples a pixel, depth, and the way to red, green and blue in memory.

use anyhow::Context;

use super::camera::Camera;
use super::gpu::Gpu;

/// Samples a pixel.
pub const SAMPLES: u32 = 4;
/// The picture's format.
pub const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// The format of its depth buffer.
pub const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// A multisampled target with a depth buffer.
pub struct Picture {
    size: [u32; 2],
    samples: wgpu::TextureView,
    depth: wgpu::TextureView,
    resolved: wgpu::Texture,
    resolved_view: wgpu::TextureView,
    readable: wgpu::Buffer,
    /// Bytes of a row in `readable`.
    pitch: u32,
}

/// One frame to be encoded.
pub struct Frame<'p> {
    picture: &'p Picture,
    background: [f64; 3],
    pub camera: Camera,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Since the beginning.
    pub seconds: f32,
}

impl Picture {
    pub fn new(gpu: &Gpu, size: [u32; 2]) -> anyhow::Result<Self> {
        let most = gpu.device.limits().max_texture_dimension_2d;
        if let Some(side) = size.into_iter().find(|side| *side > most) {
            anyhow::bail!("adapter '{}' draws pictures up to {most} pixels wide and high, not {side}", gpu.name);
        }
        let extent = wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 };
        let texture = |label, format, sample_count, usage| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: extent,
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
        let usage = attachment | wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::TEXTURE_BINDING;
        let resolved = texture("picture", COLOR, 1, usage);
        let pitch = (size[0] * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let readable = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("picture"),
            size: u64::from(pitch) * u64::from(size[1]),
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

    /// A frame as this camera sees it.
    #[must_use]
    pub fn frame(&self, camera: Camera, seconds: f32, background: [f64; 3]) -> Frame<'_> {
        Frame { picture: self, background, camera, size: self.size, seconds }
    }

    /// The finished picture, for showing it elsewhere.
    #[must_use]
    pub fn view(&self) -> &wgpu::TextureView {
        &self.resolved_view
    }

    /// Encodes the copy that [`Picture::read`] reads.
    pub fn copy(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_texture_to_buffer(
            self.resolved.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.readable,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(self.pitch),
                    rows_per_image: None,
                },
            },
            self.resolved.size(),
        );
    }

    /// Waits for what was submitted: red, green and blue of each pixel.
    pub fn read(&self, gpu: &Gpu) -> anyhow::Result<Vec<u8>> {
        let (sender, receiver) = std::sync::mpsc::channel();
        self.readable.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            // The receiver is gone only if waiting has failed.
            let _ = sender.send(result);
        });
        gpu.wait()?;
        receiver.try_recv().context("the device was lost")?.context("the picture cannot be read back")?;
        let bytes = self.readable.get_mapped_range(..)?.to_vec();
        self.readable.unmap();
        let row = self.size[0] as usize * 4;
        let rows = bytes.chunks(self.pitch as usize).filter_map(|padded| padded.get(..row));
        Ok(rows.flat_map(|row| row.chunks_exact(4)).flat_map(|pixel| pixel[..3].iter().copied()).collect())
    }
}

impl Frame<'_> {
    /// A pass that draws the picture, from the background.
    pub fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        let [r, g, b] = self.background;
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.picture.samples,
                depth_slice: None,
                resolve_target: Some(&self.picture.resolved_view),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a: 1.0 }),
                    store: wgpu::StoreOp::Discard,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.picture.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        })
    }
}
