//! The native shaders: GLSL of our own, compiled by glslang as the program runs, or SPIR-V that was written elsewhere.

use anyhow::Context;
use patchwave::tessellator::{Domain, OutputTopology, Partitioning};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

macro_rules! sources {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../assets/shaders/native/", $name)))),+]
    };
}

/// Name and text of each source; the name's end is the stage.
const SOURCES: &[(&str, &str)] = sources![
    "points.vert",
    "points.tesc",
    "points.tese",
    "bicubic.vert",
    "bicubic.tesc",
    "bicubic.tese",
    "pn.vert",
    "pn.tesc",
    "pn.tese",
    "teapot.tese",
    "terrain.vert",
    "terrain.tesc",
    "terrain.tese",
    "shade.frag",
];

/// The programs that compile GLSL, by the names that they go under.
const COMPILERS: [&str; 2] = ["glslangValidator", "glslang"];

/// Where there is none.
const ADVICE: &str = "install it (on Debian and Ubuntu the package glslang-tools), or write SPIR-V on a machine that has \
                      it with 'patchwave verify --native --write-spirv DIR' and give that folder as --spirv DIR";

/// One source, compiled with these words in the place of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shader {
    source: &'static str,
    defines: Vec<(&'static str, &'static str)>,
}

impl Shader {
    pub(super) fn plain(source: &'static str) -> Self {
        Self { source, defines: Vec::new() }
    }

    fn with(source: &'static str, defines: &[(&'static str, &'static str)]) -> Self {
        Self { source, defines: defines.to_vec() }
    }

    /// The evaluation shader that hands locations out.
    pub(super) fn points(
        domain: Domain,
        partitioning: Partitioning,
        topology: OutputTopology,
        with_feedback: bool,
    ) -> Self {
        let domain = match domain {
            Domain::Isoline => "isolines",
            Domain::Tri => "triangles",
            Domain::Quad => "quads",
        };
        let order = match topology {
            OutputTopology::Point => "point_mode",
            // Lines have no winding; the word does nothing.
            OutputTopology::Line | OutputTopology::TriangleCw => "cw",
            OutputTopology::TriangleCcw => "ccw",
        };
        let mut shader =
            Self::with("points.tese", &[("DOMAIN", domain), ("SPACING", spacing(partitioning)), ("ORDER", order)]);
        if with_feedback {
            shader.defines.push(("FEEDBACK", "1"));
        }
        shader
    }

    /// An evaluation shader of a surface.
    pub(super) fn surface(source: &'static str, partitioning: Partitioning) -> Self {
        Self::with(source, &[("SPACING", spacing(partitioning))])
    }

    /// The same with one of the source's switches.
    pub(super) fn switched(mut self, switch: &'static str) -> Self {
        self.defines.push((switch, "1"));
        self
    }

    /// The file that its SPIR-V is in.
    fn file_name(&self) -> String {
        let words = self.defines.iter().map(|(name, word)| {
            // A switch goes by its own name.
            format!("-{}", if *word == "1" { name.to_lowercase() } else { (*word).to_owned() })
        });
        format!("{}{}.spv", self.source, words.collect::<String>())
    }
}

/// GLSL's word; integer and pow2 are the same to the tessellator.
fn spacing(partitioning: Partitioning) -> &'static str {
    match partitioning {
        Partitioning::Integer | Partitioning::Pow2 => "equal_spacing",
        Partitioning::FractionalOdd => "fractional_odd_spacing",
        Partitioning::FractionalEven => "fractional_even_spacing",
    }
}

/// The partitionings that native tessellation knows.
pub(super) const PARTITIONINGS: [Partitioning; 3] =
    [Partitioning::Integer, Partitioning::FractionalOdd, Partitioning::FractionalEven];

/// Each domain with each of its output topologies.
pub(super) fn kinds() -> impl Iterator<Item = (Domain, OutputTopology)> {
    Domain::ALL.into_iter().flat_map(|domain| {
        OutputTopology::ALL
            .into_iter()
            .filter(move |topology| topology.is_valid_for(domain))
            .map(move |topology| (domain, topology))
    })
}

/// Every shader that any check or measurement asks for.
fn all() -> Vec<Shader> {
    let plain = [
        "points.vert",
        "points.tesc",
        "bicubic.vert",
        "bicubic.tesc",
        "pn.vert",
        "pn.tesc",
        "terrain.vert",
        "terrain.tesc",
        "shade.frag",
    ];
    let mut all: Vec<_> = plain.map(Shader::plain).to_vec();
    all.extend(["bicubic.vert", "bicubic.tesc"].map(|source| Shader::plain(source).switched("CAPTURE")));
    for partitioning in PARTITIONINGS {
        for (domain, topology) in kinds() {
            all.extend([true, false].map(|feedback| Shader::points(domain, partitioning, topology, feedback)));
        }
        all.extend(
            ["bicubic.tese", "pn.tese", "teapot.tese", "terrain.tese"]
                .map(|source| Shader::surface(source, partitioning)),
        );
        all.extend(["WRITE", "CAPTURE"].map(|switch| Shader::surface("bicubic.tese", partitioning).switched(switch)));
    }
    all
}

/// Where SPIR-V comes from.
pub(crate) struct Shaders {
    from: From,
}

enum From {
    /// A compiler in PATH.
    Compiler(&'static str),
    /// A folder of files.
    Folder(PathBuf),
}

impl Shaders {
    /// From a folder, or from the compiler in PATH.
    ///
    /// # Errors
    /// No folder is given and there is no compiler.
    pub(crate) fn find(folder: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(folder) = folder {
            anyhow::ensure!(folder.is_dir(), "--spirv {}: there is no such folder", folder.display());
            return Ok(Self { from: From::Folder(folder.to_owned()) });
        }
        let answers = |name: &&str| {
            let asked = Command::new(name).arg("--version").stdin(Stdio::null()).output();
            asked.is_ok_and(|output| output.status.success())
        };
        let found = COMPILERS.into_iter().find(answers);
        let compiler = found.with_context(|| format!("no {} in PATH; {ADVICE}", COMPILERS.join(" or ")))?;
        Ok(Self { from: From::Compiler(compiler) })
    }

    /// The SPIR-V of a shader.
    pub(super) fn get(&self, shader: &Shader) -> anyhow::Result<Vec<u32>> {
        let name = shader.file_name();
        let bytes = match &self.from {
            From::Compiler(compiler) => compile(compiler, shader)?,
            From::Folder(folder) => std::fs::read(folder.join(&name)).with_context(|| {
                format!("--spirv {}: {name} cannot be read; write the folder anew with --write-spirv", folder.display())
            })?,
        };
        // What is no SPIR-V must not reach a driver.
        const MAGIC: u32 = 0x0723_0203;
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes[..bytes.len() / 4 * 4]);
        anyhow::ensure!(bytes.len().is_multiple_of(4) && words.first() == Some(&MAGIC), "{name} is no SPIR-V");
        Ok(words)
    }

    /// Writes all SPIR-V there is into a folder; how many files.
    pub(super) fn write_all(&self, folder: &Path) -> anyhow::Result<usize> {
        let all = all();
        for shader in &all {
            let words = self.get(shader)?;
            crate::output::write_file(&folder.join(shader.file_name()), bytemuck::cast_slice(&words))?;
        }
        Ok(all.len())
    }
}

fn compile(compiler: &str, shader: &Shader) -> anyhow::Result<Vec<u8>> {
    let (_, text) = SOURCES
        .iter()
        .find(|(name, _)| *name == shader.source)
        .with_context(|| format!("there is no native shader {}", shader.source))?;
    let stage = shader.source.rsplit('.').next().unwrap_or_default();
    let result = std::env::temp_dir().join(format!("patchwave-{}-{}", std::process::id(), shader.file_name()));
    let mut child = Command::new(compiler)
        .args(["-V", "--target-env", "vulkan1.1", "--stdin", "-S", stage])
        .args(shader.defines.iter().map(|(name, word)| format!("-D{name}={word}")))
        .arg("-o")
        .arg(&result)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{compiler} cannot be started"))?;
    // Dropped at once, so that the compiler sees the end; if it ends early it says why.
    let fed = child.stdin.take().map(|mut stdin| stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().with_context(|| format!("{compiler} cannot be waited for"))?;
    let spirv = std::fs::read(&result);
    let _ = std::fs::remove_file(&result);
    if let Some(Err(error)) = fed
        && error.kind() != ErrorKind::BrokenPipe
    {
        return Err(error).with_context(|| format!("{compiler} cannot be given its source"));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    anyhow::ensure!(output.status.success(), "{compiler} refuses {}: {}", shader.file_name(), said.trim());
    spirv.with_context(|| format!("{compiler} wrote no SPIR-V of {}", shader.file_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names_of_their_own() {
        let mut names: Vec<_> = all().iter().map(Shader::file_name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.contains(&"points.tese-quads-equal_spacing-point_mode-feedback.spv".to_owned()), "{names:?}");
    }

    #[test]
    fn every_shader_has_a_source() {
        for shader in all() {
            assert!(SOURCES.iter().any(|(name, _)| *name == shader.source), "{}", shader.source);
        }
    }
}
