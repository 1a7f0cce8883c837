//! Tessellation over simulated nodes: gathered on any node or read back, it is what one node makes, bit by bit.

use patchwave::adapter::nodes::{GatheredMesh, NodeDraw, NodeError};
use patchwave::hardware::TessellationParameters;
use patchwave::{
    Domain, Draw, Error, IndexBuffer, Mesh, OutputTopology, TessellationPipeline, TessellationPipelineDescriptor,
};

use super::model::mixed_factors;
use super::nodes_rig::{NodeRig, SMALL_STAGING};
use super::rig::{FactorTable, Rig, factor_table_wgsl, location_type};

/// Each vertex carries all ids that its patch is told: by the hull, the patch constants and the domain function, and the
/// vertex and instance of a control point.
fn shader(domain: Domain) -> String {
    format!(
        "{}
         struct P {{ vertex: u32, instance: u32, id: u32 }}
         struct C {{ factors: {factors}, id: u32 }}
         struct S {{ @location(0) location: {location}, @location(1) ids: vec3u, @location(2) input: vec2u }}
         fn vertex(id: VertexId) -> P {{ return P(id.vertex_index, id.instance_index, 0u); }}
         fn hull(point: u32, patch_id: u32) -> P {{
             let p = input_point(point);
             return P(p.vertex, p.instance, patch_id);
         }}
         fn patch_constants(patch_id: u32) -> C {{ return C(table_constants(patch_id).factors, patch_id); }}
         fn domain(location: {location}, patch_id: u32) -> S {{
             let p = output_point(2u);
             return S(location, vec3u(p.id, constants().id, patch_id), vec2u(p.vertex, p.instance));
         }}",
        factor_table_wgsl(domain),
        factors = match domain {
            Domain::Tri => "TriFactors",
            Domain::Quad => "QuadFactors",
            Domain::Isoline => "IsolineFactors",
        },
        location = location_type(domain),
    )
}

/// A draw as a device has it.
struct Scene {
    pipeline: TessellationPipeline,
    table: FactorTable,
    indices: wgpu::Buffer,
}

const POINTS: u32 = 3;

/// Factors of all kinds, of which the first patches are not culled.
fn factors(count: usize) -> Vec<[f32; 6]> {
    let mut factors = mixed_factors(count, 31);
    factors.rotate_left(130);
    factors
}

impl Scene {
    fn new(rig: &Rig, domain: Domain, off_chip: bool, factors: &[[f32; 6]]) -> Self {
        let table = FactorTable::new(rig, factors);
        let text = shader(domain);
        let groups = [Some(&table.layout)];
        let mut descriptor = TessellationPipelineDescriptor {
            bind_group_layouts: &groups,
            ..TessellationPipelineDescriptor::new(&text, domain, POINTS)
        };
        if off_chip {
            descriptor = descriptor.off_chip(TessellationParameters {
                tessellation_factor_threshold: Some(6.0),
                ..TessellationParameters::default()
            });
        }
        let pipeline = rig.pipeline(&descriptor);
        let indices: Vec<u32> = (0..factors.len() as u32 * POINTS).map(|i| i.wrapping_mul(7_919) % 1_000).collect();
        let indices = rig.storage(&indices);
        Self { pipeline, table, indices }
    }
}

/// What is drawn.
#[derive(Clone)]
struct Shape {
    vertices: std::ops::Range<u32>,
    instances: std::ops::Range<u32>,
    first_patch: u32,
    indexed: bool,
}

impl Shape {
    fn with<T>(&self, scene: &Scene, with: impl FnOnce(Draw<'_>) -> T) -> T {
        let groups = [Some(&scene.table.group)];
        let slice = scene.indices.slice(..);
        with(Draw {
            bind_groups: &groups,
            instances: self.instances.clone(),
            first_patch: self.first_patch,
            index_buffer: self.indexed.then_some(IndexBuffer { slice, format: wgpu::IndexFormat::Uint32 }),
            ..Draw::new(self.vertices.clone())
        })
    }
}

/// Tessellates over the nodes; the mesh read back, and the one gathered on each node.
fn over_nodes(rig: &mut NodeRig, scenes: &[Scene], shape: &Shape) -> (Mesh, Vec<GatheredMesh>) {
    let groups: Vec<_> = scenes.iter().map(|scene| [Some(&scene.table.group)]).collect();
    let draws: Vec<_> = scenes
        .iter()
        .zip(&groups)
        .map(|(scene, groups)| NodeDraw {
            pipeline: &scene.pipeline,
            draw: shape.with(scene, |draw| Draw {
                bind_groups: groups,
                index_buffer: shape
                    .indexed
                    .then_some(IndexBuffer { slice: scene.indices.slice(..), format: wgpu::IndexFormat::Uint32 }),
                vertex_buffers: &[],
                ..Draw { instances: draw.instances, first_patch: draw.first_patch, ..Draw::new(draw.vertices) }
            }),
        })
        .collect();
    let made = rig.nodes.tessellate_blocking(&draws).unwrap_or_else(|error| panic!("tessellating: {error}"));
    let total: u64 = (0..rig.nodes.node_count()).map(|node| made.patches_of(node)).sum();
    for node in 0..rig.nodes.node_count() {
        let own = made.patches_of(node);
        assert!(own.abs_diff(total / u64::from(rig.nodes.node_count())) <= 1, "node {node} has {own} of {total}");
    }
    let mesh = rig.nodes.read_mesh_blocking(&made).unwrap_or_else(|error| panic!("reading: {error}"));
    let gathered = (0..rig.nodes.node_count())
        .map(|node| rig.nodes.gather_blocking(&made, node).unwrap_or_else(|error| panic!("gathering: {error}")))
        .collect();
    (mesh, gathered)
}

/// Compares all that with what one node makes.
fn assert_same(rig: &mut NodeRig, scenes: &[Scene], shape: &Shape) -> usize {
    let one = shape.with(&scenes[0], |draw| rig.rigs[0].mesh(&scenes[0].pipeline, &draw));
    let (mesh, gathered) = over_nodes(rig, scenes, shape);
    assert!(mesh == one, "read back from the nodes");
    for mesh in &gathered {
        let node = mesh.vertices.masks().node();
        assert_eq!((mesh.vertex_count as usize, mesh.index_count as usize), (one.vertex_count(), one.indices.len()));
        let (vertices, indices) = (rig.bytes(&mesh.vertices), rig.bytes(&mesh.indices));
        assert!(vertices[..one.vertices.len()] == one.vertices[..], "vertices gathered on node {node}");
        assert!(
            indices[..one.indices.len() * 4] == *bytemuck::cast_slice::<u32, u8>(&one.indices),
            "indices on {node}"
        );
    }
    one.vertex_count()
}

fn scenes(rig: &NodeRig, domain: Domain, off_chip: bool, patches: usize) -> Vec<Scene> {
    let factors = factors(patches);
    rig.rigs.iter().map(|rig| Scene::new(rig, domain, off_chip, &factors)).collect()
}

fn plain(vertices: std::ops::Range<u32>) -> Shape {
    Shape { vertices, instances: 0..1, first_patch: 0, indexed: false }
}

#[test]
fn two_nodes_make_what_one_makes() {
    let mut rig = NodeRig::new();
    for (domain, off_chip) in [(Domain::Quad, false), (Domain::Tri, true), (Domain::Isoline, false)] {
        let scenes = scenes(&rig, domain, off_chip, 200);
        let patches = factors(200).len() as u32;
        let vertices = assert_same(&mut rig, &scenes, &plain(0..patches * POINTS));
        assert!(vertices > 3_000, "{vertices} vertices of {patches} patches");
        // An odd number of patches, beginning in the middle of the vertices, with one vertex too many.
        assert_same(&mut rig, &scenes, &plain(7..7 + 101 * POINTS + 1));
    }
}

/// Instances are split too, in their middle where the shares fall so.
#[test]
fn instances_and_indices() {
    let mut rig = NodeRig::new();
    let scenes = scenes(&rig, Domain::Quad, false, 60);
    for (instances, indexed) in [(3..4, true), (0..2, false), (5..10, true), (0..7, false)] {
        for patches in [1, 13] {
            let shape =
                Shape { vertices: 2..2 + patches * POINTS, instances: instances.clone(), first_patch: 0, indexed };
            assert!(assert_same(&mut rig, &scenes, &shape) > 0);
        }
    }
}

/// Fewer patches than nodes, and none.
#[test]
fn few_patches() {
    let adapter = crate::gpu::adapter();
    let limits = TessellationPipeline::required_limits(&adapter);
    let rigs = (0..3).map(|_| Rig::on(crate::gpu::device_of(&adapter, limits.clone()))).collect();
    let mut rig = NodeRig::of(rigs, SMALL_STAGING);
    let scenes = scenes(&rig, Domain::Quad, false, 40);
    for patches in [0, 1, 2, 4, 40] {
        let vertices = assert_same(&mut rig, &scenes, &plain(0..patches * POINTS));
        assert_eq!(vertices > 0, patches > 0);
    }
}

/// Shares that take several output chunks each.
#[test]
fn several_chunks() {
    let adapter = crate::gpu::adapter();
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 220 << 10, ..wgpu::Limits::default() };
    let rigs = (0..2).map(|_| Rig::on(crate::gpu::device_of(&adapter, limits.clone()))).collect();
    let mut rig = NodeRig::of(rigs, SMALL_STAGING);
    let scenes = scenes(&rig, Domain::Quad, false, 600);
    let patches = factors(600).len() as u32;
    let vertices = assert_same(&mut rig, &scenes, &plain(0..patches * POINTS));
    let bytes = vertices as u64 * scenes[0].pipeline.vertex_stride();
    assert!(bytes > 4 * (220 << 10), "{bytes} bytes need several chunks on each node");
}

/// `first_patch` alone: a part of a draw has the patch ids of the whole.
#[test]
fn a_part_keeps_its_patch_ids() {
    let rig = Rig::new();
    let factors = factors(40);
    for off_chip in [false, true] {
        let scene = Scene::new(&rig, Domain::Quad, off_chip, &factors);
        let whole = plain(0..100 * POINTS).with(&scene, |draw| rig.mesh(&scene.pipeline, &draw));
        let shape = Shape { first_patch: 11, ..plain(11 * POINTS..100 * POINTS) };
        let part = shape.with(&scene, |draw| rig.mesh(&scene.pipeline, &draw));
        let first = whole.patches[11].first_vertex as usize * whole.surface.stride as usize;
        assert!(part.vertices == whole.vertices[first..] && part.vertex_count() > 100);
        assert_eq!(part.patches.len(), 89);
    }
    let scene = Scene::new(&rig, Domain::Quad, false, &factors);
    let shape = Shape { first_patch: u32::MAX - 1, ..plain(0..2 * POINTS) };
    let error = shape.with(&scene, |draw| scene.pipeline.measure_blocking(&rig.device, &rig.queue, &draw));
    match error {
        Err(Error::OutOfRange { what: "first_patch of a draw", .. }) => {}
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn draws_that_are_not_one_are_refused() {
    let mut rig = NodeRig::new();
    let scenes = scenes(&rig, Domain::Quad, false, 40);
    let draw = |scene: usize, vertices: std::ops::Range<u32>| NodeDraw {
        pipeline: &scenes[scene].pipeline,
        draw: Draw::new(vertices),
    };
    let message = |rig: &mut NodeRig, draws: &[NodeDraw<'_>]| match rig.nodes.tessellate_blocking(draws) {
        Err(error @ NodeError::Draws { .. }) => error.to_string(),
        other => panic!("not refused: {other:?}"),
    };
    let words = "the draws of the nodes: 1 were given for 2 nodes; give one a node";
    assert_eq!(message(&mut rig, &[draw(0, 0..30)]), words);
    let words = message(&mut rig, &[draw(0, 0..30), draw(1, 0..27)]);
    assert!(words.contains("node 1 draws (0..27, 0..1, 0, 0) and node 0 (0..30"), "{words}");
    let text = shader(Domain::Quad);
    let groups = [Some(&scenes[1].table.layout)];
    let descriptor = TessellationPipelineDescriptor {
        bind_group_layouts: &groups,
        output_topology: OutputTopology::TriangleCcw,
        ..TessellationPipelineDescriptor::new(&text, Domain::Quad, POINTS)
    };
    let other = rig.rigs[1].pipeline(&descriptor);
    let draws = [draw(0, 0..30), NodeDraw { pipeline: &other, draw: Draw::new(0..30) }];
    assert!(message(&mut rig, &draws).contains("the pipeline of node 1 is not that of node 0"));
    // Draws that the pipeline refuses are refused before anything runs.
    let error = rig.nodes.tessellate_blocking(&[draw(0, 0..30), draw(1, 0..30)]).expect_err("no bind groups");
    assert!(matches!(error, NodeError::Pipeline(Error::MissingBindGroup { .. })), "{error}");
}

#[test]
fn strip_cuts_are_refused() {
    let mut rig = NodeRig::new();
    let factors = factors(4);
    let text = shader(Domain::Quad);
    let tables: Vec<_> = rig.rigs.iter().map(|rig| FactorTable::new(rig, &factors)).collect();
    let pipelines: Vec<_> = rig
        .rigs
        .iter()
        .zip(&tables)
        .map(|(rig, table)| {
            let groups = [Some(&table.layout)];
            rig.pipeline(&TessellationPipelineDescriptor {
                bind_group_layouts: &groups,
                strip_cut: true,
                ..TessellationPipelineDescriptor::new(&text, Domain::Quad, POINTS)
            })
        })
        .collect();
    let indices: Vec<_> = rig.rigs.iter().map(|rig| rig.storage(&[0u32; 30])).collect();
    let draws: Vec<_> = pipelines
        .iter()
        .zip(&indices)
        .map(|(pipeline, indices)| NodeDraw {
            pipeline,
            draw: Draw {
                index_buffer: Some(IndexBuffer { slice: indices.slice(..), format: wgpu::IndexFormat::Uint32 }),
                ..Draw::new(0..30)
            },
        })
        .collect();
    let error = rig.nodes.tessellate_blocking(&draws).expect_err("only the GPU knows");
    assert!(error.to_string().contains("with strip cuts only the GPU knows"), "{error}");
}
