//! Values of a scene file whose shape follows from something else: numbers, nested lists, named members.

use std::fmt;

use serde::Deserialize;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};

use super::place::{Complaint, Place};
use crate::factors::factor_bits;

/// A value as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    /// Members in the order of their names.
    Table(Vec<(String, Value)>),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a list or a table")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Bool(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Integer(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
                i64::try_from(value).map(Value::Integer).map_err(|_| E::custom(format!("{value} is beyond 64 bits")))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Float(value))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
                Ok(Value::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = sequence.next_element()? {
                    list.push(value);
                }
                Ok(Value::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut table = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    table.push(entry);
                }
                table.sort_by(|(a, _): &(String, Value), (b, _)| a.cmp(b));
                Ok(Value::Table(table))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Value {
    /// What it is, in words.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Text(value) => format!("'{value}'"),
            Self::List(list) => format!("a list of {}", list.len()),
            Self::Table(_) => "a table".to_owned(),
        }
    }

    /// As an `f32`: a number, or its bits as `"0x7fc00001"`.
    pub(crate) fn float(&self) -> Result<f32, String> {
        match self {
            // Beyond 2^24 an integer may round, as a decimal does.
            Self::Integer(value) => Ok(*value as f32),
            Self::Float(value) if value.is_finite() && (*value as f32).is_infinite() => {
                Err(format!("{value} is beyond the range of a 32-bit float; write inf or -inf if that is meant"))
            }
            // Which bits a conversion gives a NaN is left open; these are the quiet ones that D3D knows.
            Self::Float(value) if value.is_nan() => {
                Ok(f32::from_bits(if value.is_sign_negative() { 0xffc0_0000 } else { 0x7fc0_0000 }))
            }
            Self::Float(value) => Ok(*value as f32),
            Self::Text(text) if text.starts_with("0x") => factor_bits(text).map(f32::from_bits),
            other => Err(format!("{} is no number", other.kind())),
        }
    }

    /// As an `f64`.
    pub(crate) fn double(&self) -> Result<f64, String> {
        match self {
            Self::Integer(value) => Ok(*value as f64),
            Self::Float(value) => Ok(*value),
            other => Err(format!("{} is no number", other.kind())),
        }
    }

    /// As an integer from `low` to `high`.
    pub(crate) fn integer(&self, low: i64, high: i64) -> Result<i64, String> {
        match self {
            Self::Integer(value) if (low..=high).contains(value) => Ok(*value),
            Self::Integer(value) => Err(format!("{value} is not within {low} to {high}")),
            other => Err(format!("{} is no integer", other.kind())),
        }
    }

    /// The bits of a 32-bit scalar of a kind.
    pub(crate) fn word(&self, kind: patchwave::shader::ScalarKind) -> Result<u32, String> {
        use patchwave::shader::ScalarKind;
        match kind {
            ScalarKind::Float => self.float().map(f32::to_bits),
            ScalarKind::Sint => self.integer(i64::from(i32::MIN), i64::from(i32::MAX)).map(|value| value as i32 as u32),
            ScalarKind::Uint => self.integer(0, i64::from(u32::MAX)).map(|value| value as u32),
        }
    }
}

/// The numbers of nested lists one after the other, each with its place; a number alone is a list of one.
pub(crate) fn numbers<'a>(value: &'a Value, place: &Place) -> Result<Vec<(&'a Value, Place)>, Complaint> {
    let mut all = Vec::new();
    gather(value, place, &mut all)?;
    Ok(all)
}

fn gather<'a>(value: &'a Value, place: &Place, all: &mut Vec<(&'a Value, Place)>) -> Result<(), Complaint> {
    match value {
        Value::List(list) => {
            for (i, one) in list.iter().enumerate() {
                gather(one, &place.at(i), all)?;
            }
            Ok(())
        }
        Value::Table(_) => Err(place.complain("a table stands where numbers are expected")),

        number => {
            all.push((number, place.clone()));
            Ok(())
        }
    }
}
