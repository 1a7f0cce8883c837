//! From `wgpu::VertexBufferLayout` to what the input assembler fetches, and from the output struct back to one.

use crate::Error;
use crate::shader::fetch::AttributeSource;
use crate::shader::{Reflection, ScalarKind};

/// A vertex buffer of the descriptor, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VertexBufferSlot {
    pub(crate) stride: u32,
    /// Bytes from the beginning of an element to the end of its last attribute.
    pub(crate) element_bytes: u32,
    pub(crate) per_instance: bool,
    pub(crate) attributes: Vec<SlotAttribute>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotAttribute {
    pub(crate) location: u32,
    /// In words.
    pub(crate) offset: u32,
    pub(crate) kind: ScalarKind,
    pub(crate) components: u32,
}

/// Kind and components of the formats whose components are whole words.
fn word_format(format: wgpu::VertexFormat) -> Option<(ScalarKind, u32)> {
    use wgpu::VertexFormat as F;
    Some(match format {
        F::Float32 => (ScalarKind::Float, 1),
        F::Float32x2 => (ScalarKind::Float, 2),
        F::Float32x3 => (ScalarKind::Float, 3),
        F::Float32x4 => (ScalarKind::Float, 4),
        F::Sint32 => (ScalarKind::Sint, 1),
        F::Sint32x2 => (ScalarKind::Sint, 2),
        F::Sint32x3 => (ScalarKind::Sint, 3),
        F::Sint32x4 => (ScalarKind::Sint, 4),
        F::Uint32 => (ScalarKind::Uint, 1),
        F::Uint32x2 => (ScalarKind::Uint, 2),
        F::Uint32x3 => (ScalarKind::Uint, 3),
        F::Uint32x4 => (ScalarKind::Uint, 4),
        _ => return None,
    })
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

pub(crate) fn vertex_buffer_slots(layouts: &[wgpu::VertexBufferLayout<'_>]) -> Result<Vec<VertexBufferSlot>, Error> {
    if layouts.len() > super::layout::VERTEX_BUFFERS {
        return Err(Error::OutOfRange {
            what: "vertex_buffers",
            value: format!("{} layouts", layouts.len()),
            expected: format!("at most {}", super::layout::VERTEX_BUFFERS),
        });
    }
    layouts.iter().enumerate().map(|(slot, layout)| vertex_buffer_slot(slot, layout)).collect()
}

fn vertex_buffer_slot(slot: usize, layout: &wgpu::VertexBufferLayout<'_>) -> Result<VertexBufferSlot, Error> {
    let refuse = |reason: String| Error::VertexLayout { slot, reason };
    let stride = u32::try_from(layout.array_stride)
        .ok()
        .filter(|stride| stride.is_multiple_of(4))
        .ok_or_else(|| refuse(format!("stride {} is not a multiple of 4 below 4 GiB", layout.array_stride)))?;
    let mut attributes = Vec::with_capacity(layout.attributes.len());
    let mut element_bytes = 0;
    for attribute in layout.attributes {
        let (kind, components) = word_format(attribute.format).ok_or_else(|| {
            refuse(format!(
                "format {:?} at @location({}) is not supported yet: use 32-bit floats or integers",
                attribute.format, attribute.shader_location
            ))
        })?;
        let offset = u32::try_from(attribute.offset)
            .ok()
            .filter(|offset| offset.is_multiple_of(4) && *offset < 1 << 20)
            .ok_or_else(|| refuse(format!("offset {} is not a multiple of 4 below 1 MiB", attribute.offset)))?;
        element_bytes = element_bytes.max(offset + 4 * components);
        attributes.push(SlotAttribute { location: attribute.shader_location, offset: offset / 4, kind, components });
    }
    Ok(VertexBufferSlot {
        stride: stride / 4,
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
        if attribute.kind != member.kind {
            return Err(refuse(format!(
                "the buffer holds {:?} and the shader reads {:?}",
                attribute.kind, member.kind
            )));
        }
        sources.push(AttributeSource {
            location: member.location,
            slot: slot as u32,
            offset: attribute.offset,
            components: attribute.components,
            per_instance: buffer.per_instance,
        });
    }
    Ok(sources)
}
