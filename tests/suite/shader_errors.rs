//! Every error of the front end, with the function and the line that it names.

use patchwave::shader::{Reflection, ShaderError, StageNames, reflect};
use patchwave::tessellator::Domain;

/// A line for each declaration, so that a line says which.
pub(crate) const GOOD: &str = "\
struct Attributes { @location(0) position: vec3f }
struct ControlPoint { position: vec3f }
struct PatchConstants { factors: QuadFactors }
struct Surface { @builtin(position) position: vec4f, @location(0) normal: vec3f }
fn vertex(attributes: Attributes, id: VertexId) -> ControlPoint { return ControlPoint(attributes.position); }
fn hull(point: u32, patch_id: u32) -> ControlPoint { return input_point(point); }
fn patch_constants(patch_id: u32) -> PatchConstants { return PatchConstants(QuadFactors(vec4f(4), vec2f(4))); }
fn domain(location: vec2f, patch_id: u32) -> Surface { return Surface(vec4f(output_point(0).position, 1), vec3f()); }
";

pub(crate) fn read(source: &str) -> Result<Reflection, ShaderError> {
    reflect(source, &StageNames::default(), Domain::Quad)
}

/// The error of the good shader with `from` made `to`.
#[track_caller]
fn changed(from: &str, to: &str) -> ShaderError {
    assert!(GOOD.contains(from), "{from}");
    refused(&GOOD.replace(from, to))
}

/// The error of the good shader with more text, from line 9 on.
#[track_caller]
fn with(more: &str) -> ShaderError {
    refused(&format!("{GOOD}{more}"))
}

#[track_caller]
pub(crate) fn refused(source: &str) -> ShaderError {
    let Err(error) = read(source) else { panic!("not refused") };
    assert!(!error.to_string().is_empty());
    error
}

/// Whether the error is of this variant, about this function and line.
macro_rules! expect {
    ($error:expr, $variant:ident, $function:expr, $line:expr) => {{
        let error: ShaderError = $error;
        assert!(matches!(error, ShaderError::$variant { .. }), "{error:?}");
        assert_eq!(error.function(), $function, "{error}");
        assert_eq!(error.line(), $line, "{error}");
        error.to_string()
    }};
}

#[test]
fn the_good_shader_is_good() {
    read(GOOD).unwrap();
}

#[test]
fn stage_names() {
    for (name, problem) in [
        ("", "identifier"),
        ("_", "identifier"),
        ("9lives", "identifier"),
        ("a b", "identifier"),
        ("f() {} fn g", "identifier"),
        ("while", "reserves"),
        ("pw_vertex", "patchwave's"),
        ("constants", "gives"),
        ("dot", "WGSL's own"),
        ("domain", "another stage"),
    ] {
        let names = StageNames { vertex: name.to_owned(), ..StageNames::default() };
        let error = reflect(GOOD, &names, Domain::Quad).unwrap_err();
        assert!(matches!(error, ShaderError::InvalidStageName { .. }), "{error:?}");
        assert!(error.to_string().contains(problem), "{error}");
    }
}

#[test]
fn reserved_names() {
    for declaration in [
        "fn pw_thing() {}",
        "struct PwThing { a: f32 }",
        "const PW_THING = 1;",
        "fn input_point(point: u32) -> ControlPoint { return ControlPoint(); }",
        "fn output_point() {}",
        "@must_use fn constants() -> f32 { return 1.0; }",
        "struct QuadFactors { a: f32 }",
        "alias TriFactors = vec4f;",
        "var<private> IsolineFactors: f32;",
        "@id(3) override VertexId: f32;",
        "alias vec4f = vec3<f32>;",
        "fn dot(a: f32) -> f32 { return a; }",
    ] {
        expect!(with(&format!("/* a\n */\n{declaration}\n")), ReservedName, None, Some(11));
    }
    // Within a function a name of ours is anybody's.
    let local = "fn helper(constants: f32) -> f32 { let pw_a = constants; return pw_a; }";
    read(&format!("{GOOD}{local}")).unwrap();
}

#[test]
fn unfinished_text() {
    expect!(with("@compute @workgroup_size(1)\n"), Unfinished, None, Some(9));
    expect!(with("fn helper() {\n\n"), Unfinished, None, Some(9));
    expect!(with("fn helper() {\n f(;\n"), Wgsl, None, Some(10));
    expect!(with("fn helper() {}\n/* and so on\n"), Unfinished, None, Some(10));
    expect!(with("const a = 1\n"), Unfinished, None, Some(9));
    expect!(with("}\n"), Wgsl, None, Some(9));
    expect!(with("fn helper( { )\n"), Wgsl, None, Some(9));
}

#[test]
fn texts_too_complex_for_the_stack() {
    let deep = |text: String| expect!(with(&text), TooComplex, None, Some(10));
    for count in [2_000, 100_000] {
        deep(format!("fn f(a: f32) -> f32 {{ return\n a{}; }}", " + a".repeat(count)));
        deep(format!("fn f(a: bool) -> bool {{ return\n a{}; }}", " && a".repeat(count)));
        deep(format!("fn f(a: vec2f) -> f32 {{ return\n a{}.x; }}", ".xy".repeat(count)));
        deep(format!("fn f(a: f32) -> f32 {{ return\n {}a; }}", "- ".repeat(count)));
        deep(format!("fn f(a: f32) {{\n if a > 0 {{}} {} }}", " else if a > 1 {}".repeat(count)));
        deep(format!("fn f(a: f32) -> f32 {{ return\n {}a{}; }}", "(".repeat(count), ")".repeat(count)));
        deep(format!("fn f() {{\n {}{} }}", "{".repeat(count), "}".repeat(count)));
        deep(format!("var<private> a:\n {}f32{};", "array<".repeat(count), ",2>".repeat(count)));
    }
    let chains = format!("a{}", " + a".repeat(150));
    let nested = format!("((({chains}) + {chains}) + {chains})");
    deep(format!("fn f(a: f32) -> f32 {{ return\n {nested}; }}"));

    let constants: String = (0..5_000).map(|i| format!("const c{i} = {};", i + 1)).collect();
    expect!(with(&format!("\n{constants}")), TooComplex, None, Some(10));
    expect!(refused(&" ".repeat(17 << 20)), TooComplex, None, Some(1));
}

#[test]
fn the_limits_leave_room() {
    let sum = format!("a{}", " + a".repeat(200));
    let list = "1.0, ".repeat(10_000);
    let more = format!(
        "fn f(a: f32) -> f32 {{ return {sum}; }}\nconst table = array<f32, 10000>({list});\n{}",
        (0..1_400).map(|i| format!("const c{i} = {i};\n")).collect::<String>()
    );
    read(&format!("{GOOD}{more}")).unwrap();
}

#[test]
fn errors_of_naga() {
    let text = expect!(with("fn f() -> f32 {\n    return 1.0 +; }\n"), Wgsl, None, Some(10));
    assert!(text.starts_with("line 10, column 17: "), "{text}");
    expect!(with("fn f() -> f32 { return unknown; }\n"), Wgsl, None, Some(9));
    expect!(with("fn f() -> f32 { return 1u; }\n"), Wgsl, None, Some(9));
    expect!(with("fn f() -> f32 {\n return vec3f(1.0) + vec2f(1.0); }\n"), Wgsl, None, Some(10));
    expect!(with("fn f() { f(); }\n"), Wgsl, None, Some(9));
    let text = expect!(with("fn f() { g(); }\nfn g() { f(); }\n"), Wgsl, None, Some(10));
    assert!(text.contains("; line 9: "), "{text}");
    expect!(with("struct S { a: S }\n"), Wgsl, None, Some(9));
    expect!(with("fn f() {}\nfn f() {}\n"), Wgsl, None, Some(10));
    expect!(with("fn f(a: bool) -> f32 { if a { return 1.0; } }\n"), Wgsl, None, Some(9));
    expect!(with("fn f() { break; }\n"), Wgsl, None, Some(9));
    expect!(with("enable nonsense;\n"), Wgsl, None, Some(9));
    expect!(with("const_assert 1 > 2;\n"), Wgsl, None, Some(9));
    expect!(with("fn f() -> u32 { return 1 / 0; }\n"), Wgsl, None, Some(9));
    expect!(with("fn f() -> f32 { return array<f32, 2>()[3]; }\n"), Wgsl, None, Some(9));
    expect!(with("@id(1) override a: f32;\n@id(1) override b: f32;\n"), Wgsl, None, Some(10));
    expect!(with("@group(0) @binding(0) var<uniform> a: array<f32, 4>;\n"), Wgsl, None, Some(9));
    expect!(with("nonsense\n"), Wgsl, None, Some(9));
    expect!(with("\u{0}\u{1}\u{fffd}é\n"), Wgsl, None, Some(9));
    // Columns count characters.
    let text = expect!(with("const é = /* ééé */ unknown;\n"), Wgsl, None, Some(9));
    assert!(text.contains("column 21"), "{text}");
    expect!(changed("-> ControlPoint { return input_point", "-> Contrl { return input_point"), Wgsl, None, Some(6));
    expect!(changed("vec2f, patch_id: u32) -> Surface", "vec2f patch_id: u32) -> Surface"), Wgsl, None, Some(8));
    let source = format!("{GOOD}struct S {{ a: array<f32, 1000000000> }}");
    expect!(refused(&source), Wgsl, None, Some(9));
}

#[test]
fn missing_functions() {
    expect!(refused(""), MissingFunction, Some("vertex"), None);
    expect!(changed("fn vertex(", "fn vertex_main("), MissingFunction, Some("vertex"), None);
    let text = expect!(changed("fn hull(", "fn hull_main("), MissingFunction, Some("hull"), None);
    assert!(text.contains("fn hull(point: u32, patch_id: u32) -> ControlPoint"), "{text}");
    expect!(changed("fn patch_constants(", "fn other("), MissingFunction, Some("patch_constants"), None);
    expect!(changed("fn domain(", "fn other("), MissingFunction, Some("domain"), None);
    // What is commented out is not there.
    expect!(
        changed("fn domain(", "/* /* */ fn domain() {} */ // fn domain()\n fn o("),
        MissingFunction,
        Some("domain"),
        None
    );
}

#[test]
fn wrong_signatures() {
    let expect_wrong = |from: &str, to: &str, function: &str, line: u32, part: &str| {
        let text = expect!(changed(from, to), WrongSignature, Some(function), Some(line));
        assert!(text.contains(part), "{text}");
    };
    expect_wrong(
        "attributes: Attributes, id: VertexId)",
        "attributes: Attributes, b: f32)",
        "vertex",
        5,
        "second parameter",
    );
    expect_wrong(
        "attributes: Attributes, id",
        "id: VertexId, attributes: Attributes, id2",
        "vertex",
        5,
        "3 parameters",
    );
    let swapped = ("attributes: Attributes, id: VertexId", "id: VertexId, attributes: Attributes");
    expect_wrong(swapped.0, swapped.1, "vertex", 5, "comes after");
    expect_wrong(
        "(attributes: Attributes, id: VertexId) -> ControlPoint { return ControlPoint(attributes.position); }",
        "(attributes: vec3f) -> ControlPoint { return ControlPoint(attributes); }",
        "vertex",
        5,
        "not a struct",
    );
    expect_wrong("hull(point: u32, patch_id: u32)", "hull(point: u32)", "hull", 6, "takes 1 parameters, not 2");
    expect_wrong(
        "hull(point: u32, patch_id: u32)",
        "hull(point: u32, patch_id: i32)",
        "hull",
        6,
        "`patch_id` is of type `i32`",
    );
    expect_wrong("patch_constants(patch_id: u32)", "patch_constants()", "patch_constants", 7, "takes 0 parameters");
    expect_wrong("location: vec2f", "location: vec3f", "domain", 8, "location: vec2f, patch_id: u32) -> Surface");
    expect_wrong(
        "-> Surface { return Surface(vec4f(output_point(0).position, 1), vec3f()); }",
        "{ }",
        "domain",
        8,
        "returns nothing",
    );
    expect_wrong(
        "-> Surface { return Surface(vec4f(output_point(0).position, 1), vec3f()); }",
        "-> vec4f { return vec4f(); }",
        "domain",
        8,
        "not a struct",
    );
    expect_wrong(
        "-> ControlPoint { return ControlPoint(attributes.position); }",
        "-> @location(0) vec4f { return vec4f(); }",
        "vertex",
        5,
        "attribute",
    );
    let tri = GOOD.replace("QuadFactors(vec4f(4), vec2f(4))", "TriFactors()").replace("QuadFactors", "TriFactors");
    let error = reflect(&tri, &StageNames::default(), Domain::Tri).unwrap_err();
    let text = expect!(error, WrongSignature, Some("domain"), Some(8));
    assert!(text.contains("expected `fn domain(location: vec3f, patch_id: u32) -> Surface`"), "{text}");
    assert!(text.contains("found `fn domain(location: vec2f, patch_id: u32) -> Surface`"), "{text}");
}

#[test]
fn vertex_parameters_may_be_left_out() {
    for (parameters, attributes, id) in [
        ("", false, false),
        ("id: VertexId", false, true),
        ("a: Attributes", true, false),
        ("a: Attributes, b: VertexId", true, true),
    ] {
        let source = GOOD
            .replace("attributes: Attributes, id: VertexId", parameters)
            .replace("ControlPoint(attributes.position)", "ControlPoint()");
        let reflection = read(&source).unwrap();
        assert_eq!((reflection.attributes.is_some(), reflection.takes_vertex_id), (attributes, id));
    }
}

#[test]
fn types_that_cannot_lie_in_memory() {
    for (member, path) in [
        ("flag: bool", "`ControlPoint.flag` is a bool"),
        ("flags: array<vec2<bool>, 3>", "`ControlPoint.flags[]` is a bool"),
        ("inner: Inner", "`ControlPoint.inner.deep[].flag` is a bool"),
        ("count: atomic<u32>", "`ControlPoint.count` is atomic"),
        ("list: array<f32>", "`ControlPoint.list` is an array without a size"),
        ("list: array<f32, size>", "`ControlPoint.list` has a size that an `override` decides"),
    ] {
        let source = GOOD
            .replace("struct ControlPoint { position: vec3f }", &format!("struct ControlPoint {{ {member} }}"))
            .replace("return ControlPoint(attributes.position);", "loop {}")
            .replace("return input_point(point);", "loop {}")
            .replace("Surface(vec4f(output_point(0).position, 1), vec3f())", "Surface()");
        let more = "struct Deep { flag: bool }\nstruct Inner { deep: array<Deep, 2> }\noverride size: u32 = 4;\n";
        let error = refused(&format!("{source}{more}"));
        match error {
            // What cannot be constructed at all, naga refuses first, in the accessor that returns it.
            ShaderError::Wgsl { line: Some(5 | 6), .. } => {}
            error => {
                let text = expect!(error, UnsuitableType, Some("vertex"), Some(5));
                assert!(text.contains(path), "{text}");
            }
        }
    }
    let pointer = "-> ptr<function, f32> { loop {} }\n//";
    let source =
        GOOD.replace("-> ControlPoint { return input_point", pointer).replace("output_point(0).position, 1", "1");
    expect!(refused(&source), UnsuitableType, Some("hull"), Some(6));
}

#[test]
fn wrong_factors() {
    let expect_wrong = |to: &str, part: &str| {
        let source = GOOD
            .replace("struct PatchConstants { factors: QuadFactors }", &format!("struct PatchConstants {{ {to} }}"))
            .replace("PatchConstants(QuadFactors(vec4f(4), vec2f(4)))", "PatchConstants()");
        let text = expect!(refused(&source), WrongFactors, Some("patch_constants"), Some(7));
        assert!(text.contains("`QuadFactors`") && text.contains(part), "{text}");
    };
    expect_wrong("factors: TriFactors", "`factors: TriFactors`, which is another domain's");
    expect_wrong("density: f32", "found none");
    expect_wrong("factors: array<QuadFactors, 2>", "found none");
    expect_wrong("a: QuadFactors, b: QuadFactors", "2: `a`, `b`");
    for (result, part) in [("QuadFactors", "`QuadFactors` itself"), ("vec4f", "`vec4<f32>`, which is not a struct")] {
        let source = GOOD
            .replace("-> PatchConstants", &format!("-> {result}"))
            .replace("PatchConstants(QuadFactors(vec4f(4), vec2f(4)))", &format!("{result}()"));
        let text = expect!(refused(&source), WrongFactors, Some("patch_constants"), Some(7));
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn unsuitable_outputs() {
    for (member, part) in [
        ("@location(1) a: array<f32, 2>", "scalar or a vector"),
        ("@location(1) a: mat2x2f", "scalar or a vector"),
        ("@location(1) a: bool", "bool"),
        ("@location(1) a: vec2h", "f16"),
        ("@location(0) a: f32", "an earlier member"),
        ("@builtin(position) a: vec4f", "an earlier member"),
        ("@builtin(vertex_index) a: u32", "builtin other than"),
        ("a: f32", "needs `@location(n)` or"),
        ("@location(1) @interpolate(linear) a: u32", "only be `@interpolate(flat)`"),
        ("@location(1) @interpolate(flat, centroid) a: f32", "`first` or `either` only"),
        ("@location(1) @interpolate(linear, either) a: f32", "which only `flat` may be"),
    ] {
        let source = GOOD
            .replace("@location(0) normal: vec3f", &format!("@location(0) normal: vec3f, {member}"))
            .replace("Surface(vec4f(output_point(0).position, 1), vec3f())", "Surface()");
        let directive = if member.contains("vec2h") { "enable f16; " } else { "" };
        let text = expect!(refused(&format!("{directive}{source}")), UnsuitableMember, Some("domain"), Some(8));
        assert!(text.contains(part) && text.contains("`Surface.a`, in the output"), "{text}");
    }
    let source = GOOD
        .replace("@builtin(position) position: vec4f", "@builtin(position) position: vec3f")
        .replace("Surface(vec4f(output_point(0).position, 1), vec3f())", "Surface()");
    let text = expect!(refused(&source), UnsuitableMember, Some("domain"), Some(8));
    assert!(text.contains("has to be a `vec4f`"), "{text}");
}

#[test]
fn unsuitable_attributes() {
    for (member, part) in [
        ("@location(0) a: f32", "a second time"),
        ("a: f32", "needs a `@location(n)`"),
        ("@builtin(vertex_index) a: u32", "needs a `@location(n)`"),
        ("@location(1) a: mat2x2f", "scalar or a vector"),
    ] {
        let members = format!("{{ @location(0) position: vec3f, {member} }}");
        let text =
            expect!(changed("{ @location(0) position: vec3f }", &members), UnsuitableMember, Some("vertex"), Some(5));
        assert!(text.contains(part) && text.contains("`Attributes.a`, in the attributes"), "{text}");
    }
}

#[test]
fn variables() {
    expect!(with("\nvar<workgroup> shared_points: array<f32, 4>;\n"), WorkgroupVariable, None, Some(10));
    expect!(with("\nvar<uniform> settings: vec4f;\n"), MissingBinding, None, Some(10));
    expect!(with("\nvar image: texture_2d<f32>;\n"), MissingBinding, None, Some(10));
    expect!(with("\n@group(3) @binding(0) var<uniform> settings: vec4f;\n"), ReservedGroup, None, Some(10));
    expect!(with("\n@group(7) @binding(0) var s: sampler;\n"), ReservedGroup, None, Some(10));
    expect!(with("\nvar<immediate> settings: vec4f;\n"), UnsupportedVariable, None, Some(10));
    let both = "
        @group(0) @binding(1) var<uniform> a: vec4f;
        @group(0) @binding(1) var<uniform> b: vec4f;
        fn f() -> vec4f { return a + b; }";
    read(&format!("{GOOD}{both}")).unwrap();
    let source = GOOD.replace("return input_point(point);", "_ = f(); return input_point(point);");
    expect!(refused(&format!("{source}{both}")), SharedBinding, None, Some(11));
}

#[test]
fn entry_points() {
    expect!(with("\n@compute @workgroup_size(1)\nfn main() {}\n"), EntryPoint, Some("main"), Some(11));
    expect!(
        with("@fragment\nfn shade() -> @location(0) vec4f { return vec4f(); }\n"),
        EntryPoint,
        Some("shade"),
        Some(10)
    );
}

/// The error of the good shader whose domain function calls a chain of helpers, the last of which has this body.
#[track_caller]
fn through_helpers(body: &str) -> ShaderError {
    let source = GOOD.replace("{ return Surface(", "{ first(); return Surface(");
    let helpers = format!("fn first() {{ second(); }}\nfn second() {{\n{body}\n}}\n");
    let resources = "@group(0) @binding(0) var image: texture_2d<f32>;
        @group(0) @binding(1) var depth: texture_depth_2d;
        @group(0) @binding(2) var image_sampler: sampler;
        @group(0) @binding(3) var compare: sampler_comparison;";
    refused(&format!("{source}{helpers}{resources}"))
}

#[test]
fn barriers() {
    for barrier in ["workgroupBarrier", "storageBarrier", "textureBarrier", "subgroupBarrier"] {
        let text = expect!(through_helpers(&format!("{barrier}();")), Barrier, Some("domain"), Some(11));
        assert!(text.contains(barrier) && text.contains("domain → first → second"), "{text}");
    }
    // Out of reach it does no harm.
    read(&format!("{GOOD}fn unused() {{ storageBarrier(); }}")).unwrap();
}

#[test]
fn implicit_derivatives() {
    for (operation, advice) in [
        ("textureSample(image, image_sampler, vec2f())", "textureSampleLevel"),
        ("textureSampleBias(image, image_sampler, vec2f(), 1.0)", "textureSampleLevel"),
        ("textureSampleCompare(depth, compare, vec2f(), 1.0)", "textureSampleCompareLevel"),
        ("dpdx(1.0)", "domain location"),
        ("dpdyFine(1.0)", "domain location"),
        ("fwidthCoarse(1.0)", "domain location"),
    ] {
        let text = expect!(through_helpers(&format!("_ = {operation};")), ImplicitDerivative, Some("domain"), Some(11));
        let name = operation.split('(').next().unwrap();
        assert!(text.contains(name) && text.contains(advice), "{text}");
    }
    let explicit = "fn f() -> vec4f {
        _ = textureSampleCompareLevel(depth, compare, vec2f(), 1.0);
        _ = textureGather(0, image, image_sampler, vec2f());
        return textureSampleGrad(image, image_sampler, vec2f(), vec2f(), vec2f())
            + textureSampleLevel(image, image_sampler, vec2f(), 0.0) + textureLoad(image, vec2u(), 0);
        }
        @group(0) @binding(0) var image: texture_2d<f32>;
        @group(0) @binding(1) var depth: texture_depth_2d;
        @group(0) @binding(2) var image_sampler: sampler;
        @group(0) @binding(3) var compare: sampler_comparison;";
    let source = GOOD.replace("{ return Surface(", "{ _ = f(); return Surface(");
    read(&format!("{source}{explicit}")).unwrap();
}

#[test]
fn discard() {
    let text = expect!(through_helpers("discard;"), Discard, Some("domain"), Some(11));
    assert!(text.contains("domain → first → second"), "{text}");
}

#[test]
fn accessors() {
    let call = |from: &str, call: &str| changed(from, &format!("{from} _ = {call}; "));
    let (vertex, hull) = ("-> ControlPoint {", "patch_id: u32) -> ControlPoint {");
    let (constants, domain) = ("-> PatchConstants {", "-> Surface {");
    expect!(call(vertex, "input_point(0)"), ForbiddenAccessor, Some("vertex"), Some(5));
    expect!(call(hull, "output_point(0)"), ForbiddenAccessor, Some("hull"), Some(6));
    expect!(call(hull, "constants()"), ForbiddenAccessor, Some("hull"), Some(6));
    expect!(call(constants, "constants()"), ForbiddenAccessor, Some("patch_constants"), Some(7));
    expect!(call(domain, "input_point(0)"), ForbiddenAccessor, Some("domain"), Some(8));
    let text = expect!(through_helpers("\n_ = input_point(0);"), ForbiddenAccessor, Some("domain"), Some(12));
    assert!(text.contains("domain → first → second → input_point"), "{text}");
    assert!(text.contains("`output_point` and `constants`"), "{text}");
    let source = GOOD
        .replace(constants, "-> PatchConstants { _ = input_point(0); _ = output_point(0);")
        .replace(domain, "-> Surface { _ = constants().factors;");
    read(&source).unwrap();
}

#[test]
fn pointers_into_variables() {
    let read_value = "fn value(p: ptr<function, f32>) -> f32 { return *p; }
        fn private_value(p: ptr<private, f32>) -> f32 { return *p; }
        struct Pair { a: f32, b: f32 } var<private> pair: Pair; var<private> list: array<f32, 4>; var<private> one: f32;
        fn whole() -> f32 { var a: f32; return value(&a) + private_value(&one); }
        fn by_value(list: array<f32, 4>, pair: Pair) -> f32 { return same(list[1]) + same(pair.b); }
        fn same(a: f32) -> f32 { return a; }
        fn on(p: ptr<function, f32>) -> f32 { return value(p); }\n";
    assert_eq!(read_value.lines().count(), 7);
    read(&format!("{GOOD}{read_value}")).unwrap();
    for body in [
        "var a: array<f32, 4>;\n_ = value(&a[i]);",
        "var a: array<f32, 4>;\n_ = value(&a[1]);",
        "var a: Pair;\n_ = value(&a.b);",
        "var a: array<Pair, 2>; let p = &a[i];\n_ = value(&(*p).b);",
        "\n_ = private_value(&list[i]);",
        "\n_ = private_value(&pair.b);",
        "\n_ = value(&(*q)[i]);",
        "\n_ = value(&q[i]);",
    ] {
        let function = format!("fn f(i: u32, q: ptr<function, array<f32, 4>>) {{ {body} }}");
        expect!(with(&format!("{read_value}{function}")), PointerArgument, Some("f"), Some(17));
    }
}

#[test]
fn subgroup_operations_are_read() {
    read(&GOOD.replace("-> Surface {", "-> Surface { _ = subgroupAdd(1u) + subgroupBroadcastFirst(patch_id);"))
        .unwrap();
}
