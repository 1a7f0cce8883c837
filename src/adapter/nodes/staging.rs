//! Staging buffers of a node, and flags that wgpu's callbacks raise.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

use crate::Error;
use crate::pipeline::guarded;

/// Wakes whoever awaits a node set, when a callback of wgpu comes.
#[derive(Debug, Default)]
pub(super) struct Notify(Mutex<Option<Waker>>);

impl Notify {
    pub(super) fn register(&self, waker: &Waker) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker.clone());
    }

    fn wake(&self) {
        if let Some(waker) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waker.wake();
        }
    }
}

/// What became of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mapping {
    Pending,
    Mapped,
    Failed,
}

/// A staging buffer on its way to be mapped.
#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) buffer: wgpu::Buffer,
    flag: Arc<AtomicU8>,
    /// The submission that has to be through before.
    #[cfg_attr(not(feature = "blocking"), allow(dead_code, reason = "what blocks waits for it"))]
    pub(super) submission: wgpu::SubmissionIndex,
}

/// Raised where wgpu drops the callback uncalled as well: then the device is gone.
struct Raise {
    flag: Arc<AtomicU8>,
    notify: Arc<Notify>,
}

impl Drop for Raise {
    fn drop(&mut self) {
        let _ = self.flag.compare_exchange(0, 2, Ordering::AcqRel, Ordering::Acquire);
        self.notify.wake();
    }
}

impl Mapped {
    /// Asks for `buffer` to be mapped after `submission`.
    pub(super) fn request(
        device: &wgpu::Device,
        buffer: wgpu::Buffer,
        mode: wgpu::MapMode,
        submission: wgpu::SubmissionIndex,
        notify: &Arc<Notify>,
    ) -> Self {
        let flag = Arc::new(AtomicU8::new(0));
        let raise = Raise { flag: Arc::clone(&flag), notify: Arc::clone(notify) };
        // On a device that is lost the buffer may never have been made; the callback says so as well.
        let _ = guarded(device, "mapping a staging buffer", || {
            buffer.slice(..).map_async(mode, move |outcome| {
                raise.flag.store(if outcome.is_ok() { 1 } else { 2 }, Ordering::Release);
            });
        });
        Self { buffer, flag, submission }
    }

    pub(super) fn state(&self) -> Mapping {
        match self.flag.load(Ordering::Acquire) {
            0 => Mapping::Pending,
            1 => Mapping::Mapped,
            _ => Mapping::Failed,
        }
    }
}

/// Whether a device is lost: then no new buffer of it can be mapped, which a live one does at once.
pub(super) fn is_lost(device: &wgpu::Device) -> bool {
    let flag = Arc::new(AtomicU8::new(0));
    let raise = Raise { flag: Arc::clone(&flag), notify: Arc::default() };
    let _ = guarded(device, "a probe for a lost device", || {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("probe"),
            size: 4,
            usage: wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        buffer.slice(..).map_async(wgpu::MapMode::Read, move |outcome| {
            raise.flag.store(if outcome.is_ok() { 1 } else { 2 }, Ordering::Release);
        });
        // wgpu panics where the driver says that the device is lost; then the callback goes uncalled.
        let _ = device.poll(wgpu::PollType::Poll);
    });
    flag.load(Ordering::Acquire) == 2
}

/// Staging buffers that are free: those to read from are unmapped, those to write into mapped.
#[derive(Debug, Default)]
pub(super) struct StagingPool {
    read: Vec<wgpu::Buffer>,
    write: Vec<wgpu::Buffer>,
}

/// Which way a staging buffer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// From the GPU: unmapped while it is free.
    Read,
    /// To the GPU: mapped while it is free.
    Write,
}

/// Free buffers that a pool keeps for each way.
const KEPT: usize = 16;

impl StagingPool {
    fn free(&mut self, way: Way) -> &mut Vec<wgpu::Buffer> {
        match way {
            Way::Read => &mut self.read,
            Way::Write => &mut self.write,
        }
    }

    /// A free buffer of at least `bytes`, the smallest that will do, or a new one.
    pub(super) fn take(&mut self, device: &wgpu::Device, way: Way, bytes: u64) -> Result<wgpu::Buffer, Error> {
        let free = self.free(way);
        let fits = free.iter().enumerate().filter(|(_, buffer)| buffer.size() >= bytes);
        if let Some((place, _)) = fits.min_by_key(|(_, buffer)| buffer.size()) {
            return Ok(free.swap_remove(place));
        }
        let usage = match way {
            Way::Read => wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            Way::Write => wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
        };
        let size = bytes.next_power_of_two().max(64 << 10);
        guarded(device, "a staging buffer between nodes", || {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("staging between nodes"),
                size,
                usage,
                mapped_at_creation: way == Way::Write,
            })
        })
    }

    /// Gives a buffer back.
    pub(super) fn give(&mut self, way: Way, buffer: wgpu::Buffer) {
        let free = self.free(way);
        if free.len() == KEPT {
            free.swap_remove(0);
        }
        free.push(buffer);
    }
}
