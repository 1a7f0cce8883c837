// Shades as shade.frag does, whatever vertex shader stands before it.

@fragment
fn shade(@location(0) normal: vec3f) -> @location(0) vec4f {
    let n = normalize(normal);
    let light = 0.35 + 0.65 * max(dot(n, vec3f(-0.48, -0.6, 0.64)), 0.0);
    return vec4f(light * (0.6 + 0.4 * n), 1.0);
}

struct Shaded {
    @builtin(position) position: vec4f,
    @location(0) normal: vec3f,
}

// Of vertices in clip space.
@vertex
fn placed(@location(0) position: vec4f, @location(1) normal: vec3f) -> Shaded {
    return Shaded(position, normal);
}

@group(0) @binding(0) var<uniform> clip_from_world: mat4x4f;

// Of vertices in the world.
@vertex
fn seen(@location(0) position: vec3f, @location(1) normal: vec3f) -> Shaded {
    return Shaded(clip_from_world * vec4f(position, 1.0), normal);
}
