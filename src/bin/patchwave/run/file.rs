//! The scene file as it is written. What a key means is told in `docs/scenes.md`; what does not hold together is found
//! where it is used, by its place.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::place::SceneText;
use super::value::Value;
use crate::scene::mode::Mode;

/// A whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SceneFile {
    /// One line on what the scene is for.
    pub(crate) about: Option<String>,
    pub(crate) shader: Shader,
    pub(crate) state: State,
    #[serde(default)]
    pub(crate) tessellation: Parameters,
    #[serde(default)]
    pub(crate) vertex_buffers: Vec<VertexBuffer>,
    pub(crate) indices: Option<Indices>,
    #[serde(default)]
    pub(crate) draws: Vec<DrawEntry>,
    #[serde(default)]
    pub(crate) bindings: BTreeMap<String, Binding>,
    pub(crate) workspace: Option<WorkspaceSizes>,
    pub(crate) target: Option<Target>,
    pub(crate) expect: Option<Expect>,
}

impl SceneFile {
    /// Reads a file's text.
    pub(crate) fn read(scene: &SceneText) -> anyhow::Result<Self> {
        toml::from_str(&scene.text).map_err(|error| scene.unreadable(&error))
    }

    /// The files that the scene names, as it names them.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        let buffers = self.vertex_buffers.iter().map(|buffer| &buffer.file);
        let bindings = self.bindings.values().map(|binding| &binding.file);
        let indices = self.indices.iter().map(|indices| &indices.file);
        let named = std::iter::once(&self.shader.file).chain(buffers).chain(indices).chain(bindings).flatten();
        let image = self.expect.iter().filter_map(|expect| expect.image.as_ref()).map(|image| &image.file);
        named.chain(image).map(String::as_str)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shader {
    pub(crate) file: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) vertex: Option<String>,
    pub(crate) hull: Option<Hull>,
    pub(crate) patch_constants: Option<String>,
    pub(crate) domain: Option<String>,
    #[serde(default)]
    pub(crate) constants: BTreeMap<String, Value>,
}

/// The hull function's name, or `false` where there is none.
#[derive(Clone, Debug)]
pub(crate) enum Hull {
    Named(String),
    PassThrough,
}

impl<'de> Deserialize<'de> for Hull {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Text(name) => Ok(Self::Named(name)),
            Value::Bool(false) => Ok(Self::PassThrough),
            other => Err(serde::de::Error::custom(format!(
                "{} is no hull function; write its name, or false to pass control points through",
                other.kind()
            ))),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    pub(crate) domain: String,
    pub(crate) partitioning: Option<String>,
    pub(crate) topology: Option<String>,
    pub(crate) input_control_points: u32,
    pub(crate) output_control_points: Option<u32>,
    pub(crate) maximum_factor: Option<f32>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameters {
    pub(crate) mode: Option<Mode>,
    pub(crate) patches_per_threadgroup: Option<u32>,
    pub(crate) factor_threshold: Option<f32>,
    pub(crate) wave_threshold: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VertexBuffer {
    pub(crate) stride: Option<u64>,
    #[serde(default)]
    pub(crate) step: Step,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) data: Option<Value>,
    pub(crate) file: Option<String>,
    /// Bytes of a raw file to leave out at its beginning.
    #[serde(default)]
    pub(crate) skip: u64,
    #[serde(default)]
    pub(crate) triangulate: bool,
}

/// What a vertex buffer's elements belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Step {
    #[default]
    Vertex,
    Instance,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attribute {
    pub(crate) location: u32,
    pub(crate) format: String,
    pub(crate) offset: Option<u64>,
    pub(crate) from: Option<MeshData>,
}

/// What an attribute takes of a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MeshData {
    Positions,
    Normals,
    Uvs,
    Colors,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Indices {
    pub(crate) format: Option<IndexFormat>,
    pub(crate) data: Option<Value>,
    pub(crate) file: Option<String>,
    #[serde(default)]
    pub(crate) skip: u64,
    #[serde(default)]
    pub(crate) triangulate: bool,
    /// Whether an index of all ones cuts patches off.
    #[serde(default)]
    pub(crate) strip_cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum IndexFormat {
    Uint16,
    Uint32,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DrawEntry {
    pub(crate) vertices: Option<u32>,
    pub(crate) first_vertex: Option<u32>,
    pub(crate) indices: Option<u32>,
    pub(crate) first_index: Option<u32>,
    pub(crate) base_vertex: Option<i32>,
    pub(crate) instances: Option<u32>,
    pub(crate) first_instance: Option<u32>,
    /// The records of an indirect draw.
    pub(crate) indirect: Option<Vec<Vec<i64>>>,
    pub(crate) offset: Option<u64>,
    pub(crate) stride: Option<u64>,
    pub(crate) most_patches: Option<u32>,
    pub(crate) most_instances: Option<u32>,
}

/// A resource of the shader's, by its variable's name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Binding {
    pub(crate) value: Option<Value>,
    pub(crate) file: Option<String>,
    pub(crate) bytes: Option<u64>,
    pub(crate) format: Option<String>,
    pub(crate) size: Option<Vec<u32>>,
    pub(crate) texels: Option<Value>,
    pub(crate) filter: Option<Filter>,
    pub(crate) address: Option<Address>,
    pub(crate) compare: Option<Compare>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Filter {
    Nearest,
    Linear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Address {
    Clamp,
    Repeat,
    Mirror,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Compare {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkspaceSizes {
    pub(crate) patches: Option<u32>,
    pub(crate) threadgroups: Option<u32>,
    pub(crate) off_chip_threadgroups: Option<u32>,
    pub(crate) draws: Option<u32>,
    pub(crate) vertices: Option<u32>,
    pub(crate) primitives: Option<u32>,
    /// The most bytes of a buffer; the draw is split into chunks.
    pub(crate) chunk_bytes: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    pub(crate) size: [u32; 2],
    pub(crate) background: Option<String>,
    pub(crate) position: Option<String>,
    pub(crate) normal: Option<String>,
    pub(crate) color: Option<String>,
    pub(crate) color_from: Option<String>,
    #[serde(default)]
    pub(crate) shading: Shading,
    #[serde(default)]
    pub(crate) wireframe: bool,
    pub(crate) camera: Option<CameraEntry>,
}

/// How the built-in fragment shader colours a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shading {
    /// By light from the camera's left and above.
    #[default]
    Lit,
    /// The colour as it is.
    Flat,
    /// The normal's direction as a colour.
    Normals,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CameraEntry {
    pub(crate) eye: [f32; 3],
    #[serde(default)]
    pub(crate) target: [f32; 3],
    pub(crate) up: Option<[f32; 3]>,
    /// Degrees from the bottom of the picture to its top.
    pub(crate) field_of_view: Option<f32>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    pub(crate) error: Option<String>,
    pub(crate) patches: Option<u64>,
    pub(crate) culled: Option<u64>,
    pub(crate) vertices: Option<u64>,
    pub(crate) primitives: Option<u64>,
    pub(crate) threadgroups: Option<u64>,
    pub(crate) off_chip_threadgroups: Option<u64>,
    pub(crate) chunks: Option<u64>,
    #[serde(default)]
    pub(crate) same_in_all_modes: bool,
    #[serde(default)]
    pub(crate) member: Vec<ExpectMember>,
    #[serde(default)]
    pub(crate) indices: Vec<ExpectIndices>,
    #[serde(default)]
    pub(crate) patch: Vec<ExpectPatch>,
    #[serde(default)]
    pub(crate) same: Vec<ExpectSame>,
    #[serde(default)]
    pub(crate) buffers: BTreeMap<String, ExpectBuffer>,
    pub(crate) image: Option<ExpectImage>,
}

/// Values of a member of the output struct.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectMember {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) draw: usize,
    /// The first vertex that `values` tells of: of the draw, or of `patch`.
    #[serde(default)]
    pub(crate) vertex: usize,
    pub(crate) patch: Option<usize>,
    /// Of consecutive vertices.
    pub(crate) values: Option<Value>,
    /// Of all vertices of each of consecutive patches.
    pub(crate) patches: Option<Value>,
    /// Of all vertices.
    pub(crate) all: Option<Value>,
    #[serde(default)]
    pub(crate) tolerance: f64,
    /// Whether all values are finite.
    pub(crate) finite: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectIndices {
    #[serde(default)]
    pub(crate) draw: usize,
    #[serde(default)]
    pub(crate) first: usize,
    pub(crate) values: Value,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectPatch {
    #[serde(default)]
    pub(crate) draw: usize,
    pub(crate) patch: usize,
    pub(crate) factors: Option<Value>,
    pub(crate) vertices: Option<u32>,
    pub(crate) primitives: Option<u32>,
}

/// Pairs of vertices whose member is the same, bit for bit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectSame {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) draw: usize,
    pub(crate) vertices: Vec<[usize; 2]>,
}

/// What a storage buffer holds afterwards.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectBuffer {
    pub(crate) value: Value,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectImage {
    pub(crate) file: String,
    /// By how much a channel of 0 to 255 may differ.
    pub(crate) tolerance: Option<u8>,
    /// The share of pixels that may differ by more.
    pub(crate) outliers: Option<f64>,
}
