// Looks at every primitive of a chunk or batch of the grid: indices, normals, and two sums of hashes that depend on the order
// of the primitives in the draw and on the bits of their vertices, but not on where in the buffer those lie. Where there are no
// indices, at every vertex, with sums that depend on their bits alone.

struct Checked {
    first_primitive: u32, // of the draw
    primitives: u32,
    last_vertex: atomic<u32>,
    bad_normals: atomic<u32>,
    low: atomic<u32>,
    high: atomic<u32>,
    vertices: u32,        // that there are
    arguments: u32,       // where those of draw_indexed_indirect begin, in words
}

// Position and normal, a vector each.
@group(0) @binding(0) var<storage, read> vertices: array<vec4u>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> arguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> checked: Checked;

fn mix_words(hash: u32, words: vec3u) -> u32 {
    return (((((hash ^ words.x) * 16777619u) ^ words.y) * 16777619u) ^ words.z) * 16777619u;
}

fn is_normal(words: vec3u) -> bool {
    let normal = bitcast<vec3f>(words);
    return abs(dot(normal, normal) - 1.0) < 0.001;
}

fn scramble(hash: u32) -> u32 {
    return (hash ^ (hash >> 15u)) * 2246822519u;
}

fn add_up(last_vertex: u32, bad_normals: u32, low: u32, high: u32) {
    atomicMax(&checked.last_vertex, last_vertex);
    if (bad_normals != 0u) {
        atomicAdd(&checked.bad_normals, bad_normals);
    }
    atomicAdd(&checked.low, low);
    atomicAdd(&checked.high, high);
}

@compute @workgroup_size(256)
fn check_vertices(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
    var bad_normals = 0u;
    var low = 0u;
    var high = 0u;
    for (var vertex = id.x; vertex < checked.vertices; vertex += workgroups.x * 256u) {
        let normal = vertices[vertex * 2u + 1u].xyz;
        bad_normals += select(1u, 0u, is_normal(normal));
        let hash = mix_words(mix_words(1u, vertices[vertex * 2u].xyz), normal);
        low += hash;
        high += scramble(hash);
    }
    add_up(0u, bad_normals, low, high);
}

@compute @workgroup_size(256)
fn check(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
    let primitives = arguments[checked.arguments] / 3u;
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
            let index = indices[arguments[checked.arguments + 2u] + primitive * 3u + corner];
            last_vertex = max(last_vertex, index);
            let normal = vertices[index * 2u + 1u].xyz;
            bad_normals += select(1u, 0u, is_normal(normal));
            hash = mix_words(mix_words(hash, vertices[index * 2u].xyz), normal);
        }
        low += hash;
        high += scramble(hash);
    }
    add_up(last_vertex, bad_normals, low, high);
}
