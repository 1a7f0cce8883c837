// Forests, meadows and a lake under a low sun. Follows the pass-through vertex shader, which declares `Surface`,
// light.wgsl, terrain.heights.wgsl and terrain.haze.wgsl.

const SUN_COLOR: vec3f = vec3f(2.7, 2.25, 1.7);
const SKY_COLOR: vec3f = vec3f(0.30, 0.42, 0.60);
// Kilometres after which haze hides all but 37 %.
const HAZE_LENGTH: f32 = 34.0;
// The lake's surface, in metres.
const WATER: f32 = 305.0;

fn hash(cell: vec2i) -> f32 {
    var bits = bitcast<u32>(cell.x) * 0x9e3779b1u ^ bitcast<u32>(cell.y) * 0x85ebca77u;
    bits = (bits ^ (bits >> 15u)) * 0x2c1b3c6du;
    bits = (bits ^ (bits >> 12u)) * 0x297a2d39u;
    return f32((bits ^ (bits >> 15u)) >> 8u) / 16777216.0;
}

fn noise(place: vec2f) -> f32 {
    let cell = vec2i(floor(place));
    let t = fract(place);
    let s = t * t * (3.0 - 2.0 * t);
    let upper = mix(hash(cell), hash(cell + vec2i(1, 0)), s.x);
    let lower = mix(hash(cell + vec2i(0, 1)), hash(cell + vec2i(1, 1)), s.x);
    return mix(upper, lower, s.y);
}

// Noise of several sizes around 0; those smaller than a pixel are left out.
fn rough_noise(place: vec2f, pixel: f32) -> f32 {
    var sum = 0.0;
    var scale = 1.0;
    for (var octave = 0; octave < 6; octave++) {
        let seen = 1.0 - smoothstep(0.25, 0.7, pixel * scale);
        sum += seen * (noise(place * scale + f32(octave) * 17.3) - 0.5) / pow(scale, 0.4);
        scale *= 2.1;
    }
    return sum;
}

// Between four texels, for rays.
fn height_near(grid: vec2f) -> f32 {
    let texel = texel_at(grid);
    let first = floor(texel);
    let t = texel - first;
    let at = vec2i(first);
    let upper = mix(height_of(at), height_of(at + vec2i(1, 0)), t.x);
    let lower = mix(height_of(at + vec2i(0, 1)), height_of(at + vec2i(1, 1)), t.x);
    return mix(upper, lower, t.y);
}

// How much of the sun gets past the mountains.
fn sun_seen(place: vec3f) -> f32 {
    var seen = 1.0;
    var away = 0.08;
    for (var k = 0; k < 24 && seen > 0.0; k++) {
        let ray = place + away * SUN;
        let above = ray.z - height_near(grid_at(ray.xy)) * settings.extent.z;
        seen = min(seen, 0.5 + 14.0 * above / away);
        away *= 1.2;
    }
    return smoothstep(0.0, 1.0, seen);
}

// How much of the sky a place sees: less in valleys than on ridges.
fn sky_seen(grid: vec2f, height: f32) -> f32 {
    var around = 0.0;
    for (var k = 0; k < 8; k++) {
        let angle = f32(k) * 0.7854;
        around += height_near(grid + 0.7 * vec2f(cos(angle), sin(angle)));
    }
    return clamp(0.75 + (height - around / 8.0) * 0.009, 0.35, 1.0);
}

@fragment
fn fragment_main(surface: Surface) -> @location(0) vec4f {
    // From the map rather than from the triangles: the light does not change with the factors.
    let relief = relief(surface.grid);
    let texels = vec2f(textureDimensions(heights) - 1u);
    let slope = relief.xy * texels / settings.extent.xy * settings.extent.z;
    var normal = normalize(vec3f(-slope.x, slope.y, 1.0));
    let ray = surface.world_position - settings.eye;
    let away = length(ray);
    let pixel = away / settings.pixels_per_unit;

    // Trees, by the height and the lie of the land.
    let detail = rough_noise(surface.world_position.xy * 9.0, pixel * 9.0);
    let high = smoothstep(420.0, 950.0, relief.z + 110.0 * detail);
    let meadow = smoothstep(0.55, 0.85, normal.z + 0.5 * detail) * (1.0 - smoothstep(330.0, 460.0, relief.z));
    var color = mix(vec3f(0.035, 0.075, 0.026), vec3f(0.120, 0.075, 0.035), high);
    color = mix(color, vec3f(0.170, 0.150, 0.065), meadow);
    color *= max(1.0 + 1.1 * detail, 0.2);
    let water = smoothstep(1.2, 0.4, abs(relief.z - WATER)) * smoothstep(3.0, 1.0, length(relief.xy));

    let sun = sun_seen(surface.world_position + normal * 0.02) * max(dot(normal, SUN), 0.0);
    let sky = sky_seen(surface.grid, relief.z);
    var seen = color * (SUN_COLOR * sun + SKY_COLOR * sky * (0.6 + 0.4 * normal.z));
    let mirrored = mix(vec3f(0.16, 0.22, 0.28), HAZE_COLOR, pow(1.0 - max(-ray.z / away, 0.0), 4.0));
    seen = mix(seen, mirrored, water);

    let haze = 1.0 - exp(-pow(away / HAZE_LENGTH, 1.6));
    return vec4f(tone(mix(seen, haze_color(ray), haze)), 1.0);
}
