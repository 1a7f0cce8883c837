//! Recorded layouts: the facts of machines that one does not have, as JSON.

use super::facts::{AdapterFacts, DriverId, HeapFlags, MemoryHeap, MemoryLayout, MemoryType, TypeFlags};
use serde::Deserialize;
use std::collections::HashSet;
use wgpu::{Backend, DeviceType};

/// One recorded adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedLayout {
    /// What it is called in its file.
    pub id: String,
    /// What was recorded. What was not is unknown.
    pub facts: AdapterFacts,
    /// What is known of the true answer.
    pub expected: ExpectedArchitecture,
}

/// The fields as a machine is known or argued to have them; `None` where that is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpectedArchitecture {
    /// Whether it renders tile by tile.
    #[serde(default)]
    pub tile_based_renderer: Option<bool>,
    /// Whether CPU and GPU have one memory.
    #[serde(default)]
    pub uma: Option<bool>,
    /// Whether that memory is cache-coherent.
    #[serde(default)]
    pub cache_coherent_uma: Option<bool>,
    /// Whether the GPU goes past the CPU's page tables.
    #[serde(default)]
    pub isolated_mmu: Option<bool>,
}

/// Why recorded layouts could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The text is not JSON of this form.
    #[error("not a file of recorded layouts ({{\"entries\": [{{\"id\": …}}, …]}}): {0}")]
    Json(#[from] serde_json::Error),
    /// A value that means nothing.
    #[error("layout '{id}': {reason}")]
    Value {
        /// The layout.
        id: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

#[derive(Deserialize)]
struct File {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    backend: Option<String>,
    #[serde(default)]
    vendor_id: Option<u32>,
    #[serde(default)]
    device_id: Option<u32>,
    #[serde(default)]
    device_type: Option<String>,
    #[serde(default)]
    driver_id: Option<String>,
    #[serde(default)]
    heaps: Option<Vec<Heap>>,
    #[serde(default)]
    types: Option<Vec<Type>>,
    #[serde(default)]
    expected: Option<ExpectedArchitecture>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Heap {
    #[serde(default)]
    size_mib: Option<u64>,
    flags: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Type {
    flags: u32,
    heap: u32,
}

/// Reads a file of recorded layouts: an object with a list `entries`, of objects with
///
/// - `id`, the only one that must be there, and `name`;
/// - `device_type`: `DISCRETE`, `INTEGRATED`, `VIRTUAL`, `CPU` or `OTHER`;
/// - `vendor_id`, `device_id`: numbers; `driver_id`: the name in Vulkan's registry without `VK_DRIVER_ID_`. A driver that
///   is not in the registry's list as this version knows it counts as an unknown one;
/// - `heaps`: a list of `{"size_mib", "flags"}`, `types`: a list of `{"flags", "heap"}`, in Vulkan's flags;
/// - `backend`: `vulkan`, `dx12`, `metal` or `gl`; without it Vulkan, or Direct3D 12 where `kind` is `d3d12_report`;
/// - `expected`: the four fields, true or false.
///
/// `null` is as good as nothing. Other keys of a layout or of the file are for people; in heaps, types and `expected` there
/// are none.
///
/// # Errors
///
/// [`LayoutError`] for what is not that: other JSON, two layouts of one id, a type of a heap that is not there, an unknown
/// device type or backend.
pub fn read_layouts(text: &str) -> Result<Vec<RecordedLayout>, LayoutError> {
    let file: File = serde_json::from_str(text)?;
    let mut ids = HashSet::new();
    let mut layouts = Vec::with_capacity(file.entries.len());
    for entry in file.entries {
        let id = entry.id.clone();
        if !ids.insert(id.clone()) {
            return Err(LayoutError::Value { id, reason: "there are two of this id; give each its own".to_owned() });
        }
        layouts.push(entry.read().map_err(|reason| LayoutError::Value { id, reason })?);
    }
    Ok(layouts)
}

impl Entry {
    fn read(self) -> Result<RecordedLayout, String> {
        let device_type = device_type(self.device_type.as_deref())?;
        let backend = match self.backend.as_deref() {
            None if self.kind.as_deref() == Some("d3d12_report") => Backend::Dx12,
            None | Some("vulkan") => Backend::Vulkan,
            Some("dx12") => Backend::Dx12,
            Some("metal") => Backend::Metal,
            Some("gl") => Backend::Gl,
            Some(other) => return Err(format!("backend is '{other}'; it must be vulkan, dx12, metal or gl")),
        };
        let mut info = wgpu::AdapterInfo::new(device_type, backend);
        info.name = self.name.unwrap_or_default();
        info.vendor = self.vendor_id.unwrap_or_default();
        info.device = self.device_id.unwrap_or_default();
        info.driver = self.driver_id.unwrap_or_default();
        let mut facts = AdapterFacts::from_info(&info);
        facts.driver_id = DriverId::from_name(info.driver.strip_prefix("VK_DRIVER_ID_").unwrap_or(&info.driver));
        facts.memory = match self.heaps {
            Some(heaps) => Some(memory(&heaps, self.types)?),
            None if self.types.is_some() => return Err("it has types and no heaps; give both".to_owned()),
            None => None,
        };
        Ok(RecordedLayout { id: self.id, facts, expected: self.expected.unwrap_or_default() })
    }
}

fn device_type(name: Option<&str>) -> Result<DeviceType, String> {
    Ok(match name {
        Some("DISCRETE") => DeviceType::DiscreteGpu,
        Some("INTEGRATED") => DeviceType::IntegratedGpu,
        Some("VIRTUAL") => DeviceType::VirtualGpu,
        Some("CPU") => DeviceType::Cpu,
        Some("OTHER") | None => DeviceType::Other,
        Some(other) => {
            return Err(format!("device_type is '{other}'; it must be DISCRETE, INTEGRATED, VIRTUAL, CPU or OTHER"));
        }
    })
}

fn memory(heaps: &[Heap], types: Option<Vec<Type>>) -> Result<MemoryLayout, String> {
    const MIB: u64 = 1 << 20;
    let read = |heap: &Heap| {
        let size = match heap.size_mib {
            None => None,
            Some(mib) => Some(mib.checked_mul(MIB).ok_or_else(|| format!("a heap of {mib} MiB cannot be"))?),
        };
        Ok(MemoryHeap { size, flags: HeapFlags(heap.flags), ..MemoryHeap::default() })
    };
    let heaps = heaps.iter().map(read).collect::<Result<Vec<_>, String>>()?;
    let place = |kind: Type| {
        if usize::try_from(kind.heap).is_ok_and(|heap| heap < heaps.len()) {
            Ok(MemoryType { flags: TypeFlags(kind.flags), heap: kind.heap })
        } else {
            Err(format!("a type is of heap {}; there are {}, counted from 0", kind.heap, heaps.len()))
        }
    };
    let types = types.map(|types| types.into_iter().map(place).collect::<Result<Vec<_>, _>>()).transpose()?;
    Ok(MemoryLayout { heaps, types })
}
