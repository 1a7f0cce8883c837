// A PN triangle by patchwave's library, which also tells where it was evaluated.

@group(0) @binding(0) var<storage, read> factors: array<f32>;

struct Attributes { @location(0) position: vec3f, @location(1) normal: vec3f }
struct PatchConstants { factors: TriFactors }
struct Surface { @location(0) position: vec3f, @location(1) normal: vec3f, @location(2) location: vec3f }

fn vertex(attributes: Attributes) -> Attributes {
    return attributes;
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    let factor = factors[patch_id];
    return PatchConstants(TriFactors(vec3f(factor), factor));
}

fn domain(location: vec3f, patch_id: u32) -> Surface {
    let a = output_point(0u);
    let b = output_point(1u);
    let c = output_point(2u);
    let points = tess_pn_points(a.position, b.position, c.position, a.normal, b.normal, c.normal);
    let normals = tess_pn_normals(a.position, b.position, c.position, a.normal, b.normal, c.normal);
    return Surface(tess_pn_position(points, location), tess_pn_normal(normals, location), location);
}
