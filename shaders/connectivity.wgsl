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

// An item of the list: primitives `first` to `last` of a threadgroup, none where there is no such item, and where the
// draw's primitives begin in the index buffer.
struct PwItem {
    group: u32,
    first: u32,
    last: u32,
    start: u32,
}

var<workgroup> pw_item: PwItem;

// What a lane knows of its patch of the threadgroup, as the hull pass wrote it down.
struct PwBegun {
    extent: vec2u,
    primitive_base: u32,
    primitives: u32,
    points: u32,
    vertices: u32,
    factors: array<u32, PW_FACTORS>,
}

// Loads item `index` into `pw_item`, to be read after a barrier, and each lane's patch of it.
//
// The words of the draw's slot are asked for by one lane, since all workgroups ask for the same ones, and that soon takes
// longer than the work itself. Everything else is asked for before it is known that there is such an item, so that few
// loads wait for others.
fn pw_begin_item(lane: u32, index: u32) -> PwBegun {
    let listed = pw_params.connectivity_items + index * 2u;
    let last_group = pw_params.first_threadgroup + max(pw_params.threadgroups, 1u) - 1u;
    let group = clamp(pw_state.words[listed], pw_params.first_threadgroup, last_group);
    let first = pw_state.words[listed + 1u];
    if (lane == 0u) {
        let slot = pw_slot_now(pw_params.slot);
        let items = atomicLoad(&pw_state.slots[slot].connectivity);
        let overflow = atomicLoad(&pw_state.slots[slot].overflow);
        let primitives = pw_state.words[pw_group_record(group) + PW_GROUP_PRIMITIVES];
        let last = min(first + pw_params.item_primitives, primitives);
        // Where the draw did not fit, nothing was listed.
        let is_listed = index < items && overflow == 0u;
        pw_item = PwItem(group, first, select(first, last, is_listed), pw_state.slots[slot].primitive_start);
    }
    var begun: PwBegun;
    begun.extent = pw_group_patches(group);
    if (lane < begun.extent.y) {
        let record = pw_patch_record(begun.extent.x + lane);
        begun.primitive_base = pw_state.words[record + PW_PATCH_PRIMITIVE_BASE];
        begun.primitives = pw_state.words[record + PW_PATCH_PRIMITIVES];
        begun.points = pw_state.words[record + PW_PATCH_POINTS];
        begun.vertices = pw_state.words[record + PW_PATCH_VERTEX_BASE];
        for (var i = 0u; i < PW_FACTORS; i++) {
            begun.factors[i] = pw_state.words[record + PW_PATCH_FACTORS + select(i, 1u - i, PW_DOMAIN == 0u)];
        }
    }
    return begun;
}

@compute @workgroup_size(PW_CONNECTIVITY_LANES)
fn pw_connectivity(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    // The dispatch is folded, so its last row may hold workgroups beyond the list; their items are empty.
    let begun = pw_begin_item(lane, pw_workgroup_index(workgroup, workgroups));
    let item = workgroupUniformLoad(&pw_item);
    // Of all threadgroups before this one.
    var before = pw_state.words[pw_group_record(item.group) + PW_GROUP_PRIMITIVE_BASE];
    if (pw_params.two_levels != 0u) {
        before += pw_state.words[pw_params.block_sums + (item.group - pw_params.first_threadgroup) / PW_BLOCK];
    }
    if (item.first < item.last) {
        pw_connect(lane, item, begun, before);
    }
}

// The indices of an item's primitives, of whose draw `before` come before its threadgroup.
fn pw_connect(lane: u32, item: PwItem, begun: PwBegun, before: u32) {
    let extent = begun.extent;
    // A lane a patch: there are no more of them than lanes.
    if (lane < extent.y) {
        pw_bases[lane] = begun.primitive_base;
        if (lane + 1u == extent.y) {
            pw_bases[lane + 1u] = begun.primitive_base + begun.primitives;
        }
        pw_patch_points[lane] = begun.points;
        pw_patch_vertices[lane] = begun.vertices;
        let tessellated = pw_patch(begun.factors);
        for (var i = 0u; i < PW_CONTEXTS; i++) {
            pw_shapes[lane][i] = tessellated.contexts[i].shape;
        }
    }
    workgroupBarrier();
    if (lane < extent.y) {
        pw_alike[lane] = select(0u, 1u, pw_is_alike(lane));
    }
    workgroupBarrier();
    // Even the smallest items have a column of that many patches for each lane.
    if (lane < extent.y) {
        pw_find_runs(lane, extent.y, PW_LONGEST_RUN);
    }
    workgroupBarrier();

    let first_column = pw_column(item.first) + lane;
    let last_column = pw_column(item.last);
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
        var place = (item.start + before + pw_bases[pw_patch_slot] + primitive) * PW_VERTICES_PER_PRIMITIVE;
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
