// The strip-cut index: where patches begin when an index of all ones ends whatever patch it falls into.
//
// A run of l indices between two cuts has l / n complete patches of n control points; what is left over is dropped. Which
// patch an index belongs to depends on all cuts before it, so this is a scan: `pw_cut_blocks` sums up blocks of indices,
// `pw_cut_totals` the blocks, and `pw_cut_patches` writes the first index of each patch. Indices are the same in every
// instance, so the table is made once for a draw.

@group(3) @binding(1) var<storage, read_write> pw_state: PwState;

const PW_CUT_LANES: u32 = 256u;
const PW_CUT_LANE_INDICES: u32 = 16u;
const PW_CUT_BLOCK: u32 = PW_CUT_LANES * PW_CUT_LANE_INDICES;

var<workgroup> pw_scan: array<vec4u, PW_CUT_LANES>;

// What a stretch of indices comes to is four numbers: whether it has a cut; indices before its first cut (all of them where
// it has none); patches between its first and its last cut; indices after its last cut. Of two stretches in a row:
fn pw_cut_join(a: vec4u, b: vec4u) -> vec4u {
    if (a.x == 0u) {
        return vec4u(b.x, a.y + b.y, b.z, b.w);
    }
    if (b.x == 0u) {
        return vec4u(1u, a.y, a.z, a.w + b.y);
    }
    return vec4u(1u, a.y, a.z + (a.w + b.y) / PW_INPUT_POINTS + b.z, b.w);
}

// Complete patches of a stretch that begins where a patch may.
fn pw_cut_count(a: vec4u) -> u32 {
    return a.y / PW_INPUT_POINTS + a.z + a.w / PW_INPUT_POINTS;
}

fn pw_is_cut(i: u32) -> bool {
    return pw_index(pw_params.first_vertex + i) == select(0xffffffffu, 0xffffu, pw_params.index_kind == 1u);
}

fn pw_cut_lane(first: u32, last: u32) -> vec4u {
    var sum = vec4u(0u);
    for (var i = first; i < last; i++) {
        if (!pw_is_cut(i)) {
            sum = pw_cut_join(sum, vec4u(0u, 1u, 0u, 0u));
        } else {
            sum = pw_cut_join(sum, vec4u(1u, 0u, 0u, 0u));
        }
    }
    return sum;
}

// Leaves in `pw_scan` what the lanes up to and with each come to.
fn pw_cut_scan(lane: u32, value: vec4u) {
    workgroupBarrier();
    pw_scan[lane] = value;
    for (var step = 1u; step < PW_CUT_LANES; step <<= 1u) {
        workgroupBarrier();
        var sum = pw_scan[lane];
        if (lane >= step) {
            sum = pw_cut_join(pw_scan[lane - step], sum);
        }
        workgroupBarrier();
        pw_scan[lane] = sum;
    }
    workgroupBarrier();
}

// What lies before this lane.
fn pw_cut_before(lane: u32) -> vec4u {
    var before = vec4u(0u);
    if (lane > 0u) {
        before = pw_scan[lane - 1u];
    }
    return before;
}

// Blocks keep their sums where the draw's patch records will lie: four words for 4,096 indices, of at most 32 to a patch.
fn pw_cut_load(block: u32) -> vec4u {
    let at = pw_params.patch_records + block * 4u;
    return vec4u(pw_state.words[at], pw_state.words[at + 1u], pw_state.words[at + 2u], pw_state.words[at + 3u]);
}

fn pw_cut_store(block: u32, sum: vec4u) {
    let at = pw_params.patch_records + block * 4u;
    pw_state.words[at] = sum.x;
    pw_state.words[at + 1u] = sum.y;
    pw_state.words[at + 2u] = sum.z;
    pw_state.words[at + 3u] = sum.w;
}

// None where an indirect draw turns out to have no patches.
fn pw_cut_block_count() -> u32 {
    return pw_params.draw_indices / PW_CUT_BLOCK + select(0u, 1u, pw_params.draw_indices % PW_CUT_BLOCK != 0u);
}

// The indices of a lane of a block: first, and one past the last.
fn pw_cut_range(block: u32, lane: u32) -> vec2u {
    let first = block * PW_CUT_BLOCK + lane * PW_CUT_LANE_INDICES;
    return min(vec2u(first, first + PW_CUT_LANE_INDICES), vec2u(pw_params.draw_indices));
}

@compute @workgroup_size(PW_CUT_LANES)
fn pw_cut_blocks(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = pw_workgroup_index(workgroup, workgroups);
    if (block >= pw_cut_block_count()) {
        return;
    }
    let range = pw_cut_range(block, lane);
    pw_cut_scan(lane, pw_cut_lane(range.x, range.y));
    if (lane == 0u) {
        pw_cut_store(block, pw_scan[PW_CUT_LANES - 1u]);
    }
}

@compute @workgroup_size(PW_CUT_LANES)
fn pw_cut_totals(@builtin(local_invocation_index) lane: u32) {
    let blocks = pw_cut_block_count();
    var carry = vec4u(0u);
    for (var first = 0u; first < blocks; first += PW_CUT_LANES) {
        var own = vec4u(0u);
        if (first + lane < blocks) {
            own = pw_cut_load(first + lane);
        }
        pw_cut_scan(lane, own);
        if (first + lane < blocks) {
            pw_cut_store(first + lane, pw_cut_join(carry, pw_cut_before(lane)));
        }
        carry = pw_cut_join(carry, pw_scan[PW_CUT_LANES - 1u]);
    }
    if (lane == 0u) {
        pw_state.words[pw_params.patch_table] = pw_cut_count(carry);
    }
}

@compute @workgroup_size(PW_CUT_LANES)
fn pw_cut_patches(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = pw_workgroup_index(workgroup, workgroups);
    if (block >= pw_cut_block_count()) {
        return;
    }
    let range = pw_cut_range(block, lane);
    pw_cut_scan(lane, pw_cut_lane(range.x, range.y));
    let before = pw_cut_join(pw_cut_load(block), pw_cut_before(lane));
    var place = pw_params.patch_table + 1u + pw_cut_count(before);
    // Indices of the patch that is being filled.
    var pending = select(before.w, before.y, before.x == 0u) % PW_INPUT_POINTS;
    for (var i = range.x; i < range.y; i++) {
        if (pw_is_cut(i)) {
            pending = 0u;
        } else {
            pending++;
            if (pending == PW_INPUT_POINTS) {
                pw_state.words[place] = i + 1u - PW_INPUT_POINTS;
                place++;
                pending = 0u;
            }
        }
    }
}
