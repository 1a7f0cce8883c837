//! `patchwave check` and `patchwave compile`: shaders without a device.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use naga::valid::{Capabilities, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use patchwave::pipeline::Composition;
use patchwave::{Domain, TessellationPipelineDescriptor};
use serde_json::Value;

use crate::cli::{error_of, folder, patchwave, run, stdout};
use crate::rig::Rig;

const TEAPOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/shaders/teapot.wgsl");

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

/// All WGSL files under assets/ that are shaders of the contract.
fn shaders() -> Vec<PathBuf> {
    let assets =
        |name: &str| fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("the folder is there");
    let files = assets("assets/shaders").chain(assets("assets/scenes")).flatten().map(|entry| entry.path());
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // The others are fragment shaders, and what examples put before theirs.
    let mut shaders: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "wgsl"))
        .filter(|path| read(path).contains("fn patch_constants("))
        .collect();
    shaders.sort();
    assert!(shaders.len() >= 8, "{shaders:?}");
    let whole = folder("whole-shaders");
    for shader in &mut shaders {
        let name = shader.file_name().expect("it is a file").to_owned();
        for (follows, part) in PARTS {
            if name == follows {
                let text = read(&shader.with_file_name(part)) + &read(shader);
                *shader = whole.join(&name);
                fs::write(&shader, text).expect("the folder is there");
            }
        }
    }
    shaders
}

/// Shaders of examples that follow another file.
const PARTS: [(&str, &str); 2] = [("grass.wgsl", "grass.field.wgsl"), ("terrain.wgsl", "terrain.heights.wgsl")];

/// The program with a text on stdin.
fn with_stdin(args: &[&str], text: &[u8]) -> Output {
    let mut command = patchwave(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("stdin is a pipe").write_all(text).expect("the program reads stdin");
    child.wait_with_output().expect("the program ends")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("stdout is JSON")
}

/// The repository's shader of the teapot with something replaced.
fn teapot_with(from: &str, to: &str) -> String {
    let shader = fs::read_to_string(TEAPOT).expect("the shader is there");
    assert!(shader.contains(from), "{from}");
    shader.replacen(from, to, 1)
}

#[test]
fn shaders_of_the_repository_keep_the_contract() {
    let shaders = shaders();
    let mut args = vec!["check", "--json"];
    args.extend(shaders.iter().map(|path| text(path)));
    let output = run(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let report = json(&output);
    assert_eq!(report["passed"], true);
    assert_eq!(report["shaders"].as_array().map(Vec::len), Some(shaders.len()));
}

#[test]
fn what_check_says_is_what_the_library_finds() {
    let report = json(&run(&["check", "--json", TEAPOT]));
    let found = &report["shaders"][0];
    let shader = fs::read_to_string(TEAPOT).expect("the shader is there");
    let attributes = wgpu::vertex_attr_array![0 => Float32x3];
    let layout =
        wgpu::VertexBufferLayout { array_stride: 12, step_mode: wgpu::VertexStepMode::Vertex, attributes: &attributes };
    let descriptor = TessellationPipelineDescriptor {
        vertex_buffers: &[layout],
        ..TessellationPipelineDescriptor::new(&shader, Domain::Quad, 16)
    };
    let composition = Composition::new(&descriptor, wgpu::Features::empty(), &wgpu::Limits::default());
    let composition = composition.expect("the shader keeps the contract");
    let reflection = composition.reflection();
    assert_eq!((&found["domain"], &found["topology"]), (&"quad".into(), &"triangle_cw".into()));
    // The shader's highest literal index is 15.
    assert_eq!((&found["input_control_points"], &found["output_control_points"]), (&16.into(), &16.into()));
    assert_eq!(found["functions"]["domain"]["line"], reflection.lines.domain);
    assert_eq!(found["surface"]["stride"], reflection.surface.stride);
    let members = found["surface"]["members"].as_array().expect("a list of members");
    assert_eq!(members.len(), reflection.surface.members.len());
    for (told, member) in members.iter().zip(&reflection.surface.members) {
        assert_eq!((&told["name"], &told["offset"]), (&member.name.as_str().into(), &member.offset.into()));
    }
    assert_eq!(members[1]["type"], "vec3f");
    assert_eq!(found["bindings"][0]["kind"], "uniform buffer of at least 96 bytes");
    assert_eq!(found["lds_bytes_per_patch"], composition.footprint().profile_bytes());
    assert_eq!(found["patches_per_threadgroup"], composition.plan().patches);
    assert_eq!(found["workgroup_bytes"], composition.plan().wgsl_workgroup_bytes);
    assert_eq!(found["storage_buffers"], composition.storage_buffers());
    // Output in full for people too, with the pass-through shader on request.
    let told = stdout(&run(&["check", "--pass-through", TEAPOT]));
    let shader = composition.pass_through_shader().expect("there is a position");
    assert!(told.contains(&shader) && told.contains("guessed: domain quad"), "{told}");
    assert!(!stdout(&run(&["check", TEAPOT])).contains("vertex_main"));
    assert!(run(&["check", "--quiet", TEAPOT]).stdout.is_empty());
}

#[test]
fn options_are_those_of_the_descriptor() {
    let args = ["check", "--json", "--input-control-points", "20", "--output-control-points", "18"];
    let more = [
        "--partitioning",
        "pow2",
        "--topology",
        "point",
        "--mode",
        "dynamic",
        "--patches-per-threadgroup",
        "3",
        TEAPOT,
    ];
    let report = json(&run(&[&args[..], &more].concat()));
    let found = &report["shaders"][0];
    for (key, value) in [
        ("input_control_points", Value::from(20)),
        ("output_control_points", 18.into()),
        ("partitioning", "pow2".into()),
        ("topology", "point".into()),
        ("patches_per_threadgroup", 3.into()),
    ] {
        assert_eq!(found[key], value, "{key}");
    }
    let shader = teapot_with("fn domain(", "fn evaluate(");
    let output = with_stdin(&["check", "--domain-function", "evaluate", "-"], shader.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}

#[test]
fn what_is_wrong_is_shown_with_its_line_and_advice() {
    for (shader, words) in [
        (
            teapot_with("tess_bernstein(location.x)", "lerp(location.x)"),
            vec![
                "stdin:92:13: no definition in scope for identifier: `lerp`",
                "  92 |     let u = lerp(location.x);",
                "mix(a, b, t)",
            ],
        ),
        (
            teapot_with("fn domain(", "fn domian("),
            vec!["stdin: the domain function `domain` is missing", "did you mean 'domian'?", "--domain-function"],
        ),
        (
            teapot_with("QuadFactors(vec4f(settings.factor)", "QuadFactor(vec4f(settings.factor)"),
            vec!["stdin:65:31:", "did you mean 'QuadFactors'?"],
        ),
        (
            teapot_with("return input_point(point);", "return output_point(point);"),
            vec!["stdin:44: `hull` may not reach `output_point`", "  44 |     return output_point(point);"],
        ),
        (teapot_with("@group(0)", "@group(3)"), vec!["stdin:17: the resource `settings` is in group 3"]),
    ] {
        let output = with_stdin(&["check", "-"], shader.as_bytes());
        let told = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{told}");
        for words in words {
            assert!(told.contains(words), "{words}: {told}");
        }
        let report = json(&with_stdin(&["check", "--json", "-"], shader.as_bytes()));
        assert_eq!((&report["passed"], &report["shaders"][0]["passed"]), (&false.into(), &false.into()));
        assert!(report["shaders"][0]["error"]["message"].as_str().is_some_and(|message| !message.starts_with("line")));
    }
}

#[test]
fn a_mark_stands_under_the_column() {
    let output =
        with_stdin(&["check", "-"], teapot_with("    let u = tess_bernstein", "\tlet u = tess_bernstien").as_bytes());
    let told = stdout(&output);
    let lines: Vec<&str> = told.lines().collect();
    let shown = lines.iter().position(|line| line.contains("tess_bernstien(")).expect("the line is shown");
    let marked = lines[shown].find("tess_bernstien").expect("it is in the line");
    assert_eq!(lines[shown + 1].find('^'), Some(marked), "{told}");
    assert!(told.contains("did you mean 'tess_bernstein'?"), "{told}");
}

#[test]
fn domains_are_told_by_factor_structs() {
    let none = "fn vertex() {}\nfn patch_constants() {}\nfn domain() {}\n";
    for (shader, words) in [
        (none.to_owned(), "the shader names none of QuadFactors, TriFactors and IsolineFactors"),
        (
            format!("{none}struct A {{ a: TriFactors, b: QuadFactors }}\n"),
            "the shader names TriFactors and QuadFactors; say --domain",
        ),
    ] {
        let output = with_stdin(&["check", "-"], shader.as_bytes());
        assert_eq!((output.status.code(), stdout(&output).lines().count()), (Some(1), 1));
        assert!(stdout(&output).contains(words), "{}", stdout(&output));
    }
}

#[test]
fn features_of_the_device_are_noted() {
    let report = json(&run(&["check", "--json", TEAPOT]));
    assert_eq!(report["shaders"][0]["notes"], serde_json::json!([]));
    let shader = teapot_with("struct ControlPoint {", "struct ControlPoint {\n    weight: f16,");
    let shader = shader.replace("ControlPoint(attributes.position)", "ControlPoint(1h, attributes.position)");
    let output = with_stdin(&["check", "-"], format!("enable f16;\n{shader}").as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stdout(&output).contains("note: it needs a device with more"), "{}", stdout(&output));
}

#[test]
fn limits_are_the_defaults_or_as_said() {
    let output = run(&["check", "--workgroup-memory", "600", TEAPOT]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("one patch needs"), "{}", stdout(&output));
    let output = run(&["check", "--storage-buffers", "4", TEAPOT]);
    assert!(stdout(&output).contains("max_storage_buffers_per_shader_stage"), "{}", stdout(&output));
    assert_eq!(run(&["check", "--storage-buffers", "4", "--no-indices", TEAPOT]).status.code(), Some(0));
}

#[test]
fn files_that_are_no_shaders_are_refused_on_one_line() {
    let folder = folder("check-bad");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("the file can be written");
        text(&path).to_owned()
    };
    let (empty, binary) = (file("empty.wgsl", b""), file("binary.wgsl", b"// one\n// \xff\xfe\n"));
    let missing = text(&folder.join("missing.wgsl")).to_owned();
    for (path, words) in [
        (missing.as_str(), "No such file"),
        (empty.as_str(), "is empty"),
        (binary.as_str(), "is not UTF-8 text: line 2"),
        (text(&folder), "it is a folder"),
    ] {
        for verb in [&["check", path][..], &["compile", "--stage", "hull", path]] {
            let error = error_of(verb, 1);
            assert!(error.contains(words), "{verb:?}: {error}");
        }
    }
    // The others are checked all the same.
    let output = run(&["check", &missing, TEAPOT, &empty]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("teapot.wgsl: keeps the contract"));
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 2);
    for (args, words) in [
        (&["check"][..], "FILE.wgsl"),
        (&["check", "-", "-"], "stdin can be checked once"),
        (&["check", TEAPOT, "--domain", "cube"], "isoline, tri, quad"),
        (&["check", TEAPOT, "--constant", "A"], "no value of an override"),
        (&["check", TEAPOT, "--vertex-buffer", "0=float32x5"], "did you mean 'float32x"),
        (&["check", TEAPOT, "--vertex-buffer", "first=float32"], "no location"),
        (&["check", TEAPOT, "--vertex-buffer", "step=sideways"], "vertex, instance"),
        (&["compile", TEAPOT], "--stage"),
        (&["compile", TEAPOT, "--stage", "geometry"], "connectivity"),
        (&["compile", TEAPOT, "--stage", "all"], "name a folder"),
        (&["compile", TEAPOT, "--stage", "strip-cut"], "--strip-cut"),
    ] {
        let error = error_of(args, 2);
        assert!(error.contains(words), "{args:?}: {error}");
    }
}

#[test]
fn a_wrong_shader_is_not_compiled() {
    let file = folder("compile-wrong").join("wrong.wgsl");
    fs::write(&file, teapot_with("tess_bernstein(location.x)", "lerp(location.x)")).expect("the file can be written");
    let error = error_of(&["compile", "--stage", "hull", text(&file)], 1);
    assert!(error.contains("wrong.wgsl:92:13:") && error.contains("mix(a, b, t)"), "{error}");
    let below = file.join("kernel.wgsl");
    let error = error_of(&["compile", "--stage", "hull", TEAPOT, "-o", text(&below)], 1);
    assert!(error.contains("cannot write"), "{error}");
}

/// Checks that a text is a module of its own with these entry points.
#[track_caller]
fn assert_module(wgsl: &str, entry_points: &[&str]) {
    let module = naga::front::wgsl::parse_str(wgsl).unwrap_or_else(|error| panic!("{}", error.emit_to_string(wgsl)));
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    validator.validate(&module).expect("the module is valid");
    let names: Vec<&str> = module.entry_points.iter().map(|entry_point| entry_point.name.as_str()).collect();
    assert_eq!(names, entry_points);
}

#[test]
fn every_kernel_of_every_shader_is_a_module() {
    let stages = [
        ("hull", "threadgroup", &["pw_threadgroup"][..]),
        ("domain", "threadgroup", &["pw_threadgroup"]),
        ("allocate", "allocate", &["pw_allocate_blocks", "pw_allocate_draw", "pw_close_draw", "pw_withdraw"]),
        ("connectivity", "connectivity", &["pw_connectivity"]),
        // It is made of the texts of allocate and connectivity, entry points and all.
        (
            "finish",
            "finish",
            &["pw_allocate_blocks", "pw_allocate_draw", "pw_close_draw", "pw_withdraw", "pw_connectivity", "pw_finish"],
        ),
        ("indirect", "indirect", &["pw_indirect"]),
        ("stream", "stream", &["pw_stream"]),
        ("strip-cut", "strip_cut", &["pw_cut_blocks", "pw_cut_totals", "pw_cut_patches"]),
        ("pass-through", "pass_through", &["vertex_main"]),
    ];
    for shader in shaders() {
        let shader = text(&shader).to_owned();
        let out = folder("compile-all");
        let output = run(&["compile", &shader, "--strip-cut", "--stage", "all", "-o", text(&out)]);
        assert!(output.status.success(), "{shader}: {}", String::from_utf8_lossy(&output.stderr));
        for (_, name, entry_points) in &stages[1..] {
            let file = out.join(name).with_extension("wgsl");
            // Shaders whose output struct has no position have no pass-through shader.
            match fs::read_to_string(&file) {
                Ok(wgsl) => assert_module(&wgsl, entry_points),
                Err(_) => assert_eq!(*name, "pass_through", "{shader}: {}", file.display()),
            }
        }
    }
    // One by one they are the same, on stdout and in a file.
    let out = folder("compile-one");
    run(&["compile", TEAPOT, "--strip-cut", "--stage", "all", "-o", text(&out)]);
    for (stage, name, _) in stages {
        let printed = run(&["compile", TEAPOT, "--strip-cut", "--stage", stage]);
        let file = out.join(name).with_extension("wgsl");
        assert_eq!(stdout(&printed), fs::read_to_string(file).expect("the kernel is there"), "{stage}");
    }
}

#[test]
fn what_is_compiled_is_what_the_pipeline_has() {
    let printed =
        stdout(&run(&["compile", TEAPOT, "--stage", "hull", "--mode", "dynamic", "--patches-per-threadgroup", "5"]));
    assert!(
        printed.starts_with(&fs::read_to_string(TEAPOT).expect("the shader is there")),
        "the user's text comes first"
    );
    assert!(
        printed.contains("const PW_MAX_PATCHES: u32 = 5u;") && printed.contains("const PW_INPUT_POINTS: u32 = 16u;")
    );
    let odd = stdout(&run(&["compile", TEAPOT, "--stage", "connectivity", "--partitioning", "fractional_odd"]));
    let even = stdout(&run(&["compile", TEAPOT, "--stage", "connectivity", "--partitioning", "fractional_even"]));
    assert_ne!(odd, even);
    let buffers = ["--vertex-buffer", "3=float32,stride=4", "--vertex-buffer", "0=unorm8x4@8,stride=12,step=instance"];
    let packed = stdout(&run(&[&["compile", TEAPOT, "--stage", "hull"], &buffers[..]].concat()));
    // The second slot's binding, and none for the first, which the shader does not read.
    assert!(packed.contains("@group(3) @binding(6)") && !packed.contains("@group(3) @binding(5)"));
}

#[test]
fn compositions_are_what_pipelines_are_made_of() {
    let rig = Rig::new();
    let shader = fs::read_to_string(TEAPOT).expect("the shader is there");
    let attributes = wgpu::vertex_attr_array![0 => Float32x3];
    let layout =
        wgpu::VertexBufferLayout { array_stride: 12, step_mode: wgpu::VertexStepMode::Vertex, attributes: &attributes };
    let group = rig.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        }],
    });
    let descriptor = TessellationPipelineDescriptor {
        vertex_buffers: &[layout],
        bind_group_layouts: &[Some(&group)],
        ..TessellationPipelineDescriptor::new(&shader, Domain::Quad, 16)
    };
    let pipeline = rig.pipeline(&descriptor);
    let composition = Composition::new(&descriptor, rig.device.features(), &rig.device.limits()).expect("it was made");
    assert_eq!(composition.kernels(), pipeline.kernels());
    assert_eq!(composition.plan(), pipeline.plan());
    assert_eq!(composition.lds_budget(), pipeline.lds_budget());
    // And so is what the program prints, since this shader's patches are bound by lanes and not by a device's limits.
    let printed = stdout(&run(&["compile", TEAPOT, "--stage", "hull"]));
    assert!(printed == pipeline.kernels().threadgroup);
}

#[test]
fn spirv_is_valid() {
    let out = folder("compile-spirv");
    let output = run(&["compile", TEAPOT, "--stage", "all", "--target", "spirv", "-o", text(&out)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files: Vec<PathBuf> =
        fs::read_dir(&out).expect("the folder is there").flatten().map(|entry| entry.path()).collect();
    assert_eq!(files.len(), 7);
    for file in &files {
        let bytes = fs::read(file).expect("the kernel is there");
        assert_eq!(bytes.get(..4), Some(&0x0723_0203_u32.to_le_bytes()[..]), "{}", file.display());
        match Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(file).output() {
            Ok(checked) => assert!(checked.status.success(), "{}: {checked:?}", file.display()),
            Err(error) => {
                eprintln!("skipped: {} is not validated, since spirv-val does not start: {error}", file.display())
            }
        }
    }
}

#[test]
fn overrides_of_spirv_need_their_values() {
    let shader =
        teapot_with("@group(0) @binding(0) var<uniform>", "override scale: f32;\n@group(0) @binding(0) var<uniform>");
    let shader = shader.replace("vec4f(settings.factor), vec2f", "vec4f(settings.factor * scale), vec2f");
    let args = ["compile", "-", "--stage", "hull", "--target", "spirv"];
    let output = with_stdin(&args, shader.as_bytes());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert!(error.contains("--constant KEY=VALUE") && output.stdout.is_empty(), "{error}");
    let output = with_stdin(&[&args[..], &["--constant", "scale=2.5"]].concat(), shader.as_bytes());
    assert!(output.status.success() && output.stdout.len() > 10_000);
    let output =
        with_stdin(&[&args[..], &["--constant", "scale=2.5", "--constant", "other=1"]].concat(), shader.as_bytes());
    assert!(String::from_utf8_lossy(&output.stderr).contains("override constant `other`"));
}
