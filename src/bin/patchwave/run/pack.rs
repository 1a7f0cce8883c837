//! Values of a scene file as the shader's types have them in memory, by WGSL's rules of layout, and back.

use naga::{ArraySize, Handle, Module, ScalarKind, Type, TypeInner};

use super::formats::half_bits;
use super::place::{Complaint, Place, suggestion};
use super::value::{Value, numbers};

/// What a buffer may hold, so that an array's size does not fill the memory.
const MOST_BYTES: usize = 1 << 30;

/// Writes values of a shader's types.
pub(crate) struct Packer<'a> {
    module: &'a Module,
    bytes: Vec<u8>,
}

/// The bytes of `value` as the type `ty` has them; arrays without a size take as many elements as are given.
pub(crate) fn pack(module: &Module, ty: Handle<Type>, value: &Value, place: &Place) -> Result<Vec<u8>, Complaint> {
    let mut packer = Packer { module, bytes: Vec::new() };
    packer.value(ty, 0, value, place)?;
    let size = packer.size(ty, place)?.max(packer.bytes.len()).next_multiple_of(4);
    packer.bytes.resize(size, 0);
    Ok(packer.bytes)
}

impl Packer<'_> {
    fn inner(&self, ty: Handle<Type>, place: &Place) -> Result<&TypeInner, Complaint> {
        self.module.types.get_handle(ty).map(|ty| &ty.inner).map_err(|_| place.complain("the shader's type is unknown"))
    }

    /// Bytes of a type, as far as they do not depend on what is given.
    fn size(&self, ty: Handle<Type>, place: &Place) -> Result<usize, Complaint> {
        let size = self.inner(ty, place)?.size(self.module.to_ctx()) as usize;
        let message = || format!("the shader's type takes {size} bytes, and {MOST_BYTES} are allowed");
        (size <= MOST_BYTES).then_some(size).ok_or_else(|| place.complain(message()))
    }

    fn write(&mut self, at: usize, bytes: &[u8], place: &Place) -> Result<(), Complaint> {
        let end = at.saturating_add(bytes.len());
        if end > MOST_BYTES {
            return Err(place.complain(format!("it takes more than {MOST_BYTES} bytes")));
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[at..end].copy_from_slice(bytes);
        Ok(())
    }

    fn value(&mut self, ty: Handle<Type>, at: usize, value: &Value, place: &Place) -> Result<(), Complaint> {
        match self.inner(ty, place)?.clone() {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => self.scalar(scalar, at, value, place),
            TypeInner::Vector { size, scalar } => {
                let width = usize::from(scalar.width);
                let list = list_of(value, size as usize, "vector", place)?;
                for (i, one) in list.iter().enumerate() {
                    self.scalar(scalar, at + i * width, one, &place.at(i))?;
                }
                Ok(())
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let (columns, rows, width) = (columns as usize, rows as usize, usize::from(scalar.width));
                // A column of three takes the room of four.
                let stride = width * if rows == 3 { 4 } else { rows };
                let all = numbers(value, place)?;
                if all.len() != columns * rows {
                    let message =
                        format!("it has {} numbers, and {columns} columns of {rows} are {}", all.len(), columns * rows);
                    return Err(place.complain(message));
                }
                for (i, (one, place)) in all.iter().enumerate() {
                    self.scalar(scalar, at + i / rows * stride + i % rows * width, one, place)?;
                }
                Ok(())
            }
            TypeInner::Array { base, size, stride } => {
                let Value::List(list) = value else {
                    return Err(place.complain(format!("{} stands where the shader has an array", value.kind())));
                };
                match size {
                    ArraySize::Constant(count) if list.len() != count.get() as usize => {
                        let message = format!("it has {} elements, and the shader's array {count}", list.len());
                        return Err(place.complain(message));
                    }
                    ArraySize::Pending(_) => {
                        return Err(place.complain("the array's size depends on an override, which is not supported"));
                    }
                    ArraySize::Dynamic if list.is_empty() => return Err(place.complain("it has no elements")),
                    ArraySize::Constant(_) | ArraySize::Dynamic => {}
                }
                for (i, one) in list.iter().enumerate() {
                    self.value(base, at.saturating_add(i.saturating_mul(stride as usize)), one, &place.at(i))?;
                }
                // The last element's padding counts.
                self.write(at.saturating_add(list.len().saturating_mul(stride as usize)), &[], place)
            }
            TypeInner::Struct { members, .. } => {
                let name = |member: &naga::StructMember| member.name.clone().unwrap_or_default();
                let Value::Table(table) = value else {
                    let names = members.iter().map(name).collect::<Vec<_>>().join(", ");
                    return Err(
                        place.complain(format!("{} stands where the shader has a struct of {names}", value.kind()))
                    );
                };
                if let Some((key, _)) = table.iter().find(|(key, _)| !members.iter().any(|member| name(member) == *key))
                {
                    let names: Vec<String> = members.iter().map(name).collect();
                    let hint = suggestion(key, names.iter().map(String::as_str));
                    return Err(place.key(key).complain(format!("the shader's struct has no member '{key}'{hint}")));
                }
                for member in &members {
                    let key = name(member);
                    let Some((_, value)) = table.iter().find(|(other, _)| *other == key) else {
                        return Err(place.complain(format!("the member '{key}' of the shader's struct is missing")));
                    };
                    self.value(member.ty, at.saturating_add(member.offset as usize), value, &place.key(&key))?;
                }
                Ok(())
            }
            _ => Err(place.complain("the shader's type has no values that a file could give")),
        }
    }

    fn scalar(&mut self, scalar: naga::Scalar, at: usize, value: &Value, place: &Place) -> Result<(), Complaint> {
        let (low, high) = (i64::from(i32::MIN), i64::from(i32::MAX));
        let refuse = |message: String| place.complain(message);
        let bytes = match (scalar.kind, scalar.width) {
            (ScalarKind::Float, 2) => half_bits(value.float().map_err(refuse)?).to_le_bytes().to_vec(),
            (ScalarKind::Float, 4) => value.float().map_err(refuse)?.to_bits().to_le_bytes().to_vec(),
            (ScalarKind::Float, 8) => value.double().map_err(refuse)?.to_le_bytes().to_vec(),
            (ScalarKind::Sint, 4) => (value.integer(low, high).map_err(refuse)? as i32).to_le_bytes().to_vec(),
            (ScalarKind::Uint, 4) => (value.integer(0, u32::MAX.into()).map_err(refuse)? as u32).to_le_bytes().to_vec(),
            (ScalarKind::Sint | ScalarKind::Uint, 8) => {
                value.integer(i64::MIN, i64::MAX).map_err(refuse)?.to_le_bytes().to_vec()
            }
            _ => return Err(place.complain("the shader's type has no values that a file could give")),
        };
        self.write(at, &bytes, place)
    }
}

/// The elements of a list that has to have `count`.
pub(crate) fn list_of<'a>(value: &'a Value, count: usize, what: &str, place: &Place) -> Result<&'a [Value], Complaint> {
    let Value::List(list) = value else {
        return Err(place.complain(format!("{} stands where the shader has a {what} of {count}", value.kind())));
    };
    if list.len() == count {
        return Ok(list);
    }
    Err(place.complain(format!("it has {} values, and the shader's {what} {count}", list.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(declarations: &str, ty: &str, value: &str) -> Result<Vec<u8>, String> {
        let text = format!("{declarations}\n@group(0) @binding(0) var<storage> it: {ty};");
        let module = naga::front::wgsl::parse_str(&text).expect("the test's WGSL is right");
        let table: Vec<(String, Value)> = match toml::from_str(&format!("it = {value}")) {
            Ok(Value::Table(table)) => table,
            other => panic!("{other:?}"),
        };
        let (_, variable) = module.global_variables.iter().next().expect("there is one");
        pack(&module, variable.ty, &table[0].1, &Place::new("it")).map_err(|complaint| complaint.to_string())
    }

    fn words(bytes: &[u8]) -> Vec<u32> {
        bytemuck::pod_collect_to_vec(bytes)
    }

    #[test]
    fn values_lie_where_wgsl_has_them() {
        let declarations = "struct S { a: f32, b: vec3f, c: u32, d: mat2x3f, e: array<vec3<i32>, 2>, f: vec2<u32> }";
        let value =
            "{ a = 1, b = [2, 3, 4], c = 5, d = [[6, 7, 8], [9, 10, 11]], e = [[-1, 2, 3], [4, 5, 6]], f = [7, 8] }";
        let f = |value: f32| value.to_bits();
        assert_eq!(
            words(&packed(declarations, "S", value).expect("it fits")),
            [
                [f(1.0), 0, 0, 0],
                [f(2.0), f(3.0), f(4.0), 5],
                [f(6.0), f(7.0), f(8.0), 0],
                [f(9.0), f(10.0), f(11.0), 0],
                [u32::MAX, 2, 3, 0],
                [4, 5, 6, 0],
                [7, 8, 0, 0]
            ]
            .concat()
        );
        let list = "struct L { count: u32, list: array<vec3f> }";
        let bytes = packed(list, "L", "{ count = 2, list = [[1, 2, 3], [4, 5, nan]] }").expect("it fits");
        assert_eq!(bytes.len(), 48);
        assert!(f32::from_bits(words(&bytes)[10]).is_nan());
    }

    #[test]
    fn what_does_not_fit_is_told() {
        for (ty, value, words) in [
            ("vec3f", "[1, 2]", "it: it has 2 values, and the shader's vector 3"),
            ("vec3f", "[1, 2, 'x']", "it[2]: 'x' is no number"),
            ("u32", "-1", "it: -1 is not within 0 to 4294967295"),
            ("i32", "1.5", "it: 1.5 is no integer"),
            ("mat2x2f", "[1, 2, 3]", "it: it has 3 numbers, and 2 columns of 2 are 4"),
            ("array<u32, 3>", "[1]", "it: it has 1 elements, and the shader's array 3"),
            ("S", "[1]", "it: a list of 1 stands where the shader has a struct of factor, other"),
            ("S", "{ factr = 1 }", "it.factr: the shader's struct has no member 'factr'; did you mean 'factor'?"),
            ("S", "{ factor = 1 }", "it: the member 'other' of the shader's struct is missing"),
        ] {
            let message = packed("struct S { factor: f32, other: f32 }", ty, value).expect_err(ty);
            assert!(message.starts_with(words), "{message}");
        }
    }
}
