//! The user's module-scope variables and overrides.

use std::collections::{HashMap, HashSet};

use naga::common::wgsl::{ToWgsl, address_space_str};
use naga::{
    AddressSpace, ArraySize, GlobalVariable, Handle, ImageClass, ImageDimension, Module, Scalar, Span, StorageAccess,
    Type, TypeInner,
};

use super::error::ShaderError;
use super::layout::Types;
use super::lines::Lines;
use super::reflection::{
    BindingKind, OverrideKind, ScalarKind, TextureDimension, TextureSample, UserBinding, UserOverride,
};

/// Bind groups 0 to 2 are the user's.
const USER_GROUPS: u32 = 3;

/// Refuses variables that patchwave's passes leave no room for, whether they are used or not.
pub(super) fn check_variables(module: &Module, lines: &Lines) -> Result<(), ShaderError> {
    for (handle, variable) in module.global_variables.iter() {
        let name = variable.name.clone().unwrap_or_default();
        let line = line(module.global_variables.get_span(handle), lines);
        match variable.space {
            AddressSpace::WorkGroup => return Err(ShaderError::WorkgroupVariable { name, line }),
            AddressSpace::Private | AddressSpace::Function => {}
            AddressSpace::Uniform | AddressSpace::Storage { .. } | AddressSpace::Handle => match variable.binding {
                None => return Err(ShaderError::MissingBinding { name, line }),
                Some(binding) if binding.group >= USER_GROUPS => {
                    return Err(ShaderError::ReservedGroup { name, group: binding.group, line });
                }
                Some(_) => {}
            },
            AddressSpace::Immediate
            | AddressSpace::TaskPayload
            | AddressSpace::RayPayload
            | AddressSpace::IncomingRayPayload => {
                let space = address_space_str(variable.space).0.unwrap_or("immediate").to_owned();
                return Err(ShaderError::UnsupportedVariable { name, line, space });
            }
        }
    }
    Ok(())
}

/// The resources, in the order of their declaration.
pub(super) fn bindings(
    types: &Types,
    lines: &Lines,
    used: &HashSet<Handle<GlobalVariable>>,
) -> Result<Vec<UserBinding>, ShaderError> {
    let variables = &types.module.global_variables;
    let mut places: HashMap<(u32, u32), String> = HashMap::new();
    let mut bindings = Vec::new();
    for (handle, variable) in variables.iter() {
        let Some(binding) = variable.binding else {
            continue;
        };
        let name = variable.name.clone().unwrap_or_default();
        let line = line(variables.get_span(handle), lines);
        let used = used.contains(&handle);
        let other = if used { places.insert((binding.group, binding.binding), name.clone()) } else { None };
        if let Some(other) = other {
            let (group, binding) = (binding.group, binding.binding);
            return Err(ShaderError::SharedBinding { name, other, group, binding, line });
        }
        bindings.push(UserBinding {
            name,
            group: binding.group,
            binding: binding.binding,
            is_storage_buffer: matches!(variable.space, AddressSpace::Storage { .. }),
            kind: kind(types, variable.space, variable.ty),
            used,
            line,
        });
    }
    bindings.sort_by_key(|binding| binding.line);
    Ok(bindings)
}

fn kind(types: &Types, space: AddressSpace, ty: Handle<Type>) -> BindingKind {
    if let Some(&TypeInner::BindingArray { base, size }) = types.inner(ty) {
        let count = match size {
            ArraySize::Constant(count) => Some(count.get()),
            ArraySize::Pending(_) | ArraySize::Dynamic => None,
        };
        return BindingKind::Array { count, element: Box::new(kind(types, space, base)) };
    }
    match (space, types.inner(ty)) {
        (AddressSpace::Storage { access }, _) => BindingKind::StorageBuffer {
            size: types.size(ty),
            read_only: !access.intersects(StorageAccess::STORE | StorageAccess::ATOMIC),
        },
        (_, Some(TypeInner::Sampler { comparison })) => BindingKind::Sampler { comparison: *comparison },
        (_, Some(TypeInner::AccelerationStructure { .. })) => BindingKind::AccelerationStructure,
        (_, Some(TypeInner::Image { dim, arrayed, class })) => image(*dim, *arrayed, *class),
        _ => BindingKind::UniformBuffer { size: types.size(ty) },
    }
}

fn image(dimension: ImageDimension, arrayed: bool, class: ImageClass) -> BindingKind {
    let dimension = match (dimension, arrayed) {
        (ImageDimension::D1, _) => TextureDimension::D1,
        (ImageDimension::D2, false) => TextureDimension::D2,
        (ImageDimension::D2, true) => TextureDimension::D2Array,
        (ImageDimension::D3, _) => TextureDimension::D3,
        (ImageDimension::Cube, false) => TextureDimension::Cube,
        (ImageDimension::Cube, true) => TextureDimension::CubeArray,
    };
    match class {
        ImageClass::Sampled { kind, multi } => {
            let kind = match kind {
                naga::ScalarKind::Sint => ScalarKind::Sint,
                naga::ScalarKind::Uint => ScalarKind::Uint,
                _ => ScalarKind::Float,
            };
            BindingKind::Texture { dimension, sample: TextureSample::Kind(kind), multisampled: multi }
        }
        ImageClass::Depth { multi } => {
            BindingKind::Texture { dimension, sample: TextureSample::Depth, multisampled: multi }
        }
        ImageClass::External => BindingKind::ExternalTexture,
        ImageClass::Storage { format, access } => BindingKind::StorageTexture {
            dimension,
            format: format.to_wgsl(),
            reads: access.intersects(StorageAccess::LOAD | StorageAccess::ATOMIC),
            writes: access.intersects(StorageAccess::STORE | StorageAccess::ATOMIC),
        },
    }
}

/// The private variables reached, in the order of their declaration.
pub(super) fn private_variables(module: &Module, used: &HashSet<Handle<GlobalVariable>>) -> Vec<String> {
    let variables = &module.global_variables;
    let mut reached: Vec<(Option<usize>, String)> = variables
        .iter()
        .filter(|(handle, variable)| variable.space == AddressSpace::Private && used.contains(handle))
        .filter_map(|(handle, variable)| {
            let start = variables.get_span(handle).to_range().map(|range| range.start);
            Some((start, variable.name.clone()?))
        })
        .collect();
    reached.sort();
    reached.into_iter().map(|(_, name)| name).collect()
}

/// The overrides, in the order of their declaration.
pub(super) fn overrides(types: &Types, lines: &Lines) -> Vec<UserOverride> {
    let arena = &types.module.overrides;
    let mut overrides: Vec<UserOverride> = arena
        .iter()
        .filter_map(|(handle, variable)| {
            // naga makes nameless ones for expressions of overrides.
            let name = variable.name.clone()?;
            let kind = match types.inner(variable.ty) {
                Some(TypeInner::Scalar(Scalar { kind: naga::ScalarKind::Bool, .. })) => OverrideKind::Bool,
                Some(TypeInner::Scalar(Scalar::I32)) => OverrideKind::Sint,
                Some(TypeInner::Scalar(Scalar::U32)) => OverrideKind::Uint,
                Some(TypeInner::Scalar(Scalar::F32)) => OverrideKind::Float,
                Some(TypeInner::Scalar(Scalar { kind: naga::ScalarKind::Float, width: 2 })) => OverrideKind::Half,
                _ => OverrideKind::Other,
            };
            Some(UserOverride {
                key: variable.id.map_or_else(|| name.clone(), |id| id.to_string()),
                name,
                kind,
                has_default: variable.init.is_some(),
                line: line(arena.get_span(handle), lines),
            })
        })
        .collect();
    overrides.sort_by_key(|variable| variable.line);
    overrides
}

fn line(span: Span, lines: &Lines) -> u32 {
    span.to_range().map_or(1, |range| lines.line(range.start))
}
