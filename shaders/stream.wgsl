// Stream output: the vertices of each primitive written out one after the other, in the order of the primitives, as
// Direct3D streams them. A lane a word, so that neighbours write neighbours.

@group(3) @binding(1) var<storage, read> pw_arguments: array<PwArguments, PW_SLOTS>;
@group(3) @binding(2) var<storage, read> pw_source: array<u32>;
@group(3) @binding(3) var<storage, read> pw_indices: array<u32>;
@group(3) @binding(4) var<storage, read_write> pw_target: array<u32>;

@compute @workgroup_size(PW_STREAM_LANES)
fn pw_stream(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let first = pw_workgroup_index(workgroup, workgroups) * PW_STREAM_WORDS;
    let words = pw_arguments[pw_params.slot].stream_vertices * PW_VERTEX_WORDS;
    let start = pw_arguments[pw_params.slot].first_index;
    for (var i = first + lane; i < min(first + PW_STREAM_WORDS, words); i += PW_STREAM_LANES) {
        let vertex = i / PW_VERTEX_WORDS;
        pw_target[i] = pw_source[pw_indices[start + vertex] * PW_VERTEX_WORDS + (i - vertex * PW_VERTEX_WORDS)];
    }
}
