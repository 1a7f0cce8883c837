//! Random draws on the GPU against the tessellator's twin on the CPU: domains, partitionings, topologies, factors of all
//! kinds, numbers of control points and patches, instances, indices; whole and in batches, in all modes.

use patchwave::hardware::TessellationParameters;
use patchwave::pipeline::{BatchPlan, BatchWorkspace};
use patchwave::{
    Domain, Draw, Error, IndexBuffer, Mesh, OutputTopology, Partitioning, TessellationPipeline,
    TessellationPipelineDescriptor,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

use super::batches::union;
use super::model::{assert_mesh, mixed_factors, tessellate};
use super::rig::{FactorTable, Rig, factor_table_wgsl, location_type};

#[derive(Clone, Debug)]
struct Case {
    domain: Domain,
    partitioning: Partitioning,
    topology: OutputTopology,
    points: u32,
    /// Patches that are not culled, or not in a long run of such.
    uneven: u32,
    instances: std::ops::Range<u32>,
    first: u32,
    indexed: bool,
    seed: u32,
    patches_per_threadgroup: u32,
    /// Of what the whole draw takes, how much its batches may.
    share: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let state = (select(&Domain::ALL[..]), select(&Partitioning::ALL[..]), any::<prop::sample::Index>());
    let counts = (1u32..7, 1u32..120, 0u32..5, 0u32..4, 0u32..9, 1u32..17);
    (state, counts, any::<bool>(), any::<u32>(), 0u64..100).prop_map(
        |((domain, partitioning, topology), counts, indexed, seed, share)| {
            let topologies: Vec<_> =
                OutputTopology::ALL.into_iter().filter(|topology| topology.is_valid_for(domain)).collect();
            let (points, uneven, first_instance, instances, first, patches_per_threadgroup) = counts;
            Case {
                domain,
                partitioning,
                topology: *topology.get(&topologies),
                points,
                uneven,
                instances: first_instance..first_instance + instances,
                first,
                indexed,
                seed,
                patches_per_threadgroup,
                share,
            }
        },
    )
}

/// Vertices carry their location, the patch id, the instance, and a number that all control points go into.
fn shader(domain: Domain, points: u32) -> String {
    format!(
        "{}
         struct P {{ vertex: u32, instance: u32 }}
         struct S {{ @location(0) location: {location}, @location(1) ids: vec2u, @location(2) sum: u32 }}
         fn vertex(id: VertexId) -> P {{ return P(id.vertex_index, id.instance_index); }}
         fn patch_constants(patch_id: u32) -> PatchConstants {{ return table_constants(patch_id); }}
         fn domain(location: {location}, patch_id: u32) -> S {{
             var sum = 0u;
             for (var i = 0u; i < {points}u; i++) {{ sum = sum * 31u + output_point(i).vertex; }}
             return S(location, vec2u(patch_id, output_point(0u).instance), sum);
         }}",
        factor_table_wgsl(domain),
        location = location_type(domain),
    )
}

fn check(rig: &Rig, case: &Case) {
    // With whole threadgroups of culled patches before, between and behind them.
    let factors = mixed_factors(case.uneven as usize, case.seed);
    let patches = factors.len() as u32;
    let own = tessellate(case.domain, case.partitioning, case.topology, &factors);
    let table = FactorTable::new(rig, &factors);
    let shader = shader(case.domain, case.points);
    let layouts = [Some(&table.layout)];
    let parameters =
        TessellationParameters { patches_per_threadgroup: Some(case.patches_per_threadgroup), ..Default::default() };
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, case.domain, case.points);
    descriptor.names.hull = None;
    descriptor.partitioning = case.partitioning;
    descriptor.output_topology = case.topology;
    descriptor.bind_group_layouts = &layouts;
    descriptor.parameters = parameters;
    let count = case.points * patches;
    let index = |place: u32| place.wrapping_mul(case.seed | 1) % 1000;
    let indices = rig.storage(&(0..case.first + count + case.points).map(index).collect::<Vec<_>>());
    let draw = Draw {
        bind_groups: &[Some(&table.group)],
        index_buffer: case.indexed.then(|| IndexBuffer { slice: indices.slice(..), format: wgpu::IndexFormat::Uint32 }),
        base_vertex: 5,
        instances: case.instances.clone(),
        // And vertices that make no whole patch.
        ..Draw::new(case.first..case.first + count + case.seed % case.points)
    };
    let off_chip = |threshold, waves| {
        descriptor.clone().off_chip(TessellationParameters {
            tessellation_factor_threshold: Some(threshold),
            ds_wave_threshold: Some(waves),
            ..parameters
        })
    };
    let mut first: Option<Mesh> = None;
    for descriptor in [descriptor.clone(), off_chip(0.0, 0), off_chip(4.0, 2)] {
        let pipeline = rig.pipeline(&descriptor);
        let mesh = rig.mesh(&pipeline, &draw);
        let in_batches = batched(rig, &pipeline, &draw, case);
        assert!(in_batches.is_none_or(|other| other == mesh), "whole and in batches differ");
        if let Some(first) = &first {
            assert!(mesh == *first, "modes differ");
            continue;
        }
        assert_mesh(&mesh, &case.instances.clone().flat_map(|_| own.clone()).collect::<Vec<_>>());
        let ids = mesh.member_bits("ids").expect("ids");
        let sums = mesh.member_bits("sum").expect("sums");
        for (number, patch) in (0..).zip(&mesh.patches) {
            let (instance, id) = (case.instances.start + number / patches, number % patches);
            let vertex = |i: u32| {
                let place = case.first + id * case.points + i;
                if case.indexed { index(place) + 5 } else { place }
            };
            let sum = (0..case.points).fold(0u32, |sum, i| sum.wrapping_mul(31).wrapping_add(vertex(i)));
            for at in patch.first_vertex..patch.first_vertex + patch.vertices {
                assert_eq!(ids[at as usize], [id, instance]);
                assert_eq!(sums[at as usize], [sum], "patch {id}");
            }
        }
        first = Some(mesh);
    }
}

/// The mesh out of batches, where there are any.
fn batched(rig: &Rig, pipeline: &TessellationPipeline, draw: &Draw<'_>, case: &Case) -> Option<Mesh> {
    let measured = pipeline.measure_blocking(&rig.device, &rig.queue, draw).expect("it can be measured");
    let plan = |bound| BatchPlan::new(pipeline, draw, &measured, bound);
    let Err(Error::BoundTooSmall { needed, .. }) = plan(0) else { panic!("a bound of nothing is too small") };
    let whole = plan(u64::MAX).expect("without a bound").bytes();
    let bound = needed.max(needed + whole.saturating_sub(needed) * case.share / 100);
    let plan = plan(bound).expect("it fits the bound");
    assert!(plan.bytes() <= bound);
    if plan.batches().is_empty() {
        return None;
    }
    let made = BatchWorkspace::new(&rig.device, &rig.queue, pipeline, plan);
    Some(union(rig, pipeline, &mut made.expect("the memory is there"), draw))
}

#[test]
fn random_factors() {
    let rig = Rig::new();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(16);
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, max_shrink_iters: 40, ..Config::default() });
    runner
        .run(&case(), |case| {
            check(&rig, &case);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}
