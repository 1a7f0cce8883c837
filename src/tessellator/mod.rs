//! The fixed-function tessellator on the CPU: factors, points, connectivity.
//!
//! The twin of `shaders/tessellator.wgsl`. What it computes is written down in `docs/tessellator.md`; the section
//! numbers in the comments of this room are that document's. Nothing here knows of wgpu.

/// What a patch's parameter space is: the `domain` attribute of HLSL, the primitive mode of GLSL, GCN's `TYPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Lines of equal v: two factors, density (how many lines) and detail (segments in a line).
    Isoline,
    /// Barycentric triangle: three edge factors (U==0, V==0, W==0) and one inside factor.
    Tri,
    /// Unit square: four edge factors (U==0, V==0, U==1, V==1) and two inside factors (along U, along V).
    Quad,
}

/// How a factor becomes segments: HLSL's `partitioning`, GLSL's spacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Partitioning {
    /// Rounded up to an integer, equal segments; factors 1 to 64.
    Integer,
    /// The same as [`Partitioning::Integer`] to the tessellator: rounding to a power of two is the shader's job.
    Pow2,
    /// An odd number of segments, two of them growing; factors 1 to 63.
    FractionalOdd,
    /// An even number of segments, two of them growing; factors 2 to 64.
    FractionalEven,
}

/// What primitives come out, and their winding with U to the right and V down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputTopology {
    /// One point a domain point; any domain.
    Point,
    /// Line segments; isoline domain only.
    Line,
    /// Clockwise triangles; tri and quad domains.
    TriangleCw,
    /// Counter-clockwise triangles; tri and quad domains.
    TriangleCcw,
}
