// What small draws have instead of the allocate pass and a connectivity pass that waits for its arguments: one dispatch of
// as many workgroups as there can be items, each of which adds up for itself what allocate writes down.
//
// Composed after allocate.wgsl and connectivity.wgsl.

// The workgroup's item, read by one lane; empty beyond the list.
var<workgroup> pw_item: vec4u;

// Threadgroups that a lane adds up.
const PW_GROUPS_A_LANE: u32 = PW_BLOCK / PW_CONNECTIVITY_LANES;
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
    // The primitives of this lane's threadgroups, asked for before it is known which of them lie before the item: what waits
    // for nothing comes first. The draw has at most PW_BLOCK threadgroups, so no sum wraps.
    var counts: array<u32, PW_GROUPS_A_LANE>;
    for (var i = 0u; i < PW_GROUPS_A_LANE; i++) {
        let group = i * PW_CONNECTIVITY_LANES + lane;
        if (group < pw_params.threadgroups) {
            counts[i] = pw_state.words[pw_group_record(pw_params.first_threadgroup + group) + PW_GROUP_PRIMITIVES];
        }
    }
    // The hull pass noted where the draw begins, since `used` changes here.
    let slot = pw_slot_now(pw_params.slot);
    let totals = pw_read_totals(PwUsed(pw_state.slots[slot].vertex_start, pw_state.slots[slot].primitive_start));
    if (lane == 0u) {
        pw_item = vec4u(pw_connectivity_item(index, select(totals.connectivity, 0u, totals.overflow != 0u)), 0u);
    }
    let item = workgroupUniformLoad(&pw_item).xyz;
    // The last workgroup closes the draw, since it seldom has an item besides. What it writes the others do not read, or find
    // as they have it already.
    if (index + 1u == workgroups.x * workgroups.y && lane == 0u) {
        pw_finish_draw(totals);
    }
    if (item.y >= item.z) {
        return;
    }
    var before = 0u;
    for (var i = 0u; i < PW_GROUPS_A_LANE; i++) {
        let group = pw_params.first_threadgroup + i * PW_CONNECTIVITY_LANES + lane;
        before += select(0u, counts[i], group < item.x);
    }
    pw_connect(lane, item, totals.start.primitives + pw_sum_lanes(lane, before));
}
