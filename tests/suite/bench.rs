//! The workloads of `patchwave bench` beside its table of loads, small.

use serde_json::Value;

use super::cli::{error_of, folder, run, stdout};

#[track_caller]
fn report(args: &[&str]) -> Value {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("stdout is JSON")
}

#[test]
fn streamed_draws_stay_within_their_memory() {
    let report = report(&[
        "bench",
        "--streamed",
        "--points",
        "20000,100000",
        "--memory",
        "1MiB",
        "--factors",
        "13",
        "--repeat",
        "1",
        "--json",
    ]);
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 6, "two numbers of points in three modes");
    for row in rows {
        // 196 points a patch.
        let points = row["points"].as_u64().expect("points");
        assert_eq!(points, row["patches"].as_u64().expect("patches") * 196);
        assert!(row["memory_bytes"].as_u64() <= Some(1 << 20), "{row}");
        assert!(row["batches"].as_u64() > Some((points * 32) >> 20), "{row}");
        let same = |other: &&Value| other["points"] == row["points"] && other["checksum"] == row["checksum"];
        assert_eq!(rows.iter().filter(same).count(), 3, "all modes have the checksum {}", row["checksum"]);
    }
    assert_ne!(rows[0]["checksum"], rows[5]["checksum"]);
    assert_eq!(report["fits"].as_array().map(Vec::len), Some(3));
}

#[test]
fn assembly_is_compared_with_pulled_vertices() {
    let report = report(&["bench", "--assembly", "--patches", "2000", "--repeat", "1", "--json"]);
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    let ratio = report["ratios"][0].as_f64().expect("a ratio");
    let times = [0, 1].map(|i| rows[i]["milliseconds"].as_f64().expect("a time"));
    assert!((ratio - times[0] / times[1]).abs() < 1e-9, "{ratio} of {times:?}");
}

/// Each mode with and without indices: the same points, fewer bytes, and sums of the same bits in all modes.
#[test]
fn loads_with_and_without_indices() {
    let common = ["bench", "--patches", "150", "--factors", "5", "--skewed", "--repeat", "1", "--json"];
    let [with, without] = [&common[..], &[&common[..], &["--no-indices"]].concat()].map(report);
    for (report, bytes_of_triangle) in [(&with, 12.0), (&without, 0.0)] {
        assert_eq!(report["indices"], bytes_of_triangle > 0.0);
        assert_eq!(report["failures"].as_array().map(Vec::len), Some(0), "{report:#}");
        let rows = report["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 12, "four loads in three modes");
        assert_eq!(rows[0]["points"], 150 * 36);
        for (i, row) in rows.iter().enumerate() {
            let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row}"));
            let bytes = number("points") * 32.0 + number("triangles") * bytes_of_triangle;
            let rate = bytes / number("milliseconds") / 1e6;
            assert!((number("gigabytes_per_second") / rate - 1.0).abs() < 1e-9, "{row}");
            assert_eq!(row["checksum"], rows[i / 3 * 3]["checksum"], "{row}");
            assert!(number("allocated_bytes") >= number("memory_bytes"), "{row}");
        }
        assert_ne!(rows[0]["checksum"], rows[3]["checksum"]);
        let dynamic = report["dynamic"].as_array().expect("ratios");
        assert_eq!(dynamic.len(), 4);
        for (i, ratio) in dynamic.iter().enumerate() {
            let times = [0, 1, 2].map(|mode| rows[i * 3 + mode]["milliseconds"].as_f64().expect("a time"));
            let expected = times[0].min(times[1]) / times[2];
            assert!(ratio["ratio"].as_f64().is_some_and(|found| (found - expected).abs() < 1e-9), "{ratio} {times:?}");
        }
    }
    let points =
        |report: &Value| report["rows"].as_array().map(|rows| rows.iter().map(|r| r["points"].clone()).collect());
    let points: [Option<Vec<Value>>; 2] = [&with, &without].map(points);
    assert_eq!(points[0], points[1]);
}

/// More vertices than lavapipe binds at once (128 MiB): each chunk is looked at.
#[test]
fn output_in_chunks_is_checked() {
    let report =
        report(&["bench", "--patches", "1000", "--factors", "64", "--modes", "offchip", "--repeat", "1", "--json"]);
    assert_eq!(report["failures"].as_array().map(Vec::len), Some(0), "{report:#}");
    assert_eq!(report["rows"][0]["points"], 1000 * 4225);
}

#[test]
fn a_chart_is_drawn_in_both_formats() {
    let folder = folder("bench-plot");
    for name in ["chart.svg", "chart.png"] {
        let file = folder.join(name);
        let path = file.to_str().expect("a path in UTF-8");
        report(&["bench", "--patches", "10,20", "--factors", "1,4", "--repeat", "1", "--json", "--plot", path]);
        let bytes = std::fs::read(&file).expect("the chart");
        if name.ends_with("svg") {
            let text = String::from_utf8(bytes).expect("SVG is text");
            for words in ["10 patches", "20 patches", "fill, with indices", "dynamic", "stroke-width"] {
                assert!(text.contains(words), "no {words}");
            }
        } else {
            let picture = image::load_from_memory(&bytes).expect("a PNG").to_rgb8();
            // The colour of the on-chip curve.
            assert!(picture.pixels().any(|pixel| pixel.0 == [28, 110, 190]));
        }
    }
}

#[test]
fn what_cannot_be_streamed_is_refused_on_one_line() {
    let error = error_of(&["bench", "--streamed", "--points", "1000", "--memory", "100KiB"], 1);
    assert!(error.contains("the memory bound of 102400 bytes is too small"), "{error}");
    for (args, word) in [
        (vec!["bench", "--streamed", "--memory", "1GB"], "256MiB"),
        (vec!["bench", "--memory", "1GiB"], "--streamed"),
        (vec!["bench", "--streamed", "--assembly"], "--assembly"),
        (vec!["bench", "--streamed", "--no-indices"], "--no-indices"),
        (vec!["bench", "--assembly", "--plot", "chart.svg"], "--plot"),
        (vec!["bench", "--repeat", "0"], "1..=1000"),
    ] {
        let output = run(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{args:?}: {}", stdout(&output));
    }
}
