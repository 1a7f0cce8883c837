// Writes for each vertex which patch it is of, and whether that went off-chip, from the records that a draw leaves.

// `GpuRecords`, and what of it belongs to the draw's place among the others.
struct Records {
    patches: u32,
    words_per_patch: u32,
    threadgroups: u32,
    words_per_threadgroup: u32,
    patch_count: u32,
    patches_per_instance: u32,
    threadgroups_per_instance: u32,
    patches_per_threadgroup: u32,
    // Patches of the draws before.
    before: u32,
}

@group(0) @binding(0) var<uniform> records: Records;
@group(0) @binding(1) var<storage, read> state: array<u32>;
@group(0) @binding(2) var<storage, read_write> patches: array<u32>;

const LANES: u32 = 64u;
const NO_PATCH: u32 = 0xffffffffu;

@compute @workgroup_size(LANES)
fn mark_patches(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = workgroup.y * workgroups.x + workgroup.x;
    if number >= records.patch_count {
        return;
    }
    let record = records.patches + number * records.words_per_patch;
    let first = state[record];
    if first == NO_PATCH {
        return;
    }
    let instance = number / records.patches_per_instance;
    let within = number % records.patches_per_instance / records.patches_per_threadgroup;
    let threadgroup = instance * records.threadgroups_per_instance + within;
    let off_chip = state[records.threadgroups + threadgroup * records.words_per_threadgroup + 5u] != 0u;
    let value = ((records.before + number) & 0x7fffffffu) | select(0u, 0x80000000u, off_chip);
    // The records of a draw that did not fit do not say where anything is.
    let end = first + min(state[record + 2u], arrayLength(&patches) - min(first, arrayLength(&patches)));
    for (var vertex = first + lane; vertex < end; vertex += LANES) {
        patches[vertex] = value;
    }
}
