//! The form of an answer: a value, where it comes from, and how far it can be trusted.

use std::fmt;

/// The fields of `D3D12_FEATURE_DATA_ARCHITECTURE1` about one adapter, each with where it comes from.
///
/// One report feeds everything else that depends on the architecture (features, heaps, budgets), so that they agree.
/// `cache_coherent_uma` is never true where `uma` is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchitectureReport {
    /// Whether it renders tile by tile.
    pub tile_based_renderer: Reported<bool>,
    /// Whether CPU and GPU have one memory.
    pub uma: Reported<bool>,
    /// Whether CPU and GPU share caches over that memory, or act as if.
    pub cache_coherent_uma: Reported<bool>,
    /// Whether the GPU's accesses go past the CPU's page tables: Direct3D 12's header, which real drivers follow, not its
    /// documentation, which says the opposite.
    pub isolated_mmu: Reported<bool>,
}

impl ArchitectureReport {
    /// The four fields under Direct3D 12's names in this library's spelling, in the order of the structure.
    pub fn fields(&self) -> [(&'static str, Reported<bool>); 4] {
        [
            ("tile_based_renderer", self.tile_based_renderer),
            ("uma", self.uma),
            ("cache_coherent_uma", self.cache_coherent_uma),
            ("isolated_mmu", self.isolated_mmu),
        ]
    }
}

/// An answer and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported<T> {
    /// The answer.
    pub value: T,
    /// Where it comes from.
    pub from: Provenance,
    /// How far it can be trusted.
    pub certainty: Certainty,
    /// The reason, in words.
    pub why: &'static str,
    /// Whether a second signal says otherwise. The answer stands.
    pub conflict: bool,
}

impl<T> Reported<T> {
    pub(super) const fn new(value: T, from: Provenance, why: &'static str) -> Self {
        Self { value, from, certainty: Certainty::Decided, why, conflict: false }
    }

    /// A stand-in for an answer that nothing known decides.
    pub(super) const fn undecided(value: T, why: &'static str) -> Self {
        Self { value, from: Provenance::Assumed, certainty: Certainty::Undecided, why, conflict: false }
    }

    pub(super) const fn conflict_if(mut self, conflict: bool) -> Self {
        self.conflict = conflict;
        self
    }

    pub(super) const fn weak_if(mut self, weak: bool) -> Self {
        if weak && matches!(self.certainty, Certainty::Decided) {
            self.certainty = Certainty::Weak;
        }
        self
    }
}

/// What an answer was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provenance {
    /// The driver answers this very question.
    DriverReported,
    /// What kind of device it is.
    DeviceType,
    /// Vulkan's memory heaps and types.
    MemoryTypes,
    /// A table of drivers.
    DriverTable,
    /// A table of vendors, or the name on OpenGL.
    VendorTable,
    /// Nothing; the value is the safe or the usual one.
    Assumed,
    /// The caller or an environment variable.
    Override,
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::DriverReported => "driver-reported",
            Self::DeviceType => "device type",
            Self::MemoryTypes => "memory types",
            Self::DriverTable => "driver table",
            Self::VendorTable => "vendor table",
            Self::Assumed => "assumed",
            Self::Override => "override",
        })
    }
}

/// How far an answer can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Certainty {
    /// A rule that has the facts it needs.
    Decided,
    /// A rule that is known to be wrong for some devices that look like this one.
    Weak,
    /// No rule: the facts that would decide are not there, or the driver is known to hide them.
    Undecided,
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Decided => "decided",
            Self::Weak => "weak",
            Self::Undecided => "undecided",
        })
    }
}
