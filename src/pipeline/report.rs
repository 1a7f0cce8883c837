//! What the GPU counted for a draw, read back without stalling: a ring of buffers that wgpu maps once the caller's
//! submission is through, with callbacks in the caller's own poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::device::buffer;
use super::layout::{
    OVERFLOW_ITEMS, OVERFLOW_OFF_CHIP, OVERFLOW_PATCHES, OVERFLOW_PRIMITIVES, OVERFLOW_THREADGROUPS, OVERFLOW_VERTICES,
    Slot, slots_of,
};
use super::output::Tessellation;
use super::read::Source;
use super::workspace::Workspace;
use crate::Error;
use crate::hardware::Statistics;

/// What a draw came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawReport {
    /// Vertices: domain points of all patches.
    pub vertices: u64,
    /// Primitives of all patches; not counted where the draw did not fit for want of vertices of another chunk.
    pub primitives: u64,
    /// Threadgroups that went off-chip.
    pub off_chip_threadgroups: u64,
    /// What ran out, where something did; nothing of the draw was drawn then.
    pub shortage: Option<Shortage>,
}

/// What a draw lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Vertices, primitives, off-chip threadgroups or work items.
    pub what: &'static str,
    /// What the draw needs of it.
    pub needed: u64,
    /// What the workspace had left.
    pub available: u64,
}

impl DrawReport {
    /// The shortage as an error.
    ///
    /// # Errors
    /// [`Error::WorkspaceTooSmall`] where the draw did not fit.
    pub fn fits(&self) -> Result<(), Error> {
        match self.shortage {
            None => Ok(()),
            Some(Shortage { what, needed, available }) => Err(Error::WorkspaceTooSmall { what, needed, available }),
        }
    }

    pub(crate) fn add(&mut self, slot: &Slot, capacities: &Capacities) {
        let vertices = u64::from(slot.vertices) | u64::from(slot.vertices_high) << 32;
        let primitives = u64::from(slot.primitives) | u64::from(slot.primitives_high) << 32;
        self.vertices += vertices;
        self.primitives += primitives;
        self.off_chip_threadgroups += u64::from(slot.off_chip);
        let left = |capacity: u32, start: u32| u64::from(capacity.saturating_sub(start));
        let found = [
            (OVERFLOW_VERTICES, "vertices", vertices, left(capacities.vertices, slot.vertex_start)),
            (OVERFLOW_PRIMITIVES, "primitives", primitives, left(capacities.primitives, slot.primitive_start)),
            (
                OVERFLOW_OFF_CHIP,
                "off-chip threadgroups",
                u64::from(slot.off_chip),
                u64::from(capacities.off_chip_threadgroups),
            ),
            (
                OVERFLOW_ITEMS,
                "work items",
                u64::from(slot.queue) + u64::from(slot.connectivity),
                u64::from(capacities.items),
            ),
        ];
        let found = found.into_iter().chain([
            (OVERFLOW_PATCHES, "patches of an indirect draw", u64::from(slot.patches), u64::from(capacities.patches)),
            (
                OVERFLOW_THREADGROUPS,
                "threadgroups of an indirect draw",
                u64::from(slot.threadgroups),
                u64::from(capacities.threadgroups),
            ),
        ]);
        for (bit, what, needed, available) in found {
            if slot.overflow & bit != 0 && self.shortage.is_none() {
                self.shortage = Some(Shortage { what, needed, available });
            }
        }
    }
}

/// What a chunk of a workspace has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacities {
    pub(crate) vertices: u32,
    pub(crate) primitives: u32,
    pub(crate) off_chip_threadgroups: u32,
    /// Of the domain and the connectivity pass together.
    pub(crate) items: u32,
    /// What the caller said that an indirect draw has at most.
    pub(crate) patches: u32,
    pub(crate) threadgroups: u32,
}

/// Adds up the slots of a draw's chunks.
pub(crate) fn report(tessellation: &Tessellation, slots: &[Slot]) -> DrawReport {
    let mut report = DrawReport::default();
    for (chunk, slot) in tessellation.chunks().iter().zip(slots) {
        let capacities = Capacities {
            vertices: chunk.vertex_capacity,
            primitives: chunk.primitive_capacity,
            off_chip_threadgroups: tessellation.off_chip_capacity,
            items: tessellation.item_capacity,
            patches: tessellation.shape.patches,
            threadgroups: tessellation.shape.threadgroups,
        };
        report.add(slot, &capacities);
    }
    report
}

/// Buffers of the ring; a report takes one from its request until its callback.
const RING: usize = 4;

#[derive(Debug)]
pub(crate) struct ReportRing {
    label: String,
    entries: Vec<RingEntry>,
    /// Buffers made so far.
    pub(crate) made: u64,
}

#[derive(Debug)]
struct RingEntry {
    buffer: wgpu::Buffer,
    busy: Arc<AtomicBool>,
}

/// Holds an entry of the ring. Dropping it frees the entry, also where the caller never submits the encoder and wgpu drops
/// the callback uncalled.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn new(flag: Arc<AtomicBool>) -> Self {
        flag.store(true, Ordering::Release);
        Self(flag)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl ReportRing {
    pub(crate) fn new(label: &str) -> Self {
        Self { label: format!("{label}: report"), entries: Vec::new(), made: 0 }
    }

    /// A buffer of at least `size` bytes that no report is under way in.
    fn take(&mut self, device: &wgpu::Device, size: u64) -> Result<Option<(wgpu::Buffer, Arc<AtomicBool>)>, Error> {
        let full = self.entries.len() >= RING;
        let free = |entry: &&mut RingEntry| !entry.busy.load(Ordering::Acquire);
        if let Some(entry) = self.entries.iter_mut().find(|entry| free(entry) && entry.buffer.size() >= size) {
            return Ok(Some((entry.buffer.clone(), Arc::clone(&entry.busy))));
        }
        let replaced = self.entries.iter_mut().find(free);
        if replaced.is_none() && full {
            return Ok(None);
        }
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        let made = RingEntry { buffer: buffer(device, &self.label, size, usage)?, busy: Arc::default() };
        self.made += 1;
        let taken = (made.buffer.clone(), Arc::clone(&made.busy));
        match replaced.filter(|_| full) {
            Some(entry) => *entry = made,
            None => self.entries.push(made),
        }
        Ok(Some(taken))
    }
}

impl Workspace {
    /// Encodes the copy of a draw's counters and calls `callback` with the report once the submission is through: from
    /// the caller's own `Device::poll` or a later `Queue::submit` (or the browser's event loop). A draw without patches
    /// has nothing to wait for: its report comes at once.
    ///
    /// Returns `false` where all buffers of the ring are under way: that report is skipped and `callback` is not called.
    ///
    /// # Errors
    /// [`Error::Wgpu`] where the ring's buffer cannot be made, [`Error::ResultOverwritten`] where another draw has taken the
    /// place of this one.
    pub fn request_report(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        tessellation: &Tessellation,
        callback: impl FnOnce(Result<DrawReport, Error>) + Send + 'static,
    ) -> Result<bool, Error> {
        if tessellation.chunks().is_empty() {
            callback(Ok(DrawReport::default()));
            return Ok(true);
        }
        let slots = |tessellation: &Tessellation, bytes: &[u8]| Ok(report(tessellation, &slots_of(bytes)));
        let mut sources = tessellation.record_sources();
        // Counters without the records.
        sources.pop();
        self.request(encoder, tessellation, &sources, slots, callback)
    }

    /// As [`Workspace::request_report`], with the statistics of the draw: they take the records of all its threadgroups,
    /// 32 bytes each.
    ///
    /// The callback's answer is [`Error::WorkspaceTooSmall`] where the draw did not fit.
    ///
    /// # Errors
    /// [`Error::Wgpu`] and [`Error::LimitExceeded`] where the ring's buffer cannot be made.
    pub fn request_statistics(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        tessellation: &Tessellation,
        callback: impl FnOnce(Result<Statistics, Error>) + Send + 'static,
    ) -> Result<bool, Error> {
        if tessellation.chunks().is_empty() {
            callback(Ok(Statistics::default()));
            return Ok(true);
        }
        let records = |tessellation: &Tessellation, bytes: &[u8]| {
            Ok(Statistics::new(tessellation.pipeline_shape(), &tessellation.records_of(bytes)?))
        };
        self.request(encoder, tessellation, &tessellation.record_sources(), records, callback)
    }

    /// Copies `sources` one after the other into a buffer of the ring; once they are there, `answer` reads them.
    fn request<T: 'static>(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        tessellation: &Tessellation,
        sources: &[Source<'_>],
        answer: impl FnOnce(&Tessellation, &[u8]) -> Result<T, Error> + Send + 'static,
        callback: impl FnOnce(Result<T, Error>) + Send + 'static,
    ) -> Result<bool, Error> {
        tessellation.check_there()?;
        let size = sources.iter().map(|source| source.size).sum();
        let device = self.device.clone();
        let Some((buffer, busy)) = self.reports.take(&device, size)? else { return Ok(false) };
        let busy = Busy::new(busy);
        let mut to = 0;
        for source in sources {
            encoder.copy_buffer_to_buffer(source.buffer, source.offset, &buffer, to, Some(source.size));
            to += source.size;
        }
        let (mapped, tessellation) = (buffer.clone(), tessellation.clone());
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, 0..size, move |outcome| {
            let read_back = |reason: String| Error::ReadBack { what: "a report", reason };
            let answer = match outcome {
                Err(error) => Err(read_back(error.to_string())),
                Ok(()) => {
                    let answer = mapped
                        .get_mapped_range(0..size)
                        .map_err(|error| read_back(error.to_string()))
                        .and_then(|view| answer(&tessellation, &view));
                    mapped.unmap();
                    answer
                }
            };
            drop(busy);
            callback(answer);
        });
        Ok(true)
    }
}
