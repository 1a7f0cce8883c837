// The ground below the grass and the sky behind it. Follows grass.field.wgsl.

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) place: vec3f,
    @location(1) is_sky: f32,
}

// Three vertices of a triangle that covers the picture, then six for each square of the ground.
@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Fragment {
    if index < 3u {
        let corner = vec2f(f32(index % 2u), f32(index / 2u)) * 4.0 - 1.0;
        let far = settings.world_from_clip * vec4f(corner, 1.0, 1.0);
        return Fragment(vec4f(corner, 0.999999, 1.0), far.xyz / far.w, 1.0);
    }
    let i = index - 3u;
    let corner = array<vec2u, 6>(vec2u(0, 0), vec2u(1, 0), vec2u(1, 1), vec2u(1, 1), vec2u(0, 1), vec2u(0, 0))[i % 6u];
    let cell = vec2u(i / 6u % CELLS, i / 6u / CELLS) + corner;
    let place = ground(CELL * (vec2f(cell) - 0.5 * f32(CELLS)));
    return Fragment(settings.clip_from_world * vec4f(place, 1.0), place, 0.0);
}

@fragment
fn fragment_main(in: Fragment) -> @location(0) vec4f {
    let earth = through_air(mix(vec3f(0.020, 0.034, 0.010), vec3f(0.05, 0.05, 0.015), noise(3.0 * in.place.xy)), in.place);
    return vec4f(tone(select(earth, sky(in.place - settings.eye), in.is_sky > 0.5)), 1.0);
}
