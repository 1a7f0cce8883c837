//! Where the user knows an adapter's architecture better than the rules do.

use super::report::{ArchitectureReport, Certainty, Provenance, Reported};

/// Values to be reported in place of what [`classify`](super::classify) finds.
///
/// ```
/// use patchwave::adapter::ArchitectureOverrides;
/// let overrides = ArchitectureOverrides::default().with_uma(true).with_cache_coherent_uma(false);
/// assert!(overrides.apply(patchwave::adapter::classify(
///     &patchwave::adapter::AdapterFacts::from_info(&wgpu::AdapterInfo::new(
///         wgpu::DeviceType::DiscreteGpu,
///         wgpu::Backend::Vulkan
///     ))
/// )).unwrap().uma.value);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchitectureOverrides {
    tile_based_renderer: Option<bool>,
    uma: Option<bool>,
    cache_coherent_uma: Option<bool>,
    isolated_mmu: Option<bool>,
}

/// Overrides that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OverrideError {
    /// A variable with a value that is not one of the two.
    #[error("environment variable {variable} is '{value}'; it must be 0 or 1, or unset")]
    Value {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// Cache-coherent unified memory without unified memory.
    #[error(
        "overrides say CacheCoherentUMA is true and UMA is false; the first implies the second: leave one of them out"
    )]
    CoherentWithoutUma,
}

impl ArchitectureOverrides {
    /// The variables, in the order of the structure's fields. `0` and `false` say no, `1` and `true` yes; an empty one is
    /// an unset one.
    pub const VARIABLES: [&'static str; 4] =
        ["PATCHWAVE_TILE_BASED_RENDERER", "PATCHWAVE_UMA", "PATCHWAVE_CACHE_COHERENT_UMA", "PATCHWAVE_ISOLATED_MMU"];

    /// What the environment says.
    ///
    /// # Errors
    ///
    /// [`OverrideError::Value`] for a variable with any other value.
    pub fn from_env() -> Result<Self, OverrideError> {
        Self::from_lookup(|variable| std::env::var_os(variable).map(|value| value.to_string_lossy().into_owned()))
    }

    /// What a function says that stands for the environment.
    ///
    /// # Errors
    ///
    /// As [`from_env`](Self::from_env).
    pub fn from_lookup(lookup: impl Fn(&'static str) -> Option<String>) -> Result<Self, OverrideError> {
        let read = |variable| match lookup(variable) {
            None => Ok(None),
            Some(value) => match value.trim().to_lowercase().as_str() {
                "" => Ok(None),
                "0" | "false" => Ok(Some(false)),
                "1" | "true" => Ok(Some(true)),
                _ => Err(OverrideError::Value { variable, value }),
            },
        };
        let [tile_based_renderer, uma, cache_coherent_uma, isolated_mmu] = Self::VARIABLES.map(read);
        Ok(Self {
            tile_based_renderer: tile_based_renderer?,
            uma: uma?,
            cache_coherent_uma: cache_coherent_uma?,
            isolated_mmu: isolated_mmu?,
        })
    }

    /// Says whether it is a tile-based renderer.
    pub fn with_tile_based_renderer(self, value: bool) -> Self {
        Self { tile_based_renderer: Some(value), ..self }
    }

    /// Says whether memory is unified. No implies that it is not cache-coherent either.
    pub fn with_uma(self, value: bool) -> Self {
        Self { uma: Some(value), ..self }
    }

    /// Says whether unified memory is cache-coherent. Yes implies that it is unified.
    pub fn with_cache_coherent_uma(self, value: bool) -> Self {
        Self { cache_coherent_uma: Some(value), ..self }
    }

    /// Says whether the GPU goes past the CPU's page tables.
    pub fn with_isolated_mmu(self, value: bool) -> Self {
        Self { isolated_mmu: Some(value), ..self }
    }

    /// The report with these values in it, marked [`Provenance::Override`], with `conflict` where they change it.
    ///
    /// # Errors
    ///
    /// [`OverrideError::CoherentWithoutUma`] where they contradict each other.
    pub fn apply(self, report: ArchitectureReport) -> Result<ArchitectureReport, OverrideError> {
        if self.cache_coherent_uma == Some(true) && self.uma == Some(false) {
            return Err(OverrideError::CoherentWithoutUma);
        }
        let said = |found: Reported<bool>, value: Option<bool>| match value {
            None => found,
            Some(value) => set(found, value, "the caller or the environment says so"),
        };
        let mut report = ArchitectureReport {
            tile_based_renderer: said(report.tile_based_renderer, self.tile_based_renderer),
            uma: said(report.uma, self.uma),
            cache_coherent_uma: said(report.cache_coherent_uma, self.cache_coherent_uma),
            isolated_mmu: said(report.isolated_mmu, self.isolated_mmu),
        };
        let became_unified = self.uma == Some(true) && report.uma.conflict;
        if became_unified && self.cache_coherent_uma.is_none() {
            // What was found followed from UMA being no.
            let why = "UMA was set, and nothing says whether it is cache-coherent; taken as no";
            report.cache_coherent_uma = Reported::undecided(false, why);
        }
        if report.cache_coherent_uma.value && !report.uma.value {
            if self.cache_coherent_uma.is_some() {
                report.uma = set(report.uma, true, "follows from CacheCoherentUMA, which was set");
            } else {
                report.cache_coherent_uma = set(report.cache_coherent_uma, false, "follows from UMA, which was set");
            }
        }
        Ok(report)
    }
}

fn set(found: Reported<bool>, value: bool, why: &'static str) -> Reported<bool> {
    Reported { value, from: Provenance::Override, certainty: Certainty::Decided, why, conflict: found.value != value }
}
