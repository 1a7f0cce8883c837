//! The vertex shader of the caller's render pipeline: it hands on what the domain function has computed.

use std::collections::HashSet;
use std::fmt::Write;

use super::error::ShaderError;
use super::reflection::{ScalarKind, Surface, SurfaceMember, SurfaceSlot};

/// The name of the entry point in the text of [`pass_through_vertex_shader`].
pub(crate) const VERTEX_ENTRY_POINT: &str = "vertex_main";

/// How a member of the domain function's output is read from the vertex buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SurfaceAttribute {
    /// The `@location` under which the vertex shader takes it.
    pub(crate) shader_location: u32,
    /// Byte offset in a vertex; the vertices are [`Surface::stride`] bytes apart.
    pub(crate) offset: u32,
    /// The scalar kind of its components.
    pub(crate) kind: ScalarKind,
    /// 1 to 4 components of 32 bits.
    pub(crate) components: u32,
}

/// The vertex attributes of the buffer that patchwave fills, one for each member of the output. Varyings keep their
/// location; the position, which has none, takes the smallest that is free.
pub(crate) fn vertex_attributes(surface: &Surface) -> Vec<SurfaceAttribute> {
    let free = free_location(surface);
    let attribute = |member: &SurfaceMember| SurfaceAttribute {
        shader_location: input_location(member, free),
        offset: member.offset,
        kind: member.kind,
        components: member.components,
    };
    surface.members.iter().map(attribute).collect()
}

/// A WGSL module with a vertex shader that takes [`vertex_attributes`] and returns the output struct as the user
/// declared it, so that a fragment shader of the user's can follow.
///
/// # Errors
///
/// [`ShaderError::NoPosition`], where there is nothing to place the vertex by.
pub(crate) fn pass_through_vertex_shader(surface: &Surface) -> Result<String, ShaderError> {
    if !surface.members.iter().any(|member| member.slot == SurfaceSlot::Position) {
        return Err(ShaderError::NoPosition { type_name: surface.type_name.clone() });
    }
    let free = free_location(surface);
    // The user's struct could only have this one name of ours, all others being reserved.
    let output = if surface.type_name == VERTEX_ENTRY_POINT { "PwSurface" } else { &surface.type_name };
    let mut inputs = String::new();
    let mut outputs = String::new();
    let mut values = Vec::new();
    for member in &surface.members {
        let (name, ty) = (&member.name, type_text(member.kind, member.components));
        let location = input_location(member, free);
        // Writing to a string does not fail.
        let _ = writeln!(inputs, "    @location({location}) {name}: {ty},");
        let _ = writeln!(outputs, "    {} {name}: {ty},", output_attributes(member));
        values.push(format!("pw_vertex.{name}"));
    }
    Ok(format!(
        "struct PwVertex {{\n{inputs}}}\n\nstruct {output} {{\n{outputs}}}\n\n\
         @vertex\nfn {VERTEX_ENTRY_POINT}(pw_vertex: PwVertex) -> {output} {{\n    return {output}({});\n}}\n",
        values.join(", ")
    ))
}

fn free_location(surface: &Surface) -> u32 {
    let taken: HashSet<u32> = surface
        .members
        .iter()
        .filter_map(|member| match member.slot {
            SurfaceSlot::Position => None,
            SurfaceSlot::Location(location) => Some(location),
        })
        .collect();
    (0..u32::MAX).find(|location| !taken.contains(location)).unwrap_or(u32::MAX)
}

fn input_location(member: &SurfaceMember, free: u32) -> u32 {
    match member.slot {
        SurfaceSlot::Position => free,
        SurfaceSlot::Location(location) => location,
    }
}

fn output_attributes(member: &SurfaceMember) -> String {
    match member.slot {
        SurfaceSlot::Position if member.invariant => "@builtin(position) @invariant".to_owned(),
        SurfaceSlot::Position => "@builtin(position)".to_owned(),
        // Integers can only be flat. The kernels do not mind where the user has left that out; a vertex shader does.
        SurfaceSlot::Location(location) if member.interpolate.is_empty() && member.kind != ScalarKind::Float => {
            format!("@location({location}) @interpolate(flat)")
        }
        SurfaceSlot::Location(location) if member.interpolate.is_empty() => {
            format!("@location({location})")
        }
        SurfaceSlot::Location(location) => format!("@location({location}) {}", member.interpolate),
    }
}

fn type_text(kind: ScalarKind, components: u32) -> String {
    let (scalar, letter) = match kind {
        ScalarKind::Float => ("f32", 'f'),
        ScalarKind::Sint => ("i32", 'i'),
        ScalarKind::Uint => ("u32", 'u'),
    };
    match components {
        0 | 1 => scalar.to_owned(),
        _ => format!("vec{components}{letter}"),
    }
}
