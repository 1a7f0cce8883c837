//! The memory layouts that `shaders/state.wgsl` and `shaders/records.wgsl` declare, on the Rust side. A test compares
//! both by naga.

use bytemuck::{Pod, Zeroable};

use crate::tessellator::Domain;

/// Draw and chunk entries of a workspace between two resets (`PW_SLOTS`).
pub(crate) const SLOTS: u32 = 1024;
/// Output chunks of a workspace (`PW_CHUNKS`).
pub(crate) const CHUNKS: u32 = 256;
/// Vertex buffer slots of a pipeline: WebGPU's own limit.
pub(crate) const VERTEX_BUFFERS: usize = 8;

/// Words of a threadgroup's record (`PW_GROUP_WORDS`).
pub(crate) const GROUP_WORDS: u32 = 8;
/// Threadgroups of a block of the scan (`PW_BLOCK`).
pub(crate) const BLOCK: u32 = 1024;
/// Lanes of a wave of the emulated machine (`PW_WAVE`).
pub(crate) const WAVE: u32 = 64;
/// The least waves of an item of the domain pass and primitives of an item of the connectivity pass.
pub(crate) const SMALL_ITEM: Item = Item { waves: 8, primitives: 512 };
/// The most.
const LARGE_ITEM: Item = Item { waves: 64, primitives: 8192 };
/// What a processor takes: it has few lanes to keep busy.
const PROCESSOR_ITEM: Item = Item { waves: 16, primitives: 2048 };
/// Items that keep a large device busy, of waves and of primitives: some times as many workgroups as an H200 runs at once.
const BUSY_ITEMS: Item = Item { waves: 2048, primitives: 4096 };

/// What one workgroup of a pass takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) waves: u32,
    pub(crate) primitives: u32,
}

impl Item {
    /// The items of a draw into a chunk with this room: as large as leaves enough of them, since large items load a patch
    /// less often and find more patches alike.
    pub(crate) fn for_draw(on_processor: bool, vertices: u32, primitives: u32) -> Self {
        if on_processor {
            return PROCESSOR_ITEM;
        }
        let size = |work: u32, busy: u32, small: u32, large: u32| {
            let size = (work / busy).clamp(small, large);
            1 << size.ilog2()
        };
        Self {
            waves: size(vertices / WAVE, BUSY_ITEMS.waves, SMALL_ITEM.waves, LARGE_ITEM.waves),
            primitives: size(primitives, BUSY_ITEMS.primitives, SMALL_ITEM.primitives, LARGE_ITEM.primitives),
        }
    }
}

/// Words of a patch's record before its factors (`PW_PATCH_FACTORS`).
pub(crate) const PATCH_HEADER_WORDS: u32 = 4;

/// Words of a patch's record (`PW_PATCH_WORDS`).
pub(crate) fn patch_words(domain: Domain) -> u32 {
    PATCH_HEADER_WORDS + domain.factor_count() as u32
}

/// `PwUsed`, two `PwSlot`s a slot: where the words of the state buffer begin, in bytes.
pub(crate) const USED_BYTES: u64 = CHUNKS as u64 * 8;
pub(crate) const SLOT_BYTES: u64 = 2 * size_of::<Slot>() as u64;
pub(crate) const WORDS_OFFSET: u64 = USED_BYTES + SLOTS as u64 * SLOT_BYTES;
/// Records of one indirect draw.
pub(crate) const MAX_RECORDS: u32 = 64;

/// `PwArguments`.
pub(crate) const ARGUMENT_BYTES: u64 = 96;
pub(crate) const DOMAIN_ARGUMENTS: u64 = 20;
pub(crate) const CONNECTIVITY_ARGUMENTS: u64 = 32;
pub(crate) const HULL_ARGUMENTS: u64 = 44;
pub(crate) const STREAM_ARGUMENTS: u64 = 56;
pub(crate) const STREAM_DRAW_ARGUMENTS: u64 = 68;

/// Dispatches of a draw read their parameters at dynamic offsets: one entry a role.
pub(crate) const PARAMS_STRIDE: u64 = 1024;

/// Patches that a threadgroup has at most: entries of `on_chip_below`.
pub(crate) const MAX_PATCHES: u32 = 64;

pub(crate) const MODE_ON_CHIP: u32 = 0;
pub(crate) const MODE_DYNAMIC: u32 = 1;

/// `PW_READING_*`; the low byte is the number of factors that are averaged.
pub(crate) const READING_CULLED_EXCLUDED: u32 = 0x100;
pub(crate) const READING_CULLED_AS_THEY_ARE: u32 = 0x200;
pub(crate) const READING_RAW: u32 = 0x400;

pub(crate) const ROLE_HULL: u32 = 0;
pub(crate) const ROLE_DOMAIN: u32 = 1;

/// No patch table: patches follow one another without gaps (`PW_NO_TABLE`).
pub(crate) const NO_TABLE: u32 = u32::MAX;

/// A patch record that strip cuts have left without a patch has this as its vertex base (`PW_NO_PATCH`).
pub(crate) const NO_PATCH: u32 = u32::MAX;

/// `PwParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Params {
    pub(crate) role: u32,
    pub(crate) mode: u32,
    pub(crate) slot: u32,
    pub(crate) chunk: u32,
    pub(crate) first_threadgroup: u32,
    pub(crate) threadgroups: u32,
    pub(crate) patches_per_threadgroup: u32,
    pub(crate) patches_per_instance: u32,
    pub(crate) threadgroups_per_instance: u32,
    pub(crate) first_patch: u32,
    pub(crate) patches: u32,
    pub(crate) two_levels: u32,
    pub(crate) threadgroup_records: u32,
    pub(crate) patch_records: u32,
    pub(crate) block_sums: u32,
    pub(crate) queue: u32,
    pub(crate) vertex_capacity: u32,
    pub(crate) primitive_capacity: u32,
    pub(crate) queue_capacity: u32,
    pub(crate) off_chip_capacity: u32,
    pub(crate) first_vertex: u32,
    pub(crate) base_vertex: i32,
    pub(crate) first_instance: u32,
    pub(crate) index_kind: u32,
    pub(crate) index_offset: u32,
    pub(crate) index_count: u32,
    pub(crate) ds_wave_threshold: u32,
    pub(crate) connectivity_items: u32,
    pub(crate) connectivity_capacity: u32,
    pub(crate) slots: u32,
    pub(crate) item_waves: u32,
    pub(crate) item_primitives: u32,
    pub(crate) on_chip_below: [[u32; 4]; 32],
    pub(crate) vertex_buffers: [[u32; 4]; VERTEX_BUFFERS],
    pub(crate) patch_table: u32,
    pub(crate) draw_indices: u32,
    pub(crate) readings: u32,
    pub(crate) first_patch_id: u32,
    pub(crate) indirect_offset: u32,
    pub(crate) indirect_stride: u32,
    pub(crate) most_patches: u32,
    pub(crate) most_threadgroups: u32,
    pub(crate) is_first: u32,
    pub(crate) primitive_counts: u32,
    pub(crate) spare: [u32; 2],
}

const _: () = assert!(size_of::<Params>() as u64 <= PARAMS_STRIDE && size_of::<Params>().is_multiple_of(16));

/// `PwSlot`: what the GPU counts for one chunk of one draw; each has two entries, of which one is in use.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Slot {
    pub(crate) vertices: u32,
    pub(crate) vertices_high: u32,
    pub(crate) queue: u32,
    pub(crate) off_chip: u32,
    pub(crate) overflow: u32,
    pub(crate) primitives: u32,
    pub(crate) primitives_high: u32,
    pub(crate) vertex_start: u32,
    pub(crate) primitive_start: u32,
    pub(crate) threadgroups: u32,
    pub(crate) connectivity: u32,
    pub(crate) patches: u32,
    pub(crate) patches_per_instance: u32,
    /// In the first entry of the two: the one that the draw counted in, and the one for the next draw.
    pub(crate) now: u32,
    pub(crate) next: u32,
    pub(crate) spare: u32,
}

/// What was counted for the chunks of a draw, out of the two entries of each.
pub(crate) fn slots_of(bytes: &[u8]) -> Vec<Slot> {
    let entries: Vec<Slot> = bytemuck::pod_collect_to_vec(bytes);
    entries.chunks_exact(2).map(|entries| if entries[0].now == 0 { entries[0] } else { entries[1] }).collect()
}

pub(crate) const OVERFLOW_VERTICES: u32 = 1;
pub(crate) const OVERFLOW_PRIMITIVES: u32 = 2;
pub(crate) const OVERFLOW_OFF_CHIP: u32 = 4;
pub(crate) const OVERFLOW_ITEMS: u32 = 8;
pub(crate) const OVERFLOW_PATCHES: u32 = 16;
pub(crate) const OVERFLOW_THREADGROUPS: u32 = 32;

const _: () = assert!(size_of::<Slot>() == 64);

/// A threadgroup's record (`PW_GROUP_*`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct GroupRecord {
    pub(crate) points: u32,
    pub(crate) primitives: u32,
    pub(crate) vertex_base: u32,
    pub(crate) sum_low: u32,
    pub(crate) sum_high: u32,
    pub(crate) off_chip: u32,
    /// In the lower half; above it the patches that there are, which strip cuts can make fewer than was planned.
    pub(crate) culled_and_patches: u32,
    pub(crate) primitive_base: u32,
}

const _: () = assert!(size_of::<GroupRecord>() == GROUP_WORDS as usize * 4);
