//! Draws of many patches from end to end: measured, encoded, counted and read back.

use std::time::Instant;

use patchwave::pipeline::{BatchPlan, BatchWorkspace};
use patchwave::{
    Domain, Draw, IndexBuffer, Mesh, TessellationPipeline, TessellationPipelineDescriptor, WorkspaceDescriptor,
};

use super::rig::Rig;

/// Indexed quads at factor 2. Vertices carry their location, patch id and the sum of their control points' numbers.
const SHADER: &str = "
    struct Attributes { @location(0) number: u32 }
    struct P { number: u32 }
    struct C { factors: QuadFactors }
    struct S { @location(0) location: vec2f, @location(1) patch_and_sum: vec2u }
    fn vertex(attributes: Attributes) -> P { return P(attributes.number); }
    fn patch_constants(patch_id: u32) -> C { return C(QuadFactors(vec4f(2.0), vec2f(2.0))); }
    fn domain(location: vec2f, patch_id: u32) -> S {
        var sum = 0u;
        for (var i = 0u; i < 4u; i++) { sum += output_point(i).number; }
        return S(location, vec2u(patch_id, sum));
    }";

struct Sheet {
    rig: Rig,
    pipeline: TessellationPipeline,
    numbers: wgpu::Buffer,
    indices: wgpu::Buffer,
    patches: u32,
}

/// Vertices in a row of the sheet.
const ROW: u32 = 1001;

/// The four vertices of a patch.
fn corners(patch: u32) -> [u32; 4] {
    let first = patch / (ROW - 1) * ROW + patch % (ROW - 1);
    [first, first + 1, first + ROW, first + ROW + 1]
}

impl Sheet {
    fn new(patches: u32) -> Self {
        let rig = Rig::new();
        let mut descriptor = TessellationPipelineDescriptor::new(SHADER, Domain::Quad, 4);
        descriptor.names.hull = None;
        let layouts = [wgpu::VertexBufferLayout {
            array_stride: 4,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Uint32],
        }];
        descriptor.vertex_buffers = &layouts;
        let pipeline = rig.pipeline(&descriptor);
        let numbers: Vec<u32> = (0..=corners(patches)[3]).collect();
        let indices: Vec<u32> = (0..patches).flat_map(corners).collect();
        let (numbers, indices) = (rig.storage(&numbers), rig.storage(&indices));
        Self { rig, pipeline, numbers, indices, patches }
    }

    fn with_draw<T>(&self, with: impl FnOnce(&Draw<'_>) -> T) -> T {
        with(&Draw {
            vertex_buffers: &[self.numbers.slice(..)],
            index_buffer: Some(IndexBuffer { slice: self.indices.slice(..), format: wgpu::IndexFormat::Uint32 }),
            ..Draw::new(0..4 * self.patches)
        })
    }

    /// Checks the vertices and primitives of the patches from `first` on.
    fn check(&self, mesh: &Mesh, first: u32) {
        assert_eq!(mesh.vertex_count(), 9 * mesh.patches.len());
        assert_eq!(mesh.indices.len(), 8 * 3 * mesh.patches.len());
        let stride = mesh.surface.stride as usize;
        for (id, patch) in (first..).zip(&mesh.patches) {
            assert_eq!((patch.vertices, patch.primitives), (9, 8), "patch {id}");
            let begin = patch.first_vertex as usize;
            let sum = corners(id).iter().sum::<u32>();
            let mut locations = 0.0;
            for vertex in mesh.vertices[begin * stride..][..9 * stride].chunks_exact(stride) {
                let words: [u32; 4] = bytemuck::pod_read_unaligned(vertex);
                assert_eq!(words[2..], [id, sum], "patch {id}");
                locations += f32::from_bits(words[0]) + 10.0 * f32::from_bits(words[1]);
            }
            // Three rows and three columns at 0, 1/2 and 1.
            assert_eq!(locations, 4.5 * 11.0, "patch {id}");
            let indices = &mesh.indices[patch.first_primitive as usize * 3..][..24];
            assert!(indices.iter().all(|index| (begin..begin + 9).contains(&(*index as usize))), "patch {id}");
        }
    }
}

fn whole_draw(patches: u32) {
    let sheet = Sheet::new(patches);
    let rig = &sheet.rig;
    sheet.with_draw(|draw| {
        let measured = sheet.pipeline.measure_blocking(&rig.device, &rig.queue, draw).expect("it can be measured");
        let counts = (measured.patches(), measured.vertices(), measured.primitives());
        assert_eq!(counts, (patches, 9 * u64::from(patches), 8 * u64::from(patches)));
        let sizes = WorkspaceDescriptor::for_measurement(&sheet.pipeline, &measured).expect("within the limits");
        let mut workspace = rig.workspace(&sheet.pipeline, sizes);
        let result = rig.run(&sheet.pipeline, &mut workspace, draw);
        let statistics = result.statistics_blocking(&rig.device, &rig.queue).expect("statistics");
        assert_eq!((statistics.ia_primitives, statistics.ds_invocations), (patches.into(), 9 * u64::from(patches)));
        let mesh = rig.read(&result);
        assert_eq!(mesh.patches.len(), patches as usize);
        sheet.check(&mesh, 0);
    });
}

#[test]
fn fifty_thousand_quads() {
    whole_draw(50_000);
}

/// More than one binding holds where that is 128 MiB, so the output is in chunks there.
#[test]
fn a_million_quads() {
    let begin = Instant::now();
    whole_draw(1_000_000);
    println!("a million quads: {:.1} s", begin.elapsed().as_secs_f64());
}

/// The same in batches of 32 MiB, each read back.
#[test]
fn a_million_quads_in_batches() {
    let sheet = Sheet::new(1_000_000);
    let rig = &sheet.rig;
    sheet.with_draw(|draw| {
        let measured = sheet.pipeline.measure_blocking(&rig.device, &rig.queue, draw).expect("it can be measured");
        let plan = BatchPlan::new(&sheet.pipeline, draw, &measured, 32 << 20).expect("it fits the bound");
        let mut batches =
            BatchWorkspace::new(&rig.device, &rig.queue, &sheet.pipeline, plan.clone()).expect("the memory is there");
        assert!(batches.total_bytes() <= 32 << 20);
        assert!((8..20).contains(&plan.batches().len()), "{} batches", plan.batches().len());
        let mut patches = 0;
        for (i, batch) in plan.batches().iter().enumerate() {
            let mut encoder = rig.encoder();
            let result = sheet
                .pipeline
                .encode_batch(&rig.queue, &mut encoder, &mut batches, draw, i)
                .unwrap_or_else(|error| panic!("batch {i}: {error}"));
            rig.queue.submit([encoder.finish()]);
            sheet.check(&rig.read(&result), batch.patches.start);
            assert_eq!(batch.patches.start, patches);
            patches = batch.patches.end;
        }
        assert_eq!(patches, sheet.patches);
    });
}
