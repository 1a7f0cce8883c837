//! On-chip or off-chip: the boundary cases of docs/hardware.md, section 2, on the CPU and by what the GPU's records say.

use patchwave::hardware::heuristic::{Decision, FactorSum, Rule, decide};
use patchwave::hardware::{
    AveragedFactors, CulledPatches, FactorValues, Readings, Statistics, TessellationParameters, ThreadgroupRecord,
    WaveThreshold,
};
use patchwave::tessellator::TessellatedPatch;
use patchwave::{Domain, Draw, OutputTopology, Partitioning, TessellationPipeline, TessellationPipelineDescriptor};

use super::model::{assert_mesh, tessellate};
use super::rig::{FactorTable, Rig, factor_table_wgsl, location_type};

/// Control points of 16 bytes.
fn shader(domain: Domain) -> String {
    format!(
        "{}
         struct Point {{ value: vec4f }}
         struct Surface {{ @location(0) location: {location}, @location(1) value: vec4f }}
         fn vertex(id: VertexId) -> Point {{ return Point(vec4f(f32(id.vertex_index) + 0.5)); }}
         fn hull(point: u32, patch_id: u32) -> Point {{ return Point(input_point(point).value * f32(patch_id + 3u)); }}
         fn patch_constants(patch_id: u32) -> PatchConstants {{ return table_constants(patch_id); }}
         fn domain(location: {location}, patch_id: u32) -> Surface {{
             return Surface(location, output_point(patch_id % 3u).value);
         }}",
        factor_table_wgsl(domain),
        location = location_type(domain),
    )
}

struct Case {
    domain: Domain,
    factors: Vec<[f32; 6]>,
    patches_per_threadgroup: u32,
    threshold: f32,
    waves: u32,
    readings: Readings,
    points: u32,
}

impl Case {
    fn new(domain: Domain, factors: &[[f32; 6]], threshold: f32) -> Self {
        Self {
            domain,
            factors: factors.to_vec(),
            patches_per_threadgroup: factors.len() as u32,
            threshold,
            waves: 4,
            readings: Readings::default(),
            points: 1,
        }
    }

    fn pipeline(&self, rig: &Rig, table: &FactorTable) -> TessellationPipeline {
        let shader = shader(self.domain);
        let mut descriptor = TessellationPipelineDescriptor::new(&shader, self.domain, self.points);
        let groups = [Some(&table.layout)];
        descriptor.bind_group_layouts = &groups;
        descriptor.output_topology = OutputTopology::Point;
        descriptor.readings = self.readings;
        rig.pipeline(&descriptor.off_chip(TessellationParameters {
            patches_per_threadgroup: Some(self.patches_per_threadgroup),
            tessellation_factor_threshold: Some(self.threshold),
            ds_wave_threshold: Some(self.waves),
        }))
    }

    fn patches(&self) -> Vec<TessellatedPatch> {
        tessellate(self.domain, Partitioning::Integer, OutputTopology::Point, &self.factors)
    }

    /// What the CPU decides, threadgroup by threadgroup.
    fn on_cpu(&self) -> Vec<Decision> {
        // Constants: two floats, three and one, four and two in 32 bytes.
        let constants = match self.domain {
            Domain::Isoline => 8,
            Domain::Tri => 16,
            Domain::Quad => 32,
        };
        let rule = Rule {
            off_chip: true,
            factor_threshold: self.threshold,
            on_chip_waves: self.readings.on_chip_waves(self.waves, 4),
            bytes_per_patch: u64::from(self.points) * 16 + constants,
            readings: self.readings,
        };
        let groups = self.patches();
        groups.chunks(self.patches_per_threadgroup as usize).map(|group| decide(&rule, self.domain, group)).collect()
    }

    /// Runs it on the GPU, and gives back what both agree on.
    #[track_caller]
    fn run(&self) -> Vec<Decision> {
        let expected = self.on_cpu();
        let rig = Rig::new();
        let table = FactorTable::new(&rig, &self.factors);
        let pipeline = self.pipeline(&rig, &table);
        let groups = [Some(&table.group)];
        let mut draw = Draw::new(0..self.factors.len() as u32 * self.points);
        draw.bind_groups = &groups;
        let mut workspace = rig.measured_workspace(&pipeline, &draw);
        let tessellation = rig.run(&pipeline, &mut workspace, &draw);
        let records = tessellation.threadgroup_records_blocking(&rig.device, &rig.queue).expect("records");
        let decided: Vec<ThreadgroupRecord> = expected.iter().map(|decision| decision.record).collect();
        assert_eq!(records, decided, "the GPU's records and the CPU's");
        let statistics = tessellation.statistics_blocking(&rig.device, &rig.queue).expect("statistics");
        let sum = |of: fn(&Decision) -> u64| expected.iter().map(of).sum::<u64>();
        assert_eq!(statistics.on_chip_waves, sum(|decision| decision.on_chip_waves.into()));
        assert_eq!(statistics.off_chip_waves, sum(|decision| decision.off_chip_waves.into()));
        assert_eq!(statistics.off_chip_bytes, sum(|decision| decision.off_chip_bytes));
        // As text: an average that is a NaN equals itself there.
        assert_eq!(format!("{statistics:?}"), format!("{:?}", Statistics::new(&pipeline.shape(), &records)));
        assert_mesh(&rig.read(&tessellation), &self.patches());
        expected
    }

    /// As [`Case::run`], of a single threadgroup: off-chip, on-chip waves, off-chip waves, bytes.
    #[track_caller]
    fn outcome(&self) -> (bool, u32, u32, u64) {
        match self.run().as_slice() {
            [one] => (one.record.off_chip, one.on_chip_waves, one.off_chip_waves, one.off_chip_bytes),
            more => panic!("{} threadgroups", more.len()),
        }
    }
}

/// Isolines of density 1: a line each, of `detail` segments.
fn lines(details: [f32; 4]) -> Vec<[f32; 6]> {
    details.map(|detail| [1.0, detail, 0.0, 0.0, 0.0, 0.0]).to_vec()
}

#[test]
fn a_an_average_that_is_the_threshold_goes_off_chip() {
    // Two quads, every factor 3: the sum is 36, and so is 3 · 12. 2 · 16 points are one wave; 2 · (16 + 32) bytes.
    assert_eq!(Case::new(Domain::Quad, &[[3.0; 6]; 2], 3.0).outcome(), (true, 1, 0, 96));
    // A threshold of 0 takes everything off-chip that has points.
    assert_eq!(Case::new(Domain::Quad, &[[1.0; 6]; 2], 0.0).outcome(), (true, 1, 0, 96));
    assert_eq!(Case::new(Domain::Quad, &[[0.0; 6]; 2], 0.0).outcome(), (false, 0, 0, 0));
}

#[test]
fn b_the_next_average_below_stays_on_chip_and_writes_nothing() {
    let below = f32::from_bits(3.0f32.to_bits() - 1);
    assert_eq!(Case::new(Domain::Quad, &[[below; 6]; 2], 3.0).outcome(), (false, 1, 0, 0));
    // One factor of twelve below: an average in single precision would round to 3.
    let almost = [[3.0, 3.0, 3.0, 3.0, 3.0, below], [3.0; 6]];
    assert_eq!(Case::new(Domain::Quad, &almost, 3.0).outcome(), (false, 1, 0, 0));
    // And a threshold one step above what twelve threes average.
    let above = f32::from_bits(3.0f32.to_bits() + 1);
    assert_eq!(Case::new(Domain::Quad, &[[3.0; 6]; 2], above).outcome(), (false, 1, 0, 0));
}

#[test]
fn c_the_257th_thread_is_an_off_chip_wave_of_its_own() {
    // Lines of 65, 65, 65 and 62 points: 257 threads, 5 waves. Four stay, one of a single lane goes.
    // Average: (64 + 64 + 64 + 61 + 4) / 8 = 32.125. 4 · (16 + 8) bytes.
    let case = Case::new(Domain::Isoline, &lines([64.0, 64.0, 64.0, 61.0]), 32.125);
    let decisions = case.run();
    assert_eq!((decisions[0].record.points, decisions[0].record.domain_waves()), (257, 5));
    assert_eq!(case.outcome(), (true, 4, 1, 96));
}

#[test]
fn d_256_threads_need_no_other_compute_unit_and_are_written_all_the_same() {
    let case = Case::new(Domain::Isoline, &lines([64.0, 64.0, 64.0, 60.0]), 32.0);
    assert_eq!(case.run()[0].record.points, 256);
    assert_eq!(case.outcome(), (true, 4, 0, 96));
}

#[test]
fn e_a_wave_threshold_of_0_leaves_no_wave_on_chip() {
    let mut case = Case::new(Domain::Isoline, &lines([64.0, 64.0, 64.0, 61.0]), 0.0);
    case.waves = 0;
    assert_eq!(case.outcome(), (true, 0, 5, 96));
    case.waves = 15;
    assert_eq!(case.outcome(), (true, 5, 0, 96));
}

#[test]
fn g_factors_that_are_averaged() {
    // A1. Edges 2, inside 8: (4 · 2 + 2 · 8) / 6 = 4 over all, 2 over the edges.
    let mut case = Case::new(Domain::Quad, &[[2.0, 2.0, 2.0, 2.0, 8.0, 8.0]; 2], 3.0);
    assert!(case.outcome().0);
    case.readings.averaged_factors = AveragedFactors::EdgesOnly;
    assert_eq!(case.outcome(), (false, case.on_cpu()[0].on_chip_waves, 0, 0));
    // Triangles: (3 · 2 + 8) / 4 = 3.5 and 2.
    let mut case = Case::new(Domain::Tri, &[[2.0, 2.0, 2.0, 8.0, 0.0, 0.0]], 3.0);
    assert!(case.outcome().0);
    case.readings.averaged_factors = AveragedFactors::EdgesOnly;
    assert!(!case.outcome().0);
}

#[test]
fn g_culled_patches() {
    // A2. A: all 5. B: one edge 0, the others 5. As zero 30 / 12 = 2.5; excluded 30 / 6 = 5; as they are 55 / 12 = 4.58.
    let factors = [[5.0; 6], [0.0, 5.0, 5.0, 5.0, 5.0, 5.0]];
    let mut case = Case::new(Domain::Quad, &factors, 3.0);
    let average = |case: &Case| case.run()[0].record.average_factor(Domain::Quad, &case.readings);
    assert_eq!((case.outcome().0, average(&case)), (false, 2.5));
    case.readings.culled_patches = CulledPatches::Excluded;
    // Both patches are written, culled or not.
    assert_eq!((case.outcome(), average(&case)), ((true, 1, 0, 96), 5.0));
    case.readings.culled_patches = CulledPatches::AsTheyAre;
    assert_eq!((case.outcome().0, average(&case)), (true, 55.0 / 12.0));
    // Nothing counts.
    let mut case = Case::new(Domain::Quad, &[[0.0; 6]; 3], 3.0);
    case.readings.culled_patches = CulledPatches::Excluded;
    assert_eq!((case.outcome(), average(&case)), ((false, 0, 0, 0), 0.0));
}

#[test]
fn g_clamped_and_raw() {
    // A3. Factors of 0.25 are taken as 1 by the tessellator; their raw average is 0.25.
    let mut case = Case::new(Domain::Quad, &[[0.25; 6]; 2], 0.5);
    assert!(case.outcome().0);
    case.readings.factor_values = FactorValues::Raw;
    let decision = case.run()[0];
    assert_eq!((decision.record.off_chip, decision.record.factor_sum), (false, FactorSum::Raw(3.0f32.to_bits())));
    // An inside factor that is a NaN is the least to the tessellator; raw, it is below nothing.
    let nan = [2.0, 2.0, 2.0, 2.0, f32::NAN, 2.0];
    let mut case = Case::new(Domain::Quad, &[nan, [1.0; 6]], 3.0);
    assert!(!case.outcome().0);
    case.readings.factor_values = FactorValues::Raw;
    assert!(case.outcome().0);
    // Minus infinity inside is below everything, and with the NaN a NaN.
    let minus = [2.0, 2.0, 2.0, 2.0, f32::NEG_INFINITY, 2.0];
    case.factors = vec![minus, [64.0; 6]];
    assert!(!case.outcome().0);
    case.factors = vec![minus, nan];
    assert!(case.outcome().0);
    // Exactly the threshold, of numbers that single precision adds exactly.
    case.factors = vec![[1.5; 6], [4.5; 6]];
    assert!(case.outcome().0);
}

#[test]
fn waves_by_simd() {
    // A8. One wave on each of 4 SIMDs is four of a threadgroup.
    let mut case = Case::new(Domain::Isoline, &lines([64.0, 64.0, 64.0, 61.0]), 0.0);
    case.waves = 1;
    assert_eq!(case.outcome(), (true, 1, 4, 96));
    case.readings.wave_threshold = WaveThreshold::PerSimd;
    assert_eq!(case.outcome(), (true, 4, 1, 96));
}

#[test]
fn h_threadgroups_of_many_sizes_and_a_patch_across_two_waves() {
    // Three control points: of 22 patches, the last has hull lanes 63, 64 and 65.
    let factor = |i: u32| {
        if i.is_multiple_of(6) {
            0.0
        } else if i < 25 {
            2.0
        } else {
            6.0
        }
    };
    let factors: Vec<[f32; 6]> = (0..50).map(|i| [factor(i); 6]).collect();
    for patches_per_threadgroup in [1, 15, 16, 17, 22] {
        let mut case = Case::new(Domain::Quad, &factors, 3.5);
        case.points = 3;
        case.patches_per_threadgroup = patches_per_threadgroup;
        case.waves = 1;
        let decisions = case.run();
        assert_eq!(decisions.len(), 50usize.div_ceil(patches_per_threadgroup as usize));
        assert!(decisions.iter().any(|decision| decision.record.off_chip), "{patches_per_threadgroup}");
        assert!(decisions.iter().any(|decision| !decision.record.off_chip), "{patches_per_threadgroup}");
    }
}
