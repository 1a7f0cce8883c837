//! A draw cut into batches of patches that follow one another through the same memory, under a bound that the caller gives.

use std::ops::Range;

use super::device::rounded;
use super::draw::{Draw, DrawShape};
use super::layout::patch_words;
use super::measure::Measurement;
use super::state::Sizes;
use super::tessellation::TessellationPipeline;
use super::workspace::{ChunkCapacity, WorkspaceDescriptor};
use crate::Error;

/// Bytes that say on the GPU which threadgroups a batch has.
pub(super) const ROW_BYTES: u64 = 40;

/// Bytes of the records that counting works in at a time, about; what there is of them follows from the draw.
const COUNTING_BYTES: u64 = 32 << 20;

/// Bytes of a threadgroup's record and of its items in the lists.
const THREADGROUP_BYTES: u64 = 48;

/// A range of a draw's patches that is tessellated at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Patches of the draw, counted over all instances.
    pub patches: Range<u32>,
    /// Vertices that they come to, as measured.
    pub vertices: u32,
    /// Primitives that they come to, as measured.
    pub primitives: u32,
    pub(super) threadgroups: Range<u32>,
}

/// How a draw is cut into batches. The batches are whole threadgroups that follow one another, so their union is the draw:
/// the same primitives in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchPlan {
    batches: Vec<Batch>,
    pub(super) shape: DrawShape,
    pub(super) descriptor: WorkspaceDescriptor,
    pub(super) sizes: Sizes,
}

/// Threadgroups, patches, vertices, primitives.
type Counts = [u64; 4];

impl BatchPlan {
    /// Cuts `draw`, as `measurement` found it, so that a [`BatchWorkspace`](super::BatchWorkspace) for it takes at most
    /// `bound` bytes in all. Measuring itself, which is done before, takes memory of its own:
    /// [`TessellationPipeline::measure`] says how much.
    ///
    /// # Errors
    /// [`Error::BoundTooSmall`] where the largest threadgroup with its records does not fit, [`Error::LimitExceeded`] where
    /// it exceeds what the device can bind, [`Error::OutOfRange`] where the measurement is of another draw.
    pub fn new(
        pipeline: &TessellationPipeline,
        draw: &Draw<'_>,
        measurement: &Measurement,
        bound: u64,
    ) -> Result<Self, Error> {
        let shape = DrawShape::new(pipeline, draw)?;
        if (measurement.patches(), measurement.threadgroups()) != (shape.patches, shape.threadgroups) {
            return Err(Error::OutOfRange {
                what: "measurement of a draw in batches",
                value: format!("{} patches in {} threadgroups", measurement.patches(), measurement.threadgroups()),
                expected: format!("of the same draw: {} patches in {}", shape.patches, shape.threadgroups),
            });
        }
        let limit = pipeline.limits.max_storage_buffer_binding_size.min(pipeline.limits.max_buffer_size);
        let groups: Vec<Counts> = (0..)
            .zip(measurement.of_threadgroups())
            .map(|(group, [vertices, primitives])| {
                let patches = shape.first_patch(group + 1) - shape.first_patch(group);
                [1, u64::from(patches), u64::from(*vertices), u64::from(*primitives)]
            })
            .collect();
        let mut largest = [0; 4];
        let mut all = [0; 4];
        for (group, counts) in (0..).zip(&groups) {
            super::measure::check_threadgroup(pipeline, group, [counts[2], counts[3]], limit)?;
            for i in 0..4 {
                largest[i] = largest[i].max(counts[i]);
                all[i] += counts[i];
            }
        }
        // The first batch's patch records also serve the search for strip cuts.
        largest[1] = largest[1].max(scan_patches(pipeline, draw));

        let sizes = |room: &Counts| Sizes::new(pipeline, &descriptor(pipeline, room), shape.patches_per_instance);
        let smallest = sizes(&largest)?.total();
        let needed = smallest + table_bytes(groups.len());
        let mut budget = bound;
        loop {
            let fits = |room: &Counts| {
                sizes(room).is_ok_and(|sizes| sizes.total() <= budget && sizes.largest_binding() <= limit)
            };
            if !fits(&largest) {
                return Err(if budget < smallest {
                    Error::BoundTooSmall { needed, bound }
                } else {
                    let needed = sizes(&largest)?.largest_binding();
                    binding_exceeded("the largest threadgroup of the draw and its records", needed, limit)
                });
            }
            let batches = cut(&groups, &largest_room(&largest, &all, fits), &shape);
            // What no batch makes use of is not asked for.
            let mut room = largest;
            for batch in &batches {
                let counts = [
                    batch.threadgroups.len() as u64,
                    batch.patches.len() as u64,
                    batch.vertices.into(),
                    batch.primitives.into(),
                ];
                (0..4).for_each(|i| room[i] = room[i].max(counts[i]));
            }
            let sizes = sizes(&room)?;
            let rows = table_bytes(batches.len());
            if sizes.total() + rows <= bound {
                return Ok(Self { batches, shape, descriptor: descriptor(pipeline, &room), sizes });
            }
            // The budget shrinks each time, since the workspace was within the old one and is not within the new one.
            budget = bound.saturating_sub(rows);
        }
    }

    /// Batches in which a draw is counted before anything is known of it: no vertices, and records for a bounded number of
    /// threadgroups.
    pub(super) fn for_counting(pipeline: &TessellationPipeline, draw: &Draw<'_>) -> Result<Self, Error> {
        let shape = DrawShape::new(pipeline, draw)?;
        let patches = u64::from(shape.patches_per_threadgroup);
        let bytes = THREADGROUP_BYTES + patches * u64::from(patch_words(pipeline.fixed.domain)) * 4;
        let most = (COUNTING_BYTES / bytes).max(1).min(u64::from(shape.threadgroups));
        let step = (most as usize).max(1);
        let batches: Vec<Batch> = (0..shape.threadgroups)
            .step_by(step)
            .map(|first| {
                let end = first.saturating_add(step as u32).min(shape.threadgroups);
                Batch {
                    patches: shape.first_patch(first)..shape.first_patch(end),
                    vertices: 0,
                    primitives: 0,
                    threadgroups: first..end,
                }
            })
            .collect();
        let patches = batches.iter().map(|batch| batch.patches.len() as u64).max().unwrap_or(0);
        let room = [most, patches.max(scan_patches(pipeline, draw)), 0, 0];
        let descriptor = WorkspaceDescriptor { off_chip_threadgroups: 0, ..descriptor(pipeline, &room) };
        let sizes = Sizes::new(pipeline, &descriptor, shape.patches_per_instance)?;
        Ok(Self { batches, shape, descriptor, sizes })
    }

    /// The batches, in the order in which they are encoded.
    #[must_use]
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// Bytes of all buffers that the batches share.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sizes.total() + table_bytes(self.batches.len())
    }
}

/// Bytes of the table that so many batches read their parameters out of.
fn table_bytes(batches: usize) -> u64 {
    rounded(batches as u64 * ROW_BYTES)
}

fn binding_exceeded(what: &str, needed: u64, available: u64) -> Error {
    Error::LimitExceeded {
        what: what.to_owned(),
        limit: "max_storage_buffer_binding_size",
        needed,
        available,
        advice: "request a higher limit, or use fewer patches per threadgroup",
    }
}

/// Patches whose records have room for what the search for strip cuts keeps there: four words for 4,096 indices.
fn scan_patches(pipeline: &TessellationPipeline, draw: &Draw<'_>) -> u64 {
    if pipeline.strip_cut.is_none() || draw.index_buffer.is_none() {
        return 0;
    }
    let indices = draw.vertices.end.saturating_sub(draw.vertices.start);
    let words = u64::from(indices.div_ceil(super::strip_cut::BLOCK)) * 4;
    words.div_ceil(u64::from(patch_words(pipeline.fixed.domain)))
}

/// Shares of the whole draw that rooms are tried at.
const SHARES: u64 = 1 << 24;

/// The largest room that fits: the same share of all that the draw has of everything, and at least what any one threadgroup
/// needs, which fits.
fn largest_room(largest: &Counts, all: &Counts, fits: impl Fn(&Counts) -> bool) -> Counts {
    let room = |share: u64| {
        let of = |i: usize| (u128::from(all[i]) * u128::from(share) / u128::from(SHARES)) as u64;
        [0, 1, 2, 3].map(|i| largest[i].max(of(i)))
    };
    let (mut low, mut high) = (0, SHARES + 1);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fits(&room(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    room(low)
}

/// Fills one batch after the other until the next threadgroup does not fit.
fn cut(groups: &[Counts], room: &Counts, shape: &DrawShape) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut first = 0;
    let mut taken: Counts = [0; 4];
    let mut close = |first: u32, end: u32, taken: &Counts| {
        batches.push(Batch {
            patches: shape.first_patch(first)..shape.first_patch(end),
            // Within the room, whose bytes a binding can have, at 4 or more for each.
            vertices: u32::try_from(taken[2]).unwrap_or(u32::MAX),
            primitives: u32::try_from(taken[3]).unwrap_or(u32::MAX),
            threadgroups: first..end,
        });
    };
    for (group, counts) in (0..).zip(groups) {
        if (0..4).any(|i| taken[i] + counts[i] > room[i]) {
            close(first, group, &taken);
            first = group;
            taken = [0; 4];
        }
        (0..4).for_each(|i| taken[i] += counts[i]);
    }
    if !groups.is_empty() {
        close(first, groups.len() as u32, &taken);
    }
    batches
}

fn descriptor(pipeline: &TessellationPipeline, room: &Counts) -> WorkspaceDescriptor {
    let [threadgroups, patches, vertices, primitives] = room.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    WorkspaceDescriptor {
        label: format!("{}: batches", pipeline.label),
        patches,
        threadgroups,
        off_chip_threadgroups: threadgroups,
        draws: 1,
        chunks: vec![ChunkCapacity { threadgroups: 0..threadgroups, vertices, primitives }],
    }
}
