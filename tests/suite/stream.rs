//! Stream output: the vertices of the primitives in order, without indices; and draws of vertices alone.

use patchwave::hardware::TessellationParameters;
use patchwave::{Domain, Draw, Error, Mesh, OutputTopology, TessellationPipelineDescriptor, WorkspaceDescriptor};

use super::rig::Rig;

const SHADER: &str = "
    struct P { id: u32 }
    struct C { factors: FACTORS }
    struct S { @location(0) at: vec2f, @location(1) id: u32 }
    fn vertex(id: VertexId) -> P { return P(id.vertex_index); }
    fn patch_constants(patch_id: u32) -> C { return C(VALUES); }
    fn domain(at: LOCATION, patch_id: u32) -> S { return S(at.xy, patch_id); }";

#[test]
fn the_stream_is_the_mesh_without_indices() {
    let rig = Rig::new();
    let cases = [
        (Domain::Quad, OutputTopology::TriangleCw, "QuadFactors(vec4f(f32(patch_id) - 1.0, 3, 2, 5), vec2f(4, 3))"),
        (Domain::Tri, OutputTopology::TriangleCcw, "TriFactors(vec3f(2, f32(patch_id), 3), 4)"),
        (Domain::Isoline, OutputTopology::Line, "IsolineFactors(f32(patch_id), 3)"),
        (Domain::Quad, OutputTopology::Point, "QuadFactors(vec4f(2), vec2f(f32(patch_id)))"),
    ];
    for (domain, topology, values) in cases {
        let (factors, location) = match domain {
            Domain::Quad => ("QuadFactors", "vec2f"),
            Domain::Tri => ("TriFactors", "vec3f"),
            Domain::Isoline => ("IsolineFactors", "vec2f"),
        };
        let shader = SHADER.replace("FACTORS", factors).replace("VALUES", values).replace("LOCATION", location);
        let mut descriptor = TessellationPipelineDescriptor::new(&shader, domain, 1);
        descriptor.names.hull = None;
        descriptor.output_topology = topology;
        let pipeline = rig.pipeline(&descriptor);
        let draw = Draw::new(0..9);
        let mut workspace = rig.workspace(&pipeline, WorkspaceDescriptor::new(&pipeline, 20, 4000, 4000));
        let mut encoder = rig.encoder();
        // A draw before it, so that the second one does not begin at the front.
        pipeline.encode(&rig.queue, &mut encoder, &mut workspace, &Draw::new(0..5)).expect("the first draw");
        let result = pipeline.encode(&rig.queue, &mut encoder, &mut workspace, &draw).expect("the draw");
        let bytes = pipeline.stream_output_bytes(&result, 0).expect("one chunk");
        let target = rig.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let stream = pipeline
            .encode_stream_output(&mut encoder, &mut workspace, &result, 0, &target)
            .unwrap_or_else(|error| panic!("the stream: {error}"));
        rig.queue.submit([encoder.finish()]);

        let mesh = rig.read(&result);
        let words = rig.words(&target);
        let arguments = rig.words(&stream.arguments);
        let at = (stream.arguments_offset / 4) as usize;
        assert_eq!(arguments[at..at + 4], [mesh.indices.len() as u32, 1, 0, 0]);
        assert!(mesh.indices.len() > 30, "{domain} {topology}");
        let stride = mesh.surface.stride as usize / 4;
        let vertices: Vec<u32> = bytemuck::pod_collect_to_vec(&mesh.vertices);
        for (i, index) in mesh.indices.iter().enumerate() {
            let expected = &vertices[*index as usize * stride..][..3];
            assert_eq!(&words[i * stride..][..3], expected, "{domain} {topology}, vertex {i}");
        }
    }
}

#[test]
fn targets_that_do_not_serve_are_refused() {
    let rig = Rig::new();
    let shader = SHADER
        .replace("FACTORS", "QuadFactors")
        .replace("VALUES", "QuadFactors(vec4f(2), vec2f(2))")
        .replace("LOCATION", "vec2f");
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Quad, 1);
    descriptor.names.hull = None;
    let pipeline = rig.pipeline(&descriptor);
    let mut workspace = rig.workspace(&pipeline, WorkspaceDescriptor::new(&pipeline, 20, 4000, 4000));
    let mut encoder = rig.encoder();
    let result = pipeline.encode(&rig.queue, &mut encoder, &mut workspace, &Draw::new(0..5)).expect("the draw");
    let small = rig.storage(&[0u32; 16]);
    let bare = rig.buffer(&vec![0; 4000 * 3 * 16], wgpu::BufferUsages::VERTEX);
    let large = rig.storage(&vec![0u32; 4000 * 3 * 4]);
    let mut refuse = |chunk, target: &wgpu::Buffer, what: &str| {
        let error = pipeline
            .encode_stream_output(&mut encoder, &mut workspace, &result, chunk, target)
            .map(|_| ())
            .expect_err(what);
        assert!(error.to_string().contains(what), "{error}: {what}");
    };
    refuse(0, &small, "192000");
    refuse(0, &bare, "STORAGE");
    refuse(1, &large, "below 1");
    workspace.reset();
    let stale = pipeline.encode_stream_output(&mut encoder, &mut workspace, &result, 0, &large);
    assert!(matches!(stale, Err(Error::WorkspaceMismatch { .. })), "{stale:?}");
}

/// Draws of vertices alone, small and large, on-chip and off-chip, in one chunk and in several: the same vertices in some
/// order, no index written, and whatever needs primitives refused.
#[test]
fn vertices_alone() {
    let rig = Rig::new();
    let shader = SHADER
        .replace("FACTORS", "QuadFactors")
        .replace("VALUES", "QuadFactors(vec4f(f32(patch_id % 9u)), vec2f(4, 3))")
        .replace("LOCATION", "vec2f");
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Quad, 1);
    descriptor.names.hull = None;
    descriptor.parameters.patches_per_threadgroup = Some(4);
    let off_chip = descriptor.clone().off_chip(TessellationParameters {
        patches_per_threadgroup: Some(4),
        tessellation_factor_threshold: Some(3.0),
        ds_wave_threshold: Some(0),
    });
    for (descriptor, patches, bytes) in
        [(&descriptor, 30, 1 << 20), (&off_chip, 30, 1 << 20), (&off_chip, 9000, 1 << 20), (&descriptor, 9000, 1 << 30)]
    {
        let pipeline = rig.pipeline(descriptor);
        let draw = Draw::new(0..patches);
        let measured = pipeline.measure_blocking(&rig.device, &rig.queue, &draw).expect("measuring");
        let sizes = WorkspaceDescriptor::for_measurement_within(&pipeline, &measured, bytes).expect("its sizes");
        let stride = pipeline.vertex_stride() as usize / 4;
        let sorted = |words: Vec<u32>, vertices: u32| {
            let mut vertices: Vec<_> =
                words.chunks(stride).take(vertices as usize).map(|vertex| vertex[..3].to_vec()).collect();
            vertices.sort();
            vertices
        };
        let mut both = [true, false].map(|has_indices| {
            let mut workspace = rig.workspace(&pipeline, sizes.clone());
            let mut encoder = rig.encoder();
            let result = if has_indices {
                pipeline.encode(&rig.queue, &mut encoder, &mut workspace, &draw)
            } else {
                pipeline.encode_vertices(&rig.queue, &mut encoder, &mut workspace, &draw, None)
            };
            let result = result.expect("the draw");
            let (sender, receiver) = std::sync::mpsc::channel();
            workspace
                .request_report(&mut encoder, &result, move |report| sender.send(report).expect("the test waits"))
                .expect("a report");
            rig.queue.submit([encoder.finish()]);
            rig.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
            let report = receiver.recv().expect("the report").expect("it is read");
            report.fits().expect("it fits");
            assert_eq!(result.has_indices(), has_indices);
            let chunks = result.chunks().iter().zip(&sizes.chunks);
            let vertices: Vec<_> =
                chunks.map(|(chunk, capacity)| sorted(rig.words(&chunk.vertices), capacity.vertices)).collect();
            let indices = result.chunks().iter().flat_map(|chunk| rig.words(&chunk.indices));
            let is_indexed = indices.into_iter().any(|index| index != 0);
            (vertices, report, is_indexed, result, workspace)
        });
        let [(vertices, report, is_indexed, ..), (alone, alone_report, alone_indexed, ..)] = &both;
        assert!(report.vertices > 500, "{report:?}");
        assert_eq!(sizes.chunks.len() > 1, patches == 9000 && bytes == 1 << 20);
        assert_eq!(report, alone_report);
        assert_eq!([*is_indexed, *alone_indexed], [true, false], "{patches} patches");
        assert!(vertices == alone, "{patches} patches: other vertices");

        let (.., result, workspace) = &mut both[1];
        let error = Mesh::read_blocking(&rig.device, &rig.queue, result).expect_err("there are no primitives");
        assert!(matches!(error, Error::NoIndices), "{error}");
        let target = rig.storage(&[0u32; 16]);
        let stream = pipeline.encode_stream_output(&mut rig.encoder(), workspace, result, 0, &target);
        assert!(matches!(stream, Err(Error::NoIndices)), "{stream:?}");
    }
}
