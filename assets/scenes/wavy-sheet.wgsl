// A uniform bicubic B-spline patch: control point 4 r + c is in row r and column c of its 4 by 4.

override SEGMENT_PIXELS: f32 = 10.0;

struct View { clip_from_world: mat4x4f, eye: vec3f, pixels_per_unit: f32 }
@group(0) @binding(0) var<uniform> view: View;

struct Attributes { @location(0) position: vec3f }
struct ControlPoint { position: vec3f }
struct PatchConstants { factors: QuadFactors }
struct Surface {
    @builtin(position) position: vec4f,
    @location(0) world_position: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec3f,
}

fn vertex(attributes: Attributes) -> ControlPoint { return ControlPoint(attributes.position); }

// Weights by which B-spline points along one direction make a Bézier point.
fn change_of_basis(point: u32) -> vec4f {
    switch point {
        case 0u: { return vec4f(1.0, 4.0, 1.0, 0.0) / 6.0; }
        case 1u: { return vec4f(0.0, 4.0, 2.0, 0.0) / 6.0; }
        case 2u: { return vec4f(0.0, 2.0, 4.0, 0.0) / 6.0; }
        default: { return vec4f(0.0, 1.0, 4.0, 1.0) / 6.0; }
    }
}

fn hull(point: u32, patch_id: u32) -> ControlPoint {
    let along_rows = change_of_basis(point / 4u);
    let along_columns = change_of_basis(point % 4u);
    var position = vec3f();
    for (var r = 0u; r < 4u; r++) {
        for (var c = 0u; c < 4u; c++) {
            position += along_rows[r] * along_columns[c] * input_point(4u * r + c).position;
        }
    }
    return ControlPoint(position);
}

// The same from either end of the edge, and out of its own four points alone.
fn edge_factor(first: u32, step: u32) -> f32 {
    let a = output_point(first).position;
    let b = output_point(first + step).position;
    let c = output_point(first + 2u * step).position;
    let d = output_point(first + 3u * step).position;
    let size = (distance(a, b) + distance(c, d)) + distance(b, c);
    let away = max(distance(view.eye, 0.5 * (a + d)), 1e-3);
    return max(1.0, size * view.pixels_per_unit / (away * SEGMENT_PIXELS));
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    let edges = vec4f(edge_factor(0u, 4u), edge_factor(0u, 1u), edge_factor(3u, 4u), edge_factor(12u, 1u));
    return PatchConstants(QuadFactors(edges, vec2f(max(edges.y, edges.w), max(edges.x, edges.z))));
}

fn bernstein(t: f32) -> vec4f {
    let s = 1.0 - t;
    return vec4f(s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t);
}

fn bernstein_derivative(t: f32) -> vec4f {
    let s = 1.0 - t;
    return 3.0 * vec4f(-s * s, s * s - 2.0 * s * t, 2.0 * s * t - t * t, t * t);
}

fn blend(u: vec4f, v: vec4f) -> vec3f {
    var sum = vec3f();
    for (var r = 0u; r < 4u; r++) {
        for (var c = 0u; c < 4u; c++) { sum += v[r] * u[c] * output_point(4u * r + c).position; }
    }
    return sum;
}

fn domain(location: vec2f, patch_id: u32) -> Surface {
    let u = bernstein(location.x);
    let v = bernstein(location.y);
    let world = blend(u, v);
    let normal = cross(blend(bernstein_derivative(location.x), v), blend(u, bernstein_derivative(location.y)));
    let height = clamp(0.5 + 0.6 * world.z, 0.0, 1.0);
    let color = mix(vec3f(0.05, 0.25, 0.45), vec3f(0.95, 0.65, 0.25), height);
    return Surface(view.clip_from_world * vec4f(world, 1.0), world, normalize(normal), color);
}
