//! Meshes out of OBJ, PLY and glTF files.

use std::io::{BufReader, Cursor};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use glam::{Mat3, Mat4, Vec3};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};

use super::buffers::read_file;
use super::place::{Complaint, Place};

/// A mesh with one index for everything a vertex has. What the file has nothing of is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MeshFile {
    /// Three numbers a vertex.
    pub(crate) positions: Vec<f32>,
    /// Three numbers a vertex.
    pub(crate) normals: Vec<f32>,
    /// Two numbers a vertex.
    pub(crate) uvs: Vec<f32>,
    /// Four numbers a vertex.
    pub(crate) colors: Vec<f32>,
    pub(crate) indices: Vec<u32>,
}

/// What is made of a file's polygons.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polygons {
    /// Corners of a patch.
    pub(crate) corners: u32,
    /// Whether polygons are cut into triangles.
    pub(crate) triangulate: bool,
}

impl Polygons {
    /// Adds a polygon's corners as a patch.
    fn push(self, polygon: &[u32], indices: &mut Vec<u32>) -> Result<(), String> {
        let patch = self.corners;
        if self.triangulate && polygon.len() >= 3 {
            for pair in polygon[1..].windows(2) {
                indices.extend([polygon[0], pair[0], pair[1]]);
            }
            return Ok(());
        }
        if polygon.len() as u64 != u64::from(patch) {
            let advice = if patch == 3 { "; triangulate = true cuts it" } else { "" };
            return Err(format!("it has a polygon of {} corners, and a patch takes {patch}{advice}", polygon.len()));
        }
        indices.extend(polygon);
        Ok(())
    }
}

/// Whether a file is read as a mesh, by its name.
pub(crate) fn is_mesh(name: &str) -> bool {
    extension(name).is_some()
}

type Reader = fn(&[u8], &Path, Polygons) -> Result<MeshFile, String>;

fn extension(name: &str) -> Option<Reader> {
    match Path::new(name).extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "obj" => Some(obj),
        "ply" => Some(ply),
        "gltf" | "glb" => Some(gltf),
        _ => None,
    }
}

/// Reads a mesh file beside the scene.
pub(crate) fn read(folder: &Path, name: &str, polygons: Polygons, place: &Place) -> Result<MeshFile, Complaint> {
    let bytes = read_file(folder, name, place)?;
    let path = folder.join(name);
    let folder = path.parent().unwrap_or(Path::new(""));
    let refuse = |message: String| place.complain(format!("cannot read {}: {message}", path.display()));
    let reader = extension(name).ok_or_else(|| refuse("it is no OBJ, PLY or glTF by its name".to_owned()))?;
    let mesh = reader(&bytes, folder, polygons).map_err(refuse)?;
    let vertices = mesh.positions.len() / 3;
    if mesh.indices.is_empty() || vertices == 0 {
        return Err(refuse("it has no polygons".to_owned()));
    }
    match mesh.indices.iter().find(|index| **index as usize >= vertices) {
        None => Ok(mesh),
        Some(index) => Err(refuse(format!("it has a corner {index} and {vertices} vertices"))),
    }
}

fn obj(bytes: &[u8], _: &Path, polygons: Polygons) -> Result<MeshFile, String> {
    let options =
        tobj::LoadOptions { single_index: true, ignore_lines: true, ignore_points: true, ..Default::default() };
    // What a surface is made of does not matter here.
    let no_materials = |_: &Path| tobj::load_mtl_buf(&mut BufReader::new(&[][..]));
    let (models, _) =
        tobj::load_obj_buf(&mut BufReader::new(bytes), &options, no_materials).map_err(|error| error.to_string())?;
    let mut all = MeshFile::default();
    for tobj::Model { mesh, .. } in models {
        let first = (all.positions.len() / 3) as u32;
        all.positions.extend(&mesh.positions);
        all.normals.extend(&mesh.normals);
        // OBJ puts v = 0 at the bottom of a picture and WebGPU at its top.
        all.uvs.extend(mesh.texcoords.chunks_exact(2).flat_map(|uv| [uv[0], 1.0 - uv[1]]));
        all.colors.extend(mesh.vertex_color.chunks_exact(3).flat_map(|rgb| [rgb[0], rgb[1], rgb[2], 1.0]));
        // tobj leaves the arities out where all faces are triangles.
        let triangles = vec![3; if mesh.face_arities.is_empty() { mesh.indices.len() / 3 } else { 0 }];
        let mut rest = mesh.indices.as_slice();
        for arity in mesh.face_arities.iter().chain(&triangles) {
            let (polygon, others) = rest.split_at((*arity as usize).min(rest.len()));
            let polygon: Vec<u32> = polygon.iter().map(|index| index.saturating_add(first)).collect();
            polygons.push(&polygon, &mut all.indices)?;
            rest = others;
        }
    }
    Ok(all)
}

fn ply(bytes: &[u8], _: &Path, polygons: Polygons) -> Result<MeshFile, String> {
    let parsed =
        Parser::<DefaultElement>::new().read_ply(&mut Cursor::new(bytes)).map_err(|error| error.to_string())?;
    let mut mesh = MeshFile::default();
    let number =
        |vertex: &DefaultElement, names: &[&str]| names.iter().find_map(|name| vertex.get(*name)?.to_f32_lossy());
    for vertex in parsed.payload.get("vertex").map_or(&[][..], Vec::as_slice) {
        for axis in ["x", "y", "z"] {
            mesh.positions.push(number(vertex, &[axis]).ok_or_else(|| format!("a vertex has no {axis}"))?);
        }
        mesh.normals.extend(["nx", "ny", "nz"].iter().filter_map(|axis| number(vertex, &[axis])));
        let uv = [["u", "s", "texture_u"], ["v", "t", "texture_v"]];
        mesh.uvs.extend(uv.iter().filter_map(|names| number(vertex, names)));
        let color: Vec<f32> = ["red", "green", "blue"].iter().filter_map(|name| color(vertex.get(*name)?)).collect();
        if let [red, green, blue] = color[..] {
            let alpha = vertex.get("alpha").and_then(self::color);
            mesh.colors.extend([red, green, blue, alpha.unwrap_or(1.0)]);
        }
    }
    for face in parsed.payload.get("face").map_or(&[][..], Vec::as_slice) {
        let corners = face.get("vertex_indices").or_else(|| face.get("vertex_index"));
        let corners = corners.and_then(Property::to_u32_list).ok_or("a face has no list of vertex_indices")?;
        polygons.push(&corners, &mut mesh.indices)?;
    }
    Ok(mesh)
}

/// A color from 0 to 1: floats are so already, and bytes are of 255.
fn color(property: &Property) -> Option<f32> {
    match property {
        Property::Float(_) | Property::Double(_) => property.to_f32_lossy(),
        _ => Some(f32::from(property.to_u8_color_lossy()?) / 255.0),
    }
}

fn gltf(bytes: &[u8], folder: &Path, polygons: Polygons) -> Result<MeshFile, String> {
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(bytes).map_err(|error| error.to_string())?;
    let mut buffers = Vec::new();
    let mut blob = blob;
    for buffer in document.buffers() {
        let data = match buffer.source() {
            gltf::buffer::Source::Bin => blob.take().ok_or("its binary chunk is missing")?,
            gltf::buffer::Source::Uri(uri) => match uri.split_once(";base64,") {
                Some((head, text)) if head.starts_with("data:") => {
                    STANDARD.decode(text).map_err(|error| format!("its buffer {}: {error}", buffer.index()))?
                }
                _ => read_file(folder, uri, &Place::default())
                    .map_err(|error| error.to_string().trim_start_matches(": ").to_owned())?,
            },
        };
        if data.len() < buffer.length() {
            return Err(format!("its buffer {} has {} bytes of {}", buffer.index(), data.len(), buffer.length()));
        }
        buffers.push(data);
    }
    check_views(&document)?;
    let scene = document.default_scene().or_else(|| document.scenes().next()).ok_or("it has no scene")?;
    let mut mesh = MeshFile::default();
    for node in scene.nodes() {
        add_node(&node, Mat4::IDENTITY, &buffers, polygons, &mut mesh, 0)?;
    }
    Ok(mesh)
}

/// The library takes it that accessors lie within their views and buffers.
fn check_views(document: &gltf::Document) -> Result<(), String> {
    for view in document.views() {
        if view.offset().saturating_add(view.length()) > view.buffer().length() {
            return Err(format!("its buffer view {} ends beyond its buffer", view.index()));
        }
    }
    for accessor in document.accessors() {
        let Some(view) = accessor.view() else { continue };
        if accessor.sparse().is_some() {
            return Err(format!("its accessor {} is sparse, which is not read", accessor.index()));
        }
        let stride = view.stride().unwrap_or(accessor.size());
        let before = accessor.count().saturating_sub(1).saturating_mul(stride);
        let end = accessor.offset().saturating_add(before).saturating_add(accessor.size());
        if accessor.count() == 0 || end > view.length() {
            return Err(format!("its accessor {} ends beyond its buffer view", accessor.index()));
        }
    }
    Ok(())
}

/// The library takes it that attributes have the types that glTF allows them.
fn check_primitive(primitive: &gltf::Primitive<'_>) -> Result<(), String> {
    use gltf::Semantic;
    use gltf::accessor::{DataType as T, Dimensions as D};
    let fits = |accessor: &gltf::Accessor<'_>, types: &[T], dimensions: &[D]| {
        types.contains(&accessor.data_type())
            && dimensions.contains(&accessor.dimensions())
            && accessor.view().is_some()
    };
    let fractions = [T::F32, T::U8, T::U16];
    for (semantic, accessor) in primitive.attributes() {
        let right = match semantic {
            Semantic::Positions | Semantic::Normals => fits(&accessor, &[T::F32], &[D::Vec3]),
            Semantic::TexCoords(_) => fits(&accessor, &fractions, &[D::Vec2]),
            Semantic::Colors(_) => fits(&accessor, &fractions, &[D::Vec3, D::Vec4]),
            _ => true,
        };
        if !right {
            return Err(format!("its accessor {} is not of a type that {semantic:?} may have", accessor.index()));
        }
    }
    match primitive.indices() {
        Some(accessor) if !fits(&accessor, &[T::U8, T::U16, T::U32], &[D::Scalar]) => {
            Err(format!("its accessor {} is not of a type that indices may have", accessor.index()))
        }
        _ => Ok(()),
    }
}

/// How deep nodes may be nested; glTF's are trees, and a file that is none has to come to an end.
const MOST_DEPTH: u32 = 64;

fn add_node(
    node: &gltf::Node<'_>,
    parent: Mat4,
    buffers: &[Vec<u8>],
    polygons: Polygons,
    mesh: &mut MeshFile,
    depth: u32,
) -> Result<(), String> {
    if depth > MOST_DEPTH {
        return Err(format!("its nodes are nested deeper than {MOST_DEPTH}"));
    }
    let transform = parent * Mat4::from_cols_array_2d(&node.transform().matrix());
    let normals = Mat3::from_mat4(transform).inverse_or_zero().transpose();
    for primitive in node.mesh().iter().flat_map(|mesh| mesh.primitives()) {
        if primitive.mode() != gltf::mesh::Mode::Triangles {
            return Err(format!("it has a primitive of {:?}, and only Triangles are read", primitive.mode()));
        }
        if polygons.corners != 3 {
            return Err(format!("it is made of triangles, and a patch takes {} control points", polygons.corners));
        }
        check_primitive(&primitive)?;
        let reader = primitive.reader(|buffer| buffers.get(buffer.index()).map(Vec::as_slice));
        let first = (mesh.positions.len() / 3) as u32;
        let positions = reader.read_positions().ok_or("a primitive has no POSITION")?;
        mesh.positions.extend(positions.flat_map(|p| transform.transform_point3(Vec3::from(p)).to_array()));
        let turned = reader.read_normals().into_iter().flatten();
        mesh.normals.extend(turned.flat_map(|n| (normals * Vec3::from(n)).normalize_or_zero().to_array()));
        mesh.uvs.extend(reader.read_tex_coords(0).into_iter().flat_map(|uvs| uvs.into_f32()).flatten());
        mesh.colors.extend(reader.read_colors(0).into_iter().flat_map(|colors| colors.into_rgba_f32()).flatten());
        let vertices = (mesh.positions.len() / 3) as u32 - first;
        match reader.read_indices() {
            Some(indices) => mesh.indices.extend(indices.into_u32().map(|index| index.saturating_add(first))),
            None => mesh.indices.extend(first..first + vertices),
        }
    }
    for child in node.children() {
        add_node(&child, transform, buffers, polygons, mesh, depth + 1)?;
    }
    Ok(())
}
