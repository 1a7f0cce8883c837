//! The room's WGSL, for those who compose kernels.

use super::{Domain, OutputTopology, Partitioning};

const FACTORS: &str = include_str!("../../shaders/tessellator/factors.wgsl");
const PLACEMENT: &str = include_str!("../../shaders/tessellator/placement.wgsl");
const PATCH: &str = include_str!("../../shaders/tessellator/patch.wgsl");
const RINGS: &str = include_str!("../../shaders/tessellator/rings.wgsl");
const POINTS: &str = include_str!("../../shaders/tessellator/points.wgsl");
const CONNECTIVITY: &str = include_str!("../../shaders/tessellator/connectivity.wgsl");

/// The tessellator in WGSL, in parts to be put one after the other. They stand after [`wgsl_constants`] and after two
/// functions of the kernel's own, which hand out the `PW_CONTEXTS` contexts that `pw_patch` made of the current patch:
/// `fn pw_context(i: u32) -> PwContext` and `fn pw_shape(i: u32) -> u32`, its `shape` alone. (The order of
/// declarations is free in WGSL.) They are best kept as vectors of two words, which lavapipe loads at once.
pub const WGSL: [&str; 6] = [FACTORS, PLACEMENT, RINGS, PATCH, POINTS, CONNECTIVITY];

/// The parts of [`WGSL`] that `pw_primitive` needs; of the kernel's functions only `pw_shape`.
pub const CONNECTIVITY_WGSL: [&str; 4] = [FACTORS, PLACEMENT, RINGS, CONNECTIVITY];

/// The constants that select what [`WGSL`] computes.
pub fn wgsl_constants(domain: Domain, partitioning: Partitioning, topology: OutputTopology) -> String {
    format!(
        "const PW_DOMAIN: u32 = {}u;\nconst PW_PARTITIONING: u32 = {}u;\nconst PW_TOPOLOGY: u32 = {}u;\n\
         const PW_FACTORS: u32 = {}u;\nconst PW_EDGES: u32 = {}u;\n",
        domain.number(),
        partitioning.number(),
        topology.number(),
        domain.factor_count(),
        domain.edge_count(),
    )
}
