// The grid's patch: a bicubic Bézier quad with position and normal, 32 bytes a vertex, one factor a patch from a table.

@group(0) @binding(0) var<storage, read> factors: array<f32>;

struct Attributes { @location(0) position: vec3f }
struct ControlPoint { position: vec3f }
struct PatchConstants { factors: QuadFactors }
struct Surface { @location(0) position: vec3f, @location(1) normal: vec3f }

fn vertex(attributes: Attributes) -> ControlPoint {
    return ControlPoint(attributes.position);
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    let factor = factors[patch_id];
    return PatchConstants(QuadFactors(vec4f(factor), vec2f(factor)));
}

fn bernstein(t: f32) -> vec4f {
    let s = 1.0 - t;
    return vec4f(s * s * s, 3.0 * t * s * s, 3.0 * t * t * s, t * t * t);
}

fn bernstein_slope(t: f32) -> vec4f {
    let s = 1.0 - t;
    return 3.0 * vec4f(-s * s, s * s - 2.0 * t * s, 2.0 * t * s - t * t, t * t);
}

fn domain(location: vec2f, patch_id: u32) -> Surface {
    let u = bernstein(location.x);
    let du = bernstein_slope(location.x);
    let v = bernstein(location.y);
    let dv = bernstein_slope(location.y);
    var position = vec3f();
    var along_u = vec3f();
    var along_v = vec3f();
    for (var row = 0u; row < 4u; row++) {
        let p0 = output_point(row * 4u).position;
        let p1 = output_point(row * 4u + 1u).position;
        let p2 = output_point(row * 4u + 2u).position;
        let p3 = output_point(row * 4u + 3u).position;
        let curve = u.x * p0 + u.y * p1 + u.z * p2 + u.w * p3;
        position += v[row] * curve;
        along_v += dv[row] * curve;
        along_u += v[row] * (du.x * p0 + du.y * p1 + du.z * p2 + du.w * p3);
    }
    return Surface(position, normalize(cross(along_u, along_v)));
}
