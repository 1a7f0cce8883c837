// The kernel of the hull and the domain pass: one workgroup a threadgroup (hull) or an item of the queue (domain).
//
// Both roles fill the same workgroup arrays, meet at one barrier and go through one loop that holds the only call of
// the user's domain function. So the mode cannot change the result: on-chip or off-chip, it is the same compiled code
// over the same numbers.

@group(3) @binding(1) var<storage, read_write> pw_state: PwState;
@group(3) @binding(2) var<storage, read_write> pw_off_chip: array<PwOffChipPatch>;
@group(3) @binding(3) var<storage, read_write> pw_vertices: array<PwSurface>;

struct PwOffChipPatch {
    points: array<PwOutputPoint, PW_STORED_POINTS>,
    constants: PwConstants,
}

var<workgroup> pw_constants: array<PwConstants, PW_MAX_PATCHES>;
var<workgroup> pw_contexts: array<PwContext, PW_MAX_PATCHES * PW_FACTORS>;
// Points and primitives of each patch, then (prefix) those of the patches before it.
var<workgroup> pw_points: array<u32, PW_MAX_PATCHES>;
var<workgroup> pw_point_bases: array<u32, PW_MAX_PATCHES>;
var<workgroup> pw_primitives: array<u32, PW_MAX_PATCHES>;
var<workgroup> pw_sums: array<u32, PW_MAX_PATCHES>;
// The decision of the first lane: first and last point to evaluate here, vertex base, off-chip block + 1.
var<workgroup> pw_decision: vec4u;

// The patch of the threadgroup that the accessor functions read.
var<private> pw_patch_slot: u32;

fn pw_context(i: u32) -> PwContext {
    return pw_contexts[pw_patch_slot * PW_FACTORS + i];
}

fn pw_shape(i: u32) -> u32 {
    return pw_contexts[pw_patch_slot * PW_FACTORS + i].shape;
}

fn pw_store_patch(slot: u32, tessellated: PwPatch) {
    for (var i = 0u; i < PW_FACTORS; i++) {
        pw_contexts[slot * PW_FACTORS + i] = tessellated.contexts[i];
    }
}

// GCN's factor ring holds an isoline's detail before its density; so do the records.
fn pw_ring_slot(i: u32) -> u32 {
    if (PW_DOMAIN == 0u) {
        return 1u - i;
    }
    return i;
}

fn pw_load_factors(record: u32) -> array<u32, PW_FACTORS> {
    var bits: array<u32, PW_FACTORS>;
    for (var i = 0u; i < PW_FACTORS; i++) {
        bits[i] = pw_state.words[record + PW_PATCH_FACTORS + pw_ring_slot(i)];
    }
    return bits;
}

// Sum of a patch's clamped factors in units of 2^-23: at most 6 * 64 * 2^23, which 32 bits hold.
fn pw_factor_sum(bits: array<u32, PW_FACTORS>) -> u32 {
    var sum = 0u;
    if (!pw_culled(bits)) {
        for (var i = 0u; i < PW_FACTORS; i++) {
            sum += pw_clamped_factor(i, bits[i]);
        }
    }
    return sum;
}

@compute @workgroup_size(PW_LANES)
fn pw_threadgroup(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = pw_workgroup_index(workgroup, workgroups);
    var first_id = 0u;

    if (pw_params.role == PW_ROLE_HULL) {
        if (index >= pw_params.threadgroups) {
            return;
        }
        let group = pw_params.first_threadgroup + index;
        let extent = pw_group_patches(group);
        let instance = extent.x / pw_params.patches_per_instance;
        first_id = extent.x - instance * pw_params.patches_per_instance;

        // Input assembler and vertex function: a lane an input control point.
        for (var i = lane; i < extent.y * PW_INPUT_POINTS; i += PW_LANES) {
            pw_reset_private();
            pw_input[i] = pw_call_vertex(first_id * PW_INPUT_POINTS + i, instance);
        }
        workgroupBarrier();

        // Hull function: a lane an output control point.
        if (PW_HULL_POINTS != 0u) {
            for (var i = lane; i < extent.y * PW_HULL_POINTS; i += PW_LANES) {
                pw_patch_slot = i / PW_STORED_POINTS;
                pw_reset_private();
                pw_store_output(i, pw_call_hull(i - pw_patch_slot * PW_STORED_POINTS, first_id + pw_patch_slot));
            }
            workgroupBarrier();
        }

        // Patch constants and factors, and the tessellator's counts: a lane a patch.
        for (var i = lane; i < extent.y; i += PW_LANES) {
            pw_patch_slot = i;
            pw_reset_private();
            let constants = pw_call_constants(first_id + i);
            pw_constants[i] = constants;
            let bits = pw_factor_bits(constants);
            let tessellated = pw_patch(bits);
            pw_store_patch(i, tessellated);
            pw_points[i] = tessellated.points;
            pw_primitives[i] = tessellated.primitives;
            if (pw_params.mode == PW_MODE_DYNAMIC) {
                pw_sums[i] = pw_factor_sum(bits);
            }
            let record = pw_patch_record(extent.x + i);
            pw_state.words[record + PW_PATCH_POINTS] = tessellated.points;
            pw_state.words[record + PW_PATCH_PRIMITIVES] = tessellated.primitives;
            for (var j = 0u; j < PW_FACTORS; j++) {
                pw_state.words[record + PW_PATCH_FACTORS + pw_ring_slot(j)] = bits[j];
            }
        }
        workgroupBarrier();

        if (lane == 0u) {
            pw_decision = pw_decide(group, extent.y);
        }
        let decision = workgroupUniformLoad(&pw_decision);

        // The bases of the patches; at most a few dozen, so each lane adds up what lies before its own.
        for (var i = lane; i < extent.y; i += PW_LANES) {
            var points = 0u;
            var primitives = 0u;
            for (var j = 0u; j < i; j++) {
                points += pw_points[j];
                primitives += pw_primitives[j];
            }
            pw_point_bases[i] = points;
            let record = pw_patch_record(extent.x + i);
            pw_state.words[record + PW_PATCH_VERTEX_BASE] = decision.z + points;
            pw_state.words[record + PW_PATCH_PRIMITIVE_BASE] = primitives;
        }

        // Off-chip: what the domain waves read goes to memory, in the block that this threadgroup holds.
        if (decision.w != 0u) {
            let block = (decision.w - 1u) * pw_params.patches_per_threadgroup;
            for (var i = lane; i < extent.y * PW_OUTPUT_POINTS; i += PW_LANES) {
                let slot = i / PW_STORED_POINTS;
                pw_off_chip[block + slot].points[i - slot * PW_STORED_POINTS] = pw_load_output(i);
            }
            for (var i = lane; i < extent.y; i += PW_LANES) {
                pw_off_chip[block + i].constants = pw_constants[i];
            }
        }
    } else {
        // An item of the queue: the same arrays, filled from the off-chip block for the patches that it touches.
        if (lane == 0u) {
            pw_decision = vec4u(0u);
            if (index < atomicLoad(&pw_state.slots[pw_params.slot].queue)) {
                let item = pw_params.queue + index * 2u;
                let record = pw_group_record(pw_state.words[item]);
                let first = pw_state.words[item + 1u] * PW_WAVE;
                let last = min(first + PW_ITEM_WAVES * PW_WAVE, pw_state.words[record + PW_GROUP_POINTS]);
                pw_decision = vec4u(first, last, pw_state.words[item], pw_state.words[record + PW_GROUP_OFF_CHIP]);
            }
        }
        let item = workgroupUniformLoad(&pw_decision);
        if (item.w == 0u) {
            return;
        }
        let extent = pw_group_patches(item.z);
        first_id = extent.x % pw_params.patches_per_instance;
        let base = pw_state.words[pw_group_record(item.z) + PW_GROUP_VERTEX_BASE];
        let block = (item.w - 1u) * pw_params.patches_per_threadgroup;

        for (var i = lane; i < extent.y; i += PW_LANES) {
            let record = pw_patch_record(extent.x + i);
            let point_base = pw_state.words[record + PW_PATCH_VERTEX_BASE] - base;
            let points = pw_state.words[record + PW_PATCH_POINTS];
            pw_point_bases[i] = point_base;
            pw_points[i] = points;
            if (point_base < item.y && point_base + points > item.x) {
                pw_store_patch(i, pw_patch(pw_load_factors(record)));
                pw_constants[i] = pw_off_chip[block + i].constants;
            }
        }
        for (var i = lane; i < extent.y * PW_OUTPUT_POINTS; i += PW_LANES) {
            let slot = i / PW_STORED_POINTS;
            let record = pw_patch_record(extent.x + slot);
            let point_base = pw_state.words[record + PW_PATCH_VERTEX_BASE] - base;
            if (point_base < item.y && point_base + pw_state.words[record + PW_PATCH_POINTS] > item.x) {
                pw_store_output(i, pw_off_chip[block + slot].points[i - slot * PW_STORED_POINTS]);
            }
        }
        if (lane == 0u) {
            pw_decision.z = base;
            pw_decision.w = extent.y;
        }
    }

    workgroupBarrier();
    let first = pw_decision.x;
    let last = pw_decision.y;
    let base = pw_decision.z;
    var patches = pw_decision.w;
    if (pw_params.role == PW_ROLE_HULL) {
        patches = pw_group_patches(pw_params.first_threadgroup + index).y;
    }

    // Domain waves: a lane a point, packed across the patches of the threadgroup.
    for (var point = first + lane; point < last; point += PW_LANES) {
        // The last patch whose points begin at or before this one; patches without points begin where the next does.
        var low = 0u;
        var high = patches - 1u;
        while (low < high) {
            let middle = (low + high + 1u) >> 1u;
            if (pw_point_bases[middle] <= point) {
                low = middle;
            } else {
                high = middle - 1u;
            }
        }
        pw_patch_slot = low;
        let location = pw_point(point - pw_point_bases[low], pw_points[low]);
        pw_reset_private();
        pw_vertices[base + point] = pw_call_domain(location, first_id + low);
    }
}

// The fixed-function end of the hull pass, by one lane: totals of the threadgroup, the heuristic, its range of vertices,
// its off-chip block and the items of the queue. Returns what `pw_decision` holds.
fn pw_decide(group: u32, patches: u32) -> vec4u {
    var points = 0u;
    var primitives = 0u;
    var culled = 0u;
    var sum_low = 0u;
    var sum_high = 0u;
    for (var i = 0u; i < patches; i++) {
        points += pw_points[i];
        primitives += pw_primitives[i];
        culled += select(0u, 1u, pw_points[i] == 0u);
        if (pw_params.mode == PW_MODE_DYNAMIC) {
            sum_low += pw_sums[i];
            sum_high += select(0u, 1u, sum_low < pw_sums[i]);
        }
    }

    // The average of all factors against the threshold, exactly: both sides in units of 2^-23.
    let below = select(pw_params.on_chip_below.zw, pw_params.on_chip_below.xy, patches == pw_params.patches_per_threadgroup);
    let on_chip = pw_params.mode == PW_MODE_ON_CHIP
        || sum_high < below.y || (sum_high == below.y && sum_low < below.x);

    let old = atomicAdd(&pw_state.slots[pw_params.slot].vertices, points);
    if (old + points < old) {
        atomicAdd(&pw_state.slots[pw_params.slot].vertices_high, 1u);
    }
    let start = pw_state.used[pw_params.chunk].vertices;
    let base = start + old;
    var overflow = 0u;
    // Each comparison is made so that no sum wraps: what is left of the capacity against what is asked.
    if (points > pw_params.vertex_capacity - start || old > pw_params.vertex_capacity - start - points) {
        overflow |= PW_OVERFLOW_VERTICES;
    }

    var last = points;
    var block = 0u;
    if (!on_chip && points != 0u) {
        let taken = atomicAdd(&pw_state.slots[pw_params.slot].off_chip, 1u);
        if (taken < pw_params.off_chip_capacity) {
            block = taken + 1u;
        } else {
            overflow |= PW_OVERFLOW_OFF_CHIP;
        }
        last = min(points, pw_params.ds_wave_threshold * PW_WAVE);
        let waves = (points + PW_WAVE - 1u) / PW_WAVE;
        let first_wave = min(waves, pw_params.ds_wave_threshold);
        let items = (waves - first_wave + PW_ITEM_WAVES - 1u) / PW_ITEM_WAVES;
        if (items != 0u) {
            let place = atomicAdd(&pw_state.slots[pw_params.slot].queue, items);
            if (place <= pw_params.queue_capacity && items <= pw_params.queue_capacity - place) {
                for (var i = 0u; i < items; i++) {
                    let item = pw_params.queue + (place + i) * 2u;
                    pw_state.words[item] = group;
                    pw_state.words[item + 1u] = first_wave + i * PW_ITEM_WAVES;
                }
            } else {
                overflow |= PW_OVERFLOW_QUEUE;
            }
        }
    }
    if (overflow != 0u) {
        // Nothing of this draw will be drawn; go on counting, write nothing.
        atomicOr(&pw_state.slots[pw_params.slot].overflow, overflow);
        last = 0u;
        block = 0u;
    }

    let record = pw_group_record(group);
    pw_state.words[record + PW_GROUP_POINTS] = points;
    pw_state.words[record + PW_GROUP_PRIMITIVES] = primitives;
    pw_state.words[record + PW_GROUP_VERTEX_BASE] = base;
    pw_state.words[record + PW_GROUP_SUM_LOW] = sum_low;
    pw_state.words[record + PW_GROUP_SUM_HIGH] = sum_high;
    pw_state.words[record + PW_GROUP_OFF_CHIP] = select(block, 0u, on_chip);
    pw_state.words[record + PW_GROUP_CULLED] = culled;
    return vec4u(0u, last, base, block);
}
