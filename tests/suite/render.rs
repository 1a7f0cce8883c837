//! `patchwave render`: pictures against references, the table, and what it refuses.

use std::fs;
use std::path::PathBuf;

use crate::cli::{error_of, folder, patchwave, stdout};
use crate::pictures::{assert_like_reference, references_are_ours};

/// A figure of the table that `render` prints.
fn figure(table: &str, name: &str) -> u64 {
    let line = table.lines().find(|line| line.trim().starts_with(name)).unwrap_or_else(|| panic!("{name}: {table}"));
    line.split_whitespace().last().and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

/// Renders on llvmpipe, to which the references belong; `None`, saying so, where it is not there or another adapter is
/// under test.
fn rendered(name: &str, args: &[&str]) -> Option<(PathBuf, String)> {
    if !references_are_ours() {
        return None;
    }
    let picture = folder(name).join("actual.png");
    let mut command = patchwave(&["render", "teapot", "--adapter", "llvmpipe", "-o"]);
    let output = command.arg(&picture).args(args).output().expect("the program starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    if complaint.contains("no adapter answers") || complaint.contains("there is no adapter") {
        eprintln!("skipped: the references belong to llvmpipe, which is not there");
        return None;
    }
    assert!(output.status.success(), "{complaint}");
    Some((picture, stdout(&output)))
}

#[test]
fn the_teapot_is_its_reference() {
    let Some((picture, table)) = rendered("teapot", &["--size", "480x360"]) else { return };
    assert_eq!(figure(&table, "patches"), 32);
    assert_like_reference(&picture, "teapot.png");
}

#[test]
fn the_wireframe_is_its_reference() {
    let args = ["--size", "480x360", "--wireframe", "--factor", "5.5", "--partitioning", "fractional_odd"];
    let Some((picture, _)) = rendered("wireframe", &args) else { return };
    assert_like_reference(&picture, "teapot-wireframe.png");
}

#[test]
fn a_culled_teapot_leaves_the_backdrop() {
    for factor in ["nan", "-1", "0"] {
        let Some((picture, table)) = rendered("culled", &["--size", "160x120", "--factor", factor]) else { return };
        assert_eq!((figure(&table, "triangles"), figure(&table, "domain points")), (0, 0), "{factor}");
        assert_eq!(figure(&table, "patches"), 32);
        assert!(picture.is_file());
    }
}

#[test]
fn counts_are_those_of_the_tessellator() {
    for (factor, partitioning, triangles) in [("3", "integer", 32 * 18), ("inf", "fractional_odd", 32 * 2 * 63 * 63)] {
        let args = ["--size", "16x12", "--factor", factor, "--partitioning", partitioning, "--wireframe"];
        let Some((_, table)) = rendered(&format!("counts-{factor}"), &args) else { return };
        assert_eq!(figure(&table, "triangles"), triangles, "{factor} {partitioning}");
    }
}

#[test]
fn pictures_of_any_shape() {
    for size in ["1x1", "8192x1", "1x8192", "63x5"] {
        let Some((picture, _)) = rendered("shapes", &["--size", size, "--factor", "2"]) else { return };
        let (width, height) = image::image_dimensions(&picture).expect("it is a picture");
        assert_eq!(format!("{width}x{height}"), size);
    }
}

#[test]
fn the_mesh_as_obj() {
    let obj = folder("obj").join("teapot.obj");
    let path = obj.to_str().expect("the path is text");
    let args = ["--size", "16x12", "--factor", "4", "--partitioning", "integer", "--obj", path];
    let Some((_, table)) = rendered("obj-picture", &args) else { return };
    let text = fs::read_to_string(&obj).expect("the mesh is there");
    let count = |keyword: &str| text.lines().filter(|line| line.starts_with(keyword)).count() as u64;
    assert_eq!(count("f "), figure(&table, "triangles"));
    assert_eq!((count("v "), count("vn ")), (figure(&table, "domain points"), figure(&table, "domain points")));
    assert!(!text.contains("NaN") && !text.contains("inf"));
}

#[test]
fn what_cannot_be_rendered_is_refused_on_one_line() {
    let place = folder("refused");
    let folder = place.to_str().expect("the path is text");
    fs::write(place.join("file"), "kept").expect("the file can be written");
    let below = format!("{folder}/file/teapot.png");
    let there = format!("{folder}/teapot.png");
    for (args, code, words) in [
        (vec!["-o", folder], 1, "it is a folder"),
        (vec!["-o", &below], 1, "cannot write"),
        // Before the adapter is even looked for.
        (vec!["-o", &below, "--adapter", "no such adapter"], 1, "cannot write"),
        (vec!["-o", &there, "--obj", folder], 1, "it is a folder"),
        (vec!["-o", &there, "--obj", &there], 2, "name two files"),
        (vec!["-o", ""], 2, "--output"),
        (vec!["-o", &there, "--adapter", "no such adapter"], 1, "adapter"),
        (vec!["-o", &there, "--size", "0x0"], 2, "1 to 8192"),
        (vec!["-o", &there, "--size", "-5x5"], 2, "1 to 8192"),
        (vec!["-o", &there, "--size", "8193x1"], 2, "1 to 8192"),
        (vec!["-o", &there, "--factor", ""], 2, "a factor is empty"),
        (vec!["-o", &there, "--partitioning", "even"], 2, "fractional_even"),
    ] {
        let error = error_of(&[&["render", "teapot"], &args[..]].concat(), code);
        assert!(error.contains(words), "{args:?}: {error}");
    }
    let left: Vec<_> = fs::read_dir(&place).expect("the folder is there").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["file"], "nothing is left behind");
}
