//! The clocks, and what is timed with them.

use patchwave::pipeline::{DrawReport, PassTimestamps};
use patchwave::{Draw, Tessellation, TessellationPipeline, Workspace, WorkspaceDescriptor};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What a row was measured at.
pub(crate) struct Sample {
    /// Sorted.
    pub(crate) milliseconds: Vec<f64>,
    pub(crate) encode_microseconds: f64,
    pub(crate) report: DrawReport,
    pub(crate) memory_bytes: u64,
    /// Of all that was allocated on the device at the end, where wgpu can tell.
    pub(crate) allocated_bytes: Option<u64>,
    /// Milliseconds of hull, allocate, domain and connectivity, where the device can tell; medians.
    pub(crate) passes: Option<[f64; 4]>,
}

impl Sample {
    /// The median.
    pub(crate) fn median(&self) -> f64 {
        self.milliseconds.get(self.milliseconds.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// GPU time stamps where the device has them and they can be believed, else the wall clock.
pub(crate) struct Timer {
    stamps: Option<Stamps>,
}

struct Stamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
    nanoseconds: f64,
}

/// What [`Timer`] and [`tessellation`] use of a device where it has it.
pub(crate) const STAMPS: wgpu::Features = wgpu::Features::TIMESTAMP_QUERY
    .union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS)
    .union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);

impl Timer {
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        // lavapipe stamps the time at which commands are recorded into its queue for some of them; its wall clock is right.
        let is_cpu = device.adapter_info().device_type == wgpu::DeviceType::Cpu;
        if is_cpu || !device.features().contains(STAMPS) {
            return Self { stamps: None };
        }
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 16, usage, mapped_at_creation: false })
        };
        let stamps = Stamps {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            read: buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
            nanoseconds: f64::from(queue.get_timestamp_period()),
        };
        Self { stamps: Some(stamps) }
    }

    pub(crate) fn clock(&self) -> &'static str {
        if self.stamps.is_some() { "GPU time stamps around the passes" } else { "wall clock around submit and wait" }
    }

    /// Runs what `encode` encodes and gives back the milliseconds it took.
    pub(crate) fn time(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        encode: impl FnOnce(&mut wgpu::CommandEncoder) -> anyhow::Result<()>,
    ) -> anyhow::Result<f64> {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        if let Some(stamps) = &self.stamps {
            encoder.write_timestamp(&stamps.queries, 0);
        }
        encode(&mut encoder)?;
        if let Some(stamps) = &self.stamps {
            encoder.write_timestamp(&stamps.queries, 1);
            encoder.resolve_query_set(&stamps.queries, 0..2, &stamps.resolved, 0);
            encoder.copy_buffer_to_buffer(&stamps.resolved, 0, &stamps.read, 0, Some(16));
        }
        let commands = encoder.finish();
        device.poll(wgpu::PollType::wait_indefinitely())?;
        let begin = Instant::now();
        queue.submit([commands]);
        device.poll(wgpu::PollType::wait_indefinitely())?;
        let wall = begin.elapsed().as_secs_f64() * 1e3;
        let Some(stamps) = &self.stamps else { return Ok(wall) };
        stamps.read.slice(..).map_async(wgpu::MapMode::Read, |_| ());
        device.poll(wgpu::PollType::wait_indefinitely())?;
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&stamps.read.get_mapped_range(..)?);
        stamps.read.unmap();
        Ok(ticks[1].saturating_sub(ticks[0]) as f64 * stamps.nanoseconds / 1e6)
    }

    /// Whether it has time stamps.
    #[cfg(feature = "native")]
    pub(crate) fn has_stamps(&self) -> bool {
        self.stamps.is_some()
    }

    /// Runs what `encode` encodes until the device is warm, then so many times; the milliseconds, sorted.
    #[cfg(feature = "native")]
    pub(crate) fn again(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        repeat: u32,
        mut encode: impl FnMut(&mut wgpu::CommandEncoder) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<f64>> {
        let mut milliseconds = Vec::new();
        let begin = Instant::now();
        let mut is_warm = false;
        while milliseconds.len() < repeat as usize {
            let time = self.time(device, queue, &mut encode)?;
            if is_warm {
                milliseconds.push(time);
            }
            is_warm = self.stamps.is_none() || begin.elapsed() >= WARM_UP;
        }
        milliseconds.sort_by(f64::total_cmp);
        Ok(milliseconds)
    }
}

/// A GPU that had nothing to do lowers its clocks (an H200 to a sixth) and takes a while to raise them again: until then,
/// nothing is timed.
pub(crate) const WARM_UP: Duration = Duration::from_millis(150);

/// What is timed.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) device: &'a wgpu::Device,
    pub(crate) queue: &'a wgpu::Queue,
    pub(crate) timer: &'a Timer,
    pub(crate) pipeline: &'a TessellationPipeline,
    pub(crate) draw: &'a Draw<'a>,
    /// Whether indices are written too.
    pub(crate) has_indices: bool,
}

impl Subject<'_> {
    fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        workspace: &mut Workspace,
        timestamps: Option<&PassTimestamps<'_>>,
    ) -> Result<Tessellation, patchwave::Error> {
        let Self { queue, pipeline, draw, .. } = self;
        match timestamps {
            _ if !self.has_indices => pipeline.encode_vertices(queue, encoder, workspace, draw, timestamps),
            None => pipeline.encode(queue, encoder, workspace, draw),
            Some(timestamps) => pipeline.encode_with_timestamps(queue, encoder, workspace, draw, timestamps),
        }
    }

    /// Exactly as much room as the draw takes.
    pub(crate) fn sizes(&self) -> Result<WorkspaceDescriptor, patchwave::Error> {
        let measurement = self.pipeline.measure_blocking(self.device, self.queue, self.draw)?;
        WorkspaceDescriptor::for_measurement(self.pipeline, &measurement)
    }

    /// Times the passes, each time into the same workspace; from a few million points on its output is larger than any
    /// cache. `look` may encode what it likes after a run before the timed ones, into buffers that were zero, and after one
    /// behind them.
    pub(crate) fn sample(
        &self,
        sizes: WorkspaceDescriptor,
        repeat: u32,
        mut look: impl FnMut(&mut wgpu::CommandEncoder, &Tessellation),
    ) -> anyhow::Result<Sample> {
        let Self { device, queue, timer, pipeline, .. } = *self;
        let mut workspace = Workspace::new(device, pipeline, sizes)?;
        let memory_bytes = workspace.total_bytes();

        let mut milliseconds = Vec::new();
        let mut encode_microseconds = Vec::new();
        let (sender, receiver) = mpsc::channel();
        let begin = Instant::now();
        let mut turn = 0;
        while milliseconds.len() <= repeat as usize {
            workspace.reset();
            let sender = sender.clone();
            let is_last = milliseconds.len() == repeat as usize;
            let mut encode_time = 0.0;
            let time = timer.time(device, queue, |encoder| {
                let begin = Instant::now();
                let tessellation = self.encode(encoder, &mut workspace, None)?;
                encode_time = begin.elapsed().as_secs_f64() * 1e6;
                if turn == 0 {
                    workspace.request_report(encoder, &tessellation, move |report| {
                        let _ = sender.send(report);
                    })?;
                }
                if turn == 0 || is_last {
                    look(encoder, &tessellation);
                }
                Ok(())
            })?;
            if is_last {
                break;
            }
            if turn > 0 && (timer.stamps.is_none() || begin.elapsed() >= WARM_UP) {
                milliseconds.push(time);
                encode_microseconds.push(encode_time);
            }
            turn += 1;
        }
        let report = receiver.try_recv()??;
        report.fits()?;
        milliseconds.sort_by(f64::total_cmp);
        encode_microseconds.sort_by(f64::total_cmp);
        Ok(Sample {
            encode_microseconds: encode_microseconds.get(encode_microseconds.len() / 2).copied().unwrap_or(f64::NAN),
            milliseconds,
            report,
            memory_bytes,
            allocated_bytes: device.generate_allocator_report().map(|report| report.total_reserved_bytes),
            passes: self.passes(&mut workspace, repeat)?,
        })
    }

    /// Times each pass, in runs of their own since the stamps between passes cost time too.
    fn passes(&self, workspace: &mut Workspace, repeat: u32) -> anyhow::Result<Option<[f64; 4]>> {
        let Self { device, queue, timer, .. } = *self;
        let Some(stamps) = &timer.stamps else { return Ok(None) };
        let chunks = workspace.descriptor().chunks.len() as u32;
        let count = chunks * PassTimestamps::QUERIES_PER_CHUNK;
        let queries =
            device.create_query_set(&wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count });
        let size = u64::from(count) * 8;
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
        let read = buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ);
        let mut samples: [Vec<f64>; 4] = Default::default();
        for _ in 0..repeat {
            workspace.reset();
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let timestamps = PassTimestamps { query_set: &queries, first_query: 0 };
            self.encode(&mut encoder, workspace, Some(&timestamps))?;
            encoder.resolve_query_set(&queries, 0..count, &resolved, 0);
            encoder.copy_buffer_to_buffer(&resolved, 0, &read, 0, Some(size));
            queue.submit([encoder.finish()]);
            read.slice(..).map_async(wgpu::MapMode::Read, |_| ());
            device.poll(wgpu::PollType::wait_indefinitely())?;
            let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&read.get_mapped_range(..)?);
            read.unmap();
            for (pass, times) in samples.iter_mut().enumerate() {
                let ticks: u64 = ticks.chunks_exact(5).map(|t| t[pass + 1].saturating_sub(t[pass])).sum();
                times.push(ticks as f64 * stamps.nanoseconds / 1e6);
            }
        }
        Ok(Some(samples.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })))
    }
}

/// Times the passes of a draw.
pub(crate) fn tessellation(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    timer: &Timer,
    pipeline: &TessellationPipeline,
    draw: &Draw<'_>,
    repeat: u32,
) -> anyhow::Result<Sample> {
    let subject = Subject { device, queue, timer, pipeline, draw, has_indices: true };
    subject.sample(subject.sizes()?, repeat, |_, _| ())
}

/// Gigabytes a second of a plain fill with 16-byte stores.
pub(crate) fn fill_bandwidth(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    timer: &Timer,
    repeat: u32,
) -> anyhow::Result<f64> {
    let limits = device.limits();
    let size = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(1 << 30) & !0xffff;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("fill"),
        source: wgpu::ShaderSource::Wgsl(
            "@group(0) @binding(0) var<storage, read_write> to: array<vec4u>;
             @compute @workgroup_size(256)
             fn fill(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
                 let i = id.y * groups.x * 256u + id.x;
                 if (i < arrayLength(&to)) { to[i] = vec4u(i); }
             }"
            .into(),
        ),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("fill"),
        layout: None,
        module: &module,
        entry_point: Some("fill"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("fill"),
        size,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("fill"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
    });
    let workgroups = (size / 16).div_ceil(256) as u32;
    let rows = workgroups.div_ceil(65_535);
    let mut times = Vec::new();
    for turn in 0..=repeat {
        let time = timer.time(device, queue, |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(workgroups.div_ceil(rows), rows, 1);
            Ok(())
        })?;
        if turn > 0 {
            times.push(time);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(size as f64 / times[times.len() / 2] / 1e6)
}
