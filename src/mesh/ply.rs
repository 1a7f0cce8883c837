//! Export as PLY.

use std::io::{self, Write};

use ply_rs_bw::ply::{ElementDef, Encoding, Header, PropertyAccess, PropertyDef, PropertyType, ScalarType};
use ply_rs_bw::writer::Writer;

use super::Mesh;
use super::members::{Columns, ExportMembers};
use crate::tessellator::OutputTopology;

/// Properties of a vertex: position, normal, texture coordinates.
const COLUMNS: [&str; 8] = ["x", "y", "z", "nx", "ny", "nz", "s", "t"];
const FACE: &str = "vertex_indices";
const EDGE: [&str; 2] = ["vertex1", "vertex2"];

/// An element on its way into the file.
struct Row<'a> {
    /// Of a vertex, in the order of [`COLUMNS`].
    floats: [f32; 8],
    /// Of a face or an edge.
    indices: &'a [u32],
}

impl PropertyAccess for Row<'_> {
    fn new() -> Self {
        Self { floats: [0.0; 8], indices: &[] }
    }

    fn get_float(&self, key: &str) -> Option<f32> {
        self.floats.get(COLUMNS.iter().position(|column| *column == key)?).copied()
    }

    fn get_uint(&self, key: &str) -> Option<u32> {
        self.indices.get(EDGE.iter().position(|end| *end == key)?).copied()
    }

    fn get_list_uint(&self, key: &str) -> Option<&[u32]> {
        (key == FACE).then_some(self.indices)
    }
}

impl Mesh {
    /// Writes the mesh as PLY, binary and little-endian, so that all bits are kept: vertices of `x y z`, `nx ny nz` and
    /// `s t`, as far as `members` has them; triangles as faces (`vertex_indices`), lines as edges (`vertex1`, `vertex2`).
    /// PLY knows no points but vertices.
    ///
    /// # Errors
    /// The writer's, and [`io::ErrorKind::InvalidInput`] where the output struct has no such member.
    pub fn write_ply(&self, to: &mut impl Write, members: &ExportMembers<'_>) -> io::Result<()> {
        let Columns { positions, normals, uvs } = Columns::new(self, members)?;
        let scalar = |name: &str, ty| PropertyDef::new(name.to_owned(), PropertyType::Scalar(ty));
        // Positions are three columns, normals the next three, texture coordinates the last two.
        let (normal, uv) = (normals.is_some(), uvs.is_some());
        let present = |column: usize| column < 3 || if column < 6 { normal } else { uv };
        let columns = COLUMNS.iter().enumerate().filter(|(column, _)| present(*column));
        let properties = columns.map(|(_, name)| scalar(name, ScalarType::Float));
        let vertex = element("vertex", positions.len(), properties);

        let size = self.topology.vertices_per_primitive() as usize;
        let primitives = self.indices.len() / size;
        let primitive = match self.topology {
            OutputTopology::Point => None,
            OutputTopology::Line => Some(element("edge", primitives, EDGE.map(|end| scalar(end, ScalarType::UInt)))),
            OutputTopology::TriangleCw | OutputTopology::TriangleCcw => {
                let corners = PropertyType::List(ScalarType::UChar, ScalarType::UInt);
                Some(element("face", primitives, [PropertyDef::new(FACE.to_owned(), corners)]))
            }
        };
        let mut header = Header::new();
        header.encoding = Encoding::BinaryLittleEndian;
        for element in std::iter::once(&vertex).chain(&primitive) {
            header.elements.insert(element.name.clone(), element.clone());
        }
        let writer = Writer::<Row<'_>>::new();
        writer.write_header(to, &header)?;
        for (i, [x, y, z]) in positions.into_iter().enumerate() {
            let [nx, ny, nz] = normals.as_ref().and_then(|normals| normals.get(i).copied()).unwrap_or_default();
            let [s, t] = uvs.as_ref().and_then(|uvs| uvs.get(i).copied()).unwrap_or_default();
            let row = Row { floats: [x, y, z, nx, ny, nz, s, t], indices: &[] };
            writer.write_little_endian_element(to, &row, &vertex)?;
        }
        if let Some(primitive) = primitive {
            for indices in self.indices.chunks_exact(size) {
                writer.write_little_endian_element(to, &Row { floats: [0.0; 8], indices }, &primitive)?;
            }
        }
        to.flush()
    }
}

fn element(name: &str, count: usize, properties: impl IntoIterator<Item = PropertyDef>) -> ElementDef {
    let mut element = ElementDef::new(name.to_owned());
    element.count = count;
    for property in properties {
        element.properties.insert(property.name.clone(), property);
    }
    element
}
