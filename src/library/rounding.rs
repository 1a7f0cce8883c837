//! Rounding: tessellation factors clamped and rounded in the shader, as HLSL's compiler has it done there.
//!
//! The twin of shaders/library/rounding.wgsl, to the bit.

use crate::tessellator::Partitioning;

/// The factor, or the maximum where it is above that: HLSL's `maxtessfactor`. What culls a patch (NaN, zero, negative)
/// stays as it is and goes on culling.
///
/// `maximum` is a positive number; 1 to 64 make sense. The descriptor's `maximum_factor` limits all factors of a pipeline
/// in the same way.
pub fn tess_limit_factor(factor: f32, maximum: f32) -> f32 {
    let bits = factor.to_bits();
    let high = maximum.to_bits();
    if bits > high && bits <= 0x7f80_0000 { maximum } else { factor }
}

/// The least power of two that is not below the factor, from 1 to 64. What culls a patch (NaN, zero, negative) stays as
/// it is.
///
/// Neither Direct3D's tessellator nor patchwave rounds to powers of two under pow2; HLSL leaves it to the code of the
/// shader (D3D11.3 functional specification, 11.7.10).
pub fn tess_round_pow2(factor: f32) -> f32 {
    let bits = factor.to_bits();
    if bits.wrapping_sub(1) >= 0x7f80_0000 {
        return factor;
    }
    let clamped = bits.clamp(1.0f32.to_bits(), 64.0f32.to_bits());
    // Anything in the mantissa carries into the exponent.
    f32::from_bits((clamped + 0x7f_ffff) & 0xff80_0000)
}

/// The factor within what the tessellator takes under a partitioning: 1 to 64 (integer, pow2), 1 to 63 (fractional_odd),
/// or 2 to 64 (fractional_even). NaN, zero and negative ones become the least, +inf the greatest (D3D11.3 functional
/// specification, 11.7.10).
pub fn tess_clamp_factor(factor: f32, partitioning: Partitioning) -> f32 {
    let low = if partitioning == Partitioning::FractionalEven { 2.0f32 } else { 1.0 };
    let high = if partitioning == Partitioning::FractionalOdd { 63.0f32 } else { 64.0 };
    let bits = factor.to_bits();
    // Beyond infinity lie the NaNs and all that has a sign.
    if bits > 0x7f80_0000 { low } else { f32::from_bits(bits.clamp(low.to_bits(), high.to_bits())) }
}

/// The factor as [`tess_clamp_factor`] has it, then rounded up to an integer (integer) or to a power of two (pow2), or
/// left so (fractional).
pub fn tess_round_factor(factor: f32, partitioning: Partitioning) -> f32 {
    let clamped = tess_clamp_factor(factor, partitioning);
    match partitioning {
        Partitioning::Integer => clamped.ceil(),
        Partitioning::Pow2 => tess_round_pow2(clamped),
        Partitioning::FractionalOdd | Partitioning::FractionalEven => clamped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two() {
        for (factor, rounded) in [
            (f32::from_bits(1), 1.0),
            (0.3, 1.0),
            (1.0, 1.0),
            (f32::from_bits(0x3f80_0001), 2.0),
            (2.0, 2.0),
            (2.5, 4.0),
            (5.0, 8.0),
            (33.0, 64.0),
            (64.0, 64.0),
            (65.0, 64.0),
            (f32::INFINITY, 64.0),
        ] {
            assert_eq!(tess_round_pow2(factor), rounded, "{factor}");
        }
        for culled in [0.0, -0.0, -1.0, f32::NAN, -f32::NAN, f32::NEG_INFINITY] {
            assert_eq!(tess_round_pow2(culled).to_bits(), culled.to_bits(), "{culled} culls");
            assert_eq!(tess_limit_factor(culled, 8.0).to_bits(), culled.to_bits(), "{culled} culls");
        }
    }

    #[test]
    fn the_maximum_only_lowers() {
        for (factor, limited) in [(7.5, 7.5), (8.0, 8.0), (8.5, 8.0), (f32::INFINITY, 8.0), (1e-40, 1e-40)] {
            assert_eq!(tess_limit_factor(factor, 8.0), limited, "{factor}");
        }
    }

    #[test]
    fn rounding_by_partitioning() {
        for (partitioning, low, high, rounded) in [
            (Partitioning::Integer, 1.0, 64.0, 5.0),
            (Partitioning::Pow2, 1.0, 64.0, 8.0),
            (Partitioning::FractionalOdd, 1.0, 63.0, 4.25),
            (Partitioning::FractionalEven, 2.0, 64.0, 4.25),
        ] {
            assert_eq!(tess_round_factor(4.25, partitioning), rounded, "{partitioning}");
            for least in [0.0, -0.0, -3.0, 0.5, f32::NAN, f32::NEG_INFINITY, f32::from_bits(1)] {
                assert_eq!(tess_round_factor(least, partitioning), low, "{partitioning} {least}");
            }
            for most in [64.0, 1e9, f32::INFINITY] {
                assert_eq!(tess_round_factor(most, partitioning), high, "{partitioning} {most}");
            }
        }
    }
}
