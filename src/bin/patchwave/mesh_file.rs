//! Tessellated meshes as files: OBJ, PLY or GLB by the name's ending.

use std::path::{Path, PathBuf};

use anyhow::Context;
use patchwave::Mesh;
use patchwave::mesh::ExportMembers;

use crate::output::{self, Usage};

/// The mesh files that a verb can write.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct MeshArgs {
    /// Also write the tessellated mesh; the name ends in .obj, .ply or .glb
    #[arg(long, value_name = "FILE")]
    mesh: Option<PathBuf>,
    /// Also write the tessellated mesh as Wavefront OBJ, whatever the name ends in
    #[arg(long, value_name = "FILE")]
    obj: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Obj,
    Ply,
    Glb,
}

/// A mesh file that is known to be writable.
pub(crate) struct PreparedMesh<'a> {
    path: &'a Path,
    format: Format,
    file: output::Prepared<'a>,
}

impl MeshArgs {
    /// The files, before any work is done for them.
    ///
    /// # Errors
    /// [`Usage`] where a name has no ending that tells its format, or is `other`'s or that of both.
    pub(crate) fn prepared(&self, other: Option<&Path>) -> anyhow::Result<Vec<PreparedMesh<'_>>> {
        let obj = self.obj.as_deref().map(|path| (path, Format::Obj));
        let mesh = self.mesh.as_deref().map(|path| format(path).map(|format| (path, format))).transpose()?;
        let options = [(other, "--output"), (self.mesh.as_deref(), "--mesh"), (self.obj.as_deref(), "--obj")];
        for (i, (path, option)) in options.iter().enumerate() {
            let twin = options[..i].iter().find(|(other, _)| path.is_some() && other == path);
            if let (Some((_, twin)), Some(path)) = (twin, path) {
                return Err(Usage(format!("{twin} and {option} are both {}; name two files", path.display())).into());
            }
        }
        let files = mesh.into_iter().chain(obj);
        files.map(|(path, format)| Ok(PreparedMesh { path, format, file: output::Prepared::new(path)? })).collect()
    }
}

fn format(path: &Path) -> Result<Format, Usage> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("obj") => Ok(Format::Obj),
        Some("ply") => Ok(Format::Ply),
        Some("glb") => Ok(Format::Glb),
        Some(other) => {
            Err(Usage(format!("'.{other}' is no mesh format; --mesh takes a name that ends in .obj, .ply or .glb")))
        }
        None => Err(Usage(format!("'{}' does not tell a mesh format; end it in .obj, .ply or .glb", path.display()))),
    }
}

impl PreparedMesh<'_> {
    /// Writes the file whole or not at all.
    pub(crate) fn write(self, mesh: &Mesh, members: &ExportMembers<'_>) -> anyhow::Result<()> {
        let mut bytes = Vec::new();
        let written = match self.format {
            Format::Obj => mesh.write_obj(&mut bytes, members),
            Format::Ply => mesh.write_ply(&mut bytes, members),
            Format::Glb => mesh.write_glb(&mut bytes, members),
        };
        written.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.file.write(&bytes)
    }
}
