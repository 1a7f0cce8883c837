//! How many patches a threadgroup takes, and what that costs in LDS on the emulated machine and in workgroup memory here.

use super::{LdsBudget, PatchFootprint, Profile};

/// Above this, a workgroup's cost rises 2.6 times on an H200; only a patch that needs more gets more.
const PREFERRED_WORKGROUP_BYTES: u32 = 16 * 1024;

/// What bound the number of patches of a threadgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitedBy {
    /// Lanes of a stage: 256 / max(input, output control points).
    Lanes,
    /// LDS of the emulated machine.
    ProfileLds,
    /// A block of the off-chip buffer.
    OffChipBlock,
    /// The tessellation factor ring.
    FactorRing,
    /// The most patches of a threadgroup, whatever their size.
    MaxPatches,
    /// Workgroup memory of the adapter, which is smaller than the profile's LDS or shared with arrays of patchwave's own.
    AdapterWorkgroupMemory,
    /// 16 KiB of workgroup memory, which patchwave does not exceed even where the adapter has more: larger workgroups
    /// were measured to cost more than they bring.
    PreferredWorkgroupMemory,
}

impl LimitedBy {
    /// The bound in words, with its number's source.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Lanes => "lanes of a stage of the profile's threadgroup",
            Self::ProfileLds => "LDS that a threadgroup of the profile can address",
            Self::OffChipBlock => "a block of the profile's off-chip buffer",
            Self::FactorRing => "the profile's tessellation factor ring",
            Self::MaxPatches => "the most patches that a threadgroup takes",
            Self::AdapterWorkgroupMemory => "workgroup memory of the adapter, less than the profile's LDS",
            Self::PreferredWorkgroupMemory => "16 KiB of workgroup memory, above which workgroups cost more",
        }
    }
}

/// Why no plan could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Not one patch fits the workgroup memory of the adapter.
    #[error(
        "one patch needs {needed} bytes of workgroup memory and the device allows {available}: use fewer or smaller \
         control points and patch constants, or request a higher max_compute_workgroup_storage_size"
    )]
    PatchTooLarge {
        /// Bytes that one patch needs.
        needed: u64,
        /// Bytes that the device allows.
        available: u64,
    },
}

/// How a pipeline's patches are packed where each threadgroup takes the most that it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadgroupPlan {
    /// Patches of a threadgroup, at least 1.
    pub patches: u32,
    /// LDS of a threadgroup on the emulated machine, rounded up to its granule.
    pub profile_lds_bytes: u64,
    /// Workgroup memory of the kernel that holds them.
    pub wgsl_workgroup_bytes: u64,
    /// What bound `patches`.
    pub limited_by: LimitedBy,
    /// `profile_lds_bytes` field by field.
    pub budget: LdsBudget,
}

impl ThreadgroupPlan {
    /// The most patches that fit `profile` and `workgroup_limit` bytes of workgroup memory.
    ///
    /// The driver's default of the console is the most that fits (docs/hardware.md, A12).
    ///
    /// # Errors
    /// [`PlanError::PatchTooLarge`] where not one patch fits the adapter's workgroup memory.
    pub fn maximised(profile: &Profile, footprint: &PatchFootprint, workgroup_limit: u32) -> Result<Self, PlanError> {
        let fits = |room: u32, bytes: u64| u32::try_from(u64::from(room) / bytes.max(1)).unwrap_or(u32::MAX);
        let points = footprint.input_points.max(footprint.output_points).max(1);
        let bounds = [
            (profile.threadgroup_lanes / points, LimitedBy::Lanes),
            (fits(profile.threadgroup_lds_bytes, footprint.profile_bytes()), LimitedBy::ProfileLds),
            (fits(profile.off_chip_block_bytes, footprint.off_chip_bytes()), LimitedBy::OffChipBlock),
            (profile.factor_ring_words.saturating_sub(1) / footprint.factors.max(1), LimitedBy::FactorRing),
            (profile.max_patches, LimitedBy::MaxPatches),
        ];
        let (mut patches, mut limited_by) = (u32::MAX, LimitedBy::MaxPatches);
        for (bound, reason) in bounds {
            if bound < patches {
                (patches, limited_by) = (bound, reason);
            }
        }
        patches = patches.max(1);

        let limit = u64::from(workgroup_limit);
        let one = footprint.workgroup_bytes(1);
        if one > limit {
            return Err(PlanError::PatchTooLarge { needed: one, available: limit });
        }
        let room = limit.min(u64::from(PREFERRED_WORKGROUP_BYTES)).max(one);
        while patches > 1 && footprint.workgroup_bytes(patches) > room {
            patches -= 1;
            limited_by = if limit > u64::from(PREFERRED_WORKGROUP_BYTES) {
                LimitedBy::PreferredWorkgroupMemory
            } else {
                LimitedBy::AdapterWorkgroupMemory
            };
        }
        let budget = LdsBudget::new(profile, footprint, patches);
        Ok(Self {
            patches,
            profile_lds_bytes: budget.allocated,
            wgsl_workgroup_bytes: footprint.workgroup_bytes(patches),
            limited_by,
            budget,
        })
    }
}
