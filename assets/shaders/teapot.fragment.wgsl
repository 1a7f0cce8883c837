// The teapot's glaze. Follows the pass-through vertex shader, which declares `Surface`, and light.wgsl.

struct Camera {
    clip_from_world: mat4x4f,
    eye: vec3f,
}

@group(0) @binding(0) var<uniform> camera: Camera;

@fragment
fn fragment_main(surface: Surface, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let normal = select(-surface.normal, surface.normal, is_front);
    let color = select(vec3f(0.02, 0.05, 0.06), vec3f(0.03, 0.24, 0.30), is_front);
    return vec4f(light(color, normal, camera.eye - surface.world_position, 1.0), 1.0);
}
