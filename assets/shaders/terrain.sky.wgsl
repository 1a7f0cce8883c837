// The sky, hazy at the horizon. Follows light.wgsl, terrain.heights.wgsl and terrain.haze.wgsl.

@fragment
fn backdrop_main(backdrop: Backdrop) -> @location(0) vec4f {
    let far = settings.world_from_clip * vec4f(backdrop.clip, 1.0, 1.0);
    let ray = normalize(far.xyz / far.w - settings.eye);
    let up = clamp(ray.z / 0.28, 0.0, 1.0);
    return vec4f(tone(mix(haze_color(ray), vec3f(0.12, 0.26, 0.52), pow(up, 0.7))), 1.0);
}
