// Runs: neighbouring patches of a threadgroup that the tessellator cuts alike. What follows from the factors alone, the
// location of a point or the corners of a primitive, is found once for all patches of a run.
//
// The threadgroup and the connectivity pass walk through columns instead of items (points or primitives): a column is the
// same item in each patch of a run. Composed after PW_MAX_PATCHES and PW_CONTEXTS.

// Longer runs write to many places at once. On an H200, 4 was the best for the passes of an on-chip draw together.
const PW_LONGEST_RUN: u32 = 4u;

// 1 where a patch is cut as the one before it.
var<workgroup> pw_alike: array<u32, PW_MAX_PATCHES>;
// Items before each patch of the threadgroup, and then all of them.
var<workgroup> pw_bases: array<u32, PW_MAX_PATCHES + 1u>;
// Columns before each run and its first patch; and then all columns and patches.
var<workgroup> pw_run_columns: array<u32, PW_MAX_PATCHES + 1u>;
var<workgroup> pw_run_patches: array<u32, PW_MAX_PATCHES + 1u>;
var<workgroup> pw_runs: u32;

fn pw_run_length(length: u32, i: u32, longest: u32) -> u32 {
    return select(1u, length + 1u, pw_alike[i] != 0u && length < longest);
}

// Finds the runs of so many patches, at least one, from `pw_alike` and `pw_bases`; a lane a patch, each counting what
// lies before its own. There are at most a few dozen.
fn pw_find_runs(i: u32, patches: u32, longest: u32) {
    var length = 0u;
    var runs = 0u;
    var columns = 0u;
    for (var j = 0u; j < i; j++) {
        length = pw_run_length(length, j, longest);
        runs += select(0u, 1u, length == 1u);
        columns += select(0u, pw_bases[j + 1u] - pw_bases[j], length == 1u);
    }
    if (pw_run_length(length, i, longest) == 1u) {
        pw_run_columns[runs] = columns;
        pw_run_patches[runs] = i;
        runs += 1u;
        columns += pw_bases[i + 1u] - pw_bases[i];
    }
    if (i + 1u == patches) {
        pw_run_columns[runs] = columns;
        pw_run_patches[runs] = patches;
        pw_runs = runs;
    }
}

// The first column none of whose items lies before `item`. So consecutive ranges of items become consecutive ranges of
// columns, and each column is in one of them.
fn pw_column(item: u32) -> u32 {
    var run = 0u;
    var beyond = pw_runs;
    while (beyond - run > 1u) {
        let middle = (run + beyond) >> 1u;
        if (pw_bases[pw_run_patches[middle]] <= item) {
            run = middle;
        } else {
            beyond = middle;
        }
    }
    let patch_slot = pw_run_patches[run];
    let length = pw_run_patches[run + 1u] - patch_slot;
    let column = pw_run_columns[run] + (item - pw_bases[patch_slot] + length - 1u) / length;
    return min(column, pw_run_columns[run + 1u]);
}

// The last run that begins at or before a column. Those without columns begin where the next does.
fn pw_run_of(column: u32) -> u32 {
    var run = 0u;
    var beyond = pw_runs;
    while (beyond - run > 1u) {
        let middle = (run + beyond) >> 1u;
        if (pw_run_columns[middle] <= column) {
            run = middle;
        } else {
            beyond = middle;
        }
    }
    return run;
}
