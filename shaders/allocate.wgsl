// Prefix sums over the threadgroups' primitives, so that primitives come out in patch order whatever order the
// threadgroups ran in; then what the draw needs against what there is, and the indirect arguments.
//
// Up to PW_BLOCK threadgroups: one workgroup of `pw_allocate_draw` alone. More: `pw_allocate_blocks` scans blocks of
// them first, a workgroup a block, and `pw_allocate_draw` scans the sums of the blocks. Small draws have all this done
// by `pw_finish` (shaders/finish.wgsl), and draws without indices, which need no sums, by `pw_close_draw`.
//
// Composed after pw_state and pw_arguments.

const PW_SCAN_LANES: u32 = 256u;
const PW_SCAN_ROW: u32 = 16u;

var<workgroup> pw_scan: array<u32, PW_SCAN_LANES>;
var<workgroup> pw_scan_rows: array<u32, PW_SCAN_LANES / PW_SCAN_ROW>;

// Exclusive sum of `value` over the lanes; x: this lane's, y: the total. Within rows of lanes, then over the rows: adding
// up a few values costs less than the barriers of a scan by doubling.
fn pw_scan_exclusive(lane: u32, value: u32) -> vec2u {
    workgroupBarrier();
    pw_scan[lane] = value;
    workgroupBarrier();
    let row = lane / PW_SCAN_ROW;
    var before = 0u;
    for (var i = row * PW_SCAN_ROW; i < lane; i++) {
        before += pw_scan[i];
    }
    if (lane % PW_SCAN_ROW == PW_SCAN_ROW - 1u) {
        pw_scan_rows[row] = before + value;
    }
    workgroupBarrier();
    var total = 0u;
    for (var i = 0u; i < PW_SCAN_LANES / PW_SCAN_ROW; i++) {
        before += select(0u, pw_scan_rows[i], i < row);
        total += pw_scan_rows[i];
    }
    return vec2u(before, total);
}

// Scans the primitives of up to PW_BLOCK threadgroups from the `first` of the dispatch on and returns their total. Sums
// within a block cannot wrap: 1,024 threadgroups of at most 256 patches of at most 8,192 primitives.
fn pw_scan_groups(lane: u32, first: u32) -> u32 {
    let last = min(first + PW_BLOCK, pw_params.threadgroups);
    let mine = first + lane * 4u;
    var counts: vec4u;
    for (var i = 0u; i < 4u; i++) {
        if (mine + i < last) {
            counts[i] = pw_state.words[pw_params.primitive_counts + mine + i];
        }
    }
    let scanned = pw_scan_exclusive(lane, counts.x + counts.y + counts.z + counts.w);
    var base = scanned.x;
    for (var i = 0u; i < 4u; i++) {
        if (mine + i < last) {
            let group = pw_params.first_threadgroup + mine + i;
            pw_state.words[pw_group_record(group) + PW_GROUP_PRIMITIVE_BASE] = base;
        }
        base += counts[i];
    }
    return scanned.y;
}

@compute @workgroup_size(PW_SCAN_LANES)
fn pw_allocate_blocks(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = pw_workgroup_index(workgroup, workgroups);
    if (block * PW_BLOCK >= pw_params.threadgroups) {
        return;
    }
    let total = pw_scan_groups(lane, block * PW_BLOCK);
    if (lane == 0u) {
        pw_state.words[pw_params.block_sums + block] = total;
    }
}

@compute @workgroup_size(PW_SCAN_LANES)
fn pw_allocate_draw(@builtin(local_invocation_index) lane: u32) {
    // By one lane, and before it has anything to wait for: each load that waits for another takes a good part of a
    // microsecond.
    var totals: PwTotals;
    if (lane == 0u) {
        totals = pw_read_totals(pw_chunk_used(pw_params.chunk, pw_params.is_first));
    }
    if (pw_params.two_levels == 0u) {
        pw_scan_groups(lane, 0u);
    } else {
        // These sums wrap only where there are too many primitives to draw any.
        var carry = 0u;
        let blocks = (pw_params.threadgroups + PW_BLOCK - 1u) / PW_BLOCK;
        for (var first = 0u; first < blocks; first += PW_SCAN_LANES) {
            let mine = first + lane;
            var count = 0u;
            if (mine < blocks) {
                count = pw_state.words[pw_params.block_sums + mine];
            }
            let scanned = pw_scan_exclusive(lane, count);
            if (mine < blocks) {
                pw_state.words[pw_params.block_sums + mine] = carry + scanned.x;
            }
            carry += scanned.y;
        }
    }
    if (lane == 0u) {
        pw_finish_draw(totals);
    }
}

@compute @workgroup_size(1)
fn pw_close_draw() {
    pw_finish_draw(pw_read_totals(pw_chunk_used(pw_params.chunk, pw_params.is_first)));
}

// What the hull pass counted of a draw, and where its output begins in its chunk.
struct PwTotals {
    now: u32,
    vertices: u32,
    primitives: u32,
    queue: u32,
    connectivity: u32,
    overflow: u32, // what the draw ran out of, PW_OVERFLOW_* bits; where none is set, none of the sums has wrapped
    start: PwUsed,
}

fn pw_read_totals(start: PwUsed) -> PwTotals {
    let slot = pw_slot_now(pw_params.slot);
    return PwTotals(
        slot - pw_params.slot * 2u,
        atomicLoad(&pw_state.slots[slot].vertices),
        atomicLoad(&pw_state.slots[slot].primitives),
        atomicLoad(&pw_state.slots[slot].queue),
        atomicLoad(&pw_state.slots[slot].connectivity),
        atomicLoad(&pw_state.slots[slot].overflow),
        start,
    );
}

// Closes a draw.
fn pw_finish_draw(totals: PwTotals) {
    let slot = pw_params.slot * 2u + totals.now;
    let start = totals.start;
    pw_state.slots[slot].vertex_start = start.vertices;
    pw_state.slots[slot].primitive_start = start.primitives;
    // Where an indirect draw has more of them than was said, they are noted already.
    if ((totals.overflow & PW_OVERFLOW_THREADGROUPS) == 0u) {
        pw_state.slots[slot].threadgroups = pw_params.threadgroups;
    }
    if ((totals.overflow & PW_OVERFLOW_PATCHES) == 0u) {
        pw_state.slots[slot].patches = pw_params.patches;
    }
    pw_state.slots[slot].patches_per_instance = pw_params.patches_per_instance;

    var arguments = PwArguments();
    arguments.hull = pw_arguments[pw_params.slot].hull;
    if (totals.overflow == 0u) {
        arguments.index_count = totals.primitives * PW_VERTICES_PER_PRIMITIVE;
        arguments.instance_count = 1u;
        arguments.first_index = start.primitives * PW_VERTICES_PER_PRIMITIVE;
        arguments.stream_vertices = arguments.index_count;
        arguments.stream_instances = 1u;
        let stream_words = arguments.index_count * PW_VERTEX_WORDS;
        arguments.stream = pw_fold(stream_words / PW_STREAM_WORDS + select(0u, 1u, stream_words % PW_STREAM_WORDS != 0u));
        arguments.domain = pw_fold(totals.queue);
        arguments.connectivity = pw_fold(totals.connectivity);
        pw_state.used[pw_params.chunk] = PwUsed(start.vertices + totals.vertices, start.primitives + totals.primitives);
    } else {
        pw_state.used[pw_params.chunk] = start;
    }
    pw_arguments[pw_params.slot] = arguments;
    pw_end_slot(pw_params.slot, totals.now);
}

// After the last chunk of a draw that has several: where one did not fit, none is drawn, and the room that the others took
// is given back.
@compute @workgroup_size(1)
fn pw_withdraw() {
    var overflow = 0u;
    for (var i = 0u; i < pw_params.slots; i++) {
        overflow |= atomicLoad(&pw_state.slots[pw_slot_now(pw_params.slot + i)].overflow);
    }
    if (overflow == 0u) {
        return;
    }
    for (var i = 0u; i < pw_params.slots; i++) {
        let slot = pw_slot_now(pw_params.slot + i);
        let start = PwUsed(pw_state.slots[slot].vertex_start, pw_state.slots[slot].primitive_start);
        pw_state.used[pw_params.chunk + i] = start;
        pw_arguments[pw_params.slot + i] = PwArguments();
    }
}
