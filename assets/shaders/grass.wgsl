// Grass: a patch of isolines for each cell of the meadow, a line for each strand. Follows grass.field.wgsl.
//
// There are no vertex buffers: a patch is one control point, the corner of its cell, made from its number.

struct Cell {
    corner: vec2f,
}

struct PatchConstants {
    factors: IsolineFactors,
    // How much of the sun there is here: by the slope, and by the shadows of clouds.
    sunlight: f32,
}

struct Surface {
    @builtin(position) position: vec4f,
    @location(0) color: vec3f,
}

fn vertex(id: VertexId) -> Cell {
    let cell = vec2f(f32(id.vertex_index % CELLS), f32(id.vertex_index / CELLS));
    return Cell(CELL * (cell - 0.5 * f32(CELLS)));
}

// Tallest strand, in metres.
const TALL: f32 = 0.62;

fn patch_constants(patch_id: u32) -> PatchConstants {
    let middle = ground(input_point(0u).corner + 0.5 * CELL) + vec3f(0.0, 0.0, 0.5 * TALL);
    let pixels_per_metre = settings.pixels_per_unit / max(distance(middle, settings.eye), 0.1);
    // Lines of a patch, and segments of a line.
    let density = clamp(settings.lushness * 0.75 * CELL * pixels_per_metre, 3.0, 64.0);
    let detail = clamp(TALL * pixels_per_metre / 5.0, 2.0, 32.0);
    let planes = tess_frustum_planes(settings.clip_from_world);
    let is_outside = tess_sphere_outside(middle, TALL, planes);
    let corner = input_point(0u).corner;
    let slope = cross(
        ground(corner + vec2f(CELL, 0.0)) - ground(corner),
        ground(corner + vec2f(0.0, CELL)) - ground(corner),
    );
    let facing = dot(normalize(slope), normalize(TO_SUN));
    let cloud = smoothstep(0.30, 0.62, noise(0.13 * corner + 0.05 * settings.seconds + 3.0));
    let sunlight = clamp(0.30 + 2.0 * facing, 0.1, 1.3) * mix(0.42, 1.0, cloud);
    return PatchConstants(tess_cull_isoline(IsolineFactors(density, detail), is_outside), sunlight);
}

// Where the wind pushes the grass: gusts that travel over the meadow, and a flutter of each strand's own.
fn wind(root: vec2f, chance: f32) -> vec2f {
    let gust = noise(0.33 * root + vec2f(-1.3, -0.5) * settings.seconds);
    let flutter = 0.10 * sin(7.0 * settings.seconds + 40.0 * chance);
    return vec2f(0.93, 0.36) * (0.9 * gust * gust + flutter * gust);
}

fn domain(location: vec2f, patch_id: u32) -> Surface {
    // location.y is the line's number over the number of lines. A strand is the same however many there are.
    let strand = patch_id * 64u + u32(round(location.y * ceil(constants().factors.density)));
    let chance = vec4f(
        random(strand * 4u),
        random(strand * 4u + 1u),
        random(strand * 4u + 2u),
        random(strand * 4u + 3u),
    );
    let root = ground(output_point(0u).corner + CELL * chance.xy);
    let clump = noise(1.7 * root.xy);
    let height = TALL * (0.30 + 0.35 * chance.z + 0.35 * clump);
    let turn = 6.2831853 * chance.w;
    let lean = 0.33 * vec2f(cos(turn), sin(turn)) + wind(root.xy, chance.z);
    let stretch = inverseSqrt(1.0 + dot(lean, lean));

    // A strand in eighty is a flower: the last part of its line is the blossom, wound around the tip.
    let is_flower = random(strand ^ 0x5bd1e995u) < 1.0 / 80.0;
    let bloom = select(0.0, max(location.x - 0.5, 0.0) * 2.0, is_flower);
    let t = select(location.x, min(location.x * 2.0, 1.0), is_flower);

    // A parabola that leaves the root upright and bends over towards its tip.
    let rise = 1.0 + 0.25 * dot(lean, lean) * (1.0 - t);
    let petal = 0.04 * sqrt(bloom) * vec3f(cos(38.0 * bloom), 0.6 * sin(61.0 * bloom), sin(38.0 * bloom));
    let position = root + height * stretch * vec3f(lean * t * t, t * rise) + petal;
    let along = normalize(vec3f(lean * 2.0 * t, 1.0 + 0.25 * dot(lean, lean) * (1.0 - 2.0 * t)));

    let dry = smoothstep(0.45, 0.85, 0.6 * noise(0.28 * root.xy + 7.0) + 0.4 * chance.x);
    let tip = mix(vec3f(0.16, 0.30, 0.02), vec3f(0.46, 0.33, 0.09), dry);
    let petals = mix(vec3f(0.80, 0.03, 0.02), vec3f(0.85, 0.80, 0.70), step(0.55, noise(0.21 * root.xy - 9.0)));
    let green = mix(vec3f(0.006, 0.026, 0.004), tip * (0.7 + 0.6 * chance.y), pow(t, 1.3));
    let color = mix(green, petals, step(0.1, bloom));
    // Light on a thread; less of it far down among the others; and through it, against the sun.
    let view = normalize(settings.eye - position);
    let sun = normalize(TO_SUN);
    let broad = sqrt(max(1.0 - pow(dot(along, sun), 2.0), 0.0));
    let gleam = pow(sqrt(max(1.0 - pow(dot(along, normalize(sun + view)), 2.0), 0.0)), 60.0);
    let open = mix(0.12, 1.0, t);
    let through = pow(max(dot(-view, sun), 0.0), 3.0);
    let sunlight = constants().sunlight * open * SUN;
    let lit = color * (vec3f(0.42, 0.52, 0.66) * open + sunlight * (1.1 * broad + 2.0 * through)) + 0.10 * gleam * t * sunlight;
    return Surface(settings.clip_from_world * vec4f(position, 1.0), through_air(lit, position));
}
