//! The scheduler model, against cases small enough to be worked out by hand. The working stands beside each.

use patchwave::Domain;
use patchwave::hardware::timeline::{SpanKind, Timeline, TimelineError, WaveCosts};
use patchwave::hardware::{PipelineShape, Profile, Readings, ThreadgroupRecord};

/// `units` compute units of 4 wave slots and 1,024 bytes of LDS each.
fn machine(units: u32) -> Profile {
    Profile { compute_units: units, simds: 1, waves_per_simd: 4, lds_bytes: 1024, ..Profile::xbox_one() }
}

/// Patches of one control point, so that a threadgroup has one vertex and one hull wave.
fn shape(on_chip_waves: u32, lds_bytes: u64) -> PipelineShape {
    PipelineShape {
        domain: Domain::Quad,
        input_points: 1,
        output_points: 1,
        on_chip_waves,
        off_chip_bytes_per_patch: 32,
        lds_bytes,
        readings: Readings::default(),
    }
}

fn group(domain_waves: u32, off_chip: bool) -> ThreadgroupRecord {
    ThreadgroupRecord { patches: 1, points: domain_waves * 64, off_chip, ..ThreadgroupRecord::default() }
}

/// A vertex wave takes 1, a hull wave 2, a domain wave 3.
const COSTS: WaveCosts = WaveCosts::new(1.0, 2.0, 3.0);

fn run(profile: &Profile, shape: &PipelineShape, records: &[ThreadgroupRecord]) -> Timeline {
    let timeline = Timeline::new(profile, shape, records, &COSTS).expect("it can run");
    check(profile, shape, records, &timeline);
    timeline
}

/// What holds of every timeline: all waves run once, no compute unit runs more than it has slots for or holds more LDS
/// than it has, stages follow each other.
fn check(profile: &Profile, shape: &PipelineShape, records: &[ThreadgroupRecord], timeline: &Timeline) {
    let mut waves = std::collections::HashMap::<(u32, SpanKind), u32>::new();
    let mut changes = Vec::new();
    for span in &timeline.spans {
        *waves.entry((span.threadgroup, span.kind)).or_default() += span.waves;
        changes.push((span.begin, span.compute_unit, i64::from(span.waves)));
        changes.push((span.end, span.compute_unit, -i64::from(span.waves)));
    }
    for (number, record) in (0..).zip(records) {
        let count = |kind| waves.get(&(number, kind)).copied().unwrap_or(0);
        assert_eq!(u64::from(count(SpanKind::Vertex)), shape.vertex_threads(record.patches).div_ceil(64));
        assert_eq!(u64::from(count(SpanKind::Hull)), shape.hull_threads(record.patches).div_ceil(64));
        assert_eq!(count(SpanKind::OnChipDomain), record.on_chip_waves(shape.on_chip_waves));
        assert_eq!(count(SpanKind::OffChipDomain), record.off_chip_waves(shape.on_chip_waves));
    }
    // Ends before beginnings at the same time.
    changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
    let mut running = vec![0; profile.compute_units as usize];
    for (time, unit, change) in changes {
        running[unit as usize] += change;
        assert!((0..=i64::from(profile.wave_slots())).contains(&running[unit as usize]), "at {time}");
    }
    for step in &timeline.lds {
        assert!(step.bytes <= u64::from(profile.lds_bytes));
    }
    for unit in 0..profile.compute_units {
        let last = timeline.lds.iter().rfind(|step| step.compute_unit == unit);
        assert!(last.is_none_or(|step| step.bytes == 0), "LDS that nobody gave back");
    }
}

/// Begin, end, compute unit and waves of the spans of a kind.
fn spans(timeline: &Timeline, kind: SpanKind) -> Vec<(f64, f64, u32, u32)> {
    let of_kind = timeline.spans.iter().filter(|span| span.kind == kind);
    of_kind.map(|span| (span.begin, span.end, span.compute_unit, span.waves)).collect()
}

#[test]
fn one_threadgroup_on_chip() {
    // Two compute units, one threadgroup of 6 domain waves that stays on-chip:
    //   unit 0: VS 0..1, HS 1..3, four domain waves 3..6 in the four slots, the other two 6..9. Unit 1 idles.
    let profile = machine(2);
    let timeline = run(&profile, &shape(2, 512), &[group(6, false)]);
    assert_eq!(timeline.makespan, 9.0);
    assert_eq!(spans(&timeline, SpanKind::Vertex), [(0.0, 1.0, 0, 1)]);
    assert_eq!(spans(&timeline, SpanKind::Hull), [(1.0, 3.0, 0, 1)]);
    assert_eq!(spans(&timeline, SpanKind::OnChipDomain), [(3.0, 6.0, 0, 4), (6.0, 9.0, 0, 2)]);
    assert_eq!(spans(&timeline, SpanKind::OffChipDomain), []);
    // LDS: 512 bytes of unit 0 from 0 to 9, that is half of it all the time.
    let steps: Vec<_> = timeline.lds.iter().map(|step| (step.time, step.compute_unit, step.bytes)).collect();
    assert_eq!(steps, [(0.0, 0, 512), (9.0, 0, 0)]);
    assert_eq!([timeline.compute_units[0].lds_occupancy, timeline.compute_units[1].lds_occupancy], [0.5, 0.0]);
    // Wave time: 1 + 2 + 6 · 3 = 21 of 4 slots · 9 = 36.
    assert_eq!(timeline.compute_units[0].wave_time, 21.0);
    assert_eq!(timeline.compute_units[0].utilisation, 21.0 / 36.0);
    assert_eq!(timeline.utilisation(), 21.0 / 72.0);
}

#[test]
fn one_threadgroup_off_chip() {
    // The same, off-chip, keeping 2 waves. At 3, two waves take slots of unit 0, which has 2 left; unit 1 has 4. The other
    // four level what is free: two to unit 1 (2 and 2 left), then one each. All end at 6.
    let timeline = run(&machine(2), &shape(2, 512), &[group(6, true)]);
    assert_eq!(timeline.makespan, 6.0);
    assert_eq!(spans(&timeline, SpanKind::OnChipDomain), [(3.0, 6.0, 0, 2)]);
    assert_eq!(spans(&timeline, SpanKind::OffChipDomain), [(3.0, 6.0, 0, 1), (3.0, 6.0, 1, 3)]);
    assert_eq!(timeline.lds.last().map(|step| step.time), Some(6.0), "held until the on-chip waves have finished");
    // A costlier wave off-chip (4 for 3) holds the end up, not the LDS.
    let costs = WaveCosts { off_chip_domain: 4.0, ..COSTS };
    let timeline = Timeline::new(&machine(2), &shape(2, 512), &[group(6, true)], &costs).expect("it can run");
    assert_eq!((timeline.makespan, timeline.lds.last().map(|step| step.time)), (7.0, Some(6.0)));
}

#[test]
fn lds_holds_the_next_threadgroup_up() {
    // One compute unit, and two threadgroups that each take all of its LDS.
    // On-chip, the second begins when the first has ended: 9 + 9.
    let full = [group(6, false), group(6, false)];
    let timeline = run(&machine(1), &shape(0, 1024), &full);
    assert_eq!(timeline.makespan, 18.0);
    assert_eq!(spans(&timeline, SpanKind::Vertex), [(0.0, 1.0, 0, 1), (9.0, 10.0, 0, 1)]);
    // Off-chip with a wave threshold of 0, LDS is free at 3, where the first four domain waves take all slots until 6.
    // Then two take slots and the second threadgroup begins: VS 6..7, HS 7..9, its domain waves 9..12 and 12..15.
    let full = [group(6, true), group(6, true)];
    let timeline = run(&machine(1), &shape(0, 1024), &full);
    assert_eq!(timeline.makespan, 15.0);
    assert_eq!(spans(&timeline, SpanKind::Vertex), [(0.0, 1.0, 0, 1), (6.0, 7.0, 0, 1)]);
    let expected = [(3.0, 6.0, 0, 4), (6.0, 9.0, 0, 2), (9.0, 12.0, 0, 4), (12.0, 15.0, 0, 2)];
    assert_eq!(spans(&timeline, SpanKind::OffChipDomain), expected);
    let steps: Vec<_> = timeline.lds.iter().map(|step| (step.time, step.bytes)).collect();
    assert_eq!(steps, [(0.0, 1024), (3.0, 0), (6.0, 1024), (9.0, 0)]);
}

#[test]
fn slots_of_the_wider_stage_are_held_from_the_beginning() {
    // 64 patches of 3 output control points: 1 vertex wave, 3 hull waves. The unit has 4 slots, so a second threadgroup
    // (which needs 3) waits until the first one's hull waves end at 3, though only one wave runs from 0 to 1.
    let shape = PipelineShape { output_points: 3, ..shape(0, 100) };
    let record = ThreadgroupRecord { patches: 64, ..ThreadgroupRecord::default() };
    let timeline = run(&machine(1), &shape, &[record, record]);
    assert_eq!(spans(&timeline, SpanKind::Vertex), [(0.0, 1.0, 0, 1), (3.0, 4.0, 0, 1)]);
    assert_eq!(spans(&timeline, SpanKind::Hull), [(1.0, 3.0, 0, 3), (4.0, 6.0, 0, 3)]);
    // All culled: no domain waves, and LDS is given back after the hull.
    assert_eq!((timeline.makespan, timeline.lds.len()), (6.0, 4));
}

#[test]
fn blocks_of_the_off_chip_buffer_run_out() {
    // One block: the second threadgroup waits for the first one's last domain wave, at 6, though LDS and slots are free.
    let profile = Profile { off_chip_blocks: 1, ..machine(4) };
    let timeline = run(&profile, &shape(0, 10), &[group(2, true), group(2, true)]);
    assert_eq!(spans(&timeline, SpanKind::Vertex), [(0.0, 1.0, 0, 1), (6.0, 7.0, 0, 1)]);
    // On-chip threadgroups need none.
    let timeline = run(&profile, &shape(0, 10), &[group(2, false), group(2, false)]);
    assert_eq!(spans(&timeline, SpanKind::Vertex), [(0.0, 1.0, 0, 1), (0.0, 1.0, 1, 1)]);
}

#[test]
fn what_can_never_run_is_refused() {
    let one = [group(1, true)];
    let refused = |profile: &Profile, shape: &PipelineShape, costs: &WaveCosts| {
        Timeline::new(profile, shape, &one, costs).expect_err("refused")
    };
    let lds = refused(&machine(1), &shape(0, 1025), &COSTS);
    let expected = TimelineError::DoesNotFit { threadgroup: 0, what: "bytes of LDS", needed: 1025, available: 1024 };
    assert_eq!(lds, expected);
    let wide = PipelineShape { input_points: 64 * 5, ..shape(0, 10) };
    assert!(matches!(refused(&machine(1), &wide, &COSTS), TimelineError::DoesNotFit { needed: 5, available: 4, .. }));
    assert_eq!(refused(&machine(0), &shape(0, 10), &COSTS), TimelineError::Nothing("compute units"));
    let no_blocks = Profile { off_chip_blocks: 0, ..machine(1) };
    assert_eq!(refused(&no_blocks, &shape(0, 10), &COSTS), TimelineError::Nothing("off-chip blocks"));
    for cost in [f64::NAN, f64::INFINITY, -1.0] {
        let costs = WaveCosts { hull: cost, ..COSTS };
        assert!(matches!(refused(&machine(1), &shape(0, 10), &costs), TimelineError::Cost { stage: "hull", .. }));
    }
    // Nothing at all takes no time.
    let timeline = run(&machine(1), &shape(0, 10), &[]);
    assert_eq!((timeline.makespan, timeline.utilisation(), timeline.lds_occupancy()), (0.0, 0.0, 0.0));
    let free = WaveCosts::new(0.0, 0.0, 0.0);
    let timeline = Timeline::new(&machine(1), &shape(0, 10), &one, &free).expect("it can run");
    assert_eq!((timeline.makespan, timeline.utilisation()), (0.0, 0.0));
}

#[test]
fn many_threadgroups_on_the_console() {
    // 65,536 threadgroups of both kinds; what holds of every timeline holds, and twice the same comes out.
    let profile = Profile::xbox_one();
    let shape = PipelineShape { input_points: 16, output_points: 16, on_chip_waves: 4, ..shape(4, 8704) };
    let records: Vec<ThreadgroupRecord> = (0..65_536u32)
        .map(|i| {
            let heavy = i % 97 == 0;
            let points = if heavy { 16 * 4225 } else { 16 * 9 };
            ThreadgroupRecord { patches: 16, points, off_chip: heavy, ..ThreadgroupRecord::default() }
        })
        .collect();
    let costs = WaveCosts::new(1.0, 1.5, 2.25);
    let timeline = Timeline::new(&profile, &shape, &records, &costs).expect("it can run");
    check(&profile, &shape, &records, &timeline);
    assert_eq!(timeline, Timeline::new(&profile, &shape, &records, &costs).expect("it can run"));
    assert!((0.5..=1.0).contains(&timeline.utilisation()), "{}", timeline.utilisation());
}
