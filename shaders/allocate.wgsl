// Prefix sums over the threadgroups' primitives, so that primitives come out in patch order whatever order the
// threadgroups ran in; then what the draw needs against what there is, and the indirect arguments.
//
// Up to PW_BLOCK threadgroups: one workgroup of `pw_allocate_draw` alone. More: `pw_allocate_blocks` scans blocks of
// them first, a workgroup a block, and `pw_allocate_draw` scans the sums of the blocks. Small draws have all this done
// by `pw_finish` (shaders/finish.wgsl).
//
// Composed after pw_state and pw_arguments.

const PW_SCAN_LANES: u32 = 256u;

var<workgroup> pw_scan: array<u32, PW_SCAN_LANES>;

// Exclusive sum of `value` over the lanes; x: this lane's, y: the total.
fn pw_scan_exclusive(lane: u32, value: u32) -> vec2u {
    workgroupBarrier();
    pw_scan[lane] = value;
    for (var step = 1u; step < PW_SCAN_LANES; step <<= 1u) {
        workgroupBarrier();
        var sum = pw_scan[lane];
        if (lane >= step) {
            sum += pw_scan[lane - step];
        }
        workgroupBarrier();
        pw_scan[lane] = sum;
    }
    workgroupBarrier();
    return vec2u(pw_scan[lane] - value, pw_scan[PW_SCAN_LANES - 1u]);
}

// Scans the primitives of up to PW_BLOCK threadgroups from `first` on, adds `carry`, and returns their total. Sums
// within a block cannot wrap: 1,024 threadgroups of at most 256 patches of at most 8,192 primitives.
fn pw_scan_groups(lane: u32, first: u32, carry: u32) -> u32 {
    let last = min(first + PW_BLOCK, pw_params.first_threadgroup + pw_params.threadgroups);
    let mine = first + lane * 4u;
    var counts: vec4u;
    for (var i = 0u; i < 4u; i++) {
        if (mine + i < last) {
            counts[i] = pw_state.words[pw_group_record(mine + i) + PW_GROUP_PRIMITIVES];
        }
    }
    let scanned = pw_scan_exclusive(lane, counts.x + counts.y + counts.z + counts.w);
    var base = carry + scanned.x;
    for (var i = 0u; i < 4u; i++) {
        if (mine + i < last) {
            pw_state.words[pw_group_record(mine + i) + PW_GROUP_PRIMITIVE_BASE] = base;
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
    let total = pw_scan_groups(lane, pw_params.first_threadgroup + block * PW_BLOCK, 0u);
    if (lane == 0u) {
        pw_state.words[pw_params.block_sums + block] = total;
    }
}

@compute @workgroup_size(PW_SCAN_LANES)
fn pw_allocate_draw(@builtin(local_invocation_index) lane: u32) {
    var low = 0u;
    var high = 0u;
    if (pw_params.two_levels == 0u) {
        low = pw_scan_groups(lane, pw_params.first_threadgroup, 0u);
    } else {
        let blocks = (pw_params.threadgroups + PW_BLOCK - 1u) / PW_BLOCK;
        for (var first = 0u; first < blocks; first += PW_SCAN_LANES) {
            let mine = first + lane;
            var count = 0u;
            if (mine < blocks) {
                count = pw_state.words[pw_params.block_sums + mine];
            }
            let scanned = pw_scan_exclusive(lane, count);
            if (mine < blocks) {
                pw_state.words[pw_params.block_sums + mine] = low + scanned.x;
            }
            // 256 blocks can hold up to 2^39 primitives: the total of this round is kept in 64 bits by adding up in
            // 16-bit halves.
            let halves = vec2u(pw_sum_lanes(lane, count & 0xffffu), pw_sum_lanes(lane, count >> 16u));
            let round_low = halves.x + (halves.y << 16u);
            high += (halves.y >> 16u) + select(0u, 1u, round_low < halves.x);
            let next = low + round_low;
            high += select(0u, 1u, next < low);
            low = next;
        }
    }
    if (lane == 0u) {
        pw_finish_draw(pw_chunk_used(pw_params.chunk, pw_params.is_first), low, high);
    }
}

// Total of `value` over the lanes.
fn pw_sum_lanes(lane: u32, value: u32) -> u32 {
    return pw_scan_exclusive(lane, value).y;
}

// What the draw ran out of, PW_OVERFLOW_* bits, now that all of it is counted.
fn pw_overflow(start: u32, primitives: u32, primitives_high: u32) -> u32 {
    let slot = pw_slot_now(pw_params.slot);
    var overflow = atomicLoad(&pw_state.slots[slot].overflow);
    if (atomicLoad(&pw_state.slots[slot].vertices_high) != 0u) {
        overflow |= PW_OVERFLOW_VERTICES;
    }
    if (primitives_high != 0u || primitives > pw_params.primitive_capacity - start) {
        overflow |= PW_OVERFLOW_PRIMITIVES;
    }
    return overflow;
}

// Closes a draw whose output begins at `start` in its chunk.
fn pw_finish_draw(start: PwUsed, primitives: u32, primitives_high: u32) {
    let slot = pw_slot_now(pw_params.slot);
    let vertices = atomicLoad(&pw_state.slots[slot].vertices);
    let overflow = pw_overflow(start.primitives, primitives, primitives_high);
    atomicStore(&pw_state.slots[slot].overflow, overflow);
    pw_state.slots[slot].primitives = primitives;
    pw_state.slots[slot].primitives_high = primitives_high;
    pw_state.slots[slot].vertex_start = start.vertices;
    pw_state.slots[slot].primitive_start = start.primitives;
    // Where an indirect draw has more of them than was said, they are noted already.
    if ((overflow & PW_OVERFLOW_THREADGROUPS) == 0u) {
        pw_state.slots[slot].threadgroups = pw_params.threadgroups;
    }
    if ((overflow & PW_OVERFLOW_PATCHES) == 0u) {
        pw_state.slots[slot].patches = pw_params.patches;
    }
    pw_state.slots[slot].patches_per_instance = pw_params.patches_per_instance;

    var arguments = PwArguments();
    arguments.hull = pw_arguments[pw_params.slot].hull;
    if (overflow == 0u) {
        arguments.index_count = primitives * PW_VERTICES_PER_PRIMITIVE;
        arguments.instance_count = 1u;
        arguments.first_index = start.primitives * PW_VERTICES_PER_PRIMITIVE;
        arguments.stream_vertices = arguments.index_count;
        arguments.stream_instances = 1u;
        let stream_words = arguments.index_count * PW_VERTEX_WORDS;
        arguments.stream = pw_fold(stream_words / PW_STREAM_WORDS + select(0u, 1u, stream_words % PW_STREAM_WORDS != 0u));
        arguments.domain = pw_fold(atomicLoad(&pw_state.slots[slot].queue));
        arguments.connectivity = pw_fold(atomicLoad(&pw_state.slots[slot].connectivity));
        pw_state.used[pw_params.chunk] = PwUsed(start.vertices + vertices, start.primitives + primitives);
    } else {
        pw_state.used[pw_params.chunk] = start;
    }
    pw_arguments[pw_params.slot] = arguments;
    pw_end_slot(pw_params.slot);
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
