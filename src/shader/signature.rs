//! The stage functions' parameters against the contract, and the structs that the vertex and domain functions exchange
//! with the render pipeline.

use std::collections::HashSet;

use naga::{
    Binding, BuiltIn, Function, Handle, Interpolation, Sampling, Scalar, StructMember, Type, TypeInner, VectorSize,
};

use super::error::ShaderError;
use super::layout::Types;
use super::prelude::VERTEX_ID;
use super::reflection::{AttributeMember, Attributes, ScalarKind, Surface, SurfaceMember, SurfaceSlot};
use super::scan::Header;
use crate::tessellator::Domain;

/// The four kinds of stage function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Vertex,
    Hull,
    PatchConstants,
    Domain,
}

impl Stage {
    /// What errors call it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Vertex => "vertex",
            Self::Hull => "hull",
            Self::PatchConstants => "patch constant",
            Self::Domain => "domain",
        }
    }

    /// The signature of the contract.
    pub(super) fn signature(self, name: &str, domain: Domain) -> String {
        match self {
            Self::Vertex => {
                format!("fn {name}(attributes: Attributes, id: VertexId) -> ControlPoint")
            }
            Self::Hull => format!("fn {name}(point: u32, patch_id: u32) -> ControlPoint"),
            Self::PatchConstants => format!("fn {name}(patch_id: u32) -> PatchConstants"),
            Self::Domain if domain == Domain::Tri => {
                format!("fn {name}(location: vec3f, patch_id: u32) -> Surface")
            }
            Self::Domain => format!("fn {name}(location: vec2f, patch_id: u32) -> Surface"),
        }
    }
}

/// A stage function of the user's.
#[derive(Clone, Copy)]
pub(super) struct StageFunction<'a> {
    pub(super) stage: Stage,
    pub(super) header: &'a Header,
    pub(super) function: &'a Function,
    pub(super) handle: Handle<Function>,
}

impl StageFunction<'_> {
    fn wrong(&self, domain: Domain, problem: String) -> ShaderError {
        wrong_signature(self.stage, self.header, domain, problem)
    }

    fn unsuitable(&self, role: &'static str, type_name: &str, member: &StructMember, problem: &str) -> ShaderError {
        ShaderError::UnsuitableMember {
            function: self.header.name.clone(),
            line: self.header.line,
            role,
            type_name: type_name.to_owned(),
            member: member.name.clone().unwrap_or_default(),
            problem: problem.to_owned(),
        }
    }

    /// The type it returns.
    pub(super) fn result(&self, domain: Domain) -> Result<Handle<Type>, ShaderError> {
        let result = self.function.result.as_ref();
        result.map(|result| result.ty).ok_or_else(|| self.wrong(domain, "it returns nothing".to_owned()))
    }
}

/// The error for a function whose header is not that of the contract.
pub(super) fn wrong_signature(stage: Stage, header: &Header, domain: Domain, problem: String) -> ShaderError {
    ShaderError::WrongSignature {
        function: header.name.clone(),
        line: header.line,
        problem,
        expected: stage.signature(&header.name, domain),
        found: header.text.clone(),
    }
}

/// Checks the parameters of a hull, patch constant or domain function.
pub(super) fn check_parameters(types: &Types, at: StageFunction, domain: Domain) -> Result<(), ShaderError> {
    let location = if domain == Domain::Tri { VectorSize::Tri } else { VectorSize::Bi };
    let location = TypeInner::Vector { size: location, scalar: Scalar::F32 };
    let number = TypeInner::Scalar(Scalar::U32);
    let expected: &[&TypeInner] = match at.stage {
        Stage::Vertex => return Ok(()),
        Stage::Hull => &[&number, &number],
        Stage::PatchConstants => &[&number],
        Stage::Domain => &[&location, &number],
    };
    let arguments = &at.function.arguments;
    if arguments.len() != expected.len() {
        let problem = format!("it takes {} parameters, not {}", arguments.len(), expected.len());
        return Err(at.wrong(domain, problem));
    }
    for (argument, expected) in arguments.iter().zip(expected) {
        if types.inner(argument.ty) != Some(*expected) {
            let name = argument.name.as_deref().unwrap_or("?");
            let problem = format!("the parameter `{name}` is of type `{}`", types.name(argument.ty));
            return Err(at.wrong(domain, problem));
        }
    }
    Ok(())
}

/// What the vertex function takes: attributes, and whether a `VertexId`.
pub(super) fn vertex_parameters(
    types: &Types,
    at: StageFunction,
    domain: Domain,
) -> Result<(Option<Attributes>, bool), ShaderError> {
    let is_id = |ty: Handle<Type>| types.name(ty) == VERTEX_ID;
    let arguments: Vec<Handle<Type>> = at.function.arguments.iter().map(|argument| argument.ty).collect();
    match *arguments.as_slice() {
        [] => Ok((None, false)),
        [id] if is_id(id) => Ok((None, true)),
        [attributes] => Ok((Some(self::attributes(types, at, domain, attributes)?), false)),
        [attributes, id] if is_id(id) && !is_id(attributes) => {
            Ok((Some(self::attributes(types, at, domain, attributes)?), true))
        }
        [first, second] => {
            let problem = if is_id(first) && !is_id(second) {
                "the `VertexId` comes after the attributes".to_owned()
            } else {
                format!("the second parameter is of type `{}`, not `VertexId`", types.name(second))
            };
            Err(at.wrong(domain, problem))
        }
        _ => Err(at.wrong(domain, format!("it takes {} parameters, not 2 or fewer", arguments.len()))),
    }
}

fn attributes(
    types: &Types,
    at: StageFunction,
    domain: Domain,
    handle: Handle<Type>,
) -> Result<Attributes, ShaderError> {
    let type_name = types.name(handle);
    let Some(TypeInner::Struct { members, .. }) = types.inner(handle) else {
        let problem = format!("the attributes are of type `{type_name}`, not a struct of members with `@location`");
        return Err(at.wrong(domain, problem));
    };
    let mut locations = HashSet::new();
    let mut read = Vec::new();
    for member in members {
        let refuse = |problem: &str| at.unsuitable("attributes", &type_name, member, problem);
        let Some(Binding::Location { location, .. }) = member.binding else {
            return Err(refuse("needs a `@location(n)`: the input assembler fills locations only"));
        };
        if !locations.insert(location) {
            return Err(refuse(&format!("has `@location({location})` a second time; give each member its own")));
        }
        let (kind, components) = components(types, member).map_err(refuse)?;
        read.push(AttributeMember { name: member.name.clone().unwrap_or_default(), location, kind, components });
    }
    Ok(Attributes { type_name, members: read })
}

/// The domain function's output.
pub(super) fn surface(types: &Types, at: StageFunction, domain: Domain) -> Result<Surface, ShaderError> {
    let handle = at.result(domain)?;
    let type_name = types.name(handle);
    let Some(TypeInner::Struct { members, .. }) = types.inner(handle) else {
        let problem =
            format!("it returns `{type_name}`, not a struct of members with `@location` or `@builtin(position)`");
        return Err(at.wrong(domain, problem));
    };
    let mut slots = HashSet::new();
    let mut read = Vec::new();
    for member in members {
        let refuse = |problem: &str| at.unsuitable("output", &type_name, member, problem);
        let (kind, components) = components(types, member).map_err(refuse)?;
        let (slot, interpolate, invariant) = match member.binding {
            Some(Binding::BuiltIn(BuiltIn::Position { invariant })) => {
                if (kind, components) != (ScalarKind::Float, 4) {
                    return Err(refuse("is a position and has to be a `vec4f`"));
                }
                (SurfaceSlot::Position, String::new(), invariant)
            }
            Some(Binding::Location { blend_src: Some(_), .. }) => {
                return Err(refuse("has `@blend_src`, which only a fragment's output may have; take it away"));
            }
            Some(Binding::Location { location, interpolation, sampling, .. }) => {
                let interpolate = interpolate(kind, interpolation, sampling).map_err(refuse)?;
                (SurfaceSlot::Location(location), interpolate, false)
            }
            Some(Binding::BuiltIn(_)) => {
                return Err(refuse(
                    "has a builtin other than `position`, which the vertex buffer cannot carry; use a `@location(n)`",
                ));
            }
            None => return Err(refuse("needs `@location(n)` or `@builtin(position)`")),
        };
        let key = match slot {
            SurfaceSlot::Position => None,
            SurfaceSlot::Location(location) => Some(location),
        };
        if !slots.insert(key) {
            return Err(refuse("has a location or builtin that an earlier member has; give each its own"));
        }
        read.push(SurfaceMember {
            name: member.name.clone().unwrap_or_default(),
            slot,
            kind,
            components,
            offset: member.offset,
            interpolate,
            invariant,
        });
    }
    Ok(Surface { type_name, stride: types.stride(handle), members: read })
}

/// The kind and number of a member's components, or why it cannot pass between stages.
fn components(types: &Types, member: &StructMember) -> Result<(ScalarKind, u32), &'static str> {
    let (scalar, components) = match types.inner(member.ty) {
        Some(TypeInner::Scalar(scalar)) => (*scalar, 1),
        Some(TypeInner::Vector { size, scalar }) => (*scalar, *size as u32),
        _ => {
            return Err("has to be a scalar or a vector; pass an array or a matrix as several members");
        }
    };
    match scalar {
        Scalar::F32 => Ok((ScalarKind::Float, components)),
        Scalar::I32 => Ok((ScalarKind::Sint, components)),
        Scalar::U32 => Ok((ScalarKind::Uint, components)),
        Scalar { kind: naga::ScalarKind::Bool, .. } => Err("is a bool, which has no layout in memory; use a `u32`"),
        Scalar { kind: naga::ScalarKind::Float, width: 2 } => {
            Err("is of f16, which not every device has; use `f32`, or `pack2x16float` into a `u32`")
        }
        _ => Err("has to be of `f32`, `i32` or `u32`: vertex formats have no others"),
    }
}

/// The `@interpolate(…)` attribute, or nothing for what WGSL assumes anyway; or why a vertex shader cannot have it.
fn interpolate(
    kind: ScalarKind,
    interpolation: Option<Interpolation>,
    sampling: Option<Sampling>,
) -> Result<String, &'static str> {
    let sampling = match sampling {
        None => None,
        Some(Sampling::Center) => Some("center"),
        Some(Sampling::Centroid) => Some("centroid"),
        Some(Sampling::Sample) => Some("sample"),
        Some(Sampling::First) => Some("first"),
        Some(Sampling::Either) => Some("either"),
    };
    let flat = matches!(sampling, Some("first" | "either"));
    let interpolation = match interpolation {
        None => return Ok(String::new()),
        Some(Interpolation::PerVertex) => {
            return Err("is `per_vertex`, which only a fragment's input may be; use `flat` or leave it out");
        }
        Some(Interpolation::Flat) if sampling.is_some() && !flat => {
            return Err("is `flat`, which is sampled `first` or `either` only");
        }
        Some(Interpolation::Flat) => "flat",
        Some(_) if flat => return Err("is sampled `first` or `either`, which only `flat` may be"),
        Some(_) if kind != ScalarKind::Float => {
            return Err("is of integers and can only be `@interpolate(flat)`");
        }
        Some(Interpolation::Linear) => "linear",
        Some(Interpolation::Perspective) if matches!(sampling, None | Some("center")) => {
            return Ok(String::new());
        }
        Some(Interpolation::Perspective) => "perspective",
    };
    Ok(match sampling {
        None => format!("@interpolate({interpolation})"),
        Some(sampling) => format!("@interpolate({interpolation}, {sampling})"),
    })
}
