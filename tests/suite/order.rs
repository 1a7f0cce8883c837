//! Order: primitives come out in patch order, the same bytes on every run, whatever else shares the workspace or the
//! encoder.

use patchwave::{Domain, Mesh, OutputTopology};

use super::model::{assert_mesh, mixed_factors};
use super::rig::Rig;
use super::table_pipeline::TablePipeline;

/// The ids that vertices carry have to be those of the patch that they are in, with the first vertex of the draw.
fn assert_ids(mesh: &Mesh, first_vertex: u32, control_points: u32) {
    let ids = mesh.member_bits("ids").expect("ids");
    for (id, patch) in mesh.patches.iter().enumerate() {
        let id = id as u32;
        let first = patch.first_vertex as usize;
        for own in &ids[first..first + patch.vertices as usize] {
            assert_eq!(*own, [id, first_vertex + control_points * id]);
        }
    }
}

/// On the GPU itself: the index buffer, before read-back puts anything in order, holds patch after patch, and where each
/// patch's primitives begin follows from the counts of those before it.
#[test]
fn primitives_of_a_patch_come_before_those_of_the_next() {
    let rig = Rig::new();
    let factors = mixed_factors(500, 5);
    let table = TablePipeline::new(&rig, Domain::Tri, OutputTopology::TriangleCw, &factors);
    let patches = factors.len() as u32;
    let mut workspace = rig.workspace(&table.pipeline, table.sizes(patches, table.counts(patches)));
    let tessellation = table.run(&rig, &mut workspace, patches);
    let chunk = &tessellation.chunks()[0];
    let indices = rig.words(&chunk.indices);
    let vertices = rig.words(&chunk.vertices);
    let words = table.pipeline.vertex_stride() as usize / 4;
    let member = table.pipeline.reflection().surface.members[1].offset as usize / 4;
    let mut primitive = 0;
    for (id, patch) in table.patches.iter().enumerate() {
        for _ in 0..patch.primitive_count() {
            for corner in &indices[3 * primitive..3 * primitive + 3] {
                assert_eq!(vertices[*corner as usize * words + member], id as u32, "primitive {primitive}");
            }
            primitive += 1;
        }
    }
    let arguments = rig.words(&chunk.arguments);
    assert_eq!(arguments[..5], [3 * primitive as u32, 1, 0, 0, 0]);
}

#[test]
fn the_bytes_are_the_same_on_every_run() {
    let rig = Rig::new();
    let factors = mixed_factors(300, 6);
    let table = TablePipeline::with_points(&rig, Domain::Quad, OutputTopology::TriangleCcw, &factors, 5);
    let patches = factors.len() as u32;
    let mut workspace = rig.workspace(&table.pipeline, table.sizes(patches, table.counts(patches)));
    let mut first: Option<Mesh> = None;
    for _ in 0..5 {
        workspace.reset();
        let tessellation = table.run(&rig, &mut workspace, patches);
        let mesh = rig.read(&tessellation);
        match &first {
            None => {
                assert_mesh(&mesh, &table.patches);
                assert_ids(&mesh, 0, 5);
                first = Some(mesh);
            }
            Some(first) => assert!(mesh == *first, "two runs of the same draw differ"),
        }
    }
}

#[test]
fn draws_append_until_the_workspace_is_reset() {
    let rig = Rig::new();
    let factors = mixed_factors(100, 7);
    let table = TablePipeline::new(&rig, Domain::Quad, OutputTopology::TriangleCw, &factors);
    let sizes = [490, 3, 1, 300];
    let all: u32 = sizes.iter().sum();
    let room = sizes.iter().fold([0; 2], |room, patches| {
        let counts = table.counts(*patches);
        [room[0] + counts[0], room[1] + counts[1]]
    });
    let mut workspace = rig.workspace(&table.pipeline, table.sizes(all, room));
    let mut created = None;
    for round in 0..3 {
        workspace.reset();
        // Some of the draws in one encoder, the others in encoders of their own.
        let mut encoder = rig.encoder();
        let mut draws: Vec<_> = sizes[..2]
            .iter()
            .map(|patches| table.encode_from(&rig, &mut encoder, &mut workspace, *patches, 1000 * round))
            .collect();
        rig.queue.submit([encoder.finish()]);
        for patches in &sizes[2..] {
            let mut encoder = rig.encoder();
            draws.push(table.encode_from(&rig, &mut encoder, &mut workspace, *patches, 1000 * round));
            rig.queue.submit([encoder.finish()]);
        }
        // Read in the opposite order.
        for (draw, patches) in draws.into_iter().zip(sizes).rev() {
            let mesh = rig.read(&draw.expect("the draws fit"));
            assert_mesh(&mesh, &table.patches[..patches as usize]);
            assert_ids(&mesh, 1000 * round, 1);
        }
        // Bind groups are made once and then serve again.
        let objects = workspace.objects_created();
        assert_eq!(*created.get_or_insert(objects), objects, "round {round}");
    }
}

/// Draws of three pipelines and workspaces take turns in one encoder, two of the pipelines in one workspace.
#[test]
fn pipelines_and_workspaces_interleave() {
    let rig = Rig::new();
    let (a, b, c) = (mixed_factors(60, 8), mixed_factors(80, 9), mixed_factors(40, 10));
    let quads = TablePipeline::new(&rig, Domain::Quad, OutputTopology::TriangleCw, &a);
    let turned = TablePipeline::new(&rig, Domain::Quad, OutputTopology::TriangleCcw, &b);
    let lines = TablePipeline::with_points(&rig, Domain::Isoline, OutputTopology::Line, &c, 4);
    let room = [100_000, 200_000];
    let mut workspaces = [&quads, &lines, &turned].map(|table| rig.workspace(&table.pipeline, table.sizes(4000, room)));
    let mut encoder = rig.encoder();
    let mut results = Vec::new();
    for first in [0, 7, 100] {
        let all = |table: &TablePipeline| table.patches.len() as u32;
        for (table, workspace) in [(&quads, 0), (&lines, 1), (&turned, 0), (&turned, 2)] {
            let workspace = &mut workspaces[workspace];
            let result = table.encode_from(&rig, &mut encoder, workspace, all(table), first);
            results.push((table, first, result.expect("there is room")));
        }
    }
    rig.queue.submit([encoder.finish()]);
    for (table, first, result) in &results {
        let mesh = rig.read(result);
        assert_mesh(&mesh, &table.patches);
        let control_points = if table.pipeline.domain() == Domain::Isoline { 4 } else { 1 };
        assert_ids(&mesh, *first, control_points);
    }
    assert_eq!(results.len(), 12);
}

/// An encoder that is dropped takes its draws along, and with them what was encoded to clear the counters. After a reset,
/// draws come out right again, with all the room that there is.
#[test]
fn a_reset_makes_good_for_a_dropped_encoder() {
    let rig = Rig::new();
    let factors = mixed_factors(50, 12);
    let table = TablePipeline::new(&rig, Domain::Tri, OutputTopology::TriangleCw, &factors);
    let patches = factors.len() as u32;
    let [vertices, primitives] = table.counts(patches);
    let sizes = table.sizes(4 * patches, [2 * vertices, 2 * primitives]);
    let mut workspace = rig.workspace(&table.pipeline, sizes);
    table.run(&rig, &mut workspace, patches);
    table.run(&rig, &mut workspace, patches);
    workspace.reset();
    let mut dropped = rig.encoder();
    table.encode(&rig, &mut dropped, &mut workspace, patches);
    drop(dropped);
    workspace.reset();
    for _ in 0..2 {
        let result = table.run(&rig, &mut workspace, patches);
        assert_mesh(&rig.read(&result), &table.patches);
    }
}

/// Frames in flight: the next frame's draws are encoded before the GPU is waited for, with other parameters.
#[test]
fn frames_follow_without_waiting() {
    let rig = Rig::new();
    let factors = mixed_factors(50, 11);
    let table = TablePipeline::new(&rig, Domain::Tri, OutputTopology::Point, &factors);
    let patches = factors.len() as u32;
    let mut workspace = rig.workspace(&table.pipeline, table.sizes(patches, table.counts(patches)));
    let mut copies = Vec::new();
    for frame in 0..6u32 {
        workspace.reset();
        let mut encoder = rig.encoder();
        let count = patches - frame * 40;
        let result =
            table.encode_from(&rig, &mut encoder, &mut workspace, count, frame * 10_000).expect("there is room");
        let chunk = &result.chunks()[0];
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let copy = rig.buffer(&vec![0; chunk.vertices.size() as usize], usage);
        encoder.copy_buffer_to_buffer(&chunk.vertices, 0, &copy, 0, copy.size());
        rig.queue.submit([encoder.finish()]);
        copies.push((copy, count));
    }
    let words = table.pipeline.vertex_stride() as usize / 4;
    let member = table.pipeline.reflection().surface.members[1].offset as usize / 4;
    for (frame, (copy, count)) in copies.iter().enumerate() {
        let vertices = rig.words(copy);
        let total = table.counts(*count)[0] as usize;
        assert!(total > 0);
        for vertex in vertices.chunks_exact(words).take(total) {
            let [id, first] = [vertex[member], vertex[member + 1]];
            assert_eq!(first, id + frame as u32 * 10_000, "frame {frame}");
        }
    }
}
