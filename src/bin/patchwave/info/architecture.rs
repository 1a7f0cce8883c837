//! What Direct3D 12 would say about an adapter, as JSON and as tables.

use super::grouped;
use comfy_table::{CellAlignment, Table, presets};
use patchwave::adapter::{
    AdapterFacts, ArchitectureReport, CpuPageProperty, HeapAdvice, HeapKinds, HeapType, MemoryPool, Reported,
    Residency, Segment, ZeroCopy, get_custom_heap_properties, gpu_upload_support, heap_advice, residency,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// One field in JSON.
#[derive(Serialize)]
pub(super) struct FieldJson {
    value: bool,
    provenance: String,
    certainty: String,
    undecided: bool,
    conflict: bool,
    reason: &'static str,
}

impl FieldJson {
    fn new(field: Reported<bool>) -> Self {
        Self {
            value: field.value,
            provenance: field.from.to_string(),
            certainty: field.certainty.to_string(),
            undecided: field.certainty == patchwave::adapter::Certainty::Undecided,
            conflict: field.conflict,
            reason: field.why,
        }
    }
}

/// The four fields in JSON, by name.
pub(super) fn fields_json(report: &ArchitectureReport) -> BTreeMap<&'static str, FieldJson> {
    report.fields().map(|(name, field)| (name, FieldJson::new(field))).into()
}

/// Everything in JSON. What is not known is null.
#[derive(Serialize)]
pub(super) struct ArchitectureJson {
    architecture: BTreeMap<&'static str, FieldJson>,
    driver_id: Option<String>,
    device_group: Option<GroupJson>,
    memory: Option<MemoryJson>,
    physical_memory: Option<u64>,
    segments: BTreeMap<&'static str, SegmentJson>,
    custom_heaps: BTreeMap<&'static str, HeapJson>,
    gpu_upload: FieldJson,
    advice: AdviceJson,
}

#[derive(Serialize)]
struct GroupJson {
    devices: u32,
    subset_allocation: Option<bool>,
}

#[derive(Serialize)]
struct MemoryJson {
    heaps: Vec<MemoryHeapJson>,
    types: Option<Vec<MemoryTypeJson>>,
}

#[derive(Serialize)]
struct MemoryHeapJson {
    size: Option<u64>,
    size_mib: Option<u64>,
    flags: u32,
    budget: Option<u64>,
    usage: Option<u64>,
}

#[derive(Serialize)]
struct MemoryTypeJson {
    flags: u32,
    heap: u32,
}

#[derive(Serialize)]
struct SegmentJson {
    size: Option<u64>,
    budget: Option<u64>,
    usage: Option<u64>,
    source: String,
}

#[derive(Serialize)]
struct HeapJson {
    cpu_page_property: &'static str,
    memory_pool: &'static str,
}

#[derive(Serialize)]
struct AdviceJson {
    kinds: &'static str,
    upload_page: &'static str,
    zero_copy_buffers: &'static str,
    zero_copy_textures: &'static str,
    certainty: String,
    words: &'static str,
}

/// The heap types that have a custom equivalent, by their names in Direct3D 12.
const HEAP_TYPES: [(&str, HeapType); 4] = [
    ("DEFAULT", HeapType::Default),
    ("UPLOAD", HeapType::Upload),
    ("READBACK", HeapType::Readback),
    ("GPU_UPLOAD", HeapType::GpuUpload),
];

fn page_name(page: CpuPageProperty) -> &'static str {
    match page {
        CpuPageProperty::Unknown => "UNKNOWN",
        CpuPageProperty::NotAvailable => "NOT_AVAILABLE",
        CpuPageProperty::WriteCombine => "WRITE_COMBINE",
        CpuPageProperty::WriteBack => "WRITE_BACK",
    }
}

fn pool_name(pool: MemoryPool) -> &'static str {
    match pool {
        MemoryPool::Unknown => "UNKNOWN",
        MemoryPool::L0 => "L0",
        MemoryPool::L1 => "L1",
    }
}

fn kinds_name(kinds: HeapKinds) -> &'static str {
    match kinds {
        HeapKinds::Three => "three",
        HeapKinds::ThreeThenMeasure => "three, then measure",
        HeapKinds::UploadEverywhere => "upload everywhere",
        _ => "unknown",
    }
}

fn zero_copy_name(zero_copy: ZeroCopy) -> &'static str {
    match zero_copy {
        ZeroCopy::Pays => "pays",
        ZeroCopy::Measure => "measure",
        ZeroCopy::No => "does not pay",
        ZeroCopy::NotOffered => "not offered by the adapter",
        _ => "unknown",
    }
}

/// What is said of textures on every adapter.
const NO_ZERO_COPY_TEXTURES: &str = "never: wgpu has no texture that can be mapped";

fn custom_heaps(report: &ArchitectureReport) -> anyhow::Result<Vec<(&'static str, HeapJson)>> {
    let of = |(name, heap_type)| {
        let properties = get_custom_heap_properties(report, 1, 0, heap_type)?;
        let json = HeapJson {
            cpu_page_property: page_name(properties.cpu_page_property),
            memory_pool: pool_name(properties.memory_pool),
        };
        Ok((name, json))
    };
    HEAP_TYPES.into_iter().map(of).collect()
}

pub(super) fn to_json(facts: &AdapterFacts, report: &ArchitectureReport) -> anyhow::Result<ArchitectureJson> {
    let memory = facts.memory.as_ref().map(|memory| MemoryJson {
        heaps: memory
            .heaps
            .iter()
            .map(|heap| MemoryHeapJson {
                size: heap.size,
                size_mib: heap.size.map(|size| size >> 20),
                flags: heap.flags.0,
                budget: heap.budget,
                usage: heap.usage,
            })
            .collect(),
        types: memory
            .types
            .as_ref()
            .map(|types| types.iter().map(|kind| MemoryTypeJson { flags: kind.flags.0, heap: kind.heap }).collect()),
    });
    let HeapAdvice { kinds, upload_page, zero_copy_buffers, certainty, words, .. } = heap_advice(facts, report);
    let Residency { local, non_local, .. } = residency(facts, report);
    let segment = |segment: Segment| SegmentJson {
        size: segment.size,
        budget: segment.budget,
        usage: segment.usage,
        source: segment.from.to_string(),
    };
    Ok(ArchitectureJson {
        architecture: fields_json(report),
        driver_id: facts.driver_id.map(|driver| driver.to_string()),
        device_group: facts
            .device_group
            .map(|group| GroupJson { devices: group.devices, subset_allocation: group.subset_allocation }),
        memory,
        physical_memory: facts.physical_memory,
        segments: [("local", segment(local)), ("non_local", segment(non_local))].into(),
        custom_heaps: custom_heaps(report)?.into_iter().collect(),
        gpu_upload: FieldJson::new(gpu_upload_support(facts, report)),
        advice: AdviceJson {
            kinds: kinds_name(kinds),
            upload_page: page_name(upload_page),
            zero_copy_buffers: zero_copy_name(zero_copy_buffers),
            zero_copy_textures: NO_ZERO_COPY_TEXTURES,
            certainty: certainty.to_string(),
            words,
        },
    })
}

/// The same as tables for a person.
pub(super) fn to_text(facts: &AdapterFacts, report: &ArchitectureReport) -> anyhow::Result<String> {
    let mut text = String::new();
    if let Some(group) = facts.device_group {
        let devices = group.devices;
        text += &format!("linked with others by the driver: {}\n", if devices > 1 { "yes" } else { "no" });
        if devices > 1 {
            text += &format!("devices in the group: {devices}, of which wgpu drives one\n");
        }
    }

    let mut table = new_table(["architecture", "is", "from", "certainty", "because"]);
    for (name, field) in report.fields() {
        let why = if field.conflict { format!("{}; another signal disagrees", field.why) } else { field.why.into() };
        let (from, certainty) = (field.from.to_string(), field.certainty.to_string());
        table.add_row([name.to_owned(), yes_no(field.value).to_owned(), from, certainty, why]);
    }
    text += &(table.to_string() + "\n");

    let Residency { local, non_local, .. } = residency(facts, report);
    let mut table = new_table(["memory segment", "size, MiB", "budget, MiB", "used, MiB", "budget from"]);
    for (name, segment) in [("LOCAL", local), ("NON_LOCAL", non_local)] {
        let row = [segment.size, segment.budget, segment.usage].map(mebibytes);
        let [size, budget, usage] = row;
        table.add_row([name.to_owned(), size, budget, usage, segment.from.to_string()]);
    }
    right(&mut table, 1..=3);
    text += &(table.to_string() + "\n");

    if let Some(memory) = &facts.memory {
        let mut table = new_table(["driver's heap", "size, MiB", "device local", "types (flags)"]);
        for (index, heap) in memory.heaps.iter().enumerate() {
            let local = heap.flags.contains(patchwave::adapter::HeapFlags::DEVICE_LOCAL);
            let types = memory.types.as_ref().map_or_else(
                || "unknown".to_owned(),
                |types| {
                    let of_heap = types.iter().filter(|kind| usize::try_from(kind.heap) == Ok(index));
                    of_heap.map(|kind| format!("{:x}", kind.flags.0)).collect::<Vec<_>>().join(" ")
                },
            );
            table.add_row([index.to_string(), mebibytes(heap.size), yes_no(local).to_owned(), types]);
        }
        right(&mut table, 1..=1);
        text += &(table.to_string() + "\n");
    }

    let mut table = new_table(["heap type", "custom equivalent"]);
    for (name, heap) in custom_heaps(report)? {
        table.add_row([name.to_owned(), format!("{}, {}", heap.cpu_page_property, heap.memory_pool)]);
    }
    let upload = gpu_upload_support(facts, report);
    table.add_row(["GPU_UPLOAD there".to_owned(), format!("{} ({})", yes_no(upload.value), upload.why)]);
    let advice = heap_advice(facts, report);
    table.add_row(["advice", advice.words]);
    table.add_row(["buffers without a copy", zero_copy_name(advice.zero_copy_buffers)]);
    table.add_row(["textures without a copy", NO_ZERO_COPY_TEXTURES]);
    Ok(text + &table.to_string() + "\n")
}

pub(super) fn new_table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(header);
    table
}

fn right(table: &mut Table, columns: std::ops::RangeInclusive<usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

pub(super) fn yes_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

fn mebibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unknown".to_owned(), |bytes| grouped(bytes >> 20))
}
