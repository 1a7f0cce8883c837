//! Scene files through the program: the folder of them, each kind of fault in one, and mesh files of every format.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::{error_of, folder, run, stdout};

/// The shader of the scenes below, on line 3 of the file; what follows is appended from line 12 on.
const HEAD: &str = r#"[shader]
hull = false
text = """
struct Attributes { @location(0) position: vec3f }
struct ControlPoint { position: vec3f }
struct PatchConstants { factors: TriFactors }
struct Surface { @builtin(position) position: vec4f }
fn vertex(attributes: Attributes) -> ControlPoint { return ControlPoint(attributes.position); }
fn patch_constants(patch_id: u32) -> PatchConstants { return PatchConstants(TriFactors(vec3f(1.0), 1.0)); }
fn domain(location: vec3f, patch_id: u32) -> Surface { return Surface(vec4f(output_point(2u).position, 1.0)); }
"""
"#;

const STATE: &str = "[state]\ndomain = \"tri\"\ninput_control_points = 3\n";

const BUFFER: &str = "[[vertex_buffers]]\nattributes = [{ location = 0, format = \"float32x3\" }]\n";

const DATA: &str = "data = [0, 0, 0, 1, 0, 0, 0, 2, 0]\n";

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("the test's file can be written");
    path.to_str().expect("the path is text").to_owned()
}

/// Whether there is an adapter to run on; says so where there is none.
fn has_adapter() -> bool {
    let there = run(&["info"]).status.success();
    if !there {
        eprintln!("skipped: there is no adapter to run scenes on");
    }
    there
}

#[test]
fn the_folder_of_scenes_passes() {
    if !has_adapter() {
        return;
    }
    let scenes = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
    let files = fs::read_dir(&scenes).expect("the folder is there").flatten();
    let count = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "toml")).count();
    assert!(count >= 12, "{count} scenes");
    // The reference pictures are lavapipe's.
    let output = crate::cli::patchwave(&["test", scenes.to_str().expect("the path is text")])
        .env("PATCHWAVE_ADAPTER", std::env::var_os("PATCHWAVE_ADAPTER").unwrap_or_default())
        .output()
        .expect("the program starts");
    let text = stdout(&output);
    assert_eq!(text.lines().last(), Some(format!("{count} passed, 0 failed").as_str()), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("passed ")).count(), count, "{text}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_a_file_cannot_say_is_told_with_its_place() {
    let place = folder("scenes-refused");
    fs::write(place.join("short.bin"), [0; 10]).expect("the test's file can be written");
    fs::write(place.join("broken.gltf"), "{").expect("the test's file can be written");
    fs::write(place.join("quads.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 4 3\n").expect("so can this");
    let whole = |rest: &str| format!("{HEAD}{STATE}{rest}");
    let with_data = |rest: &str| format!("{HEAD}{STATE}{BUFFER}{DATA}{rest}");
    let camera = "[target]\nsize = [4, 4]\n[target.camera]\n";
    for (text, words) in [
        // Misspelt keys and names, with the one that was meant.
        (
            whole("[[vertex_bufers]]\n"),
            ":15:3: vertex_bufers: there is no key 'vertex_bufers' here; did you mean 'vertex_buffers'?",
        ),
        (
            with_data("strid = 12\n"),
            ":18:1: vertex_buffers[0].strid: there is no key 'strid' here; did you mean 'stride'?",
        ),
        (
            with_data("[[draws]]\nverticse = 3\n"),
            ":19:1: draws[0].verticse: there is no key 'verticse' here; did you mean 'vertices'?",
        ),
        (
            with_data("step = \"instanse\"\n"),
            ":18:8: vertex_buffers[0].step: there is no name 'instanse' here; did you mean 'instance'?",
        ),
        (
            whole("partitioning = \"fractional_od\"\n"),
            ":15:1: state.partitioning: 'fractional_od' is no partitioning; did you mean 'fractional_odd'?",
        ),
        (
            with_data("[tessellation]\nmode = \"off-chip\"\n"),
            "did you mean 'offchip'? there are onchip, offchip, dynamic",
        ),
        // Wrong types and numbers.
        (
            whole("maximum_factor = \"big\"\n"),
            ":15:18: state.maximum_factor: invalid type: string \"big\", expected f32",
        ),
        (whole("output_control_points = -1\n"), ":15:25: state.output_control_points: invalid value: integer `-1`"),
        (format!("{HEAD}[state]\ndomain = \"tri\"\n"), ":12:1: state: missing field `input_control_points`"),
        (
            format!("{HEAD}{STATE}{BUFFER}data = [1, 2]\n"),
            ":17:1: vertex_buffers[0].data: there are 2 values, and an element takes 3 values",
        ),
        (format!("{HEAD}{STATE}{BUFFER}data = [1, 2, 'x']\n"), ":17:15: vertex_buffers[0].data[2]: 'x' is no number"),
        (format!("{HEAD}{STATE}{BUFFER}data = [1, 2, 1e39]\n"), "beyond the range of a 32-bit float; write inf"),
        (
            format!("{HEAD}{STATE}{BUFFER}stride = 0\n{DATA}"),
            ":17:1: vertex_buffers[0].stride: at stride 0 there is one element, and data has 3",
        ),
        (format!("{HEAD}{STATE}{BUFFER}"), "vertex_buffers[0]: it has neither data nor file"),
        (
            format!("{HEAD}{STATE}{}{DATA}", BUFFER.replace("x3", "x5")),
            ":16:31: vertex_buffers[0].attributes[0].format: 'float32x5' is no vertex format; did you mean 'float32x",
        ),
        (
            with_data("[indices]\nformat = \"uint16\"\ndata = [0, 1, 65536]\n"),
            "index 2 is 65536, and uint16 holds 0 to 65535",
        ),
        (with_data("[indices]\ndata = [0, 1, -1]\n"), ":19:15: indices.data[2]: -1 is not within 0 to 4294967295"),
        (
            with_data("[[draws]]\nindices = 3\n"),
            "draws[0].indices: the scene has no [indices]: write vertices and first_vertex",
        ),
        (with_data("[[draws]]\nstride = 16\n"), "draws[0].stride: this goes with indirect"),
        (
            with_data("[[draws]]\nindirect = [[3, 1]]\n"),
            "draws[0].indirect[0]: the record has 2 numbers, and it takes vertices, instances, first vertex",
        ),
        (
            with_data("[[draws]]\nvertices = 3\nfirst_vertex = 4294967295\n"),
            "draws[0]: 3 from 4294967295 on end beyond 32 bits",
        ),
        (with_data("[target]\nsize = [0, 4]\n"), "target.size: width and height are each 1 to 8192"),
        (with_data(&format!("{camera}eye = [0, 0, 1]\n")), "target.camera: eye and target have to lie apart"),
        (with_data(&format!("{camera}eye = [nan, 0, 1]\n")), "target.camera: eye and target have to lie apart"),
        // Files.
        (format!("{HEAD}{STATE}{BUFFER}file = \"none.bin\"\n"), "vertex_buffers[0].file: cannot read "),
        (format!("{HEAD}{STATE}{BUFFER}file = \"broken.gltf\"\n"), "vertex_buffers[0].file: cannot read "),
        (
            format!("{HEAD}{STATE}{BUFFER}file = \"quads.obj\"\n"),
            "it has a polygon of 4 corners, and a patch takes 3; triangulate = true cuts it",
        ),
        (
            with_data("[indices]\nformat = \"uint32\"\nfile = \"short.bin\"\n"),
            "'short.bin' has 10 bytes, and an index takes 4",
        ),
        (
            HEAD.replace("text = ", "file = \"a.wgsl\"\ntext = ") + STATE,
            "shader.text: a file is given as well; leave one of them out",
        ),
        ("[shader]\nfile = \"none.wgsl\"\n".to_owned() + STATE, ":2:1: shader.file: cannot read "),
        // What is no TOML.
        ("[shader\n".to_owned(), ":1:8: "),
        ("a = 1\na = 2\n".to_owned(), ":2:1: "),
        (String::new(), "missing field `shader`"),
    ] {
        let file = write(&place, "scene.toml", &text);
        // Before any adapter is looked for.
        let error = error_of(&["run", &file, "--adapter", "no such adapter"], 1);
        assert!(error.contains(words) && error.contains("scene.toml"), "{words}\n{error}");
    }
    let there = write(&place, "scene.toml", &with_data(""));
    for (args, code, words) in [
        (vec!["run", "no/such.toml"], 1, "cannot read no/such.toml"),
        (vec!["run", place.to_str().expect("the path is text")], 1, "it is a folder"),
        (vec!["run", &there, "-o", "x.png"], 1, "target: --output needs [target]"),
        (vec!["run", &there, "--mode", "fast"], 2, "onchip, offchip, dynamic"),
        (vec!["run", &there, "--dump", "all"], 2, "vertices, indices, statistics"),
        (vec!["test", "no/such"], 1, "cannot read the folder no/such"),
    ] {
        let error = error_of(&args, code);
        assert!(error.contains(words), "{args:?}: {error}");
    }
    let empty = folder("scenes-empty");
    let error = error_of(&["test", empty.to_str().expect("the path is text")], 1);
    assert!(error.contains("has no scene files"), "{error}");
}

#[test]
fn what_the_library_refuses_is_told_with_its_place() {
    if !has_adapter() {
        return;
    }
    let place = folder("scenes-library");
    let settings = "@group(0) @binding(0) var<uniform> settings: vec4f;\n";
    let with_settings =
        HEAD.replace("struct Surface", &format!("{settings}struct Surface")).replace("vec3f(1.0)", "settings.xyz");
    let with_data = |rest: &str| format!("{HEAD}{STATE}{BUFFER}{DATA}{rest}");
    for (text, words) in [
        (
            format!(
                "{HEAD}[state]\ndomain = \"tri\"\ninput_control_points = 0\n{BUFFER}{DATA}[[draws]]\nvertices = 3\n"
            ),
            ":14:1: state.input_control_points: input_control_points is 0; it must be 1 to 32",
        ),
        (
            format!("{HEAD}{STATE}output_control_points = 33\n{BUFFER}{DATA}"),
            ":15:1: state.output_control_points: output_control_points is 33; it must be 0 to 32",
        ),
        (format!("{HEAD}{STATE}maximum_factor = nan\n{BUFFER}{DATA}"), "state.maximum_factor: maximum_factor is NaN"),
        (
            format!("{HEAD}{STATE}topology = \"line\"\n{BUFFER}{DATA}"),
            ":15:1: state.topology: output topology line does not go with",
        ),
        (with_data("[[draws]]\nvertices = 6\n"), ":18:1: draws[0]: vertex buffer 0: the draw reads 6 elements"),
        (
            with_data("[tessellation]\nmode = \"dynamic\"\nwave_threshold = 16\n"),
            "tessellation: ds_wave_threshold is 16; it must be 0 to 15",
        ),
        (with_data("[bindings.none]\nvalue = 1\n"), "bindings.none: the shader has no resource 'none'; there are none"),
        (format!("{HEAD}{STATE}{BUFFER}{DATA}").replace("output_point(2u)", "output_pont(2u)"), "shader.text: line 7"),
        (
            format!("{with_settings}{STATE}{BUFFER}{DATA}"),
            "bindings: the shader uses 'settings' (line 4); give [bindings.settings]",
        ),
        (
            format!("{with_settings}{STATE}{BUFFER}{DATA}[bindings.settings]\nvalue = [1, 2, 3]\n"),
            ":20:1: bindings.settings.value: it has 3 values, and the shader's vector 4",
        ),
        (
            format!("{with_settings}{STATE}{BUFFER}{DATA}[bindings.settings]\nfilter = \"linear\"\n"),
            "bindings.settings.filter: the shader has a buffer here, which takes value, file, bytes",
        ),
        (
            format!("{with_settings}{STATE}{BUFFER}{DATA}[bindings.settings]\nvalue = \"camera.eye\"\n"),
            "there is no 'camera.eye'",
        ),
    ] {
        let file = write(&place, "scene.toml", &text);
        let error = error_of(&["run", &file], 1);
        assert!(error.contains(words) && error.contains("scene.toml"), "{words}\n{error}");
    }
}

#[test]
fn expectations_that_do_not_hold_fail() {
    if !has_adapter() {
        return;
    }
    let place = folder("scenes-expect");
    let head = format!("{HEAD}{STATE}{BUFFER}{DATA}[target]\nsize = [4, 4]\n[expect]\n");
    let cases = [
        ("patches = 2", "patches: expected 2, found 1"),
        ("error = \"no such\"", "error: expected one with 'no such', and there was none"),
        (
            "[[expect.member]]\nname = \"position\"\nvalues = [0, 1, 0, 1]",
            "position of vertex 0: expected [0, 1, 0, 1], found [0, 2, 0, 1]",
        ),
        (
            "[[expect.member]]\nname = \"position\"\nall = [0, 1.9, 0, 1]\ntolerance = 0.01",
            "position of vertex 0: expected [0, 1.9, 0, 1]",
        ),
        ("[[expect.member]]\nname = \"position\"\nfinite = false", "position of vertex 0: expected not finite"),
        ("[[expect.indices]]\nvalues = [0, 2, 1]", "index 1: expected 2, found 1"),
        ("[[expect.indices]]\nfirst = 3\nvalues = [0]", "index 3: expected 0, and there are 3"),
        ("[[expect.patch]]\npatch = 0\nfactors = [1, 1, 1, 2]", "factor 3 of patch 0: expected 2, found 1"),
        ("[[expect.patch]]\npatch = 1", "patch 1 is expected and there are 1"),
        ("[expect.image]\nfile = \"none.png\"", "image: there is no none.png"),
    ];
    let held = write(&place, "held.toml", &format!("{head}patches = 1\nsame_in_all_modes = true\n"));
    let plain = write(&place, "plain.toml", &format!("{HEAD}{STATE}{BUFFER}{DATA}"));
    for (i, (expect, _)) in cases.iter().enumerate() {
        write(&place, &format!("wrong-{i}.toml"), &format!("{head}{expect}\n"));
    }
    let output = run(&["test", place.to_str().expect("the path is text")]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for (_, words) in &cases {
        assert!(text.lines().any(|line| line.starts_with("FAILED ") && line.contains(words)), "{words}\n{text}");
    }
    let closing = format!("1 passed, {} failed, 1 skipped", cases.len());
    assert_eq!(text.lines().last(), Some(closing.as_str()), "{text}");
    assert!(text.contains("skipped") && text.contains("it has no [expect]"), "{text}");

    let output = run(&["run", &write(&place, "wrong-0.toml", &format!("{head}patches = 2\n")), "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report["expect"]["mismatches"], serde_json::json!(["patches: expected 2, found 1"]));
    for (file, code) in [(&held, 0), (&plain, 0)] {
        assert_eq!(run(&["run", file]).status.code(), Some(code));
    }
    // A place in [expect] that there cannot be is the file's fault.
    let file = write(&place, "wrong-0.toml", &format!("{head}[[expect.member]]\nname = \"positon\"\n"));
    let error = error_of(&["run", &file], 1);
    assert!(
        error.contains("expect.member[0].name: the output struct has no member 'positon'; did you mean 'position'?")
    );
}

/// Two triangles on the unit square, as each format has them.
const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
     element face 2\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n3 0 1 2\n3 2 1 3\n";
const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 3 2 4\n";

fn square() -> (Vec<u8>, Vec<u8>) {
    let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0_f32]];
    (bytemuck::cast_slice(&positions).to_vec(), bytemuck::cast_slice(&[0_u16, 1, 2, 2, 1, 3]).to_vec())
}

#[test]
fn every_format_of_mesh_gives_the_same() {
    if !has_adapter() {
        return;
    }
    let place = folder("scenes-meshes");
    let (positions, indices) = square();
    fs::write(place.join("square.bin"), [&[9; 8][..], &positions].concat()).expect("the test's file can be written");
    fs::write(place.join("indices.bin"), &indices).expect("the test's file can be written");
    fs::write(place.join("both.dat"), [&positions[..], &indices].concat()).expect("the test's file can be written");
    write(&place, "square.ply", PLY);
    write(&place, "square.obj", OBJ);
    let gltf = serde_json::json!({
        "asset": { "version": "2.0" },
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "children": [1], "translation": [0, 0, -1] }, { "mesh": 0, "translation": [0, 0, 1] }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "buffers": [{ "uri": "both.dat", "byteLength": 60 }],
        "bufferViews": [{ "buffer": 0, "byteLength": 48 }, { "buffer": 0, "byteOffset": 48, "byteLength": 12 }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0] },
            { "bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR" },
        ],
    });
    write(&place, "square.gltf", &gltf.to_string());
    let mesh = |name: &str| {
        let from = BUFFER.replace("\" }", "\", from = \"positions\" }");
        format!("{HEAD}{STATE}{from}file = \"{name}\"\n[indices]\nfile = \"{name}\"\n")
    };
    let raw = format!(
        "{HEAD}{STATE}{BUFFER}file = \"square.bin\"\nskip = 8\n[indices]\nformat = \"uint16\"\nfile = \"indices.bin\"\n"
    );
    let expect =
        "[expect]\npatches = 2\n[[expect.member]]\nname = \"position\"\npatches = [[0, 1, 0, 1], [1, 1, 0, 1]]\n";
    for (i, text) in [raw, mesh("square.ply"), mesh("square.obj"), mesh("square.gltf")].iter().enumerate() {
        write(&place, &format!("{i}.toml"), &format!("{text}{expect}"));
    }
    let output = run(&["test", place.to_str().expect("the path is text")]);
    assert_eq!(stdout(&output).lines().last(), Some("4 passed, 0 failed"), "{}", stdout(&output));

    // Files that claim more than they hold.
    for (name, from, to, words) in [
        ("square.gltf", "\"count\":4", "\"count\":5", "ends beyond its buffer view"),
        ("square.gltf", "\"count\":4", "\"count\":4000000000000", "ends beyond its buffer view"),
        ("square.gltf", "VEC3", "VEC2", "is not of a type that Positions may have"),
        ("square.gltf", "\"byteLength\":48", "\"byteLength\":480", "ends beyond its buffer"),
        ("square.gltf", "\"byteLength\":60", "\"byteLength\":61", "has 60 bytes of 61"),
        ("square.gltf", "both.dat", "none.dat", "none.dat"),
        ("square.gltf", "\"children\":[1]", "\"children\":[0]", "nested deeper than 64"),
        ("square.gltf", "\"mesh\":0,", "", "it has no polygons"),
        ("square.obj", "3 2 4", "3 2 9", "cannot read"),
        ("square.obj", "f ", "g ", "it has no polygons"),
        ("square.ply", "1 3\n", "1 9\n", "it has a corner 9 and 4 vertices"),
        ("square.ply", "float y", "float why", "a vertex has no y"),
        ("square.ply", "vertex 4", "vertex 4000000000", "cannot read"),
    ] {
        let whole = fs::read_to_string(place.join(name)).expect("the test has written it");
        assert!(whole.contains(from), "{name}: {from}");
        let broken = format!("broken-{name}");
        write(&place, &broken, &whole.replace(from, to));
        let file = write(&place, "broken.toml", &mesh(&broken));
        let error = error_of(&["run", &file, "--adapter", "no such adapter"], 1);
        assert!(error.contains(words), "{name} {to}: {error}");
    }
}

#[test]
fn the_documentation_s_example_holds() {
    if !has_adapter() {
        return;
    }
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/scenes.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it has an example");
    let file = write(&folder("scenes-page"), "quad.toml", example);
    let output = run(&["run", &file]);
    assert_eq!(stdout(&output).lines().last(), Some("as expected"), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn dumps_are_complete() {
    if !has_adapter() {
        return;
    }
    let place = folder("scenes-dump");
    let data = "data = [0, 0, 0, 1, 0, 0, 0, nan, -inf]\n";
    let file = write(&place, "scene.toml", &format!("{HEAD}{STATE}{BUFFER}{data}"));
    for mode in ["onchip", "offchip", "dynamic"] {
        let output = run(&["run", &file, "--json", "--dump", "vertices,indices,statistics", "--mode", mode]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
        let draw = &report["draws"][0];
        assert_eq!(draw["vertices"]["position"][2], serde_json::json!([0.0, "NaN", "-inf", 1.0]));
        assert_eq!(draw["indices"], serde_json::json!([0, 1, 2]));
        assert_eq!(draw["statistics"]["ds_invocations"], 3);
        assert_eq!(draw["threadgroups"][0]["off_chip"], mode == "offchip", "{mode}");
        assert_eq!((&report["counts"]["patches"], &report["mode"]), (&1.into(), &mode.into()));
    }
    let text = stdout(&run(&["run", &file, "--dump", "vertices,statistics"]));
    assert!(text.contains("draw 0 vertex 2: position 0 NaN -inf 1\n"), "{text}");
    assert!(text.contains("draw 0 ds_invocations 3\n"), "{text}");
}
