// Curved PN triangles: three corners with normals become a cubic Bézier triangle that meets its neighbours.

struct Attributes { @location(0) position: vec3f, @location(1) normal: vec3f }
struct ControlPoint { position: vec3f, normal: vec3f }
// Points by how many steps they lie from each corner; the middle of the edges for the normals.
struct PatchConstants { factors: TriFactors, points: array<vec3f, 7>, normals: array<vec3f, 3> }
struct Surface { @builtin(position) position: vec4f, @location(0) world_position: vec3f, @location(1) normal: vec3f }

struct Settings { clip_from_world: mat4x4f, factor: f32 }
@group(1) @binding(2) var<uniform> settings: Settings;

fn vertex(attributes: Attributes) -> ControlPoint { return ControlPoint(attributes.position, attributes.normal); }

// The Bézier point a third of the way from `a` to `b`, in the tangent plane of `a`.
fn third(a: ControlPoint, b: ControlPoint) -> vec3f {
    return (2.0 * a.position + b.position - dot(b.position - a.position, a.normal) * a.normal) / 3.0;
}

fn middle_normal(a: ControlPoint, b: ControlPoint) -> vec3f {
    let along = b.position - a.position;
    let bend = 2.0 * dot(along, a.normal + b.normal) / dot(along, along);
    return normalize(a.normal + b.normal - bend * along);
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    let a = input_point(0u);
    let b = input_point(1u);
    let c = input_point(2u);
    var out: PatchConstants;
    out.factors = TriFactors(vec3f(settings.factor), settings.factor);
    out.points[0] = third(a, b);
    out.points[1] = third(b, a);
    out.points[2] = third(b, c);
    out.points[3] = third(c, b);
    out.points[4] = third(c, a);
    out.points[5] = third(a, c);
    var edges = vec3f();
    for (var i = 0u; i < 6u; i++) { edges += out.points[i] / 6.0; }
    let corners = (a.position + b.position + c.position) / 3.0;
    out.points[6] = edges + (edges - corners) / 2.0;
    out.normals[0] = middle_normal(a, b);
    out.normals[1] = middle_normal(b, c);
    out.normals[2] = middle_normal(c, a);
    return out;
}

fn domain(location: vec3f, patch_id: u32) -> Surface {
    let a = output_point(0u);
    let b = output_point(1u);
    let c = output_point(2u);
    let p = constants().points;
    let n = constants().normals;
    let u = location.x;
    let v = location.y;
    let w = location.z;
    let world = a.position * (u * u * u) + b.position * (v * v * v) + c.position * (w * w * w)
        + 3.0 * (p[0] * (u * u * v) + p[1] * (u * v * v) + p[2] * (v * v * w))
        + 3.0 * (p[3] * (v * w * w) + p[4] * (w * w * u) + p[5] * (w * u * u))
        + p[6] * (6.0 * u * v * w);
    let normal = a.normal * (u * u) + b.normal * (v * v) + c.normal * (w * w)
        + n[0] * (u * v) + n[1] * (v * w) + n[2] * (w * u);
    return Surface(settings.clip_from_world * vec4f(world, 1.0), world, normalize(normal));
}
