//! How the command line takes the tessellator's choices: by the names that the library gives them, with a line of help.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use patchwave::tessellator::{Domain, OutputTopology, Partitioning};

/// Takes the name of a [`Domain`].
pub(crate) fn domain() -> impl TypedValueParser<Value = Domain> {
    PossibleValuesParser::new(Domain::ALL.map(|domain| {
        PossibleValue::new(domain.name()).help(match domain {
            Domain::Isoline => "Lines of equal v; edges are density,detail and there is no inside factor",
            Domain::Tri => "Barycentric triangle; edges U==0,V==0,W==0 and one inside factor",
            Domain::Quad => "Unit square; edges U==0,V==0,U==1,V==1 and two inside factors, along U and V",
        })
    }))
    .try_map(|name| name.parse::<Domain>())
}

/// Takes the name of a [`Partitioning`].
pub(crate) fn partitioning() -> impl TypedValueParser<Value = Partitioning> {
    PossibleValuesParser::new(Partitioning::ALL.map(|partitioning| {
        PossibleValue::new(partitioning.name()).help(match partitioning {
            Partitioning::Integer => "Rounded up, equal segments; factors 1 to 64",
            Partitioning::Pow2 => "As integer: rounding to a power of two is the shader's job",
            Partitioning::FractionalOdd => "An odd number of segments, two of them growing; factors 1 to 63",
            Partitioning::FractionalEven => "An even number of segments, two of them growing; factors 2 to 64",
        })
    }))
    .try_map(|name| name.parse::<Partitioning>())
}

/// Takes the name of an [`OutputTopology`].
pub(crate) fn topology() -> impl TypedValueParser<Value = OutputTopology> {
    PossibleValuesParser::new(OutputTopology::ALL.map(|topology| {
        PossibleValue::new(topology.name()).help(match topology {
            OutputTopology::Point => "One point a domain point; any domain",
            OutputTopology::Line => "Line segments; isoline only",
            OutputTopology::TriangleCw => "Clockwise triangles, U to the right and V down; tri and quad",
            OutputTopology::TriangleCcw => "Counter-clockwise triangles; tri and quad",
        })
    }))
    .try_map(|name| name.parse::<OutputTopology>())
}
