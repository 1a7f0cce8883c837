struct Bits {
    @location(0) first: vec4u,
    @location(1) second: vec2u,
}

struct Constants {
    factors: FACTORS,
}

struct Surface {
    @location(0) location: LOCATION,
}

fn vertex(bits: Bits) -> Bits {
    return bits;
}

fn patch_constants(patch_id: u32) -> Constants {
    let p = output_point(0u);
    return Constants(FACTORS(FACTOR_VALUES));
}

fn domain(location: LOCATION, patch_id: u32) -> Surface {
    return Surface(location);
}
