// The index buffer: a lane a primitive, in random access. A workgroup takes an item of the hull pass's list: up to
// `item_primitives` primitives of one threadgroup that follow one another. It keeps the shapes of its patches in workgroup
// memory.
//
// Composed after pw_state and pw_indices.

var<workgroup> pw_shapes: array<array<u32, PW_CONTEXTS>, PW_MAX_PATCHES>;
var<workgroup> pw_patch_points: array<u32, PW_MAX_PATCHES>;
var<workgroup> pw_patch_vertices: array<u32, PW_MAX_PATCHES>;

var<private> pw_patch_slot: u32;

fn pw_shape(i: u32) -> u32 {
    return pw_shapes[pw_patch_slot][i];
}

// Only the shapes are kept here; the tessellator's points, which read whole contexts, are not evaluated in this pass.
fn pw_context(i: u32) -> PwContext {
    return PwContext(pw_shape(i), 0u);
}

// Whether a patch's primitives are those of the one before it.
fn pw_is_alike(slot: u32) -> bool {
    if (slot == 0u) {
        return false;
    }
    var differing = pw_patch_points[slot] ^ pw_patch_points[slot - 1u];
    for (var i = 0u; i < PW_CONTEXTS; i++) {
        differing |= pw_shapes[slot][i] ^ pw_shapes[slot - 1u][i];
    }
    return differing == 0u;
}

// An item of the list of so many: its threadgroup, its first primitive there, and the one after its last. Beyond the list,
// nothing.
fn pw_connectivity_item(index: u32, items: u32) -> vec3u {
    // Read before it is known that there is such an item, so that the two loads do not wait for each other.
    let item = pw_params.connectivity_items + index * 2u;
    let group = pw_state.words[item];
    let first = pw_state.words[item + 1u];
    if (index >= items) {
        return vec3u(0u);
    }
    let primitives = pw_state.words[pw_group_record(group) + PW_GROUP_PRIMITIVES];
    return vec3u(group, first, min(first + pw_params.item_primitives, primitives));
}

@compute @workgroup_size(PW_CONNECTIVITY_LANES)
fn pw_connectivity(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    // The dispatch is folded, so its last row may hold workgroups beyond the list; their items are empty.
    let slot = pw_slot_now(pw_params.slot);
    let items = atomicLoad(&pw_state.slots[slot].connectivity);
    let item = pw_connectivity_item(pw_workgroup_index(workgroup, workgroups), items);
    // Where the threadgroup's primitives begin in the index buffer.
    var start = pw_state.slots[slot].primitive_start
        + pw_state.words[pw_group_record(item.x) + PW_GROUP_PRIMITIVE_BASE];
    if (pw_params.two_levels != 0u) {
        start += pw_state.words[pw_params.block_sums + (item.x - pw_params.first_threadgroup) / PW_BLOCK];
    }
    pw_connect(lane, item, start);
}

// The indices of an item's primitives; those of its threadgroup begin at primitive `start` of the index buffer.
fn pw_connect(lane: u32, item: vec3u, start: u32) {
    let group = item.x;
    let extent = pw_group_patches(group);
    for (var i = lane; i < extent.y; i += PW_CONNECTIVITY_LANES) {
        let record = pw_patch_record(extent.x + i);
        pw_bases[i] = pw_state.words[record + PW_PATCH_PRIMITIVE_BASE];
        if (i + 1u == extent.y) {
            pw_bases[i + 1u] = pw_bases[i] + pw_state.words[record + PW_PATCH_PRIMITIVES];
        }
        pw_patch_points[i] = pw_state.words[record + PW_PATCH_POINTS];
        pw_patch_vertices[i] = pw_state.words[record + PW_PATCH_VERTEX_BASE];
        var bits: array<u32, PW_FACTORS>;
        for (var j = 0u; j < PW_FACTORS; j++) {
            bits[j] = pw_state.words[record + PW_PATCH_FACTORS + select(j, 1u - j, PW_DOMAIN == 0u)];
        }
        let tessellated = pw_patch(bits);
        for (var j = 0u; j < PW_CONTEXTS; j++) {
            pw_shapes[i][j] = tessellated.contexts[j].shape;
        }
    }
    workgroupBarrier();
    for (var i = lane; i < extent.y; i += PW_CONNECTIVITY_LANES) {
        pw_alike[i] = select(0u, 1u, pw_is_alike(i));
    }
    workgroupBarrier();
    // Small items are what keeps a large device busy with little work: all lanes have a primitive only if each is a column
    // of its own.
    let longest = clamp(pw_params.item_primitives / (PW_CONNECTIVITY_LANES * 4u), 1u, PW_LONGEST_RUN);
    for (var i = lane; i < extent.y; i += PW_CONNECTIVITY_LANES) {
        pw_find_runs(i, extent.y, longest);
    }
    workgroupBarrier();

    let first_column = pw_column(item.y) + lane;
    let last_column = pw_column(item.z);
    var run = pw_run_of(first_column);
    for (var column = first_column; column < last_column; column += PW_CONNECTIVITY_LANES) {
        while (run + 1u < pw_runs && pw_run_columns[run + 1u] <= column) {
            run += 1u;
        }
        let primitive = column - pw_run_columns[run];
        let primitives = pw_run_columns[run + 1u] - pw_run_columns[run];
        let end = pw_run_patches[run + 1u];
        pw_patch_slot = pw_run_patches[run];
        let corners = pw_primitive(primitive, pw_patch_points[pw_patch_slot]);
        var place = (start + pw_bases[pw_patch_slot] + primitive) * PW_VERTICES_PER_PRIMITIVE;
        for (var slot = pw_patch_slot; slot < end; slot++) {
            let vertices = corners + pw_patch_vertices[slot];
            pw_indices[place] = vertices.x;
            if (PW_VERTICES_PER_PRIMITIVE > 1u) {
                pw_indices[place + 1u] = vertices.y;
            }
            if (PW_VERTICES_PER_PRIMITIVE > 2u) {
                pw_indices[place + 2u] = vertices.z;
            }
            place += primitives * PW_VERTICES_PER_PRIMITIVE;
        }
    }
}
