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

// tess_… are functions of patchwave's library. Its sums turn round exactly: neighbours may go along a shared edge in
// opposite directions, and still have to find the same points on it, bit for bit.

fn blend_row(row: u32, weights: vec4f) -> vec3f {
    let first = 4u * row;
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

fn domain(location: vec2f, patch_id: u32) -> Surface {
    let u = tess_bernstein(location.x);
    let v = tess_bernstein(location.y);
    let along_u = blend_patch(tess_bernstein_derivative(location.x), v);
    let along_v = blend_patch(u, tess_bernstein_derivative(location.y));
    // Where the patch is pinched to a point, the derivatives leave no normal.
    let normal = cross(along_u, along_v);
    let length_squared = dot(normal, normal);
    return Surface(
        vec4f(blend_patch(u, v), 1.0),
        select(vec3f(0.0, 0.0, 1.0), normal * inverseSqrt(length_squared), length_squared > 0.0),
    );
}
