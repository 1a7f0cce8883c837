//! What the components of a vertex format are, and the WGSL that makes scalars of their bits.
//!
//! Conversions follow the D3D11.3 specification's rules for data conversion, which WebGPU's vertex formats are defined by:
//! unorm x is x / (2^n - 1), snorm x is max(x / (2^(n-1) - 1), -1), a 16-bit float is the same number in 32 bits. WGSL
//! leaves to the device how division rounds, and whether denormals and NaNs survive; so all of it is integer arithmetic,
//! which gives the correctly rounded result on every device.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::ScalarKind;

/// How a component's bits stand for a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// 32 bits as they are, of any kind.
    Word,
    /// A double, rounded to the nearest `f32`.
    Double,
    /// A 16-bit float.
    Half,
    /// An unsigned integer of these bits.
    Uint(u32),
    /// A signed integer of these bits.
    Sint(u32),
    /// An unsigned integer of these bits that stands for 0 to 1.
    Unorm(u32),
    /// A signed integer of these bits that stands for -1 to 1.
    Snorm(u32),
    /// Three unorms of 10 bits and one of 2.
    Unorm1010102,
    /// Four unorms of 8 bits: blue, green, red, alpha.
    Bgra,
}

/// A vertex format as the input assembler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) encoding: Encoding,
    /// Of the scalars that come out.
    pub(crate) kind: ScalarKind,
    /// 1 to 4.
    pub(crate) components: u32,
}

impl Format {
    /// Bytes that it takes in the buffer.
    pub(crate) fn bytes(self) -> u32 {
        match self.encoding {
            Encoding::Word => 4 * self.components,
            Encoding::Double => 8 * self.components,
            Encoding::Half => 2 * self.components,
            Encoding::Uint(bits) | Encoding::Sint(bits) | Encoding::Unorm(bits) | Encoding::Snorm(bits) => {
                bits / 8 * self.components
            }
            Encoding::Unorm1010102 | Encoding::Bgra => 4,
        }
    }

    /// WGSL of component `i`, out of the words that the format begins at the lowest bit of; `word(k)` spells the k-th.
    pub(crate) fn component(self, i: u32, word: &dyn Fn(u32) -> String) -> String {
        match self.encoding {
            Encoding::Word => match self.kind {
                ScalarKind::Float => format!("bitcast<f32>({})", word(i)),
                ScalarKind::Sint => format!("bitcast<i32>({})", word(i)),
                ScalarKind::Uint => word(i),
            },
            Encoding::Double => format!("pw_double({}, {})", word(2 * i), word(2 * i + 1)),
            Encoding::Half => format!("pw_half({})", field(word, 16 * i, 16)),
            Encoding::Uint(bits) => field(word, bits * i, bits),
            Encoding::Sint(bits) => sign_extended(word, bits * i, bits),
            Encoding::Unorm(bits) => unorm(word, bits * i, bits),
            Encoding::Snorm(bits) => format!("pw_snorm_{bits}({})", sign_extended(word, bits * i, bits)),
            Encoding::Unorm1010102 => unorm(word, 10 * i, if i == 3 { 2 } else { 10 }),
            Encoding::Bgra => unorm(word, 8 * if i == 3 { 3 } else { 2 - i }, 8),
        }
    }
}

/// `bits` bits from bit `first` on; they do not cross a word's end.
fn field(word: &dyn Fn(u32) -> String, first: u32, bits: u32) -> String {
    format!("((({}) >> {}u) & {:#x}u)", word(first / 32), first % 32, (1u32 << bits) - 1)
}

fn sign_extended(word: &dyn Fn(u32) -> String, first: u32, bits: u32) -> String {
    let left = 32 - bits - first % 32;
    format!("(bitcast<i32>(({}) << {left}u) >> {}u)", word(first / 32), 32 - bits)
}

fn unorm(word: &dyn Fn(u32) -> String, first: u32, bits: u32) -> String {
    format!("bitcast<f32>(pw_fraction_{bits}({}))", field(word, first, bits))
}

/// Writes the functions that the components of `formats` call, and no others.
pub(crate) fn push_conversions(text: &mut String, formats: impl Iterator<Item = Format>) {
    let (mut fractions, mut snorms) = (BTreeSet::new(), BTreeSet::new());
    let (mut half, mut double) = (false, false);
    for format in formats {
        match format.encoding {
            Encoding::Word | Encoding::Uint(_) | Encoding::Sint(_) => {}
            Encoding::Double => double = true,
            Encoding::Half => half = true,
            Encoding::Unorm(bits) => drop(fractions.insert(bits)),
            Encoding::Snorm(bits) => drop((snorms.insert(bits), fractions.insert(bits - 1))),
            Encoding::Unorm1010102 => fractions.extend([2, 10]),
            Encoding::Bgra => drop(fractions.insert(8)),
        }
    }
    for bits in fractions {
        push_fraction(text, bits);
    }
    for bits in snorms {
        let most = (1u32 << (bits - 1)) - 1;
        let _ = write!(
            text,
            "// The lowest integer stands for -1 as well as the one above it.\n\
             fn pw_snorm_{bits}(x: i32) -> f32 {{\n    \
                 let magnitude = pw_fraction_{}(min(u32(abs(x)), {most}u));\n    \
                 return bitcast<f32>(magnitude | (bitcast<u32>(x) & 0x80000000u));\n}}\n",
            bits - 1
        );
    }
    if half {
        text.push_str(HALF);
    }
    if double {
        text.push_str(DOUBLE);
    }
}

/// In binary, x / (2^n - 1) is the n digits of x after the point, over and over again. So the significand is the first 24
/// of these from the leading one on, rounded by the 25th: as the digits never end, there are no ties.
fn push_fraction(text: &mut String, bits: u32) {
    let _ = write!(
        text,
        "// x / (2^{bits} - 1), correctly rounded, as the bits of an f32.\n\
         fn pw_fraction_{bits}(x: u32) -> u32 {{\n    \
             if (x == 0u) {{\n        return 0u;\n    }}\n    \
             let leading = countLeadingZeros(x);\n    \
             var digits = x << leading;\n"
    );
    let mut have = bits;
    while have < 32 {
        let _ = writeln!(text, "    digits |= digits >> {have}u;");
        have *= 2;
    }
    let _ = write!(text, "    return (({}u - leading) << 23u) + (((digits >> 7u) + 1u) >> 1u);\n}}\n", 125 + 32 - bits);
}

/// Denormals have their leading one brought to its place; infinities and NaNs keep their significand.
const HALF: &str = "\
// A 16-bit float as an f32; every one of them is an f32 exactly.
fn pw_half(x: u32) -> f32 {
    let sign = (x & 0x8000u) << 16u;
    let exponent = (x >> 10u) & 0x1fu;
    let significand = x & 0x3ffu;
    var bits = ((exponent + 112u) << 23u) | (significand << 13u);
    if (exponent == 31u) {
        bits = 0x7f800000u | (significand << 13u);
    } else if (exponent == 0u && significand == 0u) {
        bits = 0u;
    } else if (exponent == 0u) {
        let leading = countLeadingZeros(significand);
        bits = ((133u - leading) << 23u) + (significand << (leading - 8u));
    }
    return bitcast<f32>(sign | bits);
}
";

const DOUBLE: &str = "\
// A double as the nearest f32, ties to even; too large a one is an infinity, a NaN is a quiet one.
fn pw_double(low: u32, high: u32) -> f32 {
    let sign = high & 0x80000000u;
    let exponent = (high >> 20u) & 0x7ffu;
    let significand = ((high & 0xfffffu) << 3u) | (low >> 29u);
    let rest = low & 0x1fffffffu;
    var bits = 0u;
    if (exponent == 0x7ffu) {
        bits = 0x7f800000u;
        if ((significand | rest) != 0u) {
            bits |= 0x400000u | significand;
        }
    } else if (exponent >= 1151u) {
        bits = 0x7f800000u;
    } else if (exponent > 896u) {
        // Rounding up may carry into the exponent, which is right.
        bits = ((exponent - 896u) << 23u) | significand;
        bits += select(0u, 1u, rest > 0x10000000u || (rest == 0x10000000u && (bits & 1u) == 1u));
    } else if (exponent >= 873u) {
        // A denormal f32.
        let all = 0x800000u | significand;
        let drop = 897u - exponent;
        let half = 1u << (drop - 1u);
        let lost = all & ((half << 1u) - 1u);
        bits = all >> drop;
        bits += select(0u, 1u, lost > half || (lost == half && (rest != 0u || (bits & 1u) == 1u)));
    }
    return bitcast<f32>(sign | bits);
}
";
