// What the passes share: the parameters of a draw, and the state buffer with its counters, records and queue.
// The Rust side of these layouts is src/pipeline/layout.rs.

const PW_ROLE_HULL: u32 = 0u;
const PW_ROLE_DOMAIN: u32 = 1u;

const PW_MODE_ON_CHIP: u32 = 0u;
const PW_MODE_DYNAMIC: u32 = 1u;

const PW_WAVE: u32 = 64u;

// How open questions of the console's documentation are read (docs/hardware.md); none of these bits by default.
const PW_READING_AVERAGED: u32 = 0xffu;        // A1: this many factors of a patch
const PW_READING_CULLED_EXCLUDED: u32 = 0x100u; // A2
const PW_READING_CULLED_AS_THEY_ARE: u32 = 0x200u;
const PW_READING_RAW: u32 = 0x400u;            // A3

// A draw that asked for more than the workspace holds: which room ran out.
const PW_OVERFLOW_VERTICES: u32 = 1u;
const PW_OVERFLOW_PRIMITIVES: u32 = 2u;
const PW_OVERFLOW_OFF_CHIP: u32 = 4u;
const PW_OVERFLOW_ITEMS: u32 = 8u;
const PW_OVERFLOW_PATCHES: u32 = 16u;
const PW_OVERFLOW_THREADGROUPS: u32 = 32u;

struct PwParams {
    role: u32,
    mode: u32,
    slot: u32,                       // the draw's two entries in `slots` and its one in the arguments
    chunk: u32,                      // the output chunk that the draw appends to

    first_threadgroup: u32,          // of the draw
    threadgroups: u32,               // that this dispatch covers
    patches_per_threadgroup: u32,
    patches_per_instance: u32,

    threadgroups_per_instance: u32,
    first_patch: u32,                // patch record that the first threadgroup begins with
    patches: u32,                    // that the threadgroups cover
    two_levels: u32,                 // 1: allocate scanned the threadgroups in blocks

    threadgroup_records: u32,        // offsets in words of `pw_state.words`
    patch_records: u32,
    block_sums: u32,
    queue: u32,

    vertex_capacity: u32,            // of the chunk
    primitive_capacity: u32,
    queue_capacity: u32,             // in items of the domain pass
    off_chip_capacity: u32,          // in threadgroups

    first_vertex: u32,               // of the draw; first index where it is indexed
    base_vertex: i32,
    first_instance: u32,
    index_kind: u32,                 // 0: not indexed, 1: u16, 2: u32

    index_offset: u32,               // where the index buffer begins, in bytes
    index_count: u32,                // indices that the buffer holds
    ds_wave_threshold: u32,
    connectivity_items: u32,         // offset in words of `pw_state.words`

    connectivity_capacity: u32,      // in items of the connectivity pass
    slots: u32,                      // entries of the draw, one a chunk, from `slot` of the first chunk on
    item_waves: u32,                 // of an item of the domain pass
    item_primitives: u32,            // of an item of the connectivity pass

    // A threadgroup of which n patches count stays on-chip iff the sum of their factors, in units of 2^-23, is below
    // entry n - 1: low and high word, two entries a vector. Under PW_READING_RAW the low word is a float.
    on_chip_below: array<vec4u, 32>,

    // Vertex buffer i: where it begins, the last element that lies wholly in it, its stride, whether there is such an
    // element. In words; in bytes where the stride is no multiple of 4.
    vertex_buffers: array<vec4u, 8>,

    // With strip cuts: where the number of patches of an instance and then the first index of each lie, in words of
    // `pw_state.words`; else PW_NO_TABLE. Indices of the draw.
    patch_table: u32,
    draw_indices: u32,
    readings: u32,                   // factors of a patch that are averaged, and PW_READING_* bits
    first_patch_id: u32,             // what the user's functions are told of the first patch of each instance

    // Of indirect draws: where the first record lies and how far apart records are, in words; what the caller said that
    // a record has at most.
    indirect_offset: u32,
    indirect_stride: u32,
    most_patches: u32,
    most_threadgroups: u32,

    // 1: the draw is the first in its chunk since the reset, and begins at its front whatever `used` says.
    is_first: u32,
    // Where the primitives of each threadgroup lie beside one another, in words of `pw_state.words`: whoever adds them up
    // reads an eighth of the memory that the records take.
    primitive_counts: u32,
}

const PW_NO_TABLE: u32 = 0xffffffffu;

// What a draw counts in. It has two of these, since the counters of one are cleared while the other's are used: clearing
// them before the draw would be a transfer that everything waits for. shaders/slots.wgsl tells which is whose.
struct PwSlot {
    vertices: atomic<u32>,           // that the draw's threadgroups asked for, 64 bits in two words
    vertices_high: atomic<u32>,
    queue: atomic<u32>,              // items of the domain pass asked for
    off_chip: atomic<u32>,           // threadgroups that went off-chip
    overflow: atomic<u32>,           // PW_OVERFLOW_* bits
    primitives: atomic<u32>,         // of the draw's threadgroups, 64 bits likewise
    primitives_high: atomic<u32>,
    vertex_start: u32,               // where the draw's vertices and primitives begin in its chunk
    primitive_start: u32,
    threadgroups: u32,
    connectivity: atomic<u32>,       // items of the connectivity pass asked for
    patches: u32,
    patches_per_instance: u32,
    now: u32,                        // in the first of the two: which one the draw counts in,
    next: u32,                       // and which one the next draw will
    spare: u32,
}

struct PwUsed {
    vertices: u32,
    primitives: u32,
}

struct PwState {
    used: array<PwUsed, PW_CHUNKS>,
    slots: array<PwSlot, 2u * PW_SLOTS>,
    words: array<u32>,
}

// A patch's record, in words: GCN's factor ring with what follows from the factors.
const PW_PATCH_WORDS: u32 = 4u + PW_FACTORS;
const PW_PATCH_VERTEX_BASE: u32 = 0u;    // PW_NO_PATCH where strip cuts have left no patch for the record
const PW_PATCH_PRIMITIVE_BASE: u32 = 1u; // within its threadgroup
const PW_PATCH_POINTS: u32 = 2u;
const PW_PATCH_PRIMITIVES: u32 = 3u;
const PW_PATCH_FACTORS: u32 = 4u;
const PW_NO_PATCH: u32 = 0xffffffffu;

// Threadgroups that one workgroup of allocate scans when the scan has two levels.
const PW_BLOCK: u32 = 1024u;

// Items that the hull pass lists for the passes after it, two words each: the threadgroup, and the first wave or
// primitive of it. An item is what one workgroup takes; how much that is, the parameters say.

// Words that a workgroup of the stream output writes.
const PW_STREAM_LANES: u32 = 256u;
const PW_STREAM_WORDS: u32 = 2048u;

// The words of a draw's entry in the arguments: what the caller's render pass draws with, then our own dispatches.
struct PwArguments {
    index_count: u32,
    instance_count: u32,
    first_index: u32,
    base_vertex: u32,
    first_instance: u32,
    domain: array<u32, 3>,
    connectivity: array<u32, 3>,
    hull: array<u32, 3>,             // of indirect draws
    stream: array<u32, 3>,
    // What the caller draws a stream output with.
    stream_vertices: u32,
    stream_instances: u32,
    stream_first_vertex: u32,
    stream_first_instance: u32,
    spare: array<u32, 3>,
}

// Workgroups of a one-dimensional dispatch, folded to stay within 65,535 a dimension with few empty ones.
fn pw_fold(workgroups: u32) -> array<u32, 3> {
    let rows = max((workgroups + 65534u) / 65535u, 1u);
    return array<u32, 3>((workgroups + rows - 1u) / rows, select(rows, 0u, workgroups == 0u), 1u);
}

// A one-dimensional index out of a dispatch that was folded to stay within 65,535 workgroups a dimension.
fn pw_workgroup_index(workgroup: vec3u, workgroups: vec3u) -> u32 {
    return workgroup.y * workgroups.x + workgroup.x;
}
