// Brings an output chunk into canonical order, to be pushed to the node that gathers: a workgroup a threadgroup.
//
// Threadgroups take their ranges of the vertex buffer in whatever order they run, and within a range vertices are in patch
// order. So whole ranges are moved, and what is added to the indices is the same for all of a threadgroup's. Primitives are
// in patch order already.
//
// `shaders/records.wgsl` comes before this text.

struct GatherParams {
    threadgroups: u32,
    records: u32,          // where the threadgroups' records begin, in words of the state buffer
    vertex_words: u32,     // of a vertex
    primitive_words: u32,  // indices of a primitive
    first_vertex: u32,     // number of the chunk's first vertex in the gathered mesh
}

@group(0) @binding(0) var<uniform> params: GatherParams;
@group(0) @binding(1) var<storage, read> state: array<u32>;
// First vertex and first primitive of each threadgroup, counted from the chunk's first.
@group(0) @binding(2) var<storage, read> places: array<vec2u>;
@group(0) @binding(3) var<storage, read> vertices: array<u32>;
@group(0) @binding(4) var<storage, read> indices: array<u32>;
@group(0) @binding(5) var<storage, read_write> ordered_vertices: array<u32>;
@group(0) @binding(6) var<storage, read_write> ordered_indices: array<u32>;

@compute @workgroup_size(128)
fn gather(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = workgroup.y * workgroups.x + workgroup.x;
    if (group >= params.threadgroups) {
        return;
    }
    let record = params.records + group * PW_GROUP_WORDS;
    let base = state[record + PW_GROUP_VERTEX_BASE];
    let place = places[group];

    let begin = base * params.vertex_words;
    let to = place.x * params.vertex_words;
    let words = state[record + PW_GROUP_POINTS] * params.vertex_words;
    for (var i = lane; i < words; i += 128u) {
        ordered_vertices[to + i] = vertices[begin + i];
    }

    let first = place.y * params.primitive_words;
    let count = state[record + PW_GROUP_PRIMITIVES] * params.primitive_words;
    for (var i = lane; i < count; i += 128u) {
        ordered_indices[first + i] = indices[first + i] - base + place.x + params.first_vertex;
    }
}
