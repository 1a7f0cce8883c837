//! The input assembler's fetch: WGSL that reads indices and the user's attributes out of buffers bound as storage.
//!
//! Rules, with their sources:
//! - An index is the index buffer's, plus the base vertex, wrapping around as 32 bits do. An index beyond the buffer is 0
//!   (D3D11.3 section 5.3, out-of-bounds reads), to which the base vertex is added.
//! - An element that does not lie wholly within its buffer, from its first byte to the end of the last attribute that the
//!   layout gives it, reads as zeros in all its attributes. D3D asks for zeros of each attribute that lies beyond the end;
//!   WebGPU allows any value of the buffer. This is the stricter of the readings that both allow, and it never mixes
//!   vertices.
//! - Components that the shader reads and the format lacks are 0, and 1 for the fourth (D3D11.3, input assembler defaults;
//!   WebGPU, vertex formats).

mod bindings;
mod format;

use std::fmt::Write as _;

pub(crate) use bindings::{Bindings, FIRST_VERTEX_BUFFER_BINDING, INDEX_BUFFER_BINDING, IndexPlace};
pub(crate) use format::{Encoding, Format};

use super::{Attributes, ScalarKind};

/// Where an attribute of the vertex function comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AttributeSource {
    /// `@location` that it feeds.
    pub(crate) location: u32,
    /// Vertex buffer slot.
    pub(crate) slot: u32,
    /// Offset within the buffer's element, in bytes.
    pub(crate) offset: u32,
    /// What lies there.
    pub(crate) format: Format,
    /// Whether the buffer advances an instance, not a vertex.
    pub(crate) per_instance: bool,
    /// Whether elements begin at whole words. Where they do not, words are put together from two.
    pub(crate) by_words: bool,
}

/// Writes `pw_vertex_index` and `pw_fetch_attributes`.
pub(crate) fn push(
    text: &mut String,
    attributes: Option<&Attributes>,
    sources: &[AttributeSource],
    bindings: &Bindings,
    strip_cut: bool,
) {
    for slot in bindings.vertex_buffers() {
        let binding = FIRST_VERTEX_BUFFER_BINDING + slot;
        let _ = writeln!(text, "@group(3) @binding({binding}) var<storage, read> pw_vertex_buffer_{slot}: array<u32>;");
    }
    push_vertex_index(text, bindings.index, strip_cut);
    let Some(attributes) = attributes else { return };
    format::push_conversions(text, sources.iter().map(|source| source.format));
    if sources.iter().any(|source| !source.by_words) {
        text.push_str(JOIN);
    }
    let type_name = &attributes.type_name;
    let _ = writeln!(text, "fn pw_fetch_attributes(pw_vertex: u32, pw_instance: u32) -> {type_name} {{");
    let mut slots: Vec<u32> = sources.iter().map(|source| source.slot).collect();
    slots.sort_unstable();
    slots.dedup();
    for slot in slots {
        let of_slot: Vec<&AttributeSource> = sources.iter().filter(|source| source.slot == slot).collect();
        push_loads(text, slot, bindings.of_slot(slot), &of_slot);
    }
    let _ = writeln!(text, "    return {type_name}(");
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

/// The variable that indices are read from.
pub(crate) struct IndexVariable {
    name: String,
    /// Its declaration, where it is not another's.
    declaration: String,
}

impl IndexVariable {
    /// One of its own.
    pub(crate) fn declared(binding: u32) -> Self {
        Self {
            name: "pw_index_buffer".to_owned(),
            declaration: format!("@group(3) @binding({binding}) var<storage, read> pw_index_buffer: array<u32>;\n"),
        }
    }

    fn of_vertex_buffer(slot: u32) -> Self {
        Self { name: format!("pw_vertex_buffer_{slot}"), declaration: String::new() }
    }
}

/// Writes `pw_index`.
pub(crate) fn push_index(text: &mut String, variable: &IndexVariable) {
    let IndexVariable { name, declaration } = variable;
    let _ = write!(
        text,
        "{declaration}\
         // The index at `place`; beyond the buffer it is zero, as in D3D.\n\
         fn pw_index(place: u32) -> u32 {{\n    \
             if (place < pw_params.first_vertex || place >= pw_params.index_count) {{\n        return 0u;\n    }}\n    \
             let byte = pw_params.index_offset + place * select(4u, 2u, pw_params.index_kind == 1u);\n    \
             let word = {name}[byte / 4u];\n    \
             return select(word, (word >> ((byte & 2u) * 8u)) & 0xffffu, pw_params.index_kind == 1u);\n}}\n"
    );
}

/// The element that a vertex of an instance takes.
fn push_vertex_index(text: &mut String, place: IndexPlace, strip_cut: bool) {
    let variable = match place {
        IndexPlace::Never => None,
        IndexPlace::Own => Some(IndexVariable::declared(INDEX_BUFFER_BINDING)),
        IndexPlace::VertexBuffer(slot) => Some(IndexVariable::of_vertex_buffer(slot)),
    };
    text.push_str(if strip_cut { PATCH_TABLE } else { NO_PATCH_TABLE });
    let Some(variable) = variable else {
        text.push_str("fn pw_vertex_index(vertex: u32) -> u32 {\n    return pw_params.first_vertex + vertex;\n}\n");
        return;
    };
    push_index(text, &variable);
    text.push_str(
        "// The element that vertex number `vertex` of an instance takes.\n\
         fn pw_vertex_index(vertex: u32) -> u32 {\n    \
             let place = pw_params.first_vertex + pw_draw_vertex(vertex);\n    \
             if (pw_params.index_kind == 0u) {\n        return place;\n    }\n    \
             return pw_index(place) + bitcast<u32>(pw_params.base_vertex);\n}\n",
    );
}

const NO_PATCH_TABLE: &str = "\
fn pw_patches_present(first_id: u32, planned: u32) -> u32 {
    return planned;
}
fn pw_draw_vertex(vertex: u32) -> u32 {
    return vertex;
}
";

const PATCH_TABLE: &str = "\
// How many of the patches from `first_id` on there are.
fn pw_patches_present(first_id: u32, planned: u32) -> u32 {
    if (pw_params.patch_table == PW_NO_TABLE) {
        return planned;
    }
    return min(planned, max(pw_state.words[pw_params.patch_table], first_id) - first_id);
}
// The index that vertex number `vertex` of an instance takes, counted from the draw's first.
fn pw_draw_vertex(vertex: u32) -> u32 {
    if (pw_params.patch_table == PW_NO_TABLE) {
        return vertex;
    }
    let id = vertex / PW_INPUT_POINTS;
    return pw_state.words[pw_params.patch_table + 1u + id] + (vertex - id * PW_INPUT_POINTS);
}
";

const JOIN: &str = "\
// A word that begins `shift` bits into `low` and ends in `high`.
fn pw_join(low: u32, high: u32, shift: u32) -> u32 {
    return (low >> shift) | ((high << 1u) << (31u - shift));
}
";

/// Loads the words of a slot's attributes, all of them zero where the element does not lie wholly in the buffer.
///
/// `pw_buffer.x` is where the buffer begins, `y` its last element, `z` its stride, `w` whether it has any element.
fn push_loads(text: &mut String, slot: u32, binding: u32, sources: &[&AttributeSource]) {
    let by_words = sources.iter().all(|source| source.by_words);
    let element = if sources.iter().any(|source| source.per_instance) { "pw_instance" } else { "pw_vertex" };
    let mut variables: Vec<String> = Vec::new();
    let mut loads = String::new();
    if by_words {
        // Attributes that lie in the same word share its load.
        let mut words: Vec<u32> = sources.iter().flat_map(|source| words(source)).collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            variables.push(format!("pw_word_{slot}_{word}"));
            let _ = writeln!(loads, "        pw_word_{slot}_{word} = pw_vertex_buffer_{binding}[pw_at + {word}u];");
        }
    } else {
        for source in sources {
            let (location, bytes) = (source.location, source.format.bytes());
            let _ = write!(
                loads,
                "        let pw_at_{location} = pw_at + {}u;\n        \
                         let pw_last_{location} = (pw_at_{location} + {}u) / 4u;\n        \
                         let pw_shift_{location} = (pw_at_{location} & 3u) * 8u;\n",
                source.offset,
                bytes - 1
            );
            for k in 0..bytes.div_ceil(4) {
                // The word after the last that holds something of the attribute may lie beyond the buffer.
                let load = |k: u32| match k {
                    0 => format!("pw_vertex_buffer_{binding}[pw_at_{location} / 4u]"),
                    k => format!("pw_vertex_buffer_{binding}[min(pw_at_{location} / 4u + {k}u, pw_last_{location})]"),
                };
                variables.push(format!("pw_data_{location}_{k}"));
                let (low, high) = (load(k), load(k + 1));
                let _ =
                    writeln!(loads, "        pw_data_{location}_{k} = pw_join({low}, {high}, pw_shift_{location});");
            }
        }
    }
    for variable in variables {
        let _ = writeln!(text, "    var {variable} = 0u;");
    }
    let _ = write!(
        text,
        "    let pw_buffer_{slot} = pw_params.vertex_buffers[{slot}];\n    \
             if ({element} <= pw_buffer_{slot}.y && pw_buffer_{slot}.w != 0u) {{\n        \
                 let pw_at = pw_buffer_{slot}.x + {element} * pw_buffer_{slot}.z;\n{loads}    }}\n"
    );
}

/// The words of an element that an attribute of a buffer of whole words touches.
fn words(source: &AttributeSource) -> std::ops::Range<u32> {
    source.offset / 4..(source.offset + source.format.bytes()).div_ceil(4)
}

/// A component out of the loaded words; what the format lacks is 0, and 1 for the fourth, as D3D fills.
fn component(source: Option<&AttributeSource>, kind: ScalarKind, i: u32) -> String {
    match source {
        Some(source) if i < source.format.components => source.format.component(i, &|k| word(source, k)),
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

/// WGSL of word `k` of an attribute, whose first bit is the attribute's first; bits past its last are undefined.
fn word(source: &AttributeSource, k: u32) -> String {
    let (slot, location) = (source.slot, source.location);
    if !source.by_words {
        return format!("pw_data_{location}_{k}");
    }
    let (first, shift) = (source.offset / 4 + k, source.offset % 4 * 8);
    if shift == 0 {
        return format!("pw_word_{slot}_{first}");
    }
    if !words(source).contains(&(first + 1)) {
        return format!("(pw_word_{slot}_{first} >> {shift}u)");
    }
    format!("((pw_word_{slot}_{first} >> {shift}u) | (pw_word_{slot}_{} << {}u))", first + 1, 32 - shift)
}
