//! Numbers of the machine that is emulated.

/// A machine's limits that decide how many patches a threadgroup takes.
///
/// The default is the console's: GCN of the second generation (GFX7) with 12 compute units.
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
    /// Patches of a threadgroup, whatever their size.
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
}

impl Default for Profile {
    fn default() -> Self {
        Self::xbox_one()
    }
}
