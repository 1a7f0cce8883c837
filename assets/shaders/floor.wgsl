// The floor of the examples: the background's colour with soft shadows.

// Where it is dark: an ellipse along the axes. No radius, no shadow.
struct Shade {
    center: vec2f,
    radii: vec2f,
}

struct Settings {
    clip_from_world: mat4x4f,
    background: vec4f,
    shades: array<Shade, 8>,
}

@group(0) @binding(0) var<uniform> settings: Settings;

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) place: vec2f,
}

@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Fragment {
    let corner = vec2f(f32(index % 3u % 2u), f32(index % 3u / 2u));
    let place = 100.0 * (select(corner, 1.0 - corner, index > 2u) - 0.5);
    return Fragment(settings.clip_from_world * vec4f(place, 0.0, 1.0), place);
}

@fragment
fn fragment_main(in: Fragment) -> @location(0) vec4f {
    var light = 1.0;
    for (var i = 0u; i < 8u; i++) {
        let shade = settings.shades[i];
        if shade.radii.x > 0.0 {
            // Dark and narrow right below the thing, wide and faint away from the light.
            let near = (in.place - shade.center) / shade.radii;
            let far = (in.place - shade.center - vec2f(0.35, 0.42) * shade.radii) / (1.45 * shade.radii);
            light *= (1.0 - 0.55 * exp(-1.6 * pow(dot(near, near), 2.0))) * (1.0 - 0.38 * exp(-1.8 * dot(far, far)));
        }
    }
    return vec4f(settings.background.rgb * light, 1.0);
}
