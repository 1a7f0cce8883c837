// Curved PN triangles: a coarse mesh with normals becomes a smooth one. A cubic Bézier triangle for the points, a quadratic
// one for the normals, both from the three corners alone.
//
// The draw has two instances: the mesh as it is, and the mesh made smooth.

struct Settings {
    clip_from_world: mat4x4f,
    eye: vec3f,
    // Pixels that one unit of length covers at distance 1 from the eye.
    pixels_per_unit: f32,
    // From the coarse mesh to the smooth one; half of it to each side.
    apart: vec3f,
    // Wanted length of a segment in pixels.
    segment_pixels: f32,
}

@group(0) @binding(0) var<uniform> settings: Settings;

struct Attributes {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec3f,
}

struct ControlPoint {
    position: vec3f,
    normal: vec3f,
    color: vec3f,
    is_coarse: u32,
}

struct PatchConstants {
    factors: TriFactors,
}

struct Surface {
    @builtin(position) position: vec4f,
    // Centroid, so that at the outline nothing is shaded with a normal from beyond it.
    @location(0) @interpolate(perspective, centroid) world_position: vec3f,
    @location(1) @interpolate(perspective, centroid) normal: vec3f,
    @location(2) @interpolate(perspective, centroid) color: vec3f,
}

fn vertex(attributes: Attributes, id: VertexId) -> ControlPoint {
    let side = select(0.5, -0.5, id.instance_index == 0u);
    let position = attributes.position + side * settings.apart;
    return ControlPoint(position, attributes.normal, attributes.color, u32(id.instance_index == 0u));
}

// Ten output control points of three: a hull function makes as many as the pipeline says. The first six carry the control
// normals, the first three the corners' colours.
fn hull(point: u32, patch_id: u32) -> ControlPoint {
    let a = input_point(0u);
    let b = input_point(1u);
    let c = input_point(2u);
    var points = tess_pn_points(a.position, b.position, c.position, a.normal, b.normal, c.normal);
    var normals = tess_pn_normals(a.position, b.position, c.position, a.normal, b.normal, c.normal);
    let color = input_point(min(point, 2u)).color;
    return ControlPoint(points[point], normals[min(point, 5u)], color, a.is_coarse);
}

// What belongs to the edge alone decides, so that both triangles on it agree.
fn edge_factor(first: u32, second: u32) -> f32 {
    return tess_edge_sphere(
        input_point(first).position,
        input_point(second).position,
        settings.eye,
        settings.pixels_per_unit,
        settings.segment_pixels,
    );
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    if input_point(0u).is_coarse != 0u {
        return PatchConstants(TriFactors(vec3f(1.0), 1.0));
    }
    // In the order U==0, V==0, W==0: each opposite the corner where that coordinate is 1.
    let edges = vec3f(edge_factor(1u, 2u), edge_factor(2u, 0u), edge_factor(0u, 1u));
    return PatchConstants(TriFactors(edges, max(edges.x, max(edges.y, edges.z))));
}

fn domain(location: vec3f, patch_id: u32) -> Surface {
    var points: array<vec3f, 10>;
    for (var i = 0u; i < 10u; i++) {
        points[i] = output_point(i).position;
    }
    var normals: array<vec3f, 6>;
    for (var i = 0u; i < 6u; i++) {
        normals[i] = output_point(i).normal;
    }
    let world_position = tess_pn_position(points, location);
    let facet = cross(points[1] - points[0], points[2] - points[0]);
    return Surface(
        settings.clip_from_world * vec4f(world_position, 1.0),
        world_position,
        select(tess_pn_normal(normals, location), normalize(facet), output_point(0u).is_coarse != 0u),
        tess_barycentric(output_point(0u).color, output_point(1u).color, output_point(2u).color, location),
    );
}
