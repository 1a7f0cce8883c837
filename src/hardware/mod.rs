//! The emulated machine: its profile, and how a draw's patches are packed into threadgroups. Nothing here knows of a
//! device.

pub mod heuristic;
mod parameters;
mod plan;
mod profile;
mod record;

pub use parameters::{
    DEFAULT_DS_WAVE_THRESHOLD, ParameterError, ParameterWarning, PipelineStateFlags, ResolvedParameters,
    TessellationParameters, default_factor_threshold,
};
pub use plan::{LimitedBy, PatchFootprint, PlanError, ThreadgroupPlan};
pub use profile::Profile;
pub use record::{ThreadgroupRecord, WAVE_LANES};
