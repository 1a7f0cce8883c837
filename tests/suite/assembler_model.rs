//! The input assembler on the CPU, as plainly as it can be said: what a draw's control points are made of. And a pipeline
//! that lets them be seen.

use std::ops::Range;

use patchwave::{
    Domain, Draw, IndexBuffer, Indices, TessellationPipeline, TessellationPipelineDescriptor, WorkspaceDescriptor,
};
use wgpu::VertexFormat as F;

use super::rig::Rig;

pub(crate) const FORMATS: [F; 45] = [
    F::Uint8,
    F::Uint8x2,
    F::Uint8x4,
    F::Sint8,
    F::Sint8x2,
    F::Sint8x4,
    F::Unorm8,
    F::Unorm8x2,
    F::Unorm8x4,
    F::Snorm8,
    F::Snorm8x2,
    F::Snorm8x4,
    F::Uint16,
    F::Uint16x2,
    F::Uint16x4,
    F::Sint16,
    F::Sint16x2,
    F::Sint16x4,
    F::Unorm16,
    F::Unorm16x2,
    F::Unorm16x4,
    F::Snorm16,
    F::Snorm16x2,
    F::Snorm16x4,
    F::Float16,
    F::Float16x2,
    F::Float16x4,
    F::Float32,
    F::Float32x2,
    F::Float32x3,
    F::Float32x4,
    F::Uint32,
    F::Uint32x2,
    F::Uint32x3,
    F::Uint32x4,
    F::Sint32,
    F::Sint32x2,
    F::Sint32x3,
    F::Sint32x4,
    F::Float64,
    F::Float64x2,
    F::Float64x3,
    F::Float64x4,
    F::Unorm10_10_10_2,
    F::Unorm8x4Bgra,
];

/// The scalar type that a shader reads the format as: what its name begins with says it.
pub(crate) fn scalar(format: F) -> &'static str {
    let name = format!("{format:?}");
    if name.starts_with("Uint") {
        "u32"
    } else if name.starts_with("Sint") {
        "i32"
    } else {
        "f32"
    }
}

/// The bits of the scalars that a format's bytes stand for.
pub(crate) fn decode(format: F, bytes: &[u8]) -> Vec<u32> {
    let name = format!("{format:?}");
    match format {
        F::Unorm10_10_10_2 => {
            let word = u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
            let unorm = |first: u32, most: u32| (((word >> first) & most) as f32 / most as f32).to_bits();
            return vec![unorm(0, 1023), unorm(10, 1023), unorm(20, 1023), unorm(30, 3)];
        }
        F::Unorm8x4Bgra => return [2, 1, 0, 3].map(|i: usize| (f32::from(bytes[i]) / 255.0).to_bits()).to_vec(),
        _ => {}
    }
    let (name, count) =
        name.split_once('x').map_or((name.as_str(), 1), |(name, n)| (name, n.parse().expect("a digit")));
    let of = |bytes: &[u8]| -> u32 {
        let le16 = || u16::from_le_bytes(bytes.try_into().expect("2 bytes"));
        let le32 = || u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
        match name {
            "Uint8" => u32::from(bytes[0]),
            "Sint8" => i32::from(bytes[0] as i8) as u32,
            "Unorm8" => (f32::from(bytes[0]) / 255.0).to_bits(),
            "Snorm8" => (f32::from(bytes[0] as i8) / 127.0).max(-1.0).to_bits(),
            "Uint16" => u32::from(le16()),
            "Sint16" => i32::from(le16() as i16) as u32,
            "Unorm16" => (f32::from(le16()) / 65535.0).to_bits(),
            "Snorm16" => (f32::from(le16() as i16) / 32767.0).max(-1.0).to_bits(),
            "Float16" => half(le16()).to_bits(),
            "Float32" | "Uint32" | "Sint32" => le32(),
            "Float64" => (f64::from_le_bytes(bytes.try_into().expect("8 bytes")) as f32).to_bits(),
            _ => panic!("a format of no known kind: {name}"),
        }
    };
    bytes.chunks(format.size() as usize / count).map(of).collect()
}

/// IEEE 754's binary16, by its definition.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, significand) = (i32::from((bits >> 10) & 31), f64::from(bits & 1023) / 1024.0);
    (sign
        * match exponent {
            0 => significand * 2f64.powi(-14),
            31 if significand == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1.0 + significand) * 2f64.powi(exponent - 15),
        }) as f32
}

/// One vertex buffer: its layout and what a draw finds in it.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) stride: u64,
    pub(crate) per_instance: bool,
    /// Offset and format; attributes of all streams have locations 0, 1, … in order.
    pub(crate) attributes: Vec<(u64, F)>,
    /// The bytes of the slice that is bound.
    pub(crate) bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(crate) struct IndexStream {
    pub(crate) format: wgpu::IndexFormat,
    /// The bytes of the slice that is bound.
    pub(crate) bytes: Vec<u8>,
    /// Whether an index of all ones ends its patch.
    pub(crate) strip_cut: bool,
}

/// A draw, with all that decides what its control points are.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) points: u32,
    pub(crate) streams: Vec<Stream>,
    pub(crate) indices: Option<IndexStream>,
    pub(crate) vertices: Range<u32>,
    pub(crate) base_vertex: i32,
    pub(crate) instances: Range<u32>,
}

/// What a control point sees: its attributes as four components each, then vertex index, instance index, patch id and its
/// number within the patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) attributes: Vec<[u32; 4]>,
    pub(crate) ids: [u32; 4],
}

impl Case {
    /// The index that is the `place`-th of the index buffer; 0 beyond it.
    fn index(&self, indices: &IndexStream, place: u64) -> u32 {
        let width = indices.format.byte_size() as usize;
        let begin = place as usize * width;
        match (indices.bytes.get(begin..begin + width), width) {
            (Some(bytes), 2) => u32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            (Some(bytes), _) => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            (None, _) => 0,
        }
    }

    /// The vertices of an instance, in complete patches.
    fn patches(&self) -> Vec<Vec<u32>> {
        let count = self.vertices.len();
        let Some(indices) = &self.indices else {
            let vertices: Vec<u32> = self.vertices.clone().collect();
            return vertices.chunks_exact(self.points as usize).map(<[u32]>::to_vec).collect();
        };
        let read: Vec<u32> =
            (0..count as u64).map(|i| self.index(indices, u64::from(self.vertices.start) + i)).collect();
        let cut = if indices.format == wgpu::IndexFormat::Uint16 { 0xffff } else { u32::MAX };
        read.split(|index| indices.strip_cut && *index == cut)
            .flat_map(|run| run.chunks_exact(self.points as usize))
            .map(|patch| patch.iter().map(|index| index.wrapping_add_signed(self.base_vertex)).collect())
            .collect()
    }

    /// What the control points of all patches of all instances see, in order.
    pub(crate) fn expected(&self) -> Vec<Seen> {
        let patches = self.patches();
        let mut seen = Vec::new();
        for instance in self.instances.clone() {
            for (id, patch) in patches.iter().enumerate() {
                for (point, vertex) in patch.iter().enumerate() {
                    let of = |stream: &Stream| stream.fetch(if stream.per_instance { instance } else { *vertex });
                    seen.push(Seen {
                        attributes: self.streams.iter().flat_map(of).collect(),
                        ids: [*vertex, instance, id as u32, point as u32],
                    });
                }
            }
        }
        seen
    }

    /// Draws it on the GPU. `Err` is what the pipeline or the draw was refused with.
    pub(crate) fn run(&self, rig: &Rig) -> Result<Vec<Seen>, patchwave::Error> {
        self.run_with(rig, |_| ())
    }

    /// Draws it on the GPU by a pipeline that is made after `change`.
    pub(crate) fn run_with(
        &self,
        rig: &Rig,
        change: impl FnOnce(&mut TessellationPipelineDescriptor<'_>),
    ) -> Result<Vec<Seen>, patchwave::Error> {
        let pipeline = self.pipeline(rig, change)?;
        let buffers: Vec<wgpu::Buffer> =
            self.streams.iter().map(|stream| rig.storage(&placed(&stream.bytes))).collect();
        let slices: Vec<_> = self.streams.iter().zip(&buffers).map(|(s, buffer)| slice(buffer, &s.bytes)).collect();
        let index_bytes = self.indices.as_ref().map(|indices| rig.storage(&placed(&indices.bytes)));
        let index_buffer = self
            .indices
            .as_ref()
            .zip(index_bytes.as_ref())
            .map(|(indices, buffer)| IndexBuffer { slice: slice(buffer, &indices.bytes), format: indices.format });
        self.see(rig, &pipeline, &slices, index_buffer)
    }

    /// The pipeline that shows the case's control points, after `change`.
    pub(crate) fn pipeline(
        &self,
        rig: &Rig,
        change: impl FnOnce(&mut TessellationPipelineDescriptor<'_>),
    ) -> Result<TessellationPipeline, patchwave::Error> {
        let mut location = 0;
        let mut of = |(offset, format): &(u64, F)| {
            location += 1;
            wgpu::VertexAttribute { offset: *offset, format: *format, shader_location: location - 1 }
        };
        let attributes: Vec<Vec<_>> =
            self.streams.iter().map(|stream| stream.attributes.iter().map(&mut of).collect()).collect();
        let layouts: Vec<_> = self
            .streams
            .iter()
            .zip(&attributes)
            .map(|(stream, attributes)| wgpu::VertexBufferLayout {
                array_stride: stream.stride,
                step_mode: if stream.per_instance { wgpu::VertexStepMode::Instance } else { Default::default() },
                attributes,
            })
            .collect();
        let formats = self.formats();
        let shader = shader(&formats, self.points);
        let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Isoline, self.points);
        descriptor.names.hull = None;
        descriptor.vertex_buffers = &layouts;
        match &self.indices {
            None => descriptor.indices = Indices::Never,
            Some(indices) => descriptor.strip_cut = indices.strip_cut,
        }
        change(&mut descriptor);
        TessellationPipeline::new(&rig.device, &descriptor)
    }

    pub(crate) fn draw<'a>(
        &self,
        vertex_buffers: &'a [wgpu::BufferSlice<'a>],
        index_buffer: Option<IndexBuffer<'a>>,
    ) -> Draw<'a> {
        Draw {
            vertex_buffers,
            index_buffer,
            base_vertex: self.base_vertex,
            instances: self.instances.clone(),
            ..Draw::new(self.vertices.clone())
        }
    }

    /// Draws with these buffers.
    pub(crate) fn see(
        &self,
        rig: &Rig,
        pipeline: &TessellationPipeline,
        vertex_buffers: &[wgpu::BufferSlice<'_>],
        index_buffer: Option<IndexBuffer<'_>>,
    ) -> Result<Vec<Seen>, patchwave::Error> {
        let draw = self.draw(vertex_buffers, index_buffer);
        // What is refused is refused here; from there on nothing may fail.
        let measurement = pipeline.measure_blocking(&rig.device, &rig.queue, &draw)?;
        let sizes = WorkspaceDescriptor::for_measurement(pipeline, &measurement)?;
        let mut workspace = rig.workspace(pipeline, sizes);
        let mesh = rig.read(&rig.run(pipeline, &mut workspace, &draw));
        let count = self.streams.iter().map(|stream| stream.attributes.len()).sum();
        let members: Vec<_> =
            (0..count).map(|i| mesh.member_bits(&format!("a{i}")).expect("a member of that name")).collect();
        let ids = mesh.member_bits("ids").expect("the ids");
        let mut seen = Vec::new();
        for patch in &mesh.patches {
            let begin = patch.first_vertex as usize;
            let mut own: Vec<Seen> = (begin..begin + patch.vertices as usize)
                .map(|at| Seen {
                    attributes: members.iter().map(|member| four(&member[at])).collect(),
                    ids: four(&ids[at]),
                })
                .collect();
            // A line of points in any order; one of one control point has a second end that shows it again.
            own.sort_by_key(|seen| seen.ids[3]);
            own.dedup();
            seen.extend(own);
        }
        Ok(seen)
    }

    /// Runs it, and compares all there is to see.
    pub(crate) fn check(&self, rig: &Rig) {
        let seen = self.run(rig).unwrap_or_else(|error| panic!("{error}: {}", self.summary()));
        self.compare(&seen);
    }

    pub(crate) fn compare(&self, seen: &[Seen]) {
        if let Some(difference) = self.difference(seen) {
            panic!("{difference}: {}", self.summary());
        }
    }

    /// The first thing that differs from what should be seen.
    pub(crate) fn difference(&self, seen: &[Seen]) -> Option<String> {
        let expected = self.expected();
        if seen.len() != expected.len() {
            return Some(format!("{} control points, not {}", seen.len(), expected.len()));
        }
        let formats = self.formats();
        for (found, expected) in seen.iter().zip(&expected) {
            if found.ids != expected.ids {
                return Some(format!("ids {:?}, not {:?}", found.ids, expected.ids));
            }
            for (i, (a, b)) in found.attributes.iter().zip(&expected.attributes).enumerate() {
                // Which of the NaNs it is, is the device's.
                let is_nan = |bits: u32| scalar(formats[i]) == "f32" && f32::from_bits(bits).is_nan();
                if !a.iter().zip(b).all(|(a, b)| a == b || (is_nan(*a) && is_nan(*b))) {
                    return Some(format!("@location({i}) at {:?}: {a:x?}, not {b:x?}", expected.ids));
                }
            }
        }
        None
    }

    fn formats(&self) -> Vec<F> {
        self.streams.iter().flat_map(|stream| stream.attributes.iter().map(|attribute| attribute.1)).collect()
    }

    /// All but the contents of buffers.
    fn summary(&self) -> String {
        let mut short = self.clone();
        short.streams.iter_mut().for_each(|stream| stream.bytes.truncate(64));
        short.indices.iter_mut().for_each(|indices| indices.bytes.truncate(64));
        format!("{short:?}, buffers cut short here")
    }
}

impl Stream {
    /// The attributes of an element: all zeros where it does not lie wholly in the buffer; what a format lacks is 0, and 1
    /// for the fourth component.
    fn fetch(&self, element: u32) -> Vec<[u32; 4]> {
        let end = self.attributes.iter().map(|(offset, format)| offset + format.size()).max().unwrap_or(0);
        let begin = u64::from(element) * self.stride;
        let inside = begin + end <= self.bytes.len() as u64;
        let of = |(offset, format): &(u64, F)| {
            let one = if scalar(*format) == "f32" { 1f32.to_bits() } else { 1 };
            let mut four = [0, 0, 0, one];
            let zeros = vec![0; format.size() as usize];
            let at = (begin + offset) as usize;
            let bytes = if inside { &self.bytes[at..at + format.size() as usize] } else { zeros.as_slice() };
            for (component, value) in four.iter_mut().zip(decode(*format, bytes)) {
                *component = value;
            }
            four
        };
        self.attributes.iter().map(of).collect()
    }
}

fn four(words: &[u32]) -> [u32; 4] {
    words.try_into().expect("four components")
}

/// Slices begin this far into their buffers, and other things lie before and after.
const BEFORE: usize = 12;

pub(crate) fn placed(bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![0xbd; BEFORE];
    all.extend_from_slice(bytes);
    all.resize((all.len() + 1).next_multiple_of(4), 0xbd);
    all
}

pub(crate) fn slice<'a>(buffer: &'a wgpu::Buffer, bytes: &[u8]) -> wgpu::BufferSlice<'a> {
    let begin = BEFORE as u64;
    buffer.slice(begin..begin + bytes.len() as u64)
}

/// A patch is a line with a vertex for each control point, which carries what that one has seen.
fn shader(formats: &[F], points: u32) -> String {
    let attributes = |text: &dyn Fn(usize, F) -> String| -> String {
        formats.iter().enumerate().map(|(i, format)| text(i, *format)).collect()
    };
    format!(
        "{}
         struct P {{ {} ids: vec2u }}
         struct S {{ {} @location({}) ids: vec4u }}
         struct C {{ factors: IsolineFactors }}
         fn vertex({} id: VertexId) -> P {{
             return P({} vec2u(id.vertex_index, id.instance_index));
         }}
         fn patch_constants(patch_id: u32) -> C {{ return C(IsolineFactors(1.0, f32({}))); }}
         fn domain(location: vec2f, patch_id: u32) -> S {{
             let point = u32(location.x * f32({}) + 0.5);
             let p = output_point(point);
             return S({} vec4u(p.ids, patch_id, min(point, {points}u - 1u)));
         }}",
        if formats.is_empty() {
            String::new()
        } else {
            let members = attributes(&|i, format| format!("@location({i}) a{i}: vec4<{}>,", scalar(format)));
            format!("struct Attributes {{ {members} }}")
        },
        attributes(&|i, _| format!("a{i}: vec4u,")),
        attributes(&|i, _| format!("@location({i}) a{i}: vec4u,")),
        formats.len(),
        if formats.is_empty() { "" } else { "attributes: Attributes," },
        attributes(&|i, _| format!("bitcast<vec4u>(attributes.a{i}),")),
        points.max(2) - 1,
        points.max(2) - 1,
        attributes(&|i, _| format!("p.a{i},")),
    )
}
