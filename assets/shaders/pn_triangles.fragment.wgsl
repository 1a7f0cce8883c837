// Glossy plastic. Follows the pass-through vertex shader, which declares `Surface`, and light.wgsl.

struct Camera {
    clip_from_world: mat4x4f,
    eye: vec3f,
}

@group(0) @binding(0) var<uniform> camera: Camera;

@fragment
fn fragment_main(surface: Surface, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let normal = select(-surface.normal, surface.normal, is_front);
    return vec4f(light(surface.color, normal, camera.eye - surface.world_position, 0.7), 1.0);
}
