//! Pipelines that cannot be: refused with the error that names what is wrong, never a panic, never a word to wgpu's
//! handler of uncaptured errors; and the device goes on working.

use patchwave::{Domain, Draw, Error, OutputTopology, TessellationPipeline, TessellationPipelineDescriptor};
use wgpu::VertexFormat;

use super::rig::Rig;

const SHADER: &str = "
    override scale: f32 = 2.0;
    @id(7) override count: u32 = 3u;
    struct A { @location(0) x: vec2f } struct P { x: vec2f }
    struct C { factors: TriFactors } struct S { @location(0) x: vec2f }
    fn vertex(a: A) -> P { return P(a.x * scale); }
    fn patch_constants(patch_id: u32) -> C { return C(TriFactors(vec3f(f32(count)), 1.0)); }
    fn domain(at: vec3f, patch_id: u32) -> S { return S(output_point(0u).x); }";

fn layout(attributes: &[wgpu::VertexAttribute], array_stride: u64) -> wgpu::VertexBufferLayout<'_> {
    wgpu::VertexBufferLayout { array_stride, step_mode: wgpu::VertexStepMode::Vertex, attributes }
}

fn attribute(format: VertexFormat, offset: u64, shader_location: u32) -> wgpu::VertexAttribute {
    wgpu::VertexAttribute { format, offset, shader_location }
}

/// Makes a pipeline of `shader` and one good vertex buffer, after `change`.
fn make(
    rig: &Rig,
    shader: &str,
    change: impl FnOnce(&mut TessellationPipelineDescriptor<'_>),
) -> Result<TessellationPipeline, Error> {
    let attributes = [attribute(VertexFormat::Float32x2, 0, 0)];
    let layouts = [layout(&attributes, 8)];
    let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Tri, 1);
    descriptor.names.hull = None;
    descriptor.vertex_buffers = &layouts;
    change(&mut descriptor);
    let result = TessellationPipeline::new(&rig.device, &descriptor);
    assert_eq!(rig.take_complaints(), [] as [String; 0]);
    result
}

fn refusal(rig: &Rig, shader: &str, change: impl FnOnce(&mut TessellationPipelineDescriptor<'_>)) -> Error {
    make(rig, shader, change).map(|_| ()).expect_err("the pipeline is refused")
}

fn assert_still_works(rig: &Rig) {
    let pipeline = make(rig, SHADER, |d| d.constants = &[("scale", 3.0), ("7", 1.0)]).expect("a good pipeline");
    let buffer = rig.storage(&[1.0f32, 2.0]);
    let slices = [buffer.slice(..)];
    let mesh = rig.mesh(&pipeline, &Draw { vertex_buffers: &slices, ..Draw::new(0..1) });
    assert_eq!(mesh.member("x"), Some(vec![vec![3.0, 6.0]; 3]));
}

type Constants = &'static [(&'static str, f64)];

#[test]
fn override_constants() {
    let rig = Rig::new();
    let cases: [(Constants, &str, &str); 5] = [
        (&[("scal", 1.0)], "scal", "declares scale, 7"),
        (&[("count", 1.0)], "count", "declares scale, 7"),
        (&[("scale", f64::NAN)], "scale", "not finite"),
        (&[("scale", 1.0), ("9", 1.0)], "9", "declares scale, 7"),
        (&[("", 1.0)], "", "declares scale, 7"),
    ];
    for (constants, wrong, words) in cases {
        match refusal(&rig, SHADER, |d| d.constants = constants) {
            Error::Constant { key, reason } => {
                assert_eq!(key, wrong);
                assert!(reason.contains(words), "{reason}");
            }
            other => panic!("{other}"),
        }
    }
    // Values that the type does not hold are wgpu's to refuse.
    let too_much: [Constants; 2] = [&[("7", -1.0)], &[("7", 1e10)]];
    for constants in too_much {
        let error = refusal(&rig, SHADER, |d| d.constants = constants);
        assert!(matches!(error, Error::Constant { .. } | Error::Wgpu { .. }), "{constants:?}: {error}");
    }
    let without_default = SHADER.replace("scale: f32 = 2.0", "scale: f32");
    match refusal(&rig, &without_default, |_| ()) {
        Error::Constant { key, reason } => assert!(key == "scale" && reason.contains("line 2"), "{key}: {reason}"),
        other => panic!("{other}"),
    }
    make(&rig, &without_default, |d| d.constants = &[("scale", 1.0)]).expect("a value was given");
    assert_still_works(&rig);
}

#[test]
fn vertex_buffer_layouts() {
    let rig = Rig::new();
    let refuse = |layouts: &[wgpu::VertexBufferLayout<'_>]| {
        let mut descriptor = TessellationPipelineDescriptor::new(SHADER, Domain::Tri, 1);
        descriptor.names.hull = None;
        descriptor.vertex_buffers = layouts;
        TessellationPipeline::new(&rig.device, &descriptor).map(|_| ()).expect_err("the layout is refused")
    };
    let x2 = VertexFormat::Float32x2;
    let of_layout: [(&[wgpu::VertexAttribute], u64, &str); 3] = [
        (&[attribute(x2, 0, 0)], 1 << 33, "stride 8589934592"),
        (&[attribute(x2, 1 << 20, 0)], 8, "offset 1048576"),
        (&[attribute(x2, 1 << 40, 0)], 8, "offset 1099511627776"),
    ];
    for (attributes, stride, words) in of_layout {
        match refuse(&[layout(attributes, stride)]) {
            Error::VertexLayout { slot: 0, reason } => assert!(reason.contains(words), "{reason}: {words}"),
            other => panic!("{other}"),
        }
    }
    let of_attribute: [(&[wgpu::VertexAttribute], &str); 8] = [
        (&[], "no vertex buffer"),
        (&[attribute(x2, 0, 1)], "no vertex buffer"),
        (&[attribute(VertexFormat::Uint32x2, 0, 0)], "holds Uint"),
        (&[attribute(VertexFormat::Uint8x4, 0, 0)], "holds Uint"),
        (&[attribute(VertexFormat::Sint8, 0, 0)], "holds Sint"),
        (&[attribute(VertexFormat::Uint16x2, 0, 0)], "holds Uint"),
        (&[attribute(VertexFormat::Sint16x4, 0, 0)], "holds Sint"),
        (&[attribute(x2, 0, 0), attribute(x2, 8, 0)], "more than one"),
    ];
    for (attributes, words) in of_attribute {
        match refuse(&[layout(attributes, 16)]) {
            Error::Attribute { location: 0, reason, .. } => assert!(reason.contains(words), "{reason}: {words}"),
            other => panic!("{other}"),
        }
    }
    assert!(matches!(refuse(&[]), Error::Attribute { .. }));
    let good = [attribute(x2, 0, 0)];
    let many = vec![layout(&good, 8); 9];
    assert!(matches!(refuse(&many), Error::OutOfRange { what: "vertex_buffers", .. }));
    assert_still_works(&rig);
}

#[test]
fn fixed_function_state() {
    let rig = Rig::new();
    let out_of_range = |error: Error, name: &str| match error {
        Error::OutOfRange { what, .. } => assert_eq!(what, name),
        other => panic!("{other}"),
    };
    for count in [0, 33, u32::MAX] {
        out_of_range(refusal(&rig, SHADER, |d| d.input_control_points = count), "input_control_points");
    }
    for count in [2, 33, u32::MAX] {
        // 2: without a hull function there can be none or as many as come in.
        out_of_range(refusal(&rig, SHADER, |d| d.output_control_points = count), "output_control_points");
    }
    for factor in [0.0, 0.99, 64.1, -1.0, f32::NAN, f32::INFINITY] {
        out_of_range(refusal(&rig, SHADER, |d| d.maximum_factor = factor), "maximum_factor");
    }
    let error = refusal(&rig, SHADER, |d| d.output_topology = OutputTopology::Line);
    assert!(matches!(error, Error::TopologyMismatch { .. }), "{error}");
    out_of_range(refusal(&rig, SHADER, |d| d.bind_group_layouts = &[None, None, None, None]), "bind_group_layouts");
    assert_still_works(&rig);
}

/// What the pipeline layout has and what the shader wants: wgpu's to compare.
#[test]
fn bind_group_layouts() {
    let rig = Rig::new();
    let shader = SHADER.replace("struct A", "@group(1) @binding(2) var<uniform> tint: vec4f;\n struct A");
    let shader = shader.replace("a.x * scale", "a.x * scale * tint.xy");
    match refusal(&rig, &shader, |_| ()) {
        Error::MissingBindGroup { group: 1, binding, line: 4 } => assert_eq!(binding, "tint"),
        other => panic!("{other:?}"),
    }
    let layout_of = |binding, visibility, ty| {
        let entry = wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None };
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &[entry] };
        rig.device.create_bind_group_layout(&descriptor)
    };
    let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    let (uniform, storage) =
        (buffer(wgpu::BufferBindingType::Uniform), buffer(wgpu::BufferBindingType::Storage { read_only: true }));
    let (compute, fragment) = (wgpu::ShaderStages::COMPUTE, wgpu::ShaderStages::FRAGMENT);
    let wrong = [layout_of(3, compute, uniform), layout_of(2, fragment, uniform), layout_of(2, compute, storage)];
    for layout in &wrong {
        let attributes = [attribute(VertexFormat::Float32x2, 0, 0)];
        let buffers = [self::layout(&attributes, 8)];
        let groups = [None, Some(layout)];
        let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Tri, 1);
        descriptor.names.hull = None;
        descriptor.vertex_buffers = &buffers;
        descriptor.bind_group_layouts = &groups;
        let error = TessellationPipeline::new(&rig.device, &descriptor).map(|_| ()).expect_err("another layout");
        assert!(matches!(error, Error::Wgpu { .. }), "{error}");
    }
    assert_still_works(&rig);
}

/// A cheap sample of what the reader of shaders refuses: its own tests have the whole of it. Here it is the device that
/// must not notice.
#[test]
fn shaders() {
    let rig = Rig::new();
    let wrong = [
        "",
        "fn vertex() {",
        "\u{0}",
        &SHADER.replace("TriFactors", "QuadFactors"),
        &SHADER.replace("return S(output_point(0u).x)", "return S(input_point(0u).x)"),
        &SHADER.replace("f32(count)", "f32(cont)"),
        &SHADER.replace("-> P { return P(a.x * scale); }", "-> P { workgroupBarrier(); return P(a.x); }"),
        &format!("var<workgroup> all: array<u32, 4>;{SHADER}"),
        &format!("@compute @workgroup_size(1) fn main() {{}}{SHADER}"),
        &format!("@group(3) @binding(0) var<uniform> mine: vec4f;{SHADER}"),
        &format!("fn pw_threadgroup() {{}}{SHADER}"),
    ];
    for shader in wrong {
        assert_ne!(shader, SHADER, "a fault was put in");
        let error = refusal(&rig, shader, |_| ());
        assert!(matches!(error, Error::Shader(_)), "{shader}: {error:?}");
    }
    assert_still_works(&rig);
}
