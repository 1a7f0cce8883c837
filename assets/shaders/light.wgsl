// Light for the examples: a key light, a cool fill, the sky above and the ground below; and a soft end of the scale.

const LIGHT_KEY: vec3f = vec3f(-0.45, -0.55, 0.70);
const LIGHT_FILL: vec3f = vec3f(0.80, -0.35, 0.25);

// What a matt surface of this colour sends back, with a highlight as sharp as `gloss` (0 for none). `normal` may have any
// length; `view` points to the eye.
fn light(color: vec3f, normal: vec3f, view: vec3f, gloss: f32) -> vec3f {
    let n = normalize(normal);
    let v = normalize(view);
    let key = max(dot(n, normalize(LIGHT_KEY)), 0.0);
    let fill = max(dot(n, normalize(LIGHT_FILL)), 0.0);
    let sky = 0.5 + 0.5 * n.z;
    let ambient = mix(vec3f(0.16, 0.14, 0.12), vec3f(0.30, 0.36, 0.44), sky);
    let diffuse = color * (ambient + key * vec3f(1.9, 1.75, 1.55) + fill * vec3f(0.22, 0.28, 0.38));
    let halfway = normalize(normalize(LIGHT_KEY) + v);
    let highlight = gloss * pow(max(dot(n, halfway), 0.0), 90.0) * step(0.0, dot(n, normalize(LIGHT_KEY)));
    let rim = gloss * 0.25 * pow(1.0 - max(dot(n, v), 0.0), 4.0);
    return tone(diffuse + highlight * vec3f(1.6) + rim * vec3f(0.6, 0.7, 0.85));
}

// Leaves dark and middle tones as they are and rolls off what is brighter.
fn tone(color: vec3f) -> vec3f {
    let over = max(color - vec3f(0.6), vec3f(0.0));
    return min(color, vec3f(0.6)) + 0.4 * over / (over + 0.4);
}

