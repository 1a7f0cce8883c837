// Follows the pass-through vertex shader, which declares `Surface`.

@fragment
fn fragment_main(surface: Surface) -> @location(0) vec4f {
    let over = max(surface.color - vec3f(0.6), vec3f(0.0));
    return vec4f(min(surface.color, vec3f(0.6)) + 0.4 * over / (over + 0.4), 1.0);
}
