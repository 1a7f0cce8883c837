// Height over a flat grid of square patches, each edge with a factor of its own.

@group(0) @binding(0) var<storage, read> factors: array<f32>;
@group(1) @binding(0) var<uniform> clip_from_world: mat4x4f;

struct Attributes { @location(0) position: vec3f }
struct PatchConstants { factors: QuadFactors }
struct Surface { @builtin(position) position: vec4f, @location(0) normal: vec3f }

fn vertex(attributes: Attributes) -> Attributes {
    return attributes;
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    let i = 6u * patch_id;
    let edges = vec4f(factors[i], factors[i + 1u], factors[i + 2u], factors[i + 3u]);
    return PatchConstants(QuadFactors(edges, vec2f(factors[i + 4u], factors[i + 5u])));
}

fn domain(location: vec2f, patch_id: u32) -> Surface {
    let near = mix(output_point(0u).position.xy, output_point(1u).position.xy, location.x);
    let far = mix(output_point(2u).position.xy, output_point(3u).position.xy, location.x);
    let at = mix(near, far, location.y);
    let height = 0.35 * sin(1.7 * at.x) * cos(1.3 * at.y) + 0.11 * sin(4.1 * at.x + 1.0) * sin(3.7 * at.y);
    let along_x = 0.595 * cos(1.7 * at.x) * cos(1.3 * at.y) + 0.451 * cos(4.1 * at.x + 1.0) * sin(3.7 * at.y);
    let along_y = -0.455 * sin(1.7 * at.x) * sin(1.3 * at.y) + 0.407 * sin(4.1 * at.x + 1.0) * cos(3.7 * at.y);
    return Surface(
        clip_from_world * vec4f(at, height, 1.0),
        normalize(vec3f(-along_x, -along_y, 1.0)),
    );
}
