// Process: inside factors from edge factors, and both rounded: HLSL's Process…TessFactors….
//
// The twin of src/library/process.rs. After rounding.wgsl and the factor structs.
//
// As in HLSL, edge factors that would cull a patch come out as the least factor. Whoever culls does so afterwards, with
// tess_cull_quad and its like.

struct TessQuad { factors: QuadFactors, unrounded_inside: vec2f }
struct TessTri { factors: TriFactors, unrounded_inside: f32 }

// An edge factor as the inside is reckoned from it: at least 1, not yet limited by what the tessellator takes. The upper
// bound of 2^124 keeps sums finite.
fn pw_lib_clean_factor(factor: f32) -> f32 {
    let bits = bitcast<u32>(factor);
    return bitcast<f32>(select(clamp(bits, 0x3f800000u, 0x7d800000u), 0x3f800000u, bits > 0x7f800000u));
}

fn pw_lib_clean_quad(edges: vec4f) -> vec4f {
    return vec4f(
        pw_lib_clean_factor(edges.x),
        pw_lib_clean_factor(edges.y),
        pw_lib_clean_factor(edges.z),
        pw_lib_clean_factor(edges.w),
    );
}

fn pw_lib_clean_tri(edges: vec3f) -> vec3f {
    return vec3f(pw_lib_clean_factor(edges.x), pw_lib_clean_factor(edges.y), pw_lib_clean_factor(edges.z));
}

// A scale from 0 to 1; NaN is 0.
fn pw_lib_clean_scale(scale: f32) -> f32 {
    let bits = bitcast<u32>(scale);
    return bitcast<f32>(select(min(bits, 0x3f800000u), 0u, bits > 0x7f800000u));
}

// An inside factor, scaled and clamped, not rounded. Under fractional_odd one below 3 gives way to the unscaled one, held
// to 3: between 1 and 3 the pattern changes most, and a scale would have it differ from what the edges show.
fn pw_lib_inside(reduced: f32, unscaled: f32, scale: f32, partitioning: u32) -> f32 {
    let clamped = tess_clamp_factor(reduced * pw_lib_clean_scale(scale), partitioning);
    if (partitioning == TESS_FRACTIONAL_ODD && clamped < 3.0) {
        return min(tess_clamp_factor(unscaled, partitioning), 3.0);
    }
    return clamped;
}

fn pw_lib_finish_quad(edges: vec4f, inside: vec2f, partitioning: u32) -> TessQuad {
    let rounded_edges = vec4f(
        tess_round_factor(edges.x, partitioning),
        tess_round_factor(edges.y, partitioning),
        tess_round_factor(edges.z, partitioning),
        tess_round_factor(edges.w, partitioning),
    );
    let rounded_inside = vec2f(tess_round_factor(inside.x, partitioning), tess_round_factor(inside.y, partitioning));
    return TessQuad(QuadFactors(rounded_edges, rounded_inside), inside);
}

// One inside factor for both axes.
fn pw_lib_quad(edges: vec4f, reduced: f32, unscaled: f32, scale: f32, partitioning: u32) -> TessQuad {
    return pw_lib_finish_quad(edges, vec2f(pw_lib_inside(reduced, unscaled, scale, partitioning)), partitioning);
}

// An inside factor for each axis. Under fractional_odd, one below 3 follows the other up to 3.
fn pw_lib_2d_quad(edges: vec4f, reduced: vec2f, unscaled: vec2f, scale: vec2f, partitioning: u32) -> TessQuad {
    var inside = vec2f(
        pw_lib_inside(reduced.x, unscaled.x, scale.x, partitioning),
        pw_lib_inside(reduced.y, unscaled.y, scale.y, partitioning),
    );
    if (partitioning == TESS_FRACTIONAL_ODD) {
        inside = select(inside, vec2f(min(max(inside.x, inside.y), 3.0)), inside < vec2f(3.0));
    }
    return pw_lib_finish_quad(edges, inside, partitioning);
}

fn pw_lib_tri(edges: vec3f, reduced: f32, unscaled: f32, scale: f32, partitioning: u32) -> TessTri {
    let inside = pw_lib_inside(reduced, unscaled, scale, partitioning);
    let rounded_edges = vec3f(
        tess_round_factor(edges.x, partitioning),
        tess_round_factor(edges.y, partitioning),
        tess_round_factor(edges.z, partitioning),
    );
    return TessTri(TriFactors(rounded_edges, tess_round_factor(inside, partitioning)), inside);
}

fn pw_lib_quad_average(clean: vec4f) -> f32 {
    return ((clean.x + clean.y) + (clean.z + clean.w)) * 0.25;
}

// The inside is the average of the edges, scaled.
fn tess_process_quad_avg(edges: vec4f, inside_scale: f32, partitioning: u32) -> TessQuad {
    let average = pw_lib_quad_average(pw_lib_clean_quad(edges));
    return pw_lib_quad(edges, average, average, inside_scale, partitioning);
}

// The inside is the greatest of the edges, scaled.
fn tess_process_quad_max(edges: vec4f, inside_scale: f32, partitioning: u32) -> TessQuad {
    let clean = pw_lib_clean_quad(edges);
    let greatest = max(max(clean.x, clean.y), max(clean.z, clean.w));
    return pw_lib_quad(edges, greatest, greatest, inside_scale, partitioning);
}

// The inside is the least of the edges, scaled.
fn tess_process_quad_min(edges: vec4f, inside_scale: f32, partitioning: u32) -> TessQuad {
    let clean = pw_lib_clean_quad(edges);
    let least = min(min(clean.x, clean.y), min(clean.z, clean.w));
    return pw_lib_quad(edges, least, pw_lib_quad_average(clean), inside_scale, partitioning);
}

// The edges that run along U (V==0 and V==1) make the inside along U, the others that along V.
fn tess_process_2d_quad_avg(edges: vec4f, inside_scale: vec2f, partitioning: u32) -> TessQuad {
    let clean = pw_lib_clean_quad(edges);
    let average = (clean.yx + clean.wz) * 0.5;
    return pw_lib_2d_quad(edges, average, average, inside_scale, partitioning);
}

fn tess_process_2d_quad_max(edges: vec4f, inside_scale: vec2f, partitioning: u32) -> TessQuad {
    let clean = pw_lib_clean_quad(edges);
    let greatest = max(clean.yx, clean.wz);
    return pw_lib_2d_quad(edges, greatest, greatest, inside_scale, partitioning);
}

fn tess_process_2d_quad_min(edges: vec4f, inside_scale: vec2f, partitioning: u32) -> TessQuad {
    let clean = pw_lib_clean_quad(edges);
    return pw_lib_2d_quad(edges, min(clean.yx, clean.wz), (clean.yx + clean.wz) * 0.5, inside_scale, partitioning);
}

fn pw_lib_tri_average(clean: vec3f) -> f32 {
    return ((clean.x + clean.y) + clean.z) * (1.0 / 3.0);
}

fn tess_process_tri_avg(edges: vec3f, inside_scale: f32, partitioning: u32) -> TessTri {
    let average = pw_lib_tri_average(pw_lib_clean_tri(edges));
    return pw_lib_tri(edges, average, average, inside_scale, partitioning);
}

fn tess_process_tri_max(edges: vec3f, inside_scale: f32, partitioning: u32) -> TessTri {
    let clean = pw_lib_clean_tri(edges);
    let greatest = max(max(clean.x, clean.y), clean.z);
    return pw_lib_tri(edges, greatest, greatest, inside_scale, partitioning);
}

fn tess_process_tri_min(edges: vec3f, inside_scale: f32, partitioning: u32) -> TessTri {
    let clean = pw_lib_clean_tri(edges);
    let least = min(min(clean.x, clean.y), clean.z);
    return pw_lib_tri(edges, least, pw_lib_tri_average(clean), inside_scale, partitioning);
}

// Density is a number of lines: an integer under every partitioning, a power of two under pow2.
fn tess_process_isoline(factors: IsolineFactors, partitioning: u32) -> IsolineFactors {
    return IsolineFactors(
        tess_round_factor(factors.density, select(TESS_INTEGER, TESS_POW2, partitioning == TESS_POW2)),
        tess_round_factor(factors.detail, partitioning),
    );
}
