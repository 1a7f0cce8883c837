//! Meshes as files, read back by the libraries that others read them with.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use patchwave::mesh::{ExportMembers, MeshPatch};
use patchwave::shader::{ScalarKind, Surface, SurfaceMember, SurfaceSlot};
use patchwave::{Mesh, OutputTopology};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};
use proptest::prelude::*;
use serde_json::Value;

use crate::cli::{error_of, folder, patchwave, stdout};
use crate::obj::read_obj;

const ALL: ExportMembers<'_> =
    ExportMembers { position: Some("world_position"), normal: Some("normal"), uv: Some("uv") };

/// Clip position, then what a mesh file takes, with padding between.
fn surface() -> Surface {
    let member = |name: &str, slot, components, offset| SurfaceMember {
        name: name.to_owned(),
        slot,
        kind: ScalarKind::Float,
        components,
        offset,
        interpolate: String::new(),
        invariant: false,
    };
    Surface {
        type_name: "Surface".to_owned(),
        stride: 64,
        members: vec![
            member("position", SurfaceSlot::Position, 4, 0),
            member("world_position", SurfaceSlot::Location(0), 3, 16),
            member("normal", SurfaceSlot::Location(1), 3, 32),
            member("uv", SurfaceSlot::Location(2), 2, 48),
        ],
    }
}

/// A mesh whose vertices have these words.
fn mesh(topology: OutputTopology, vertices: &[[u32; 16]], indices: Vec<u32>) -> Mesh {
    let primitives = indices.len() as u32 / topology.vertices_per_primitive();
    let count = vertices.len() as u32;
    Mesh {
        vertices: vertices.iter().flatten().flat_map(|word| word.to_le_bytes()).collect(),
        indices,
        patches: vec![MeshPatch {
            first_vertex: 0,
            vertices: count,
            first_primitive: 0,
            primitives,
            factors: vec![1.0],
        }],
        surface: surface(),
        topology,
    }
}

/// A mesh of `count` vertices of which no two words are the same, each a finite float.
fn plain_mesh(topology: OutputTopology, count: u32) -> Mesh {
    let word = |vertex: u32, i: u32| ((vertex * 16 + i) as f32 * 0.37 - 20.0).to_bits();
    let vertices: Vec<[u32; 16]> = (0..count).map(|vertex| std::array::from_fn(|i| word(vertex, i as u32))).collect();
    let indices = match topology {
        OutputTopology::Point => (0..count).collect(),
        OutputTopology::Line => (0..count - 1).flat_map(|i| [i, i + 1]).collect(),
        _ => (0..count - 2).flat_map(|i| [i, i + 2, i + 1]).collect(),
    };
    mesh(topology, &vertices, indices)
}

fn bits(mesh: &Mesh, member: &str) -> Vec<Vec<u32>> {
    mesh.member_bits(member).expect("the mesh has it")
}

/// The bits of properties of all vertices of a PLY file.
fn ply_bits(elements: &[DefaultElement], names: &[&str]) -> Vec<Vec<u32>> {
    let bits = |element: &DefaultElement, name: &str| match element.get(name) {
        Some(Property::Float(value)) => value.to_bits(),
        other => panic!("{name}: {other:?}"),
    };
    elements.iter().map(|element| names.iter().map(|name| bits(element, name)).collect()).collect()
}

fn assert_ply_is(bytes: &[u8], mesh: &Mesh) {
    let ply = Parser::<DefaultElement>::new().read_ply(&mut Cursor::new(bytes)).expect("it is a PLY file");
    let vertices = &ply.payload["vertex"];
    assert_eq!(ply_bits(vertices, &["x", "y", "z"]), bits(mesh, "world_position"));
    assert_eq!(ply_bits(vertices, &["nx", "ny", "nz"]), bits(mesh, "normal"));
    if mesh.member_bits("uv").is_some() {
        assert_eq!(ply_bits(vertices, &["s", "t"]), bits(mesh, "uv"));
    }
    let element = match mesh.topology {
        OutputTopology::Point => None,
        OutputTopology::Line => Some("edge"),
        _ => Some("face"),
    };
    let indices: Vec<u32> = element.map_or(Vec::new(), |element| {
        let number = |end: &Property| match end {
            Property::UInt(index) => *index,
            other => panic!("{other:?}"),
        };
        let of = |one: &DefaultElement| match one.get("vertex_indices") {
            Some(Property::ListUInt(corners)) => corners.clone(),
            None => ["vertex1", "vertex2"].map(|end| number(&one[end])).to_vec(),
            other => panic!("{other:?}"),
        };
        ply.payload[element].iter().flat_map(of).collect()
    });
    if element.is_some() {
        assert_eq!(indices, mesh.indices);
    } else {
        assert_eq!(ply.payload.keys().count(), 1, "PLY has no points but vertices");
    }
}

fn assert_glb_is(bytes: &[u8], mesh: &Mesh) {
    // With the crate's own validation.
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(bytes).expect("it is a valid GLB file");
    let blob = blob.expect("it has a binary chunk");
    let meshes: Vec<_> = document.meshes().collect();
    let [only] = &meshes[..] else { panic!("{} meshes", meshes.len()) };
    let primitives: Vec<_> = only.primitives().collect();
    let [primitive] = &primitives[..] else { panic!("{} primitives", primitives.len()) };
    let mode = match mesh.topology {
        OutputTopology::Point => gltf::mesh::Mode::Points,
        OutputTopology::Line => gltf::mesh::Mode::Lines,
        _ => gltf::mesh::Mode::Triangles,
    };
    assert_eq!(primitive.mode(), mode);
    let reader = primitive.reader(|_| Some(&blob));
    let plain =
        |values: Vec<[f32; 3]>| values.into_iter().map(|value| value.map(f32::to_bits).to_vec()).collect::<Vec<_>>();
    let positions: Vec<[f32; 3]> = reader.read_positions().expect("there are positions").collect();
    assert_eq!(plain(positions.clone()), bits(mesh, "world_position"));
    assert_eq!(plain(reader.read_normals().expect("there are normals").collect()), bits(mesh, "normal"));
    match (reader.read_tex_coords(0), mesh.member_bits("uv")) {
        (Some(gltf::mesh::util::ReadTexCoords::F32(uvs)), Some(expected)) => {
            assert_eq!(uvs.map(|uv| uv.map(f32::to_bits).to_vec()).collect::<Vec<_>>(), expected);
        }
        (None, None) => {}
        (found, expected) => panic!("{} and {}", found.is_some(), expected.is_some()),
    }
    assert_eq!(reader.read_indices().expect("there are indices").into_u32().collect::<Vec<_>>(), mesh.indices);
    let bounds = primitive.bounding_box();
    for axis in 0..3 {
        let of_axis = || positions.iter().map(|position| position[axis]);
        assert_eq!(bounds.min[axis], of_axis().fold(f32::INFINITY, f32::min));
        assert_eq!(bounds.max[axis], of_axis().fold(f32::NEG_INFINITY, f32::max));
    }
    assert_eq!(document.default_scene().map(|scene| scene.nodes().count()), Some(1));
}

fn assert_obj_is(bytes: &[u8], mesh: &Mesh) {
    let obj = read_obj(bytes);
    assert_eq!(obj.vectors[0], bits(mesh, "world_position"));
    assert_eq!(obj.vectors[1], bits(mesh, "normal"));
    if let Some(uvs) = mesh.member("uv") {
        // OBJ counts v from the bottom.
        let turned: Vec<_> = uvs.iter().map(|uv| vec![uv[0].to_bits(), (1.0 - uv[1]).to_bits()]).collect();
        assert_eq!(obj.vectors[2], turned);
    }
    let keyword = match mesh.topology {
        OutputTopology::Point => "p",
        OutputTopology::Line => "l",
        _ => "f",
    };
    assert!(obj.primitives.iter().all(|(found, _)| found == keyword));
    assert_eq!(obj.primitives.into_iter().flat_map(|(_, corners)| corners).collect::<Vec<_>>(), mesh.indices);
}

/// The mesh in the three formats.
fn written(mesh: &Mesh, members: &ExportMembers<'_>) -> [std::io::Result<Vec<u8>>; 3] {
    let [mut obj, mut ply, mut glb] = [const { Vec::new() }; 3];
    [
        mesh.write_obj(&mut obj, members).map(|()| obj),
        mesh.write_ply(&mut ply, members).map(|()| ply),
        mesh.write_glb(&mut glb, members).map(|()| glb),
    ]
}

#[test]
fn every_topology_comes_back_bit_for_bit() {
    for topology in OutputTopology::ALL {
        let mesh = plain_mesh(topology, 9);
        let [obj, ply, glb] = written(&mesh, &ALL).map(|bytes| bytes.expect("it can be written"));
        assert_obj_is(&obj, &mesh);
        assert_ply_is(&ply, &mesh);
        assert_glb_is(&glb, &mesh);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bits_come_back(words in prop::collection::vec(any::<[u32; 16]>(), 3..40)) {
        let count = words.len() as u32;
        let any = mesh(OutputTopology::TriangleCcw, &words, (0..count / 3 * 3).collect());
        let [_, ply, glb] = written(&any, &ALL);
        assert_ply_is(&ply.expect("PLY takes all bits"), &any);
        let finite = ["world_position", "normal", "uv"]
            .iter()
            .all(|name| bits(&any, name).iter().flatten().all(|bits| f32::from_bits(*bits).is_finite()));
        match glb {
            Ok(glb) => {
                prop_assert!(finite);
                assert_glb_is(&glb, &any);
            }
            Err(error) => {
                prop_assert!(!finite);
                prop_assert!(error.to_string().contains("glTF allows finite numbers only"), "{}", error);
            }
        }
        // The same with numbers that all formats have.
        let words: Vec<[u32; 16]> = words.into_iter().map(|vertex| vertex.map(|word| word & 0xbfff_ffff)).collect();
        let any = mesh(OutputTopology::TriangleCcw, &words, (0..count / 3 * 3).collect());
        let [obj, ply, glb] = written(&any, &ALL).map(|bytes| bytes.expect("it can be written"));
        assert_obj_is(&obj, &any);
        assert_ply_is(&ply, &any);
        assert_glb_is(&glb, &any);
    }
}

#[test]
fn a_mesh_of_nothing_is_a_file_of_nothing() {
    let mesh = mesh(OutputTopology::TriangleCw, &[], Vec::new());
    let [obj, ply, glb] = written(&mesh, &ALL).map(|bytes| bytes.expect("it can be written"));
    assert!(obj.is_empty());
    let ply = Parser::<DefaultElement>::new().read_ply(&mut Cursor::new(&ply)).expect("it is a PLY file");
    assert_eq!((ply.header.elements["vertex"].count, ply.header.elements["face"].count), (0, 0));
    let gltf = gltf::Gltf::from_slice(&glb).expect("it is a valid GLB file");
    let nodes: Vec<_> =
        gltf.default_scene().expect("there is a scene").nodes().map(|node| node.mesh().is_some()).collect();
    assert_eq!((gltf.meshes().count(), nodes), (0, vec![false]));
}

#[test]
fn members_are_found_by_their_names() {
    let mut surface = surface();
    assert_eq!(ExportMembers::by_name(&surface), ALL);
    // A member called `position` at a location is not the builtin.
    surface.members[1].name = "position".to_owned();
    surface.members[0].name = "clip".to_owned();
    surface.members[3].name = "texcoord".to_owned();
    let members = ExportMembers::by_name(&surface);
    assert_eq!((members.position, members.uv), (Some("position"), Some("texcoord")));
    // What does not fit is none: integers, another number of components.
    surface.members[1].kind = ScalarKind::Uint;
    surface.members[2].components = 4;
    surface.members[3].components = 3;
    assert_eq!(ExportMembers::by_name(&surface), ExportMembers::default());
}

#[test]
fn members_that_are_not_there_are_refused() {
    let mesh = plain_mesh(OutputTopology::TriangleCw, 3);
    for members in [
        ExportMembers { position: Some("nowhere"), ..ALL },
        ExportMembers { normal: Some("nowhere"), ..ALL },
        ExportMembers { uv: Some("nowhere"), ..ALL },
    ] {
        for result in written(&mesh, &members) {
            let error = result.expect_err("there is no such member");
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains("nowhere"), "{error}");
        }
    }
}

#[test]
fn meshes_are_joined_where_they_are_alike() {
    let (one, other) = (plain_mesh(OutputTopology::Line, 3), plain_mesh(OutputTopology::Line, 4));
    let both = Mesh::joined([&one, &other]).expect("they are alike");
    assert_eq!(both.vertices, [&one.vertices[..], &other.vertices].concat());
    assert_eq!(both.indices, [0, 1, 1, 2, 3, 4, 4, 5, 5, 6]);
    assert_eq!((both.patches[1].first_vertex, both.patches[1].first_primitive), (3, 2));
    assert_eq!(Mesh::joined([]), None);
    assert_eq!(Mesh::joined([&one, &plain_mesh(OutputTopology::Point, 3)]), None);
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

/// Runs a verb that draws; `None`, saying so, where there is no adapter to draw on.
fn drawn(args: &[&str]) -> Option<String> {
    let output = patchwave(args).output().expect("the program starts");
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("no adapter answers") || error.contains("there is no adapter") {
        eprintln!("skipped: there is no adapter to draw on");
        return None;
    }
    assert!(output.status.success(), "{args:?}: {error}");
    Some(stdout(&output))
}

/// Sizes of the three files: vertices and indices.
fn counts(folder: &Path) -> [(usize, usize); 3] {
    let read = |name: &str| fs::read(folder.join(name)).expect("the file is there");
    let obj = read_obj(&read("mesh.obj"));
    let ply = Parser::<DefaultElement>::new().read_ply(&mut Cursor::new(read("mesh.ply"))).expect("it is a PLY file");
    let primitives = ply.payload.get("face").or(ply.payload.get("edge")).expect("there are primitives");
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&read("mesh.glb")).expect("it is a valid GLB file");
    let primitive = document.meshes().next().and_then(|mesh| mesh.primitives().next()).expect("there is a primitive");
    let reader = primitive.reader(|_| blob.as_deref());
    let per_primitive = obj.primitives[0].1.len();
    [
        (obj.vectors[0].len(), obj.primitives.len() * per_primitive),
        (ply.payload["vertex"].len(), primitives.len() * per_primitive),
        (
            reader.read_positions().map_or(0, Iterator::count),
            reader.read_indices().map_or(0, |all| all.into_u32().count()),
        ),
    ]
}

#[test]
fn render_writes_every_format() {
    let place = folder("export-render");
    let mut figures = Value::Null;
    for name in ["mesh.ply", "mesh.glb"] {
        let (picture, mesh, obj) = (place.join("teapot.png"), place.join(name), place.join("mesh.obj"));
        let args = ["render", "teapot", "--size", "16x12", "--factor", "4", "--json", "-o", text(&picture)];
        let Some(report) = drawn(&[&args[..], &["--mesh", text(&mesh), "--obj", text(&obj)]].concat()) else { return };
        figures = serde_json::from_str(&report).expect("stdout is JSON");
    }
    let expected = (figures["vertices"].as_u64(), figures["primitives"].as_u64().map(|triangles| triangles * 3));
    for (vertices, indices) in counts(&place) {
        assert_eq!((Some(vertices as u64), Some(indices as u64)), expected);
    }
    assert!(figures["vertices"].as_u64() > Some(100));
    // Normals are unit vectors, so what was found is the normal.
    let obj = read_obj(&fs::read(place.join("mesh.obj")).expect("it is there"));
    assert_eq!(obj.vectors[1].len(), obj.vectors[0].len());
    for normal in &obj.vectors[1] {
        let squared: f32 = normal.iter().map(|bits| f32::from_bits(*bits).powi(2)).sum();
        assert!((squared - 1.0).abs() < 1e-4, "{squared}");
    }
}

/// A scene of two draws, as lines; its positions are at a location of another name.
const LINES: &str = r#"
[shader]
hull = false
text = """
struct End { place: vec2f }
struct PatchConstants { factors: IsolineFactors }
struct Surface { @location(0) at: vec3f, @location(1) uv: vec2f }
fn vertex(id: VertexId) -> End { return End(vec2f(f32(id.vertex_index), 0.5)); }
fn patch_constants(patch_id: u32) -> PatchConstants { return PatchConstants(IsolineFactors(2, 3)); }
fn domain(uv: vec2f, patch_id: u32) -> Surface {
    return Surface(vec3f(mix(output_point(0).place, output_point(1).place, uv.x), uv.y), uv);
}
"""
[state]
domain = "isoline"
input_control_points = 2
[[draws]]
vertices = 2
[[draws]]
vertices = 4
first_vertex = 2
[target]
size = [16, 16]
position = "at"
"#;

#[test]
fn run_writes_every_format_of_several_draws() {
    let place = folder("export-run");
    let scene = place.join("lines.toml");
    fs::write(&scene, LINES).expect("the scene can be written");
    for name in ["mesh.obj", "mesh.ply", "mesh.glb"] {
        if drawn(&["run", text(&scene), "--mesh", text(&place.join(name))]).is_none() {
            return;
        }
    }
    // Two lines of three segments in each of three patches.
    assert_eq!(counts(&place), [(3 * 2 * 4, 3 * 2 * 3 * 2); 3]);
    let obj = read_obj(&fs::read(place.join("mesh.obj")).expect("it is there"));
    let first: Vec<f32> = obj.vectors[0].iter().map(|at| f32::from_bits(at[0])).collect();
    assert_eq!(first[..4], [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0].map(|x: f32| (x * 65536.0).round() / 65536.0));
    assert_eq!(first[8], 2.0, "the second draw comes after the first");
    assert_eq!(obj.vectors[2].len(), first.len(), "texture coordinates are found by their name");
    // Without a name there is no position.
    fs::write(&scene, LINES.replace("position = \"at\"", "")).expect("the scene can be written");
    let mesh = place.join("none.ply");
    let error = error_of(&["run", text(&scene), "--mesh", text(&mesh)], 1);
    assert!(error.contains("cannot write") && error.contains("position"), "{error}");
    assert!(!mesh.exists());
}

#[test]
fn mesh_files_that_cannot_be_are_refused_on_one_line() {
    let place = folder("export-bad");
    let path = |name: &str| text(&place.join(name)).to_owned();
    fs::write(path("file"), "kept").expect("the file can be written");
    fs::write(path("lines.toml"), LINES).expect("the scene can be written");
    let (scene, picture) = (path("lines.toml"), path("a.png"));
    for (mesh, code, words) in [
        (path("a.stl"), 2, "'.stl' is no mesh format"),
        (path("mesh"), 2, "does not tell a mesh format"),
        (path("file/a.ply"), 1, "cannot write"),
        (picture.clone(), 2, "'.png' is no mesh format"),
    ] {
        for verb in [&["run", &scene, "-o", &picture][..], &["render", "teapot", "-o", &picture]] {
            let error = error_of(&[verb, &["--mesh", &mesh]].concat(), code);
            assert!(error.contains(words), "{verb:?}: {error}");
        }
    }
    let both = path("a.obj");
    let error = error_of(&["run", &scene, "--mesh", &both, "--obj", &both], 2);
    assert!(error.contains("--mesh and --obj are both"), "{error}");
    let mut left: Vec<_> =
        fs::read_dir(&place).expect("it is there").flatten().map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(left, ["file", "lines.toml"], "nothing is left behind");
}
