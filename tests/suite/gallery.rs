//! The examples: each is run and its picture compared.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::cli::folder;
use crate::pictures::{assert_like_reference, references_are_ours};

/// The command of an example, which `cargo test` has built beside this test.
pub(crate) fn example(name: &str) -> Command {
    let profile = Path::new(env!("CARGO_BIN_EXE_patchwave")).parent().expect("it lies in a folder");
    let file = profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(file.is_file(), "{}: not built; run 'cargo build --examples' first", file.display());
    let mut command = Command::new(file);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("RUST_BACKTRACE");
    command
}

pub(crate) fn run(name: &str, args: &[&str]) -> Output {
    example(name).args(args).output().expect("the example starts")
}

/// The one line that an example fails with.
pub(crate) fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{text}");
    text
}

/// Draws an example at 480x360 and compares with tests/references/gallery/PICTURE.png.
pub(crate) fn assert_draws(name: &str, picture: &str, args: &[&str]) {
    if !references_are_ours() {
        return;
    }
    let file: PathBuf = folder(&format!("gallery-{picture}")).join("actual.png");
    let output = run(name, &[&["--size", "480x360", "-o", file.to_str().expect("a plain path")], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_like_reference(&file, &format!("gallery/{picture}.png"));
}

#[test]
fn the_teapot_is_drawn() {
    assert_draws("teapot", "teapot", &[]);
}

#[test]
fn what_an_example_cannot_do_is_one_line() {
    let none = run("teapot", &["--adapter", "no such adapter"]);
    let error = complaint(&none);
    assert!(error.contains("no adapter whose name contains 'no such adapter'; there are"), "{error}");
    let error = complaint(&run("integrate", &["--adapter", "no such adapter"]));
    assert!(error.contains("no adapter of that name"), "{error}");
    let nowhere = run("teapot", &["--size", "8x8", "-o", "Cargo.toml/teapot.png"]);
    let error = complaint(&nowhere);
    assert!(error.contains("cannot make the folder Cargo.toml"), "{error}");
    for size in ["0x8", "8", "9000x8"] {
        let output = run("teapot", &["--size", size]);
        assert_eq!(output.status.code(), Some(2), "{size}");
    }
}

#[test]
fn the_renderer_with_tessellation_is_drawn() {
    assert_draws("integrate", "integrate", &[]);
}

#[test]
fn the_coarse_mesh_and_the_smooth_one_are_drawn() {
    assert_draws("pn_triangles", "pn_triangles", &[]);
}

/// Draws a small picture of a mesh in the OBJ format.
fn draw_mesh(name: &str, text: &str, args: &[&str]) -> Output {
    let folder = folder(name);
    let (mesh, picture) = (folder.join("mesh.obj"), folder.join("mesh.png"));
    std::fs::write(&mesh, text).expect("the folder is there");
    let paths = [&mesh, &picture].map(|path| path.to_str().expect("a plain path"));
    run("pn_triangles", &[&["--size", "64x48", "--mesh", paths[0], "-o", paths[1]], args].concat())
}

#[test]
fn meshes_without_normals_and_with_degenerate_triangles_are_drawn() {
    let points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv nan 0 0\n";
    let output = draw_mesh("pn-good", &format!("{points}f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 1 2 2\nf 1 2 5\n"), &[]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("4 triangles") && said.contains("2 triangles without area are left out"), "{said}");

    let error = complaint(&draw_mesh("pn-empty", &format!("{points}f 1 2 2\n"), &[]));
    assert!(error.contains("no triangles"), "{error}");
    let error = complaint(&draw_mesh("pn-index", &format!("{points}f 1 2 9\n"), &[]));
    assert!(error.contains("mesh.obj"), "{error}");
    // A roof: along the ridge each side has its own normal.
    let roof = format!("{points}vn 1 0 0\nvn 0 1 0\nf 1//1 2//1 3//1\nf 2//2 1//2 4//2\n");
    let said = |args: &[&str]| String::from_utf8_lossy(&draw_mesh("pn-roof", &roof, args).stdout).into_owned();
    assert!(said(&[]).contains("2 points have more than one normal"), "{}", said(&[]));
    assert!(said(&["--smooth"]).contains("2 triangles") && !said(&["--smooth"]).contains("more than one normal"));
    // Normals on one of two triangles only: computed for both.
    let some = format!("{points}vn 0 0 -1\nf 1//1 3//1 2//1\nf 1 2 4\n");
    let output = draw_mesh("pn-some", &some, &[]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("2 triangles"), "{output:?}");
    let error = complaint(&run("pn_triangles", &["--mesh", "nowhere.obj"]));
    assert!(error.contains("cannot read nowhere.obj"), "{error}");
}

#[test]
fn the_subdivision_surface_in_its_cage_is_drawn() {
    assert_draws("catmull_clark", "catmull_clark", &[]);
}

#[test]
fn the_meadow_is_drawn_and_bends_in_the_wind() {
    assert_draws("grass", "grass", &[]);
    assert_draws("grass", "grass-wind", &["--seconds", "3"]);
}
