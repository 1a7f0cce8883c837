// What threadgroups came to, as colours. Follows the pass-through vertex shader, which declares `Surface`, a constant SHOW,
// and light.wgsl.

struct Settings {
    clip_from_world: mat4x4f,
    eye: vec3f,
    pixels_per_unit: f32,
    tolerance: f32,
    patches_per_threadgroup: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
// Of each threadgroup, each from 0 to 1: whether it went off-chip, its average factor, its domain waves.
@group(0) @binding(1) var<storage, read> heat: array<vec4f>;

const ON_CHIP: vec3f = vec3f(0.05, 0.17, 0.34);
const OFF_CHIP: vec3f = vec3f(0.62, 0.17, 0.02);
const FACTORS = array<vec3f, 5>(
    vec3f(0.015, 0.012, 0.05),
    vec3f(0.10, 0.03, 0.28),
    vec3f(0.42, 0.05, 0.22),
    vec3f(0.72, 0.20, 0.05),
    vec3f(0.85, 0.65, 0.12),
);
const WAVES = array<vec3f, 5>(
    vec3f(0.012, 0.02, 0.05),
    vec3f(0.02, 0.08, 0.24),
    vec3f(0.02, 0.26, 0.30),
    vec3f(0.16, 0.50, 0.16),
    vec3f(0.75, 0.80, 0.30),
);

fn ramp(stops: array<vec3f, 5>, value: f32) -> vec3f {
    var all = stops;
    let at = clamp(value, 0.0, 1.0) * 4.0;
    let first = min(u32(at), 3u);
    return mix(all[first], all[first + 1u], at - f32(first));
}

// The bits of a number with a zero before each.
fn spread_bits(bits: u32) -> u32 {
    var found = (bits | (bits << 8u)) & 0x00ff00ffu;
    found = (found | (found << 4u)) & 0x0f0f0f0fu;
    found = (found | (found << 2u)) & 0x33333333u;
    return (found | (found << 1u)) & 0x55555555u;
}

// Every second bit of a number.
fn even_bits(bits: u32) -> u32 {
    var found = bits & 0x55555555u;
    found = (found | (found >> 1u)) & 0x33333333u;
    found = (found | (found >> 2u)) & 0x0f0f0f0fu;
    found = (found | (found >> 4u)) & 0x00ff00ffu;
    return (found | (found >> 8u)) & 0x0000ffffu;
}

// How much of the line to the patch at `cell` is here, `pixels` away from it: none within a threadgroup.
fn border(own: u32, cell: vec2u, pixels: f32) -> f32 {
    let other = (spread_bits(cell.x) | (spread_bits(cell.y) << 1u)) / settings.patches_per_threadgroup;
    return select(0.0, 1.0 - smoothstep(0.2, 1.4, pixels), other != own);
}

@fragment
fn fragment_main(surface: Surface) -> @location(0) vec4f {
    let threadgroup = surface.patch_id / settings.patches_per_threadgroup;
    let found = heat[threadgroup];
    var color = vec3f(0.03, 0.13, 0.19);
    if SHOW == 1u {
        color = mix(ON_CHIP, OFF_CHIP, found.x);
    } else if SHOW == 2u {
        color = ramp(FACTORS, found.y);
    } else if SHOW == 3u {
        color = ramp(WAVES, found.z);
    }
    let width = fwidth(surface.grid);
    if SHOW != 0u {
        let cell = vec2u(even_bits(surface.patch_id), even_bits(surface.patch_id >> 1u));
        let low = (surface.grid - vec2f(cell)) / width;
        let high = 1.0 / width - low;
        let line = max(
            max(border(threadgroup, cell - vec2u(1u, 0u), low.x), border(threadgroup, cell - vec2u(0u, 1u), low.y)),
            max(border(threadgroup, cell + vec2u(1u, 0u), high.x), border(threadgroup, cell + vec2u(0u, 1u), high.y)),
        );
        color = mix(color, vec3f(0.0), 0.5 * line);
    }
    let lit = light(color, surface.normal, settings.eye - surface.world_position, 0.35);
    return vec4f(lit, 1.0);
}
