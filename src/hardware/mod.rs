//! The emulated machine: its profile, and how a draw's patches are packed into threadgroups. Nothing here knows of a
//! device.

mod plan;
mod profile;

pub use plan::{LimitedBy, PatchFootprint, PlanError, ThreadgroupPlan};
pub use profile::Profile;
