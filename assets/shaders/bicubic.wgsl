// A bicubic Bézier patch on the quad domain: 16 input points, passed through, one factor for all edges.

struct Settings { factor: f32 }

@group(0) @binding(0) var<uniform> settings: Settings;

struct Attributes { @location(0) position: vec3f }

struct ControlPoint { position: vec3f }

struct PatchConstants { factors: QuadFactors }

struct Surface {
    @builtin(position) position: vec4f,
    @location(0) normal: vec3f,
}

fn vertex(attributes: Attributes) -> ControlPoint {
    return ControlPoint(attributes.position);
}

fn hull(point: u32, patch_id: u32) -> ControlPoint {
    return input_point(point);
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    return PatchConstants(QuadFactors(vec4f(settings.factor), vec2f(settings.factor)));
}

// Neighbours may go along a shared edge in opposite directions, and still have to find the same points on it, bit for
// bit. WGSL leaves it to the compiler to fuse multiplications and additions, so that a * x + d * w need not be what
// d * w + a * x is. What follows therefore turns round exactly: turning t only swaps whole values, never roles.

// The four cubic Bernstein polynomials.
fn bernstein(t: f32) -> vec4f {
    let near = min(t, 1.0 - t);
    let far = max(t, 1.0 - t);
    let weights = vec4f(far * far * far, 3.0 * (far * far * near), 3.0 * (near * near * far), near * near * near);
    return select(weights, weights.wzyx, t > 0.5);
}

// a * x + b * y.
fn weigh(a: vec3f, x: f32, b: vec3f, y: f32) -> vec3f {
    return (a + b) * min(x, y) + select(a, b, y > x) * abs(x - y);
}

fn blend(a: vec3f, b: vec3f, c: vec3f, d: vec3f, weights: vec4f) -> vec3f {
    return weigh(a, weights.x, d, weights.w) + weigh(b, weights.y, c, weights.z);
}

// The derivatives of the Bernstein polynomials.
fn bernstein_derivative(t: f32) -> vec4f {
    let s = 1.0 - t;
    return 3.0 * vec4f(-(s * s), s * s - 2.0 * (s * t), 2.0 * (s * t) - t * t, t * t);
}

fn blend_row(row: u32, weights: vec4f) -> vec3f {
    let first = 4u * row;
    return blend(
        output_point(first).position,
        output_point(first + 1u).position,
        output_point(first + 2u).position,
        output_point(first + 3u).position,
        weights,
    );
}

fn blend_patch(u: vec4f, v: vec4f) -> vec3f {
    return blend(blend_row(0u, u), blend_row(1u, u), blend_row(2u, u), blend_row(3u, u), v);
}

fn domain(location: vec2f, patch_id: u32) -> Surface {
    let u = bernstein(location.x);
    let v = bernstein(location.y);
    let along_u = blend_patch(bernstein_derivative(location.x), v);
    let along_v = blend_patch(u, bernstein_derivative(location.y));
    // Where the patch is pinched to a point, the derivatives leave no normal.
    let normal = cross(along_u, along_v);
    let length_squared = dot(normal, normal);
    return Surface(
        vec4f(blend_patch(u, v), 1.0),
        select(vec3f(0.0, 0.0, 1.0), normal * inverseSqrt(length_squared), length_squared > 0.0),
    );
}
