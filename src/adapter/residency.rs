//! Memory segment groups and their budgets: what `IDXGIAdapter3::QueryVideoMemoryInfo` would say.

use super::classify::used_heaps;
use super::facts::{AdapterFacts, HeapFlags, MemoryHeap, MemoryLayout, ReportedSegment, TypeFlags};
use super::report::ArchitectureReport;
use std::fmt;

/// The two memory segment groups of an adapter.
///
/// Where memory is unified there is one group, LOCAL, and NON_LOCAL has a size and a budget of 0, as on Direct3D 12. Where
/// it is not, LOCAL is the GPU's own memory and NON_LOCAL what it reaches of the machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Residency {
    /// `DXGI_MEMORY_SEGMENT_GROUP_LOCAL`.
    pub local: Segment,
    /// `DXGI_MEMORY_SEGMENT_GROUP_NON_LOCAL`.
    pub non_local: Segment,
}

/// One memory segment group. What is not known is `None`; a 0 is a 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// Bytes in all.
    pub size: Option<u64>,
    /// Bytes that this process may use.
    pub budget: Option<u64>,
    /// Bytes that this process uses.
    pub usage: Option<u64>,
    /// Where the budget comes from.
    pub from: BudgetSource,
}

/// Where a budget comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BudgetSource {
    /// The driver: `VK_EXT_memory_budget`, `QueryVideoMemoryInfo`, or Metal's recommended working set.
    Driver,
    /// Eight tenths of the size, the usual guess where a driver has no budget.
    HeapSizes,
    /// There is no such memory.
    NoSuchMemory,
    /// Nobody says.
    Unknown,
}

impl fmt::Display for BudgetSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Driver => "driver-reported",
            Self::HeapSizes => "8/10 of the heap sizes",
            Self::NoSuchMemory => "no such memory",
            Self::Unknown => "unknown",
        })
    }
}

impl Segment {
    const NONE: Self = Self { size: Some(0), budget: Some(0), usage: Some(0), from: BudgetSource::NoSuchMemory };
    const UNKNOWN: Self = Self { size: None, budget: None, usage: None, from: BudgetSource::Unknown };

    /// No more than the machine's memory, which some drivers report more than.
    fn capped(mut self, physical_memory: Option<u64>) -> Self {
        if let Some(most) = physical_memory {
            self.size = self.size.map(|size| size.min(most));
            self.budget = self.budget.map(|budget| budget.min(most));
        }
        self
    }

    fn of_reported(segment: ReportedSegment) -> Self {
        Self { size: None, budget: Some(segment.budget), usage: Some(segment.usage), from: BudgetSource::Driver }
    }

    fn of_heaps(heaps: &[MemoryHeap]) -> Self {
        if heaps.is_empty() {
            return Self::NONE;
        }
        let sum = |of: fn(&MemoryHeap) -> Option<u64>| {
            heaps.iter().map(of).try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)))
        };
        let (size, usage) = (sum(|heap| heap.size), sum(|heap| heap.usage));
        if let Some(budget) = sum(|heap| heap.budget) {
            return Self { size, budget: Some(budget), usage, from: BudgetSource::Driver };
        }
        match size {
            Some(bytes) => Self { size, budget: Some(bytes / 10 * 8), usage, from: BudgetSource::HeapSizes },
            None => Self { usage, ..Self::UNKNOWN },
        }
    }
}

/// The segment groups of an adapter, split as its architecture says.
pub fn residency(facts: &AdapterFacts, report: &ArchitectureReport) -> Residency {
    let uma = report.uma.value;
    let (local, non_local) = match (facts.local_segment, &facts.memory) {
        (Some(local), _) if uma => {
            let other = facts.non_local_segment.unwrap_or_default();
            let all = ReportedSegment {
                budget: local.budget.saturating_add(other.budget),
                usage: local.usage.saturating_add(other.usage),
            };
            (Segment::of_reported(all), Segment::NONE)
        }
        (Some(local), _) => {
            let non_local = facts.non_local_segment.map_or(Segment::UNKNOWN, Segment::of_reported);
            (Segment::of_reported(local), non_local)
        }
        // Heaps that no type is recorded for say nothing, which is not that there is no memory.
        (None, Some(memory)) if !used_heaps(memory).is_empty() => {
            let (local, non_local) = split(facts, memory, uma);
            (Segment::of_heaps(&local), Segment::of_heaps(&non_local))
        }
        (None, _) => (Segment::UNKNOWN, if uma { Segment::NONE } else { Segment::UNKNOWN }),
    };
    Residency { local: if uma { local.capped(facts.physical_memory) } else { local }, non_local }
}

/// The heaps of the two groups. Heaps that only protected or lazily allocated types use are in neither.
fn split(facts: &AdapterFacts, memory: &MemoryLayout, uma: bool) -> (Vec<MemoryHeap>, Vec<MemoryHeap>) {
    let used = used_heaps(memory);
    let is_local = |heap: usize| memory.heaps[heap].flags.contains(HeapFlags::DEVICE_LOCAL);
    let largest = used.iter().copied().filter(|&heap| is_local(heap)).max_by_key(|&heap| memory.heaps[heap].size);
    let (mut local, mut non_local) = (Vec::new(), Vec::new());
    for heap in used {
        // NVIDIA's window for the CPU is a part of the heap beside it, by the sizes that are reported; AMD's is not.
        let is_window = facts.vendor == 0x10DE && Some(heap) != largest && all_host_visible(memory, heap);
        if uma || (is_local(heap) && !is_window) {
            local.push(memory.heaps[heap]);
        } else if !is_local(heap) {
            non_local.push(memory.heaps[heap]);
        }
    }
    (local, non_local)
}

/// Whether the CPU sees all types of a heap.
fn all_host_visible(memory: &MemoryLayout, heap: usize) -> bool {
    memory.types.as_ref().is_some_and(|types| {
        types
            .iter()
            .filter(|kind| usize::try_from(kind.heap) == Ok(heap))
            .all(|kind| kind.flags.contains(TypeFlags::HOST_VISIBLE))
    })
}
