//! Direct3D 12's heap properties: what a heap type is on an architecture, and which custom ones may be.

use super::facts::{AdapterFacts, HeapFlags, TypeFlags};
use super::nodes::all_nodes;
use super::report::{ArchitectureReport, Certainty, Provenance, Reported};
use bytemuck::{CheckedBitPattern, NoUninit};

/// `D3D12_HEAP_TYPE`. The values are Direct3D 12's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, NoUninit, CheckedBitPattern)]
#[repr(u32)]
pub enum HeapType {
    /// For the GPU alone.
    Default = 1,
    /// Written by the CPU, read by the GPU.
    Upload = 2,
    /// Written by the GPU, read by the CPU.
    Readback = 3,
    /// What the other fields say.
    Custom = 4,
    /// The GPU's own memory, written by the CPU.
    GpuUpload = 5,
}

/// `D3D12_CPU_PAGE_PROPERTY`. The values are Direct3D 12's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, NoUninit, CheckedBitPattern)]
#[repr(u32)]
pub enum CpuPageProperty {
    /// As the heap type implies.
    Unknown = 0,
    /// The CPU cannot map it.
    NotAvailable = 1,
    /// The CPU's writes are combined and its reads slow.
    WriteCombine = 2,
    /// The CPU caches it.
    WriteBack = 3,
}

/// `D3D12_MEMORY_POOL`. The values are Direct3D 12's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, NoUninit, CheckedBitPattern)]
#[repr(u32)]
pub enum MemoryPool {
    /// As the heap type implies.
    Unknown = 0,
    /// The machine's memory; the only pool where memory is unified.
    L0 = 1,
    /// The GPU's own memory.
    L1 = 2,
}

/// `D3D12_HEAP_PROPERTIES`, 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, NoUninit, CheckedBitPattern)]
#[repr(C)]
pub struct HeapProperties {
    /// What kind of heap.
    pub heap_type: HeapType,
    /// How the CPU sees it; of custom heaps.
    pub cpu_page_property: CpuPageProperty,
    /// Where it lies; of custom heaps.
    pub memory_pool: MemoryPool,
    /// The node it is made on: one bit. 0 means 1.
    pub creation_node_mask: u32,
    /// The nodes that see it, the one it is made on among them. 0 means 1.
    pub visible_node_mask: u32,
}

/// Why heap properties were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeapError {
    /// `GetCustomHeapProperties` of CUSTOM.
    #[error("CUSTOM has no custom equivalent; ask for DEFAULT, UPLOAD, READBACK or GPU_UPLOAD")]
    CustomOfCustom,
    /// A mask that is not one node of those there are.
    #[error("{what} is {mask:#x}; it must be one bit of the lowest {node_count}, or 0 for node 0")]
    NodeMask {
        /// Which mask.
        what: &'static str,
        /// Its value.
        mask: u32,
        /// How many nodes there are.
        node_count: u32,
    },
    /// A visible mask without the creation mask, or with nodes that are not there.
    #[error(
        "VisibleNodeMask is {visible:#x} (0 counts as 1); it must contain CreationNodeMask, {creation:#x}, and only the lowest {node_count} bits"
    )]
    VisibleNodeMask {
        /// The creation mask, with 0 taken as 1.
        creation: u32,
        /// The visible mask as given.
        visible: u32,
        /// How many nodes there are.
        node_count: u32,
    },
    /// Properties that Direct3D 12 refuses for a heap.
    #[error("E_INVALIDARG: {heap_type:?} with {page:?} and {pool:?}: {reason}")]
    Properties {
        /// The heap type.
        heap_type: HeapType,
        /// The CPU page property.
        page: CpuPageProperty,
        /// The memory pool.
        pool: MemoryPool,
        /// What is wrong and what would be right.
        reason: &'static str,
    },
}

/// `GetCustomHeapProperties`: the CUSTOM heap that a heap type is on this architecture.
///
/// `node_mask` is 0 on an adapter of one node, else the bit of the node; the result has it in both masks. (For other
/// nodes than the first that is an assumption: no account of a real driver was found.) `GPU_UPLOAD` is answered even
/// where [`gpu_upload_support`] says no.
///
/// # Errors
///
/// [`HeapError::CustomOfCustom`] and [`HeapError::NodeMask`]; Direct3D 12 has only debug messages for these.
pub fn get_custom_heap_properties(
    report: &ArchitectureReport,
    node_count: u32,
    node_mask: u32,
    heap_type: HeapType,
) -> Result<HeapProperties, HeapError> {
    let node = one_node("nodeMask", node_mask, node_count)?;
    let (uma, coherent) = (report.uma.value, report.cache_coherent_uma.value);
    let uploaded = if coherent { CpuPageProperty::WriteBack } else { CpuPageProperty::WriteCombine };
    let own = if uma { MemoryPool::L0 } else { MemoryPool::L1 };
    let (cpu_page_property, memory_pool) = match heap_type {
        HeapType::Default => (CpuPageProperty::NotAvailable, own),
        HeapType::Upload => (uploaded, MemoryPool::L0),
        HeapType::Readback => (CpuPageProperty::WriteBack, MemoryPool::L0),
        HeapType::GpuUpload => (uploaded, own),
        HeapType::Custom => return Err(HeapError::CustomOfCustom),
    };
    Ok(HeapProperties {
        heap_type: HeapType::Custom,
        cpu_page_property,
        memory_pool,
        creation_node_mask: node,
        visible_node_mask: node,
    })
}

impl HeapProperties {
    /// Whether Direct3D 12 would make a heap of these properties; `gpu_upload` is whether it has heaps of GPU_UPLOAD.
    ///
    /// Types other than CUSTOM with a page property or pool of their own are refused. What drivers do with them was not
    /// found out; some let them pass.
    ///
    /// # Errors
    ///
    /// [`HeapError`], which says what is wrong.
    pub fn check(&self, report: &ArchitectureReport, node_count: u32, gpu_upload: bool) -> Result<(), HeapError> {
        let creation = one_node("CreationNodeMask", self.creation_node_mask, node_count)?;
        let visible = self.visible_node_mask.max(1);
        if visible & creation != creation || visible & !all_nodes(node_count) != 0 {
            return Err(HeapError::VisibleNodeMask { creation, visible: self.visible_node_mask, node_count });
        }
        let (page, pool) = (self.cpu_page_property, self.memory_pool);
        let refused = |reason| HeapError::Properties { heap_type: self.heap_type, page, pool, reason };
        if self.heap_type != HeapType::Custom {
            if page != CpuPageProperty::Unknown || pool != MemoryPool::Unknown {
                return Err(refused("page property and pool are for CUSTOM; here they must be UNKNOWN"));
            }
            if self.heap_type == HeapType::GpuUpload && !gpu_upload {
                return Err(refused("the adapter has no GPU_UPLOAD heaps; use UPLOAD"));
            }
            return Ok(());
        }
        if page == CpuPageProperty::Unknown {
            return Err(refused("a custom heap needs a CPU page property"));
        }
        match pool {
            MemoryPool::Unknown => Err(refused("a custom heap needs a memory pool")),
            MemoryPool::L0 => Ok(()),
            MemoryPool::L1 if report.uma.value => Err(refused("there is no L1 where memory is unified; use L0")),
            MemoryPool::L1 => match page {
                CpuPageProperty::WriteBack => Err(refused("the CPU does not cache L1; use WRITE_COMBINE or L0")),
                CpuPageProperty::WriteCombine if !gpu_upload => {
                    Err(refused("the CPU cannot map all of L1 on this adapter; use NOT_AVAILABLE or L0"))
                }
                _ => Ok(()),
            },
        }
    }
}

/// The one bit of a mask, 0 taken as 1.
fn one_node(what: &'static str, mask: u32, node_count: u32) -> Result<u32, HeapError> {
    let bit = mask.max(1);
    if bit.is_power_of_two() && bit & all_nodes(node_count) != 0 {
        Ok(bit)
    } else {
        Err(HeapError::NodeMask { what, mask, node_count })
    }
}

/// Whether the CPU can map all of the GPU's memory: `GPUUploadHeapSupported` of Direct3D 12's OPTIONS16.
///
/// With unified memory it follows; else Vulkan's largest device-local heap must have a coherent host-visible type. A
/// window of a few hundred MiB beside it, which cards without resizable BAR have, does not count.
pub fn gpu_upload_support(facts: &AdapterFacts, report: &ArchitectureReport) -> Reported<bool> {
    if report.uma.value {
        let why = "all memory is the CPU's as well";
        return Reported { certainty: report.uma.certainty, ..Reported::new(true, report.uma.from, why) };
    }
    let layout = facts.memory.as_ref().and_then(|memory| Some((&memory.heaps, memory.types.as_ref()?)));
    let Some((heaps, types)) = layout else {
        return Reported::undecided(false, "the memory types are not known; taken as no");
    };
    let local = heaps.iter().enumerate().filter(|(_, heap)| heap.flags.contains(HeapFlags::DEVICE_LOCAL));
    let Some((largest, _)) = local.max_by_key(|(_, heap)| heap.size) else {
        return Reported::new(false, Provenance::MemoryTypes, "there is no heap of the device");
    };
    let mapped = types.iter().any(|kind| {
        usize::try_from(kind.heap) == Ok(largest)
            && kind.flags.contains(TypeFlags::HOST_VISIBLE | TypeFlags::HOST_COHERENT)
    });
    let why = if mapped {
        "the device's largest heap is visible to the CPU"
    } else {
        "the device's largest heap is not visible to the CPU"
    };
    Reported::new(mapped, Provenance::MemoryTypes, why)
}

/// Which heap kinds an application is best served by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeapKinds {
    /// Keep DEFAULT, UPLOAD and READBACK apart and copy between them.
    Three,
    /// Keep the three; for what CPU and GPU both touch, try a single heap and measure.
    ThreeThenMeasure,
    /// The custom equivalent of UPLOAD may serve for everything.
    UploadEverywhere,
}

/// Whether it pays that CPU and GPU use one buffer without a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ZeroCopy {
    /// As a rule.
    Pays,
    /// For some uses; measure.
    Measure,
    /// No: the GPU would read over the bus.
    No,
    /// It would, but the adapter lacks `MAPPABLE_PRIMARY_BUFFERS`, or it is not known.
    NotOffered,
}

/// What Direct3D 12's documentation advises for an architecture, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapAdvice {
    /// Which heaps to use.
    pub kinds: HeapKinds,
    /// How the CPU should see what it uploads. wgpu's own upload buffers on Direct3D 12 are WRITE_COMBINE regardless.
    pub upload_page: CpuPageProperty,
    /// Whether buffers without copies pay. Textures never come without: wgpu has no texture that can be mapped.
    pub zero_copy_buffers: ZeroCopy,
    /// How sure the architecture is that this follows from.
    pub certainty: Certainty,
    /// The same in words.
    pub words: &'static str,
}

/// What the architecture advises.
pub fn heap_advice(facts: &AdapterFacts, report: &ArchitectureReport) -> HeapAdvice {
    let (kinds, upload_page, pays, words) = match (report.uma.value, report.cache_coherent_uma.value) {
        (false, _) => (
            HeapKinds::Three,
            CpuPageProperty::WriteCombine,
            ZeroCopy::No,
            "keep DEFAULT, UPLOAD and READBACK apart and copy: what the GPU uses often belongs in its own memory",
        ),
        (true, false) => (
            HeapKinds::ThreeThenMeasure,
            CpuPageProperty::WriteCombine,
            ZeroCopy::Measure,
            "keep the three heap kinds; upload memory is write-combined, slow to read back; a copy less may pay: measure",
        ),
        (true, true) => (
            HeapKinds::UploadEverywhere,
            CpuPageProperty::WriteBack,
            ZeroCopy::Pays,
            "one kind of heap, as UPLOAD is, may serve for everything; upload memory is cached, and a copy less pays",
        ),
    };
    let zero_copy_buffers = match pays {
        ZeroCopy::Pays | ZeroCopy::Measure if facts.mappable_primary_buffers != Some(true) => ZeroCopy::NotOffered,
        other => other,
    };
    let certainty = if report.uma.value { report.cache_coherent_uma.certainty } else { report.uma.certainty };
    HeapAdvice { kinds, upload_page, zero_copy_buffers, certainty, words }
}
