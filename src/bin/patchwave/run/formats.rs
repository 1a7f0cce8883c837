//! Vertex formats by their names in WebGPU, and numbers encoded in them.

use wgpu::VertexFormat as F;

use super::place::suggestion;
use super::value::Value;

/// Every vertex format, with how a component is encoded and how many there are.
const FORMATS: [(&str, F, Component, usize); 45] = {
    use Component::{Float, Packed, PackedBgra, Sint, Snorm, Uint, Unorm};
    [
        ("uint8", F::Uint8, Uint(1), 1),
        ("uint8x2", F::Uint8x2, Uint(1), 2),
        ("uint8x4", F::Uint8x4, Uint(1), 4),
        ("sint8", F::Sint8, Sint(1), 1),
        ("sint8x2", F::Sint8x2, Sint(1), 2),
        ("sint8x4", F::Sint8x4, Sint(1), 4),
        ("unorm8", F::Unorm8, Unorm(1), 1),
        ("unorm8x2", F::Unorm8x2, Unorm(1), 2),
        ("unorm8x4", F::Unorm8x4, Unorm(1), 4),
        ("snorm8", F::Snorm8, Snorm(1), 1),
        ("snorm8x2", F::Snorm8x2, Snorm(1), 2),
        ("snorm8x4", F::Snorm8x4, Snorm(1), 4),
        ("uint16", F::Uint16, Uint(2), 1),
        ("uint16x2", F::Uint16x2, Uint(2), 2),
        ("uint16x4", F::Uint16x4, Uint(2), 4),
        ("sint16", F::Sint16, Sint(2), 1),
        ("sint16x2", F::Sint16x2, Sint(2), 2),
        ("sint16x4", F::Sint16x4, Sint(2), 4),
        ("unorm16", F::Unorm16, Unorm(2), 1),
        ("unorm16x2", F::Unorm16x2, Unorm(2), 2),
        ("unorm16x4", F::Unorm16x4, Unorm(2), 4),
        ("snorm16", F::Snorm16, Snorm(2), 1),
        ("snorm16x2", F::Snorm16x2, Snorm(2), 2),
        ("snorm16x4", F::Snorm16x4, Snorm(2), 4),
        ("float16", F::Float16, Float(2), 1),
        ("float16x2", F::Float16x2, Float(2), 2),
        ("float16x4", F::Float16x4, Float(2), 4),
        ("float32", F::Float32, Float(4), 1),
        ("float32x2", F::Float32x2, Float(4), 2),
        ("float32x3", F::Float32x3, Float(4), 3),
        ("float32x4", F::Float32x4, Float(4), 4),
        ("uint32", F::Uint32, Uint(4), 1),
        ("uint32x2", F::Uint32x2, Uint(4), 2),
        ("uint32x3", F::Uint32x3, Uint(4), 3),
        ("uint32x4", F::Uint32x4, Uint(4), 4),
        ("sint32", F::Sint32, Sint(4), 1),
        ("sint32x2", F::Sint32x2, Sint(4), 2),
        ("sint32x3", F::Sint32x3, Sint(4), 3),
        ("sint32x4", F::Sint32x4, Sint(4), 4),
        ("float64", F::Float64, Float(8), 1),
        ("float64x2", F::Float64x2, Float(8), 2),
        ("float64x3", F::Float64x3, Float(8), 3),
        ("float64x4", F::Float64x4, Float(8), 4),
        ("unorm10-10-10-2", F::Unorm10_10_10_2, Packed, 4),
        ("unorm8x4-bgra", F::Unorm8x4Bgra, PackedBgra, 4),
    ]
};

/// How a component lies in memory; the number is its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    Uint(usize),
    Sint(usize),
    Unorm(usize),
    Snorm(usize),
    Float(usize),
    /// 10 bits each, and 2 of the last, from the lowest up.
    Packed,
    /// As `Unorm(1)`, with the first and the third swapped.
    PackedBgra,
}

/// A vertex format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) format: F,
    pub(crate) component: Component,
    pub(crate) components: usize,
}

impl Format {
    /// The format of this name.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let found = FORMATS.iter().find(|(known, ..)| *known == name);
        found
            .map(|(_, format, component, components)| Self {
                format: *format,
                component: *component,
                components: *components,
            })
            .ok_or_else(|| {
                let known = FORMATS.iter().map(|(known, ..)| *known);
                format!("'{name}' is no vertex format{}", suggestion(name, known))
            })
    }

    /// The bytes of one attribute.
    pub(crate) fn encode(&self, values: &[&Value], to: &mut Vec<u8>) -> Result<(), (usize, String)> {
        match self.component {
            Component::Packed => {
                let mut word = 0;
                for (i, (value, bits)) in values.iter().zip([10, 10, 10, 2]).enumerate() {
                    word |= unorm(value, bits).map_err(|message| (i, message))? << (10 * i);
                }
                to.extend(word.to_le_bytes());
            }
            Component::PackedBgra => {
                let mut bytes = [0; 4];
                for (i, (value, at)) in values.iter().zip([2, 1, 0, 3]).enumerate() {
                    bytes[at] = unorm(value, 8).map_err(|message| (i, message))? as u8;
                }
                to.extend(bytes);
            }
            component => {
                for (i, value) in values.iter().enumerate() {
                    encode(component, value, to).map_err(|message| (i, message))?;
                }
            }
        }
        Ok(())
    }
}

/// One component, as it lies in memory.
pub(crate) fn encode(component: Component, value: &Value, to: &mut Vec<u8>) -> Result<(), String> {
    match component {
        Component::Uint(bytes) => {
            let word = value.integer(0, (1_i64 << (8 * bytes)) - 1)?;
            to.extend(&word.to_le_bytes()[..bytes]);
        }
        Component::Sint(bytes) => {
            let most = (1_i64 << (8 * bytes - 1)) - 1;
            let word = value.integer(-most - 1, most)?;
            to.extend(&word.to_le_bytes()[..bytes]);
        }
        Component::Unorm(bytes) => to.extend(&unorm(value, 8 * bytes as u32)?.to_le_bytes()[..bytes]),
        Component::Snorm(bytes) => {
            let most = f64::from((1_i32 << (8 * bytes - 1)) - 1);
            let number = within(value, -1.0)?;
            to.extend(&((number * most).round() as i32).to_le_bytes()[..bytes]);
        }
        Component::Float(2) => to.extend(half_bits(value.float()?).to_le_bytes()),
        Component::Float(4) => to.extend(value.float()?.to_bits().to_le_bytes()),
        Component::Float(_) => to.extend(value.double()?.to_bits().to_le_bytes()),
        Component::Packed | Component::PackedBgra => return Err("is packed with its neighbours".to_owned()),
    }
    Ok(())
}

fn unorm(value: &Value, bits: u32) -> Result<u32, String> {
    Ok((within(value, 0.0)? * f64::from((1_u32 << bits) - 1)).round() as u32)
}

/// A number of a normalized format.
fn within(value: &Value, low: f64) -> Result<f64, String> {
    let number = value.double()?;
    let message = || format!("{number} is not within {low} to 1, as a normalized format has it");
    (low..=1.0).contains(&number).then_some(number).ok_or_else(message)
}

/// A 16-bit float's bits, rounded to the nearest, ties to even.
pub(crate) fn half_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let exponent = ((bits >> 23) & 0xff) as i32 - 112;
    let mantissa = bits & 0x7f_ffff;
    if exponent == 143 {
        return sign | 0x7c00 | if mantissa == 0 { 0 } else { 0x200 };
    }
    if exponent >= 31 {
        return sign | 0x7c00;
    }
    if exponent < -10 {
        return sign;
    }
    // Below the smallest exponent the implicit 1 is written out and shifted down.
    let (base, mantissa, shift) = match exponent {
        1.. => ((exponent as u32) << 10, mantissa, 13),
        _ => (0, mantissa | 0x80_0000, (14 - exponent) as u32),
    };
    let mut half = base + (mantissa >> shift);
    let (rest, middle) = (mantissa & ((1 << shift) - 1), 1 << (shift - 1));
    if rest > middle || (rest == middle && half & 1 == 1) {
        // A carry into the exponent is right, up to infinity.
        half += 1;
    }
    sign | half as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_are_those_of_wgpu() {
        for (name, format, component, components) in FORMATS {
            let plain = format!("{format:?}").to_lowercase().replace('_', "-");
            assert_eq!(name.replace("-bgra", "bgra"), plain);
            let size = match component {
                Component::Uint(b) | Component::Sint(b) | Component::Unorm(b) | Component::Snorm(b) => b,
                Component::Float(b) => b,
                Component::Packed | Component::PackedBgra => 1,
            };
            assert_eq!((size * components) as u64, format.size(), "{name}");
            let mut bytes = Vec::new();
            let one = Value::Integer(1);
            let format = Format::named(name).expect("it is in the table");
            format.encode(&vec![&one; components], &mut bytes).expect("1 goes into every format");
            assert_eq!(bytes.len(), size * components, "{name}");
        }
    }

    #[test]
    fn halves() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65520.0, 0x7c00),
            (6.103_515_6e-5, 0x0400),
            (5.960_464_5e-8, 0x0001),
            (2.980_232_2e-8, 0x0000),
            (2.980_233e-8, 0x0001),
            (f32::INFINITY, 0x7c00),
            (1.0 / 3.0, 0x3555),
        ] {
            assert_eq!(half_bits(value), bits, "{value}");
        }
        assert_eq!(half_bits(f32::NAN) & 0x7e00, 0x7e00);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |name: &str, value: Value| {
            Format::named(name)
                .is_ok_and(|format| format.encode(&vec![&value; format.components], &mut Vec::new()).is_err())
        };
        assert!(refused("uint8", Value::Integer(256)));
        assert!(refused("sint16", Value::Integer(-32769)));
        assert!(refused("unorm8x4", Value::Float(1.5)));
        assert!(refused("snorm8", Value::Float(f64::NAN)));
        assert!(refused("uint32", Value::Float(1.0)));
        assert!(refused("float32", Value::Float(1e39)));
        assert!(Format::named("float32x5").is_err_and(|message| message.contains("did you mean 'float32x")));
    }
}
