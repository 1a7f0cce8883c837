// A height map as patches of the quad domain: factors by distance and by roughness, culling by the view, displacement.
// Follows terrain.heights.wgsl.

struct Point {
    // A corner: (0, 0), (0, 1), (1, 0), (1, 1) of its patch, which is as large as 1.
    grid: vec2f,
}

// Four of a patch. Each is an edge's factor too, so that four lanes find the four of them.
struct Edge {
    grid: vec2f,
    factor: f32,
    // Lowest and highest texel of those that this lane looked at.
    low: f32,
    high: f32,
}

struct PatchConstants {
    factors: QuadFactors,
}

struct Surface {
    @builtin(position) position: vec4f,
    @location(0) world_position: vec3f,
    @location(1) grid: vec2f,
}

// No vertex buffer: the number of the vertex says which corner it is of which patch.
fn vertex(id: VertexId) -> Point {
    let patch_id = id.vertex_index / 4u;
    let corner = vec2u((id.vertex_index >> 1u) & 1u, id.vertex_index & 1u);
    return Point(vec2f(vec2u(patch_id % u32(PATCHES), patch_id / u32(PATCHES)) + corner));
}

const STEPS: i32 = 8;

// The factor of the edge between two corners. The patches on both sides get it from the same numbers in the same order, so
// that they agree to the bit: always from the corner in the north or west.
fn edge_factor(a: vec2f, b: vec2f) -> f32 {
    let start = min(a, b);
    let step = (max(a, b) - start) / f32(STEPS);
    let first = relief(start).z;
    var before = first;
    var here = relief(start + step).z;
    var bend = 0.0;
    for (var k = 2; k <= STEPS; k++) {
        let next = relief(start + f32(k) * step).z;
        bend = max(bend, abs((next - here) - (here - before)));
        before = here;
        here = next;
    }
    let p = world_at(start, first);
    let q = world_at(max(a, b), here);
    let away = max(distance(0.5 * (p + q), settings.eye), 1e-6);
    // `bend` is the second difference over an eighth of the edge; a chord over 1/n of the edge is off by up to
    // (8/n)^2 / 8 of it.
    let bend_pixels = bend * settings.extent.z * settings.pixels_per_unit / away;
    let by_roughness = f32(STEPS) * sqrt(bend_pixels / (8.0 * settings.tolerance));
    // Segments of less than two pixels serve nobody.
    return min(max(by_roughness, 1.0), tess_edge_sphere(p, q, settings.eye, settings.pixels_per_unit, 2.0));
}

// The ends of the edges U==0, V==0, U==1, V==1.
const ENDS = array<vec2u, 4>(vec2u(0u, 1u), vec2u(0u, 2u), vec2u(2u, 3u), vec2u(1u, 3u));

fn hull(point: u32, patch_id: u32) -> Edge {
    let factor = edge_factor(input_point(ENDS[point].x).grid, input_point(ENDS[point].y).grid);
    // Every fourth row of the texels that the patch is made of.
    let first = vec2i(floor(texel_at(input_point(0u).grid))) - 1;
    let last = vec2i(floor(texel_at(input_point(3u).grid))) + 2;
    var low = 1e9;
    var high = -1e9;
    for (var y = first.y + i32(point); y <= last.y; y += 4) {
        for (var x = first.x; x <= last.x; x++) {
            let height = height_of(vec2i(x, y));
            low = min(low, height);
            high = max(high, height);
        }
    }
    return Edge(input_point(point).grid, factor, low, high);
}

fn patch_constants(patch_id: u32) -> PatchConstants {
    let edges = vec4f(output_point(0u).factor, output_point(1u).factor, output_point(2u).factor, output_point(3u).factor);
    let factors = QuadFactors(edges, vec2f(max(edges.y, edges.w), max(edges.x, edges.z)));
    // The patch lies between its lowest and its highest texel.
    let low = min(min(output_point(0u).low, output_point(1u).low), min(output_point(2u).low, output_point(3u).low));
    let high = max(max(output_point(0u).high, output_point(1u).high), max(output_point(2u).high, output_point(3u).high));
    let north_west = world_at(output_point(0u).grid, low);
    let south_east = world_at(output_point(3u).grid, high);
    let outside = tess_box_outside(
        vec3f(north_west.x, south_east.y, north_west.z),
        vec3f(south_east.x, north_west.y, south_east.z),
        tess_frustum_planes(settings.clip_from_world),
    );
    return PatchConstants(tess_cull_quad(factors, outside));
}

fn domain(location: vec2f, patch_id: u32) -> Surface {
    // Exact: a whole number and a multiple of 1/65536. So neighbours get the same place on their edge, and the same height.
    let grid = output_point(0u).grid + location;
    let world_position = world_at(grid, relief(grid).z);
    return Surface(settings.clip_from_world * vec4f(world_position, 1.0), world_position, grid);
}
