//! Draws in batches through one workspace: the union is the draw as it is without, whatever the bound on memory is.

use patchwave::hardware::TessellationParameters;
use patchwave::pipeline::{BatchPlan, BatchWorkspace, Measurement};
use patchwave::{
    Domain, Draw, Error, IndexBuffer, Mesh, TessellationPipeline, TessellationPipelineDescriptor, WorkspaceDescriptor,
};

use super::rig::Rig;

/// Factors by patch id, some of them 0; vertices carry what tells patches, instances and control points apart.
const SHADER: &str = "
    struct Attributes { @location(0) value: u32 }
    struct P { value: u32, instance: u32 }
    struct C { factors: QuadFactors }
    struct S { @location(0) location: vec2f, @location(1) ids: vec2u, @location(2) points: vec3u }
    fn vertex(attributes: Attributes, id: VertexId) -> P { return P(attributes.value, id.instance_index); }
    fn patch_constants(patch_id: u32) -> C {
        let x = (patch_id * 2654435761u) >> 20u;
        return C(QuadFactors(vec4f(vec4u(x, x >> 3u, x >> 5u, x >> 7u) % vec4u(9u)), vec2f(vec2u(x, x >> 4u) % vec2u(20u))));
    }
    fn domain(location: vec2f, patch_id: u32) -> S {
        let points = vec3u(output_point(0u).value, output_point(1u).value, output_point(2u).value);
        return S(location, vec2u(patch_id, output_point(0u).instance), points);
    }";

const VERTICES: u32 = 500;

/// The buffers of a draw.
struct Scene {
    rig: Rig,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
}

impl Scene {
    fn new() -> Self {
        let rig = Rig::new();
        let values: Vec<u32> = (0..VERTICES).map(|vertex| vertex * 3 + 1).collect();
        let mut seed = 7u32;
        // Indices within the buffer and beyond it, and a cut now and then.
        let indices: Vec<u32> = (0..1000)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if seed >> 26 == 0 { u32::MAX } else { (seed >> 8) % (VERTICES + 9) }
            })
            .collect();
        let (vertices, index_buffer) = (rig.storage(&values), rig.storage(&indices));
        Self { rig, vertices, indices: index_buffer, index_count: indices.len() as u32 }
    }

    /// On-chip, off-chip from the first wave on, and dynamic.
    fn pipelines(&self, strip_cut: bool) -> [TessellationPipeline; 3] {
        let off_chip = |threshold, waves| TessellationParameters {
            tessellation_factor_threshold: Some(threshold),
            ds_wave_threshold: Some(waves),
            patches_per_threadgroup: Some(4),
        };
        let layouts = [wgpu::VertexBufferLayout {
            array_stride: 4,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Uint32],
        }];
        let mut descriptor = TessellationPipelineDescriptor::new(SHADER, Domain::Quad, 3);
        descriptor.names.hull = None;
        descriptor.vertex_buffers = &layouts;
        descriptor.strip_cut = strip_cut;
        descriptor.parameters.patches_per_threadgroup = Some(4);
        let make = |descriptor: &TessellationPipelineDescriptor<'_>| self.rig.pipeline(descriptor);
        [
            make(&descriptor),
            make(&descriptor.clone().off_chip(off_chip(0.0, 0))),
            make(&descriptor.clone().off_chip(off_chip(6.0, 1))),
        ]
    }

    /// Calls `with` with a draw of several instances.
    fn with_draw<T>(&self, indexed: bool, with: impl FnOnce(&Draw<'_>) -> T) -> T {
        let index_buffer = IndexBuffer { slice: self.indices.slice(..), format: wgpu::IndexFormat::Uint32 };
        with(&Draw {
            vertex_buffers: &[self.vertices.slice(..)],
            index_buffer: indexed.then_some(index_buffer),
            base_vertex: 2,
            instances: 3..6,
            first_patch: 17,
            ..Draw::new(if indexed { 5..self.index_count } else { 5..VERTICES })
        })
    }

    fn measure(&self, pipeline: &TessellationPipeline, draw: &Draw<'_>) -> Measurement {
        pipeline.measure_blocking(&self.rig.device, &self.rig.queue, draw).expect("it can be measured")
    }

    fn workspace(&self, pipeline: &TessellationPipeline, plan: &BatchPlan) -> BatchWorkspace {
        let made = BatchWorkspace::new(&self.rig.device, &self.rig.queue, pipeline, plan.clone());
        made.unwrap_or_else(|error| panic!("the batches' workspace: {error}"))
    }

    /// Stream outputs of all batches one after the other, all encoded before anything is submitted.
    fn streams(&self, pipeline: &TessellationPipeline, batches: &mut BatchWorkspace, draw: &Draw<'_>) -> Vec<u32> {
        let mut encoder = self.rig.encoder();
        let stride = pipeline.vertex_stride();
        let mut targets = Vec::new();
        for (batch, own) in batches.plan().clone().batches().iter().enumerate() {
            let result = pipeline
                .encode_batch(&self.rig.queue, &mut encoder, batches, draw, batch)
                .unwrap_or_else(|error| panic!("batch {batch}: {error}"));
            let size = pipeline.stream_output_bytes(&result, 0).expect("a chunk").max(16);
            let target = self.rig.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            let output = batches.encode_stream_output(pipeline, &mut encoder, &result, &target);
            output.unwrap_or_else(|error| panic!("batch {batch}: {error}"));
            targets.push((target, own.primitives as usize * 3 * stride as usize / 4));
        }
        self.rig.queue.submit([encoder.finish()]);
        targets.iter().flat_map(|(target, words)| self.rig.words(target)[..*words].to_vec()).collect()
    }
}

/// The meshes of the batches, each read before the next is encoded, put together.
pub(crate) fn union(rig: &Rig, pipeline: &TessellationPipeline, batches: &mut BatchWorkspace, draw: &Draw<'_>) -> Mesh {
    let mut union: Option<Mesh> = None;
    for batch in 0..batches.plan().batches().len() {
        let mut encoder = rig.encoder();
        let result = pipeline
            .encode_batch(&rig.queue, &mut encoder, batches, draw, batch)
            .unwrap_or_else(|error| panic!("batch {batch}: {error}"));
        rig.queue.submit([encoder.finish()]);
        let mesh = rig.read(&result);
        let own = batches.plan().batches()[batch].clone();
        assert_eq!((result.patches() as usize, result.chunks()[0].patches.clone()), (own.patches.len(), own.patches));
        assert_eq!(mesh.vertex_count(), own.vertices as usize, "batch {batch}");
        let Some(union) = &mut union else {
            union = Some(mesh);
            continue;
        };
        let (vertices, primitives) =
            (union.vertex_count() as u32, union.indices.len() as u32 / union.topology.vertices_per_primitive());
        union.vertices.extend(&mesh.vertices);
        union.indices.extend(mesh.indices.iter().map(|index| index + vertices));
        union.patches.extend(mesh.patches.into_iter().map(|mut patch| {
            patch.first_vertex += vertices;
            patch.first_primitive += primitives;
            patch
        }));
    }
    union.expect("a batch at least")
}

/// The vertices of a mesh's primitives one after the other.
fn expanded(mesh: &Mesh) -> Vec<u32> {
    let stride = mesh.surface.stride as usize;
    let vertex =
        |index: &u32| bytemuck::pod_collect_to_vec::<u8, u32>(&mesh.vertices[*index as usize * stride..][..stride]);
    mesh.indices.iter().flat_map(vertex).collect()
}

/// The fewest bytes, by what the refusal of a bound of nothing says.
fn least(pipeline: &TessellationPipeline, draw: &Draw<'_>, measurement: &Measurement) -> u64 {
    match BatchPlan::new(pipeline, draw, measurement, 0) {
        Err(Error::BoundTooSmall { needed, bound: 0 }) => needed,
        other => panic!("not refused: {other:?}"),
    }
}

fn check(scene: &Scene, indexed: bool, strip_cut: bool) {
    let mut meshes: Vec<Mesh> = Vec::new();
    for pipeline in scene.pipelines(strip_cut) {
        scene.with_draw(indexed, |draw| {
            let whole = scene.rig.mesh(&pipeline, draw);
            assert!(whole.vertex_count() > 10_000, "a draw of some size");
            let measurement = scene.measure(&pipeline, draw);
            let least = least(&pipeline, draw, &measurement);
            let mut counts = Vec::new();
            for bound in [least, least + 30_000, least + 200_000, 1 << 30] {
                let plan = BatchPlan::new(&pipeline, draw, &measurement, bound).expect("it fits the bound");
                let mut batches = scene.workspace(&pipeline, &plan);
                assert!(plan.bytes() <= bound && batches.total_bytes() == plan.bytes(), "{} of {bound}", plan.bytes());
                let sum = |of: fn(&patchwave::pipeline::Batch) -> u32| {
                    plan.batches().iter().map(|b| u64::from(of(b))).sum::<u64>()
                };
                assert_eq!(sum(|batch| batch.vertices), measurement.vertices());
                assert_eq!(sum(|batch| batch.primitives), measurement.primitives());
                counts.push(plan.batches().len());
                // Twice, the second time into what the first has left.
                assert!(union(&scene.rig, &pipeline, &mut batches, draw) == whole, "bound {bound}, indexed: {indexed}");
                let streams = scene.streams(&pipeline, &mut batches, draw);
                assert!(streams == expanded(&whole), "bound {bound}, indexed: {indexed}");
            }
            assert!(counts.is_sorted_by(|a, b| a >= b) && counts[0] > 20 && counts[3] == 1, "{counts:?}");
            meshes.push(whole);
        });
    }
    assert!(meshes.windows(2).all(|pair| pair[0] == pair[1]), "modes differ");
}

#[test]
fn the_union_of_the_batches_is_the_draw() {
    check(&Scene::new(), false, false);
}

#[test]
fn batches_of_indexed_draws() {
    check(&Scene::new(), true, false);
}

#[test]
fn batches_of_draws_with_strip_cuts() {
    let scene = Scene::new();
    check(&scene, true, true);
    // Without indices there is nothing to cut.
    check(&scene, false, true);
}

#[test]
fn bounds_that_are_too_small_are_refused() {
    let scene = Scene::new();
    let [pipeline, ..] = scene.pipelines(false);
    scene.with_draw(false, |draw| {
        let measurement = scene.measure(&pipeline, draw);
        let needed = least(&pipeline, draw, &measurement);
        BatchPlan::new(&pipeline, draw, &measurement, needed).expect("what is said to suffice suffices");
        // What a workspace has of a fixed size alone takes more than this.
        for bound in [1, 1000, 160_000] {
            let refused = BatchPlan::new(&pipeline, draw, &measurement, bound);
            assert!(matches!(refused, Err(Error::BoundTooSmall { needed: n, bound: b }) if (n, b) == (needed, bound)));
        }
        let other = Draw { instances: 0..1, ..draw.clone() };
        let error = BatchPlan::new(&pipeline, &other, &measurement, 1 << 20).expect_err("of another draw");
        assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    });
}

#[test]
fn batches_come_in_their_order() {
    let scene = Scene::new();
    let [pipeline, off_chip, _] = scene.pipelines(false);
    scene.with_draw(false, |draw| {
        let measurement = scene.measure(&pipeline, draw);
        let bound = least(&pipeline, draw, &measurement) + 100_000;
        let plan = BatchPlan::new(&pipeline, draw, &measurement, bound).expect("it fits the bound");
        let mut batches = scene.workspace(&pipeline, &plan);
        let mut encoder = scene.rig.encoder();
        let mut encode =
            |batches: &mut BatchWorkspace, pipeline: &TessellationPipeline, draw: &Draw<'_>, batch: usize| {
                pipeline.encode_batch(&scene.rig.queue, &mut encoder, batches, draw, batch)
            };
        let order = |result: Result<_, Error>| {
            let error = result.map(|_: patchwave::Tessellation| ()).expect_err("out of order");
            assert!(matches!(error, Error::OutOfRange { what: "batch", .. }), "{error}");
        };
        order(encode(&mut batches, &pipeline, draw, 1));
        let first = encode(&mut batches, &pipeline, draw, 0).expect("batch 0");
        order(encode(&mut batches, &pipeline, draw, 2));
        order(encode(&mut batches, &pipeline, draw, plan.batches().len()));
        for other in [
            Draw { base_vertex: 0, vertices: 0..7, ..draw.clone() },
            Draw { vertices: 4..VERTICES - 1, ..draw.clone() },
        ] {
            let error = encode(&mut batches, &pipeline, &other, 1).map(|_| ()).expect_err("of another draw");
            assert!(matches!(error, Error::WorkspaceMismatch { .. }), "{error}");
        }
        let error = encode(&mut batches, &off_chip, draw, 0).map(|_| ());
        assert!(matches!(error, Err(Error::WorkspaceMismatch { .. })), "{error:?}");
        // Batch 0 lies there until batch 1 comes.
        let second = encode(&mut batches, &pipeline, draw, 1).expect("batch 1");
        scene.rig.queue.submit([encoder.finish()]);
        let gone = Mesh::read_blocking(&scene.rig.device, &scene.rig.queue, &first).map(|_| ());
        assert!(matches!(gone, Err(Error::ResultOverwritten)), "{gone:?}");
        assert_eq!(scene.rig.read(&second).vertex_count(), plan.batches()[1].vertices as usize);
    });
}

#[test]
fn no_object_is_created_after_the_first_batch() {
    let scene = Scene::new();
    for pipeline in scene.pipelines(true) {
        scene.with_draw(true, |draw| {
            let measurement = scene.measure(&pipeline, draw);
            let bound = least(&pipeline, draw, &measurement) + 50_000;
            let plan = BatchPlan::new(&pipeline, draw, &measurement, bound).expect("it fits the bound");
            let mut batches = scene.workspace(&pipeline, &plan);
            let mut created = None;
            for _ in 0..2 {
                for batch in 0..plan.batches().len() {
                    let mut encoder = scene.rig.encoder();
                    pipeline
                        .encode_batch(&scene.rig.queue, &mut encoder, &mut batches, draw, batch)
                        .unwrap_or_else(|error| panic!("batch {batch}: {error}"));
                    scene.rig.queue.submit([encoder.finish()]);
                    let objects = batches.objects_created();
                    assert_eq!(*created.get_or_insert(objects), objects, "batch {batch}");
                }
            }
        });
    }
}

/// A draw without patches has no batches, and needs hardly any memory.
#[test]
fn nothing_has_no_batches() {
    let scene = Scene::new();
    let [pipeline, ..] = scene.pipelines(false);
    scene.with_draw(false, |draw| {
        let nothing = Draw { vertices: 0..2, ..draw.clone() };
        let measurement = scene.measure(&pipeline, &nothing);
        let plan = BatchPlan::new(&pipeline, &nothing, &measurement, 1 << 20).expect("it fits the bound");
        assert_eq!(plan.batches(), []);
        assert_eq!(scene.workspace(&pipeline, &plan).total_bytes(), plan.bytes());
    });
}

/// A result is refused once another draw has been encoded where it lay, and not before.
#[test]
fn results_that_were_overwritten_are_refused() {
    let scene = Scene::new();
    let rig = &scene.rig;
    let [pipeline, ..] = scene.pipelines(false);
    scene.with_draw(false, |draw| {
        let measurement = scene.measure(&pipeline, draw);
        let sizes = WorkspaceDescriptor::for_measurement(&pipeline, &measurement).expect("within the limits");
        let mut workspace = rig.workspace(&pipeline, sizes);
        let first = rig.run(&pipeline, &mut workspace, draw);
        let mesh = rig.read(&first);
        workspace.reset();
        assert!(rig.read(&first) == mesh, "nothing has been encoded since");
        let small = Draw { vertices: 0..30, ..draw.clone() };
        let nothing = Draw { vertices: 0..0, ..draw.clone() };
        let empty = rig.run(&pipeline, &mut workspace, &nothing);
        assert!(rig.read(&first) == mesh, "nothing has been encoded yet");
        let second = rig.run(&pipeline, &mut workspace, &small);
        let overwritten = |error: Result<(), Error>| {
            assert!(matches!(error, Err(Error::ResultOverwritten)), "{error:?}");
        };
        overwritten(Mesh::read_blocking(&rig.device, &rig.queue, &first).map(|_| ()));
        overwritten(first.threadgroup_records_blocking(&rig.device, &rig.queue).map(|_| ()));
        overwritten(first.statistics_blocking(&rig.device, &rig.queue).map(|_| ()));
        let mut encoder = rig.encoder();
        overwritten(workspace.request_report(&mut encoder, &first, |_| ()).map(|_| ()));
        overwritten(workspace.request_statistics(&mut encoder, &first, |_| ()).map(|_| ()));
        let target = rig.storage(&vec![0u32; 1 << 20]);
        overwritten(pipeline.encode_stream_output(&mut encoder, &mut workspace, &first, 0, &target).map(|_| ()));
        // A result of nothing lies nowhere.
        assert_eq!(rig.read(&empty).patches, []);
        assert_eq!(rig.read(&second).patches.len(), 30 / 3 * 3);
    });
}
