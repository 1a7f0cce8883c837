// Factors: from the bits of the f32 tessellation factors to 16.16 fixed point (docs/tessellator.md, section 4).
//
// The twin of src/tessellator/factors.rs. Factors are tested on their bits: a float comparison in WGSL may flush
// denormals and may assume that there are no NaNs.
//
// Composed after PW_DOMAIN, PW_PARTITIONING, PW_TOPOLOGY and PW_FACTORS. Those select with plain ifs, which every
// driver folds.

const PW_ONE: u32 = 0x10000u;
const PW_HALF: u32 = 0x8000u;

// Indices of factors that not every domain has. WGSL checks constant indices in dead branches too, so they are held
// within the array; the branches around them keep them from being used where they lie.
const PW_THIRD: u32 = min(2u, PW_FACTORS - 1u);
const PW_FOURTH: u32 = min(3u, PW_FACTORS - 1u);
const PW_FIFTH: u32 = min(4u, PW_FACTORS - 1u);
const PW_SIXTH: u32 = min(5u, PW_FACTORS - 1u);

// Whether the bits are those of a number that is not above 0, or of a NaN. One subtraction and one comparison:
// +0 wraps around, and everything with a sign or beyond infinity is already too large.
fn pw_not_positive(bits: u32) -> bool {
    return bits - 1u >= 0x7f800000u;
}

// Whether the patch is dropped: any outer factor not above 0. Inside factors never drop a patch (4.1).
fn pw_culled(bits: array<u32, PW_FACTORS>) -> bool {
    var culled = pw_not_positive(bits[0]) || pw_not_positive(bits[1]);
    if (PW_DOMAIN != 0u) {
        culled = culled || pw_not_positive(bits[PW_THIRD]);
    }
    if (PW_DOMAIN == 2u) {
        culled = culled || pw_not_positive(bits[PW_FOURTH]);
    }
    return culled;
}

// Whether factor i is rounded up to an integer: all of them under integer and pow2, and an isoline's density always.
fn pw_is_integer(i: u32) -> bool {
    return PW_PARTITIONING <= 1u || (PW_DOMAIN == 0u && i == 0u);
}

// Factor i after clamping alone, in units of 2^-23: exact under every partitioning, at most 2^29 (4.2).
fn pw_clamped_factor(i: u32, bits: u32) -> u32 {
    var low = 0x3f800000u; // 1
    var high = 0x42800000u; // 64
    if (!pw_is_integer(i)) {
        low = select(low, 0x40000000u, PW_PARTITIONING == 3u); // 2
        high = select(high, 0x427c0000u, PW_PARTITIONING == 2u); // 63
    }
    // Beyond infinity lie the NaNs and all that has a sign: the lower bound.
    let clamped = select(clamp(bits, low, high), low, bits > 0x7f800000u);
    return ((clamped & 0x7fffffu) | 0x800000u) << ((clamped >> 23u) - 127u);
}

// Factor i in 16.16, before the picture frame (4.3, 4.4).
fn pw_fixed_factor(i: u32, bits: u32) -> u32 {
    var exact = pw_clamped_factor(i, bits);
    if (pw_is_integer(i)) {
        // Up to an integer before anything is lost: 1 and one ulp is 2.
        exact = (exact + 0x7fffffu) & 0xff800000u;
    }
    // To nearest, ties to even.
    return (exact + 63u + ((exact >> 7u) & 1u)) >> 7u;
}

// All factors in 16.16, clamped, rounded, with the picture frame of fractional_odd: where anything is above 1, the
// inside is too, by the least step there is, so that it keeps a ring of its own (4.5).
fn pw_fixed_factors(bits: array<u32, PW_FACTORS>) -> array<u32, PW_FACTORS> {
    var fixed: array<u32, PW_FACTORS>;
    fixed[0] = pw_fixed_factor(0u, bits[0]);
    fixed[1] = pw_fixed_factor(1u, bits[1]);
    if (PW_DOMAIN != 0u) {
        fixed[PW_THIRD] = pw_fixed_factor(2u, bits[PW_THIRD]);
        fixed[PW_FOURTH] = pw_fixed_factor(3u, bits[PW_FOURTH]);
    }
    if (PW_DOMAIN == 2u) {
        fixed[PW_FIFTH] = pw_fixed_factor(4u, bits[PW_FIFTH]);
        fixed[PW_SIXTH] = pw_fixed_factor(5u, bits[PW_SIXTH]);
    }
    if (PW_PARTITIONING == 2u && PW_DOMAIN != 0u) {
        let least = select(PW_ONE, PW_ONE + 1u, !pw_all_one(fixed));
        if (PW_DOMAIN == 1u) {
            fixed[PW_FOURTH] = max(fixed[PW_FOURTH], least);
        } else {
            fixed[PW_FIFTH] = max(fixed[PW_FIFTH], least);
            fixed[PW_SIXTH] = max(fixed[PW_SIXTH], least);
        }
    }
    return fixed;
}

// Whether every factor is exactly 1: the minimum patch of 4.7. Never so under fractional_even.
fn pw_all_one(fixed: array<u32, PW_FACTORS>) -> bool {
    var all = fixed[0] == PW_ONE && fixed[1] == PW_ONE;
    if (PW_DOMAIN != 0u) {
        all = all && fixed[PW_THIRD] == PW_ONE && fixed[PW_FOURTH] == PW_ONE;
    }
    if (PW_DOMAIN == 2u) {
        all = all && fixed[PW_FIFTH] == PW_ONE && fixed[PW_SIXTH] == PW_ONE;
    }
    return all;
}

// 1 where factor i makes an odd number of segments, else 0. The inside never takes 1 as odd under integer: it then
// has a centre point (4.6).
fn pw_odd(i: u32, fixed: u32) -> u32 {
    if (!pw_is_integer(i)) {
        return select(0u, 1u, PW_PARTITIONING == 2u);
    }
    let inside = PW_DOMAIN != 0u && i >= PW_DOMAIN + 2u;
    return select((fixed >> 16u) & 1u, 0u, inside && fixed == PW_ONE);
}
