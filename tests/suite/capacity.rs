//! A workspace that is too small draws nothing, says exactly what is missing, and goes on serving draws that fit.

use patchwave::pipeline::ChunkCapacity;
use patchwave::{Domain, Error, Mesh, OutputTopology, Tessellation, Workspace, WorkspaceDescriptor};

use super::model::{assert_mesh, mixed_factors};
use super::rig::Rig;
use super::table_pipeline::TablePipeline;

const PATCHES: u32 = 450;

fn table(rig: &Rig) -> TablePipeline {
    TablePipeline::new(rig, Domain::Quad, OutputTopology::TriangleCw, &mixed_factors(60, 21))
}

/// Asserts that reading the draw says what is missing, and that all its arguments, also those of our own dispatches, are
/// zero.
fn assert_drew_nothing(rig: &Rig, tessellation: &Tessellation, what: &str, needed: u64, available: u64) {
    match Mesh::read_blocking(&rig.device, &rig.queue, tessellation) {
        Err(Error::WorkspaceTooSmall { what: w, needed: n, available: a }) => {
            assert_eq!((w, n, a), (what, needed, available));
        }
        other => panic!("not refused as too small: {:?}", other.map(|mesh| mesh.patches.len())),
    }
    for (i, chunk) in tessellation.chunks().iter().enumerate() {
        let begin = chunk.arguments_offset as usize / 4;
        assert_eq!(rig.words(&chunk.arguments)[begin..begin + 16], [0; 16], "arguments of chunk {i}");
    }
}

#[test]
fn one_vertex_or_one_primitive_too_few() {
    let rig = Rig::new();
    let table = table(&rig);
    let [vertices, primitives] = table.counts(PATCHES);
    let fits = |table: &TablePipeline, workspace: &mut Workspace, patches: u32| {
        let mesh = rig.read(&table.run(&rig, workspace, patches));
        assert_mesh(&mesh, &table.patches[..patches as usize]);
    };
    let mut workspace = rig.workspace(&table.pipeline, table.sizes(PATCHES, [vertices, primitives]));
    fits(&table, &mut workspace, PATCHES);

    let too_small = [
        ([vertices - 1, primitives], "vertices", vertices),
        ([vertices, primitives - 1], "primitives", primitives),
        ([0, 0], "vertices", vertices),
        // Both are missing: the vertices are named.
        ([5, 7], "vertices", vertices),
    ];
    for (room, what, needed) in too_small {
        let available = u64::from(if what == "vertices" { room[0] } else { room[1] });
        let mut workspace = rig.workspace(&table.pipeline, table.sizes(2 * PATCHES, room));
        let tessellation = table.run(&rig, &mut workspace, PATCHES);
        assert_drew_nothing(&rig, &tessellation, what, u64::from(needed), available);
        // A draw after it that fits; all of its patches are culled if there is no room at all.
        fits(&table, &mut workspace, if room[0] < 100 { 130 } else { 290 });
        workspace.reset();
        fits(&table, &mut workspace, if room[0] < 100 { 130 } else { 290 });
    }
}

/// Room for one draw and a half: the second leaves the first as it is, and the third, which fits in what is left, comes out.
#[test]
fn a_draw_that_does_not_fit_leaves_the_others_alone() {
    let rig = Rig::new();
    let table = table(&rig);
    let [vertices, primitives] = table.counts(PATCHES);
    let small = table.counts(137);
    assert!(small[0] > 0 && 2 * small[0] < vertices, "the small draw is something, and fits in the half");
    let room = [vertices + small[0], primitives + small[1]];
    let mut workspace = rig.workspace(&table.pipeline, table.sizes(3 * PATCHES, room));
    let mut encoder = rig.encoder();
    let first = table.encode(&rig, &mut encoder, &mut workspace, PATCHES);
    let second = table.encode(&rig, &mut encoder, &mut workspace, PATCHES);
    let third = table.encode(&rig, &mut encoder, &mut workspace, 137);
    rig.queue.submit([encoder.finish()]);
    assert_mesh(&rig.read(&first), &table.patches);
    assert_drew_nothing(&rig, &second, "vertices", vertices.into(), small[0].into());
    assert_mesh(&rig.read(&third), &table.patches[..137]);
    // Now it is full to the last vertex.
    let fourth = table.run(&rig, &mut workspace, 131);
    assert_drew_nothing(&rig, &fourth, "vertices", table.counts(131)[0].into(), 0);
}

#[test]
fn off_chip_threadgroups_run_out_too() {
    let rig = Rig::new();
    let table = table(&rig);
    let room = table.counts(PATCHES);
    let group = table.pipeline.plan().patches as usize;
    let busy =
        table.patches.chunks(group).filter(|patches| patches.iter().any(|patch| !patch.is_culled())).count() as u32;
    for (blocks, enough) in [(busy, true), (busy - 1, false), (0, false)] {
        let sizes = WorkspaceDescriptor { off_chip_threadgroups: blocks, ..table.sizes(PATCHES, room) };
        let mut workspace = rig.workspace(&table.pipeline, sizes);
        let tessellation = table.run(&rig, &mut workspace, PATCHES);
        if enough {
            assert_mesh(&rig.read(&tessellation), &table.patches);
        } else {
            assert_drew_nothing(&rig, &tessellation, "off-chip threadgroups", busy.into(), blocks.into());
        }
    }
}

/// What the CPU can know is refused before anything is encoded, and takes nothing of the workspace.
#[test]
fn patches_threadgroups_and_draws_are_counted_on_the_cpu() {
    let rig = Rig::new();
    let table = table(&rig);
    let room = table.counts(PATCHES);
    let group = table.pipeline.plan().patches;
    let sizes = table.sizes(PATCHES, room);
    let groups = PATCHES.div_ceil(group);
    let cases = [
        (WorkspaceDescriptor { patches: PATCHES - 1, ..sizes.clone() }, "patches", PATCHES, PATCHES - 1),
        (WorkspaceDescriptor { threadgroups: groups - 1, ..sizes.clone() }, "threadgroups", groups, groups - 1),
    ];
    let refusal = |workspace: &mut Workspace, patches: u32| {
        let mut encoder = rig.encoder();
        let error = table.encode_from(&rig, &mut encoder, workspace, patches, 0).expect_err("there is no room");
        match error {
            Error::WorkspaceTooSmall { what, needed, available } => (what, needed, available),
            other => panic!("another error: {other}"),
        }
    };
    for (descriptor, what, needed, available) in cases {
        let mut workspace = rig.workspace(&table.pipeline, descriptor);
        assert_eq!(refusal(&mut workspace, PATCHES), (what, needed.into(), available.into()));
        assert_mesh(&rig.read(&table.run(&rig, &mut workspace, 140)), &table.patches[..140]);
    }
    let mut workspace = rig.workspace(&table.pipeline, WorkspaceDescriptor { draws: 2, ..sizes });
    table.run(&rig, &mut workspace, 140);
    table.run(&rig, &mut workspace, 140);
    assert_eq!(refusal(&mut workspace, 140), ("draws", 1, 0));
    // Nothing to draw needs no entry.
    let mut encoder = rig.encoder();
    assert_eq!(table.encode(&rig, &mut encoder, &mut workspace, 0).chunks().len(), 0);
    workspace.reset();
    assert_mesh(&rig.read(&table.run(&rig, &mut workspace, 140)), &table.patches[..140]);
}

/// Sizes for the whole draw in several chunks, of which one is one vertex or one primitive too small.
fn short_chunks(rig: &Rig, table: &TablePipeline, short: usize, by: [u32; 2]) -> (Workspace, ChunkCapacity) {
    let groups = table.pipeline.plan().patches as usize;
    let counts: Vec<[u32; 2]> = table
        .patches
        .chunks(groups)
        .map(|own| own.iter().fold([0, 0], |sum, p| [sum[0] + p.point_count(), sum[1] + p.primitive_count()]))
        .collect();
    let mut sizes = table.sizes(2 * table.patches.len() as u32, [0, 0]);
    let borders = [0, 4, 9, counts.len()];
    sizes.chunks = borders
        .windows(2)
        .map(|pair| {
            let own = &counts[pair[0]..pair[1]];
            let [vertices, primitives] = [0, 1].map(|i| own.iter().map(|counts| counts[i]).sum::<u32>());
            assert!(vertices > 0, "a chunk with something in it");
            ChunkCapacity { threadgroups: pair[0] as u32..pair[1] as u32, vertices, primitives }
        })
        .collect();
    let whole = sizes.chunks[short].clone();
    sizes.chunks[short].vertices -= by[0];
    sizes.chunks[short].primitives -= by[1];
    (rig.workspace(&table.pipeline, sizes), whole)
}

/// Where one chunk is too small, none of the others may be drawn: half a mesh is a mesh that lost something silently.
#[test]
fn a_short_chunk_keeps_all_chunks_from_being_drawn() {
    let rig = Rig::new();
    let factors = mixed_factors(600, 22);
    let table = TablePipeline::new(&rig, Domain::Quad, OutputTopology::TriangleCw, &factors);
    let patches = factors.len() as u32;
    let (mut workspace, _) = short_chunks(&rig, &table, 0, [0, 0]);
    assert_mesh(&rig.read(&table.run(&rig, &mut workspace, patches)), &table.patches);
    for short in 0..3 {
        for (by, what) in [([1, 0], "vertices"), ([0, 1], "primitives")] {
            let (mut workspace, whole) = short_chunks(&rig, &table, short, by);
            let needed = if what == "vertices" { whole.vertices } else { whole.primitives };
            let tessellation = table.run(&rig, &mut workspace, patches);
            assert_drew_nothing(&rig, &tessellation, what, needed.into(), u64::from(needed) - 1);
            // The next draw has the same room as this one had.
            let tessellation = table.run(&rig, &mut workspace, patches);
            assert_drew_nothing(&rig, &tessellation, what, needed.into(), u64::from(needed) - 1);
        }
    }
}
