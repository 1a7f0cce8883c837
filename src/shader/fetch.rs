//! The input assembler's fetch: WGSL that reads the user's attributes out of vertex buffers bound as storage.

use std::fmt::Write as _;

use super::{Attributes, ScalarKind};

/// Where an attribute of the vertex function comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AttributeSource {
    /// `@location` that it feeds.
    pub(crate) location: u32,
    /// Vertex buffer slot.
    pub(crate) slot: u32,
    /// Offset within the buffer's element, in words.
    pub(crate) offset: u32,
    /// Components in the buffer, 1 to 4.
    pub(crate) components: u32,
    /// Whether the buffer advances an instance, not a vertex.
    pub(crate) per_instance: bool,
}

/// First binding of the vertex buffers in group 3; slot i is bound at this plus i. The index buffer lies before them.
pub(crate) const FIRST_VERTEX_BUFFER_BINDING: u32 = 5;
/// The index buffer's binding in group 3.
pub(crate) const INDEX_BUFFER_BINDING: u32 = 4;

/// Writes `pw_vertex_index` and `pw_fetch_attributes`.
pub(crate) fn push(text: &mut String, attributes: Option<&Attributes>, sources: &[AttributeSource]) {
    let _ = write!(
        text,
        "@group(3) @binding({INDEX_BUFFER_BINDING}) var<storage, read> pw_index_buffer: array<u32>;\n\
         // The element that vertex number `vertex` of an instance takes; an index beyond the buffer reads zero, as in D3D.\n\
         fn pw_vertex_index(vertex: u32) -> u32 {{\n    \
             let place = pw_params.first_vertex + vertex;\n    \
             if (pw_params.index_kind == 0u) {{\n        return place;\n    }}\n    \
             var index = 0u;\n    \
             if (place >= pw_params.first_vertex && place < pw_params.index_count) {{\n        \
                 let byte = pw_params.index_offset + place * select(4u, 2u, pw_params.index_kind == 1u);\n        \
                 index = pw_index_buffer[byte / 4u];\n        \
                 if (pw_params.index_kind == 1u) {{\n            index = (index >> ((byte & 2u) * 8u)) & 0xffffu;\n        }}\n    \
             }}\n    \
             return index + bitcast<u32>(pw_params.base_vertex);\n}}\n"
    );
    let Some(attributes) = attributes else { return };
    let mut slots: Vec<u32> = sources.iter().map(|source| source.slot).collect();
    slots.sort_unstable();
    slots.dedup();
    for slot in slots {
        let binding = FIRST_VERTEX_BUFFER_BINDING + slot;
        let _ = write!(
            text,
            "@group(3) @binding({binding}) var<storage, read> pw_vertex_buffer_{slot}: array<u32>;\n\
             // A word of element `element`; zero where the element does not lie wholly in the buffer.\n\
             fn pw_fetch_{slot}(element: u32, offset: u32) -> u32 {{\n    \
                 let source = pw_params.vertex_buffers[{slot}];\n    \
                 if (element >= source.w) {{\n        return 0u;\n    }}\n    \
                 return pw_vertex_buffer_{slot}[source.x + element * source.z + offset];\n}}\n"
        );
    }
    let _ = write!(
        text,
        "fn pw_fetch_attributes(pw_vertex: u32, pw_instance: u32) -> {} {{\n    return {}(\n",
        attributes.type_name, attributes.type_name
    );
    for member in &attributes.members {
        let source = sources.iter().find(|source| source.location == member.location);
        let components: Vec<String> = (0..member.components).map(|i| component(source, member.kind, i)).collect();
        let scalar = match member.kind {
            ScalarKind::Float => "f32",
            ScalarKind::Sint => "i32",
            ScalarKind::Uint => "u32",
        };
        let constructor = match member.components {
            1 => scalar.to_owned(),
            n => format!("vec{n}<{scalar}>"),
        };
        let _ = writeln!(text, "        {constructor}({}),", components.join(", "));
    }
    text.push_str("    );\n}\n");
}

/// A component out of the buffer; what the buffer lacks is 0, and 1 for the fourth, as D3D fills.
fn component(source: Option<&AttributeSource>, kind: ScalarKind, i: u32) -> String {
    match source {
        Some(source) if i < source.components => {
            let element = if source.per_instance { "pw_instance" } else { "pw_vertex" };
            let word = format!("pw_fetch_{}({element}, {}u)", source.slot, source.offset + i);
            match kind {
                ScalarKind::Float => format!("bitcast<f32>({word})"),
                ScalarKind::Sint => format!("bitcast<i32>({word})"),
                ScalarKind::Uint => word,
            }
        }
        _ => {
            let value = u32::from(i == 3);
            match kind {
                ScalarKind::Float => format!("{value}.0"),
                ScalarKind::Sint => format!("{value}i"),
                ScalarKind::Uint => format!("{value}u"),
            }
        }
    }
}
