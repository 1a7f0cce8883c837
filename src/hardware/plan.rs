//! How many patches a threadgroup takes, and what that costs in LDS on the emulated machine and in workgroup memory here.

use super::Profile;

/// What a patch of a pipeline takes, from the layouts of the user's structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchFootprint {
    /// Input control points, 1 to 32.
    pub input_points: u32,
    /// Bytes of an input control point in an array.
    pub input_stride: u32,
    /// Output control points, 0 to 32.
    pub output_points: u32,
    /// Bytes of an output control point in an array.
    pub output_stride: u32,
    /// Bytes of the patch constants, factors included, in an array.
    pub constants_stride: u32,
    /// Whether there is no hull function: output control points then lie where the input control points do.
    pub pass_through: bool,
    /// Factors of the domain: 2, 4 or 6.
    pub factors: u32,
}

/// One of the tessellator's contexts in workgroup memory (`PwContext` in `shaders/tessellator`), of which a patch has one
/// more than factors.
const CONTEXT_BYTES: u32 = 8;
/// Points, point base, primitives and factor sum of a patch: `pw_points` and its neighbours in
/// `shaders/threadgroup.wgsl`.
const COUNT_BYTES: u32 = 16;
/// `pw_decision` and `pw_items` in `shaders/threadgroup.wgsl`.
const FIXED_BYTES: u32 = 32;
/// Above this, a workgroup's cost rises 2.6 times on an H200; only a patch that needs more gets more.
const PREFERRED_WORKGROUP_BYTES: u32 = 16 * 1024;

const fn round_up(value: u64, to: u64) -> u64 {
    value.div_ceil(to) * to
}

impl PatchFootprint {
    /// Bytes of LDS that a patch takes on the emulated machine: input and output control points and constants with the
    /// factors, each in 16-byte slots.
    #[must_use]
    pub fn profile_bytes(&self) -> u64 {
        let slot = |bytes: u32| round_up(u64::from(bytes), 16);
        let output = if self.pass_through { 0 } else { u64::from(self.output_points) * slot(self.output_stride) };
        u64::from(self.input_points) * slot(self.input_stride) + output + slot(self.constants_stride)
    }

    /// Bytes that a patch leaves in the off-chip buffer of the emulated machine.
    #[must_use]
    pub fn off_chip_bytes(&self) -> u64 {
        let slot = |bytes: u32| round_up(u64::from(bytes), 16);
        u64::from(self.output_points) * slot(self.output_stride) + slot(self.constants_stride)
    }

    /// Bytes of workgroup memory of the threadgroup kernel that holds `patches` patches, each array begun on 16 bytes.
    #[must_use]
    pub fn workgroup_bytes(&self, patches: u32) -> u64 {
        let patches = u64::from(patches);
        let array = |bytes: u64| round_up(bytes, 16);
        let output = if self.pass_through || self.output_points == 0 {
            0
        } else {
            array(patches * u64::from(self.output_points) * u64::from(self.output_stride))
        };
        array(patches * u64::from(self.input_points) * u64::from(self.input_stride))
            + output
            + array(patches * u64::from(self.constants_stride))
            + array(patches * u64::from((self.factors + 1) * CONTEXT_BYTES))
            + 4 * array(patches * u64::from(COUNT_BYTES / 4))
            + u64::from(FIXED_BYTES)
    }
}

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
    /// Workgroup memory of the adapter, which is smaller than the profile's LDS.
    AdapterWorkgroupMemory,
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

/// How a pipeline's patches are packed.
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
            limited_by = LimitedBy::AdapterWorkgroupMemory;
        }
        Ok(Self {
            patches,
            profile_lds_bytes: round_up(
                footprint.profile_bytes() * u64::from(patches),
                u64::from(profile.lds_granule_bytes),
            ),
            wgsl_workgroup_bytes: footprint.workgroup_bytes(patches),
            limited_by,
        })
    }
}
