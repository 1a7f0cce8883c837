//! Vertex and index buffers in one `wgpu::Buffer` share a storage binding, where the pipeline is told so; and what is
//! refused when the draw does not keep to it.

use patchwave::{Error, IndexBuffer, Indices, TessellationPipeline};
use wgpu::VertexFormat as F;

use super::assembler_model::{Case, IndexStream, Stream};
use super::rig::Rig;

/// Seven streams of one attribute each, of several strides, and indices: all in one buffer, one after the other.
struct Shared {
    case: Case,
    buffer: wgpu::Buffer,
    /// Where each stream's bytes lie, and the indices'.
    places: Vec<std::ops::Range<u64>>,
}

impl Shared {
    fn new(rig: &Rig) -> Self {
        let attributes = [F::Float32x3, F::Unorm8x4, F::Snorm16x2, F::Uint8, F::Sint16x4, F::Float16x2, F::Uint32];
        let strides = [12, 4, 6, 1, 8, 4, 0];
        let stream = |(i, format): (usize, F)| Stream {
            stride: strides[i],
            per_instance: i == 4,
            attributes: vec![(0, format)],
            bytes: (0..16 * strides[i].max(4)).map(|byte| (byte as usize * 37 + i * 11) as u8).collect(),
        };
        let indices = [3u16, 1, 2, 9, 8, 7, 0xffff, 0, 5, 4, 6, 2];
        let case = Case {
            points: 3,
            streams: attributes.into_iter().enumerate().map(stream).collect(),
            indices: Some(IndexStream {
                format: wgpu::IndexFormat::Uint16,
                bytes: indices.iter().flat_map(|index| index.to_le_bytes()).collect(),
                strip_cut: false,
            }),
            vertices: 0..12,
            base_vertex: 1,
            instances: 1..3,
        };
        let mut bytes = vec![0xbd; 8];
        let mut places = Vec::new();
        for own in case.streams.iter().map(|s| &s.bytes).chain(case.indices.as_ref().map(|i| &i.bytes)) {
            places.push(bytes.len() as u64..(bytes.len() + own.len()) as u64);
            bytes.extend_from_slice(own);
            bytes.resize(bytes.len().next_multiple_of(4) + 4, 0xbd);
        }
        Self { case, buffer: rig.storage(&bytes), places }
    }

    fn slices<'a>(&'a self, buffer: &'a wgpu::Buffer) -> Vec<wgpu::BufferSlice<'a>> {
        self.places.iter().map(|place| buffer.slice(place.clone())).collect()
    }

    fn pipeline(&self, rig: &Rig, groups: &[u32], indices: Indices) -> Result<TessellationPipeline, Error> {
        // The descriptor is the model's, so the numbers have to outlive it: a leak of a few words of a test.
        let groups: &'static [u32] = groups.to_vec().leak();
        self.case.pipeline(rig, |descriptor| {
            descriptor.shared_vertex_buffers = groups;
            descriptor.indices = indices;
        })
    }
}

const ALL: [u32; 7] = [9; 7];

/// On WebGPU's default limits, 8 storage buffers a stage, of which 3 are patchwave's.
#[test]
fn many_slots_in_one_buffer_take_one_binding() {
    let rig = Rig::with_limits(wgpu::Limits::default());
    let shared = Shared::new(&rig);
    let error = shared.pipeline(&rig, &[], Indices::OwnBuffer).map(|_| ()).expect_err("11 bindings");
    match &error {
        Error::LimitExceeded { needed: 11, available: 8, what, .. } => assert!(what.contains("7 vertex buffers")),
        other => panic!("{other}"),
    }
    assert!(error.to_string().contains("shared_vertex_buffers"), "{error}");

    let slices = shared.slices(&shared.buffer);
    let (indices, vertices) = slices.split_last().expect("the indices are the last");
    let index_buffer = IndexBuffer { slice: *indices, format: wgpu::IndexFormat::Uint16 };
    let two = [0, 1, 0, 1, 0, 1, 0];
    let cases: [(&[u32], Indices, usize); 4] = [
        (&ALL, Indices::InVertexBuffer(3), 1),
        (&ALL, Indices::OwnBuffer, 2),
        (&two, Indices::InVertexBuffer(1), 2),
        (&two, Indices::OwnBuffer, 3),
    ];
    for (groups, place, bindings) in cases {
        let pipeline = shared.pipeline(&rig, groups, place).expect("a pipeline");
        let declared = pipeline.kernels().threadgroup.matches("var<storage, read> pw_").count();
        assert_eq!(declared, bindings, "{groups:?} {place:?}");
        let seen = shared.case.see(&rig, &pipeline, vertices, Some(index_buffer.clone())).expect("a draw");
        shared.case.compare(&seen);
        // The same pipeline takes draws without indices.
        let plain = Case { indices: None, vertices: 0..9, ..shared.case.clone() };
        plain.compare(&plain.see(&rig, &pipeline, vertices, None).expect("a draw"));
    }
}

#[test]
fn draws_that_do_not_keep_to_it_are_refused() {
    let rig = Rig::new();
    let shared = Shared::new(&rig);
    let other = rig.storage(&vec![0u8; shared.buffer.size() as usize]);
    let slices = shared.slices(&shared.buffer);
    let elsewhere = shared.slices(&other);
    let index = |slice| Some(IndexBuffer { slice, format: wgpu::IndexFormat::Uint16 });
    let refuse = |pipeline: &TessellationPipeline, vertices: &[_], indices, who: &str, words: &str| match shared
        .case
        .see(&rig, pipeline, vertices, indices)
        .map(|_| ())
        .expect_err("the draw is refused")
    {
        Error::Buffer { what, reason } => assert!(what == who && reason.contains(words), "{what}: {reason}"),
        other => panic!("{other}"),
    };
    let all = shared.pipeline(&rig, &ALL, Indices::InVertexBuffer(3)).expect("a pipeline");
    let mut mixed = slices[..7].to_vec();
    mixed[5] = elsewhere[5];
    refuse(&all, &mixed, index(slices[7]), "vertex buffer 5", "vertex buffer 0");
    refuse(&all, &slices[..7], index(elsewhere[7]), "index buffer", "vertex buffer 0");
    let never = shared.pipeline(&rig, &ALL, Indices::Never).expect("a pipeline");
    refuse(&never, &slices[..7], index(slices[7]), "index buffer", "Indices::Never");

    for (groups, indices, name) in [
        (&ALL[..6], Indices::OwnBuffer, "shared_vertex_buffers"),
        (&[0; 8], Indices::OwnBuffer, "shared_vertex_buffers"),
        (&ALL, Indices::InVertexBuffer(7), "indices"),
        (&[], Indices::InVertexBuffer(u32::MAX), "indices"),
    ] {
        match shared.pipeline(&rig, groups, indices).map(|_| ()).expect_err("the pipeline is refused") {
            Error::OutOfRange { what, .. } => assert!(what.contains(name), "{what}"),
            other => panic!("{other}"),
        }
    }
}

/// Numbers for slots that no attribute is read from cost nothing, and indices in such a slot's buffer have a binding.
#[test]
fn slots_that_are_not_read() {
    let rig = Rig::new();
    let mut shared = Shared::new(&rig);
    for stream in &mut shared.case.streams[1..] {
        stream.attributes.clear();
    }
    let pipeline = shared.pipeline(&rig, &[0, 1, 1, 1, 2, 1, 1], Indices::InVertexBuffer(2)).expect("a pipeline");
    assert_eq!(pipeline.kernels().threadgroup.matches("var<storage, read> pw_").count(), 2);
    let other = rig.storage(&vec![0u8; shared.buffer.size() as usize]);
    let mut slices = shared.slices(&shared.buffer);
    slices[1] = other.slice(..);
    let index_buffer = Some(IndexBuffer { slice: slices[7], format: wgpu::IndexFormat::Uint16 });
    let seen = shared.case.see(&rig, &pipeline, &slices[..7], index_buffer).expect("a draw");
    shared.case.compare(&seen);
}
