//! A scene, read and checked as far as that goes without a device.

use std::path::Path;

use anyhow::Context;
use patchwave::shader::StageNames;
use patchwave::{Domain, OutputTopology, Partitioning};

use super::buffers::{IndexData, VertexData, read_file};
use super::camera::Camera;
use super::draws::Call;
use super::file::{Hull, SceneFile};
use super::meshes::Polygons;
use super::place::{Complaint, Place, SceneText, suggestion};
use super::value::Value;
use crate::scene::mode::Mode;

/// A scene with its data.
pub(crate) struct Scene {
    pub(crate) text: SceneText,
    pub(crate) file: SceneFile,
    pub(super) shader: String,
    /// The shader as messages call it.
    pub(super) shader_name: String,
    pub(super) names: StageNames,
    pub(super) constants: Vec<(String, f64)>,
    pub(super) domain: Domain,
    pub(crate) partitioning: Partitioning,
    pub(super) topology: OutputTopology,
    pub(super) vertex: Vec<VertexData>,
    pub(super) index: Option<IndexData>,
    pub(super) calls: Vec<Call>,
    pub(crate) camera: Option<Camera>,
}

impl Scene {
    /// Reads a scene file and all that it names.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        anyhow::ensure!(
            !path.is_dir(),
            "cannot read {shown}: it is a folder; name a scene file, or see 'patchwave test'"
        );
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let text = SceneText { path: path.to_owned(), text };
        let file = SceneFile::read(&text)?;
        Self::new(&text, file).map_err(|complaint| text.located(complaint.into()))
    }

    fn new(text: &SceneText, file: SceneFile) -> Result<Self, Complaint> {
        let folder = text.folder();
        let place = Place::new("shader");
        let (shader, shader_name) = match (&file.shader.file, &file.shader.text) {
            (Some(name), None) => {
                let bytes = read_file(folder, name, &place.key("file"))?;
                let refuse = |_| place.key("file").complain(format!("{name} is not UTF-8 text"));
                (String::from_utf8(bytes).map_err(refuse)?, name.clone())
            }
            (None, Some(text)) => (text.clone(), "shader.text".to_owned()),
            (Some(_), Some(_)) => {
                return Err(place.key("text").complain("a file is given as well; leave one of them out"));
            }
            (None, None) => return Err(place.complain("give the shader's file or its text")),
        };
        let names = StageNames::default();
        let names = StageNames {
            vertex: file.shader.vertex.clone().unwrap_or(names.vertex),
            hull: match &file.shader.hull {
                None => names.hull,
                Some(Hull::Named(name)) => Some(name.clone()),
                Some(Hull::PassThrough) => None,
            },
            patch_constants: file.shader.patch_constants.clone().unwrap_or(names.patch_constants),
            domain: file.shader.domain.clone().unwrap_or(names.domain),
        };
        let constants = file.shader.constants.iter().map(|(key, value)| {
            let number = match value {
                Value::Bool(value) => Ok(f64::from(u8::from(*value))),
                value => value.double(),
            };
            let number = number.map_err(|message| place.key("constants").key(key).complain(message))?;
            Ok((key.clone(), number))
        });
        let constants = constants.collect::<Result<_, _>>()?;

        let domain = named(&file.state.domain, "domain", &Domain::ALL.map(Domain::name))?;
        let partitioning = match &file.state.partitioning {
            None => Partitioning::Integer,
            Some(name) => named(name, "partitioning", &Partitioning::ALL.map(Partitioning::name))?,
        };
        let usual = if domain == Domain::Isoline { OutputTopology::Line } else { OutputTopology::TriangleCw };
        let topology = match &file.state.topology {
            None => usual,
            Some(name) => named(name, "topology", &OutputTopology::ALL.map(OutputTopology::name))?,
        };

        let polygons = Polygons { corners: file.state.input_control_points, triangulate: false };
        let buffers = file.vertex_buffers.iter().enumerate();
        let buffers = buffers.map(|(i, buffer)| {
            let place = Place::new("vertex_buffers").at(i);
            VertexData::new(buffer, folder, polygons, &place)
        });
        let vertex: Vec<VertexData> = buffers.collect::<Result<_, _>>()?;
        let index =
            file.indices.as_ref().map(|indices| IndexData::new(indices, folder, polygons, &Place::new("indices")));
        let index = index.transpose()?;
        let calls = Call::all(&file, &vertex, index.as_ref())?;
        let camera = match &file.target {
            None => None,
            Some(target) if target.size.iter().all(|side| (1..=8192).contains(side)) => Camera::new(target)?,
            Some(_) => return Err(Place::new("target").key("size").complain("width and height are each 1 to 8192")),
        };
        Ok(Self {
            text: text.clone(),
            shader,
            shader_name,
            names,
            constants,
            domain,
            partitioning,
            topology,
            vertex,
            index,
            calls,
            camera,
            file,
        })
    }

    /// The mode that the file asks for.
    pub(crate) fn mode(&self) -> Mode {
        self.file.tessellation.mode.unwrap_or(Mode::Onchip)
    }
}

/// What one of the library's names stands for.
fn named<T: std::str::FromStr>(name: &str, key: &str, known: &[&str]) -> Result<T, Complaint> {
    name.parse().map_err(|_| {
        let hint = suggestion(name, known.iter().copied());
        Place::new("state").key(key).complain(format!("'{name}' is no {key}{hint}"))
    })
}
