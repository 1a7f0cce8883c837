// Placement: where the points of one subdivided line lie (docs/tessellator.md, section 5).
//
// The twin of src/tessellator/placement.rs.

// What a factor comes to, once a patch; all that points and primitives need of it.
// shape: bits 0..15 the fraction of the growing segments, 16..23 the half count h, 24 odd, 25 minimum patch.
// rf, rc: 65536 over the number of segments before and after the growing ones are there.
// split: the position beyond which the growing point has been passed.
struct PwContext { shape: u32, rf: u32, rc: u32, split: u32 }

const PW_ODD: u32 = 0x1000000u;
const PW_MINIMUM: u32 = 0x2000000u;

// Half the points, the middle one of an even number of segments left out.
fn pw_half_count(shape: u32) -> u32 {
    return (shape >> 16u) & 0xffu;
}

// 1 where the number of segments is odd, else 0.
fn pw_shape_odd(shape: u32) -> u32 {
    return (shape >> 24u) & 1u;
}

// The number of segments, one less than the number of points.
fn pw_segments(shape: u32) -> u32 {
    return 2u * pw_half_count(shape) - pw_shape_odd(shape);
}

// 65536 / k to nearest.
fn pw_reciprocal(k: u32) -> u32 {
    return (131072u + k) / (2u * k);
}

// The context of a factor in 16.16.
fn pw_new_context(fixed: u32, odd: u32) -> PwContext {
    var half = (fixed + 1u) >> 1u;
    // The second case is an inside factor of 1 under integer.
    half += select(0u, PW_HALF, odd == 1u || half == PW_HALF);
    let floor = half >> 16u;
    let fraction = half & 0xffffu;
    let ceil = floor + min(fraction, 1u);
    // The growing point appears where the highest bit taken away says, so that points come in bit-reversed order.
    let grown = floor - odd;
    let stripped = grown - (1u << firstLeadingBit(max(grown, 1u)));
    var split = select(2u * stripped + 1u, 0u, grown == 0u);
    split = select(split, 0xffu, fraction == 0u);
    return PwContext(
        fraction | (ceil << 16u) | (odd << 24u),
        pw_reciprocal(2u * floor - odd),
        pw_reciprocal(2u * ceil - odd),
        split,
    );
}

// The location of point i, 16.16. Exactly symmetric: the second half is the first one subtracted from 1.
fn pw_place(context: PwContext, i: u32) -> u32 {
    let h = pw_half_count(context.shape);
    let flip = i >= h;
    let j = select(i, pw_segments(context.shape) - i, flip);
    let before = j - select(0u, 1u, j > context.split);
    let fraction = context.shape & 0xffffu;
    let place = (before * context.rf * (PW_ONE - fraction) + j * context.rc * fraction + PW_HALF) >> 16u;
    return select(select(place, PW_ONE - place, flip), PW_HALF, j == h);
}
