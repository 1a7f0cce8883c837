//! Export as binary glTF 2.0.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use gltf::binary::{Glb, Header};
use gltf::json::accessor::{ComponentType, GenericComponentType, Type};
use gltf::json::buffer::Target;
use gltf::json::mesh::{Mode, Primitive, Semantic};
use gltf::json::validation::Checked::Valid;
use gltf::json::validation::USize64;
use gltf::json::{self, Index, Root, Value};

use super::Mesh;
use super::members::{Columns, ExportMembers};
use crate::tessellator::OutputTopology;

impl Mesh {
    /// Writes the mesh as a GLB file: a scene of one node with one mesh of one primitive, `POSITION`, `NORMAL` and
    /// `TEXCOORD_0` as far as `members` has them, all bits kept, and 32-bit indices of triangles, lines or points in the
    /// mesh's order. Without primitives the node is empty.
    ///
    /// glTF's front faces are counter-clockwise seen from outside; corners are written as they come. The material is
    /// double-sided, so that a surface shows whichever winding its pipeline has.
    ///
    /// # Errors
    /// The writer's, and [`io::ErrorKind::InvalidInput`] where the output struct has no such member, where a position or
    /// a normal is not finite, which glTF does not allow, or where the file would exceed glTF's 4 GiB.
    pub fn write_glb(&self, to: &mut impl Write, members: &ExportMembers<'_>) -> io::Result<()> {
        let Columns { positions, normals, uvs } = Columns::new(self, members)?;
        finite("position", &positions)?;
        finite("normal", normals.as_deref().unwrap_or_default())?;
        finite("texture coordinate", uvs.as_deref().unwrap_or_default())?;
        let mut parts = Parts::default();
        parts.root.asset.generator = Some(format!("patchwave {}", env!("CARGO_PKG_VERSION")));
        let mut node = json::Node::default();
        // An accessor of nothing is not allowed.
        if !self.indices.is_empty() {
            let mut attributes = BTreeMap::new();
            let corners = [f32::min as fn(f32, f32) -> f32, f32::max].map(|pick| bound(&positions, pick));
            let [least, most] = corners.map(|corner| corner.map(|corner| Value::from(corner.to_vec())));
            let place = parts.floats(&positions, Type::Vec3);
            if let Some(accessor) = parts.root.accessors.last_mut() {
                (accessor.min, accessor.max) = (least, most);
            }
            attributes.insert(Valid(Semantic::Positions), place);
            if let Some(normals) = normals {
                attributes.insert(Valid(Semantic::Normals), parts.floats(&normals, Type::Vec3));
            }
            if let Some(uvs) = uvs {
                attributes.insert(Valid(Semantic::TexCoords(0)), parts.floats(&uvs, Type::Vec2));
            }
            let indices = parts.indices(&self.indices);
            let mesh = parts.mesh(attributes, indices, mode(self.topology));
            node.mesh = Some(mesh);
        }
        let nodes = vec![parts.root.push(node)];
        let scene = json::Scene { extensions: None, extras: json::Extras::default(), name: None, nodes };
        parts.root.scene = Some(parts.root.push(scene));
        parts.write(to)
    }
}

/// The document and its binary part, as they grow.
#[derive(Default)]
struct Parts {
    root: Root,
    bytes: Vec<u8>,
}

impl Parts {
    fn floats<const N: usize>(&mut self, values: &[[f32; N]], ty: Type) -> Index<json::Accessor> {
        let bytes = values.iter().flatten().flat_map(|value| value.to_le_bytes());
        self.accessor(bytes, values.len(), ComponentType::F32, ty, Target::ArrayBuffer)
    }

    fn indices(&mut self, indices: &[u32]) -> Index<json::Accessor> {
        let bytes = indices.iter().flat_map(|index| index.to_le_bytes());
        self.accessor(bytes, indices.len(), ComponentType::U32, Type::Scalar, Target::ElementArrayBuffer)
    }

    /// Everything is of words, so that every view begins on one, as it has to.
    fn accessor(
        &mut self,
        bytes: impl Iterator<Item = u8>,
        count: usize,
        component_type: ComponentType,
        type_: Type,
        target: Target,
    ) -> Index<json::Accessor> {
        let begin = self.bytes.len();
        self.bytes.extend(bytes);
        let view = self.root.push(json::buffer::View {
            // The only buffer, which is pushed last.
            buffer: Index::new(0),
            byte_length: USize64::from(self.bytes.len() - begin),
            byte_offset: Some(USize64::from(begin)),
            byte_stride: None,
            name: None,
            target: Some(Valid(target)),
            extensions: None,
            extras: json::Extras::default(),
        });
        self.root.push(json::Accessor {
            buffer_view: Some(view),
            byte_offset: None,
            count: USize64::from(count),
            component_type: Valid(GenericComponentType(component_type)),
            extensions: None,
            extras: json::Extras::default(),
            type_: Valid(type_),
            min: None,
            max: None,
            name: None,
            normalized: false,
            sparse: None,
        })
    }

    fn mesh(
        &mut self,
        attributes: BTreeMap<json::validation::Checked<Semantic>, Index<json::Accessor>>,
        indices: Index<json::Accessor>,
        mode: Mode,
    ) -> Index<json::Mesh> {
        let material = self.root.push(json::Material { double_sided: true, ..json::Material::default() });
        let primitive = Primitive {
            attributes,
            extensions: None,
            extras: json::Extras::default(),
            indices: Some(indices),
            material: Some(material),
            mode: Valid(mode),
            targets: None,
        };
        self.root.push(json::Mesh {
            extensions: None,
            extras: json::Extras::default(),
            name: None,
            primitives: vec![primitive],
            weights: None,
        })
    }

    fn write(mut self, to: &mut impl Write) -> io::Result<()> {
        if !self.bytes.is_empty() {
            self.root.push(json::Buffer {
                byte_length: USize64::from(self.bytes.len()),
                name: None,
                uri: None,
                extensions: None,
                extras: json::Extras::default(),
            });
        }
        let text = json::serialize::to_vec(&self.root).map_err(io::Error::other)?;
        // The header, two chunks' headers, and what pads the chunks to words.
        let length = text.len().saturating_add(self.bytes.len()).saturating_add(12 + 2 * 8 + 2 * 3);
        let length = u32::try_from(length).map_err(|_| {
            let message = format!("the GLB file would have {length} bytes, and glTF allows 4 GiB; write PLY or OBJ");
            io::Error::new(io::ErrorKind::InvalidInput, message)
        })?;
        let glb = Glb {
            // The writer computes the length itself.
            header: Header { magic: *b"glTF", version: 2, length },
            json: Cow::Owned(text),
            bin: (!self.bytes.is_empty()).then_some(Cow::Owned(self.bytes)),
        };
        glb.to_writer(&mut *to).map_err(io::Error::other)?;
        to.flush()
    }
}

/// The least or the greatest of each component; `None` where there are no positions.
fn bound(positions: &[[f32; 3]], pick: fn(f32, f32) -> f32) -> Option<[f32; 3]> {
    positions.iter().copied().reduce(|one, other| std::array::from_fn(|i| pick(one[i], other[i])))
}

fn finite<const N: usize>(what: &str, values: &[[f32; N]]) -> io::Result<()> {
    match values.iter().position(|value| !value.iter().all(|one| one.is_finite())) {
        None => Ok(()),
        Some(vertex) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "the {what} of vertex {vertex} is {:?}, and glTF allows finite numbers only; write PLY",
                values[vertex]
            ),
        )),
    }
}

fn mode(topology: OutputTopology) -> Mode {
    match topology {
        OutputTopology::Point => Mode::Points,
        OutputTopology::Line => Mode::Lines,
        OutputTopology::TriangleCw | OutputTopology::TriangleCcw => Mode::Triangles,
    }
}
