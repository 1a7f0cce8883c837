// PN: curved point-normal triangles (Vlachos, Peters, Boyd, Mitchell: Curved PN Triangles, 2001).
//
// The twin of src/library/pn.rs. After blend.wgsl. Normals are of length 1. Corners are those of the tri domain: the
// first weighs as much as location.x, the second location.y, the third location.z.
//
// An edge's curve depends on the points and normals of its two ends alone. Neighbours that share both find the same
// points on it, bit for bit, whichever way each goes along.

// The control point a third of the way from a to b: there on the edge, moved into the tangent plane at a.
fn tess_pn_edge(a: vec3f, a_normal: vec3f, b: vec3f) -> vec3f {
    return ((2.0 * a + b) - dot(b - a, a_normal) * a_normal) * (1.0 / 3.0);
}

// The ten control points of a cubic triangle: the corners; from the first corner to the second the two between, likewise
// from the second to the third and from the third to the first; the middle.
fn tess_pn_points(a: vec3f, b: vec3f, c: vec3f, a_normal: vec3f, b_normal: vec3f, c_normal: vec3f) -> array<vec3f, 10> {
    let ab = tess_pn_edge(a, a_normal, b);
    let ba = tess_pn_edge(b, b_normal, a);
    let bc = tess_pn_edge(b, b_normal, c);
    let cb = tess_pn_edge(c, c_normal, b);
    let ca = tess_pn_edge(c, c_normal, a);
    let ac = tess_pn_edge(a, a_normal, c);
    let edges = ((ab + ba) + (bc + cb) + (ca + ac)) * (1.0 / 6.0);
    let corners = (a + b + c) * (1.0 / 3.0);
    return array<vec3f, 10>(a, b, c, ab, ba, bc, cb, ca, ac, edges + 0.5 * (edges - corners));
}

// The point of the cubic triangle at a domain location.
fn tess_pn_position(points: array<vec3f, 10>, location: vec3f) -> vec3f {
    let u = location.x;
    let v = location.y;
    let w = location.z;
    // On an edge all is exactly 0 but what belongs to that edge.
    let corners = tess_barycentric(points[0], points[1], points[2], vec3f(u * u * u, v * v * v, w * w * w));
    let uv = tess_weigh(points[3], 3.0 * (u * u * v), points[4], 3.0 * (v * v * u));
    let vw = tess_weigh(points[5], 3.0 * (v * v * w), points[6], 3.0 * (w * w * v));
    let wu = tess_weigh(points[7], 3.0 * (w * w * u), points[8], 3.0 * (u * u * w));
    return (corners + ((uv + vw) + wu)) + points[9] * (6.0 * (u * v * w));
}

// The normal in the middle of an edge: that of both ends, mirrored where the edge bends to and fro.
fn tess_pn_edge_normal(a: vec3f, a_normal: vec3f, b: vec3f, b_normal: vec3f) -> vec3f {
    let along = b - a;
    let both = a_normal + b_normal;
    let square = dot(along, along);
    // An edge of no length has no direction to mirror in.
    let turn = select(0.0, 2.0 * dot(along, both) / square, square > 0.0);
    let normal = both - turn * along;
    let size = dot(normal, normal);
    return select(a_normal, normal * inverseSqrt(size), size > 0.0);
}

// The six control normals of a quadratic triangle: the corners'; first to second, second to third, third to first.
fn tess_pn_normals(a: vec3f, b: vec3f, c: vec3f, a_normal: vec3f, b_normal: vec3f, c_normal: vec3f) -> array<vec3f, 6> {
    return array<vec3f, 6>(
        a_normal,
        b_normal,
        c_normal,
        tess_pn_edge_normal(a, a_normal, b, b_normal),
        tess_pn_edge_normal(b, b_normal, c, c_normal),
        tess_pn_edge_normal(c, c_normal, a, a_normal),
    );
}

// The normal of the quadratic triangle at a domain location, of length 1; the first corner's where they cancel out. The
// mixed terms count once, as in the paper.
fn tess_pn_normal(normals: array<vec3f, 6>, location: vec3f) -> vec3f {
    let corners = tess_barycentric(normals[0], normals[1], normals[2], location * location);
    let edges = tess_barycentric(normals[3], normals[4], normals[5], location * location.yzx);
    let normal = corners + edges;
    let size = dot(normal, normal);
    return select(normals[0], normal * inverseSqrt(size), size > 0.0);
}
