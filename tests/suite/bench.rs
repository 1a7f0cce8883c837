//! The workloads of `patchwave bench` beside its table of loads, small.

use serde_json::Value;

use super::cli::{error_of, run, stdout};

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

#[test]
fn what_cannot_be_streamed_is_refused_on_one_line() {
    let error = error_of(&["bench", "--streamed", "--points", "1000", "--memory", "100KiB"], 1);
    assert!(error.contains("the memory bound of 102400 bytes is too small"), "{error}");
    for (args, word) in [
        (vec!["bench", "--streamed", "--memory", "1GB"], "256MiB"),
        (vec!["bench", "--memory", "1GiB"], "--streamed"),
        (vec!["bench", "--streamed", "--assembly"], "--assembly"),
    ] {
        let output = run(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{args:?}: {}", stdout(&output));
    }
}
