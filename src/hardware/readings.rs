//! Where the console's documentation can be read in more than one way, the choice is the caller's.
//!
//! Each enum is a question of `docs/hardware.md`, under the number that the page gives it; the default is patchwave's
//! reading, and the page says why.

/// A1: which factors the average of a threadgroup is taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AveragedFactors {
    /// All factors of the domain: 6 of a quad, 4 of a triangle, 2 of an isoline.
    #[default]
    All,
    /// The edge factors only: 4 of a quad, 3 of a triangle, 2 of an isoline.
    EdgesOnly,
}

/// A2: what a culled patch adds to the average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CulledPatches {
    /// It counts as a patch whose factors are all 0.
    #[default]
    AsZero,
    /// It does not count at all.
    Excluded,
    /// It counts with those of its factors that are positive; the others are 0.
    AsTheyAre,
}

/// A3: whether factors are clamped before they are averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FactorValues {
    /// Clamped to what the partitioning takes. The average is then compared exactly, in integers.
    #[default]
    Clamped,
    /// As the shader gave them (those above the pipeline's `maximum_factor` as that one), summed in single precision by
    /// one lane, patch by patch. Not exact: a sum near the threshold may round to either side, and devices that flush
    /// denormals take those as 0. A NaN, or infinities of both signs, go off-chip.
    Raw,
}

/// A5: what the default factor threshold gives about 256 domain threads of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DefaultThreshold {
    /// A full threadgroup.
    #[default]
    PerThreadgroup,
    /// One patch.
    PerPatch,
}

/// A8: what the wave threshold counts waves of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WaveThreshold {
    /// A threadgroup.
    #[default]
    PerThreadgroup,
    /// A SIMD: a threadgroup keeps as many times more as its compute unit has SIMDs.
    PerSimd,
}

/// A11: whether a threadgroup takes patches of two instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Instances {
    /// No: the last threadgroup of an instance may be short.
    #[default]
    Split,
    /// Yes. patchwave's kernels do not do so; a pipeline that asks for it is refused.
    Span,
}

/// A12: whether an off-chip pipeline's patches per threadgroup are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PatchRounding {
    /// No.
    #[default]
    Off,
    /// To the nearest multiple of four that fits, ties up; fewer than four that fit stay as they are.
    OffChipToFour,
}

/// A reading of every question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Readings {
    /// A1.
    pub averaged_factors: AveragedFactors,
    /// A2.
    pub culled_patches: CulledPatches,
    /// A3.
    pub factor_values: FactorValues,
    /// A5.
    pub default_threshold: DefaultThreshold,
    /// A8.
    pub wave_threshold: WaveThreshold,
    /// A11.
    pub instances: Instances,
    /// A12.
    pub patch_rounding: PatchRounding,
}

impl Readings {
    /// Factors of a patch that the average is taken over.
    #[must_use]
    pub const fn averaged_factors(&self, domain: crate::tessellator::Domain) -> u32 {
        match self.averaged_factors {
            AveragedFactors::All => domain.factor_count() as u32,
            AveragedFactors::EdgesOnly => domain.edge_count() as u32,
        }
    }

    /// Domain waves that an off-chip threadgroup keeps on-chip, by the wave threshold.
    #[must_use]
    pub const fn on_chip_waves(&self, ds_wave_threshold: u32, simds: u32) -> u32 {
        match self.wave_threshold {
            WaveThreshold::PerThreadgroup => ds_wave_threshold,
            WaveThreshold::PerSimd => ds_wave_threshold.saturating_mul(simds),
        }
    }
}
