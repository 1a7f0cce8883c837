// The shaders of the renderer in examples/integrate.rs: a light with a shadow map, and nothing of tessellation. What they
// read of a vertex is the same for ordinary meshes and for tessellated ones.

struct Scene {
    clip_from_world: mat4x4f,
    shadow_from_world: mat4x4f,
    eye: vec3f,
    // Pixels that one unit of length covers at distance 1 from the eye.
    pixels_per_unit: f32,
}

@group(0) @binding(0) var<uniform> scene: Scene;
@group(1) @binding(0) var shadow_map: texture_depth_2d;
@group(1) @binding(1) var shadow_sampler: sampler_comparison;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    // And how glossy it is.
    @location(2) color: vec4f,
}

struct Fragment {
    @builtin(position) pixel: vec4f,
    // Centroid, so that at outlines nothing is shaded with values from beyond them.
    @location(0) @interpolate(perspective, centroid) position: vec3f,
    @location(1) @interpolate(perspective, centroid) normal: vec3f,
    @location(2) @interpolate(perspective, centroid) color: vec4f,
}

@vertex
fn vertex_main(vertex: Vertex) -> Fragment {
    return Fragment(scene.clip_from_world * vec4f(vertex.position, 1.0), vertex.position, vertex.normal, vertex.color);
}

@vertex
fn shadow_main(vertex: Vertex) -> @builtin(position) vec4f {
    return scene.shadow_from_world * vec4f(vertex.position, 1.0);
}

const TO_LIGHT: vec3f = vec3f(-0.52, -0.50, 0.69);
const BACKGROUND: vec3f = vec3f(0.36, 0.385, 0.42);
const SHADOW_TAPS: u32 = 24u;

// How much of the light arrives, by the depth of a disc of texels around the point.
fn lit(position: vec3f, normal: vec3f, pixel: vec2f) -> f32 {
    let at = scene.shadow_from_world * vec4f(position + 0.03 * normal, 1.0);
    let center = at.xy * vec2f(0.5, -0.5) + 0.5;
    let turn = 6.2831853 * fract(52.9829189 * fract(dot(pixel, vec2f(0.06711056, 0.00583715))));
    var sum = 0.0;
    for (var tap = 0u; tap < SHADOW_TAPS; tap++) {
        let radius = 0.0065 * sqrt((f32(tap) + 0.5) / f32(SHADOW_TAPS));
        let angle = 2.3999632 * f32(tap) + turn;
        let offset = radius * vec2f(cos(angle), sin(angle));
        sum += textureSampleCompareLevel(shadow_map, shadow_sampler, center + offset, at.z - 0.002);
    }
    // Nothing beyond the map casts a shadow.
    return select(sum / f32(SHADOW_TAPS), 1.0, any(abs(at.xy) > vec2f(0.98)));
}

@fragment
fn fragment_main(in: Fragment) -> @location(0) vec4f {
    let n = normalize(in.normal);
    let v = normalize(scene.eye - in.position);
    let l = normalize(TO_LIGHT);
    let key = max(dot(n, l), 0.0) * lit(in.position, n, in.pixel.xy);
    let ambient = mix(vec3f(0.15, 0.13, 0.12), vec3f(0.40, 0.44, 0.50), 0.5 + 0.5 * n.z);
    let fill = max(dot(n, normalize(vec3f(0.8, -0.4, 0.3))), 0.0);
    let highlight = in.color.a * key * pow(max(dot(n, normalize(l + v)), 0.0), 120.0);
    let rim = in.color.a * pow(1.0 - max(dot(n, v), 0.0), 4.0);
    let diffuse = in.color.rgb * (ambient + key * vec3f(1.25, 1.15, 1.02) + fill * vec3f(0.16, 0.20, 0.28));
    let color = diffuse + highlight * 1.5 + rim * vec3f(0.16, 0.18, 0.22);
    // The floor runs out into the background.
    let far = smoothstep(7.0, 22.0, length(in.position.xy));
    let over = max(color - 0.6, vec3f(0.0));
    return vec4f(mix(min(color, vec3f(0.6)) + 0.4 * over / (over + 0.4), BACKGROUND, far), 1.0);
}
