//! Placement: where the points of one subdivided line lie (docs/tessellator.md, section 5).
//!
//! The twin of shaders/tessellator/placement.wgsl.

use super::{HALF, ONE};

/// What a factor comes to, once a patch; all that points and primitives need of it. Laid out as in WGSL, in two words,
/// since every word costs each point a load there.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Context {
    /// Bits 0..15 the fraction of the growing segments, 16..23 the half count, 24 odd, 25 minimum patch, 26..31 split:
    /// the position beyond which the growing point has been passed, 63 where nothing grows.
    pub shape: u32,
    /// 65536 over the number of segments before (bits 0..15) and after (16..31) the growing ones are there, each less
    /// 1.
    pub reciprocals: u32,
}

impl Context {
    /// How many segments the factor makes; an edge has one point more.
    pub fn segments(self) -> u32 {
        segments(self.shape)
    }

    /// Where point i of the edge lies, 16.16; there is one point more than segments.
    pub fn place(self, i: u32) -> Option<u32> {
        (i <= self.segments()).then(|| place(self, i))
    }
}

/// The bit of [`Context::shape`] that every context of a minimum patch has.
pub(super) const MINIMUM: u32 = 0x200_0000;

/// Half the points, the middle one of an even number of segments left out.
pub(super) fn half_count(shape: u32) -> u32 {
    (shape >> 16) & 0xff
}

/// 1 where the number of segments is odd, else 0.
pub(super) fn shape_odd(shape: u32) -> u32 {
    (shape >> 24) & 1
}

/// The number of segments, one less than the number of points.
pub(super) fn segments(shape: u32) -> u32 {
    2 * half_count(shape) - shape_odd(shape)
}

/// The first three ends of the sides of the outer ring, from the shape of the context after the factors'.
pub(super) fn ring_ends(shape: u32) -> [u32; 3] {
    [shape & 0x3ff, (shape >> 10) & 0x3ff, shape >> 20]
}

/// 65536 / k to nearest.
fn reciprocal(k: u32) -> u32 {
    (131_072 + k) / (2 * k)
}

/// The context of a factor in 16.16.
pub(super) fn new_context(fixed: u32, odd: u32) -> Context {
    let mut half = (fixed + 1) >> 1;
    // The second case is an inside factor of 1 under integer.
    if odd == 1 || half == HALF {
        half += HALF;
    }
    let floor = half >> 16;
    let fraction = half & 0xffff;
    let ceil = floor + fraction.min(1);
    // The growing point appears where the highest bit taken away says, so that points come in bit-reversed order.
    let grown = floor - odd;
    let split = if fraction == 0 {
        63
    } else if grown == 0 {
        0
    } else {
        2 * (grown - (1 << grown.ilog2())) + 1
    };
    Context {
        shape: fraction | (ceil << 16) | (odd << 24) | (split << 26),
        reciprocals: (reciprocal(2 * floor - odd) - 1) | ((reciprocal(2 * ceil - odd) - 1) << 16),
    }
}

/// The location of point i, 16.16. Exactly symmetric: the second half is the first one subtracted from 1. The WGSL twin
/// leaves out what comes to nothing where the fraction is always 0, under integer and pow2.
pub(super) fn place(context: Context, i: u32) -> u32 {
    let h = half_count(context.shape);
    let flip = i >= h;
    let j = if flip { segments(context.shape) - i } else { i };
    if j == h {
        return HALF;
    }
    let before = j - u32::from(j > context.shape >> 26);
    let rf = (context.reciprocals & 0xffff) + 1;
    let rc = (context.reciprocals >> 16) + 1;
    let fraction = context.shape & 0xffff;
    let place = (before * rf * (ONE - fraction) + j * rc * fraction + HALF) >> 16;
    if flip { ONE - place } else { place }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(context: Context) -> Vec<u32> {
        (0..=segments(context.shape)).map(|i| place(context, i)).collect()
    }

    #[test]
    fn worked_examples() {
        // Section 15: factor, parity, half count, fraction, split, reciprocals, places.
        type Example = (u32, u32, u32, u32, u32, u32, u32, &'static [u32]);
        let examples: [Example; 8] = [
            (0x10000, 0, 1, 0, 63, 0x8000, 0x8000, &[0, 0x8000, 0x10000]),
            (0x10000, 1, 1, 0, 63, 0x10000, 0x10000, &[0, 0x10000]),
            (0x30000, 1, 2, 0, 63, 0x5555, 0x5555, &[0, 0x5555, 0xaaab, 0x10000]),
            (0x60000, 0, 3, 0, 63, 0x2aab, 0x2aab, &[0, 0x2aab, 0x5556, 0x8000, 0xaaaa, 0xd555, 0x10000]),
            (0x10001, 1, 2, 1, 0, 0x10000, 0x5555, &[0, 0, 0x10000, 0x10000]),
            (0x3b333, 1, 3, 0x599a, 1, 0x5555, 0x3333, &[0, 0x4963, 0x5b4e, 0xa4b2, 0xb69d, 0x10000]),
            (0x28000, 0, 2, 0x4000, 1, 0x8000, 0x4000, &[0, 0x7000, 0x8000, 0x9000, 0x10000]),
            (
                0x6e666,
                0,
                4,
                0x7333,
                3,
                0x2aab,
                0x2000,
                &[0, 0x25de, 0x4bbc, 0x719a, 0x8000, 0x8e66, 0xb444, 0xda22, 0x10000],
            ),
        ];
        for (fixed, odd, half, fraction, split, rf, rc, expected) in examples {
            let context = new_context(fixed, odd);
            let shape = fraction | (half << 16) | (odd << 24) | (split << 26);
            let reciprocals = (rf - 1) | ((rc - 1) << 16);
            assert_eq!(context, Context { shape, reciprocals }, "{fixed:x}");
            assert_eq!(places(context), expected, "{fixed:x}");
        }
    }

    #[test]
    fn every_fractional_factor_gives_a_symmetric_line_from_0_to_1_that_rises_but_for_rounding() {
        for odd in [0, 1] {
            // The factor enters halved, so every second value is all of them.
            for fixed in ((2 - odd) * ONE..=(64 - odd) * ONE).step_by(2) {
                let context = new_context(fixed, odd);
                let (h, n) = (half_count(context.shape), segments(context.shape));
                assert_eq!(place(context, 0), 0);
                let mut last = 0;
                for i in 1..h {
                    let here = place(context, i);
                    // Each reciprocal is rounded by up to a half, which may carry the point that is about to part from
                    // the middle past it.
                    assert!(last <= here && here <= HALF + h / 2, "factor {fixed:x}, point {i}: {here:x}");
                    assert_eq!(place(context, n - i), ONE - here, "factor {fixed:x}, point {i}");
                    last = here;
                }
            }
        }
    }
}
