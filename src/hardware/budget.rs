//! What a patch takes of LDS, field by field, on the emulated machine and in workgroup memory here.

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
/// Words a patch: its points, primitives and factor sum (`pw_points` and its neighbours in `shaders/threadgroup.wgsl`), and
/// whether it is like the one before it (`pw_alike` in `shaders/runs.wgsl`).
const PATCH_ARRAYS: u64 = 4;
/// Words a patch and one more: the bases, and the runs' columns and first patches in `shaders/runs.wgsl`.
const BASE_ARRAYS: u64 = 3;
/// `pw_decision` and `pw_items` in `shaders/threadgroup.wgsl`, `pw_runs` in `shaders/runs.wgsl`.
const FIXED_BYTES: u64 = 48;

/// Attributes lie in slots of 16 bytes (docs/hardware.md, A13).
const SLOT_BYTES: u64 = 16;

const fn slots(bytes: u32) -> u64 {
    (bytes as u64).div_ceil(SLOT_BYTES) * SLOT_BYTES
}

impl PatchFootprint {
    /// Bytes of LDS that a patch takes on the emulated machine: input and output control points and constants with the
    /// factors, each in 16-byte slots.
    #[must_use]
    pub fn profile_bytes(&self) -> u64 {
        let [input, output, constants] = self.profile_fields();
        input + output + constants
    }

    fn profile_fields(&self) -> [u64; 3] {
        let output = if self.pass_through { 0 } else { u64::from(self.output_points) * slots(self.output_stride) };
        [u64::from(self.input_points) * slots(self.input_stride), output, slots(self.constants_stride)]
    }

    /// Bytes that a patch leaves in the off-chip buffer of the emulated machine.
    #[must_use]
    pub fn off_chip_bytes(&self) -> u64 {
        u64::from(self.output_points) * slots(self.output_stride) + slots(self.constants_stride)
    }

    /// Bytes of workgroup memory of the threadgroup kernel that holds `patches` patches, each array begun on 16 bytes.
    #[must_use]
    pub fn workgroup_bytes(&self, patches: u32) -> u64 {
        let patches = u64::from(patches);
        let array = |bytes: u64| bytes.next_multiple_of(16);
        let output = if self.pass_through || self.output_points == 0 {
            0
        } else {
            array(patches * u64::from(self.output_points) * u64::from(self.output_stride))
        };
        array(patches * u64::from(self.input_points) * u64::from(self.input_stride))
            + output
            + array(patches * u64::from(self.constants_stride))
            + array(patches * u64::from((self.factors + 1) * CONTEXT_BYTES))
            + PATCH_ARRAYS * array(patches * 4)
            + BASE_ARRAYS * array((patches + 1) * 4)
            + FIXED_BYTES
    }
}

/// LDS of a threadgroup on the emulated machine, field by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LdsBudget {
    /// Patches of the threadgroup.
    pub patches: u32,
    /// Bytes of input control points.
    pub input_points: u64,
    /// Bytes of output control points; 0 where the hull function is left out and they lie where the input's do.
    pub output_points: u64,
    /// Bytes of patch constants, factors among them.
    pub constants: u64,
    /// Bytes of all three.
    pub total: u64,
    /// Bytes that the threadgroup is given: `total`, rounded up to the profile's granule.
    pub allocated: u64,
    /// Threadgroups whose LDS a compute unit holds at once; 0 where not even one fits.
    pub threadgroups_per_compute_unit: u32,
}

impl LdsBudget {
    /// The budget of a threadgroup of `patches` patches.
    #[must_use]
    pub fn new(profile: &Profile, footprint: &PatchFootprint, patches: u32) -> Self {
        let [input_points, output_points, constants] =
            footprint.profile_fields().map(|bytes| bytes * u64::from(patches));
        let total = input_points + output_points + constants;
        let allocated = profile.lds_rounded(total);
        Self {
            patches,
            input_points,
            output_points,
            constants,
            total,
            allocated,
            threadgroups_per_compute_unit: u64::from(profile.lds_bytes)
                .checked_div(allocated)
                .map_or(u32::MAX, |fit| u32::try_from(fit).unwrap_or(u32::MAX)),
        }
    }
}
