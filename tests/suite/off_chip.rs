//! The off-chip buffer: who writes there, and exactly how much.

use patchwave::hardware::{
    ParameterError, ParameterWarning, PipelineStateFlags, PlanError, Profile, Statistics, TessellationParameters,
};
use patchwave::{Domain, Draw, Error, Tessellation, TessellationPipeline, TessellationPipelineDescriptor, Workspace};
use std::sync::{Arc, Mutex};

use super::rig::{FactorTable, Rig, factor_table_wgsl, location_type};

const POISON: u32 = 0xdead_beef;

fn shader(domain: Domain) -> String {
    format!(
        "{}
         struct Point {{ value: vec4f }}
         struct Surface {{ @location(0) value: vec4f }}
         fn vertex(id: VertexId) -> Point {{ return Point(vec4f(f32(id.vertex_index) + 0.5)); }}
         fn hull(point: u32, patch_id: u32) -> Point {{ return Point(input_point(point).value * 2.0); }}
         fn patch_constants(patch_id: u32) -> PatchConstants {{ return table_constants(patch_id); }}
         fn domain(location: {}, patch_id: u32) -> Surface {{ return Surface(output_point(1u).value); }}",
        factor_table_wgsl(domain),
        location_type(domain)
    )
}

struct Poisoned {
    rig: Rig,
    pipeline: TessellationPipeline,
    table: FactorTable,
    patches: u32,
}

impl Poisoned {
    /// Triangles (no padding in their constants) of 3 control points, 5 a threadgroup.
    fn new(factors: &[[f32; 6]], threshold: f32, waves: u32) -> Self {
        let rig = Rig::new();
        let table = FactorTable::new(&rig, factors);
        let shader = shader(Domain::Tri);
        let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Tri, 3);
        let groups = [Some(&table.layout)];
        descriptor.bind_group_layouts = &groups;
        let pipeline = rig.pipeline(&descriptor.off_chip(TessellationParameters {
            patches_per_threadgroup: Some(5),
            tessellation_factor_threshold: Some(threshold),
            ds_wave_threshold: Some(waves),
        }));
        Self { rig, pipeline, table, patches: factors.len() as u32 }
    }

    fn draw<T>(&self, with: impl FnOnce(&Draw<'_>) -> T) -> T {
        let groups = [Some(&self.table.group)];
        let mut draw = Draw::new(0..self.patches * 3);
        draw.bind_groups = &groups;
        with(&draw)
    }

    /// Runs a draw over a poisoned buffer; what came of the draw, and the buffer.
    fn run(&self) -> (Workspace, Tessellation, Statistics, Vec<u32>) {
        self.draw(|draw| {
            let mut workspace = self.rig.measured_workspace(&self.pipeline, draw);
            let words = vec![POISON; workspace.off_chip_bytes() as usize / 4];
            self.rig.queue.write_buffer(workspace.off_chip_buffer(), 0, bytemuck::cast_slice(&words));
            let tessellation = self.rig.run(&self.pipeline, &mut workspace, draw);
            let statistics = tessellation.statistics_blocking(&self.rig.device, &self.rig.queue).expect("statistics");
            let words = self.rig.words(workspace.off_chip_buffer());
            (workspace, tessellation, statistics, words)
        })
    }
}

fn changed(words: &[u32]) -> u64 {
    words.iter().filter(|word| **word != POISON).count() as u64
}

#[test]
fn threadgroups_that_stay_on_chip_write_nothing() {
    let (_, _, statistics, words) = Poisoned::new(&[[7.0; 6]; 23], 7.5, 0).run();
    assert_eq!((statistics.threadgroups, statistics.off_chip_threadgroups, statistics.off_chip_bytes), (5, 0, 0));
    assert_eq!((statistics.off_chip_waves, changed(&words)), (0, 0));
}

#[test]
fn off_chip_threadgroups_write_exactly_their_patches() {
    // Threadgroups of 5: light, heavy, light, heavy, and a heavy last one of 3.
    let light = |group: usize| group == 0 || group == 2;
    let factors: Vec<[f32; 6]> = (0..23).map(|i| [if light(i / 5) { 2.0 } else { 9.0 }; 6]).collect();
    for waves in [0, 1, 15] {
        let (_, _, statistics, words) = Poisoned::new(&factors, 5.0, waves).run();
        // A patch: 3 points of 16 bytes, factors of 16.
        assert_eq!((statistics.off_chip_threadgroups, statistics.off_chip_bytes), (3, (5 + 5 + 3) * 64));
        assert_eq!(changed(&words) * 4, statistics.off_chip_bytes);
        // Each of them has a block; the short one leaves the rest of its own alone.
        let blocks: Vec<u64> = words.chunks(5 * 16).map(changed).collect();
        let mut sorted = blocks.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 0, 3 * 16, 5 * 16, 5 * 16], "{blocks:?}");
    }
}

#[test]
fn a_mostly_culled_threadgroup_writes_all_its_patches_or_none() {
    // One patch of 5 at 64, the others culled: average 12.8. A threadgroup without points writes nothing, whatever the threshold.
    let mut factors = [[0.0; 6]; 10];
    factors[3] = [64.0; 6];
    let (_, _, statistics, words) = Poisoned::new(&factors, 12.75, 2).run();
    assert_eq!((statistics.off_chip_bytes, changed(&words) * 4), (5 * 64, 5 * 64));
    assert_eq!(statistics.culled_patches, 9);
    let (_, _, statistics, words) = Poisoned::new(&[[0.0; 6]; 10], 0.0, 0).run();
    assert_eq!((statistics.off_chip_bytes, changed(&words)), (0, 0));
}

#[test]
fn an_on_chip_pipeline_has_no_off_chip_buffer() {
    let rig = Rig::new();
    let table = FactorTable::new(&rig, &[[3.0; 6]; 200]);
    let shader = shader(Domain::Tri);
    let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Tri, 3);
    let groups = [Some(&table.layout)];
    descriptor.bind_group_layouts = &groups;
    let pipeline = rig.pipeline(&descriptor);
    let groups = [Some(&table.group)];
    let mut draw = Draw::new(0..600);
    draw.bind_groups = &groups;
    let workspace = rig.measured_workspace(&pipeline, &draw);
    // What the binding asks for: one element of the array.
    assert_eq!(workspace.off_chip_bytes(), pipeline.off_chip_bytes_per_patch());
    assert_eq!(pipeline.off_chip_bytes_written_per_patch(), 64);
}

#[test]
fn statistics_without_waiting() {
    let poisoned = Poisoned::new(&[[9.0; 6]; 23], 5.0, 1);
    let (mut workspace, _, expected, _) = poisoned.run();
    workspace.reset();
    let answer = Arc::new(Mutex::new(None));
    let told = Arc::clone(&answer);
    let mut encoder = poisoned.rig.encoder();
    poisoned.draw(|draw| {
        let tessellation =
            poisoned.pipeline.encode(&poisoned.rig.queue, &mut encoder, &mut workspace, draw).expect("encoded");
        let callback = move |result| *told.lock().expect("no panic") = Some(result);
        assert!(workspace.request_statistics(&mut encoder, &tessellation, callback).expect("the ring can be made"));
    });
    assert!(answer.lock().expect("no panic").is_none(), "not before the submission");
    poisoned.rig.queue.submit([encoder.finish()]);
    poisoned.rig.poll();
    let answer = answer.lock().expect("no panic").take().expect("an answer").expect("statistics");
    assert_eq!(answer, expected);
    // By hand: 23 patches of 3 points; 5 + 5 + 5 + 5 + 3 patches; 75 points a patch at factor 9.
    assert_eq!([answer.ia_vertices, answer.ia_primitives, answer.vs_invocations], [69, 23, 69]);
    assert_eq!([answer.hs_invocations, answer.ds_invocations], [23, 23 * 75]);
    assert_eq!([answer.threadgroups, answer.vertex.waves, answer.hull.waves], [5, 5, 5]);
    // 375 points are 6 waves, 225 are 4; one of each stays.
    assert_eq!([answer.domain.waves, answer.on_chip_waves, answer.off_chip_waves], [28, 5, 23]);
    assert_eq!(answer.average_factors, [9.0; 5]);
}

#[test]
fn threadgroups_end_with_their_instance() {
    // A10, A11: 9 patches and 2 instances, 5 patches a threadgroup: 5 and 4, twice. LDS is that of 5 each time.
    let poisoned = Poisoned::new(&[[2.0; 6]; 9], 5.0, 4);
    let groups = [Some(&poisoned.table.group)];
    let mut draw = Draw::new(0..27);
    draw.instances = 3..5;
    draw.bind_groups = &groups;
    let Poisoned { rig, pipeline, .. } = &poisoned;
    let mut workspace = rig.measured_workspace(pipeline, &draw);
    let tessellation = rig.run(pipeline, &mut workspace, &draw);
    let records = tessellation.threadgroup_records_blocking(&rig.device, &rig.queue).expect("records");
    assert_eq!(records.iter().map(|record| record.patches).collect::<Vec<_>>(), [5, 4, 5, 4]);
    let statistics = tessellation.statistics_blocking(&rig.device, &rig.queue).expect("statistics");
    assert_eq!([statistics.ia_vertices, statistics.ia_primitives, statistics.threadgroups], [54, 18, 4]);
    // 5 patches of 3 points in, 3 out, and constants, 16 bytes each: 560 bytes, in granules of 512.
    assert_eq!(statistics.lds_bytes, 4 * 1024);
    assert_eq!(pipeline.lds_budget().total, 560);
}

#[test]
fn pipelines_that_cannot_be() {
    let rig = Rig::new();
    let table = FactorTable::new(&rig, &[[1.0; 6]]);
    let groups = [Some(&table.layout)];
    let shader = shader(Domain::Tri);
    let base = || {
        let mut descriptor = TessellationPipelineDescriptor::new(&shader, Domain::Tri, 3);
        descriptor.bind_group_layouts = &groups;
        descriptor
    };
    let make = |descriptor: &TessellationPipelineDescriptor<'_>| TessellationPipeline::new(&rig.device, descriptor);
    let refused = |descriptor: &TessellationPipelineDescriptor<'_>| match make(descriptor) {
        Err(Error::Parameters(error)) => error,
        other => panic!("not refused for its parameters: {:?}", other.map(|_| ())),
    };
    for (hull, domain) in [(true, false), (false, true)] {
        let mut descriptor = base();
        (descriptor.hull_off_chip, descriptor.domain_off_chip) = (hull, domain);
        assert_eq!(refused(&descriptor), ParameterError::OffChipMismatch { hull, domain });
    }
    let mut descriptor = base().off_chip(TessellationParameters::default());
    descriptor.profile = Profile { off_chip_block_bytes: 63, ..Profile::default() };
    let expected = ParameterError::PatchExceedsOffChipBlock { needed: 64, available: 63 };
    assert_eq!(refused(&descriptor), expected);
    descriptor.flags = PipelineStateFlags::None;
    assert!(make(&descriptor).is_ok(), "on-chip it needs none");

    let parameters = TessellationParameters { ds_wave_threshold: Some(16), ..Default::default() };
    assert_eq!(refused(&base().off_chip(parameters)), ParameterError::WaveThreshold { asked: 16 });
    let mut descriptor = base();
    descriptor.parameters.patches_per_threadgroup = Some(0);
    assert!(matches!(refused(&descriptor), ParameterError::PatchesPerThreadgroup { asked: 0, .. }));

    // Warnings: parameters that mean nothing, and stages that the console would compile again.
    let mut descriptor = base();
    descriptor.parameters.tessellation_factor_threshold = Some(2.0);
    descriptor.parameters.ds_wave_threshold = Some(2);
    let warnings = make(&descriptor).expect("a pipeline").warnings().to_vec();
    assert_eq!(warnings, [ParameterWarning::FactorThresholdIgnored, ParameterWarning::WaveThresholdIgnored]);
    let mut descriptor = base();
    descriptor.flags = PipelineStateFlags::GsOffchipTsOffchip;
    assert_eq!(make(&descriptor).expect("a pipeline").warnings(), [ParameterWarning::Recompiled]);
}

#[test]
fn a_patch_that_no_threadgroup_holds() {
    let rig = Rig::new();
    let shader = "struct Point { values: array<vec4f, 400> }
         struct PatchConstants { factors: TriFactors }
         struct Surface { @location(0) value: vec4f }
         fn vertex(id: VertexId) -> Point { return Point(); }
         fn patch_constants(patch_id: u32) -> PatchConstants { return PatchConstants(TriFactors(vec3f(1), 1)); }
         fn domain(location: vec3f, patch_id: u32) -> Surface { return Surface(output_point(0u).values[3]); }";
    let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Tri, 32);
    descriptor.names.hull = None;
    let available = u64::from(rig.device.limits().max_compute_workgroup_storage_size);
    match TessellationPipeline::new(&rig.device, &descriptor).map(|_| ()) {
        // 32 points of 6,400 bytes, and what patchwave keeps of a patch itself.
        Err(Error::Plan(PlanError::PatchTooLarge { needed, available: a })) => {
            assert_eq!(a, available);
            assert!((32 * 6400..32 * 6400 + 256).contains(&needed), "{needed}");
        }
        other => panic!("not refused as too large: {other:?}"),
    }
}

#[test]
fn the_plan_knows_the_kernel_s_workgroup_memory() {
    let rig = Rig::new();
    let table = FactorTable::new(&rig, &[[1.0; 6]]);
    let groups = [Some(&table.layout)];
    for domain in Domain::ALL {
        for hull in [true, false] {
            let shader = shader(domain);
            let mut descriptor = TessellationPipelineDescriptor::new(&shader, domain, 3);
            descriptor.bind_group_layouts = &groups;
            if !hull {
                descriptor.names.hull = None;
            }
            let pipeline = rig.pipeline(&descriptor);
            let module = naga::front::wgsl::parse_str(&pipeline.kernels().threadgroup).expect("it parses");
            let mut layouter = naga::proc::Layouter::default();
            layouter.update(module.to_ctx()).expect("layouts");
            let all: u64 = module
                .global_variables
                .iter()
                .filter(|(_, variable)| variable.space == naga::AddressSpace::WorkGroup)
                .map(|(_, variable)| u64::from(layouter[variable.ty].size).next_multiple_of(16))
                .sum();
            assert_eq!(pipeline.plan().wgsl_workgroup_bytes, all, "{domain}, hull function: {hull}");
            assert!(all <= 16 * 1024);
        }
    }
}
