//! Tessellation over simulated nodes: gathered on any node or read back, it is what one node makes, bit by bit.

use patchwave::adapter::nodes::{GatheredMesh, NodeDraw, NodeError, NodeTessellation, Split};
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
pub(crate) struct Scene {
    pub(crate) pipeline: TessellationPipeline,
    table: FactorTable,
    indices: wgpu::Buffer,
}

pub(crate) const POINTS: u32 = 3;

/// Factors of all kinds, of which the first patches are not culled.
fn factors(count: usize) -> Vec<[f32; 6]> {
    let mut factors = mixed_factors(count, 31);
    factors.rotate_left(130);
    factors
}

impl Scene {
    pub(crate) fn new(rig: &Rig, domain: Domain, off_chip: bool, factors: &[[f32; 6]]) -> Self {
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
pub(crate) struct Shape {
    vertices: std::ops::Range<u32>,
    instances: std::ops::Range<u32>,
    first_patch: u32,
    indexed: bool,
}

impl Shape {
    pub(crate) fn with<T>(&self, scene: &Scene, with: impl FnOnce(Draw<'_>) -> T) -> T {
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

/// Tessellates over the nodes.
pub(crate) fn over_nodes(
    rig: &mut NodeRig,
    scenes: &[Scene],
    shape: &Shape,
    split: Split<'_>,
) -> Result<NodeTessellation, NodeError> {
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
    rig.nodes.tessellate_blocking(&draws, split)
}

/// The mesh read back, and the one gathered on each node.
fn meshes(rig: &mut NodeRig, made: &NodeTessellation) -> (Mesh, Vec<GatheredMesh>) {
    let mesh = rig.nodes.read_mesh_blocking(made).unwrap_or_else(|error| panic!("reading: {error}"));
    let gathered = (0..rig.nodes.node_count())
        .map(|node| rig.nodes.gather_blocking(made, node).unwrap_or_else(|error| panic!("gathering: {error}")))
        .collect();
    (mesh, gathered)
}

/// Compares what an even split gives with what one node makes; the number of vertices.
fn assert_same(rig: &mut NodeRig, scenes: &[Scene], shape: &Shape) -> usize {
    let made = assert_same_by(rig, scenes, shape, Split::Even);
    let nodes = rig.nodes.node_count();
    let total: u64 = (0..nodes).map(|node| made.patches_of(node)).sum();
    for node in 0..nodes {
        let own = made.patches_of(node);
        assert!(own.abs_diff(total / u64::from(nodes)) <= 1, "node {node} has {own} of {total}");
    }
    made.vertices() as usize
}

fn assert_same_by(rig: &mut NodeRig, scenes: &[Scene], shape: &Shape, split: Split<'_>) -> NodeTessellation {
    let one = shape.with(&scenes[0], |draw| rig.rigs[0].mesh(&scenes[0].pipeline, &draw));
    let made = over_nodes(rig, scenes, shape, split).unwrap_or_else(|error| panic!("tessellating: {error}"));
    let nodes = 0..rig.nodes.node_count();
    let vertices: u64 = nodes.clone().map(|node| made.vertices_of(node)).sum();
    let primitives: u64 = nodes.map(|node| made.primitives_of(node)).sum();
    assert_eq!((vertices, primitives), (made.vertices(), made.primitives()));
    assert_eq!(vertices, one.vertex_count() as u64);
    let (mesh, gathered) = meshes(rig, &made);
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
    made
}

fn scenes(rig: &NodeRig, domain: Domain, off_chip: bool, patches: usize) -> Vec<Scene> {
    let factors = factors(patches);
    rig.rigs.iter().map(|rig| Scene::new(rig, domain, off_chip, &factors)).collect()
}

pub(crate) fn plain(vertices: std::ops::Range<u32>) -> Shape {
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

/// One patch in a hundred is at 64 and the others at 2, those at 64 side by side: shared out by number, one node has nearly
/// all points; by work, both have half to within the largest patch, and the mesh is the same bit by bit.
#[test]
fn work_is_balanced() {
    let mut rig = NodeRig::new();
    const PATCHES: u32 = 1_000;
    // Points, and three calls of the hull function.
    const LARGEST: u64 = 65 * 65 + POINTS as u64;
    for first in [0, 307, 990] {
        let heavy = first..first + PATCHES as usize / 100;
        let factors: Vec<_> = (0..PATCHES as usize).map(|i| [if heavy.contains(&i) { 64.0 } else { 2.0 }; 6]).collect();
        let scenes: Vec<_> = rig.rigs.iter().map(|rig| Scene::new(rig, Domain::Quad, false, &factors)).collect();
        let shape = plain(0..PATCHES * POINTS);
        let work = |made: &NodeTessellation, node| made.vertices_of(node) + u64::from(POINTS) * made.patches_of(node);

        let even = assert_same_by(&mut rig, &scenes, &shape, Split::Even);
        let points = [0, 1].map(|node| even.vertices_of(node));
        assert!(points.iter().max() > points.iter().min().map(|least| least * 8).as_ref(), "{points:?}: not skewed");
        if first == 0 {
            // Ten of 4,225 points and 490 of 9 on one node, 500 of 9 on the other.
            assert_eq!(points, [46_660, 4_500]);
        }

        let made = assert_same_by(&mut rig, &scenes, &shape, Split::Measured);
        let works = [0, 1].map(|node| work(&made, node));
        assert!(works[0].abs_diff(works[1]) <= LARGEST, "{works:?} from {first} on");
        let points = [0, 1].map(|node| made.vertices_of(node));
        let bound = LARGEST + u64::from(POINTS * PATCHES);
        assert!(points[0].abs_diff(points[1]) <= bound, "{points:?} differ by more than {bound}");
        eprintln!("work {works:?}, points {points:?}, patches {:?}", [0, 1].map(|node| made.patches_of(node)));

        // A third and two thirds; and nothing on the first node.
        let all = works[0] + works[1];
        let made = assert_same_by(&mut rig, &scenes, &shape, Split::MeasuredWeighted(&[1, 2]));
        assert!(work(&made, 0).abs_diff(all / 3) <= LARGEST + 1, "{} of {all}", work(&made, 0));
        let made = assert_same_by(&mut rig, &scenes, &shape, Split::MeasuredWeighted(&[0, 7]));
        assert_eq!((made.patches_of(0), made.patches_of(1)), (0, u64::from(PATCHES)));
    }
}

/// Work and weights over instances, indices, culled patches and modes, on three nodes.
#[test]
fn any_split_makes_what_one_node_makes() {
    let adapter = crate::gpu::adapter();
    let limits = TessellationPipeline::required_limits(&adapter);
    let rigs = (0..3).map(|_| Rig::on(crate::gpu::device_of(&adapter, limits.clone()))).collect();
    let mut rig = NodeRig::of(rigs, SMALL_STAGING);
    for (domain, off_chip) in [(Domain::Quad, true), (Domain::Isoline, false)] {
        let scenes = scenes(&rig, domain, off_chip, 60);
        for (patches, instances) in [(0, 0..1), (1, 3..4), (2, 0..1), (59, 5..8), (13, 1..12)] {
            let shape = Shape {
                vertices: 2..2 + patches * POINTS,
                instances: instances.clone(),
                first_patch: 0,
                indexed: true,
            };
            let total = u64::from(patches) * instances.len() as u64;
            for split in [Split::Measured, Split::MeasuredWeighted(&[5, 0, 1]), Split::Weighted(&[1, 3, 0])] {
                let made = assert_same_by(&mut rig, &scenes, &shape, split);
                let patches = [0, 1, 2].map(|node| made.patches_of(node));
                assert_eq!(patches.iter().sum::<u64>(), total, "{split:?}");
                match split {
                    Split::MeasuredWeighted(_) => assert_eq!(patches[1], 0),
                    Split::Weighted(_) => assert!(patches[2] == 0 && patches[0] == total / 4, "{patches:?} of {total}"),
                    _ => {}
                }
            }
        }
    }
    let scenes = scenes(&rig, Domain::Quad, false, 40);
    let refused = |rig: &mut NodeRig, split| match over_nodes(rig, &scenes, &plain(0..30), split) {
        Err(error @ NodeError::Split { .. }) => error.to_string(),
        other => panic!("not refused: {other:?}"),
    };
    let words = "sharing a draw out over 3 nodes: 2 weights were given; give one a node";
    assert_eq!(refused(&mut rig, Split::Weighted(&[1, 2])), words);
    let words = "sharing a draw out over 3 nodes: all weights are 0; give a node that is to have patches another";
    assert_eq!(refused(&mut rig, Split::MeasuredWeighted(&[0, 0, 0])), words);
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
    let message = |rig: &mut NodeRig, draws: &[NodeDraw<'_>]| match rig.nodes.tessellate_blocking(draws, Split::Even) {
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
    let error =
        rig.nodes.tessellate_blocking(&[draw(0, 0..30), draw(1, 0..30)], Split::Even).expect_err("no bind groups");
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
    let error = rig.nodes.tessellate_blocking(&draws, Split::Even).expect_err("only the GPU knows");
    assert!(error.to_string().contains("with strip cuts only the GPU knows"), "{error}");
}
