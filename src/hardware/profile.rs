//! Numbers of the machine that is emulated.

/// A machine's limits that decide how many patches a threadgroup takes, and how waves are scheduled.
///
/// The default is the console's: GCN of the second generation (GFX7) with 12 compute units (docs/hardware.md, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Compute units that waves are scheduled on.
    pub compute_units: u32,
    /// SIMDs of a compute unit.
    pub simds: u32,
    /// Waves that a SIMD holds at once.
    pub waves_per_simd: u32,
    /// Lanes of a wave.
    pub wave_lanes: u32,
    /// Bytes of LDS of a compute unit.
    pub lds_bytes: u32,
    /// Bytes of LDS that one hull threadgroup can address.
    pub threadgroup_lds_bytes: u32,
    /// LDS is given out in multiples of this many bytes.
    pub lds_granule_bytes: u32,
    /// Lanes of a stage of one hull threadgroup.
    pub threadgroup_lanes: u32,
    /// Patches of a threadgroup, whatever their size. The pipeline takes at most 64, whatever the profile says.
    pub max_patches: u32,
    /// Bytes of a block of the off-chip buffer: what one threadgroup can leave there.
    pub off_chip_block_bytes: u32,
    /// Blocks of the off-chip buffer.
    pub off_chip_blocks: u32,
    /// 32-bit words of the tessellation factor ring, of which a threadgroup takes one for control and one a factor.
    pub factor_ring_words: u32,
}

impl Profile {
    /// Xbox One's class of GCN: 12 compute units of 4 SIMDs × 10 waves × 64 lanes and 64 KiB of LDS, 32 KiB of it
    /// for a threadgroup in granules of 512 bytes, and at most 508 off-chip blocks of 32 KiB.
    #[must_use]
    pub const fn xbox_one() -> Self {
        Self {
            compute_units: 12,
            simds: 4,
            waves_per_simd: 10,
            wave_lanes: 64,
            lds_bytes: 64 * 1024,
            threadgroup_lds_bytes: 32 * 1024,
            lds_granule_bytes: 512,
            threadgroup_lanes: 256,
            max_patches: 64,
            off_chip_block_bytes: 32 * 1024,
            off_chip_blocks: 508,
            factor_ring_words: 4096,
        }
    }

    /// A machine whose threadgroups have what an adapter's limits allow: `workgroup_bytes` of workgroup memory and
    /// `workgroup_lanes` invocations. A compute unit holds two such threadgroups, as the console's does.
    ///
    /// Limits do not tell how many compute units there are, how many waves they hold, or what memory costs; these are
    /// the console's. `pipeline::profile_of` takes the numbers out of `wgpu::Limits`.
    #[must_use]
    pub const fn from_limits(workgroup_bytes: u32, workgroup_lanes: u32) -> Self {
        Self {
            threadgroup_lds_bytes: workgroup_bytes,
            lds_bytes: workgroup_bytes.saturating_mul(2),
            // No documented unit: bytes are given out as they are asked for, in words.
            lds_granule_bytes: 4,
            threadgroup_lanes: workgroup_lanes,
            ..Self::xbox_one()
        }
    }

    /// Waves that a compute unit holds at once.
    #[must_use]
    pub const fn wave_slots(&self) -> u32 {
        self.simds.saturating_mul(self.waves_per_simd)
    }

    /// Bytes that are given out where `bytes` are asked for.
    #[must_use]
    pub const fn lds_rounded(&self, bytes: u64) -> u64 {
        let granule = if self.lds_granule_bytes == 0 { 1 } else { self.lds_granule_bytes as u64 };
        bytes.div_ceil(granule).saturating_mul(granule)
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::xbox_one()
    }
}
