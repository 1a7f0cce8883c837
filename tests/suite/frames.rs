//! Frames after the first: with unchanged bindings no buffer, bind group or pipeline is made, whatever kind of draw it is.

use patchwave::hardware::TessellationParameters;
use patchwave::pipeline::IndirectDraw;
use patchwave::{Domain, Draw, IndexBuffer, TessellationPipelineDescriptor, WorkspaceDescriptor};
use wgpu::util::DrawIndexedIndirectArgs;

use super::rig::{FactorTable, Rig, factor_table_wgsl};

/// Draws of all kinds into one workspace in each frame, with reports and a stream output.
#[test]
fn unchanged_bindings_make_nothing() {
    let rig = Rig::new();
    let factors: Vec<[f32; 6]> = (0..60).map(|i| [1.0 + (i % 5) as f32; 6]).collect();
    let table = FactorTable::new(&rig, &factors);
    let shader = format!(
        "{}
         struct A {{ @location(0) x: f32 }} struct P {{ x: f32 }} struct S {{ @location(0) x: f32 }}
         fn vertex(a: A) -> P {{ return P(a.x); }}
         fn patch_constants(patch_id: u32) -> PatchConstants {{ return table_constants(patch_id); }}
         fn domain(at: vec3f, patch_id: u32) -> S {{
             return S(at.x * output_point(0u).x + at.y * output_point(1u).x + at.z * output_point(2u).x);
         }}",
        factor_table_wgsl(Domain::Tri)
    );
    let vertices = rig.storage(&(0..180).map(|i| i as f32).collect::<Vec<_>>());
    let indices = rig.storage(&(0..180u32).map(|i| i * 7 % 180).collect::<Vec<_>>());
    let record = DrawIndexedIndirectArgs { index_count: 90, instance_count: 1, ..Default::default() };
    let arguments = rig.buffer(record.as_bytes(), wgpu::BufferUsages::STORAGE);
    let target = rig.storage(&vec![0u32; 1 << 16]);

    let layouts = [wgpu::VertexBufferLayout {
        array_stride: 4,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &wgpu::vertex_attr_array![0 => Float32],
    }];
    let group_layouts = [Some(&table.layout)];
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Tri, 3);
    descriptor.names.hull = None;
    descriptor.vertex_buffers = &layouts;
    descriptor.bind_group_layouts = &group_layouts;
    descriptor.strip_cut = true;
    let off_chip = |threshold, waves| {
        descriptor.clone().off_chip(TessellationParameters {
            tessellation_factor_threshold: Some(threshold),
            ds_wave_threshold: Some(waves),
            ..Default::default()
        })
    };
    for descriptor in [descriptor.clone(), off_chip(0.0, 0), off_chip(3.0, 1)] {
        let pipeline = rig.pipeline(&descriptor);
        let room = WorkspaceDescriptor::new(&pipeline, 400, 20_000, 20_000);
        let mut workspace = rig.workspace(&pipeline, room);
        let mut created = None;
        for frame in 0..4 {
            workspace.reset();
            let mut encoder = rig.encoder();
            let plain =
                Draw { vertex_buffers: &[vertices.slice(..)], bind_groups: &[Some(&table.group)], ..Draw::new(0..180) };
            let indexed = Draw {
                index_buffer: Some(IndexBuffer { slice: indices.slice(..), format: wgpu::IndexFormat::Uint32 }),
                // What is no binding may change.
                vertices: frame..90 + frame,
                instances: 0..2,
                ..plain.clone()
            };
            let indirect = IndirectDraw {
                vertex_buffers: plain.vertex_buffers,
                index_buffer: indexed.index_buffer.clone(),
                bind_groups: plain.bind_groups,
                arguments: &arguments,
                offset: 0,
                stride: 20,
                records: 1,
                most_patches: 30,
                most_instances: 1,
            };
            let mut results = Vec::new();
            for draw in [&plain, &indexed] {
                let result = pipeline.encode(&rig.queue, &mut encoder, &mut workspace, draw);
                results.push(result.unwrap_or_else(|error| panic!("frame {frame}: {error}")));
            }
            let result = pipeline.encode_indirect(&rig.queue, &mut encoder, &mut workspace, &indirect);
            results.extend(result.unwrap_or_else(|error| panic!("frame {frame}: {error}")));
            pipeline
                .encode_stream_output(&mut encoder, &mut workspace, &results[0], 0, &target)
                .unwrap_or_else(|error| panic!("frame {frame}: {error}"));
            for result in &results {
                let asked = workspace.request_report(&mut encoder, result, |report| {
                    report.and_then(|report| report.fits()).expect("there is room");
                });
                assert!(asked.expect("a buffer of the ring"), "three of four are under way");
            }
            rig.queue.submit([encoder.finish()]);
            rig.poll();
            let objects = workspace.objects_created();
            assert!(objects > 0);
            assert_eq!(*created.get_or_insert(objects), objects, "frame {frame}");
            assert!(results.iter().all(|result| !rig.read(result).indices.is_empty()));
        }
    }
}
