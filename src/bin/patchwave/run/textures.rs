//! Textures out of PNG files and lists of texels.

use std::io::Cursor;
use std::path::Path;

use image::ImageReader;
use patchwave::shader::{ScalarKind, TextureDimension};
use wgpu::TextureFormat as T;

use super::buffers::read_file;
use super::file::Binding;
use super::formats::{Component, encode};
use super::place::{Complaint, Place, suggestion};
use super::value::numbers;

/// The formats that can be given, with how a channel is encoded and how many there are.
const FORMATS: [(&str, T, Component, usize); 19] = {
    use Component::{Float, Sint, Snorm, Uint, Unorm};
    [
        ("r8unorm", T::R8Unorm, Unorm(1), 1),
        ("rg8unorm", T::Rg8Unorm, Unorm(1), 2),
        ("rgba8unorm", T::Rgba8Unorm, Unorm(1), 4),
        ("rgba8unorm-srgb", T::Rgba8UnormSrgb, Unorm(1), 4),
        ("rgba8snorm", T::Rgba8Snorm, Snorm(1), 4),
        ("rgba8uint", T::Rgba8Uint, Uint(1), 4),
        ("rgba8sint", T::Rgba8Sint, Sint(1), 4),
        ("r16float", T::R16Float, Float(2), 1),
        ("rg16float", T::Rg16Float, Float(2), 2),
        ("rgba16float", T::Rgba16Float, Float(2), 4),
        ("r32float", T::R32Float, Float(4), 1),
        ("rg32float", T::Rg32Float, Float(4), 2),
        ("rgba32float", T::Rgba32Float, Float(4), 4),
        ("r32uint", T::R32Uint, Uint(4), 1),
        ("rg32uint", T::Rg32Uint, Uint(4), 2),
        ("rgba32uint", T::Rgba32Uint, Uint(4), 4),
        ("r32sint", T::R32Sint, Sint(4), 1),
        ("rg32sint", T::Rg32Sint, Sint(4), 2),
        ("rgba32sint", T::Rgba32Sint, Sint(4), 4),
    ]
};

/// A texture's contents.
pub(crate) struct TextureData {
    pub(crate) format: T,
    pub(crate) dimension: TextureDimension,
    pub(crate) size: wgpu::Extent3d,
    pub(crate) bytes: Vec<u8>,
    /// Bytes of a texel.
    texel: u32,
}

impl TextureData {
    pub(crate) fn new(
        binding: &Binding,
        dimension: TextureDimension,
        folder: &Path,
        place: &Place,
    ) -> Result<Self, Complaint> {
        match (&binding.file, &binding.texels) {
            (Some(name), None) => Self::picture(binding, name, dimension, folder, place),
            (None, Some(texels)) => Self::inline(binding, texels, dimension, place),
            _ => Err(place.complain("of a texture either file or texels has to be given")),
        }
    }

    /// A PNG file's pixels, as they are or turned from sRGB by the sampler.
    fn picture(
        binding: &Binding,
        name: &str,
        dimension: TextureDimension,
        folder: &Path,
        place: &Place,
    ) -> Result<Self, Complaint> {
        let place = place.key("file");
        if dimension != TextureDimension::D2 {
            return Err(place.complain("a picture is a texture_2d; give texels of others"));
        }
        let (format, _, _) = match binding.format.as_deref() {
            None => (T::Rgba8Unorm, Component::Unorm(1), 4),
            Some(name @ ("rgba8unorm" | "rgba8unorm-srgb")) => named(name, &place)?,
            Some(other) => {
                let message = format!("a picture is rgba8unorm or rgba8unorm-srgb, not '{other}'");
                return Err(place.complain(message));
            }
        };
        let bytes = read_file(folder, name, &place)?;
        let picture = decode(&bytes).map_err(|message| place.complain(format!("cannot read '{name}': {message}")))?;
        let size = wgpu::Extent3d { width: picture.width(), height: picture.height(), depth_or_array_layers: 1 };
        Ok(Self { format, dimension, size, bytes: picture.into_raw(), texel: 4 })
    }

    fn inline(
        binding: &Binding,
        texels: &super::value::Value,
        dimension: TextureDimension,
        place: &Place,
    ) -> Result<Self, Complaint> {
        let Some(name) = &binding.format else {
            return Err(place.complain("of texels the format has to be said, for example \"rgba8unorm\""));
        };
        let (format, component, channels) = named(name, &place.key("format"))?;
        let sides = match dimension {
            TextureDimension::D1 => 1,
            TextureDimension::D2 => 2,
            _ => 3,
        };
        let size = match binding.size.as_deref() {
            Some(size) if size.len() == sides && size.iter().all(|side| (1..=8192).contains(side)) => size,
            _ => {
                let message = format!("size has to be given: {sides} numbers, each 1 to 8192");
                return Err(place.key("size").complain(message));
            }
        };
        let size = wgpu::Extent3d {
            width: size[0],
            height: size.get(1).copied().unwrap_or(1),
            depth_or_array_layers: size.get(2).copied().unwrap_or(1),
        };
        let place = place.key("texels");
        let values = numbers(texels, &place)?;
        let wanted = u64::from(size.width) * u64::from(size.height) * u64::from(size.depth_or_array_layers);
        let wanted = wanted.saturating_mul(channels as u64);
        if values.len() as u64 != wanted {
            let message = format!("there are {} values, and size and format ask for {wanted}", values.len());
            return Err(place.complain(message));
        }
        let mut bytes = Vec::new();
        for (value, place) in &values {
            encode(component, value, &mut bytes).map_err(|message| place.complain(message))?;
        }
        let texel = (bytes.len() / (wanted as usize / channels).max(1)) as u32;
        Ok(Self { format, dimension, size, bytes, texel })
    }

    /// Which kind of scalars sampling it gives.
    pub(crate) fn kind(&self) -> ScalarKind {
        match self.format.sample_type(None, None) {
            Some(wgpu::TextureSampleType::Uint) => ScalarKind::Uint,
            Some(wgpu::TextureSampleType::Sint) => ScalarKind::Sint,
            _ => ScalarKind::Float,
        }
    }

    /// Whether WebGPU filters its format.
    pub(crate) fn filterable(&self) -> bool {
        matches!(self.format.sample_type(None, None), Some(wgpu::TextureSampleType::Float { filterable: true }))
    }

    /// The texture on a device.
    pub(crate) fn upload(&self, device: &wgpu::Device, queue: &wgpu::Queue, label: &str) -> wgpu::TextureView {
        let dimension = match self.dimension {
            TextureDimension::D1 => wgpu::TextureDimension::D1,
            TextureDimension::D3 => wgpu::TextureDimension::D3,
            _ => wgpu::TextureDimension::D2,
        };
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some(label),
            size: self.size,
            mip_level_count: 1,
            sample_count: 1,
            dimension,
            format: self.format,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(self.size.width * self.texel),
            rows_per_image: Some(self.size.height),
        };
        queue.write_texture(texture.as_image_copy(), &self.bytes, layout, self.size);
        texture.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(view_dimension(self.dimension)),
            ..wgpu::TextureViewDescriptor::default()
        })
    }
}

fn named(name: &str, place: &Place) -> Result<(T, Component, usize), Complaint> {
    let found = FORMATS.iter().find(|(known, ..)| *known == name);
    found.map(|(_, format, component, channels)| (*format, *component, *channels)).ok_or_else(|| {
        let known = FORMATS.iter().map(|(known, ..)| *known);
        place.complain(format!("'{name}' is no texture format of scene files{}", suggestion(name, known)))
    })
}

/// A PNG file as red, green, blue and alpha.
pub(crate) fn decode(bytes: &[u8]) -> Result<image::RgbaImage, String> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), image::ImageFormat::Png);
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(8192);
    limits.max_image_height = Some(8192);
    reader.limits(limits);
    reader.decode().map(|picture| picture.into_rgba8()).map_err(|error| error.to_string())
}

pub(crate) fn view_dimension(dimension: TextureDimension) -> wgpu::TextureViewDimension {
    match dimension {
        TextureDimension::D1 => wgpu::TextureViewDimension::D1,
        TextureDimension::D2 => wgpu::TextureViewDimension::D2,
        TextureDimension::D2Array => wgpu::TextureViewDimension::D2Array,
        TextureDimension::D3 => wgpu::TextureViewDimension::D3,
        TextureDimension::Cube => wgpu::TextureViewDimension::Cube,
        TextureDimension::CubeArray => wgpu::TextureViewDimension::CubeArray,
    }
}
