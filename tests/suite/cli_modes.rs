//! The command line's verbs about modes: `compare`, `timeline`, `tune`, and `--mode`.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs the program; `None`, saying so, where there is no adapter.
fn run(args: &[&str]) -> Option<Output> {
    let output = Command::new(env!("CARGO_BIN_EXE_patchwave"))
        .args(args)
        .env("NODEVICE_SELECT", "1")
        .output()
        .expect("the program starts");
    if String::from_utf8_lossy(&output.stderr).contains("there is no adapter") {
        eprintln!("skipped: there is no adapter");
        return None;
    }
    Some(output)
}

#[track_caller]
fn passes(args: &[&str]) -> Option<String> {
    let output = run(args)?;
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("stdout is UTF-8"))
}

/// The one line of an error with exit code 1.
#[track_caller]
fn fails(args: &[&str]) -> Option<String> {
    let output = run(args)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{args:?}: {text}");
    // A slow machine is told what it is waiting for.
    let errors: Vec<&str> = text.lines().filter(|line| !line.ends_with('…')).collect();
    assert_eq!(errors.len(), 1, "{args:?}: {text}");
    Some(errors[0].to_owned())
}

fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cli_modes");
    fs::create_dir_all(&folder).expect("the tests' folder can be made");
    folder.join(name)
}

#[test]
fn modes_are_compared() {
    let args = ["compare", "skewed-clustered", "--patches", "200", "--factor", "16", "--repeat", "1"];
    let Some(table) = passes(&args) else { return };
    assert!(table.contains("the modes agree, bit for bit"), "{table}");
    let Some(json) = passes(&[&args[..], &["--json"]].concat()) else { return };
    let report: Value = serde_json::from_str(&json).expect("stdout is JSON");
    assert_eq!(report["equal"], true);
    let modes = &report["modes"];
    for mode in ["onchip", "offchip", "dynamic"] {
        // Two patches at 16 and 198 at 2; 16 patches a threadgroup.
        assert_eq!(modes[mode]["ds_invocations"], 2 * 289 + 198 * 9, "{mode}");
        assert_eq!(modes[mode]["threadgroups"], 13, "{mode}");
        assert!(modes[mode]["milliseconds"].as_f64().is_some_and(|time| time > 0.0), "{mode}");
    }
    // 16 control points of 16 bytes and constants of 32. Dynamically, the first threadgroup goes: its average is
    // (2 * 16 + 14 * 2) / 16 = 3.75, the others' 2, the threshold 3.
    assert_eq!(modes["onchip"]["off_chip_bytes"], 0);
    assert_eq!(modes["offchip"]["off_chip_bytes"], 200 * 288);
    assert_eq!(modes["dynamic"]["off_chip_bytes"], 16 * 288);
    assert_eq!(modes["onchip"]["factor_threshold"], Value::Null);
    assert_eq!(
        [&modes["dynamic"]["factor_threshold"], &modes["dynamic"]["wave_threshold"]],
        [&Value::from(3.0), &Value::from(4)]
    );
}

#[test]
fn every_scene_is_the_same_in_all_modes() {
    for scene in ["teapot", "grid", "skewed-scattered", "neighbourhoods"] {
        let small: &[&str] = if scene == "teapot" { &[] } else { &["--patches", "100"] };
        let args = [&["compare", scene, "--factor", "6", "--repeat", "1", "--json"], small].concat();
        let Some(json) = passes(&args) else { return };
        let report: Value = serde_json::from_str(&json).expect("stdout is JSON");
        assert_eq!((&report["equal"], &report["scene"]), (&Value::from(true), &Value::from(scene)));
    }
}

#[test]
fn a_timeline_as_svg_and_png() {
    let svg = file("gantt.svg");
    let png = file("gantt.png");
    for path in [&svg, &png] {
        let path = path.to_str().expect("the path is text");
        let args = ["timeline", "skewed-scattered", "--patches", "300", "--costs", "1,2,3,4", "-o", path];
        let Some(table) = passes(&args) else { return };
        for words in ["makespan", "utilisation", "onchip", "offchip", "dynamic"] {
            assert!(table.contains(words), "{words}: {table}");
        }
    }
    let text = fs::read_to_string(svg).expect("the drawing is there");
    assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"));
    assert_eq!(text.matches(">CU 11</text>").count(), 3, "a row a compute unit, a panel a mode");
    assert!(text.contains("DS off-chip") && !text.contains("NaN"));
    let picture = image::open(png).expect("a PNG file").to_rgb8();
    let orange = picture.pixels().filter(|pixel| pixel.0 == [230, 159, 0]).count();
    assert!(orange > 1000, "on-chip domain waves: {orange} pixels");
}

#[test]
fn parameters_are_swept() {
    let heatmap = file("heatmap.svg");
    let path = heatmap.to_str().expect("the path is text");
    let sizes = ["--patches-per-threadgroup", "2,16", "--factor-thresholds", "0,4", "--wave-thresholds", "0,15"];
    let scene = ["tune", "grid", "--patches", "32", "--factor", "5", "--repeat", "1", "--json", "-o", path];
    let Some(json) = passes(&[&scene[..], &sizes].concat()) else { return };
    let report: Value = serde_json::from_str(&json).expect("stdout is JSON");
    let rows = report["rows"].as_array().expect("rows");
    // On-chip, and two thresholds by two, at each size.
    assert_eq!(rows.len(), 2 * (1 + 4));
    let least = rows.iter().filter_map(|row| row["milliseconds"].as_f64()).fold(f64::INFINITY, f64::min);
    assert_eq!(report["best"]["milliseconds"].as_f64(), Some(least));
    assert_eq!(report["best_onchip"]["mode"], "onchip");
    // The driver's defaults: 16 patches, 3, 4.
    assert_eq!(report["default"]["patches_per_threadgroup"], 16);
    // A few patches are spread: one each.
    for (row, ratio) in [("adaptive", "adaptive_to_best"), ("adaptive_onchip", "adaptive_onchip_to_best")] {
        assert_eq!(report[row]["patches_per_threadgroup"], 1, "{row}");
        let expected = report[row]["milliseconds"].as_f64().expect("a time") / least;
        assert!(report[ratio].as_f64().is_some_and(|found| (found / expected - 1.0).abs() < 1e-9), "{ratio}");
    }
    assert_eq!(report["adaptive"]["wave_threshold"], 2);
    let text = fs::read_to_string(heatmap).expect("the drawing is there");
    assert!(text.contains("patches per threadgroup: 16") && text.contains("W 15"));
}

#[test]
fn parameters_that_cannot_be_are_refused() {
    for (more, words) in [
        (["--wave-threshold", "16"], "0 to 15"),
        (["--patches-per-threadgroup", "0"], "takes 1 to 16"),
        (["--patches-per-threadgroup", "17"], "takes 1 to 16"),
        (["--factor-threshold", "nan"], "finite"),
        (["--factor-threshold", "inf"], "finite"),
        (["--factor-threshold=-1", "--json"], "at least 0"),
    ] {
        let Some(error) = fails(&[&["compare", "grid", "--patches", "20"][..], &more].concat()) else { return };
        assert!(error.contains(words), "{more:?}: {error}");
    }
}

#[test]
fn a_picture_is_the_same_in_every_mode() {
    let pictures = ["onchip", "offchip", "dynamic"].map(|mode| {
        let path = file(&format!("{mode}.png"));
        let text = path.to_str().expect("the path is text").to_owned();
        let args = ["render", "teapot", "-o", &text, "--size", "160x120", "--factor", "9", "--mode", mode];
        passes(&args).map(|_| fs::read(path).expect("the picture is there"))
    });
    assert_eq!(pictures[0], pictures[1]);
    assert_eq!(pictures[0], pictures[2]);
    let Some(output) = run(&[
        "render",
        "teapot",
        "-o",
        file("w.png").to_str().expect("text"),
        "--size",
        "16x12",
        "--wave-threshold",
        "2",
    ]) else {
        return;
    };
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("warning: --wave-threshold"));
}
