// The index buffer: a lane a primitive, in random access. A workgroup takes PW_PRIMITIVES_PER_WORKGROUP primitives that
// follow one another in patch order, finds the patches that they belong to, and keeps those patches' shapes in workgroup
// memory.

@group(3) @binding(1) var<storage, read_write> pw_state: PwState;
@group(3) @binding(2) var<storage, read_write> pw_indices: array<u32>;

var<workgroup> pw_shapes: array<u32, PW_WINDOW * PW_CONTEXTS>;
var<workgroup> pw_first_primitive: array<u32, PW_WINDOW>;
var<workgroup> pw_patch_points: array<u32, PW_WINDOW>;
var<workgroup> pw_patch_vertices: array<u32, PW_WINDOW>;
var<workgroup> pw_votes: atomic<u32>;
var<workgroup> pw_found: u32;
var<workgroup> pw_window_end: u32;

// Patches that the workgroup looks at in one go, a lane a patch.
const PW_WINDOW: u32 = PW_CONNECTIVITY_LANES;

var<private> pw_patch_slot: u32;

fn pw_shape(i: u32) -> u32 {
    return pw_shapes[pw_patch_slot * PW_CONTEXTS + i];
}

// Only the shapes are kept here; the tessellator's points, which read whole contexts, are not evaluated in this pass.
fn pw_context(i: u32) -> PwContext {
    return PwContext(pw_shape(i), 0u);
}

// The number of the first primitive of a patch record among the draw's.
fn pw_primitive_base(patch_record: u32) -> u32 {
    let group = pw_group_of_patch(patch_record);
    var base = pw_state.words[pw_group_record(group) + PW_GROUP_PRIMITIVE_BASE]
        + pw_state.words[pw_patch_record(patch_record) + PW_PATCH_PRIMITIVE_BASE];
    if (pw_params.two_levels != 0u) {
        base += pw_state.words[pw_params.block_sums + (group - pw_params.first_threadgroup) / PW_BLOCK];
    }
    return base;
}

// The last patch record whose primitives begin at or before `primitive`: every lane probes one patch a round, so that
// a million patches take three rounds.
fn pw_find_patch(lane: u32, primitive: u32) -> u32 {
    var low = pw_params.first_patch;
    var count = pw_params.patches;
    while (count > 1u) {
        let stride = (count + PW_CONNECTIVITY_LANES - 1u) / PW_CONNECTIVITY_LANES;
        if (lane == 0u) {
            atomicStore(&pw_votes, 0u);
        }
        workgroupBarrier();
        let probe = lane * stride;
        if (probe < count && pw_primitive_base(low + probe) <= primitive) {
            atomicMax(&pw_votes, probe);
        }
        workgroupBarrier();
        if (lane == 0u) {
            pw_found = atomicLoad(&pw_votes);
        }
        let found = workgroupUniformLoad(&pw_found);
        low += found;
        count = min(stride, count - found);
    }
    return low;
}

@compute @workgroup_size(PW_CONNECTIVITY_LANES)
fn pw_connectivity(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    if (lane == 0u) {
        pw_window_end = pw_state.slots[pw_params.slot].primitives;
    }
    let primitives = workgroupUniformLoad(&pw_window_end);
    let first = pw_workgroup_index(workgroup, workgroups) * PW_PRIMITIVES_PER_WORKGROUP;
    if (first >= primitives) {
        return;
    }
    let last = min(first + PW_PRIMITIVES_PER_WORKGROUP, primitives);
    let start = pw_state.slots[pw_params.slot].primitive_start;
    let end_record = pw_params.first_patch + pw_params.patches;

    var next = first;
    while (next < last) {
        // A window of patches from the one that holds primitive `next` on. Runs of culled patches are skipped by the
        // search, not walked.
        let window = pw_find_patch(lane, next);
        let patches = min(PW_WINDOW, end_record - window);
        if (lane < patches) {
            let record = pw_patch_record(window + lane);
            let base = pw_primitive_base(window + lane);
            let points = pw_state.words[record + PW_PATCH_POINTS];
            pw_first_primitive[lane] = base;
            pw_patch_points[lane] = points;
            pw_patch_vertices[lane] = pw_state.words[record + PW_PATCH_VERTEX_BASE];
            if (points != 0u && base < last) {
                var bits: array<u32, PW_FACTORS>;
                for (var i = 0u; i < PW_FACTORS; i++) {
                    bits[i] = pw_state.words[record + PW_PATCH_FACTORS + select(i, 1u - i, PW_DOMAIN == 0u)];
                }
                let tessellated = pw_patch(bits);
                for (var i = 0u; i < PW_CONTEXTS; i++) {
                    pw_shapes[lane * PW_CONTEXTS + i] = tessellated.contexts[i].shape;
                }
            }
            if (lane == patches - 1u) {
                pw_window_end = base + pw_state.words[record + PW_PATCH_PRIMITIVES];
            }
        }
        let end = min(workgroupUniformLoad(&pw_window_end), last);

        for (var primitive = next + lane; primitive < end; primitive += PW_CONNECTIVITY_LANES) {
            var low = 0u;
            var high = patches - 1u;
            while (low < high) {
                let middle = (low + high + 1u) >> 1u;
                if (pw_first_primitive[middle] <= primitive) {
                    low = middle;
                } else {
                    high = middle - 1u;
                }
            }
            pw_patch_slot = low;
            let corners = pw_primitive(primitive - pw_first_primitive[low], pw_patch_points[low])
                + pw_patch_vertices[low];
            let place = (start + primitive) * PW_VERTICES_PER_PRIMITIVE;
            pw_indices[place] = corners.x;
            if (PW_VERTICES_PER_PRIMITIVE > 1u) {
                pw_indices[place + 1u] = corners.y;
            }
            if (PW_VERTICES_PER_PRIMITIVE > 2u) {
                pw_indices[place + 2u] = corners.z;
            }
        }
        // The next window overwrites what lanes may still read.
        workgroupBarrier();
        next = end;
    }
}
