// The studio: a glazed object on a seamless backdrop, a key light with soft shadows, softboxes that the glaze reflects.
// Follows the pass-through vertex shader, which declares `Surface`.

struct Studio {
    clip_from_world: mat4x4f,
    world_from_clip: mat4x4f,
    shadow_from_world: mat4x4f,
    eye: vec3f,
    // Depth of the shadow map in world units.
    shadow_depth: f32,
    // Towards the key light.
    key: vec3f,
    // Width of the shadow map in world units.
    shadow_width: f32,
    // Of the picture, in pixels.
    size: vec2f,
}

@group(0) @binding(0) var<uniform> studio: Studio;
@group(0) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(2) var shadow_sampler: sampler_comparison;

const PI: f32 = 3.14159265;

const BACKDROP_LOW: vec3f = vec3f(0.66, 0.645, 0.62);
const BACKDROP_HIGH: vec3f = vec3f(0.32, 0.35, 0.39);
const GLAZE: vec3f = vec3f(0.018, 0.155, 0.20);

// ---- Shadows

@vertex
fn shadow_main(@location(0) world_position: vec3f) -> @builtin(position) vec4f {
    return studio.shadow_from_world * vec4f(world_position, 1.0);
}

// The k-th of n points that fill the unit disk evenly.
fn disk(k: u32, n: u32) -> vec2f {
    let angle = 2.39996323 * f32(k);
    return sqrt((f32(k) + 0.5) / f32(n)) * vec2f(cos(angle), sin(angle));
}

const PROBES: u32 = 16u;
const TAPS: u32 = 64u;

// How much of the key light arrives, averaged over a disk of radius `blur` in world units.
fn key_visibility(world_position: vec3f, normal: vec3f, blur: f32) -> f32 {
    let place = studio.shadow_from_world * vec4f(world_position + normal * 0.02, 1.0);
    let uv = place.xy * vec2f(0.5, -0.5) + 0.5;
    if any(uv < vec2f(0.0)) || any(uv > vec2f(1.0)) {
        return 1.0;
    }
    let depth = place.z - 0.012 / studio.shadow_depth;
    let radius = blur / studio.shadow_width;
    // Most places are wholly in light or in shadow, and a few taps over a little more than the disk tell.
    var lit = 0.0;
    for (var k = 0u; k < PROBES; k++) {
        lit += textureSampleCompareLevel(shadow_map, shadow_sampler, uv + 1.1 * radius * disk(k, PROBES), depth);
    }
    if lit == 0.0 || lit == f32(PROBES) {
        return lit / f32(PROBES);
    }
    lit = 0.0;
    for (var k = 0u; k < TAPS; k++) {
        lit += textureSampleCompareLevel(shadow_map, shadow_sampler, uv + radius * disk(k, TAPS), depth);
    }
    return lit / f32(TAPS);
}

// ---- Light

// A rectangle of light in the direction `towards`, with soft edges and a cross of bars; `half` is half its size and `bar`
// half the bars' width at distance 1.
fn softbox(ray: vec3f, towards: vec3f, half: vec2f, bar: vec2f, edge: f32) -> f32 {
    let facing = dot(ray, towards);
    let right = normalize(cross(towards, vec3f(0.0, 0.0, 1.0)));
    let up = cross(right, towards);
    let place = abs(vec2f(dot(ray, right), dot(ray, up))) / max(facing, 1e-3);
    // Where the surface curves within a pixel, the edge is as soft as the pixel is large.
    let soft = max(vec2f(edge), fwidth(place));
    let inside = smoothstep(bar - soft, bar + soft, place) - smoothstep(half - soft, half + soft, place);
    return select(0.0, max(inside.x, 0.0) * max(inside.y, 0.0), facing > 0.0);
}

// To the camera's right, for the strip of light that draws the outline on the dark side.
fn rim_direction() -> vec3f {
    let ahead = normalize(vec3f(-studio.eye.xy, 0.0));
    let right = vec3f(ahead.y, -ahead.x, 0.0);
    return normalize(right * 0.85 + ahead * 0.35 + vec3f(0.0, 0.0, 0.35));
}

// Where the key light is reflected, lower than it stands, so that it shows on the body's side and not on its shoulder.
fn window_direction() -> vec3f {
    return normalize(vec3f(studio.key.xy, 0.62 * studio.key.z));
}

// What a mirror would show of the studio.
fn surroundings(ray: vec3f) -> vec3f {
    let wall = mix(vec3f(0.34, 0.35, 0.36), vec3f(0.10, 0.12, 0.15), smoothstep(0.0, 0.9, ray.z));
    let floor_light = mix(vec3f(0.34, 0.35, 0.36), vec3f(0.30, 0.29, 0.27), smoothstep(0.0, 0.5, -ray.z));
    var light = select(floor_light, wall, ray.z > 0.0);
    light += 16.0 * vec3f(1.0, 0.97, 0.92) * softbox(ray, window_direction(), vec2f(0.34, 0.40), vec2f(0.022), 0.012);
    light += 5.0 * vec3f(0.85, 0.93, 1.0) * softbox(ray, rim_direction(), vec2f(0.16, 0.9), vec2f(-1.0), 0.05);
    return light;
}

fn glaze(world_position: vec3f, facing_normal: vec3f, is_inside: bool) -> vec3f {
    let normal = normalize(facing_normal);
    let view = normalize(studio.eye - world_position);
    let facing = max(dot(normal, view), 0.0);
    let visible = key_visibility(world_position, normal, 0.05);

    // What the ground and the object's own foot take away of the light from all round.
    let near_ground = smoothstep(-0.2, 1.3, world_position.z);
    let open = mix(mix(0.35, 0.75, near_ground), 1.0, 0.5 + 0.5 * normal.z);
    let sky = mix(vec3f(0.26, 0.25, 0.24), vec3f(0.50, 0.53, 0.58), 0.5 + 0.5 * normal.z);
    let key = vec3f(2.5, 2.4, 2.25) * max(dot(normal, studio.key), 0.0) * visible;
    let fill = vec3f(0.35, 0.42, 0.52) * max(dot(normal, rim_direction()), 0.0);
    let diffuse = GLAZE * (sky * open + key + fill);

    let fresnel = 0.045 + 0.6 * pow(1.0 - facing, 5.0);
    let reflected = reflect(-view, normal);
    // Rays that go down soon meet the ground, which is dark near the foot.
    let grounded = mix(1.0, mix(0.3, 1.0, near_ground), smoothstep(0.1, -0.4, reflected.z));
    let blocked = mix(1.0, 0.25 + 0.75 * visible, max(dot(reflected, studio.key), 0.0));
    let gloss = fresnel * grounded * blocked * surroundings(reflected);
    return select(diffuse + gloss, 0.35 * (GLAZE * sky + 0.2 * gloss), is_inside);
}

// Leaves dark and middle tones as they are and rolls off what is brighter.
fn tone(light: vec3f) -> vec3f {
    let knee = vec3f(0.6);
    let over = max(light - knee, vec3f(0.0));
    return min(light, knee) + 0.4 * over / (over + 0.4);
}

// ---- Entry points

struct Backdrop {
    @builtin(position) position: vec4f,
    @location(0) ndc: vec2f,
}

@vertex
fn backdrop_vertex(@builtin(vertex_index) k: u32) -> Backdrop {
    let ndc = vec2f(f32(k & 1u) * 4.0 - 1.0, f32(k >> 1u) * 4.0 - 1.0);
    return Backdrop(vec4f(ndc, 1.0, 1.0), ndc);
}

@fragment
fn backdrop_fragment(backdrop: Backdrop) -> @location(0) vec4f {
    let ndc = backdrop.ndc;
    // Brightest behind and below the object, falling off to the corners.
    let glow = exp(-0.55 * dot(ndc - vec2f(-0.05, -0.25), ndc - vec2f(-0.05, -0.25)));
    var light = mix(BACKDROP_HIGH, BACKDROP_LOW, glow);

    let far = studio.world_from_clip * vec4f(ndc, 1.0, 1.0);
    let ray = normalize(far.xyz / far.w - studio.eye);
    if ray.z < 0.0 {
        let ground = studio.eye - ray * (studio.eye.z / ray.z);
        // The foot is a disk of radius 1.5; above it the body bulges and keeps light away. What is farther out is
        // higher up, with a softer shadow.
        let r = length(ground.xy);
        let visible = key_visibility(ground, vec3f(0.0, 0.0, 1.0), clamp(0.06 + 0.12 * (r - 1.5), 0.06, 0.45));
        let contact = 0.55 * exp(-2.2 * max(r - 1.42, 0.0)) + 0.22 * exp(-0.7 * max(r - 1.0, 0.0));
        light *= (1.0 - contact) * mix(vec3f(0.56, 0.58, 0.62), vec3f(1.0), visible);
    }
    return vec4f(tone(light), 1.0);
}

@fragment
fn surface_fragment(surface: Surface, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let normal = select(-surface.normal, surface.normal, is_front);
    return vec4f(tone(glaze(surface.world_position, normal, !is_front)), 1.0);
}
