// The index buffer: a lane a primitive, in random access. A workgroup takes an item of the hull pass's list: up to
// `item_primitives` primitives of one threadgroup that follow one another. It keeps the shapes of the patches that they
// belong to in workgroup memory.

@group(3) @binding(1) var<storage, read_write> pw_state: PwState;
@group(3) @binding(2) var<storage, read_write> pw_indices: array<u32>;

var<workgroup> pw_shapes: array<u32, PW_MAX_PATCHES * PW_CONTEXTS>;
var<workgroup> pw_first_primitive: array<u32, PW_MAX_PATCHES>;
var<workgroup> pw_patch_points: array<u32, PW_MAX_PATCHES>;
var<workgroup> pw_patch_vertices: array<u32, PW_MAX_PATCHES>;

var<private> pw_patch_slot: u32;

fn pw_shape(i: u32) -> u32 {
    return pw_shapes[pw_patch_slot * PW_CONTEXTS + i];
}

// Only the shapes are kept here; the tessellator's points, which read whole contexts, are not evaluated in this pass.
fn pw_context(i: u32) -> PwContext {
    return PwContext(pw_shape(i), 0u);
}

@compute @workgroup_size(PW_CONNECTIVITY_LANES)
fn pw_connectivity(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = pw_workgroup_index(workgroup, workgroups);
    // The dispatch is folded, so its last row may hold workgroups beyond the list; their items are empty.
    var group = 0u;
    var first = 0u;
    var last = 0u;
    if (index < atomicLoad(&pw_state.slots[pw_params.slot].connectivity)) {
        let item = pw_params.connectivity_items + index * 2u;
        group = pw_state.words[item];
        first = pw_state.words[item + 1u];
        last = min(first + pw_params.item_primitives, pw_state.words[pw_group_record(group) + PW_GROUP_PRIMITIVES]);
    }
    let extent = pw_group_patches(group);
    for (var i = lane; i < extent.y; i += PW_CONNECTIVITY_LANES) {
        let record = pw_patch_record(extent.x + i);
        let base = pw_state.words[record + PW_PATCH_PRIMITIVE_BASE];
        pw_first_primitive[i] = base;
        if (base < last && base + pw_state.words[record + PW_PATCH_PRIMITIVES] > first) {
            pw_patch_points[i] = pw_state.words[record + PW_PATCH_POINTS];
            pw_patch_vertices[i] = pw_state.words[record + PW_PATCH_VERTEX_BASE];
            var bits: array<u32, PW_FACTORS>;
            for (var j = 0u; j < PW_FACTORS; j++) {
                bits[j] = pw_state.words[record + PW_PATCH_FACTORS + select(j, 1u - j, PW_DOMAIN == 0u)];
            }
            let tessellated = pw_patch(bits);
            for (var j = 0u; j < PW_CONTEXTS; j++) {
                pw_shapes[i * PW_CONTEXTS + j] = tessellated.contexts[j].shape;
            }
        }
    }
    workgroupBarrier();

    // Where the threadgroup's primitives begin in the index buffer.
    var start = pw_state.slots[pw_params.slot].primitive_start + pw_state.words[pw_group_record(group) + PW_GROUP_PRIMITIVE_BASE];
    if (pw_params.two_levels != 0u) {
        start += pw_state.words[pw_params.block_sums + (group - pw_params.first_threadgroup) / PW_BLOCK];
    }
    // The last patch whose primitives begin at or before the lane's first; patches without primitives begin where the
    // next does. From there on the lane walks forward.
    var patch_slot = 0u;
    var beyond = extent.y;
    while (beyond - patch_slot > 1u) {
        let middle = (patch_slot + beyond) >> 1u;
        if (pw_first_primitive[middle] <= first + lane) {
            patch_slot = middle;
        } else {
            beyond = middle;
        }
    }
    for (var primitive = first + lane; primitive < last; primitive += PW_CONNECTIVITY_LANES) {
        while (patch_slot + 1u < extent.y && pw_first_primitive[patch_slot + 1u] <= primitive) {
            patch_slot++;
        }
        pw_patch_slot = patch_slot;
        let corners = pw_primitive(primitive - pw_first_primitive[patch_slot], pw_patch_points[patch_slot])
            + pw_patch_vertices[patch_slot];
        let place = (start + primitive) * PW_VERTICES_PER_PRIMITIVE;
        pw_indices[place] = corners.x;
        if (PW_VERTICES_PER_PRIMITIVE > 1u) {
            pw_indices[place + 1u] = corners.y;
        }
        if (PW_VERTICES_PER_PRIMITIVE > 2u) {
            pw_indices[place + 2u] = corners.z;
        }
    }
}
