// Draws whose arguments lie in a buffer: a workgroup a record turns the record into the parameters of the passes and the
// size of the hull dispatch. Nothing is read back; what the caller said that there is at most is checked here.

struct PwParamsEntry {
    @size(PW_PARAMS_STRIDE) params: PwParams,
}

// The parameters of the records: two entries each, for the hull and the domain pass.
@group(3) @binding(0) var<storage, read_write> pw_entries: array<PwParamsEntry>;
@group(3) @binding(1) var<storage, read_write> pw_state: PwState;
@group(3) @binding(2) var<storage, read_write> pw_arguments: array<PwArguments, PW_SLOTS>;
@group(3) @binding(3) var<storage, read> pw_records: array<u32>;

@compute @workgroup_size(1)
fn pw_indirect(@builtin(workgroup_id) workgroup: vec3u) {
    let entry = workgroup.x * 2u;
    let record = pw_entries[entry].params.indirect_offset + workgroup.x * pw_entries[entry].params.indirect_stride;
    let indexed = pw_entries[entry].params.index_kind != 0u;
    let vertices = pw_records[record];
    let instances = pw_records[record + 1u];
    let first_vertex = pw_records[record + 2u];
    let base_vertex = select(0u, pw_records[record + select(0u, 3u, indexed)], indexed);
    let first_instance = pw_records[record + select(3u, 4u, indexed)];

    let most_patches = pw_entries[entry].params.most_patches;
    let most_threadgroups = pw_entries[entry].params.most_threadgroups;
    let per_threadgroup = pw_entries[entry].params.patches_per_threadgroup;
    let per_instance = vertices / PW_INPUT_POINTS;
    let groups_per_instance = (per_instance + per_threadgroup - 1u) / per_threadgroup;
    var threadgroups = 0u;
    var patches = 0u;
    if (per_instance != 0u && instances != 0u) {
        // By division, since the products can wrap.
        let slot = pw_slot_next(pw_entries[entry].params.slot);
        if (per_instance > most_patches / instances) {
            atomicOr(&pw_state.slots[slot].overflow, PW_OVERFLOW_PATCHES);
            pw_state.slots[slot].patches = select(per_instance * instances, 0xffffffffu, per_instance > 0xffffffffu / instances);
        } else if (groups_per_instance > most_threadgroups / instances) {
            atomicOr(&pw_state.slots[slot].overflow, PW_OVERFLOW_THREADGROUPS);
            pw_state.slots[slot].threadgroups = groups_per_instance * instances;
        } else {
            patches = per_instance * instances;
            threadgroups = groups_per_instance * instances;
        }
    }
    for (var i = entry; i < entry + 2u; i++) {
        pw_entries[i].params.first_threadgroup = 0u;
        pw_entries[i].params.threadgroups = threadgroups;
        pw_entries[i].params.patches_per_instance = per_instance;
        pw_entries[i].params.threadgroups_per_instance = groups_per_instance;
        pw_entries[i].params.first_patch = 0u;
        pw_entries[i].params.patches = patches;
        pw_entries[i].params.two_levels = select(0u, 1u, threadgroups > PW_BLOCK);
        pw_entries[i].params.draw_indices = select(vertices, 0u, patches == 0u);
        pw_entries[i].params.first_vertex = first_vertex;
        pw_entries[i].params.base_vertex = bitcast<i32>(base_vertex);
        pw_entries[i].params.first_instance = first_instance;
    }
    // There may be no hull workgroup to do it.
    pw_begin_slot(pw_entries[entry].params.slot);
    pw_arguments[pw_entries[entry].params.slot].hull = pw_fold(threadgroups);
}
