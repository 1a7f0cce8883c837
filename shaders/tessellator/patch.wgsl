// Patch: the contexts and counts of one patch (docs/tessellator.md, sections 4.7 and 13).
//
// The twin of src/tessellator/patch.rs.

// The contexts, one a factor in their order and the ends of the outer ring's sides; points and primitives are 0 where the patch is culled.
struct PwPatch { contexts: array<PwContext, PW_CONTEXTS>, points: u32, primitives: u32 }

// Everything about the patch with these factors, the bits of f32s: edges first, then the inside; density, detail.
fn pw_patch(bits: array<u32, PW_FACTORS>) -> PwPatch {
    let fixed = pw_fixed_factors(bits);
    var result: PwPatch;
    result.contexts[0] = pw_new_context(fixed[0], pw_odd(0u, fixed[0]));
    result.contexts[1] = pw_new_context(fixed[1], pw_odd(1u, fixed[1]));
    if (PW_DOMAIN != 0u) {
        result.contexts[PW_THIRD] = pw_new_context(fixed[PW_THIRD], pw_odd(2u, fixed[PW_THIRD]));
        result.contexts[PW_FOURTH] = pw_new_context(fixed[PW_FOURTH], pw_odd(3u, fixed[PW_FOURTH]));
    }
    if (PW_DOMAIN == 2u) {
        result.contexts[PW_FIFTH] = pw_new_context(fixed[PW_FIFTH], pw_odd(4u, fixed[PW_FIFTH]));
        result.contexts[PW_SIXTH] = pw_new_context(fixed[PW_SIXTH], pw_odd(5u, fixed[PW_SIXTH]));
    }
    let minimum = PW_DOMAIN != 0u && pw_all_one(fixed);
    if (minimum) {
        result.contexts[0].shape |= PW_MINIMUM;
        result.contexts[1].shape |= PW_MINIMUM;
        result.contexts[PW_THIRD].shape |= PW_MINIMUM;
        result.contexts[PW_FOURTH].shape |= PW_MINIMUM;
        result.contexts[PW_FIFTH].shape |= PW_MINIMUM;
        result.contexts[PW_SIXTH].shape |= PW_MINIMUM;
    }

    var points: u32;
    var primitives: u32;
    if (PW_DOMAIN == 0u) {
        // As many lines as segments across: the last one, at v = 1, is not drawn.
        let lines = pw_segments(result.contexts[0].shape);
        let segments = pw_segments(result.contexts[1].shape);
        points = lines * (segments + 1u);
        primitives = lines * segments;
        result.contexts[PW_FACTORS].shape = 0x80000u / (segments + 1u) + 1u;
    } else {
        let end_0 = pw_segments(result.contexts[0].shape);
        let end_1 = end_0 + pw_segments(result.contexts[1].shape);
        let end_2 = end_1 + pw_segments(result.contexts[PW_THIRD].shape);
        result.contexts[PW_FACTORS].shape = end_0 | (end_1 << 10u) | (end_2 << 20u);
        if (minimum) {
            points = PW_DOMAIN + 2u;
            primitives = PW_DOMAIN;
        } else if (PW_DOMAIN == 1u) {
            let s = pw_segments(result.contexts[PW_FOURTH].shape) - 2u;
            points = end_2 + pw_tri_points(s);
            primitives = end_2 + 3u * s + pw_tri_triangles(s);
        } else {
            let end_3 = end_2 + pw_segments(result.contexts[PW_FOURTH].shape);
            let u = pw_segments(result.contexts[PW_FIFTH].shape) - 2u;
            let v = pw_segments(result.contexts[PW_SIXTH].shape) - 2u;
            points = end_3 + pw_quad_points(u, v);
            primitives = end_3 + 2u * (u + v) + pw_quad_triangles(u, v);
        }
    }
    if (PW_TOPOLOGY == 0u) {
        primitives = points;
    }
    let culled = pw_culled(bits);
    result.points = select(points, 0u, culled);
    result.primitives = select(primitives, 0u, culled);
    return result;
}
