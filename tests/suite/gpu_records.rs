//! Where `Tessellation::gpu_records` says that records lie, they lie, and they say where a patch's vertices are.

use patchwave::hardware::TessellationParameters;
use patchwave::pipeline::ChunkCapacity;
use patchwave::{Domain, Draw, TessellationPipelineDescriptor, WorkspaceDescriptor};

use super::rig::Rig;

/// Every third patch is culled, the others have factors from 1 on.
const SHADER: &str = "
struct Corner { position: vec2f }
struct PatchConstants { factors: QuadFactors }
struct Surface { @location(0) at: vec2f, @location(1) patch_id: u32 }
fn vertex(id: VertexId) -> Corner { return Corner(vec2f(f32(id.vertex_index), f32(id.instance_index))); }
fn patch_constants(patch_id: u32) -> PatchConstants {
    let factor = select(1.0 + f32(patch_id), 0.0, patch_id % 3u == 2u);
    return PatchConstants(QuadFactors(vec4f(factor), vec2f(factor)));
}
fn domain(uv: vec2f, patch_id: u32) -> Surface {
    return Surface(mix(output_point(0u).position, output_point(3u).position, uv), patch_id);
}";

#[test]
fn records_of_two_draws_in_one_workspace() {
    let rig = Rig::new();
    let mut descriptor =
        TessellationPipelineDescriptor::new(SHADER, Domain::Quad, 4).off_chip(TessellationParameters {
            patches_per_threadgroup: Some(2),
            tessellation_factor_threshold: Some(4.0),
            ds_wave_threshold: Some(1),
        });
    descriptor.names.hull = None;
    let pipeline = rig.pipeline(&descriptor);
    // 7 patches an instance end in a threadgroup that is not full.
    let draws = [Draw { instances: 0..3, ..Draw::new(0..28) }, Draw::new(4..24)];
    let mut workspace = rig.workspace(
        &pipeline,
        WorkspaceDescriptor {
            label: "records".to_owned(),
            patches: 26,
            threadgroups: 15,
            off_chip_threadgroups: 12,
            draws: 2,
            chunks: vec![ChunkCapacity { threadgroups: 0..15, vertices: 2000, primitives: 3000 }],
        },
    );
    let tessellations = draws.map(|draw| rig.run(&pipeline, &mut workspace, &draw));
    let mut culled = 0;
    let mut off_chip = 0;
    for (tessellation, [patches, instances]) in tessellations.iter().zip([[7u32, 3u32], [5, 1]]) {
        let (mesh, vertices) = (rig.read(tessellation), rig.words(&tessellation.chunks()[0].vertices));
        let groups = tessellation.threadgroup_records_blocking(&rig.device, &rig.queue).expect("the draw fits");
        let records = tessellation.gpu_records().expect("it is a direct draw");
        let words = rig.words(records.buffer);
        assert_eq!((records.patch_count, records.patches_per_instance), (patches * instances, patches));
        assert_eq!((records.patches_per_threadgroup, records.threadgroups_per_instance), (2, patches.div_ceil(2)));
        assert_eq!(mesh.patches.len(), records.patch_count as usize);
        for (i, patch) in (0u32..).zip(&mesh.patches) {
            let record = &words[(records.patches + i * records.words_per_patch) as usize..][..10];
            assert_eq!((record[2], record[3]), (patch.vertices, patch.primitives), "patch {i}");
            let factors: Vec<u32> = patch.factors.iter().map(|factor| factor.to_bits()).collect();
            assert_eq!(record[4..], factors, "patch {i}");
            let stride = mesh.surface.stride as usize / 4;
            let canonical = &bytemuck::pod_collect_to_vec::<u8, u32>(&mesh.vertices)
                [patch.first_vertex as usize * stride..][..patch.vertices as usize * stride];
            let there = &vertices[record[0] as usize * stride..][..canonical.len()];
            assert!(there == canonical, "the vertices of patch {i} lie elsewhere");
            culled += u32::from(patch.vertices == 0);

            let group = i / records.patches_per_instance * records.threadgroups_per_instance
                + i % records.patches_per_instance / records.patches_per_threadgroup;
            let record = &words[(records.threadgroups + group * records.words_per_threadgroup) as usize..][..8];
            let expected = &groups[group as usize];
            assert_eq!(
                (record[0], record[1], record[5] != 0),
                (expected.points, expected.primitives, expected.off_chip)
            );
            off_chip += u32::from(expected.off_chip);
        }
    }
    // Of both kinds there are some.
    assert_eq!(culled, 2 * 3 + 1);
    assert!(off_chip > 0 && off_chip < 26, "{off_chip}");
}
