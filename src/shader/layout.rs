//! Types that lie in memory between the stages: what they take, and why some cannot.

use naga::common::DiagnosticDisplay;
use naga::proc::Layouter;
use naga::{ArraySize, Handle, Module, Scalar, ScalarKind, Type, TypeInner};

use super::error::ShaderError;
use super::prelude;
use super::reflection::PointLayout;
use super::scan::Header;
use crate::tessellator::Domain;

/// WGSL's own limit of types within types.
const MAX_TYPE_DEPTH: usize = 255;

/// The parsed module with the layouts of its types.
pub(super) struct Types<'a> {
    pub(super) module: &'a Module,
    layouter: Layouter,
}

impl<'a> Types<'a> {
    pub(super) fn new(module: &'a Module) -> Result<Self, ShaderError> {
        let mut layouter = Layouter::default();
        layouter.update(module.to_ctx()).map_err(|error| ShaderError::Wgsl {
            line: None,
            column: None,
            function: None,
            message: format!("the type `{}` has no layout: {}", spell(module, error.ty), error.inner),
        })?;
        Ok(Self { module, layouter })
    }

    pub(super) fn inner(&self, handle: Handle<Type>) -> Option<&'a TypeInner> {
        self.module.types.get_handle(handle).ok().map(|ty| &ty.inner)
    }

    pub(super) fn name(&self, handle: Handle<Type>) -> String {
        spell(self.module, handle)
    }

    /// Bytes from one element of an array to the next.
    pub(super) fn stride(&self, handle: Handle<Type>) -> u32 {
        self.layouter[handle].to_stride()
    }

    pub(super) fn size(&self, handle: Handle<Type>) -> u32 {
        self.layouter[handle].size
    }

    /// The layout of a stage's result, or why it has none.
    pub(super) fn point(&self, header: &Header, handle: Handle<Type>) -> Result<PointLayout, ShaderError> {
        let type_name = header.result.clone().unwrap_or_else(|| self.name(handle));
        match self.scalars(handle, 0) {
            Ok(scalars) => {
                let layout = self.layouter[handle];
                Ok(PointLayout {
                    type_name,
                    stride: layout.to_stride(),
                    size: layout.size,
                    alignment: layout.alignment * 1,
                    scalars: u32::try_from(scalars).unwrap_or(u32::MAX),
                })
            }
            Err(Unsuitable { mut path, problem }) => {
                path.push(self.name(handle));
                path.reverse();
                Err(ShaderError::UnsuitableType {
                    function: header.name.clone(),
                    line: header.line,
                    type_name,
                    member: path.concat(),
                    problem,
                })
            }
        }
    }

    /// 32-bit scalars in a type. The path of the error is built from the inside out.
    fn scalars(&self, handle: Handle<Type>, depth: usize) -> Result<u64, Unsuitable> {
        let refuse = |problem: &str| Err(Unsuitable { path: Vec::new(), problem: problem.to_owned() });
        if depth > MAX_TYPE_DEPTH {
            return refuse("is nested deeper than WGSL's limit of 255 types; flatten it");
        }
        let Some(inner) = self.inner(handle) else {
            return refuse("has no type");
        };
        match *inner {
            TypeInner::Scalar(scalar) => component(scalar),
            TypeInner::Vector { size, scalar } => Ok(size as u64 * component(scalar)?),
            TypeInner::Matrix { columns, rows, scalar } => Ok(columns as u64 * rows as u64 * component(scalar)?),
            TypeInner::Array { base, size, .. } => {
                let count = match size {
                    ArraySize::Constant(count) => count.get(),
                    ArraySize::Pending(_) => {
                        return refuse("has a size that an `override` decides; use a `const`");
                    }
                    ArraySize::Dynamic => return refuse("is an array without a size; give it one"),
                };
                let element = self.scalars(base, depth + 1).map_err(|error| error.within("[]"))?;
                Ok(element.saturating_mul(u64::from(count)))
            }
            TypeInner::Struct { ref members, .. } => {
                let mut sum = 0u64;
                for member in members {
                    let name = member.name.as_deref().unwrap_or("?");
                    let scalars =
                        self.scalars(member.ty, depth + 1).map_err(|error| error.within(&format!(".{name}")))?;
                    sum = sum.saturating_add(scalars);
                }
                Ok(sum)
            }
            TypeInner::Atomic(_) => refuse("is atomic, and cannot be copied; use a plain number"),
            TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => {
                refuse("is a pointer; return the value instead")
            }
            TypeInner::Image { .. }
            | TypeInner::Sampler { .. }
            | TypeInner::AccelerationStructure { .. }
            | TypeInner::RayQuery { .. }
            | TypeInner::BindingArray { .. }
            | TypeInner::CooperativeMatrix { .. } => refuse("is a resource; return values read from it instead"),
        }
    }

    /// The layout of the patch constants and the member that holds the factors.
    pub(super) fn constants(
        &self,
        header: &Header,
        handle: Handle<Type>,
        domain: Domain,
    ) -> Result<(PointLayout, String), ShaderError> {
        let wanted = factors_struct(domain);
        let wrong = |found: String| ShaderError::WrongFactors {
            function: header.name.clone(),
            line: header.line,
            type_name: header.result.clone().unwrap_or_default(),
            expected: wanted,
            found,
        };
        let Some(TypeInner::Struct { members, .. }) = self.inner(handle) else {
            return Err(wrong(format!("`{}`, which is not a struct", self.name(handle))));
        };
        let of_type = |wanted: &str| {
            members
                .iter()
                .filter(|member| self.name(member.ty) == wanted)
                .filter_map(|member| member.name.clone())
                .collect::<Vec<_>>()
        };
        match of_type(wanted).as_slice() {
            [member] => Ok((self.point(header, handle)?, member.clone())),
            [] => {
                let others =
                    prelude::FACTORS.iter().find_map(|other| of_type(other).first().map(|name| (*other, name.clone())));
                Err(wrong(match others {
                    Some((other, member)) => {
                        format!("`{member}: {other}`, which is another domain's")
                    }
                    None if factors_struct(domain) == self.name(handle) => {
                        format!("`{wanted}` itself; make it a member of a struct of your own")
                    }
                    None => "none".to_owned(),
                }))
            }
            several => Err(wrong(format!("{}: `{}`", several.len(), several.join("`, `")))),
        }
    }
}

/// The struct that holds a domain's factors.
pub(super) fn factors_struct(domain: Domain) -> &'static str {
    let [quad, tri, isoline] = prelude::FACTORS;
    match domain {
        Domain::Quad => quad,
        Domain::Tri => tri,
        Domain::Isoline => isoline,
    }
}

/// The type as WGSL spells it.
pub(super) fn spell(module: &Module, handle: Handle<Type>) -> String {
    match module.types.get_handle(handle) {
        Ok(_) => DiagnosticDisplay((handle, module.to_ctx())).to_string(),
        Err(_) => "?".to_owned(),
    }
}

/// Why a type cannot lie in memory, and the path to the member that is to blame, innermost first.
struct Unsuitable {
    path: Vec<String>,
    problem: String,
}

impl Unsuitable {
    fn within(mut self, step: &str) -> Self {
        self.path.push(step.to_owned());
        self
    }
}

/// How many 32-bit scalars a component counts as.
fn component(scalar: Scalar) -> Result<u64, Unsuitable> {
    if scalar.kind == ScalarKind::Bool {
        let problem = "is a bool, which has no layout in memory; use a `u32` of 0 or 1".to_owned();
        return Err(Unsuitable { path: Vec::new(), problem });
    }
    Ok(u64::from(scalar.width).div_ceil(4))
}
