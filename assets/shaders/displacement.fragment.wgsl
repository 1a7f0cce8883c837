// Rock, with embers in its clefts. Follows the pass-through vertex shader, which declares `Surface`, and light.wgsl.

struct Camera {
    clip_from_world: mat4x4f,
    eye: vec3f,
}

@group(0) @binding(0) var<uniform> camera: Camera;

@fragment
fn fragment_main(surface: Surface) -> @location(0) vec4f {
    let stone = mix(vec3f(0.025, 0.03, 0.042), vec3f(0.17, 0.165, 0.165), smoothstep(0.1, 0.75, surface.height));
    let heat = smoothstep(0.30, 0.08, surface.height);
    let lit = light(stone * (1.0 - 0.8 * heat), surface.normal, camera.eye - surface.world_position, 0.25);
    let embers = vec3f(1.0, 0.23, 0.03) * heat + vec3f(0.3, 0.5, 0.2) * heat * heat * heat;
    return vec4f(tone(lit + embers), 1.0);
}
