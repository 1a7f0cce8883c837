// A bicubic patch as grid.wgsl has it, which also tells where it was evaluated.

@group(0) @binding(0) var<storage, read> factors: array<f32>;

struct Attributes { @location(0) position: vec3f }
struct PatchConstants { factors: QuadFactors }
struct Surface { @location(0) position: vec3f, @location(1) normal: vec3f, @location(2) location: vec3f }

fn vertex(attributes: Attributes) -> Attributes {
    return attributes;
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    let factor = factors[patch_id];
    return PatchConstants(QuadFactors(vec4f(factor), vec2f(factor)));
}

fn row(r: u32, weights: vec4f) -> vec3f {
    return tess_blend(
        output_point(4u * r).position,
        output_point(4u * r + 1u).position,
        output_point(4u * r + 2u).position,
        output_point(4u * r + 3u).position,
        weights,
    );
}

fn blend(u: vec4f, v: vec4f) -> vec3f {
    return tess_blend(row(0u, u), row(1u, u), row(2u, u), row(3u, u), v);
}

fn domain(location: vec2f, patch_id: u32) -> Surface {
    let u = tess_bernstein(location.x);
    let v = tess_bernstein(location.y);
    let along_u = blend(tess_bernstein_derivative(location.x), v);
    let along_v = blend(u, tess_bernstein_derivative(location.y));
    return Surface(blend(u, v), normalize(cross(along_u, along_v)), vec3f(location, 0.0));
}
