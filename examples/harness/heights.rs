//! Height maps: PNG files of 16 bits of grey.

use std::path::Path;

use anyhow::Context;

use super::Gpu;

impl Gpu {
    /// A texture of one number a texel, to be loaded from ([`super::Bind::Texels`]), and its width and height: the map in
    /// `file`, or else the one that these bytes are.
    pub fn height_map(&self, file: Option<&Path>, or_else: &[u8]) -> anyhow::Result<(wgpu::TextureView, [u32; 2])> {
        let name = file.unwrap_or(Path::new("the height map")).display();
        let bytes = file.map_or(Ok(or_else.to_vec()), std::fs::read).with_context(|| format!("cannot read {name}"))?;
        let map = image::load_from_memory(&bytes).with_context(|| format!("{name} is no PNG file"))?;
        let image::DynamicImage::ImageLuma16(map) = map else {
            anyhow::bail!("{name} has {:?} texels; a height map has 16 bits of grey", map.color());
        };
        let (width, height) = map.dimensions();
        let most = self.device.limits().max_texture_dimension_2d;
        anyhow::ensure!(
            [width, height].iter().all(|side| (2..=most).contains(side)),
            "{name} is {width}x{height} texels; this adapter takes 2x2 to {most}x{most}"
        );
        let numbers: Vec<f32> = map.as_raw().iter().map(|texel| f32::from(*texel)).collect();
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("height map"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            // Holds 16 bits whole and needs no feature of the device.
            format: wgpu::TextureFormat::R32Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * width), rows_per_image: None };
        self.queue.write_texture(texture.as_image_copy(), bytemuck::cast_slice(&numbers), layout, texture.size());
        Ok((texture.create_view(&wgpu::TextureViewDescriptor::default()), [width, height]))
    }
}
