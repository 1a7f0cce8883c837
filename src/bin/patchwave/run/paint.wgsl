// Draws a scene's meshes: each index is a vertex of its own, fetched here, so that any output struct will do.

struct Paint {
    clip_from_world: mat4x4f,
    eye: vec3f,
    has_camera: u32,
    // Towards the light.
    key: vec3f,
    shading: u32,
    // Linear, as all colours here.
    color: vec3f,
    wireframe: u32,
    background: vec3f,
    // Corners of a primitive.
    corners: u32,
}

// Where members lie in a vertex, in words, and how many components they have; none where there are none.
override stride: u32;
override position_at: u32;
override position_components: u32;
override normal_at: u32;
override normal_components: u32;
override color_at: u32;
override color_components: u32;

const LIT: u32 = 0u;
const NORMALS: u32 = 2u;

@group(0) @binding(0) var<uniform> paint: Paint;
@group(1) @binding(0) var<storage, read> vertices: array<u32>;
@group(1) @binding(1) var<storage, read> indices: array<u32>;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec3f,
    // Which of the triangle's corners, for the distance to its edges.
    @location(3) corner: vec3f,
}

fn member(vertex: u32, at: u32, components: u32, missing: vec4f) -> vec4f {
    var value = missing;
    for (var i = 0u; i < min(components, 4u); i++) {
        value[i] = bitcast<f32>(vertices[vertex * stride + at + i]);
    }
    return value;
}

@vertex
fn paint_vertex(@builtin(vertex_index) number: u32) -> Corner {
    let vertex = indices[number];
    var corner: Corner;
    let position = member(vertex, position_at, position_components, vec4f(0.0, 0.0, 0.0, 1.0));
    corner.clip = position;
    if paint.has_camera != 0u {
        corner.clip = paint.clip_from_world * vec4f(position.xyz, 1.0);
    }
    corner.world = position.xyz;
    corner.normal = member(vertex, normal_at, normal_components, vec4f()).xyz;
    corner.color = paint.color;
    if color_components != 0u {
        corner.color = member(vertex, color_at, color_components, vec4f()).xyz;
    }
    corner.corner[number % 3u] = 1.0;
    return corner;
}

@fragment
fn paint_fragment(corner: Corner) -> @location(0) vec4f {
    // Derivatives come first, where control flow is still uniform.
    let across = cross(dpdx(corner.world), dpdy(corner.world));
    let edges = corner.corner / max(fwidth(corner.corner), vec3f(1e-6));

    var color = corner.color;
    if paint.corners == 3u && paint.shading != 1u {
        var normal = corner.normal;
        if normal_components == 0u {
            normal = across;
        }
        normal *= inverseSqrt(max(dot(normal, normal), 1e-30));
        // Both sides are seen; a face's normal points towards the eye.
        let away = select(vec3f(0.0, 0.0, 1.0), corner.world - paint.eye, paint.has_camera != 0u);
        let facing = select(normal, -normal, dot(normal, away) > 0.0);
        if paint.shading == NORMALS {
            color = 0.5 + 0.5 * select(facing, normal, normal_components != 0u);
        } else {
            let key = max(dot(facing, paint.key), 0.0);
            let sky = 0.5 + 0.5 * facing.z;
            color *= 0.85 * key + 0.25 * sky + 0.06;
        }
    }
    if paint.wireframe != 0u && paint.corners == 3u {
        let edge = min(edges.x, min(edges.y, edges.z));
        color = mix(0.12 * color, color, clamp(edge - 0.25, 0.0, 1.0));
    }
    return vec4f(color, 1.0);
}

@vertex
fn backdrop_vertex(@builtin(vertex_index) number: u32) -> @builtin(position) vec4f {
    return vec4f(f32(number & 1u) * 4.0 - 1.0, f32(number >> 1u) * 4.0 - 1.0, 1.0, 1.0);
}

@fragment
fn backdrop_fragment() -> @location(0) vec4f {
    return vec4f(paint.background, 1.0);
}
