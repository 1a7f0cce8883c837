//! The driver's own tessellation as an oracle (docs/native.md), in a process of its own: lavapipe has crashed in it.

use serde_json::Value;
use std::path::Path;
use std::process::Output;

use super::cli::{folder, patchwave};

/// Runs the program; where the driver crashes, up to three times.
fn verify(more: &[&str]) -> Output {
    let args = [&["verify", "--native", "--quick", "--json"], more].concat();
    for attempt in 1..=3 {
        let mut command = patchwave(&args);
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
