//! Export as Wavefront OBJ.

use std::io::{self, Write};

use super::Mesh;
use super::members::{Columns, ExportMembers};
use crate::tessellator::OutputTopology;

impl Mesh {
    /// Writes the mesh as Wavefront OBJ: `v`, `vt`, `vn`, then `f`, `l` or `p`. Numbers are the shortest decimals that give
    /// the same 32 bits again; v of texture coordinates is 1 minus the member's, since OBJ counts it from the bottom.
    ///
    /// # Errors
    /// The writer's, and [`io::ErrorKind::InvalidInput`] where the output struct has no such member.
    pub fn write_obj(&self, to: &mut impl Write, members: &ExportMembers<'_>) -> io::Result<()> {
        let Columns { positions, normals, uvs } = Columns::new(self, members)?;
        for [x, y, z] in positions {
            writeln!(to, "v {x} {y} {z}")?;
        }
        for [u, v] in uvs.iter().flatten() {
            writeln!(to, "vt {u} {}", 1.0 - v)?;
        }
        for [x, y, z] in normals.iter().flatten() {
            writeln!(to, "vn {x} {y} {z}")?;
        }
        let keyword = match self.topology {
            OutputTopology::Point => "p",
            OutputTopology::Line => "l",
            OutputTopology::TriangleCw | OutputTopology::TriangleCcw => "f",
        };
        for primitive in self.indices.chunks_exact(self.topology.vertices_per_primitive() as usize) {
            write!(to, "{keyword}")?;
            for index in primitive {
                let number = u64::from(*index) + 1;
                match (keyword, &uvs, &normals) {
                    ("f", None, Some(_)) => write!(to, " {number}//{number}")?,
                    ("f", Some(_), None) => write!(to, " {number}/{number}")?,
                    ("f", Some(_), Some(_)) => write!(to, " {number}/{number}/{number}")?,
                    _ => write!(to, " {number}")?,
                }
            }
            writeln!(to)?;
        }
        Ok(())
    }
}
