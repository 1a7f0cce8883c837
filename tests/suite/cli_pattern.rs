//! Patterns of `patchwave tessellate` as files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::{error_of, folder, run};
use crate::obj::read_obj;

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

/// `tessellate` to a file; the file's path.
fn pattern(folder: &Path, name: &str, args: &[&str]) -> PathBuf {
    let file = folder.join(name);
    let output = run(&[&["tessellate", "--partitioning", "integer"], args, &["-o", text(&file)]].concat());
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    file
}

#[test]
fn patterns_as_obj_are_the_patterns_in_json() {
    let folder = folder("pattern-obj");
    for (domain, topology, factors, keyword, per_primitive) in [
        ("tri", "triangle_ccw", &["--edges", "2,3,5", "--inside", "4"][..], "f", 3),
        ("quad", "triangle_cw", &["--edges", "2,3,5,1", "--inside", "4,3"], "f", 3),
        ("quad", "point", &["--edges", "2,3,5,1", "--inside", "4,3"], "p", 1),
        ("isoline", "line", &["--edges", "3,5"], "l", 2),
        ("tri", "triangle_cw", &["--edges", "2,nan,5", "--inside", "4"], "f", 3),
    ] {
        let args = [&["--domain", domain, "--topology", topology], factors].concat();
        let obj = read_obj(&fs::read(pattern(&folder, "pattern.obj", &args)).expect("it is there"));
        let json = fs::read(pattern(&folder, "pattern.json", &args)).expect("it is there");
        let json: Value = serde_json::from_slice(&json).expect("it is JSON");
        let number = |value: &Value| value.as_u64().expect("a number") as f32;
        let places = json["fixed16"].as_array().expect("a list").iter();
        let places =
            places.map(|uv| [number(&uv[0]) / 65536.0, number(&uv[1]) / 65536.0, 0.0].map(f32::to_bits).to_vec());
        assert_eq!(obj.vectors[0], places.collect::<Vec<_>>(), "{domain} {topology}");
        assert!(obj.primitives.iter().all(|(found, corners)| found == keyword && corners.len() == per_primitive));
        let indices: Vec<u64> =
            obj.primitives.iter().flat_map(|(_, corners)| corners).map(|index| u64::from(*index)).collect();
        assert_eq!(Value::from(indices), json["indices"], "{domain} {topology}");
    }
}

#[test]
fn patterns_as_pictures() {
    let folder = folder("pattern-png");
    let args = ["--domain", "quad", "--topology", "triangle_cw", "--edges", "2,2,2,2", "--inside", "2,2"];
    let image = image::open(pattern(&folder, "quad.png", &args)).expect("it is a PNG").into_rgb8();
    assert_eq!(image.dimensions(), (2240, 2240));
    // Corners of the domain lie 80 units in, at two pixels a unit; dots are of the outer edge's colour.
    let at = |u: f64, v: f64| image.get_pixel((160.0 + u * 1920.0) as u32, (160.0 + v * 1920.0) as u32).0;
    for (u, v) in [(0.0, 0.0), (0.5, 0.0), (1.0, 1.0), (0.0, 0.5)] {
        assert_eq!(at(u, v), [0x1d, 0x35, 0x57], "{u} {v}");
    }
    assert_eq!(at(0.5, 0.5), [0xd1, 0x49, 0x5b], "the inner ring is the point in the middle");
    for (u, v) in [(0.3, 0.1), (0.1, 0.3), (0.7, 0.9)] {
        assert_eq!(at(u, v), [0xff, 0xe3, 0xb3], "the fill of transition triangles at {u} {v}");
    }
    assert_eq!(image.get_pixel(2, 2).0, [255; 3]);
    let dark = |x: std::ops::Range<u32>, y: std::ops::Range<u32>| {
        x.flat_map(|x| y.clone().map(move |y| (x, y))).filter(|(x, y)| image.get_pixel(*x, *y).0 == [0x33; 3]).count()
    };
    assert!(dark(20..150, 700..1500) > 200, "the turned label of edge 0");
    // The ending of the name decides, or --format.
    let svg = fs::read_to_string(pattern(&folder, "quad.SVG", &args)).expect("it is text");
    assert!(svg.starts_with("<svg") && svg.contains("rotate(-90"));
    let forced = pattern(&folder, "quad.dat", &[&args[..], &["--format", "png"]].concat());
    assert_eq!(fs::read(forced).expect("it is there"), fs::read(folder.join("quad.png")).expect("it is there"));
    let file = folder.join("quad.stl");
    let tessellate = [&["tessellate", "--partitioning", "integer"], &args[..], &["-o", text(&file)]].concat();
    let error = error_of(&tessellate, 2);
    assert!(error.contains("'.stl' tells no format; there are json, svg, png, obj"), "{error}");
    // A pipe takes the bytes.
    let output = run(&[&["tessellate", "--partitioning", "integer", "--format", "png"], &args[..]].concat());
    assert_eq!(output.stdout, fs::read(folder.join("quad.png")).expect("it is there"));
}
