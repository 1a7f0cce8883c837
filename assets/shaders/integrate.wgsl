// A patch of a closed bicubic B-spline: what examples/integrate.rs adds to its renderer. The domain function's output is
// what the renderer's own vertex shader reads of a vertex.
//
// Point 4 r + c of a patch lies in row r and column c of the cage; u goes along the rows and v down the columns.

struct Scene {
    clip_from_world: mat4x4f,
    shadow_from_world: mat4x4f,
    eye: vec3f,
    pixels_per_unit: f32,
}

// The renderer's own bind group.
@group(0) @binding(0) var<uniform> scene: Scene;

struct ControlPoint { @location(0) position: vec3f }

struct PatchConstants { factors: QuadFactors }

struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
}

fn vertex(point: ControlPoint) -> ControlPoint {
    return point;
}

// Bézier point `i` of a curve over four B-spline points. The ends are found from three points in the same way by the
// curves on both sides, so that patches meet bit for bit.
fn bezier(i: u32, a: vec3f, b: vec3f, c: vec3f, d: vec3f) -> vec3f {
    switch i {
        case 0u: { return (2.0 / 3.0) * b + (1.0 / 6.0) * (a + c); }
        case 1u: { return (2.0 / 3.0) * b + (1.0 / 3.0) * c; }
        case 2u: { return (2.0 / 3.0) * c + (1.0 / 3.0) * b; }
        default: { return (2.0 / 3.0) * c + (1.0 / 6.0) * (b + d); }
    }
}

fn row(r: u32, i: u32) -> vec3f {
    let first = 4u * r;
    return bezier(
        i,
        input_point(first).position,
        input_point(first + 1u).position,
        input_point(first + 2u).position,
        input_point(first + 3u).position,
    );
}

// The change of basis, once a control point and not once a vertex.
fn hull(point: u32, patch_id: u32) -> ControlPoint {
    let i = point % 4u;
    return ControlPoint(bezier(point / 4u, row(0u, i), row(1u, i), row(2u, i), row(3u, i)));
}

// By the size of the edge on screen: 8 pixels a segment. Both patches on it have the two cage points.
fn edge(a: u32, b: u32) -> f32 {
    return tess_edge_sphere(input_point(a).position, input_point(b).position, scene.eye, scene.pixels_per_unit, 8.0);
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    // In the order U==0, V==0, U==1, V==1.
    let edges = vec4f(edge(5u, 9u), edge(5u, 6u), edge(6u, 10u), edge(9u, 10u));
    return PatchConstants(QuadFactors(edges, vec2f(max(edges.y, edges.w), max(edges.x, edges.z))));
}

fn blend_row(r: u32, weights: vec4f) -> vec3f {
    let first = 4u * r;
    return tess_blend(
        output_point(first).position,
        output_point(first + 1u).position,
        output_point(first + 2u).position,
        output_point(first + 3u).position,
        weights,
    );
}

fn blend_patch(u: vec4f, v: vec4f) -> vec3f {
    return tess_blend(blend_row(0u, u), blend_row(1u, u), blend_row(2u, u), blend_row(3u, u), v);
}

fn domain(location: vec2f, patch_id: u32) -> Vertex {
    let u = tess_bernstein(location.x);
    let v = tess_bernstein(location.y);
    let along_u = blend_patch(tess_bernstein_derivative(location.x), v);
    let along_v = blend_patch(u, tess_bernstein_derivative(location.y));
    return Vertex(blend_patch(u, v), normalize(cross(along_u, along_v)), vec4f(0.80, 0.10, 0.045, 1.0));
}
