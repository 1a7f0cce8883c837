// Phong: Phong tessellation (Boubekeur, Alexa: Phong Tessellation, 2008).
//
// The twin of src/library/phong.rs. After blend.wgsl. Normals are of length 1. Corners are those of the tri domain.

// What a point lacks to the tangent plane at a corner.
fn pw_lib_to_plane(point: vec3f, corner: vec3f, normal: vec3f) -> vec3f {
    return dot(corner - point, normal) * normal;
}

// The point of the flat triangle at a domain location, moved by `strength` towards where its projections onto the
// tangent planes of the corners meet: 0 leaves it flat, 0.75 is the authors' choice. On an edge it depends on the edge's
// ends alone and is the same, bit for bit, from both sides.
fn tess_phong(
    a: vec3f, b: vec3f, c: vec3f, a_normal: vec3f, b_normal: vec3f, c_normal: vec3f, location: vec3f, strength: f32,
) -> vec3f {
    let flat_point = tess_barycentric(a, b, c, location);
    let moved = tess_barycentric(
        pw_lib_to_plane(flat_point, a, a_normal),
        pw_lib_to_plane(flat_point, b, b_normal),
        pw_lib_to_plane(flat_point, c, c_normal),
        location,
    );
    return flat_point + strength * moved;
}

// The normal there: the corners', weighed, of length 1; the first corner's where they cancel out.
fn tess_phong_normal(a_normal: vec3f, b_normal: vec3f, c_normal: vec3f, location: vec3f) -> vec3f {
    let normal = tess_barycentric(a_normal, b_normal, c_normal, location);
    let size = dot(normal, normal);
    return select(a_normal, normal * inverseSqrt(size), size > 0.0);
}
