// Rounding: tessellation factors clamped and rounded in the shader, as HLSL's compiler has it done there.
//
// The twin of src/library/rounding.rs. Factors are looked at on their bits: a float comparison in WGSL may flush
// denormals and may assume that there are no NaNs.

const TESS_INTEGER: u32 = 0u;
const TESS_POW2: u32 = 1u;
const TESS_FRACTIONAL_ODD: u32 = 2u;
const TESS_FRACTIONAL_EVEN: u32 = 3u;

// The factor, or the maximum where it is above that: HLSL's maxtessfactor. What culls a patch (NaN, zero, negative) stays
// as it is and goes on culling.
fn tess_limit_factor(factor: f32, maximum: f32) -> f32 {
    let bits = bitcast<u32>(factor);
    let high = bitcast<u32>(maximum);
    return bitcast<f32>(select(bits, high, bits > high && bits <= 0x7f800000u));
}

// The least power of two that is not below the factor, from 1 to 64. What culls a patch stays as it is.
fn tess_round_pow2(factor: f32) -> f32 {
    let bits = bitcast<u32>(factor);
    let clamped = clamp(bits, 0x3f800000u, 0x42800000u);
    // Anything in the mantissa carries into the exponent.
    let rounded = (clamped + 0x7fffffu) & 0xff800000u;
    return bitcast<f32>(select(rounded, bits, bits - 1u >= 0x7f800000u));
}

// The factor within what the tessellator takes under a partitioning: 1 to 64, 1 to 63 (fractional_odd), or 2 to 64
// (fractional_even). NaN, zero and negative ones become the least, +inf the greatest.
fn tess_clamp_factor(factor: f32, partitioning: u32) -> f32 {
    let low = select(0x3f800000u, 0x40000000u, partitioning == TESS_FRACTIONAL_EVEN);
    let high = select(0x42800000u, 0x427c0000u, partitioning == TESS_FRACTIONAL_ODD);
    let bits = bitcast<u32>(factor);
    // Beyond infinity lie the NaNs and all that has a sign.
    return bitcast<f32>(select(clamp(bits, low, high), low, bits > 0x7f800000u));
}

// The factor clamped, then rounded up to an integer (integer) or to a power of two (pow2), or left so (fractional).
fn tess_round_factor(factor: f32, partitioning: u32) -> f32 {
    let clamped = tess_clamp_factor(factor, partitioning);
    if (partitioning == TESS_INTEGER) {
        return ceil(clamped);
    }
    if (partitioning == TESS_POW2) {
        return tess_round_pow2(clamped);
    }
    return clamped;
}
