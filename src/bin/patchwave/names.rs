//! The names that the command line gives to the tessellator's choices.

use clap::ValueEnum;
use patchwave::tessellator::{Domain, OutputTopology, Partitioning};

/// [`Domain`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DomainName {
    /// Lines of equal v; edges are density,detail and there is no inside factor
    Isoline,
    /// Barycentric triangle; edges U==0,V==0,W==0 and one inside factor
    Tri,
    /// Unit square; edges U==0,V==0,U==1,V==1 and two inside factors, along U and along V
    Quad,
}

/// [`Partitioning`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum PartitioningName {
    /// Rounded up, equal segments; factors 1 to 64
    Integer,
    /// The same as integer here: rounding to a power of two is the shader's job
    Pow2,
    /// An odd number of segments, two of them growing; factors 1 to 63
    FractionalOdd,
    /// An even number of segments, two of them growing; factors 2 to 64
    FractionalEven,
}

/// [`OutputTopology`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum TopologyName {
    /// One point a domain point; any domain
    Point,
    /// Line segments; isoline only
    Line,
    /// Clockwise triangles, U to the right and V down; tri and quad
    TriangleCw,
    /// Counter-clockwise triangles; tri and quad
    TriangleCcw,
}

impl From<DomainName> for Domain {
    fn from(name: DomainName) -> Self {
        match name {
            DomainName::Isoline => Domain::Isoline,
            DomainName::Tri => Domain::Tri,
            DomainName::Quad => Domain::Quad,
        }
    }
}

impl From<PartitioningName> for Partitioning {
    fn from(name: PartitioningName) -> Self {
        match name {
            PartitioningName::Integer => Partitioning::Integer,
            PartitioningName::Pow2 => Partitioning::Pow2,
            PartitioningName::FractionalOdd => Partitioning::FractionalOdd,
            PartitioningName::FractionalEven => Partitioning::FractionalEven,
        }
    }
}

impl From<TopologyName> for OutputTopology {
    fn from(name: TopologyName) -> Self {
        match name {
            TopologyName::Point => OutputTopology::Point,
            TopologyName::Line => OutputTopology::Line,
            TopologyName::TriangleCw => OutputTopology::TriangleCw,
            TopologyName::TriangleCcw => OutputTopology::TriangleCcw,
        }
    }
}
