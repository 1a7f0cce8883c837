//! What the passes of a frame took on the GPU, read back without waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use patchwave::pipeline::PassTimestamps;

use super::news::News;
use crate::measure::STAMPS;
use crate::scene::gpu::Gpu;

/// Frames whose times may be under way.
const RING: usize = 3;
/// Draws whose passes are timed; a set of queries has 4,096 at most.
const MOST_DRAWS: u32 = 64;

/// Milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PassTimes {
    hull: f64,
    allocate: f64,
    domain: f64,
    connectivity: f64,
    paint: f64,
}

impl PassTimes {
    /// Of the ticks of some draws, five a draw, and two around painting.
    fn new(ticks: &[u64], milliseconds: f64) -> Self {
        let (draws, paint) = ticks.split_at(ticks.len().saturating_sub(2));
        let span = |ticks: &[u64], i: usize| match ticks.get(i..i + 2) {
            Some([from, to]) => to.saturating_sub(*from) as f64 * milliseconds,
            _ => 0.0,
        };
        let of = |i: usize| draws.chunks(PassTimestamps::QUERIES_PER_CHUNK as usize).map(|draw| span(draw, i)).sum();
        Self { hull: of(0), allocate: of(1), domain: of(2), connectivity: of(3), paint: span(paint, 0) }
    }

    /// Moves a little towards the latest, so that figures can be read.
    pub(super) fn approach(&mut self, latest: &Self) {
        let pairs = [
            (&mut self.hull, latest.hull),
            (&mut self.allocate, latest.allocate),
            (&mut self.domain, latest.domain),
            (&mut self.connectivity, latest.connectivity),
            (&mut self.paint, latest.paint),
        ];
        pairs.into_iter().for_each(|(held, latest)| *held += (latest - *held) * 0.1);
    }

    pub(super) fn rows(&self) -> [(&'static str, f64); 6] {
        let sum = self.hull + self.allocate + self.domain + self.connectivity;
        [
            ("hull pass", self.hull),
            ("allocate pass", self.allocate),
            ("domain pass", self.domain),
            ("connectivity pass", self.connectivity),
            ("  together", sum),
            ("painting", self.paint),
        ]
    }
}

/// Takes the times of each frame.
pub(super) struct Stamps {
    set: wgpu::QuerySet,
    draws: u32,
    resolved: wgpu::Buffer,
    ring: Vec<(wgpu::Buffer, Arc<AtomicBool>)>,
    milliseconds_per_tick: f64,
}

impl Stamps {
    /// The stamps of frames of so many draws, or why there are none.
    pub(super) fn new(gpu: &Gpu, draws: u32) -> Result<Self, &'static str> {
        if gpu.device.adapter_info().device_type == wgpu::DeviceType::Cpu {
            // lavapipe stamps the time at which commands are recorded into its queue for some of them.
            return Err("No pass times: a processor's time stamps are not to be believed.");
        }
        Self::whether_believed_or_not(gpu, draws)
    }

    /// The same of a processor's as well.
    pub(super) fn whether_believed_or_not(gpu: &Gpu, draws: u32) -> Result<Self, &'static str> {
        if !gpu.device.features().contains(STAMPS) {
            return Err("No pass times: the adapter has no time stamps between passes.");
        }
        if draws > MOST_DRAWS {
            return Err("No pass times: the scene has too many draws.");
        }
        let count = draws * PassTimestamps::QUERIES_PER_CHUNK + 2;
        let size = u64::from(count) * 8;
        let buffer = |usage| {
            let label = Some("stamps");
            gpu.device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
        };
        let read = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        Ok(Self {
            set: gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stamps"),
                ty: wgpu::QueryType::Timestamp,
                count,
            }),
            draws,
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            ring: (0..RING).map(|_| (buffer(read), Arc::default())).collect(),
            milliseconds_per_tick: f64::from(gpu.queue.get_timestamp_period()) / 1e6,
        })
    }

    /// Where the stamps of a draw's passes go.
    pub(super) fn of_draw(&self, draw: u32) -> PassTimestamps<'_> {
        PassTimestamps { query_set: &self.set, first_query: draw * PassTimestamps::QUERIES_PER_CHUNK }
    }

    /// Where the stamps around painting go.
    pub(super) fn of_painting(&self) -> wgpu::RenderPassTimestampWrites<'_> {
        let first = self.draws * PassTimestamps::QUERIES_PER_CHUNK;
        wgpu::RenderPassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        }
    }

    /// To be called behind all passes of a frame. Where all buffers are under way, the frame goes untimed.
    pub(super) fn finish(&self, encoder: &mut wgpu::CommandEncoder, news: &Sender<News>) {
        let Some((buffer, busy)) = self.ring.iter().find(|(_, busy)| !busy.load(Ordering::Acquire)) else { return };
        busy.store(true, Ordering::Release);
        encoder.resolve_query_set(&self.set, 0..self.draws * PassTimestamps::QUERIES_PER_CHUNK + 2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, buffer, 0, Some(buffer.size()));
        let (mapped, busy, news, scale) = (buffer.clone(), Arc::clone(busy), news.clone(), self.milliseconds_per_tick);
        encoder.map_buffer_on_submit(buffer, wgpu::MapMode::Read, .., move |outcome| {
            if outcome.is_ok() {
                if let Ok(view) = mapped.get_mapped_range(..) {
                    let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&view);
                    drop(view);
                    // A receiver that is gone does not want them.
                    let _ = news.send(News::Times(PassTimes::new(&ticks, scale)));
                }
                mapped.unmap();
            }
            busy.store(false, Ordering::Release);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_added_up_pass_by_pass() {
        let ticks = [100, 110, 112, 115, 119, 200, 220, 221, 221, 230, 300, 350];
        let times = PassTimes::new(&ticks, 0.5);
        let expected = PassTimes { hull: 15.0, allocate: 1.5, domain: 1.5, connectivity: 6.5, paint: 25.0 };
        assert_eq!(times, expected);
        assert_eq!(times.rows()[4], ("  together", 24.5));
        // A clock that goes back, and no draws.
        assert_eq!(PassTimes::new(&[9, 3], 1.0), PassTimes::default());
    }
}
