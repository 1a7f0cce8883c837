// Lines of even width, drawn as rectangles that face the eye.

struct Settings {
    clip_from_world: mat4x4f,
    // The picture's size, in pixels.
    size: vec2f,
}

struct Line {
    @location(0) from_: vec3f,
    @location(1) to: vec3f,
    @location(2) color: vec3f,
    // In pixels of a picture 720 pixels high.
    @location(3) width: f32,
}

@group(0) @binding(0) var<uniform> settings: Settings;

struct Fragment {
    @builtin(position) position: vec4f,
    @location(0) color: vec3f,
}

@vertex
fn vertex_main(line: Line, @builtin(vertex_index) index: u32) -> Fragment {
    let a = settings.clip_from_world * vec4f(line.from_, 1.0);
    let b = settings.clip_from_world * vec4f(line.to, 1.0);
    let pixels = 0.5 * settings.size;
    let along = normalize((b.xy / b.w - a.xy / a.w) * pixels);
    let half = 0.5 * line.width * settings.size.y / 720.0;
    let is_end = index == 1u || index == 2u || index == 4u;
    let side = select(-1.0, 1.0, index == 2u || index == 4u || index == 5u);
    // A little longer than the line, so that lines meet without a notch.
    let offset = half * (side * vec2f(-along.y, along.x) + select(-0.5, 0.5, is_end) * along);
    let end = select(a, b, is_end);
    return Fragment(vec4f(end.xy + offset / pixels * end.w, end.zw), line.color);
}

@fragment
fn fragment_main(in: Fragment) -> @location(0) vec4f {
    return vec4f(in.color, 1.0);
}
