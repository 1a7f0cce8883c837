//! The driver's own tessellation as an oracle (docs/native.md), in a process of its own: lavapipe has crashed in it.

use serde_json::Value;
use std::path::Path;
use std::process::Output;

use super::cli::{folder, patchwave};

fn verify(more: &[&str]) -> Output {
    until_no_crash(&[&["verify", "--native", "--quick", "--json"], more].concat())
}

/// Runs the program; where the driver crashes, up to three times.
fn until_no_crash(args: &[&str]) -> Output {
    for attempt in 1..=3 {
        let mut command = patchwave(args);
        // The adapter that the tests run on.
        if let Some(adapter) = std::env::var_os("PATCHWAVE_ADAPTER") {
            command.env("PATCHWAVE_ADAPTER", adapter);
        }
        let output = command.output().expect("the program starts");
        if output.status.code().is_some() {
            return output;
        }
        eprintln!("the driver crashed ({}), attempt {attempt} of 3", output.status);
    }
    panic!("the driver crashed three times in its own tessellation");
}

/// Points as sets, numbers of primitives, primitives with their winding, surfaces and pictures: no disagreement.
#[test]
fn the_driver_tessellates_the_same() {
    let output = verify(&[]);
    let error = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{error}\nglslang is needed: install glslang-tools, or run `make test`"));
    assert_eq!(report["disagreements"], 0, "{report:#}");
    let tessellator = &report["tessellator"];
    assert!(tessellator["configurations"].as_u64().is_some_and(|count| count > 1000), "{tessellator:#}");
    assert!(tessellator["points"].as_u64().is_some_and(|count| count > 100_000), "{tessellator:#}");
    assert_eq!(report["surfaces"].as_array().map(Vec::len), Some(2), "Bézier and PN");
    assert_eq!(report["pictures"].as_array().map(Vec::len), Some(2), "teapot and terrain");
    assert!(output.status.success(), "{error}");
}

/// For machines without glslang the shaders can be brought.
#[test]
fn shaders_that_are_brought() {
    let folder = folder("native-spirv");
    let folder = folder.to_str().expect("a path in UTF-8");
    let written = patchwave(&["verify", "--native", "--write-spirv", folder]).output().expect("the program starts");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let files = std::fs::read_dir(folder).expect("the folder").count();
    assert!(files > 10, "{files} shaders");
    let output = verify(&["--spirv", folder]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // None of them is there in another folder, and the error says which and what to do.
    let empty = Path::new(folder).join("empty");
    std::fs::create_dir_all(&empty).expect("a folder");
    let output = verify(&["--spirv", empty.to_str().expect("a path in UTF-8")]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && error.contains("--write-spirv"), "{error}");
}

/// Small grids in all ways: what the numbers stand on was checked, and they hang together.
#[test]
fn the_driver_is_measured_beside_the_passes() {
    let plot = folder("native-bench").join("chart.svg");
    let plot = plot.to_str().expect("a path in UTF-8");
    let arguments =
        ["bench", "--native", "--patches", "90", "--factors", "1,9", "--repeat", "1", "--json", "--plot", plot];
    let output = until_no_crash(&arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    let native = &report["native"];
    assert_eq!(native["missing"], Value::Null);
    assert_eq!(native["failures"].as_array().map(Vec::len), Some(0), "{native:#}");
    let rows = native["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 6, "two factors in three ways");
    for row in rows {
        let points = if row["load"] == "uniform 1" { 90 * 4 } else { 90 * 100 };
        assert_eq!(row["points"], points, "{row}");
        assert!(row["invocations"].as_u64() >= Some(points), "{row}");
        let [time, rate] =
            ["milliseconds", "million_points_per_second"].map(|key| row[key].as_f64().expect("a number"));
        assert!((rate * time * 1e3 / points as f64 - 1.0).abs() < 1e-9, "{row}");
        assert_eq!(row["gigabytes_per_second"].is_number(), row["what"] == "written", "{row}");
    }
    let against = native["against"].as_array().expect("rows beside them");
    assert_eq!(against.len(), 6, "two factors in three modes");
    for (i, row) in against.iter().enumerate() {
        let native = |way: usize| &rows[i / 3 * 3 + way];
        let number = |row: &Value, key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row}"));
        let rate = |row: &Value| number(row, "million_points_per_second");
        assert!((number(row, "to_discarded") - rate(row) / rate(native(0))).abs() < 1e-9, "{row}");
        assert!((number(row, "to_written") - rate(row) / rate(native(1))).abs() < 1e-9, "{row}");
        assert!(number(row, "to_written_fastest") > 0.0, "{row}");
        let frames = number(row, "frame_milliseconds") / number(native(2), "milliseconds");
        assert!((number(row, "frame_ratio") - frames).abs() < 1e-9, "{row}");
        assert!(number(row, "passes_share") > 0.0, "{row}");
        assert!(row["differing_pixels"].as_u64() < Some(1049), "{row}");
    }
    let chart = std::fs::read_to_string(plot).expect("the chart");
    assert!(chart.contains("native, written") && chart.contains("90 patches"), "{chart}");
}
