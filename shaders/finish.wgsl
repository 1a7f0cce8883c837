// What small draws have instead of the allocate pass and a connectivity pass that waits for its arguments: one dispatch of
// as many workgroups as there can be items, each of which adds up for itself what allocate writes down.
//
// Composed after allocate.wgsl and connectivity.wgsl.

// The workgroup's item, read by one lane; empty beyond the list.
var<workgroup> pw_item: vec4u;
var<workgroup> pw_partial: array<vec2u, PW_CONNECTIVITY_LANES>;

// Primitives of the draw's threadgroups before `group`, and of all of them. At most PW_BLOCK threadgroups, so no sum wraps.
fn pw_sum_groups(lane: u32, group: u32) -> vec2u {
    var sums = vec2u(0u);
    for (var i = lane; i < pw_params.threadgroups; i += PW_CONNECTIVITY_LANES) {
        let at = pw_params.first_threadgroup + i;
        let primitives = pw_state.words[pw_group_record(at) + PW_GROUP_PRIMITIVES];
        sums += vec2u(select(0u, primitives, at < group), primitives);
    }
    pw_partial[lane] = sums;
    for (var step = PW_CONNECTIVITY_LANES / 2u; step > 0u; step >>= 1u) {
        workgroupBarrier();
        if (lane < step) {
            pw_partial[lane] += pw_partial[lane + step];
        }
    }
    workgroupBarrier();
    return pw_partial[0];
}

@compute @workgroup_size(PW_CONNECTIVITY_LANES)
fn pw_finish(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = pw_workgroup_index(workgroup, workgroups);
    if (lane == 0u) {
        pw_item = vec4u(pw_connectivity_item(index), 0u);
    }
    var item = workgroupUniformLoad(&pw_item).xyz;
    // The last workgroup closes the draw, since it seldom has an item besides.
    let closes = index + 1u == workgroups.x * workgroups.y;
    if (item.y >= item.z && !closes) {
        return;
    }
    let sums = pw_sum_groups(lane, item.x);
    // The hull pass noted where the draw begins, since `used` changes here.
    let slot = pw_slot_now(pw_params.slot);
    let vertices = pw_state.slots[slot].vertex_start;
    let primitives = pw_state.slots[slot].primitive_start;
    if (pw_overflow(primitives, sums.y, 0u) != 0u) {
        item.z = item.y;
    }
    // What is written here the others do not read, or find as they have it already.
    if (closes && lane == 0u) {
        pw_finish_draw(PwUsed(vertices, primitives), sums.y, 0u);
    }
    pw_connect(lane, item, primitives + sums.x);
}
