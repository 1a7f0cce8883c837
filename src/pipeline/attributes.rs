//! From `wgpu::VertexBufferLayout` to what the input assembler fetches, and from the output struct back to one.

use super::descriptor::{Indices, TessellationPipelineDescriptor};
use crate::Error;
use crate::shader::fetch::{AttributeSource, Bindings, Encoding, Format, IndexPlace};
use crate::shader::{Reflection, ScalarKind};

/// A vertex buffer of the descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VertexBufferSlot {
    /// Bytes from one element to the next.
    pub(crate) stride: u32,
    /// Bytes from the beginning of an element to the end of its last attribute.
    pub(crate) element_bytes: u32,
    pub(crate) per_instance: bool,
    attributes: Vec<SlotAttribute>,
}

impl VertexBufferSlot {
    /// Whether elements begin at whole words, where slices do; the kernel is then given the stride in words.
    pub(crate) fn by_words(&self) -> bool {
        self.stride.is_multiple_of(4)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SlotAttribute {
    location: u32,
    /// In bytes.
    offset: u32,
    format: Format,
}

/// What the input assembler makes of a vertex format. wgpu names the type that a shader reads it as; doubles are read as
/// `f32`, since the contract's attributes have no wider type.
fn format(format: wgpu::VertexFormat) -> Format {
    use Encoding::{Bgra, Double, Half, Sint, Snorm, Uint, Unorm, Unorm1010102, Word};
    use wgpu::VertexFormat as F;
    let (encoding, components) = match format {
        F::Uint8 => (Uint(8), 1),
        F::Uint8x2 => (Uint(8), 2),
        F::Uint8x4 => (Uint(8), 4),
        F::Sint8 => (Sint(8), 1),
        F::Sint8x2 => (Sint(8), 2),
        F::Sint8x4 => (Sint(8), 4),
        F::Unorm8 => (Unorm(8), 1),
        F::Unorm8x2 => (Unorm(8), 2),
        F::Unorm8x4 => (Unorm(8), 4),
        F::Snorm8 => (Snorm(8), 1),
        F::Snorm8x2 => (Snorm(8), 2),
        F::Snorm8x4 => (Snorm(8), 4),
        F::Uint16 => (Uint(16), 1),
        F::Uint16x2 => (Uint(16), 2),
        F::Uint16x4 => (Uint(16), 4),
        F::Sint16 => (Sint(16), 1),
        F::Sint16x2 => (Sint(16), 2),
        F::Sint16x4 => (Sint(16), 4),
        F::Unorm16 => (Unorm(16), 1),
        F::Unorm16x2 => (Unorm(16), 2),
        F::Unorm16x4 => (Unorm(16), 4),
        F::Snorm16 => (Snorm(16), 1),
        F::Snorm16x2 => (Snorm(16), 2),
        F::Snorm16x4 => (Snorm(16), 4),
        F::Float16 => (Half, 1),
        F::Float16x2 => (Half, 2),
        F::Float16x4 => (Half, 4),
        F::Float32 | F::Uint32 | F::Sint32 => (Word, 1),
        F::Float32x2 | F::Uint32x2 | F::Sint32x2 => (Word, 2),
        F::Float32x3 | F::Uint32x3 | F::Sint32x3 => (Word, 3),
        F::Float32x4 | F::Uint32x4 | F::Sint32x4 => (Word, 4),
        F::Float64 => (Double, 1),
        F::Float64x2 => (Double, 2),
        F::Float64x3 => (Double, 3),
        F::Float64x4 => (Double, 4),
        F::Unorm10_10_10_2 => (Unorm1010102, 4),
        F::Unorm8x4Bgra => (Bgra, 4),
    };
    let kind = match format {
        F::Uint32 | F::Uint32x2 | F::Uint32x3 | F::Uint32x4 => ScalarKind::Uint,
        F::Sint32 | F::Sint32x2 | F::Sint32x3 | F::Sint32x4 => ScalarKind::Sint,
        _ => match encoding {
            Uint(_) => ScalarKind::Uint,
            Sint(_) => ScalarKind::Sint,
            _ => ScalarKind::Float,
        },
    };
    Format { encoding, kind, components }
}

/// The vertex format of a member of the output struct.
pub(crate) fn output_format(kind: ScalarKind, components: u32) -> wgpu::VertexFormat {
    use wgpu::VertexFormat as F;
    match (kind, components) {
        (ScalarKind::Float, 1) => F::Float32,
        (ScalarKind::Float, 2) => F::Float32x2,
        (ScalarKind::Float, 3) => F::Float32x3,
        (ScalarKind::Float, _) => F::Float32x4,
        (ScalarKind::Sint, 1) => F::Sint32,
        (ScalarKind::Sint, 2) => F::Sint32x2,
        (ScalarKind::Sint, 3) => F::Sint32x3,
        (ScalarKind::Sint, _) => F::Sint32x4,
        (ScalarKind::Uint, 1) => F::Uint32,
        (ScalarKind::Uint, 2) => F::Uint32x2,
        (ScalarKind::Uint, 3) => F::Uint32x3,
        (ScalarKind::Uint, _) => F::Uint32x4,
    }
}

/// Reads the descriptor's layouts. Strides and offsets need no alignment (WebGPU asks for 4 bytes, D3D for that of the
/// format's components): where an element does not begin at a whole word, its words are put together from two.
pub(crate) fn vertex_buffer_slots(
    layouts: &[wgpu::VertexBufferLayout<'_>],
    features: wgpu::Features,
) -> Result<Vec<VertexBufferSlot>, Error> {
    if layouts.len() > super::layout::VERTEX_BUFFERS {
        return Err(Error::OutOfRange {
            what: "vertex_buffers",
            value: format!("{} layouts", layouts.len()),
            expected: format!("at most {}", super::layout::VERTEX_BUFFERS),
        });
    }
    layouts.iter().enumerate().map(|(slot, layout)| vertex_buffer_slot(slot, layout, features)).collect()
}

fn vertex_buffer_slot(
    slot: usize,
    layout: &wgpu::VertexBufferLayout<'_>,
    features: wgpu::Features,
) -> Result<VertexBufferSlot, Error> {
    let refuse = |reason: String| Error::VertexLayout { slot, reason };
    let stride = u32::try_from(layout.array_stride)
        .map_err(|_| refuse(format!("stride {} is not below 4 GiB", layout.array_stride)))?;
    let mut attributes = Vec::with_capacity(layout.attributes.len());
    let mut element_bytes = 0;
    for attribute in layout.attributes {
        let format = format(attribute.format);
        // Integer arithmetic reads them and would do so anywhere; but what wgpu's vertex stages refuse, a porter would
        // find out about only there.
        let doubles = wgpu::Features::VERTEX_ATTRIBUTE_64BIT | wgpu::Features::SHADER_F64;
        if format.encoding == Encoding::Double && !features.intersects(doubles) {
            return Err(Error::MissingFeature {
                what: "vertex formats of doubles on a device without SHADER_F64",
                feature: wgpu::Features::VERTEX_ATTRIBUTE_64BIT,
            });
        }
        let offset = u32::try_from(attribute.offset).ok().filter(|offset| *offset < 1 << 20).ok_or_else(|| {
            refuse(format!(
                "offset {} of the attribute at @location({}) is not below 1 MiB: bind a slice that begins further on",
                attribute.offset, attribute.shader_location
            ))
        })?;
        element_bytes = element_bytes.max(offset + format.bytes());
        attributes.push(SlotAttribute { location: attribute.shader_location, offset, format });
    }
    Ok(VertexBufferSlot {
        stride,
        element_bytes,
        per_instance: layout.step_mode == wgpu::VertexStepMode::Instance,
        attributes,
    })
}

/// For each attribute of the vertex function, the buffer that feeds it.
pub(crate) fn attribute_sources(
    reflection: &Reflection,
    slots: &[VertexBufferSlot],
) -> Result<Vec<AttributeSource>, Error> {
    let Some(attributes) = &reflection.attributes else { return Ok(Vec::new()) };
    let mut sources = Vec::with_capacity(attributes.members.len());
    for member in &attributes.members {
        let refuse = |reason: String| Error::Attribute { name: member.name.clone(), location: member.location, reason };
        let mut found = slots
            .iter()
            .enumerate()
            .flat_map(|(slot, buffer)| buffer.attributes.iter().map(move |attribute| (slot, buffer, attribute)))
            .filter(|(_, _, attribute)| attribute.location == member.location);
        let Some((slot, buffer, attribute)) = found.next() else {
            return Err(refuse("no vertex buffer of the descriptor has it".to_owned()));
        };
        if found.next().is_some() {
            return Err(refuse("more than one attribute of the descriptor has this location".to_owned()));
        }
        let format = attribute.format;
        if format.kind != member.kind {
            return Err(refuse(format!(
                "the buffer holds {:?} and the shader reads {:?}: formats of floats, unorms and snorms are read as f32, \
                 uints as u32, sints as i32",
                format.kind, member.kind
            )));
        }
        sources.push(AttributeSource {
            location: member.location,
            slot: slot as u32,
            offset: attribute.offset,
            format,
            per_instance: buffer.per_instance,
            by_words: buffer.by_words(),
        });
    }
    Ok(sources)
}

/// The bindings that the sources need, with what the descriptor says about buffers that several of them share.
pub(crate) fn bindings(
    descriptor: &TessellationPipelineDescriptor<'_>,
    sources: &[AttributeSource],
) -> Result<Bindings, Error> {
    let (layouts, given) = (descriptor.vertex_buffers.len(), descriptor.shared_vertex_buffers);
    if !given.is_empty() && given.len() != layouts {
        return Err(Error::OutOfRange {
            what: "shared_vertex_buffers",
            value: format!("{} numbers", given.len()),
            expected: format!("none, or {layouts}: one for each vertex buffer"),
        });
    }
    let index = match descriptor.indices {
        Indices::OwnBuffer => IndexPlace::Own,
        Indices::Never => IndexPlace::Never,
        Indices::InVertexBuffer(slot) if (slot as usize) < layouts => IndexPlace::VertexBuffer(slot),
        Indices::InVertexBuffer(slot) => {
            return Err(Error::OutOfRange {
                what: "indices: the vertex buffer that holds them",
                value: slot.to_string(),
                expected: format!("below {layouts}, the number of vertex buffers"),
            });
        }
    };
    let own: Vec<u32> = (0..layouts as u32).collect();
    let groups = if given.is_empty() { own.as_slice() } else { given };
    let read: Vec<bool> = own.iter().map(|slot| sources.iter().any(|source| source.slot == *slot)).collect();
    Ok(Bindings::new(groups, &read, index))
}
