//! When the waves of a draw would have run: a scheduler model of the profile (docs/hardware.md, section 4).
//!
//! The model, in short. Threadgroups start in order, each on the compute unit with the most free wave slots among those
//! that have LDS for it and slots for its vertex and its hull waves. Vertex waves run, then hull waves, each stage at once.
//! Then the threadgroup's on-chip domain waves take slots of the same compute unit, and its off-chip ones of any. LDS is
//! held until the last on-chip wave has finished; off-chip waves hold none. Where slots come free, on-chip waves go first,
//! then off-chip waves, then new threadgroups. A wave takes as long as its stage's cost says, whatever runs beside it.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use super::{PipelineShape, Profile, ThreadgroupRecord, WAVE_LANES};

/// How long a wave of each stage takes, in any one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaveCosts {
    /// A vertex wave.
    pub vertex: f64,
    /// A hull wave, patch constants included.
    pub hull: f64,
    /// A domain wave that reads LDS.
    pub domain: f64,
    /// A domain wave that reads the off-chip buffer.
    pub off_chip_domain: f64,
}

impl WaveCosts {
    /// Costs where it makes no difference to a domain wave what memory it reads.
    #[must_use]
    pub const fn new(vertex: f64, hull: f64, domain: f64) -> Self {
        Self { vertex, hull, domain, off_chip_domain: domain }
    }
}

/// Why there is no timeline.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TimelineError {
    /// A cost that is no duration.
    #[error("the cost of a {stage} wave is {cost}; it must be a finite number of at least 0")]
    Cost {
        /// Whose cost.
        stage: &'static str,
        /// What was given.
        cost: f64,
    },
    /// A threadgroup that no compute unit can hold.
    #[error("threadgroup {threadgroup} needs {needed} {what} and a compute unit of the profile has {available}")]
    DoesNotFit {
        /// The first such threadgroup.
        threadgroup: u32,
        /// Bytes of LDS, or wave slots.
        what: &'static str,
        /// What it needs.
        needed: u64,
        /// What there is.
        available: u64,
    },
    /// A profile without compute units or off-chip blocks.
    #[error("the profile has no {0}")]
    Nothing(&'static str),
}

/// What a wave did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpanKind {
    /// Vertex stage.
    Vertex,
    /// Hull stage.
    Hull,
    /// Domain stage, from LDS.
    OnChipDomain,
    /// Domain stage, from the off-chip buffer.
    OffChipDomain,
}

impl SpanKind {
    /// All kinds, in the order in which a threadgroup has them.
    pub const ALL: [Self; 4] = [Self::Vertex, Self::Hull, Self::OnChipDomain, Self::OffChipDomain];
}

/// Waves of one kind and one threadgroup that began together on one compute unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The compute unit.
    pub compute_unit: u32,
    /// The threadgroup, by the number of its record.
    pub threadgroup: u32,
    /// What they did.
    pub kind: SpanKind,
    /// When they began.
    pub begin: f64,
    /// When they ended.
    pub end: f64,
    /// How many there were.
    pub waves: u32,
}

impl Span {
    /// Time that its waves took together.
    #[must_use]
    pub fn wave_time(&self) -> f64 {
        (self.end - self.begin) * f64::from(self.waves)
    }
}

/// A change of what a compute unit holds of LDS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LdsStep {
    /// When.
    pub time: f64,
    /// Where.
    pub compute_unit: u32,
    /// Bytes held from then on.
    pub bytes: u64,
}

/// What one compute unit did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComputeUnitUse {
    /// Time of all its waves together.
    pub wave_time: f64,
    /// That, of what its wave slots could have run until the last wave anywhere ended: 0 to 1.
    pub utilisation: f64,
    /// LDS held, averaged over the same time: 0 to 1.
    pub lds_occupancy: f64,
}

/// When the waves of a draw would have run.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// When the last wave ended; the first began at 0.
    pub makespan: f64,
    /// What ran, in order of beginning.
    pub spans: Vec<Span>,
    /// LDS over time, in order.
    pub lds: Vec<LdsStep>,
    /// Each compute unit.
    pub compute_units: Vec<ComputeUnitUse>,
    /// Wave slots of a compute unit.
    pub wave_slots: u32,
    /// LDS of a compute unit.
    pub lds_bytes: u32,
}

impl Timeline {
    /// Runs the draw whose threadgroups came to these records, and nothing else, on a machine of `profile`.
    ///
    /// # Errors
    /// [`TimelineError`] where a cost is no duration, or a threadgroup can never start.
    pub fn new(
        profile: &Profile,
        shape: &PipelineShape,
        records: &[ThreadgroupRecord],
        costs: &WaveCosts,
    ) -> Result<Self, TimelineError> {
        check_costs(costs)?;
        if profile.compute_units == 0 {
            return Err(TimelineError::Nothing("compute units"));
        }
        let mut scheduler = Scheduler::new(profile, shape, costs);
        for (number, record) in (0..).zip(records) {
            scheduler.submit(number, record)?;
        }
        scheduler.run();
        Ok(scheduler.finish())
    }

    /// Utilisation of all compute units together.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        self.mean(|unit| unit.utilisation)
    }

    /// LDS occupancy of all compute units together, averaged over time.
    #[must_use]
    pub fn lds_occupancy(&self) -> f64 {
        self.mean(|unit| unit.lds_occupancy)
    }

    fn mean(&self, of: impl Fn(&ComputeUnitUse) -> f64) -> f64 {
        if self.compute_units.is_empty() {
            return 0.0;
        }
        self.compute_units.iter().map(of).sum::<f64>() / self.compute_units.len() as f64
    }
}

fn check_costs(costs: &WaveCosts) -> Result<(), TimelineError> {
    let all = [
        ("vertex", costs.vertex),
        ("hull", costs.hull),
        ("domain", costs.domain),
        ("off-chip domain", costs.off_chip_domain),
    ];
    match all.into_iter().find(|(_, cost)| !(cost.is_finite() && *cost >= 0.0)) {
        Some((stage, cost)) => Err(TimelineError::Cost { stage, cost }),
        None => Ok(()),
    }
}

/// A threadgroup under way.
struct Group {
    number: u32,
    vertex: u32,
    hull: u32,
    on_chip: u32,
    off_chip: u32,
    /// Domain waves that have not ended.
    on_chip_left: u32,
    off_chip_left: u32,
    /// Whether it holds a block of the off-chip buffer.
    block: bool,
}

struct Unit {
    free_slots: u32,
    free_lds: u64,
    /// On-chip waves that wait for a slot: threadgroup, how many.
    waiting: VecDeque<(usize, u32)>,
}

/// Waves that end together. Ordered such that a heap gives the earliest first, and of those the first that began.
struct End {
    time: f64,
    order: usize,
    unit: usize,
    group: usize,
    kind: SpanKind,
    waves: u32,
}

impl Ord for End {
    fn cmp(&self, other: &Self) -> Ordering {
        other.time.total_cmp(&self.time).then(other.order.cmp(&self.order))
    }
}

impl PartialOrd for End {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for End {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for End {}

struct Scheduler<'a> {
    profile: &'a Profile,
    shape: &'a PipelineShape,
    costs: &'a WaveCosts,
    groups: Vec<Group>,
    units: Vec<Unit>,
    next_group: usize,
    free_blocks: u32,
    /// Off-chip waves that wait for a slot: threadgroup, how many.
    waiting: VecDeque<(usize, u32)>,
    ends: BinaryHeap<End>,
    now: f64,
    spans: Vec<Span>,
    lds: Vec<LdsStep>,
}

impl<'a> Scheduler<'a> {
    fn new(profile: &'a Profile, shape: &'a PipelineShape, costs: &'a WaveCosts) -> Self {
        let unit = || Unit {
            free_slots: profile.wave_slots(),
            free_lds: u64::from(profile.lds_bytes),
            waiting: VecDeque::new(),
        };
        Self {
            profile,
            shape,
            costs,
            groups: Vec::new(),
            units: (0..profile.compute_units).map(|_| unit()).collect(),
            next_group: 0,
            free_blocks: profile.off_chip_blocks,
            waiting: VecDeque::new(),
            ends: BinaryHeap::new(),
            now: 0.0,
            spans: Vec::new(),
            lds: Vec::new(),
        }
    }

    fn submit(&mut self, number: u32, record: &ThreadgroupRecord) -> Result<(), TimelineError> {
        let waves = |threads: u64| u32::try_from(threads.div_ceil(u64::from(WAVE_LANES))).unwrap_or(u32::MAX);
        let group = Group {
            number,
            vertex: waves(self.shape.vertex_threads(record.patches)),
            hull: waves(self.shape.hull_threads(record.patches)),
            on_chip: record.on_chip_waves(self.shape.on_chip_waves),
            off_chip: record.off_chip_waves(self.shape.on_chip_waves),
            on_chip_left: record.on_chip_waves(self.shape.on_chip_waves),
            off_chip_left: record.off_chip_waves(self.shape.on_chip_waves),
            block: record.off_chip,
        };
        let fits = |what, needed: u64, available: u64| {
            if needed <= available {
                return Ok(());
            }
            Err(TimelineError::DoesNotFit { threadgroup: number, what, needed, available })
        };
        fits("bytes of LDS", self.shape.lds_bytes, u64::from(self.profile.lds_bytes))?;
        let slots = u64::from(group.vertex.max(group.hull).max(1));
        fits("wave slots", slots, u64::from(self.profile.wave_slots()))?;
        if group.block && self.profile.off_chip_blocks == 0 {
            return Err(TimelineError::Nothing("off-chip blocks"));
        }
        self.groups.push(group);
        Ok(())
    }

    fn run(&mut self) {
        self.start_waves();
        while let Some(first) = self.ends.pop() {
            self.now = first.time;
            self.end(&first);
            // All that ends now has ended before anything takes its place.
            while let Some(next) = self.ends.peek()
                && next.time == self.now
            {
                if let Some(next) = self.ends.pop() {
                    self.end(&next);
                }
            }
            self.start_waves();
        }
    }

    fn span(&mut self, unit: usize, group: usize, kind: SpanKind, waves: u32) {
        let cost = match kind {
            SpanKind::Vertex => self.costs.vertex,
            SpanKind::Hull => self.costs.hull,
            SpanKind::OnChipDomain => self.costs.domain,
            SpanKind::OffChipDomain => self.costs.off_chip_domain,
        };
        let (begin, end) = (self.now, self.now + cost);
        let order = self.spans.len();
        let threadgroup = self.groups[group].number;
        self.spans.push(Span { compute_unit: unit as u32, threadgroup, kind, begin, end, waves });
        self.ends.push(End { time: end, order, unit, group, kind, waves });
    }

    fn take_lds(&mut self, unit: usize) {
        self.units[unit].free_lds -= self.shape.lds_bytes;
        self.step(unit);
    }

    fn give_lds_back(&mut self, unit: usize) {
        self.units[unit].free_lds += self.shape.lds_bytes;
        self.step(unit);
    }

    fn step(&mut self, unit: usize) {
        let bytes = u64::from(self.profile.lds_bytes) - self.units[unit].free_lds;
        self.lds.push(LdsStep { time: self.now, compute_unit: unit as u32, bytes });
    }

    fn end(&mut self, end: &End) {
        let &End { unit, group, kind, waves, .. } = end;
        match kind {
            SpanKind::Vertex => {
                // The hull waves' slots have been held since the threadgroup began.
                let Group { vertex, hull, .. } = self.groups[group];
                self.units[unit].free_slots += vertex.max(hull) - hull;
                self.span(unit, group, SpanKind::Hull, hull);
                return;
            }
            SpanKind::Hull => {
                self.units[unit].free_slots += waves;
                let Group { on_chip, off_chip, .. } = self.groups[group];
                if on_chip == 0 {
                    self.give_lds_back(unit);
                } else {
                    self.units[unit].waiting.push_back((group, on_chip));
                }
                if off_chip > 0 {
                    self.waiting.push_back((group, off_chip));
                }
            }
            SpanKind::OnChipDomain => {
                self.units[unit].free_slots += waves;
                self.groups[group].on_chip_left -= waves;
                if self.groups[group].on_chip_left == 0 {
                    self.give_lds_back(unit);
                }
            }
            SpanKind::OffChipDomain => {
                self.units[unit].free_slots += waves;
                self.groups[group].off_chip_left -= waves;
            }
        }
        let group = &mut self.groups[group];
        if group.block && group.on_chip_left == 0 && group.off_chip_left == 0 {
            group.block = false;
            self.free_blocks += 1;
        }
    }

    /// Gives free slots to on-chip waves, then to off-chip waves, then to new threadgroups.
    fn start_waves(&mut self) {
        for unit in 0..self.units.len() {
            while let Unit { free_slots, waiting, .. } = &mut self.units[unit]
                && let Some((group, waves)) = take_up_to(waiting, *free_slots)
            {
                *free_slots -= waves;
                self.span(unit, group, SpanKind::OnChipDomain, waves);
            }
        }
        self.start_off_chip();
        while self.start_group() {}
    }

    fn start_off_chip(&mut self) {
        let all: u32 = self.units.iter().map(|unit| unit.free_slots).sum();
        let mut left = all;
        while let Some((group, mut waves)) = take_up_to(&mut self.waiting, left) {
            left -= waves;
            // Level the free slots: as if waves went one by one to where the most are free.
            let mut shares = vec![0; self.units.len()];
            while waves > 0 {
                let free = |unit: usize| self.units[unit].free_slots;
                let most =
                    (0..self.units.len()).fold(0, |best, unit| if free(unit) > free(best) { unit } else { best });
                let next = (0..self.units.len()).filter(|unit| *unit != most).map(free).max().unwrap_or(0);
                let share = (free(most) - next).clamp(1, waves);
                self.units[most].free_slots -= share;
                shares[most] += share;
                waves -= share;
            }
            for (unit, share) in shares.into_iter().enumerate().filter(|(_, share)| *share > 0) {
                self.span(unit, group, SpanKind::OffChipDomain, share);
            }
        }
    }

    /// Starts the next threadgroup where there is room for it.
    fn start_group(&mut self) -> bool {
        let Some(group) = self.groups.get(self.next_group) else { return false };
        let (vertex, slots, block) = (group.vertex, group.vertex.max(group.hull), group.block);
        if block && self.free_blocks == 0 {
            return false;
        }
        let fits = |unit: &Unit| unit.free_slots >= slots && unit.free_lds >= self.shape.lds_bytes;
        let mut chosen: Option<usize> = None;
        for (i, unit) in self.units.iter().enumerate().filter(|(_, unit)| fits(unit)) {
            if chosen.is_none_or(|best| unit.free_slots > self.units[best].free_slots) {
                chosen = Some(i);
            }
        }
        let Some(unit) = chosen else { return false };
        self.free_blocks -= u32::from(block);
        self.units[unit].free_slots -= slots;
        self.take_lds(unit);
        self.span(unit, self.next_group, SpanKind::Vertex, vertex);
        self.next_group += 1;
        true
    }

    fn finish(self) -> Timeline {
        let makespan = self.now;
        let mut units = vec![ComputeUnitUse::default(); self.units.len()];
        for span in &self.spans {
            units[span.compute_unit as usize].wave_time += span.wave_time();
        }
        let mut since = vec![(0.0, 0u64); self.units.len()];
        for step in &self.lds {
            let unit = step.compute_unit as usize;
            let (time, bytes) = since[unit];
            units[unit].lds_occupancy += (step.time - time) * bytes as f64;
            since[unit] = (step.time, step.bytes);
        }
        let slot_time = makespan * f64::from(self.profile.wave_slots());
        let lds_time = makespan * f64::from(self.profile.lds_bytes);
        for unit in &mut units {
            unit.utilisation = if slot_time > 0.0 { unit.wave_time / slot_time } else { 0.0 };
            unit.lds_occupancy = if lds_time > 0.0 { unit.lds_occupancy / lds_time } else { 0.0 };
        }
        Timeline {
            makespan,
            spans: self.spans,
            lds: self.lds,
            compute_units: units,
            wave_slots: self.profile.wave_slots(),
            lds_bytes: self.profile.lds_bytes,
        }
    }
}

/// Takes as many of the first waiting waves as there are slots.
fn take_up_to(waiting: &mut VecDeque<(usize, u32)>, slots: u32) -> Option<(usize, u32)> {
    if slots == 0 {
        return None;
    }
    let (group, left) = waiting.front_mut()?;
    let taken = (*left).min(slots);
    let answer = (*group, taken);
    *left -= taken;
    if *left == 0 {
        waiting.pop_front();
    }
    Some(answer)
}
