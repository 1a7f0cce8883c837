//! Draws whose arguments lie in a buffer give what the same draws give whose arguments the CPU knows.

use std::sync::mpsc;

use patchwave::pipeline::IndirectDraw;
use patchwave::{
    Domain, Draw, Error, IndexBuffer, Mesh, TessellationPipeline, TessellationPipelineDescriptor, Workspace,
    WorkspaceDescriptor,
};

use super::rig::Rig;

/// Three control points a patch, each the number of its vertex and of its instance; factors that differ from patch to
/// patch.
const SHADER: &str = "
    struct P { vertex: u32, instance: u32 }
    struct C { factors: QuadFactors }
    struct S { @location(0) at: vec2f, @location(1) vertices: vec3u, @location(2) ids: vec2u }
    fn vertex(id: VertexId) -> P { return P(id.vertex_index, id.instance_index); }
    fn patch_constants(patch_id: u32) -> C {
        return C(QuadFactors(vec4f(f32(patch_id % 5u) + 1.0), vec2f(3.0)));
    }
    fn domain(at: vec2f, patch_id: u32) -> S {
        return S(at, vec3u(output_point(0u).vertex, output_point(1u).vertex, output_point(2u).vertex),
            vec2u(patch_id, output_point(0u).instance));
    }";

fn pipeline(rig: &Rig) -> TessellationPipeline {
    let mut descriptor = TessellationPipelineDescriptor::new(SHADER, Domain::Quad, 3);
    descriptor.names.hull = None;
    rig.pipeline(&descriptor)
}

fn workspace(rig: &Rig, pipeline: &TessellationPipeline) -> Workspace {
    rig.workspace(pipeline, WorkspaceDescriptor::new(pipeline, 4000, 100_000, 100_000))
}

fn direct(rig: &Rig, pipeline: &TessellationPipeline, draw: &Draw<'_>) -> Mesh {
    let mut workspace = workspace(rig, pipeline);
    let mut encoder = rig.encoder();
    let result = pipeline.encode(&rig.queue, &mut encoder, &mut workspace, draw).expect("the direct draw");
    rig.queue.submit([encoder.finish()]);
    Mesh::read_blocking(&rig.device, &rig.queue, &result).expect("the direct mesh")
}

fn indirect(rig: &Rig, pipeline: &TessellationPipeline, draw: &IndirectDraw<'_>) -> Vec<Result<Mesh, Error>> {
    let mut workspace = workspace(rig, pipeline);
    let mut encoder = rig.encoder();
    let results = pipeline.encode_indirect(&rig.queue, &mut encoder, &mut workspace, draw).expect("the indirect draw");
    rig.queue.submit([encoder.finish()]);
    let read = |result: &patchwave::Tessellation| {
        let mesh = Mesh::read_blocking(&rig.device, &rig.queue, result)?;
        // Statistics know as well how many patches there were.
        let statistics = result.statistics_blocking(&rig.device, &rig.queue)?;
        assert_eq!(statistics.ia_primitives, mesh.patches.len() as u64);
        assert_eq!(statistics.ds_invocations, mesh.vertex_count() as u64);
        Ok(mesh)
    };
    results.iter().map(read).collect()
}

fn of(arguments: &wgpu::Buffer, stride: u64, records: u32) -> IndirectDraw<'_> {
    IndirectDraw {
        vertex_buffers: &[],
        index_buffer: None,
        bind_groups: &[],
        arguments,
        offset: 0,
        stride,
        records,
        most_patches: 500,
        most_instances: 8,
    }
}

#[test]
fn records_with_a_stride_are_the_same_draws() {
    let rig = Rig::new();
    let pipeline = pipeline(&rig);
    // 7 vertices make 2 patches in each of 2 instances (MoltenVK#2820); then many patches; then none; then no instance.
    let records = [[7, 2, 0, 5], [3 * 400 + 1, 1, 2, 0], [2, 3, 0, 0], [30, 0, 0, 0]];
    let mut words = vec![0xffff_ffffu32; 5 * 64];
    for (record, at) in records.iter().zip((64..).step_by(64)) {
        words[at..at + 4].copy_from_slice(record);
    }
    let arguments = rig.storage(&words);
    let found = indirect(&rig, &pipeline, &IndirectDraw { offset: 256, ..of(&arguments, 256, 4) });
    for ([vertices, instances, first, first_instance], mesh) in records.into_iter().zip(found) {
        let mut draw = Draw::new(first..first + vertices);
        draw.instances = first_instance..first_instance + instances;
        let expected = direct(&rig, &pipeline, &draw);
        assert_eq!(expected.patches.len(), (vertices / 3 * instances) as usize);
        assert_eq!(mesh.expect("it fits"), expected);
    }
}

#[test]
fn indexed_records_are_the_same_draws() {
    let rig = Rig::new();
    let pipeline = pipeline(&rig);
    let indices: Vec<u32> = (0..120).map(|i| (i * 7 + 3) % 50).collect();
    let buffer = rig.storage(&indices);
    // Count, instances, first index, base vertex, first instance; the last one reads beyond the index buffer.
    let records = [[30u32, 2, 3, 10, 1], [60, 1, 0, (-3i32) as u32, 0], [60, 1, 90, 0, 0]];
    let words: Vec<u32> = records.iter().flatten().copied().collect();
    let arguments = rig.storage(&words);
    let index_buffer = Some(IndexBuffer { slice: buffer.slice(..), format: wgpu::IndexFormat::Uint32 });
    let found =
        indirect(&rig, &pipeline, &IndirectDraw { index_buffer: index_buffer.clone(), ..of(&arguments, 20, 3) });
    for ([count, instances, first, base, first_instance], mesh) in records.into_iter().zip(found) {
        let mut draw = Draw::new(first..first + count);
        draw.index_buffer = index_buffer.clone();
        draw.base_vertex = base as i32;
        draw.instances = first_instance..first_instance + instances;
        assert_eq!(mesh.expect("it fits"), direct(&rig, &pipeline, &draw));
    }
    // MoltenVK#2376: the indices are really read.
    let mesh = &direct(&rig, &pipeline, &Draw { index_buffer, base_vertex: 10, ..Draw::new(3..6) });
    let expected: Vec<u32> = indices[3..6].iter().map(|index| index + 10).collect();
    assert_eq!(mesh.member_bits("vertices").expect("the member")[0], expected);
}

#[test]
fn parameters_on_the_gpu_do_not_outlive_their_draw() {
    let rig = Rig::new();
    let pipeline = pipeline(&rig);
    let mut workspace = workspace(&rig, &pipeline);
    let arguments = rig.storage(&[90u32, 1, 0, 0]);
    let mut draw = Draw::new(0..300);
    draw.instances = 0..2;
    let expected = direct(&rig, &pipeline, &draw);
    // The same slots, in turn direct and indirect.
    for turn in 0..6 {
        workspace.reset();
        let mut encoder = rig.encoder();
        let result = if turn % 3 == 2 {
            let draws = of(&arguments, 16, 1);
            pipeline.encode_indirect(&rig.queue, &mut encoder, &mut workspace, &draws).expect("indirect").remove(0)
        } else {
            pipeline.encode(&rig.queue, &mut encoder, &mut workspace, &draw).expect("direct")
        };
        rig.queue.submit([encoder.finish()]);
        let mesh = Mesh::read_blocking(&rig.device, &rig.queue, &result).expect("it fits");
        if turn % 3 == 2 {
            assert_eq!(mesh, direct(&rig, &pipeline, &Draw::new(0..90)));
        } else {
            assert_eq!(mesh, expected, "turn {turn}");
        }
    }
}

#[test]
fn more_than_was_said_draws_nothing_and_says_so() {
    let rig = Rig::new();
    let pipeline = pipeline(&rig);
    // 501 patches; 2^32 and more; more threadgroups than 8 instances can have; one that is within.
    let records = [[3 * 501u32, 1, 0, 0], [3 * 0x1_0001, 0x1_0000, 0, 0], [3, 300, 0, 0], [3 * 250, 2, 0, 0]];
    let arguments = rig.storage(&records.concat());
    let mut workspace = workspace(&rig, &pipeline);
    let mut encoder = rig.encoder();
    let draws = of(&arguments, 16, 4);
    let results = pipeline.encode_indirect(&rig.queue, &mut encoder, &mut workspace, &draws).expect("encoding");
    let (sender, receiver) = mpsc::channel();
    for result in &results {
        let sender = sender.clone();
        let asked = workspace.request_report(&mut encoder, result, move |report| {
            sender.send(report).expect("the test listens");
        });
        assert!(asked.expect("a report"));
    }
    rig.queue.submit([encoder.finish()]);
    rig.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device runs");
    let reports: Vec<_> = receiver.try_iter().map(|report| report.expect("a report")).collect();
    let shortage = |i: usize| reports[i].shortage.map(|shortage| (shortage.needed, shortage.available));
    assert_eq!(shortage(0), Some((501, 500)));
    assert_eq!(shortage(1), Some((u64::from(u32::MAX), 500)));
    let groups = 500 / u64::from(pipeline.parameters().patches_per_threadgroup) + 8;
    assert_eq!(shortage(2), Some((300, groups)));
    assert_eq!(shortage(3), None);
    for (i, result) in results.iter().enumerate() {
        let mesh = Mesh::read_blocking(&rig.device, &rig.queue, result);
        assert_eq!(mesh.is_ok(), i == 3, "record {i}");
    }
}

#[test]
fn arguments_that_do_not_serve_are_refused() {
    let rig = Rig::new();
    let pipeline = pipeline(&rig);
    let mut workspace = workspace(&rig, &pipeline);
    let arguments = rig.storage(&[3u32, 1, 0, 0, 3, 1, 0, 0]);
    let bare = rig.buffer(&[0; 32], wgpu::BufferUsages::INDIRECT);
    let base = of(&arguments, 16, 2);
    let index_buffer = Some(IndexBuffer { slice: arguments.slice(..), format: wgpu::IndexFormat::Uint32 });
    let cases = [
        (IndirectDraw { records: 3, ..base.clone() }, "beyond"),
        (IndirectDraw { offset: 4, ..base.clone() }, "beyond"),
        (IndirectDraw { offset: u64::MAX - 3, ..base.clone() }, "beyond"),
        (IndirectDraw { offset: 2, ..base.clone() }, "multiples of 4"),
        (IndirectDraw { stride: 12, ..base.clone() }, "below the 16 bytes"),
        (IndirectDraw { index_buffer, ..base.clone() }, "below the 20 bytes"),
        (IndirectDraw { arguments: &bare, ..base.clone() }, "STORAGE"),
        (IndirectDraw { records: 0, ..base.clone() }, "1 to 64"),
        (IndirectDraw { records: 65, ..base.clone() }, "1 to 64"),
        (IndirectDraw { most_patches: 4000, ..base.clone() }, "patches"),
        (IndirectDraw { most_instances: u32::MAX, ..base.clone() }, "most_instances"),
    ];
    let mut encoder = rig.encoder();
    for (draw, what) in cases {
        let error = pipeline.encode_indirect(&rig.queue, &mut encoder, &mut workspace, &draw).expect_err(what);
        assert!(error.to_string().contains(what), "{error}: {what}");
    }
    assert!(pipeline.encode_indirect(&rig.queue, &mut encoder, &mut workspace, &base).is_ok());
    rig.queue.submit([encoder.finish()]);
}
