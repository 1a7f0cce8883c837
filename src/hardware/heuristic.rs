//! On-chip or off-chip: the decision of a threadgroup, exactly.
//!
//! The twin of `pw_decide` in `shaders/threadgroup.wgsl`. Factors are clamped, so each is a multiple of 2^-23; they are
//! summed in that unit, and the sum is compared with the threshold times the number of factors.

/// A sum of factors in units of 2^-23.
pub type FactorSum = u64;

/// The least sum of `factors` factors whose average is not below `threshold`: ceil(threshold · factors · 2^23).
///
/// A threadgroup stays on-chip iff its sum is less than this. Saturates where no sum can reach it.
#[must_use]
pub fn off_chip_from(threshold: f32, factors: u32) -> FactorSum {
    // Above 64, no average can reach the threshold; below 0 and NaN are refused before.
    if threshold.is_nan() || threshold > 64.0 {
        return FactorSum::MAX;
    }
    let bits = threshold.to_bits();
    let (exponent, fraction) = ((bits >> 23) & 0xff, bits & 0x7f_ffff);
    // threshold = significand · 2^(exponent - 150), so times 2^23 it is significand · 2^(exponent - 127).
    let (significand, exponent) = if exponent == 0 { (fraction, 1) } else { (fraction | 0x80_0000, exponent) };
    let product = u128::from(significand) * u128::from(factors);
    match exponent.checked_sub(127) {
        // At most 24 + 32 + 6 bits.
        Some(up) => FactorSum::try_from(product << up).unwrap_or(FactorSum::MAX),
        None => {
            let down = 127 - exponent;
            FactorSum::try_from((product + (1u128 << down.min(127)) - 1) >> down.min(127)).unwrap_or(FactorSum::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_times_factors_is_exact() {
        assert_eq!(off_chip_from(0.0, 12), 0);
        assert_eq!(off_chip_from(3.0, 12), 36 << 23);
        assert_eq!(off_chip_from(1.0 / 3.0, 3), (f64::from(1.0f32 / 3.0) * 3.0 * f64::from(1 << 23)).ceil() as u64);
        assert_eq!(off_chip_from(f32::from_bits(1), 6), 1, "anything above 0 needs a sum of at least one unit");
        assert_eq!(off_chip_from(64.0, 384), (64 * 384) << 23);
        assert_eq!(off_chip_from(64.5, 384), u64::MAX);
    }
}
