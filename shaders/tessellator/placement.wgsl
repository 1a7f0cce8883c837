// Placement: where the points of one subdivided line lie (docs/tessellator.md, section 5).
//
// The twin of src/tessellator/placement.rs.

// What a factor comes to, once a patch; all that points and primitives need of it. Two words, since every word costs
// each point a load from workgroup memory, which on lavapipe is more than all arithmetic together.
// shape: bits 0..15 the fraction of the growing segments, 16..23 the half count h, 24 odd, 25 minimum patch, 26..31
// split: the position beyond which the growing point has been passed, 63 where nothing grows.
// reciprocals: 65536 over the number of segments before (bits 0..15) and after (16..31) the growing ones are there,
// each less 1.
struct PwContext { shape: u32, reciprocals: u32 }

// A patch's contexts, one a factor, and one more whose shape tells where the sides of the outer ring end: the first
// three ends in 10 bits each. Of an isoline, it is 2^19 over the number of points of a line, rounded up.
const PW_CONTEXTS: u32 = PW_FACTORS + 1u;

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

// The first three ends of the sides of the outer ring, from the shape of the context after the factors'.
fn pw_ring_ends(shape: u32) -> vec3u {
    return vec3u(shape & 0x3ffu, (shape >> 10u) & 0x3ffu, shape >> 20u);
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
    split = select(split, 63u, fraction == 0u);
    return PwContext(
        fraction | (ceil << 16u) | (odd << 24u) | (split << 26u),
        (pw_reciprocal(2u * floor - odd) - 1u) | ((pw_reciprocal(2u * ceil - odd) - 1u) << 16u),
    );
}

// The location of point i, 16.16. Exactly symmetric: the second half is the first one subtracted from 1.
fn pw_place(context: PwContext, i: u32) -> u32 {
    let h = pw_half_count(context.shape);
    let flip = i >= h;
    let j = select(i, pw_segments(context.shape) - i, flip);
    let rf = (context.reciprocals & 0xffffu) + 1u;
    // Under integer and pow2 nothing grows: the fraction is 0, and all below comes to this.
    if (PW_PARTITIONING <= 1u) {
        let even = j * rf;
        return select(select(even, PW_ONE - even, flip), PW_HALF, j == h);
    }
    let before = j - select(0u, 1u, j > context.shape >> 26u);
    let rc = (context.reciprocals >> 16u) + 1u;
    let fraction = context.shape & 0xffffu;
    let place = (before * rf * (PW_ONE - fraction) + j * rc * fraction + PW_HALF) >> 16u;
    return select(select(place, PW_ONE - place, flip), PW_HALF, j == h);
}
