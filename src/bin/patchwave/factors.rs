//! Tessellation factors as the command line writes them.

use std::ffi::OsString;
use std::str::FromStr;

/// How factors are written, for the help of the verbs that take them.
pub(crate) const HOW_WRITTEN: &str = "\
How factors are written:
  3  2.5  1e-3  -0        decimals
  nan  -nan  inf  -inf    what is not finite
  0x3f800000              the 32 bits of a float, here 1

What becomes of them:
  integer, pow2     clamped to 1 to 64, rounded up
  fractional_odd    clamped to 1 to 63
  fractional_even   clamped to 2 to 64
  isoline density   clamped to 1 to 64, rounded up
  A patch with an edge factor that is NaN, 0 or less is culled. An inside factor
  that is NaN, 0 or less becomes the lower bound.";

/// One factor for all edges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor(pub(crate) f32);

impl FromStr for Factor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        factor_bits(text).map(|bits| Self(f32::from_bits(bits)))
    }
}

/// The options whose values are factors.
const OPTIONS: [&str; 3] = ["--edges", "--inside", "--factor"];

/// The command line with each factor that starts with a minus joined to its option by `=`. clap takes `--edges -1,2` for
/// two options; told to allow hyphens, it would take `--edges --inside 1` for edges of `--inside`.
pub(crate) fn join_negative(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for arg in args {
        let bytes = arg.as_encoded_bytes();
        let negative = bytes.starts_with(b"-") && !bytes.starts_with(b"--");
        match joined.last_mut() {
            Some(option) if negative && OPTIONS.iter().any(|name| option.as_os_str() == *name) => {
                option.push("=");
                option.push(arg);
            }
            _ => joined.push(arg),
        }
    }
    joined
}

/// A list of factors, separated by commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Factors(pub(crate) Vec<u32>);

impl FromStr for Factors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').map(|one| factor_bits(one.trim())).collect::<Result<_, _>>().map(Factors)
    }
}

/// The bits of one factor.
pub(crate) fn factor_bits(text: &str) -> Result<u32, String> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // from_str_radix would take a sign.
        let plain = digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        return plain
            .then(|| u32::from_str_radix(digits, 16).ok())
            .flatten()
            .ok_or_else(|| format!("'{text}' is not the bits of a 32-bit float; write 0x and 8 hexadecimal digits"));
    }
    match text.to_ascii_lowercase().as_str() {
        "" => {
            return Err("a factor is empty; separate factors by single commas, like 3,4,5".to_owned());
        }
        // Rust leaves open which NaN its parser gives; these are the quiet ones that D3D knows.
        "nan" | "+nan" => return Ok(0x7fc0_0000),
        "-nan" => return Ok(0xffc0_0000),
        "inf" | "+inf" | "infinity" | "+infinity" => return Ok(f32::INFINITY.to_bits()),
        "-inf" | "-infinity" => return Ok(f32::NEG_INFINITY.to_bits()),
        _ => {}
    }
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value.to_bits()),
        Ok(_) => Err(format!("'{text}' is beyond the range of a 32-bit float; write inf or -inf if that is meant")),
        Err(_) => {
            Err(format!("'{text}' is no factor; write a decimal, nan, -nan, inf, -inf or 0x and 8 hexadecimal digits"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_gives_its_bits() {
        for (text, bits) in [
            ("1", 0x3f80_0000),
            ("-0", 0x8000_0000),
            ("-0.5", 0xbf00_0000),
            ("nan", 0x7fc0_0000),
            ("-NaN", 0xffc0_0000),
            ("inf", 0x7f80_0000),
            ("-inf", 0xff80_0000),
            ("0x7f800001", 0x7f80_0001),
            ("1e-45", 1),
        ] {
            assert_eq!(factor_bits(text), Ok(bits), "{text}");
        }
    }

    #[test]
    fn what_is_no_factor_is_refused() {
        for text in ["", "x", "0x", "0x1", "0x+3f80000", "0x3f8000000", "1e39", "1;2", "é"] {
            assert!(factor_bits(text).is_err(), "{text}");
        }
    }
}
