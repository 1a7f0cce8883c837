//! Asks Tint, the WGSL compiler of Chromium, whether it takes a shader: what naga lets pass unseen, above all barriers in
//! control flow that is not uniform, Tint refuses.
//!
//! Tint comes with the npm package `webgpu` (`npm ci --prefix tests/tint`, which `make test` does). Without it the tests
//! that ask are skipped and say so; where `CI` is set they fail.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What Tint says of one shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The name that the shader was given.
    pub(crate) name: String,
    /// Whether the module and a pipeline for each of its entry points could be made.
    pub(crate) ok: bool,
    /// The compute entry points that were tried.
    pub(crate) entry_points: Vec<String>,
    /// Errors, warnings and notes, each as `line:column type: text`.
    pub(crate) messages: Vec<String>,
}

/// How asking ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TintOutcome {
    /// One verdict a shader, in the order asked.
    Checked(Vec<Verdict>),
    /// Tint is not here, and why.
    Skipped(String),
}

/// Asks Tint about shaders, given as name and WGSL. Panics where `CI` is set and Tint is not there, since a skipped test
/// would look like a passed one.
pub(crate) fn check(sources: &[(&str, &str)]) -> TintOutcome {
    match ask(sources) {
        Ok(verdicts) => TintOutcome::Checked(verdicts),
        Err(reason) => {
            let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
            assert!(!in_ci, "Tint cannot be asked, and CI is set: {reason}");
            eprintln!("skipped: Tint cannot be asked: {reason}");
            TintOutcome::Skipped(reason)
        }
    }
}

/// Asserts that Tint takes all the shaders; says so and returns where it cannot be asked.
#[allow(dead_code, reason = "for the tests of composed kernels")]
pub(crate) fn assert_accepts(sources: &[(&str, &str)]) {
    if let TintOutcome::Checked(verdicts) = check(sources) {
        for verdict in verdicts {
            assert!(verdict.ok, "Tint refuses {}:\n{}", verdict.name, verdict.messages.join("\n"));
        }
    }
}

fn ask(sources: &[(&str, &str)]) -> Result<Vec<Verdict>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tint");
    if !folder.join("node_modules/webgpu").is_dir() {
        return Err("the npm package webgpu is not installed; run npm ci --prefix tests/tint".to_owned());
    }
    let mut node = Command::new("node")
        .arg(folder.join("check.mjs"))
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("node cannot be started: {error}"))?;
    let requests: Vec<_> =
        sources.iter().map(|(name, source)| serde_json::json!({"name": name, "source": source})).collect();
    // Dropped at once, so that node sees the end. A node that ends early breaks the pipe and says why on stderr.
    let _ =
        node.stdin.take().map(|mut stdin| stdin.write_all(serde_json::Value::from(requests).to_string().as_bytes()));
    let output = node.wait_with_output().map_err(|error| format!("node cannot be waited for: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let verdicts: Vec<_> = answer.as_array().into_iter().flatten().map(verdict).collect();
    assert_eq!(verdicts.len(), sources.len(), "one verdict a shader");
    Ok(verdicts)
}

fn verdict(json: &serde_json::Value) -> Verdict {
    let text = |json: &serde_json::Value| json.as_str().unwrap_or_default().to_owned();
    let list = |json: &serde_json::Value| json.as_array().cloned().unwrap_or_default();
    let message =
        |m: &serde_json::Value| format!("{}:{} {}: {}", m["line"], m["column"], text(&m["type"]), text(&m["text"]));
    Verdict {
        name: text(&json["name"]),
        ok: json["ok"].as_bool().unwrap_or(false),
        entry_points: list(&json["entryPoints"]).iter().map(text).collect(),
        messages: list(&json["messages"]).iter().map(message).collect(),
    }
}

const REVERSE: &str = "
@group(3) @binding(0) var<storage, read_write> reversed: array<u32>;
var<workgroup> shared_words: array<u32, 64>;
// @compute in a comment is no entry point: @compute @workgroup_size(1) fn nothing() {}
@workgroup_size(64, 1, (1)) @compute
fn main(@builtin(local_invocation_index) lane: u32) {
    shared_words[lane] = lane;
    BARRIER
    reversed[lane] = shared_words[63u - lane];
}";

/// The verdict on [`REVERSE`] with its barrier written in one way; `None` where Tint cannot be asked.
fn reverse_with(barrier: &str) -> Option<Verdict> {
    match check(&[("reverse", &REVERSE.replace("BARRIER", barrier))]) {
        TintOutcome::Checked(verdicts) => verdicts.into_iter().next(),
        TintOutcome::Skipped(_) => None,
    }
}

#[test]
fn takes_a_barrier_in_uniform_control_flow() {
    let Some(verdict) = reverse_with("workgroupBarrier();") else {
        return;
    };
    assert!(verdict.ok, "{verdict:?}");
    assert_eq!(verdict.entry_points, ["main"]);
}

#[test]
fn refuses_a_barrier_in_control_flow_that_is_not_uniform() {
    let Some(verdict) = reverse_with("if (lane < 32u) { workgroupBarrier(); }") else {
        return;
    };
    assert!(!verdict.ok);
    assert!(verdict.messages.iter().any(|m| m.starts_with("8:") && m.contains("uniform control flow")), "{verdict:?}");
}

#[test]
fn refuses_more_workgroup_memory_than_the_limit() {
    let source = REVERSE.replace("BARRIER", "workgroupBarrier();").replace("array<u32, 64>", "array<u32, 4097>");
    let TintOutcome::Checked(verdicts) = check(&[("too big", &source)]) else {
        return;
    };
    assert!(!verdicts[0].ok);
    assert!(verdicts[0].messages.iter().any(|m| m.contains("16400")), "{:?}", verdicts[0]);
}
