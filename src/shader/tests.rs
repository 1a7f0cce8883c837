//! Good shaders reflect to exactly these values.

use super::*;
use crate::tessellator::Domain;

const BICUBIC: &str = include_str!("../../assets/shaders/bicubic.wgsl");

fn layout(type_name: &str, size: u32, stride: u32, alignment: u32, scalars: u32) -> PointLayout {
    PointLayout { type_name: type_name.to_owned(), stride, size, alignment, scalars }
}

#[test]
fn bicubic_quad() {
    let names = StageNames::default();
    let reflection = reflect(BICUBIC, &names, Domain::Quad).unwrap();
    let expected = Reflection {
        source: BICUBIC.to_owned(),
        names,
        lines: StageLines { vertex: 18, hull: Some(22), patch_constants: 26, domain: 48 },
        attributes: Some(Attributes {
            type_name: "Attributes".to_owned(),
            members: vec![AttributeMember {
                name: "position".to_owned(),
                location: 0,
                kind: ScalarKind::Float,
                components: 3,
            }],
        }),
        takes_vertex_id: false,
        input_point: layout("ControlPoint", 16, 16, 16, 3),
        output_point: layout("ControlPoint", 16, 16, 16, 3),
        constants: layout("PatchConstants", 32, 32, 16, 6),
        factors_member: "factors".to_owned(),
        surface: Surface {
            type_name: "Surface".to_owned(),
            stride: 32,
            members: vec![
                SurfaceMember {
                    name: "position".to_owned(),
                    slot: SurfaceSlot::Position,
                    kind: ScalarKind::Float,
                    components: 4,
                    offset: 0,
                    interpolate: String::new(),
                    invariant: false,
                },
                SurfaceMember {
                    name: "normal".to_owned(),
                    slot: SurfaceSlot::Location(0),
                    kind: ScalarKind::Float,
                    components: 3,
                    offset: 16,
                    interpolate: String::new(),
                    invariant: false,
                },
            ],
        },
        private_variables: vec![],
        bindings: vec![UserBinding {
            name: "settings".to_owned(),
            group: 0,
            binding: 0,
            is_storage_buffer: false,
            kind: BindingKind::UniformBuffer { size: 4 },
            used: true,
            line: 5,
        }],
        overrides: vec![],
        loops_end: true,
    };
    assert_eq!(reflection, expected);
}

/// A shader of which only the declarations matter. `vertex` returns `Point`, `domain` returns `Surface`.
fn with_types(types: &str, names: &StageNames, domain: Domain) -> Reflection {
    let (factors, location) = match domain {
        Domain::Quad => ("QuadFactors", "vec2f"),
        Domain::Tri => ("TriFactors", "vec3f"),
        Domain::Isoline => ("IsolineFactors", "vec2f"),
    };
    let source = format!(
        "{types}
        struct PatchConstants {{ tint: vec3f, levels: {factors}, more: array<vec2f, 3> }}
        fn vertex() -> Point {{ return Point(); }}
        fn hull(point: u32, patch_id: u32) -> array<Point, 2> {{ return array<Point, 2>(); }}
        fn patch_constants(patch_id: u32) -> PatchConstants {{ return PatchConstants(); }}
        fn domain(location: {location}, patch_id: u32) -> Surface {{ return Surface(); }}"
    );
    reflect(&source, names, domain).unwrap()
}

const SURFACE: &str = "struct Surface { @builtin(position) position: vec4f }";

#[test]
fn layouts_of_points() {
    let names = StageNames::default();
    for (types, expected) in [
        ("alias Point = f32;", (4, 4, 4, 1)),
        ("alias Point = vec3f;", (12, 16, 16, 3)),
        ("alias Point = mat3x3f;", (48, 48, 16, 9)),
        ("alias Point = mat4x2<f32>;", (32, 32, 8, 8)),
        ("alias Point = array<vec3f, 4>;", (64, 64, 16, 12)),
        ("struct Point { a: vec3f, b: f32 }", (16, 16, 16, 4)),
        ("struct Point { a: f32, b: vec3f, c: f32 }", (32, 32, 16, 5)),
        ("struct Point { a: vec3f, inner: Inner, c: u32 } struct Inner { v: vec2i, w: u32 }", (48, 48, 16, 7)),
        // naga does not count `@align` in the alignment of a struct.
        ("struct Point { @size(32) a: f32, @align(16) b: f32 }", (48, 48, 4, 2)),
        ("struct Point { a: array<Inner, 3>, m: mat2x4f } struct Inner { v: vec3u }", (80, 80, 16, 17)),
        ("enable f16; struct Point { a: vec4h, b: f16 }", (16, 16, 8, 5)),
        ("const count = 2 + 1; struct Point { a: array<f32, count * 2> }", (24, 24, 4, 6)),
    ] {
        let reflection = with_types(&format!("{types} {SURFACE}"), &names, Domain::Quad);
        let (size, stride, alignment, scalars) = expected;
        assert_eq!(reflection.input_point, layout("Point", size, stride, alignment, scalars), "{types}");
        let output = &reflection.output_point;
        assert_eq!((output.type_name.as_str(), output.scalars), ("array<Point, 2>", 2 * scalars), "{types}");
        assert_eq!((output.size, output.stride), (2 * stride, 2 * stride), "{types}");
    }
}

#[test]
fn patch_constants_of_each_domain() {
    let names = StageNames::default();
    for (domain, expected) in [
        (Domain::Quad, layout("PatchConstants", 80, 80, 16, 15)),
        (Domain::Tri, layout("PatchConstants", 64, 64, 16, 13)),
        (Domain::Isoline, layout("PatchConstants", 48, 48, 16, 11)),
    ] {
        let reflection = with_types(&format!("alias Point = f32; {SURFACE}"), &names, domain);
        assert_eq!(reflection.constants, expected);
        assert_eq!(reflection.factors_member, "levels");
    }
}

#[test]
fn names_of_ones_own_and_no_hull_function() {
    let source = "
struct Control { p: vec2f }
struct Output { @location(3) @interpolate(flat) id: u32, @location(1) @interpolate(linear, centroid) t: vec2f }
/* fn evaluate() */ fn evaluate(l: vec2f, p: u32) -> Output { return Output(p, output_point(0).p); }
fn per_patch(p: u32) -> Line { return Line(IsolineFactors(1, 4)); }
struct Line { @align(16) f: IsolineFactors }
fn make(id: VertexId) -> /* the point */ Control { counter += id.vertex_index; return Control(); }
var<private> counter: u32 = 7;
var<private> idle: u32;
@group(2) @binding(5) var<storage, read_write> spare: array<vec4u>;
@id(12) override level: f32;
override on = true;
";
    let names = StageNames {
        vertex: "make".to_owned(),
        hull: None,
        patch_constants: "per_patch".to_owned(),
        domain: "evaluate".to_owned(),
    };
    let reflection = reflect(source, &names, Domain::Isoline).unwrap();
    assert_eq!(reflection.lines, StageLines { vertex: 7, hull: None, patch_constants: 5, domain: 4 });
    assert_eq!((&reflection.attributes, reflection.takes_vertex_id), (&None, true));
    assert_eq!(reflection.input_point, layout("Control", 8, 8, 8, 2));
    assert_eq!(reflection.output_point, reflection.input_point);
    assert_eq!(reflection.constants, layout("Line", 16, 16, 4, 2));
    assert_eq!(reflection.private_variables, ["counter"]);
    let spare = UserBinding {
        name: "spare".to_owned(),
        group: 2,
        binding: 5,
        is_storage_buffer: true,
        kind: BindingKind::StorageBuffer { size: 16, read_only: false },
        used: false,
        line: 10,
    };
    assert_eq!(reflection.bindings, [spare]);
    let level = UserOverride {
        key: "12".to_owned(),
        name: "level".to_owned(),
        kind: OverrideKind::Float,
        has_default: false,
        line: 11,
    };
    let on = UserOverride {
        key: "on".to_owned(),
        name: "on".to_owned(),
        kind: OverrideKind::Bool,
        has_default: true,
        line: 12,
    };
    assert_eq!(reflection.overrides, [level, on]);
    assert_eq!(reflection.surface.stride, 16);
    let slots: Vec<_> = reflection.surface.members.iter().map(|member| (member.slot, member.offset)).collect();
    assert_eq!(slots, [(SurfaceSlot::Location(3), 0), (SurfaceSlot::Location(1), 8)]);
    let texts: Vec<_> = reflection.surface.members.iter().map(|member| member.interpolate.as_str()).collect();
    assert_eq!(texts, ["@interpolate(flat)", "@interpolate(linear, centroid)"]);
    assert!(matches!(pass_through_vertex_shader(&reflection.surface), Err(ShaderError::NoPosition { .. })));
}

#[test]
fn kinds_of_bindings() {
    let source = format!(
        "{BICUBIC}
@group(1) @binding(0) var a: sampler;
@group(1) @binding(1) var b: sampler_comparison;
@group(1) @binding(2) var c: texture_2d_array<u32>;
@group(1) @binding(3) var d: texture_depth_cube;
@group(1) @binding(4) var e: texture_multisampled_2d<f32>;
@group(1) @binding(5) var f: texture_storage_3d<rgba16float, write>;
@group(1) @binding(6) var<storage> g: Counted;
struct Counted {{ count: u32, items: array<vec3f> }}
"
    );
    let reflection = reflect(&source, &StageNames::default(), Domain::Quad).unwrap();
    let kinds: Vec<BindingKind> = reflection.bindings.into_iter().skip(1).map(|binding| binding.kind).collect();
    let texture = |dimension, sample, multisampled| BindingKind::Texture { dimension, sample, multisampled };
    let expected = [
        BindingKind::Sampler { comparison: false },
        BindingKind::Sampler { comparison: true },
        texture(TextureDimension::D2Array, TextureSample::Kind(ScalarKind::Uint), false),
        texture(TextureDimension::Cube, TextureSample::Depth, false),
        texture(TextureDimension::D2, TextureSample::Kind(ScalarKind::Float), true),
        BindingKind::StorageTexture {
            dimension: TextureDimension::D3,
            format: "rgba16float",
            reads: false,
            writes: true,
        },
        BindingKind::StorageBuffer { size: 32, read_only: true },
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn pass_through() {
    let types = "alias Point = f32;
        struct Surface {
            @location(0) normal: vec3f,
            @builtin(position) @invariant position: vec4f,
            @location(2) id: vec2u,
            @location(5) @interpolate(linear, sample) t: f32,
            @location(1) @interpolate(flat, either) material: i32,
            @location(7) @interpolate(perspective, center) uv: vec2f,
        }";
    let surface = with_types(types, &StageNames::default(), Domain::Tri).surface;
    let text = pass_through_vertex_shader(&surface).unwrap();
    let expected = "\
struct PwVertex {
    @location(0) normal: vec3f,
    @location(3) position: vec4f,
    @location(2) id: vec2u,
    @location(5) t: f32,
    @location(1) material: i32,
    @location(7) uv: vec2f,
}

struct Surface {
    @location(0) normal: vec3f,
    @builtin(position) @invariant position: vec4f,
    @location(2) @interpolate(flat) id: vec2u,
    @location(5) @interpolate(linear, sample) t: f32,
    @location(1) @interpolate(flat, either) material: i32,
    @location(7) uv: vec2f,
}

@vertex
fn vertex_main(pw_vertex: PwVertex) -> Surface {
    return Surface(pw_vertex.normal, pw_vertex.position, pw_vertex.id, pw_vertex.t, pw_vertex.material, pw_vertex.uv);
}
";
    assert_eq!(text, expected);
    let module = naga::front::wgsl::parse_str(&text).unwrap();
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::default());
    validator.validate(&module).unwrap();
    let attributes: Vec<_> = vertex_attributes(&surface)
        .iter()
        .map(|attribute| (attribute.shader_location, attribute.offset, attribute.kind, attribute.components))
        .collect();
    use ScalarKind::{Float, Sint, Uint};
    let expected =
        [(0, 0, Float, 3), (3, 16, Float, 4), (2, 32, Uint, 2), (5, 40, Float, 1), (1, 44, Sint, 1), (7, 48, Float, 2)];
    assert_eq!(attributes, expected);
    assert_eq!(surface.stride, 64);
}

#[test]
fn a_struct_named_as_the_entry_point() {
    let member = SurfaceMember {
        name: "position".to_owned(),
        slot: SurfaceSlot::Position,
        kind: ScalarKind::Float,
        components: 4,
        offset: 0,
        interpolate: String::new(),
        invariant: false,
    };
    let surface = Surface { type_name: "vertex_main".to_owned(), stride: 16, members: vec![member] };
    let text = pass_through_vertex_shader(&surface).unwrap();
    naga::front::wgsl::parse_str(&text).unwrap();
}

#[test]
fn a_panic_of_the_compiler_becomes_an_error() {
    let error = naga_front::contain("parsing", || -> u32 { panic!("entered {} code", "unreachable") }).unwrap_err();
    let expected = ShaderError::CompilerFailure { step: "parsing", message: "entered unreachable code".to_owned() };
    assert_eq!(error, expected);
    assert_eq!((error.line(), error.function()), (None, None));
}
