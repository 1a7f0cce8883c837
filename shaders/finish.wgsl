// What small draws have instead of the allocate pass and a connectivity pass that waits for its arguments: one dispatch of
// as many workgroups as there can be items, each of which adds up for itself what allocate writes down.
//
// Composed after allocate.wgsl and connectivity.wgsl.

const PW_PARTIAL_ROW: u32 = 16u;

var<workgroup> pw_partial: array<u32, PW_CONNECTIVITY_LANES>;
var<workgroup> pw_partial_rows: array<u32, PW_CONNECTIVITY_LANES / PW_PARTIAL_ROW>;

// The sum of `value` over the lanes: those of each row, then the rows.
fn pw_sum_lanes(lane: u32, value: u32) -> u32 {
    pw_partial[lane] = value;
    workgroupBarrier();
    if (lane < PW_CONNECTIVITY_LANES / PW_PARTIAL_ROW) {
        var sum = 0u;
        for (var i = 0u; i < PW_PARTIAL_ROW; i++) {
            // Neighbouring lanes read neighbouring words.
            sum += pw_partial[i * (PW_CONNECTIVITY_LANES / PW_PARTIAL_ROW) + lane];
        }
        pw_partial_rows[lane] = sum;
    }
    workgroupBarrier();
    var sum = 0u;
    for (var i = 0u; i < PW_CONNECTIVITY_LANES / PW_PARTIAL_ROW; i++) {
        sum += pw_partial_rows[i];
    }
    return sum;
}

@compute @workgroup_size(PW_CONNECTIVITY_LANES)
fn pw_finish(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = pw_workgroup_index(workgroup, workgroups);
    // The last workgroup closes the draw, since it seldom has an item besides.
    let closes = index + 1u == workgroups.x * workgroups.y;
    let begun = pw_begin_item(lane, index);
    // Asked for before the item is known, as all there is of a draw of few threadgroups.
    var before = 0u;
    if (lane < pw_params.threadgroups) {
        before = pw_state.words[pw_params.primitive_counts + lane];
    }
    let item = workgroupUniformLoad(&pw_item);
    if (item.first < item.last) {
        // Primitives before the threadgroup's own. The draw has at most PW_BLOCK threadgroups, so no sum wraps.
        let own = item.group - pw_params.first_threadgroup;
        before = select(0u, before, lane < own);
        for (var i = lane + PW_CONNECTIVITY_LANES; i < own; i += PW_CONNECTIVITY_LANES) {
            before += pw_state.words[pw_params.primitive_counts + i];
        }
        pw_connect(lane, item, begun, pw_sum_lanes(lane, before));
    }
    // What is written here the others do not read, or find as they have it already.
    if (closes && lane == 0u) {
        // The hull pass noted where the draw begins, since `used` changes here.
        let slot = pw_slot_now(pw_params.slot);
        pw_finish_draw(pw_read_totals(PwUsed(pw_state.slots[slot].vertex_start, pw_state.slots[slot].primitive_start)));
    }
}
