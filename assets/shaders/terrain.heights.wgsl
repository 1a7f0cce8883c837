// The height map as a smooth surface, for the stages of terrain.wgsl and for its fragment shader.

struct Settings {
    clip_from_world: mat4x4f,
    world_from_clip: mat4x4f,
    eye: vec3f,
    // Pixels that one unit of length covers at distance 1 from the eye.
    pixels_per_unit: f32,
    // What the map covers to the east and to the south, in kilometres, and how far up a metre goes.
    extent: vec3f,
    // How far from the surface a chord may be, in pixels.
    tolerance: f32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var heights: texture_2d<f32>;

// Patches to the east and to the south.
const PATCHES: f32 = 64.0;

// A place on the map is in patches from its north-west corner, to the east and to the south: `grid`. Texels from there:
fn texel_at(grid: vec2f) -> vec2f {
    return grid * (vec2f(textureDimensions(heights) - 1u) / PATCHES);
}

fn world_at(grid: vec2f, height: f32) -> vec3f {
    let away = (grid / PATCHES - 0.5) * settings.extent.xy;
    return vec3f(away.x, -away.y, height * settings.extent.z);
}

fn grid_at(world: vec2f) -> vec2f {
    return (vec2f(world.x, -world.y) / settings.extent.xy + 0.5) * PATCHES;
}

// Metres. Beyond the map's edge, what is on it.
fn height_of(texel: vec2i) -> f32 {
    return textureLoad(heights, clamp(texel, vec2i(0), vec2i(textureDimensions(heights)) - 1), 0).r;
}

// Weights of four texels in a row, those of a cubic B-spline: smooth up to the second derivative, and nowhere above the
// highest or below the lowest of them.
fn spline(t: f32) -> vec4f {
    let s = 1.0 - t;
    return vec4f(s * s * s, (3.0 * t - 6.0) * t * t + 4.0, (3.0 * s - 6.0) * s * s + 4.0, t * t * t) / 6.0;
}

fn spline_slope(t: f32) -> vec4f {
    let s = 1.0 - t;
    return vec4f(-s * s, (3.0 * t - 4.0) * t, (4.0 - 3.0 * s) * s, t * t) / 2.0;
}

// The slopes to the east and to the south, in metres a texel, and the height in metres.
fn relief(grid: vec2f) -> vec3f {
    let texel = texel_at(grid);
    let first = floor(texel);
    let t = texel - first;
    let x = spline(t.x);
    let y = spline(t.y);
    let x_slope = spline_slope(t.x);
    let y_slope = spline_slope(t.y);
    var sum = vec3f();
    for (var row = 0; row < 4; row++) {
        let at = vec2i(first) + vec2i(-1, row - 1);
        let texels = vec4f(
            height_of(at),
            height_of(at + vec2i(1, 0)),
            height_of(at + vec2i(2, 0)),
            height_of(at + vec2i(3, 0)),
        );
        let height = dot(x, texels);
        sum += vec3f(dot(x_slope, texels) * y[row], height * y_slope[row], height * y[row]);
    }
    return sum;
}
