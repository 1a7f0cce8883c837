//! Export as Wavefront OBJ.

use std::io::{self, Write};

use super::Mesh;
use crate::tessellator::OutputTopology;

/// Which members of the output struct an OBJ takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjOptions<'a> {
    /// The member with the position, its first three components; by default the `@builtin(position)`.
    pub position: Option<&'a str>,
    /// The member with the normal, its first three components; none by default.
    pub normal: Option<&'a str>,
}

impl Mesh {
    /// Writes the mesh as Wavefront OBJ: `v`, `vn`, then `f`, `l` or `p`.
    ///
    /// # Errors
    /// The writer's, and [`io::ErrorKind::InvalidInput`] where the output struct has no such member.
    pub fn write_obj(&self, to: &mut impl Write, options: &ObjOptions<'_>) -> io::Result<()> {
        let missing = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("the mesh has no {what}"));
        let position = options
            .position
            .or_else(|| self.position_member())
            .ok_or_else(|| missing("position; name the member that is one"))?;
        let positions = self.member(position).ok_or_else(|| missing(position))?;
        write_vectors(to, "v", &positions)?;
        if let Some(normal) = options.normal {
            let normals = self.member(normal).ok_or_else(|| missing(normal))?;
            write_vectors(to, "vn", &normals)?;
        }
        let (keyword, per_primitive) = match self.topology {
            OutputTopology::Point => ("p", 1),
            OutputTopology::Line => ("l", 2),
            OutputTopology::TriangleCw | OutputTopology::TriangleCcw => ("f", 3),
        };
        for primitive in self.indices.chunks_exact(per_primitive) {
            write!(to, "{keyword}")?;
            for index in primitive {
                let number = u64::from(*index) + 1;
                if options.normal.is_some() && keyword == "f" {
                    write!(to, " {number}//{number}")?;
                } else {
                    write!(to, " {number}")?;
                }
            }
            writeln!(to)?;
        }
        Ok(())
    }
}

fn write_vectors(to: &mut impl Write, keyword: &str, values: &[Vec<f32>]) -> io::Result<()> {
    for value in values {
        let at = |i: usize| value.get(i).copied().unwrap_or(0.0);
        writeln!(to, "{keyword} {} {} {}", at(0), at(1), at(2))?;
    }
    Ok(())
}
