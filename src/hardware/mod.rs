//! The machine emulated: its profile, how a draw's patches are packed into threadgroups, the decision between on-chip and
//! off-chip, what a draw came to, and when its waves would have run. Nothing here knows of a device.
//!
//! The rules and the sources that they are read from are in `docs/hardware.md`; numbers such as A9 are its readings.

mod budget;
pub mod heuristic;
mod parameters;
mod plan;
mod policy;
mod profile;
mod readings;
mod record;
mod statistics;
pub mod timeline;

pub use budget::{LdsBudget, PatchFootprint};
pub use parameters::{
    DEFAULT_DS_WAVE_THRESHOLD, ParameterError, ParameterWarning, PipelineStateFlags, ResolvedParameters,
    TessellationParameters, default_factor_threshold,
};
pub use plan::{LimitedBy, PlanError, ThreadgroupPlan};
pub use policy::Policy;
pub use profile::Profile;
pub use readings::{
    AveragedFactors, CulledPatches, DefaultThreshold, FactorValues, Instances, PatchRounding, Readings, WaveThreshold,
};
pub use record::{ThreadgroupRecord, WAVE_LANES};
pub use statistics::{PipelineShape, StageThreads, Statistics};
