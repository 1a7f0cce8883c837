//! Meshes in the OBJ format, as PN triangles need them.

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::path::Path;

use anyhow::Context;
use glam::Vec3;

/// Triangles with a normal and a colour at each vertex, standing on z = 0: within 1 of the z axis and at most 1.7 high.
pub(crate) struct Mesh {
    /// Position, normal, colour.
    pub(crate) vertices: Vec<[[f32; 3]; 3]>,
    /// Three a triangle, counter-clockwise from outside.
    pub(crate) indices: Vec<u32>,
    /// Half its extent along x and y.
    pub(crate) radii: [f32; 2],
    /// Triangles of the file that are left out.
    pub(crate) degenerate: usize,
    /// Places with more than one normal, where the smooth surface gapes.
    pub(crate) torn: usize,
}

impl Mesh {
    /// Reads a file, or the duck; with the file's normals, or with none.
    pub(crate) fn load(file: Option<&Path>, is_y_up: bool, with_normals: bool) -> anyhow::Result<Self> {
        let bytes = match file {
            None => include_bytes!("../../assets/meshes/duck.obj").to_vec(),
            Some(file) => std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?,
        };
        let load = tobj::LoadOptions { triangulate: true, single_index: true, ..tobj::LoadOptions::default() };
        let load = tobj::LoadOptions { ignore_lines: true, ignore_points: true, ..load };
        let name = file.map_or("the duck".into(), |file| file.to_string_lossy());
        let no_materials = |_: &Path| Ok(Default::default());
        let (models, _) = tobj::load_obj_buf(&mut Cursor::new(bytes), &load, no_materials)
            .with_context(|| format!("{name} is no OBJ file that can be read"))?;
        let up = |[x, y, z]: [f32; 3]| if is_y_up { Vec3::new(x, -z, y) } else { Vec3::new(x, y, z) };
        let (mut points, mut normals, mut colors, mut triangles) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for tobj::Model { mesh, .. } in models {
            let first = points.len() as u32;
            points.extend(mesh.positions.as_chunks().0.iter().copied().map(up));
            // Where only some of a model's vertices have normals, which ones is not known.
            if with_normals && mesh.normals.len() == mesh.positions.len() {
                normals.extend(mesh.normals.as_chunks().0.iter().copied().map(up));
            }
            normals.resize(points.len(), Vec3::ZERO);
            if mesh.vertex_color.len() == mesh.positions.len() {
                colors.extend(mesh.vertex_color.as_chunks::<3>().0);
            }
            colors.resize(points.len(), [0.10, 0.30, 0.42]);
            triangles.extend(mesh.indices.as_chunks().0.iter().map(|triangle: &[u32; 3]| triangle.map(|i| i + first)));
        }
        let area = |[a, b, c]: [u32; 3]| {
            let [a, b, c] = [a, b, c].map(|i| points[i as usize]);
            (b - a).cross(c - a)
        };
        // A triangle that is a line or a point (or not a number) has no side to light and nothing to smooth.
        let read = triangles.len();
        triangles.retain(|triangle| area(*triangle).length_squared() > 0.0);
        anyhow::ensure!(!triangles.is_empty(), "{name} has no triangles");

        // Normals that are missing: those of the triangles around, by area; of all vertices at the same place, so that a
        // seam of texture coordinates does not tear open.
        let mut around: HashMap<[u32; 3], Vec3> = HashMap::new();
        let place = |i: u32| points[i as usize].to_array().map(f32::to_bits);
        for triangle in &triangles {
            triangle.iter().for_each(|i| *around.entry(place(*i)).or_default() += area(*triangle));
        }
        for (i, normal) in (0..).zip(&mut normals) {
            *normal = normal.try_normalize().or_else(|| around.get(&place(i))?.try_normalize()).unwrap_or(Vec3::Z);
        }
        let mut normals_at: HashMap<[u32; 3], HashSet<[u32; 3]>> = HashMap::new();
        for i in triangles.as_flattened() {
            normals_at.entry(place(*i)).or_default().insert(normals[*i as usize].to_array().map(f32::to_bits));
        }

        let used = || triangles.as_flattened().iter().map(|i| points[*i as usize]);
        let (low, high) = used().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
        let middle = (0.5 * (low + high)).with_z(low.z);
        let scale = 1.0 / (0.5 * (high - low).truncate().length()).max((high.z - low.z) / 1.7);
        let place = |((p, n), c): ((&Vec3, &Vec3), &[f32; 3])| [(scale * (p - middle)).to_array(), n.to_array(), *c];
        Ok(Self {
            vertices: points.iter().zip(&normals).zip(&colors).map(place).collect(),
            radii: (0.5 * scale * (high - low).truncate()).to_array(),
            degenerate: read - triangles.len(),
            torn: normals_at.values().filter(|normals| normals.len() > 1).count(),
            indices: triangles.into_flattened(),
        })
    }
}
