//! Strip-cut indices: each drops the patch that it falls into, and the next index begins another.

use patchwave::hardware::TessellationParameters;
use patchwave::{Error, IndexBuffer, WorkspaceDescriptor};
use wgpu::VertexFormat as F;

use super::assembler_model::{Case, IndexStream, Stream, placed, slice};
use super::rig::Rig;

const CUT: u32 = u32::MAX;

/// A draw of all these indices, with vertices that carry their own numbers.
fn case(points: u32, wide: bool, indices: &[u32]) -> Case {
    let bytes = if wide {
        indices.iter().flat_map(|index| index.to_le_bytes()).collect()
    } else {
        indices.iter().flat_map(|index| (*index as u16).to_le_bytes()).collect()
    };
    let format = if wide { wgpu::IndexFormat::Uint32 } else { wgpu::IndexFormat::Uint16 };
    Case {
        points,
        streams: vec![Stream {
            stride: 4,
            per_instance: false,
            attributes: vec![(0, F::Uint32)],
            bytes: (1000..1200u32).flat_map(u32::to_le_bytes).collect(),
        }],
        indices: Some(IndexStream { format, bytes, strip_cut: true }),
        vertices: 0..indices.len() as u32,
        base_vertex: 0,
        instances: 0..1,
    }
}

#[test]
fn cuts_drop_incomplete_patches() {
    let rig = Rig::new();
    let lists: [&[u32]; 8] = [
        &[0, 1, 2, 3, 4, 5],
        &[0, 1, CUT, 2, 3, 4, 5],
        &[CUT, CUT, 0, 1, 2, CUT, 3, 4, 5, 6, CUT, 7, 8, 9],
        &[0, 1, 2, 3, 4, 5, CUT],
        &[CUT; 7],
        &[0, 1, CUT, 3, 4, CUT, 5],
        &[0, 1, CUT, 3, 4, CUT, 5, 6, 7, 8],
        // Of the other width, an index like any other.
        &[0xffff, 0xff, 1, 2, 3, 0xffff],
    ];
    for indices in lists {
        for wide in [false, true] {
            let mut case = case(3, wide, indices);
            case.check(&rig);
            case.instances = 1..4;
            case.base_vertex = -3;
            case.check(&rig);
            case.vertices = 1..case.vertices.end + 2;
            case.check(&rig);
            // Without the switch, an index like any other.
            case.indices.as_mut().expect("indices").strip_cut = false;
            case.check(&rig);
        }
    }
}

/// Cuts at the ends of lanes' and blocks' shares of a long buffer, and runs longer than those; patches of all sizes.
#[test]
fn long_index_buffers() {
    let rig = Rig::new();
    for (points, count, every) in
        [(1, 9000, 7), (3, 20_000, 1000), (4, 13_000, 4096), (5, 4097, 16), (32, 30_000, 257), (3, 12_288, 3)]
    {
        let mut state: u32 = points;
        let indices: Vec<u32> = (0..count)
            .map(|i| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let cut = (state >> 8).is_multiple_of(every) || (i > 5000 && i % 4096 < 2);
                if cut { CUT } else { i % 200 }
            })
            .collect();
        case(points, points % 2 == 0, &indices).check(&rig);
    }
    // None but the last two: a block of its own that begins with a pending patch.
    let mut indices: Vec<u32> = (0..8193).map(|i| i % 200).collect();
    indices[8190] = CUT;
    case(3, true, &indices).check(&rig);
}

/// Off-chip threadgroups, draws that follow one another, chunks and a draw without indices: each with its own table.
#[test]
fn off_chip_and_several_draws() {
    let rig = Rig::new();
    let indices: Vec<u32> =
        (0..600).map(|i| if i % 7 == 3 || (200..420).contains(&i) { CUT } else { i % 200 }).collect();
    let mut case = case(3, true, &indices);
    case.instances = 0..3;
    let (vertices, bytes) = (&case.streams[0].bytes, &case.indices.as_ref().expect("indices").bytes);
    let (buffer, index_buffer) = (rig.storage(&placed(vertices)), rig.storage(&placed(bytes)));
    let slices = [slice(&buffer, vertices)];
    let indices = IndexBuffer { slice: slice(&index_buffer, bytes), format: wgpu::IndexFormat::Uint32 };
    // From a wave on that is not the first, which threadgroups with patches left out have as well.
    let pipeline = |waves: u32| {
        let parameters = TessellationParameters {
            patches_per_threadgroup: Some(64),
            tessellation_factor_threshold: Some(0.0),
            ds_wave_threshold: Some(waves),
        };
        case.pipeline(&rig, |descriptor| *descriptor = descriptor.clone().off_chip(parameters)).expect("a pipeline")
    };
    for waves in [1, 2] {
        case.compare(&case.see(&rig, &pipeline(waves), &slices, Some(indices.clone())).expect("a draw"));
    }
    let pipeline = pipeline(0);
    case.compare(&case.see(&rig, &pipeline, &slices, Some(indices.clone())).expect("a draw"));

    let mut workspace = rig.workspace(&pipeline, WorkspaceDescriptor::new(&pipeline, 3000, 6000, 6000));
    let counts = |workspace: &mut patchwave::Workspace, draw: &patchwave::Draw<'_>| {
        rig.read(&rig.run(&pipeline, workspace, draw)).patches.len()
    };
    let draw = case.draw(&slices, Some(indices.clone()));
    let patches = case.expected().len() / 3;
    assert!(patches > 100 && patches < 600);
    let short = patchwave::Draw { vertices: 0..9, ..draw.clone() };
    let plain = patchwave::Draw { vertices: 0..99, index_buffer: None, ..draw.clone() };
    // Patches that are not there are not counted as culled, either.
    let result = rig.run(&pipeline, &mut workspace, &draw);
    let records = result.threadgroup_records_blocking(&rig.device, &rig.queue).expect("the records");
    assert_eq!(records.iter().map(|record| record.patches as usize).sum::<usize>(), patches);
    assert_eq!(records.iter().map(|record| record.culled).sum::<u32>(), 0);
    workspace.reset();
    for _ in 0..2 {
        let expected = [(&draw, patches), (&short, 2 * 3), (&plain, 33 * 3), (&draw, patches)];
        for (draw, expected) in expected {
            assert_eq!(counts(&mut workspace, draw), expected);
        }
        workspace.reset();
    }
}

/// A workspace made for a pipeline without cuts has no room for their tables.
#[test]
fn a_workspace_without_tables_is_refused() {
    let rig = Rig::new();
    let mut case = case(3, true, &[0, 1, 2]);
    let with = case.pipeline(&rig, |_| ()).expect("a pipeline");
    case.indices.as_mut().expect("indices").strip_cut = false;
    let without = case.pipeline(&rig, |_| ()).expect("a pipeline");
    let mut workspace = rig.workspace(&without, WorkspaceDescriptor::new(&without, 9, 99, 99));
    let vertices = rig.storage(&case.streams[0].bytes);
    let indices = rig.storage(&[0u32, 1, 2]);
    let index_buffer = Some(IndexBuffer { slice: indices.slice(..), format: wgpu::IndexFormat::Uint32 });
    let slices = [vertices.slice(..)];
    let draw = case.draw(&slices, index_buffer);
    let error = with.encode(&rig.queue, &mut rig.encoder(), &mut workspace, &draw).map(|_| ()).expect_err("refused");
    assert!(matches!(&error, Error::WorkspaceMismatch { reason } if reason.contains("strip cuts")), "{error}");
    // The other way round there is room to spare.
    let mut workspace = rig.workspace(&with, WorkspaceDescriptor::new(&with, 9, 99, 99));
    assert_eq!(rig.read(&rig.run(&without, &mut workspace, &draw)).patches.len(), 1);
}

/// Indirect draws find their patches on the GPU as well: records of their own lengths, one without patches, and one with
/// more indices than was said.
#[test]
fn indirect_draws() {
    let rig = Rig::new();
    let indices: Vec<u32> = (0..9000).map(|i| if i % 50 == 7 || i % 4096 == 0 { CUT } else { i % 200 }).collect();
    let case = case(3, true, &indices);
    let pipeline = case.pipeline(&rig, |_| ()).expect("a pipeline");
    let (vertices, index_buffer) = (rig.storage(&case.streams[0].bytes), rig.storage(&indices));
    let slices = [vertices.slice(..)];
    let index_buffer = IndexBuffer { slice: index_buffer.slice(..), format: wgpu::IndexFormat::Uint32 };
    // Indices, instances, first index, base vertex, first instance.
    let records = [[8990u32, 1, 5, 3, 0], [2, 1, 0, 0, 0], [100, 3, 0, 0, 1], [9999, 1, 0, 0, 0], [60, 1, 8995, 0, 0]];
    let arguments = rig.storage(&records);
    let draw = patchwave::pipeline::IndirectDraw {
        vertex_buffers: &slices,
        index_buffer: Some(index_buffer.clone()),
        bind_groups: &[],
        arguments: &arguments,
        offset: 0,
        stride: 20,
        records: 5,
        most_patches: 3000,
        most_instances: 3,
    };
    let mut workspace = rig.workspace(&pipeline, WorkspaceDescriptor::new(&pipeline, 20_000, 60_000, 60_000));
    let mut encoder = rig.encoder();
    let results = pipeline.encode_indirect(&rig.queue, &mut encoder, &mut workspace, &draw).expect("it is encoded");
    rig.queue.submit([encoder.finish()]);
    for ([count, instances, first, base, first_instance], result) in records.into_iter().zip(&results) {
        let mesh = patchwave::Mesh::read_blocking(&rig.device, &rig.queue, result);
        if count == 9999 {
            assert!(matches!(mesh, Err(Error::WorkspaceTooSmall { .. })), "3333 patches");
            continue;
        }
        let direct = patchwave::Draw {
            base_vertex: base as i32,
            instances: first_instance..first_instance + instances,
            vertices: first..first + count,
            ..case.draw(&slices, Some(index_buffer.clone()))
        };
        assert_eq!(mesh.expect("it fits"), rig.mesh(&pipeline, &direct));
    }
}
