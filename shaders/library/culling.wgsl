// Culling: whether a patch can be dropped, and dropping it, by factors of 0.
//
// The twin of src/library/culling.rs. After the factor structs. Where an input is NaN, the answer is to keep the patch.

// The factors, or 0 for all edges where the patch is culled.
fn tess_cull_quad(factors: QuadFactors, cull: bool) -> QuadFactors {
    return QuadFactors(select(factors.edges, vec4f(), cull), factors.inside);
}

fn tess_cull_tri(factors: TriFactors, cull: bool) -> TriFactors {
    return TriFactors(select(factors.edges, vec3f(), cull), factors.inside);
}

fn tess_cull_isoline(factors: IsolineFactors, cull: bool) -> IsolineFactors {
    return IsolineFactors(select(factors.density, 0.0, cull), factors.detail);
}

// Whether the triangle turns its back on the eye, or its edge. Its front is where a, b, c go round counter-clockwise, in
// right-handed coordinates. A triangle of no area counts as turned away, so that it does not keep a patch.
fn tess_faces_away(a: vec3f, b: vec3f, c: vec3f, eye: vec3f) -> bool {
    return dot(cross(b - a, c - a), a - eye) >= 0.0;
}

// Whether all of a surface turns its back on the eye: it lies in the sphere, and each of its normals is within the cone
// around the axis (of length 1) whose half angle has this cosine. Cones of 90 degrees and more never do.
fn tess_cone_faces_away(center: vec3f, radius: f32, axis: vec3f, cosine: f32, eye: vec3f) -> bool {
    let from_eye = center - eye;
    // For a normal n in the cone and a point at v from the eye, dot(v, n) >= 0 as soon as v is within 90 degrees less the
    // half angle of the axis: dot(v, axis) >= sine * |v|. Within that region the difference of the two sides changes by no
    // more than v does, so that the radius is all that the other points of the sphere take away.
    let sine = sqrt(max(1.0 - cosine * cosine, 0.0));
    return cosine > 0.0 && dot(from_eye, axis) >= sine * length(from_eye) + radius;
}

// The planes of a view frustum, from the matrix that takes points of a space to clip space (depth from 0 to w): left,
// right, bottom, top, and the two of depth. dot(plane.xyz, point) + plane.w is not below 0 inside. Not normalised.
fn tess_frustum_planes(clip_from_world: mat4x4f) -> array<vec4f, 6> {
    let rows = transpose(clip_from_world);
    return array<vec4f, 6>(
        rows[3] + rows[0],
        rows[3] - rows[0],
        rows[3] + rows[1],
        rows[3] - rows[1],
        rows[2],
        rows[3] - rows[2],
    );
}

fn pw_lib_sphere_behind(center: vec3f, radius: f32, plane: vec4f) -> bool {
    return dot(plane.xyz, center) + plane.w < -(radius * length(plane.xyz));
}

// Whether the sphere is wholly behind one of the planes.
fn tess_sphere_outside(center: vec3f, radius: f32, planes: array<vec4f, 6>) -> bool {
    return pw_lib_sphere_behind(center, radius, planes[0])
        || pw_lib_sphere_behind(center, radius, planes[1])
        || pw_lib_sphere_behind(center, radius, planes[2])
        || pw_lib_sphere_behind(center, radius, planes[3])
        || pw_lib_sphere_behind(center, radius, planes[4])
        || pw_lib_sphere_behind(center, radius, planes[5]);
}

fn pw_lib_box_behind(low: vec3f, high: vec3f, plane: vec4f) -> bool {
    // The corner that is furthest in the plane's direction.
    let corner = select(low, high, plane.xyz > vec3f());
    return dot(plane.xyz, corner) + plane.w < 0.0;
}

// Whether the box between two corners is wholly behind one of the planes.
fn tess_box_outside(low: vec3f, high: vec3f, planes: array<vec4f, 6>) -> bool {
    return pw_lib_box_behind(low, high, planes[0])
        || pw_lib_box_behind(low, high, planes[1])
        || pw_lib_box_behind(low, high, planes[2])
        || pw_lib_box_behind(low, high, planes[3])
        || pw_lib_box_behind(low, high, planes[4])
        || pw_lib_box_behind(low, high, planes[5]);
}

// Which planes of the frustum a point in clip space is behind, a bit each, in the order of tess_frustum_planes. Where the
// codes of all control points have a bit in common, so is what they span.
fn tess_clip_code(clip: vec4f) -> u32 {
    return select(0u, 1u, clip.x < -clip.w)
        | select(0u, 2u, clip.x > clip.w)
        | select(0u, 4u, clip.y < -clip.w)
        | select(0u, 8u, clip.y > clip.w)
        | select(0u, 16u, clip.z < 0.0)
        | select(0u, 32u, clip.z > clip.w);
}
