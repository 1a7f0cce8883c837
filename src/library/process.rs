//! Process: inside factors from edge factors, and both rounded: HLSL's `Process…TessFactors…`.
//!
//! The twin of shaders/library/process.wgsl. Microsoft's reference of HLSL's intrinsics says what they compute; what
//! that leaves open (the order of clamping and scaling, insides below 3 under fractional_odd) is as Microsoft's compiler
//! DXC has it. Where DXC and the reference differ, the reference holds here: DXC pairs edges of a quad that meet rather
//! than opposite ones, takes an isoline's detail for its density as well, and does not round to powers of two.
//!
//! As in HLSL, edge factors that would cull a patch come out as the least factor. Whoever culls does so afterwards, with
//! [`tess_cull_quad`](super::culling::tess_cull_quad) and its like.

use super::rounding::{tess_clamp_factor, tess_round_factor};
use crate::tessellator::Partitioning;

/// The factors of a quad patch, as WGSL's `QuadFactors`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuadFactors {
    /// Edges U==0, V==0, U==1, V==1.
    pub edges: [f32; 4],
    /// Inside along U and along V.
    pub inside: [f32; 2],
}

/// The factors of a tri patch, as WGSL's `TriFactors`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TriFactors {
    /// Edges U==0, V==0, W==0.
    pub edges: [f32; 3],
    /// The inside.
    pub inside: f32,
}

/// The factors of an isoline patch, as WGSL's `IsolineFactors`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IsolineFactors {
    /// How many lines.
    pub density: f32,
    /// How many segments each.
    pub detail: f32,
}

/// What a quad's edges come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TessQuad {
    /// HLSL's `RoundedEdgeTessFactors` and `RoundedInsideTessFactors`.
    pub factors: QuadFactors,
    /// HLSL's `UnroundedInsideTessFactors`: scaled and clamped, not rounded.
    pub unrounded_inside: [f32; 2],
}

/// What a tri's edges come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TessTri {
    /// HLSL's `RoundedEdgeTessFactors` and `RoundedInsideTessFactor`.
    pub factors: TriFactors,
    /// HLSL's `UnroundedInsideTessFactor`: scaled and clamped, not rounded.
    pub unrounded_inside: f32,
}

/// An edge factor as the inside is reckoned from it: at least 1, not yet limited by what the tessellator takes. The upper
/// bound of 2^124 keeps sums finite.
fn clean_factor(factor: f32) -> f32 {
    let bits = factor.to_bits();
    if bits > 0x7f80_0000 { 1.0 } else { f32::from_bits(bits.clamp(0x3f80_0000, 0x7d80_0000)) }
}

fn clean_quad(edges: [f32; 4]) -> [f32; 4] {
    edges.map(clean_factor)
}

fn clean_tri(edges: [f32; 3]) -> [f32; 3] {
    edges.map(clean_factor)
}

/// A scale from 0 to 1; NaN is 0.
fn clean_scale(scale: f32) -> f32 {
    let bits = scale.to_bits();
    if bits > 0x7f80_0000 { 0.0 } else { f32::from_bits(bits.min(0x3f80_0000)) }
}

/// An inside factor, scaled and clamped, not rounded. Under fractional_odd one below 3 gives way to the unscaled one, held
/// to 3: between 1 and 3 the pattern changes most, and a scale would have it differ from what the edges show.
fn inside(reduced: f32, unscaled: f32, scale: f32, partitioning: Partitioning) -> f32 {
    let clamped = tess_clamp_factor(reduced * clean_scale(scale), partitioning);
    if partitioning == Partitioning::FractionalOdd && clamped < 3.0 {
        return tess_clamp_factor(unscaled, partitioning).min(3.0);
    }
    clamped
}

fn finish_quad(edges: [f32; 4], inside: [f32; 2], partitioning: Partitioning) -> TessQuad {
    let round = |factor| tess_round_factor(factor, partitioning);
    TessQuad { factors: QuadFactors { edges: edges.map(round), inside: inside.map(round) }, unrounded_inside: inside }
}

/// One inside factor for both axes.
fn quad(edges: [f32; 4], reduced: f32, unscaled: f32, scale: f32, partitioning: Partitioning) -> TessQuad {
    finish_quad(edges, [inside(reduced, unscaled, scale, partitioning); 2], partitioning)
}

/// An inside factor for each axis. Under fractional_odd, one below 3 follows the other up to 3.
fn quad_2d(
    edges: [f32; 4],
    reduced: [f32; 2],
    unscaled: [f32; 2],
    scale: [f32; 2],
    partitioning: Partitioning,
) -> TessQuad {
    let mut both = [
        inside(reduced[0], unscaled[0], scale[0], partitioning),
        inside(reduced[1], unscaled[1], scale[1], partitioning),
    ];
    if partitioning == Partitioning::FractionalOdd {
        let shared = both[0].max(both[1]).min(3.0);
        both = both.map(|inside| if inside < 3.0 { shared } else { inside });
    }
    finish_quad(edges, both, partitioning)
}

fn tri(edges: [f32; 3], reduced: f32, unscaled: f32, scale: f32, partitioning: Partitioning) -> TessTri {
    let inside = inside(reduced, unscaled, scale, partitioning);
    let round = |factor| tess_round_factor(factor, partitioning);
    TessTri { factors: TriFactors { edges: edges.map(round), inside: round(inside) }, unrounded_inside: inside }
}

fn quad_average(clean: [f32; 4]) -> f32 {
    ((clean[0] + clean[1]) + (clean[2] + clean[3])) * 0.25
}

/// HLSL's `ProcessQuadTessFactorsAvg`: the inside is the average of the edges, scaled.
///
/// `edges` in the order U==0, V==0, U==1, V==1, any numbers: NaN and what is below 1 counts as 1. `inside_scale` is held
/// to 0 to 1, NaN being 0. The inside is scaled, clamped to what the partitioning allows and then rounded.
pub fn tess_process_quad_avg(edges: [f32; 4], inside_scale: f32, partitioning: Partitioning) -> TessQuad {
    let average = quad_average(clean_quad(edges));
    quad(edges, average, average, inside_scale, partitioning)
}

/// HLSL's `ProcessQuadTessFactorsMax`: the inside is the greatest of the edges, scaled. Else as
/// [`tess_process_quad_avg`].
pub fn tess_process_quad_max(edges: [f32; 4], inside_scale: f32, partitioning: Partitioning) -> TessQuad {
    let clean = clean_quad(edges);
    let greatest = clean[0].max(clean[1]).max(clean[2].max(clean[3]));
    quad(edges, greatest, greatest, inside_scale, partitioning)
}

/// HLSL's `ProcessQuadTessFactorsMin`: the inside is the least of the edges, scaled. Else as [`tess_process_quad_avg`].
pub fn tess_process_quad_min(edges: [f32; 4], inside_scale: f32, partitioning: Partitioning) -> TessQuad {
    let clean = clean_quad(edges);
    let least = clean[0].min(clean[1]).min(clean[2].min(clean[3]));
    quad(edges, least, quad_average(clean), inside_scale, partitioning)
}

/// What opposite edges come to: those that run along U (V==0 and V==1), then those along V.
fn opposite(clean: [f32; 4], reduce: impl Fn(f32, f32) -> f32) -> [f32; 2] {
    [reduce(clean[1], clean[3]), reduce(clean[0], clean[2])]
}

fn average(a: f32, b: f32) -> f32 {
    (a + b) * 0.5
}

/// HLSL's `Process2DQuadTessFactorsAvg`: the inside along U is the average of the edges V==0 and V==1, which run along U,
/// the inside along V that of the others, each with its scale. Else as [`tess_process_quad_avg`].
pub fn tess_process_2d_quad_avg(edges: [f32; 4], inside_scale: [f32; 2], partitioning: Partitioning) -> TessQuad {
    let average = opposite(clean_quad(edges), average);
    quad_2d(edges, average, average, inside_scale, partitioning)
}

/// HLSL's `Process2DQuadTessFactorsMax`: [`tess_process_2d_quad_avg`] with the greater of two edges.
pub fn tess_process_2d_quad_max(edges: [f32; 4], inside_scale: [f32; 2], partitioning: Partitioning) -> TessQuad {
    let greatest = opposite(clean_quad(edges), f32::max);
    quad_2d(edges, greatest, greatest, inside_scale, partitioning)
}

/// HLSL's `Process2DQuadTessFactorsMin`: [`tess_process_2d_quad_avg`] with the lesser of two edges.
pub fn tess_process_2d_quad_min(edges: [f32; 4], inside_scale: [f32; 2], partitioning: Partitioning) -> TessQuad {
    let clean = clean_quad(edges);
    quad_2d(edges, opposite(clean, f32::min), opposite(clean, average), inside_scale, partitioning)
}

fn tri_average(clean: [f32; 3]) -> f32 {
    ((clean[0] + clean[1]) + clean[2]) * (1.0 / 3.0)
}

/// HLSL's `ProcessTriTessFactorsAvg`: the inside is the average of the edges, scaled.
///
/// `edges` in the order U==0, V==0, W==0. Else as [`tess_process_quad_avg`].
pub fn tess_process_tri_avg(edges: [f32; 3], inside_scale: f32, partitioning: Partitioning) -> TessTri {
    let average = tri_average(clean_tri(edges));
    tri(edges, average, average, inside_scale, partitioning)
}

/// HLSL's `ProcessTriTessFactorsMax`: [`tess_process_tri_avg`] with the greatest of the edges.
pub fn tess_process_tri_max(edges: [f32; 3], inside_scale: f32, partitioning: Partitioning) -> TessTri {
    let clean = clean_tri(edges);
    let greatest = clean[0].max(clean[1]).max(clean[2]);
    tri(edges, greatest, greatest, inside_scale, partitioning)
}

/// HLSL's `ProcessTriTessFactorsMin`: [`tess_process_tri_avg`] with the least of the edges.
pub fn tess_process_tri_min(edges: [f32; 3], inside_scale: f32, partitioning: Partitioning) -> TessTri {
    let clean = clean_tri(edges);
    let least = clean[0].min(clean[1]).min(clean[2]);
    tri(edges, least, tri_average(clean), inside_scale, partitioning)
}

/// HLSL's `ProcessIsolineTessFactors`, which takes and gives detail before density.
///
/// Density is a number of lines: an integer from 1 to 64 under every partitioning, a power of two under pow2. Detail is
/// rounded as the partitioning has it.
pub fn tess_process_isoline(factors: IsolineFactors, partitioning: Partitioning) -> IsolineFactors {
    let lines = if partitioning == Partitioning::Pow2 { Partitioning::Pow2 } else { Partitioning::Integer };
    IsolineFactors {
        density: tess_round_factor(factors.density, lines),
        detail: tess_round_factor(factors.detail, partitioning),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insides_are_reduced_scaled_and_rounded() {
        let edges = [2.5, 3.0, 5.5, 9.0];
        let avg = tess_process_quad_avg(edges, 0.5, Partitioning::Integer);
        assert_eq!(avg.factors, QuadFactors { edges: [3.0, 3.0, 6.0, 9.0], inside: [3.0; 2] });
        assert_eq!(avg.unrounded_inside, [2.5; 2]);
        let max = tess_process_quad_max(edges, 1.0, Partitioning::Pow2);
        assert_eq!(max.factors, QuadFactors { edges: [4.0, 4.0, 8.0, 16.0], inside: [16.0; 2] });
        assert_eq!(max.unrounded_inside, [9.0; 2]);
        let min = tess_process_quad_min(edges, 1.0, Partitioning::FractionalEven);
        assert_eq!(min.factors, QuadFactors { edges, inside: [2.5; 2] });
        let tri = tess_process_tri_avg([1.0, 2.0, 6.0], 0.9, Partitioning::Integer);
        assert_eq!(tri.factors, TriFactors { edges: [1.0, 2.0, 6.0], inside: 3.0 });
        assert_eq!(tess_process_tri_max([1.0, 2.0, 6.0], 1.0, Partitioning::Integer).factors.inside, 6.0);
        assert_eq!(tess_process_tri_min([1.5, 2.0, 6.0], 1.0, Partitioning::Integer).unrounded_inside, 1.5);
    }

    #[test]
    fn axes_follow_the_edges_that_run_along_them() {
        // V==0 and V==1 run along U.
        let edges = [2.0, 10.0, 4.0, 20.0];
        let inside = |quad: TessQuad| quad.factors.inside;
        assert_eq!(inside(tess_process_2d_quad_avg(edges, [1.0, 1.0], Partitioning::Integer)), [15.0, 3.0]);
        assert_eq!(inside(tess_process_2d_quad_max(edges, [1.0, 0.5], Partitioning::Integer)), [20.0, 2.0]);
        assert_eq!(inside(tess_process_2d_quad_min(edges, [0.5, 1.0], Partitioning::Integer)), [5.0, 2.0]);
    }

    #[test]
    fn insides_below_3_under_fractional_odd() {
        let odd = Partitioning::FractionalOdd;
        // Scaled to 2, below 3: unscaled and held to 3.
        assert_eq!(tess_process_quad_avg([4.0; 4], 0.5, odd).unrounded_inside, [3.0; 2]);
        assert_eq!(tess_process_quad_avg([2.0; 4], 0.5, odd).unrounded_inside, [2.0; 2]);
        assert_eq!(tess_process_quad_avg([8.0; 4], 0.5, odd).unrounded_inside, [4.0; 2]);
        // The least is 1, the average takes its place.
        assert_eq!(tess_process_quad_min([1.0, 2.0, 2.0, 3.0], 1.0, odd).unrounded_inside, [2.0; 2]);
        assert_eq!(tess_process_tri_max([1.0, 2.0, 2.5], 0.1, odd).unrounded_inside, 2.5);
        // One axis below 3 follows the other, up to 3.
        assert_eq!(tess_process_2d_quad_avg([1.5, 9.0, 1.5, 9.0], [1.0; 2], odd).unrounded_inside, [9.0, 3.0]);
        assert_eq!(tess_process_2d_quad_avg([1.5, 2.5, 1.5, 2.5], [1.0; 2], odd).unrounded_inside, [2.5, 2.5]);
    }

    #[test]
    fn what_is_no_factor_and_no_scale() {
        for partitioning in Partitioning::ALL {
            let low = tess_clamp_factor(0.0, partitioning);
            let high = tess_clamp_factor(f32::INFINITY, partitioning);
            for bad in [f32::NAN, -f32::NAN, 0.0, -0.0, -5.0, f32::NEG_INFINITY] {
                let quad = tess_process_quad_max([bad; 4], 1.0, partitioning);
                assert_eq!(quad.factors, QuadFactors { edges: [low; 4], inside: [low; 2] }, "{partitioning} {bad}");
                let least = if partitioning == Partitioning::FractionalOdd { 3.0 } else { low };
                let scaled = tess_process_quad_max([8.0; 4], bad, partitioning);
                assert_eq!(scaled.factors.inside, [least; 2], "{partitioning} scale {bad}");
            }
            let infinite = tess_process_tri_avg([f32::INFINITY; 3], f32::INFINITY, partitioning);
            assert_eq!(infinite.factors, TriFactors { edges: [high; 3], inside: high }, "{partitioning}");
            // Infinity times zero, which would be NaN, is the least.
            let nothing = tess_process_tri_avg([f32::INFINITY; 3], 0.0, partitioning);
            let least = if partitioning == Partitioning::FractionalOdd { 3.0 } else { low };
            assert_eq!(nothing.factors.inside, least, "{partitioning}");
        }
    }

    #[test]
    fn isolines() {
        let raw = IsolineFactors { density: 2.5, detail: 5.5 };
        for (partitioning, density, detail) in [
            (Partitioning::Integer, 3.0, 6.0),
            (Partitioning::Pow2, 4.0, 8.0),
            (Partitioning::FractionalOdd, 3.0, 5.5),
            (Partitioning::FractionalEven, 3.0, 5.5),
        ] {
            assert_eq!(tess_process_isoline(raw, partitioning), IsolineFactors { density, detail }, "{partitioning}");
        }
        let none = tess_process_isoline(IsolineFactors::default(), Partitioning::FractionalEven);
        assert_eq!(none, IsolineFactors { density: 1.0, detail: 2.0 });
    }
}
