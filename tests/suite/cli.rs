//! The command line: exit codes, errors on one line, and the shapes of what is printed.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The program, with what the environment says of adapters taken away.
pub(crate) fn patchwave(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_patchwave"));
    // Mesa's device selection layer complains on stderr where there is no Wayland display.
    command.args(args).env("NODEVICE_SELECT", "1").env_remove("PATCHWAVE_ADAPTER");
    command
}

pub(crate) fn run(args: &[&str]) -> Output {
    patchwave(args).output().expect("the program starts")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("stdout is UTF-8")
}

/// What is on stderr, without what is being done there where it took longer than a second.
pub(crate) fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.split_inclusive('\n').filter(|line| !line.ends_with(" …\n")).collect()
}

/// The one line that an error is; checks that it is one and that nothing is on stdout.
#[track_caller]
pub(crate) fn error_of(args: &[&str], code: i32) -> String {
    let output = run(args);
    let text = complaint(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert!(output.stdout.is_empty(), "{args:?}: {}", stdout(&output));
    assert_eq!(text.lines().count(), 1, "{args:?}: {text}");
    assert!(text.starts_with("error: "), "{args:?}: {text}");
    text
}

/// A folder for one test's files, empty.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the test's folder can be made");
    folder
}

/// `tessellate` with a domain, a topology and further arguments.
fn tessellate<'a>(domain: &'a str, topology: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["tessellate", "--domain", domain, "--partitioning", "integer", "--topology", topology];
    args.extend(more);
    args
}

#[track_caller]
fn pattern(args: &[&str]) -> Value {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("stdout is JSON")
}

#[test]
fn help_teaches() {
    for (args, words) in [
        (&["--help"][..], "Exit codes"),
        (&["tessellate", "--help"], "0x3f800000"),
        (&["render", "--help"], "fractional_odd"),
        (&["verify", "--help"], "golden vectors"),
        (&["compare", "--help"], "skewed-clustered"),
        (&["timeline", "--help"], "--costs"),
        (&["tune", "--help"], "neighbourhoods"),
        (&["info", "--help"], "16,384"),
        (&["--version"], "patchwave 0."),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(stdout(&output).contains(words), "{args:?}");
        assert!(output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn wrong_command_lines_are_refused_on_one_line() {
    for (args, words) in [
        (vec!["frobnicate"], "frobnicate"),
        (vec!["tessellate"], "--domain"),
        (vec!["render", "teapot"], "--output"),
        (vec!["render", "kettle", "-o", "x.png"], "teapot"),
        (vec!["render", "teapot", "-o", "x.png", "--size", "0x5"], "1280x960"),
        (vec!["render", "teapot", "-o", "x.png", "--size", "9x99999999999999999999"], "8192"),
        (vec!["render", "teapot", "-o", "x.png", "--factor", "big"], "'big' is no factor"),
        (vec!["render", "teapot", "-o", "x.png", "--mode", "sometimes"], "onchip, offchip, dynamic"),
        (vec!["compare"], "SCENE"),
        (vec!["compare", "kettle"], "skewed-scattered"),
        (vec!["compare", "teapot", "--patches", "7"], "the teapot has its 32"),
        (vec!["compare", "grid", "--patches", "0"], "1..=262144"),
        (vec!["compare", "grid", "--repeat", "0"], "1..=1000"),
        (vec!["timeline", "grid", "--costs", "1,2"], "three or four numbers"),
        (vec!["timeline", "grid", "--costs", "1,2,nan"], "three or four numbers"),
        (vec!["tune", "grid", "--wave-thresholds", "one"], "one"),
        (tessellate("cube", "point", &["--edges", "1"]), "isoline, tri, quad"),
        (tessellate("tri", "triangle", &["--edges", "1,1,1", "--inside", "1"]), "triangle_cw"),
        (tessellate("tri", "line", &["--edges", "1,1,1", "--inside", "1"]), "does not go with --domain tri"),
        (tessellate("isoline", "triangle_cw", &["--edges", "1,1"]), "point, line"),
        (tessellate("tri", "point", &["--edges", "1,1", "--inside", "1"]), "--edges has 2 factors, and tri takes 3"),
        (tessellate("tri", "point", &["--edges", "1,1,1"]), "--inside has 0 factors, and tri takes 1"),
        (tessellate("quad", "point", &["--edges", "1,1,1,1", "--inside", "1"]), "quad takes 2"),
        (tessellate("isoline", "line", &["--edges", "1,1", "--inside", "1"]), "isoline takes 0"),
        (tessellate("tri", "point", &["--edges", "1,,1", "--inside", "1"]), "a factor is empty"),
        (tessellate("tri", "point", &["--edges", "", "--inside", "1"]), "a factor is empty"),
        (tessellate("tri", "point", &["--edges", "1,two,1", "--inside", "1"]), "'two' is no factor"),
        (tessellate("tri", "point", &["--edges", "1,0x3f8,1", "--inside", "1"]), "8 hexadecimal digits"),
        (tessellate("tri", "point", &["--edges", "1,1e39,1", "--inside", "1"]), "write inf"),
        (tessellate("tri", "point", &["--edges", "--inside", "1"]), "--edges"),
    ] {
        let error = error_of(&args, 2);
        assert!(error.contains(words), "{args:?}: {error}");
    }
    assert_eq!(run(&[]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_text_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let output = patchwave(&["render"]).arg(OsStr::from_bytes(b"\xff")).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_pattern_in_json() {
    // The worked example of the tessellator's specification.
    let pattern = pattern(&tessellate("tri", "triangle_cw", &["--edges", "2,3,1", "--inside", "1"]));
    assert_eq!(
        pattern,
        serde_json::json!({
            "culled": false,
            "fixed16": [[0, 0x10000], [0, 0x8000], [0, 0], [0x5555, 0], [0xaaab, 0], [0x10000, 0], [0x5555, 0x5555]],
            "indices": [0, 1, 6, 1, 2, 6, 2, 3, 6, 6, 3, 4, 4, 5, 6, 6, 5, 0],
        })
    );
}

#[test]
fn factors_that_are_not_positive_parse_and_cull() {
    for edges in ["-1,2,3", "-nan,1,1", "1,-inf,1", "-0,1,1", "1,1,0x80000000", "nan,inf,1"] {
        let culled = pattern(&tessellate("tri", "triangle_ccw", &["--edges", edges, "--inside", "-4"]));
        assert_eq!(culled, serde_json::json!({"culled": true, "fixed16": [], "indices": []}), "{edges}");
    }
    // An inside factor never culls.
    let kept = pattern(&tessellate("tri", "triangle_ccw", &["--edges", "1,1,1", "--inside=-nan"]));
    assert_eq!(kept["indices"].as_array().map(Vec::len), Some(3));
}

#[test]
fn the_gpu_gives_the_same_pattern() {
    for args in [
        tessellate("tri", "triangle_ccw", &["--edges", "2.5,7,0x40490fdb", "--inside", "5"]),
        tessellate("quad", "point", &["--edges", "1,2,3,4", "--inside", "inf,nan"]),
        tessellate("isoline", "line", &["--edges", "3,64"]),
        tessellate("quad", "triangle_cw", &["--edges", "1,2,3,-0", "--inside", "4,4"]),
    ] {
        let on_gpu = run(&[&args[..], &["--device", "gpu"]].concat());
        let error = String::from_utf8_lossy(&on_gpu.stderr);
        if error.contains("there is no adapter") {
            eprintln!("skipped: there is no adapter to tessellate on");
            return;
        }
        assert!(on_gpu.status.success(), "{args:?}: {error}");
        assert_eq!(stdout(&on_gpu), stdout(&run(&args)), "{args:?}");
    }
}

#[test]
fn isolines_take_density_then_detail() {
    let lines = pattern(&tessellate("isoline", "line", &["--edges", "2,3"]));
    assert_eq!(lines["fixed16"].as_array().map(Vec::len), Some(2 * 4));
    assert_eq!(lines["indices"].as_array().map(Vec::len), Some(2 * 3 * 2));
}

#[test]
fn a_pattern_as_a_drawing() {
    let folder = folder("drawing");
    for (name, args) in [
        ("tri", tessellate("tri", "triangle_cw", &["--edges", "64,64,64", "--inside", "64"])),
        ("quad", tessellate("quad", "triangle_ccw", &["--edges", "3,5,7,2", "--inside", "4,9"])),
        ("points", tessellate("quad", "point", &["--edges", "3,5,7,2", "--inside", "4,9"])),
        ("isoline", tessellate("isoline", "line", &["--edges", "5,8"])),
        ("culled", tessellate("tri", "triangle_cw", &["--edges", "nan,1,1", "--inside", "inf"])),
    ] {
        // In a folder that is not there yet.
        let file = folder.join(name).join("pattern.svg");
        let path = file.to_str().expect("the path is text");
        let output = run(&[&args[..], &["--format", "svg", "-o", path]].concat());
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let svg = fs::read_to_string(&file).expect("the drawing is there");
        assert_well_formed(&svg);
        assert!(svg.contains("xmlns=\"http://www.w3.org/2000/svg\""));
        let files = fs::read_dir(folder.join(name)).expect("the folder is there").count();
        assert_eq!(files, 1, "{name}: nothing is left beside the drawing");
    }
}

/// Checks that tags nest and that no bare `<` or `&` is left: enough of XML for what we write.
#[track_caller]
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("each tag ends");
        assert!(!text.contains(['>', '&']), "{text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "a place that is no number: {tag}");
        let name = tag.trim_matches('/').split_whitespace().next().expect("each tag has a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_and_leaves_nothing() {
    let folder = folder("unwritable");
    let one = tessellate("tri", "point", &["--edges", "1,1,1", "--inside", "1"]);
    let place = folder.to_str().expect("the path is text");
    let error = error_of(&[&one[..], &["-o", place]].concat(), 1);
    assert!(error.contains("it is a folder"), "{error}");

    fs::write(folder.join("file"), "kept").expect("the file can be written");
    let below = folder.join("file/pattern.json");
    let error = error_of(&[&one[..], &["-o", below.to_str().expect("the path is text")]].concat(), 1);
    assert!(error.contains("cannot write"), "{error}");
    assert_eq!(fs::read_to_string(folder.join("file")).expect("still there"), "kept");
    assert_eq!(fs::read_dir(&folder).expect("the folder is there").count(), 1);
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_error() {
    use std::process::Stdio;
    // More than a pipe holds, so that the program is still writing when the pipe breaks.
    let args = tessellate("quad", "triangle_cw", &["--edges", "64,64,64,64", "--inside", "64,64"]);
    let mut child = patchwave(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn info_in_json() {
    let output = run(&["info", "--json"]);
    let info: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    let adapters = info["adapters"].as_array().expect("a list of adapters");
    assert_eq!(output.status.success(), info["chosen"].is_u64());
    for adapter in adapters {
        assert!(adapter["name"].is_string() && adapter["serves"].is_boolean() && adapter["lacking"].is_array());
        assert!(adapter["limits"]["max_compute_workgroup_storage_size"].is_u64());
    }
}

#[test]
fn an_adapter_that_is_not_there_is_an_error_that_lists_what_is() {
    let error = error_of(&["info", "--adapter", "no such adapter"], 1);
    assert!(error.contains("there is"), "{error}");
    let output = patchwave(&["info"]).env("PATCHWAVE_ADAPTER", "no such adapter").output().expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("PATCHWAVE_ADAPTER"));
}

/// `verify` on a folder with one vector; `None`, saying so, where there is no adapter to verify on.
fn verify_one(name: &str, vector: &str) -> Option<Output> {
    let folder = folder(name);
    fs::write(folder.join("one.jsonl"), vector).expect("the vector can be written");
    let output = run(&["verify", "--json", "--vectors", folder.to_str().expect("the path is text")]);
    if String::from_utf8_lossy(&output.stderr).contains("there is no adapter") {
        eprintln!("skipped: there is no adapter to verify on");
        return None;
    }
    Some(output)
}

/// One triangle, as the golden vectors have it.
const MINIMUM: &str = r#"{"id":"minimum","domain":"tri","partitioning":"integer","topology":"triangle_cw","outer":[1,1,1],"inner":[1],"factor_bits":["3f800000","3f800000","3f800000","3f800000"],"culled":false,"points":3,"indices":3,"uv_fnv1a64":"UV","index_fnv1a64":"INDEX","uv":[["00000000","3f800000"],["00000000","00000000"],["3f800000","00000000"]],"index":[0,1,2]}"#;

/// [`MINIMUM`] with the hashes of what it lists.
fn minimum() -> String {
    use patchwave::golden::fnv1a64;
    let one = 1.0_f32.to_bits();
    let hash = |words: &[u32]| format!("{:016x}", fnv1a64(words.iter().copied()));
    MINIMUM.replace("UV", &hash(&[0, one, 0, 0, one, 0])).replace("INDEX", &hash(&[0, 1, 2]))
}

#[test]
fn verify_counts_what_agrees() {
    let Some(output) = verify_one("verify-right", &minimum()) else {
        return;
    };
    let report: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    assert_eq!(report["cases"], 1);
    assert_eq!(report["cpu"], serde_json::json!({"passed": 1, "failed": 0}));
    assert_eq!(report["gpu"], serde_json::json!({"passed": 1, "failed": 0}));
    assert_eq!(report["failures"], serde_json::json!([]));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn verify_fails_on_a_vector_that_does_not_hold() {
    let wrong = minimum().replace(r#""index":[0,1,2]"#, r#""index":[0,2,1]"#);
    let Some(output) = verify_one("verify-wrong", &wrong) else {
        return;
    };
    let report: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report["cpu"], serde_json::json!({"passed": 0, "failed": 1}));
    assert_eq!(report["gpu"], serde_json::json!({"passed": 0, "failed": 1}));
    assert_eq!(report["failures"], serde_json::json!(["minimum"]));
}

#[test]
fn verify_refuses_what_is_no_vector() {
    for (name, vector, words) in
        [("verify-cut", &minimum()[..40], "one.jsonl:1"), ("verify-empty", "\n", "no golden vector")]
    {
        let Some(output) = verify_one(name, vector) else {
            return;
        };
        let error = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(output.stdout.is_empty() && error.lines().count() == 1 && error.contains(words), "{error}");
    }
}
