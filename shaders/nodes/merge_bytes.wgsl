// Copies bytes at any offset: whole words are the unit of everything else that a GPU copies.
//
// Word i of `destination` takes the four bytes that begin `shift` bytes after word i of `source`. In the first and the
// last word only the bits of a mask are taken; the others stay as they are.

struct MergeParams {
    words: u32,
    shift: u32,  // bytes
    head: u32,   // masks of bits
    tail: u32,
}

@group(0) @binding(0) var<uniform> params: MergeParams;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> destination: array<u32>;

@compute @workgroup_size(256)
fn merge_bytes(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
    let i = id.y * workgroups.x * 256u + id.x;
    if (i >= params.words) {
        return;
    }
    let first = i + params.shift / 4u;
    let bits = params.shift % 4u * 8u;
    var value = source[first] >> bits;
    if (bits != 0u) {
        value |= source[first + 1u] << (32u - bits);
    }
    var bytes = 0xffffffffu;
    if (i == 0u) {
        bytes &= params.head;
    }
    if (i == params.words - 1u) {
        bytes &= params.tail;
    }
    destination[i] = (destination[i] & ~bytes) | (value & bytes);
}
