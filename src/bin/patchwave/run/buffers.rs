//! Vertex and index buffers: from numbers, raw files and meshes to bytes.

use std::fs;
use std::path::Path;

use super::file::{Attribute, IndexFormat, Indices, MeshData, Step, VertexBuffer};
use super::formats::Format;
use super::meshes::{self, Polygons};
use super::place::{Complaint, Place};
use super::value::{Value, numbers};

/// What a file may hold, so that a wrong name does not fill the memory.
const MOST_FILE_BYTES: u64 = 1 << 30;

/// A vertex buffer's layout and contents.
pub(crate) struct VertexData {
    pub(crate) stride: u64,
    pub(crate) step: wgpu::VertexStepMode,
    pub(crate) attributes: Vec<wgpu::VertexAttribute>,
    pub(crate) bytes: Vec<u8>,
    /// Whole elements in `bytes`.
    pub(crate) elements: u64,
}

/// The index buffer's contents.
pub(crate) struct IndexData {
    pub(crate) format: wgpu::IndexFormat,
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: u32,
}

/// The bytes of a file beside the scene.
pub(crate) fn read_file(folder: &Path, name: &str, place: &Place) -> Result<Vec<u8>, Complaint> {
    let path = folder.join(name);
    let refuse = |reason: String| place.complain(format!("cannot read {}: {reason}", path.display()));
    let about = fs::metadata(&path).map_err(|error| refuse(error.to_string()))?;
    if !about.is_file() {
        return Err(refuse("it is no file".to_owned()));
    }
    if about.len() > MOST_FILE_BYTES {
        return Err(refuse(format!("it has {} bytes, and {MOST_FILE_BYTES} are allowed", about.len())));
    }
    fs::read(&path).map_err(|error| refuse(error.to_string()))
}

/// A raw file's bytes after the first `skip`.
fn raw_file(folder: &Path, name: &str, skip: u64, place: &Place) -> Result<Vec<u8>, Complaint> {
    let mut bytes = read_file(folder, name, &place.key("file"))?;
    let skip = usize::try_from(skip).ok().filter(|skip| *skip < bytes.len());
    let Some(skip) = skip else {
        return Err(place.key("file").complain(format!("'{name}' has {} bytes, all skipped", bytes.len())));
    };
    Ok(bytes.split_off(skip))
}

impl VertexData {
    pub(crate) fn new(
        buffer: &VertexBuffer,
        folder: &Path,
        polygons: Polygons,
        place: &Place,
    ) -> Result<Self, Complaint> {
        let formats = formats(&buffer.attributes, place)?;
        let mut attributes = Vec::with_capacity(formats.len());
        let mut end = 0;
        for (attribute, format) in buffer.attributes.iter().zip(&formats) {
            let offset = attribute.offset.unwrap_or(end);
            end = offset.saturating_add(format.format.size());
            attributes.push(wgpu::VertexAttribute {
                format: format.format,
                offset,
                shader_location: attribute.location,
            });
        }
        let element = attributes.iter().map(|one| one.offset.saturating_add(one.format.size())).max().unwrap_or(0);
        let stride = buffer.stride.unwrap_or(element);
        // Below 4 GiB, so that sums of them stay far from overflowing.
        if let Some(most) = [stride, element].into_iter().max().filter(|most| *most > u64::from(u32::MAX)) {
            return Err(place.complain(format!("an element takes {most} bytes, and 4 GiB are allowed")));
        }
        let elements = |bytes: &[u8]| match (bytes.len() as u64).checked_sub(element) {
            None => 0,
            Some(rest) => rest.checked_div(stride).map_or(1, |more| more + 1),
        };
        let bytes = match (&buffer.data, &buffer.file) {
            (Some(data), None) => {
                let rows = inline_rows(data, &formats, &place.key("data"))?;
                lay_out(&rows, &attributes, element, stride, place)?
            }
            (None, Some(name)) if meshes::is_mesh(name) => {
                let polygons = Polygons { triangulate: buffer.triangulate, ..polygons };
                let mesh = meshes::read(folder, name, polygons, &place.key("file"))?;
                let rows = mesh_rows(&mesh, &buffer.attributes, &formats, place)?;
                lay_out(&rows, &attributes, element, stride, place)?
            }
            (None, Some(name)) => raw_file(folder, name, buffer.skip, place)?,
            (Some(_), Some(_)) => {
                return Err(place.key("file").complain("data is given as well; leave one of them out"));
            }
            (None, None) => return Err(place.complain("it has neither data nor file")),
        };
        let step = match buffer.step {
            Step::Vertex => wgpu::VertexStepMode::Vertex,
            Step::Instance => wgpu::VertexStepMode::Instance,
        };
        Ok(Self { stride, step, attributes, elements: elements(&bytes), bytes })
    }
}

fn formats(attributes: &[Attribute], place: &Place) -> Result<Vec<Format>, Complaint> {
    let named = attributes.iter().enumerate().map(|(i, attribute)| {
        let place = place.key("attributes").at(i).key("format");
        Format::named(&attribute.format).map_err(|message| place.complain(message))
    });
    let formats: Vec<Format> = named.collect::<Result<_, _>>()?;
    if formats.is_empty() {
        return Err(place.key("attributes").complain("there are none; give location and format of at least one"));
    }
    Ok(formats)
}

/// The bytes of each attribute of each element, one after the other.
type Rows = Vec<Vec<Vec<u8>>>;

fn inline_rows(data: &Value, formats: &[Format], place: &Place) -> Result<Rows, Complaint> {
    let all = numbers(data, place)?;
    let per_element: usize = formats.iter().map(|format| format.components).sum();
    if all.is_empty() || !all.len().is_multiple_of(per_element) {
        let one = if per_element == 1 { "value" } else { "values" };
        return Err(place.complain(format!("there are {} values, and an element takes {per_element} {one}", all.len())));
    }
    let element = |values: &[(&Value, Place)]| {
        let mut rest = values;
        formats
            .iter()
            .map(|format| {
                let (own, others) = rest.split_at(format.components.min(rest.len()));
                rest = others;
                let mut bytes = Vec::new();
                let plain: Vec<&Value> = own.iter().map(|(value, _)| *value).collect();
                format
                    .encode(&plain, &mut bytes)
                    .map_err(|(i, message)| own.get(i).map_or(place, |(_, place)| place).complain(message))?;
                Ok(bytes)
            })
            .collect()
    };
    all.chunks_exact(per_element).map(element).collect()
}

fn mesh_rows(
    mesh: &meshes::MeshFile,
    attributes: &[Attribute],
    formats: &[Format],
    place: &Place,
) -> Result<Rows, Complaint> {
    let mut columns = Vec::with_capacity(attributes.len());
    for (i, (attribute, format)) in attributes.iter().zip(formats).enumerate() {
        let place = place.key("attributes").at(i);
        let Some(from) = attribute.from else {
            return Err(place.complain(
                "what does it take of the mesh? add from = \"positions\", \"normals\", \"uvs\" or \"colors\"",
            ));
        };
        let (name, values, width) = match from {
            MeshData::Positions => ("positions", &mesh.positions, 3),
            MeshData::Normals => ("normals", &mesh.normals, 3),
            MeshData::Uvs => ("uvs", &mesh.uvs, 2),
            MeshData::Colors => ("colors", &mesh.colors, 4),
        };
        if values.len() != mesh.positions.len() / 3 * width || values.is_empty() {
            return Err(place.key("from").complain(format!("the mesh has no {name}, or not for every vertex")));
        }
        columns.push((values, width, format, place));
    }
    (0..mesh.positions.len() / 3)
        .map(|vertex| {
            columns
                .iter()
                .map(|(values, width, format, place)| {
                    let own = &values[vertex * width..][..*width];
                    // As the input assembler fills up what a format lacks: 0, 0, 0, 1.
                    let filled =
                        (0..format.components).map(|i| own.get(i).copied().unwrap_or(if i == 3 { 1.0 } else { 0.0 }));
                    let values: Vec<Value> = filled.map(|value| Value::Float(f64::from(value))).collect();
                    let mut bytes = Vec::new();
                    format
                        .encode(&values.iter().collect::<Vec<_>>(), &mut bytes)
                        .map_err(|(_, message)| place.key("format").complain(format!("vertex {vertex}: {message}")))?;
                    Ok(bytes)
                })
                .collect()
        })
        .collect()
}

/// Elements at their stride, attributes at their offsets, 0 between them.
fn lay_out(
    rows: &Rows,
    attributes: &[wgpu::VertexAttribute],
    element: u64,
    stride: u64,
    place: &Place,
) -> Result<Vec<u8>, Complaint> {
    if rows.len() > 1 && stride == 0 {
        return Err(place
            .key("stride")
            .complain(format!("at stride 0 there is one element, and data has {}", rows.len())));
    }
    let size = stride.saturating_mul(rows.len() as u64 - 1).saturating_add(element.max(stride));
    if size > MOST_FILE_BYTES {
        return Err(place.complain(format!("it takes {size} bytes, and {MOST_FILE_BYTES} are allowed")));
    }
    let mut bytes = vec![0; size as usize];
    for (i, row) in rows.iter().enumerate() {
        for (attribute, value) in attributes.iter().zip(row) {
            let at = i * stride as usize + attribute.offset as usize;
            if let Some(to) = bytes.get_mut(at..at + value.len()) {
                to.copy_from_slice(value);
            }
        }
    }
    Ok(bytes)
}

impl IndexData {
    pub(crate) fn new(indices: &Indices, folder: &Path, polygons: Polygons, place: &Place) -> Result<Self, Complaint> {
        let list = match (&indices.data, &indices.file) {
            (Some(data), None) => numbers(data, &place.key("data"))?
                .into_iter()
                .map(|(value, place)| {
                    value.integer(0, u32::MAX.into()).map(|i| i as u32).map_err(|message| place.complain(message))
                })
                .collect::<Result<Vec<_>, _>>()?,
            (None, Some(name)) if meshes::is_mesh(name) => {
                let polygons = Polygons { triangulate: indices.triangulate, ..polygons };
                meshes::read(folder, name, polygons, &place.key("file"))?.indices
            }
            (None, Some(name)) => {
                let bytes = raw_file(folder, name, indices.skip, place)?;
                let Some(format) = indices.format else {
                    return Err(place.complain("of a raw file the format has to be said: uint16 or uint32"));
                };
                let (format, size) = wgpu_format(format);
                if !bytes.len().is_multiple_of(size) {
                    let message = format!("'{name}' has {} bytes, and an index takes {size}", bytes.len());
                    return Err(place.key("file").complain(message));
                }
                return Ok(Self { format, count: (bytes.len() / size) as u32, bytes });
            }
            (Some(_), Some(_)) => {
                return Err(place.key("file").complain("data is given as well; leave one of them out"));
            }
            (None, None) => return Err(place.complain("there is neither data nor file")),
        };
        if list.is_empty() {
            return Err(place.complain("there are no indices"));
        }
        let (format, _) = wgpu_format(indices.format.unwrap_or(IndexFormat::Uint32));
        let bytes = match format {
            wgpu::IndexFormat::Uint32 => list.iter().flat_map(|index| index.to_le_bytes()).collect(),
            wgpu::IndexFormat::Uint16 => {
                let mut bytes = Vec::with_capacity(list.len() * 2);
                for (i, index) in list.iter().enumerate() {
                    let Ok(short) = u16::try_from(*index) else {
                        let message = format!("index {i} is {index}, and uint16 holds 0 to 65535");
                        return Err(place.key("format").complain(message));
                    };
                    bytes.extend(short.to_le_bytes());
                }
                bytes
            }
        };
        Ok(Self { format, count: list.len() as u32, bytes })
    }
}

fn wgpu_format(format: IndexFormat) -> (wgpu::IndexFormat, usize) {
    match format {
        IndexFormat::Uint16 => (wgpu::IndexFormat::Uint16, 2),
        IndexFormat::Uint32 => (wgpu::IndexFormat::Uint32, 4),
    }
}
