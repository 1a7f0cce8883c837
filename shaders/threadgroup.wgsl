// The kernel of the hull and the domain pass: one workgroup a threadgroup (hull) or an item of the queue (domain).
//
// Both roles fill the same workgroup arrays, meet at one barrier and go through one loop that holds the only call of
// the user's domain function. So the mode cannot change the result: on-chip or off-chip, it is the same compiled code
// over the same numbers.

@group(3) @binding(1) var<storage, read_write> pw_state: PwState;
@group(3) @binding(2) var<storage, read_write> pw_off_chip: array<PwOffChipPatch>;
@group(3) @binding(3) var<storage, read_write> pw_vertices: array<PwVertexUnit>;

struct PwOffChipPatch {
    points: array<PwOutputPoint, PW_STORED_POINTS>,
    constants: PwConstants,
}

var<workgroup> pw_constants: array<PwConstants, PW_MAX_PATCHES>;
// Vectors rather than structs: lavapipe loads a vector at once.
var<workgroup> pw_contexts: array<array<vec2u, PW_CONTEXTS>, PW_MAX_PATCHES>;
// Points and primitives of each patch, and the sum of its factors.
var<workgroup> pw_points: array<u32, PW_MAX_PATCHES>;
var<workgroup> pw_primitives: array<u32, PW_MAX_PATCHES>;
var<workgroup> pw_sums: array<u32, PW_MAX_PATCHES>;
// The decision of the first lane: first and last point to evaluate here, vertex base, off-chip block + 1.
var<workgroup> pw_decision: vec4u;
// Where this threadgroup's items for the domain pass begin, and how many; the same for the connectivity pass.
var<workgroup> pw_items: vec4u;

// The patch of the threadgroup that the accessor functions read.
var<private> pw_patch_slot: u32;

fn pw_context(i: u32) -> PwContext {
    let context = pw_contexts[pw_patch_slot][i];
    return PwContext(context.x, context.y);
}

fn pw_shape(i: u32) -> u32 {
    return pw_contexts[pw_patch_slot][i].x;
}

fn pw_store_patch(slot: u32, tessellated: PwPatch) {
    for (var i = 0u; i < PW_CONTEXTS; i++) {
        pw_contexts[slot][i] = vec2u(tessellated.contexts[i].shape, tessellated.contexts[i].reciprocals);
    }
}

// Whether the tessellator cuts a patch of the threadgroup as the one before it: by the contexts, so that all roles agree.
fn pw_is_alike(slot: u32) -> bool {
    if (slot == 0u) {
        return false;
    }
    var differing = pw_points[slot] ^ pw_points[slot - 1u];
    for (var i = 0u; i < PW_CONTEXTS; i++) {
        let bits = pw_contexts[slot][i] ^ pw_contexts[slot - 1u][i];
        differing |= bits.x | bits.y;
    }
    return differing == 0u;
}

// How long the runs of a threadgroup with so many points are. Where there are fewer, all lanes are busy only if each point
// of each patch is a column of its own. The same in both roles, since they share out the columns of a threadgroup.
fn pw_longest_run(points: u32) -> u32 {
    return select(1u, PW_LONGEST_RUN, points >= PW_LANES * 8u * PW_LONGEST_RUN);
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

// Sum of a patch's clamped factors in units of 2^-23: at most 6 * 64 * 2^23, which 32 bits hold. As a float's bits under
// the raw reading.
fn pw_factor_sum(bits: array<u32, PW_FACTORS>) -> u32 {
    var sum = 0u;
    if (!pw_culled(bits) || (pw_params.readings & PW_READING_CULLED_AS_THEY_ARE) != 0u) {
        let averaged = min(pw_params.readings & PW_READING_AVERAGED, PW_FACTORS);
        for (var i = 0u; i < averaged; i++) {
            if ((pw_params.readings & PW_READING_RAW) != 0u) {
                sum = pw_raw_add(sum, bits[i]);
            } else if (i >= PW_EDGES || !pw_not_positive(bits[i])) {
                sum += pw_clamped_factor(i, bits[i]);
            }
        }
    }
    return sum;
}

// Adds floats by their bits, with NaNs and infinities kept apart: WGSL may assume that there are none.
fn pw_raw_add(sum: u32, bits: u32) -> u32 {
    let sum_special = (sum & 0x7fffffffu) >= 0x7f800000u;
    let bits_special = (bits & 0x7fffffffu) >= 0x7f800000u;
    if (sum_special && bits_special && sum != bits) {
        return 0x7fc00000u;
    }
    if (sum_special) {
        return sum;
    }
    if (bits_special) {
        return bits;
    }
    return bitcast<u32>(bitcast<f32>(sum) + bitcast<f32>(bits));
}

// Whether a raw sum is below a finite limit.
fn pw_raw_below(sum: u32, limit: u32) -> bool {
    if ((sum & 0x7fffffffu) >= 0x7f800000u) {
        return sum == 0xff800000u;
    }
    return bitcast<f32>(sum) < bitcast<f32>(limit);
}

@compute @workgroup_size(PW_LANES)
fn pw_threadgroup(
    @builtin(workgroup_id) pw_workgroup: vec3u,
    @builtin(num_workgroups) pw_workgroups: vec3u,
    @builtin(local_invocation_index) pw_lane: u32,
) {
    // First of all, while no local variable of ours can hide a variable of the user's.
    //@ save private variables
    let lane = pw_lane;
    let index = pw_workgroup_index(pw_workgroup, pw_workgroups);
    // Of a hull workgroup, its own threadgroup; of an item, the one that it is of, and its off-chip block + 1.
    var group = pw_params.first_threadgroup + index;
    var block = 0u;
    var first_id = 0u;

    if (pw_params.role == PW_ROLE_HULL) {
        // Asked for here, so that nothing waits for it later; by one lane, since all workgroups ask for the same words.
        var slot = 0u;
        var used = PwUsed(0u, 0u);
        if (lane == 0u) {
            slot = pw_slot_next(pw_params.slot);
            used = pw_chunk_used(pw_params.chunk, pw_params.is_first);
        }
        if (index >= pw_params.threadgroups) {
            if (index == 0u && lane == 0u) {
                pw_begin_draw(slot, used);
            }
            return;
        }
        let extent = pw_group_patches(group);
        let instance = extent.x / pw_params.patches_per_instance;
        first_id = extent.x - instance * pw_params.patches_per_instance;

        // Strip cuts can leave fewer patches than there is room for; the rest is empty.
        let patches = pw_patches_present(first_id, extent.y);

        // Input assembler and vertex function: a lane an input control point.
        for (var i = lane; i < patches * PW_INPUT_POINTS; i += PW_LANES) {
            //@ reset private variables
            pw_input[i / PW_INPUT_POINTS][i % PW_INPUT_POINTS] = pw_call_vertex(first_id * PW_INPUT_POINTS + i, instance);
        }
        workgroupBarrier();

        // Hull function: a lane an output control point.
        if (PW_HULL_POINTS != 0u) {
            for (var i = lane; i < patches * PW_HULL_POINTS; i += PW_LANES) {
                pw_patch_slot = i / PW_STORED_POINTS;
                //@ reset private variables
                pw_store_output(i, pw_call_hull(i - pw_patch_slot * PW_STORED_POINTS, pw_params.first_patch_id + first_id + pw_patch_slot));
            }
            workgroupBarrier();
        }

        // Patch constants and factors, and the tessellator's counts: a lane a patch.
        for (var i = lane; i < patches; i += PW_LANES) {
            pw_patch_slot = i;
            //@ reset private variables
            let constants = pw_call_constants(pw_params.first_patch_id + first_id + i);
            pw_constants[i] = constants;
            let bits = pw_factor_bits(constants);
            let tessellated = pw_patch(bits);
            pw_store_patch(i, tessellated);
            pw_points[i] = tessellated.points;
            pw_primitives[i] = tessellated.primitives;
            pw_sums[i] = pw_factor_sum(bits);
            let record = pw_patch_record(extent.x + i);
            pw_state.words[record + PW_PATCH_POINTS] = tessellated.points;
            pw_state.words[record + PW_PATCH_PRIMITIVES] = tessellated.primitives;
            for (var j = 0u; j < PW_FACTORS; j++) {
                pw_state.words[record + PW_PATCH_FACTORS + pw_ring_slot(j)] = bits[j];
            }
        }
        for (var i = patches + lane; i < extent.y; i += PW_LANES) {
            pw_points[i] = 0u;
            pw_primitives[i] = 0u;
            let record = pw_patch_record(extent.x + i);
            for (var j = 0u; j < PW_PATCH_WORDS; j++) {
                pw_state.words[record + j] = 0u;
            }
        }
        workgroupBarrier();

        if (lane == 0u) {
            pw_decision = pw_decide(group, patches, slot, used);
            if (index == 0u) {
                pw_begin_draw(slot, used);
            }
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
            pw_bases[i] = points;
            if (i + 1u == extent.y) {
                pw_bases[i + 1u] = points + pw_points[i];
            }
            pw_alike[i] = select(0u, 1u, pw_is_alike(i));
            let record = pw_patch_record(extent.x + i);
            pw_state.words[record + PW_PATCH_VERTEX_BASE] = select(PW_NO_PATCH, decision.z + points, i < patches);
            pw_state.words[record + PW_PATCH_PRIMITIVE_BASE] = primitives;
        }

        // Work for the passes that follow.
        let items = pw_items;
        for (var i = lane; i < items.y; i += PW_LANES) {
            let item = pw_params.queue + (items.x + i) * 2u;
            pw_state.words[item] = group;
            pw_state.words[item + 1u] = pw_params.ds_wave_threshold + i * pw_params.item_waves;
        }
        for (var i = lane; i < items.w; i += PW_LANES) {
            let item = pw_params.connectivity_items + (items.z + i) * 2u;
            pw_state.words[item] = group;
            pw_state.words[item + 1u] = i * pw_params.item_primitives;
        }

        // Off-chip: what the domain waves read goes to memory, in the block that this threadgroup holds.
        if (decision.w != 0u) {
            let stored = (decision.w - 1u) * pw_params.patches_per_threadgroup;
            for (var i = lane; i < patches * PW_OUTPUT_POINTS; i += PW_LANES) {
                let slot = i / PW_STORED_POINTS;
                pw_off_chip[stored + slot].points[i - slot * PW_STORED_POINTS] = pw_load_output(i);
            }
            for (var i = lane; i < patches; i += PW_LANES) {
                pw_off_chip[stored + i].constants = pw_constants[i];
            }
        }
    } else {
        // An item of the queue: the same arrays, filled from the off-chip block for the patches that it touches.
        if (lane == 0u) {
            pw_decision = vec4u(0u);
            // Read before it is known that there is such an item: a load that waits for another is what a small draw's
            // time goes to.
            let item = pw_params.queue + index * 2u;
            let group = pw_state.words[item];
            let first = pw_state.words[item + 1u] * PW_WAVE;
            let slot = pw_slot_now(pw_params.slot);
            let queue = atomicLoad(&pw_state.slots[slot].queue);
            let overflow = atomicLoad(&pw_state.slots[slot].overflow);
            // Where the draw did not fit, nothing was listed.
            if (index < queue && overflow == 0u) {
                let record = pw_group_record(group);
                let last = min(first + pw_params.item_waves * PW_WAVE, pw_state.words[record + PW_GROUP_POINTS]);
                pw_decision = vec4u(first, last, group, pw_state.words[record + PW_GROUP_OFF_CHIP]);
            }
        }
        let item = workgroupUniformLoad(&pw_decision);
        if (item.w == 0u) {
            return;
        }
        let extent = pw_group_patches(item.z);
        first_id = extent.x % pw_params.patches_per_instance;
        let base = pw_state.words[pw_group_record(item.z) + PW_GROUP_VERTEX_BASE];
        let all = pw_state.words[pw_group_record(item.z) + PW_GROUP_POINTS];
        for (var i = lane; i < extent.y; i += PW_LANES) {
            let record = pw_patch_record(extent.x + i);
            let points = pw_state.words[record + PW_PATCH_POINTS];
            let vertex_base = pw_state.words[record + PW_PATCH_VERTEX_BASE];
            pw_points[i] = points;
            // Patches that strip cuts have left out come behind all others.
            pw_bases[i] = select(vertex_base - base, all, vertex_base == PW_NO_PATCH);
            if (i + 1u == extent.y) {
                pw_bases[i + 1u] = pw_bases[i] + points;
            }
            pw_store_patch(i, pw_patch(pw_load_factors(record)));
        }
        workgroupBarrier();
        for (var i = lane; i < extent.y; i += PW_LANES) {
            pw_alike[i] = select(0u, 1u, pw_is_alike(i));
        }
        if (lane == 0u) {
            pw_decision.z = base;
        }
        group = item.z;
        block = item.w;
    }

    workgroupBarrier();
    let patches = pw_group_patches(group).y;
    let longest = pw_longest_run(pw_bases[patches]);
    for (var i = lane; i < patches; i += PW_LANES) {
        pw_find_runs(i, patches, longest);
    }
    workgroupBarrier();
    let base = pw_decision.z;
    let first = pw_column(pw_decision.x);
    let last = pw_column(pw_decision.y);

    if (pw_params.role == PW_ROLE_DOMAIN) {
        // What the domain function reads, of the runs that the item touches.
        let begin = pw_run_patches[pw_run_of(first)];
        let end = pw_run_patches[pw_run_of(last - 1u) + 1u];
        let stored = (block - 1u) * pw_params.patches_per_threadgroup;
        for (var i = begin + lane; i < end; i += PW_LANES) {
            pw_constants[i] = pw_off_chip[stored + i].constants;
        }
        for (var i = begin * PW_OUTPUT_POINTS + lane; i < end * PW_OUTPUT_POINTS; i += PW_LANES) {
            let slot = i / PW_STORED_POINTS;
            pw_store_output(i, pw_off_chip[stored + slot].points[i - slot * PW_STORED_POINTS]);
        }
        workgroupBarrier();
    }

    // Domain waves: a lane a column, packed across the patches of the threadgroup. A lane searches for its first run and
    // walks forward from there.
    var run = pw_run_of(first + lane);
    for (var column = first + lane; column < last; column += PW_LANES) {
        while (run + 1u < pw_runs && pw_run_columns[run + 1u] <= column) {
            run += 1u;
        }
        let point = column - pw_run_columns[run];
        let end = pw_run_patches[run + 1u];
        pw_patch_slot = pw_run_patches[run];
        let points = pw_points[pw_patch_slot];
        let location = pw_point(point, points);
        var place = base + pw_bases[pw_patch_slot] + point;
        for (var slot = pw_patch_slot; slot < end; slot++) {
            pw_patch_slot = slot;
            //@ reset private variables
            pw_store_vertex(place, pw_call_domain(location, pw_params.first_patch_id + first_id + slot));
            place += points;
        }
    }
}

// Whether `count` from `place` on fit; no sum wraps.
fn pw_fits(place: u32, count: u32, capacity: u32) -> bool {
    return place <= capacity && count <= capacity - place;
}

// By one lane of the hull pass: which entry the draw counts in, and where it begins, for the passes that follow; `used`
// changes during the last of them.
fn pw_begin_draw(slot: u32, used: PwUsed) {
    pw_begin_slot(pw_params.slot);
    pw_state.slots[slot].vertex_start = used.vertices;
    pw_state.slots[slot].primitive_start = used.primitives;
}

// The fixed-function end of the hull pass, by one lane: totals of the threadgroup, the heuristic, its range of vertices
// in a chunk of which `used` is taken, its off-chip block and its items for the passes that follow. Counts in `slot`;
// returns what `pw_decision` holds.
fn pw_decide(group: u32, patches: u32, slot: u32, used: PwUsed) -> vec4u {
    var points = 0u;
    var primitives = 0u;
    var culled = 0u;
    var sum_low = 0u;
    var sum_high = 0u;
    for (var i = 0u; i < patches; i++) {
        points += pw_points[i];
        primitives += pw_primitives[i];
        culled += select(0u, 1u, pw_points[i] == 0u);
        if ((pw_params.readings & PW_READING_RAW) != 0u) {
            sum_low = pw_raw_add(sum_low, pw_sums[i]);
        } else {
            sum_low += pw_sums[i];
            sum_high += select(0u, 1u, sum_low < pw_sums[i]);
        }
    }
    // Patches that count. Where none does there are no points, and nothing to leave off-chip.
    let counted = max(select(patches, patches - culled, (pw_params.readings & PW_READING_CULLED_EXCLUDED) != 0u), 1u);

    // The average of all factors against the threshold, exactly: both sides in units of 2^-23. The CPU's twin is
    // `decide` in src/hardware/heuristic.rs.
    let pair = pw_params.on_chip_below[(counted - 1u) / 2u];
    let below = select(pair.zw, pair.xy, (counted & 1u) == 1u);
    var on_chip = sum_high < below.y || (sum_high == below.y && sum_low < below.x);
    if ((pw_params.readings & PW_READING_RAW) != 0u) {
        on_chip = pw_raw_below(sum_low, below.x);
    }
    on_chip = on_chip || pw_params.mode == PW_MODE_ON_CHIP;

    let old = atomicAdd(&pw_state.slots[slot].vertices, points);
    if (old + points < old) {
        atomicAdd(&pw_state.slots[slot].vertices_high, 1u);
    }
    let old_primitives = atomicAdd(&pw_state.slots[slot].primitives, primitives);
    if (old_primitives + primitives < old_primitives) {
        atomicAdd(&pw_state.slots[slot].primitives_high, 1u);
    }
    let base = used.vertices + old;
    var overflow = 0u;
    let fit = pw_fits(old, points, pw_params.vertex_capacity - used.vertices);
    overflow |= select(PW_OVERFLOW_VERTICES, 0u, fit);
    let primitives_fit = pw_fits(old_primitives, primitives, pw_params.primitive_capacity - used.primitives);
    overflow |= select(PW_OVERFLOW_PRIMITIVES, 0u, primitives_fit);

    var last = points;
    var block = 0u;
    var items = vec4u(0u);
    if (!on_chip && points != 0u) {
        let taken = atomicAdd(&pw_state.slots[slot].off_chip, 1u);
        if (taken < pw_params.off_chip_capacity) {
            block = taken + 1u;
        } else {
            overflow |= PW_OVERFLOW_OFF_CHIP;
        }
        last = min(points, pw_params.ds_wave_threshold * PW_WAVE);
        let waves = (points + PW_WAVE - 1u) / PW_WAVE;
        items.y = (waves - min(waves, pw_params.ds_wave_threshold) + pw_params.item_waves - 1u) / pw_params.item_waves;
        if (items.y != 0u) {
            items.x = atomicAdd(&pw_state.slots[slot].queue, items.y);
            overflow |= select(PW_OVERFLOW_ITEMS, 0u, pw_fits(items.x, items.y, pw_params.queue_capacity));
        }
    }
    items.w = (primitives + pw_params.item_primitives - 1u) / pw_params.item_primitives;
    if (items.w != 0u) {
        items.z = atomicAdd(&pw_state.slots[slot].connectivity, items.w);
        overflow |= select(PW_OVERFLOW_ITEMS, 0u, pw_fits(items.z, items.w, pw_params.connectivity_capacity));
    }
    if (overflow != 0u) {
        // Nothing of this draw will be drawn; go on counting, write nothing.
        atomicOr(&pw_state.slots[slot].overflow, overflow);
        last = 0u;
        block = 0u;
        items = vec4u(0u);
    }
    pw_items = items;

    let record = pw_group_record(group);
    pw_state.words[record + PW_GROUP_POINTS] = points;
    pw_state.words[record + PW_GROUP_PRIMITIVES] = primitives;
    pw_state.words[pw_params.primitive_counts + group - pw_params.first_threadgroup] = primitives;
    pw_state.words[record + PW_GROUP_VERTEX_BASE] = base;
    pw_state.words[record + PW_GROUP_SUM_LOW] = sum_low;
    pw_state.words[record + PW_GROUP_SUM_HIGH] = sum_high;
    pw_state.words[record + PW_GROUP_OFF_CHIP] = select(block, 0u, on_chip);
    pw_state.words[record + PW_GROUP_CULLED] = culled | (patches << 16u);
    return vec4u(0u, last, base, block);
}
