// Copies bytes at any offset: whole words are the unit of everything else that a GPU copies.
//
// Word i of `destination` takes the four bytes that begin `shift` bytes after word i of `source`. In the first and the
// last word of a row only the bits of a mask are taken; the others stay as they are, as do the words between rows.

struct MergeParams {
    words: u32,  // of a row, at most `pitch` where there are several
    shift: u32,  // bytes
    head: u32,   // masks of bits
    tail: u32,
    rows: u32,
    pitch: u32,  // words from one row to the next
    spare_0: u32,
    spare_1: u32,
}

@group(0) @binding(0) var<uniform> params: MergeParams;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> destination: array<u32>;

@compute @workgroup_size(256)
fn merge_bytes(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
    let i = id.y * workgroups.x * 256u + id.x;
    let row = i / params.words;
    let word = i % params.words;
    if (row >= params.rows) {
        return;
    }
    let at = row * params.pitch + word;
    let first = at + params.shift / 4u;
    let bits = params.shift % 4u * 8u;
    var value = source[first] >> bits;
    if (bits != 0u) {
        value |= source[first + 1u] << (32u - bits);
    }
    var bytes = 0xffffffffu;
    if (word == 0u) {
        bytes &= params.head;
    }
    if (word == params.words - 1u) {
        bytes &= params.tail;
    }
    destination[at] = (destination[at] & ~bytes) | (value & bytes);
}
