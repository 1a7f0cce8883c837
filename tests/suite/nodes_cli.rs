//! `patchwave nodes`: what it reports, small, and what it needs.

use serde_json::Value;

use super::cli::{error_of, patchwave};

#[test]
fn simulated_nodes_are_measured() {
    let args =
        ["nodes", "--simulated-nodes", "2", "--mib", "1", "--patches", "16", "--factor", "4", "--points", "1000"];
    let mut command = patchwave(&[&args[..], &["--chunk-kib", "256", "--repeat", "1", "--json"]].concat());
    // The adapter that the tests run on.
    if let Some(adapter) = std::env::var_os("PATCHWAVE_ADAPTER") {
        command.env("PATCHWAVE_ADAPTER", adapter);
    }
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    assert_eq!(report["nodes"].as_array().map(Vec::len), Some(2), "{report:#}");
    assert_eq!(report["sharing_tier"], "TIER_1_EMULATED");
    assert!(report["provenance"].as_str().is_some_and(|text| text.contains("simulated")), "{report:#}");
    assert_eq!((&report["push"]["bytes"], &report["push"]["bits_equal"]), (&(1 << 20).into(), &true.into()));
    assert!(report["push"]["push"].as_f64().is_some_and(|rate| rate > 0.0), "{report:#}");
    // 25 points a patch.
    assert_eq!((&report["gathered"]["points"], &report["gathered"]["bits_equal"]), (&400.into(), &true.into()));
}

#[test]
fn arguments_that_do_not_serve() {
    assert!(error_of(&["nodes", "--mib", "0"], 2).contains("--mib"));
    assert!(
        error_of(&["nodes", "--simulated-nodes", "2", "--adapter", "no such adapter"], 1).contains("no such adapter")
    );
}
