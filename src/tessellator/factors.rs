//! Factors: from the bits of the f32 tessellation factors to 16.16 fixed point (docs/tessellator.md, section 4).
//!
//! The twin of shaders/tessellator/factors.wgsl. Factors are tested on their bits there, hence here.

use super::{Domain, Kind, ONE, Partitioning};

/// Room for the most factors that a domain has; those that it does not have are 0.
pub(super) type Factors = [u32; 6];

/// Whether the bits are those of a number that is not above 0, or of a NaN.
fn not_positive(bits: u32) -> bool {
    bits.wrapping_sub(1) >= 0x7f80_0000
}

/// Whether the patch is dropped: any outer factor not above 0. Inside factors never drop a patch (4.1).
pub(super) fn culled(kind: Kind, bits: &Factors) -> bool {
    bits.iter().take(kind.domain.edge_count()).any(|&bits| not_positive(bits))
}

/// Whether factor i is rounded up to an integer: all of them under integer and pow2, and an isoline's density always.
fn is_integer(kind: Kind, i: usize) -> bool {
    matches!(kind.partitioning, Partitioning::Integer | Partitioning::Pow2)
        || (kind.domain == Domain::Isoline && i == 0)
}

/// Factor i after clamping alone, in units of 2^-23: exact under every partitioning, at most 2^29 (4.2).
pub(super) fn clamped_factor(kind: Kind, i: usize, bits: u32) -> u32 {
    let (low, high) = match kind.partitioning {
        Partitioning::FractionalOdd if !is_integer(kind, i) => (1.0f32, 63.0f32),
        Partitioning::FractionalEven if !is_integer(kind, i) => (2.0, 64.0),
        _ => (1.0, 64.0),
    };
    // Beyond infinity lie the NaNs and all that has a sign: the lower bound.
    let clamped = if bits > 0x7f80_0000 { low.to_bits() } else { bits.clamp(low.to_bits(), high.to_bits()) };
    ((clamped & 0x7f_ffff) | 0x80_0000) << ((clamped >> 23) - 127)
}

/// Factor i in 16.16, before the picture frame (4.3, 4.4).
fn fixed_factor(kind: Kind, i: usize, bits: u32) -> u32 {
    let mut exact = clamped_factor(kind, i, bits);
    if is_integer(kind, i) {
        // Up to an integer before anything is lost: 1 and one ulp is 2.
        exact = (exact + 0x7f_ffff) & 0xff80_0000;
    }
    // To nearest, ties to even.
    (exact + 63 + ((exact >> 7) & 1)) >> 7
}

/// All factors in 16.16, clamped, rounded, with the picture frame of fractional_odd: where anything is above 1, the
/// inside is too, by the least step there is, so that it keeps a ring of its own (4.5).
pub(super) fn fixed_factors(kind: Kind, bits: &Factors) -> Factors {
    let mut fixed = [0; 6];
    let count = kind.domain.factor_count();
    for (i, (fixed, &bits)) in fixed.iter_mut().zip(bits).enumerate().take(count) {
        *fixed = fixed_factor(kind, i, bits);
    }
    if kind.partitioning == Partitioning::FractionalOdd && kind.domain != Domain::Isoline && !all_one(kind, &fixed) {
        for inside in fixed.iter_mut().take(count).skip(kind.domain.edge_count()) {
            *inside = (*inside).max(ONE + 1);
        }
    }
    fixed
}

/// Whether every factor is exactly 1: the minimum patch of 4.7. Never so under fractional_even.
pub(super) fn all_one(kind: Kind, fixed: &Factors) -> bool {
    fixed.iter().take(kind.domain.factor_count()).all(|&fixed| fixed == ONE)
}

/// 1 where factor i makes an odd number of segments, else 0. The inside never takes 1 as odd under integer: it then
/// has a centre point (4.6).
pub(super) fn odd(kind: Kind, i: usize, fixed: u32) -> u32 {
    if !is_integer(kind, i) {
        return u32::from(kind.partitioning == Partitioning::FractionalOdd);
    }
    let inside = i >= kind.domain.edge_count();
    if inside && fixed == ONE { 0 } else { (fixed >> 16) & 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tessellator::OutputTopology;

    fn kind(domain: Domain, partitioning: Partitioning) -> Kind {
        Kind { domain, partitioning, topology: OutputTopology::Point }
    }

    #[test]
    fn outer_factors_not_above_0_drop_the_patch() {
        let tri = kind(Domain::Tri, Partitioning::Integer);
        let one = 1.0f32.to_bits();
        for (x, dropped) in [
            (0.0, true),
            (-0.0, true),
            (-1.0, true),
            (f32::NAN, true),
            (-f32::NAN, true),
            (f32::NEG_INFINITY, true),
            (f32::from_bits(1), false),
            (f32::MIN_POSITIVE, false),
            (f32::INFINITY, false),
        ] {
            assert_eq!(culled(tri, &[one, one, x.to_bits(), one, 0, 0]), dropped, "{x} on an edge");
            assert!(!culled(tri, &[one, one, one, x.to_bits(), 0, 0]), "{x} inside");
        }
    }

    #[test]
    fn factors_are_clamped_by_their_partitioning() {
        let unit = 1 << 23;
        for (partitioning, low, high) in [
            (Partitioning::Integer, 1, 64),
            (Partitioning::Pow2, 1, 64),
            (Partitioning::FractionalOdd, 1, 63),
            (Partitioning::FractionalEven, 2, 64),
        ] {
            for x in [f32::NAN, -f32::NAN, f32::NEG_INFINITY, -3.0, 0.0, f32::from_bits(1), 0.5, 1.0] {
                let quad = kind(Domain::Quad, partitioning);
                assert_eq!(clamped_factor(quad, 0, x.to_bits()), low * unit, "{partitioning} {x}");
                let isoline = kind(Domain::Isoline, partitioning);
                assert_eq!(clamped_factor(isoline, 0, x.to_bits()), unit, "density, {partitioning} {x}");
                assert_eq!(clamped_factor(isoline, 1, x.to_bits()), low * unit, "detail, {partitioning} {x}");
            }
            for x in [64.0, 64.5, 1e30, f32::MAX, f32::INFINITY] {
                let quad = kind(Domain::Quad, partitioning);
                assert_eq!(clamped_factor(quad, 5, x.to_bits()), high * unit, "{partitioning} {x}");
            }
            let above = 2.0f32.to_bits() + 1;
            assert_eq!(clamped_factor(kind(Domain::Tri, partitioning), 0, above), 2 * unit + 2, "not rounded up");
        }
    }

    #[test]
    fn rounding_is_up_on_the_float_or_to_even_in_fixed_point() {
        let above = 1.0f32.to_bits() + 1;
        assert_eq!(fixed_factor(kind(Domain::Tri, Partitioning::Integer), 0, above), 2 * ONE);
        assert_eq!(fixed_factor(kind(Domain::Tri, Partitioning::FractionalOdd), 0, above), ONE);
        let fodd = kind(Domain::Tri, Partitioning::FractionalOdd);
        let step = 2.0f32.powi(-17);
        assert_eq!(fixed_factor(fodd, 0, (1.0 + step).to_bits()), ONE, "a tie goes to the even side");
        assert_eq!(fixed_factor(fodd, 0, (1.0 + 3.0 * step).to_bits()), ONE + 2, "a tie goes to the even side");
        assert_eq!(fixed_factor(fodd, 0, 3.7f32.to_bits()), 0x3b333);
    }

    #[test]
    fn the_picture_frame_lifts_the_inside_only_where_something_is_above_1() {
        let fodd = kind(Domain::Quad, Partitioning::FractionalOdd);
        let ones = [1.0f32.to_bits(); 6];
        assert_eq!(fixed_factors(fodd, &ones), [ONE; 6]);
        for i in 0..6 {
            let mut bits = ones;
            bits[i] = 1.5f32.to_bits();
            let fixed = fixed_factors(fodd, &bits);
            for (j, &factor) in fixed.iter().enumerate() {
                let expected = if i == j { 0x18000 } else { ONE + u32::from(j >= 4) };
                assert_eq!(factor, expected, "factor {j} with factor {i} above 1");
            }
        }
    }
}
