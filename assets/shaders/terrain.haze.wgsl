// The sun and the air, for the land and for the sky.

// To the sun, of length 1.
const SUN: vec3f = vec3f(0.0314, -0.8982, 0.4384);
const HAZE_COLOR: vec3f = vec3f(0.46, 0.56, 0.68);
const HAZE_SUN_COLOR: vec3f = vec3f(0.78, 0.70, 0.60);

// The far end of a ray.
fn haze_color(ray: vec3f) -> vec3f {
    let toward_sun = max(dot(normalize(ray.xy), normalize(SUN.xy)), 0.0);
    return mix(HAZE_COLOR, HAZE_SUN_COLOR, 0.75 * toward_sun * toward_sun);
}
