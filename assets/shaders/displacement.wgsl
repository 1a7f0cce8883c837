// A sphere out of the six sides of a cube, displaced along its normals by noise in the domain function.

struct Settings {
    clip_from_world: mat4x4f,
    eye: vec3f,
    // Pixels that one unit of length covers at distance 1 from the eye.
    pixels_per_unit: f32,
    // Wanted length of a segment in pixels.
    segment_pixels: f32,
    // The factor of all edges and insides; 0 where they are chosen by size.
    factor: f32,
    seconds: f32,
    // How far the highest places are from the lowest, in radii.
    rise: f32,
}

@group(0) @binding(0) var<uniform> settings: Settings;

// Patches along an edge of the cube.
const SIDE: u32 = 4u;

struct Corner {
    // On the cube from -SIDE to SIDE, in whole numbers.
    cube: vec3f,
}

struct PatchConstants {
    factors: QuadFactors,
}

struct Surface {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(perspective, centroid) world_position: vec3f,
    @location(1) @interpolate(perspective, centroid) normal: vec3f,
    // How high the place is, from about 0 to 1.
    @location(2) @interpolate(perspective, centroid) height: f32,
}

// No vertex buffer: the number of the vertex says which corner it is of which patch: (0, 0), (0, 1), (1, 0), (1, 1).
fn vertex(id: VertexId) -> Corner {
    let patch_id = id.vertex_index / 4u;
    let side = patch_id / (SIDE * SIDE);
    let cell = vec2u(patch_id % SIDE, patch_id / SIDE % SIDE) + vec2u(id.vertex_index >> 1u, id.vertex_index) % 2u;
    let place = 2.0 * vec2f(cell) - f32(SIDE);
    // Opposite sides are mirrored, so that all face outwards.
    let x = vec3f(f32(SIDE), place);
    let on_x = select(vec3f(-x.x, x.zy), x, side < 3u);
    return Corner(select(select(on_x.yzx, on_x.zxy, side % 3u == 1u), on_x, side % 3u == 0u));
}

fn hull(point: u32, patch_id: u32) -> Corner {
    return input_point(point);
}

fn edge_factor(a: u32, b: u32) -> f32 {
    return tess_edge_sphere(
        normalize(output_point(a).cube),
        normalize(output_point(b).cube),
        settings.eye,
        settings.pixels_per_unit,
        settings.segment_pixels,
    );
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    if settings.factor > 0.0 {
        return PatchConstants(QuadFactors(vec4f(settings.factor), vec2f(settings.factor)));
    }
    // In the order U==0, V==0, U==1, V==1.
    let edges = vec4f(edge_factor(0u, 1u), edge_factor(0u, 2u), edge_factor(2u, 3u), edge_factor(1u, 3u));
    return PatchConstants(QuadFactors(edges, vec2f(max(edges.y, edges.w), max(edges.x, edges.z))));
}

fn random(cell: vec3i) -> vec3f {
    var bits = bitcast<vec3u>(cell) * vec3u(0x9e3779b1u, 0x85ebca77u, 0xc2b2ae3du);
    bits = vec3u(bits.x ^ bits.y ^ bits.z) * vec3u(0x27d4eb2fu, 0x165667b1u, 0x2c1b3c6du);
    bits = (bits ^ (bits >> vec3u(15u))) * 0x297a2d39u;
    return vec3f((bits ^ (bits >> vec3u(14u))) >> vec3u(8u)) / 8388608.0 - 1.0;
}

// Gradient noise: its derivative, and its value in the last component.
fn noise(place: vec3f) -> vec4f {
    let cell = floor(place);
    let t = place - cell;
    let rise = t * t * t * (t * (6.0 * t - 15.0) + 10.0);
    let slope = 30.0 * t * t * (t * (t - 2.0) + 1.0);
    var sum = vec4f();
    for (var k = 0u; k < 8u; k++) {
        let corner = vec3f(vec3u(k, k >> 1u, k >> 2u) % 2u);
        let gradient = random(vec3i(cell + corner));
        let value = dot(gradient, t - corner);
        let w = mix(1.0 - rise, rise, corner);
        let dw = mix(-slope, slope, corner);
        let weight = w.x * w.y * w.z;
        let turn = vec3f(dw.x * w.y * w.z, w.x * dw.y * w.z, w.x * w.y * dw.z);
        sum += vec4f(weight * gradient + value * turn, weight * value);
    }
    return sum;
}

// Boulders with clefts between them, in five sizes.
fn boulders(place: vec3f) -> vec4f {
    var sum = vec4f();
    var scale = 1.7;
    var size = 1.0;
    for (var octave = 0; octave < 5; octave++) {
        let found = noise(scale * place + vec3f(0.0, 0.0, 0.15 * settings.seconds) + 7.3 * f32(octave));
        // Its absolute value, rounded at 0.
        let value = sqrt(found.w * found.w + 0.0016);
        sum += size * vec4f(scale * found.xyz * (found.w / value), value);
        scale *= 2.07;
        size *= 0.46;
    }
    return sum;
}

fn domain(location: vec2f, patch_id: u32) -> Surface {
    // Exact, in whole numbers and multiples of 1/32768: on an edge, all patches that meet there get the same place.
    let corner = output_point(0u).cube;
    let cube = corner + location.x * (output_point(2u).cube - corner) + location.y * (output_point(1u).cube - corner);
    let outwards = normalize(cube);
    let found = boulders(outwards);
    let radius = 1.0 + settings.rise * (found.w - 0.45);
    let world_position = radius * outwards;
    // What the height changes by along the sphere tilts the normal.
    let slope = settings.rise * (found.xyz - dot(found.xyz, outwards) * outwards);
    return Surface(
        settings.clip_from_world * vec4f(world_position, 1.0),
        world_position,
        normalize(radius * outwards - slope),
        found.w,
    );
}
