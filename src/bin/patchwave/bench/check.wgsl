// Looks at every primitive of a batch of the grid: indices, normals, and two sums of hashes that depend on the order of
// the primitives in the draw and on the bits of their vertices, but not on where in the buffer those lie.

struct Checked {
    first_primitive: u32, // of the draw
    primitives: u32,
    last_vertex: atomic<u32>,
    bad_normals: atomic<u32>,
    low: atomic<u32>,
    high: atomic<u32>,
}

// Position and normal, a vector each.
@group(0) @binding(0) var<storage, read> vertices: array<vec4u>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
// Of draw_indexed_indirect.
@group(0) @binding(2) var<storage, read> arguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> checked: Checked;

fn mix_words(hash: u32, words: vec3u) -> u32 {
    return (((((hash ^ words.x) * 16777619u) ^ words.y) * 16777619u) ^ words.z) * 16777619u;
}

@compute @workgroup_size(256)
fn check(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
    let primitives = arguments[0] / 3u;
    if (id.x == 0u) {
        checked.primitives = primitives;
    }
    var last_vertex = 0u;
    var bad_normals = 0u;
    var low = 0u;
    var high = 0u;
    for (var primitive = id.x; primitive < primitives; primitive += workgroups.x * 256u) {
        var hash = (checked.first_primitive + primitive) * 2654435761u + 1u;
        for (var corner = 0u; corner < 3u; corner++) {
            let index = indices[arguments[2] + primitive * 3u + corner];
            last_vertex = max(last_vertex, index);
            let normal = vertices[index * 2u + 1u].xyz;
            let length = dot(bitcast<vec3f>(normal), bitcast<vec3f>(normal));
            bad_normals += select(1u, 0u, abs(length - 1.0) < 0.001);
            hash = mix_words(mix_words(hash, vertices[index * 2u].xyz), normal);
        }
        low += hash;
        high += (hash ^ (hash >> 15u)) * 2246822519u;
    }
    atomicMax(&checked.last_vertex, last_vertex);
    if (bad_normals != 0u) {
        atomicAdd(&checked.bad_normals, bad_normals);
    }
    atomicAdd(&checked.low, low);
    atomicAdd(&checked.high, high);
}
