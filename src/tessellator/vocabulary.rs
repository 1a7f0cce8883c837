//! The words of the room: domains, partitionings, output topologies, their names and their limits.

use std::fmt;
use std::str::FromStr;

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

/// A word that is none of the names of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no {what}; there are {expected}")]
pub struct UnknownName {
    /// The word.
    pub name: String,
    /// What it was to name.
    pub what: &'static str,
    /// The names there are.
    pub expected: String,
}

/// Names both ways for an enum: the vocabulary's spelling is the only one.
macro_rules! named {
    ($kind:ident, $what:literal, $($variant:ident $name:literal),+) => {
        impl $kind {
            /// All of them, in the order of their numbers in WGSL.
            pub const ALL: [$kind; [$($name),+].len()] = [$($kind::$variant),+];

            /// Its name in the vocabulary.
            pub const fn name(self) -> &'static str {
                match self {
                    $($kind::$variant => $name),+
                }
            }

            /// Its number in WGSL.
            pub const fn number(self) -> u32 {
                self as u32
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $kind {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                match name {
                    $($name => Ok($kind::$variant),)+
                    _ => Err(UnknownName {
                        name: name.to_owned(),
                        what: $what,
                        expected: [$($name),+].join(", "),
                    }),
                }
            }
        }
    };
}

named!(Domain, "domain", Isoline "isoline", Tri "tri", Quad "quad");
named!(
    Partitioning,
    "partitioning",
    Integer "integer",
    Pow2 "pow2",
    FractionalOdd "fractional_odd",
    FractionalEven "fractional_even"
);
named!(
    OutputTopology,
    "output topology",
    Point "point",
    Line "line",
    TriangleCw "triangle_cw",
    TriangleCcw "triangle_ccw"
);

impl Domain {
    /// How many tessellation factors a patch has: the edges' and the inside's, or density and detail.
    pub const fn factor_count(self) -> usize {
        match self {
            Domain::Isoline => 2,
            Domain::Tri => 4,
            Domain::Quad => 6,
        }
    }

    /// How many of the factors come first as outer ones, any of which drops the patch when it is not above 0: the
    /// edges' factors; density and detail.
    pub const fn edge_count(self) -> usize {
        match self {
            Domain::Isoline => 2,
            Domain::Tri => 3,
            Domain::Quad => 4,
        }
    }

    /// The most points a patch can have (13).
    pub const fn max_points(self) -> u32 {
        match self {
            Domain::Isoline => 4160,
            Domain::Tri => 3169,
            Domain::Quad => 4225,
        }
    }

    /// The most primitives a patch can have with an output topology the domain allows (13).
    pub const fn max_primitives(self, topology: OutputTopology) -> u32 {
        match (self, topology) {
            (_, OutputTopology::Point) => self.max_points(),
            (Domain::Isoline, _) => 4096,
            (Domain::Tri, _) => 6144,
            (Domain::Quad, _) => 8192,
        }
    }
}

impl OutputTopology {
    /// How many points make a primitive.
    pub const fn vertices_per_primitive(self) -> u32 {
        match self {
            OutputTopology::Point => 1,
            OutputTopology::Line => 2,
            OutputTopology::TriangleCw | OutputTopology::TriangleCcw => 3,
        }
    }

    /// Whether the domain allows it: points everywhere, lines of isolines, triangles of the others.
    pub const fn is_valid_for(self, domain: Domain) -> bool {
        match self {
            OutputTopology::Point => true,
            OutputTopology::Line => matches!(domain, Domain::Isoline),
            OutputTopology::TriangleCw | OutputTopology::TriangleCcw => !matches!(domain, Domain::Isoline),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for domain in Domain::ALL {
            assert_eq!(domain.name().parse(), Ok(domain));
        }
        for partitioning in Partitioning::ALL {
            assert_eq!(partitioning.name().parse(), Ok(partitioning));
        }
        for topology in OutputTopology::ALL {
            assert_eq!(topology.name().parse(), Ok(topology));
        }
        assert_eq!(
            "hexagon".parse::<Domain>().map_err(|error| error.to_string()),
            Err("`hexagon` is no domain; there are isoline, tri, quad".to_owned())
        );
        assert_eq!(format!("{:>5}|", Domain::Tri), "  tri|");
    }

    #[test]
    fn numbers_are_those_of_the_wgsl() {
        assert_eq!(Domain::ALL.map(Domain::number), [0, 1, 2]);
        assert_eq!(Partitioning::ALL.map(Partitioning::number), [0, 1, 2, 3]);
        assert_eq!(OutputTopology::ALL.map(OutputTopology::number), [0, 1, 2, 3]);
    }
}
