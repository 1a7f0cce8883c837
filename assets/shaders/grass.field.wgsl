// The meadow that the grass grows on: what grass.wgsl and grass.ground.wgsl both know of it.

struct Settings {
    clip_from_world: mat4x4f,
    world_from_clip: mat4x4f,
    eye: vec3f,
    // Pixels that one unit of length covers at distance 1 from the eye.
    pixels_per_unit: f32,
    seconds: f32,
    // Strands on an area of the picture: 1 as is good, less for less.
    lushness: f32,
}

@group(0) @binding(0) var<uniform> settings: Settings;

// Cells along a side; a patch of grass for each.
const CELLS: u32 = 128u;
// Metres.
const CELL: f32 = 0.22;

const TO_SUN: vec3f = vec3f(-0.40, 0.86, 0.26);
const SUN: vec3f = vec3f(1.0, 0.84, 0.58);
const HORIZON: vec3f = vec3f(0.50, 0.58, 0.62);
const ZENITH: vec3f = vec3f(0.055, 0.19, 0.50);

fn random(seed: u32) -> f32 {
    // The permuted congruential generator of 32 bits.
    let state = seed * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return f32(((word >> 22u) ^ word) >> 8u) / 16777216.0;
}

fn corner_random(corner: vec2i) -> f32 {
    return random(u32(corner.x + 5000) * 9781u + u32(corner.y + 5000) * 6271u);
}

// Smooth noise with features about 1 in size, 0 to 1.
fn noise(at: vec2f) -> f32 {
    let corner = vec2i(floor(at));
    let part = fract(at);
    let t = part * part * (3.0 - 2.0 * part);
    let low = mix(corner_random(corner), corner_random(corner + vec2i(1, 0)), t.x);
    let high = mix(corner_random(corner + vec2i(0, 1)), corner_random(corner + vec2i(1, 1)), t.x);
    return mix(low, high, t.y);
}

fn ground(at: vec2f) -> vec3f {
    let hills = 0.55 * sin(0.27 * at.x + 0.9) * cos(0.24 * at.y - 0.5) + 0.20 * sin(0.55 * at.x - 0.42 * at.y + 0.4);
    return vec3f(at, hills + 0.0042 * max(at.y + 3.0, 0.0) * max(at.y + 3.0, 0.0));
}

fn sky(direction: vec3f) -> vec3f {
    let d = normalize(direction);
    let glow = max(dot(d, normalize(TO_SUN)), 0.0);
    let base = mix(HORIZON, ZENITH, smoothstep(-0.02, 0.26, d.z));
    return base + SUN * (0.22 * pow(glow, 8.0) + 0.45 * pow(glow, 90.0));
}

// What is seen of a colour from the eye through the air.
fn through_air(color: vec3f, position: vec3f) -> vec3f {
    let away = position - settings.eye;
    let haze = 1.0 - exp(-pow(length(away) / 42.0, 2.0));
    return mix(color, sky(vec3f(away.xy, 0.0)), haze);
}

fn tone(color: vec3f) -> vec3f {
    let over = max(color - vec3f(0.6), vec3f(0.0));
    return min(color, vec3f(0.6)) + 0.4 * over / (over + 0.4);
}
