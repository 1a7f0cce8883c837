// Follows the pass-through vertex shader, which declares `Surface`, and light.wgsl.

struct Camera {
    clip_from_world: mat4x4f,
    eye: vec3f,
}

@group(0) @binding(0) var<uniform> camera: Camera;

@fragment
fn fragment_main(surface: Surface) -> @location(0) vec4f {
    return vec4f(light(vec3f(0.16, 0.14, 0.58), surface.normal, camera.eye - surface.world_position, 0.8), 1.0);
}
