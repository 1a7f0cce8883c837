//! What a draw needs, counted on the GPU before its memory is made: a count pass and a read-back, explicit and awaited.

use super::batch_workspace::BatchWorkspace;
use super::batches::BatchPlan;
use super::device::buffer;
use super::draw::{Draw, DrawShape, bound_buffers};
use super::encode::Passes;
use super::layout::{GROUP_WORDS, patch_words};
use super::read::{Reading, Source};
use super::tessellation::TessellationPipeline;
use super::workspace::{ChunkCapacity, WorkspaceDescriptor};
use crate::Error;

/// What a draw comes to, threadgroup by threadgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    patches: u32,
    /// Vertices and primitives of each threadgroup.
    threadgroups: Vec<[u32; 2]>,
}

impl Measurement {
    /// Patches of the draw, over all instances.
    #[must_use]
    pub fn patches(&self) -> u32 {
        self.patches
    }

    /// Threadgroups of the draw.
    #[must_use]
    pub fn threadgroups(&self) -> u32 {
        self.threadgroups.len() as u32
    }

    /// Vertices of the draw: domain points of all patches.
    #[must_use]
    pub fn vertices(&self) -> u64 {
        self.threadgroups.iter().map(|counts| u64::from(counts[0])).sum()
    }

    /// Primitives of the draw.
    #[must_use]
    pub fn primitives(&self) -> u64 {
        self.threadgroups.iter().map(|counts| u64::from(counts[1])).sum()
    }

    /// Vertices and primitives of each threadgroup.
    pub(crate) fn of_threadgroups(&self) -> &[[u32; 2]] {
        &self.threadgroups
    }

    fn from_records(patches: u32, records: &[u8]) -> Self {
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(records);
        let threadgroups = words
            .chunks_exact(GROUP_WORDS as usize)
            .map(|record| [record.first().copied().unwrap_or(0), record.get(1).copied().unwrap_or(0)])
            .collect();
        Self { patches, threadgroups }
    }
}

impl TessellationPipeline {
    /// Counts what `draw` comes to: runs its vertex, hull and patch constant functions and reads the counts back.
    ///
    /// While it is under way, it takes 64 bytes a threadgroup for the counts, half of them where the CPU reads them, and some
    /// 32 MiB at most for records of patches, which it goes through in batches; no vertex is kept.
    ///
    /// On native backends somebody has to poll the device while this is awaited;
    /// `measure_blocking` does it itself.
    ///
    /// # Errors
    /// As [`TessellationPipeline::encode`], and [`Error::ReadBack`] where the device is lost.
    pub async fn measure(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        draw: &Draw<'_>,
    ) -> Result<Measurement, Error> {
        self.begin_measure(device, queue, draw)?.measurement().await
    }

    /// [`TessellationPipeline::measure`], waiting for the device.
    ///
    /// # Errors
    /// As [`TessellationPipeline::measure`].
    #[cfg(feature = "blocking")]
    pub fn measure_blocking(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        draw: &Draw<'_>,
    ) -> Result<Measurement, Error> {
        self.begin_measure(device, queue, draw)?.measurement_blocking(device)
    }

    /// Submits the count, so that several devices can count at once.
    pub(crate) fn begin_measure(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        draw: &Draw<'_>,
    ) -> Result<Measuring, Error> {
        let (shape, reading) = self.begin_counts(device, queue, draw, Records::Threadgroups)?;
        Ok(Measuring { patches: shape.patches, reading })
    }

    /// Submits the count of a draw's points, patch by patch.
    pub(crate) fn begin_measure_patches(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        draw: &Draw<'_>,
    ) -> Result<MeasuringPatches, Error> {
        let (_, reading) = self.begin_counts(device, queue, draw, Records::Patches)?;
        Ok(MeasuringPatches { words: patch_words(self.fixed.domain), reading })
    }

    fn begin_counts(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        draw: &Draw<'_>,
        records: Records,
    ) -> Result<(DrawShape, Reading), Error> {
        let plan = BatchPlan::for_counting(self, draw)?;
        let shape = plan.shape;
        // Also where there is no batch that would say so.
        bound_buffers(self, draw, &shape)?;
        self.check_user_groups(draw)?;
        let mut batches = BatchWorkspace::new(device, queue, self, plan)?;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("measure") });
        let (record, count) = match records {
            Records::Threadgroups => (u64::from(GROUP_WORDS) * 4, shape.threadgroups),
            Records::Patches => (u64::from(patch_words(self.fixed.domain)) * 4, shape.patches),
        };
        // The records of each batch, before the next overwrites them.
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let counts = buffer(device, "counts", u64::from(count) * record, usage)?;
        let mut to = 0;
        for batch in 0..batches.plan().batches().len() {
            let counted = self.encode_batch_passes(queue, &mut encoder, &mut batches, draw, batch, Passes::Count)?;
            let (from, count) = match records {
                Records::Threadgroups => (counted.threadgroup_records_offset, counted.threadgroups()),
                Records::Patches => (counted.patch_records_offset, counted.patches()),
            };
            let size = u64::from(count) * record;
            encoder.copy_buffer_to_buffer(&counted.state, from, &counts, to, Some(size));
            to += size;
        }
        let source = Source { buffer: &counts, offset: 0, size: to };
        let reading = Reading::submit(device, queue, encoder, "counts", &[source])?;
        Ok((shape, reading))
    }
}

/// Which records a count is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Records {
    Threadgroups,
    Patches,
}

/// A measurement under way.
pub(crate) struct Measuring {
    patches: u32,
    pub(crate) reading: Reading,
}

impl Measuring {
    pub(crate) async fn measurement(self) -> Result<Measurement, Error> {
        let bytes = self.reading.bytes().await?;
        Ok(Measurement::from_records(self.patches, bytes.first().map_or(&[], Vec::as_slice)))
    }

    #[cfg(feature = "blocking")]
    pub(crate) fn measurement_blocking(self, device: &wgpu::Device) -> Result<Measurement, Error> {
        self.reading.wait(device)?;
        pollster::block_on(self.measurement())
    }
}

/// A measurement of patches under way.
pub(crate) struct MeasuringPatches {
    words: u32,
    pub(crate) reading: Reading,
}

impl MeasuringPatches {
    /// Points of each patch.
    pub(crate) async fn points(self) -> Result<Vec<u32>, Error> {
        let bytes = self.reading.bytes().await?;
        let words: Vec<u32> = bytes.first().map_or_else(Vec::new, |bytes| bytemuck::pod_collect_to_vec(bytes));
        // `PW_PATCH_POINTS`.
        Ok(words.chunks_exact(self.words as usize).map(|record| record.get(2).copied().unwrap_or(0)).collect())
    }
}

impl WorkspaceDescriptor {
    /// A workspace that holds exactly one draw as measured, split into as many chunks as the device's binding and buffer
    /// limits ask for.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] where a single threadgroup is larger than a binding may be.
    pub fn for_measurement(pipeline: &TessellationPipeline, measurement: &Measurement) -> Result<Self, Error> {
        let limit = pipeline.limits.max_storage_buffer_binding_size.min(pipeline.limits.max_buffer_size);
        Self::for_measurement_within(pipeline, measurement, limit)
    }

    /// As [`WorkspaceDescriptor::for_measurement`], with chunks whose buffers stay within `bytes` each.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] where a single threadgroup takes more than that.
    pub fn for_measurement_within(
        pipeline: &TessellationPipeline,
        measurement: &Measurement,
        bytes: u64,
    ) -> Result<Self, Error> {
        let limit = bytes.min(pipeline.limits.max_storage_buffer_binding_size).min(pipeline.limits.max_buffer_size);
        let strides = strides(pipeline);
        let most = strides.map(|stride| limit / stride);

        let mut chunks: Vec<ChunkCapacity> = Vec::new();
        let mut first = 0;
        let mut taken = [0u64; 3];
        for (group, [vertices, primitives]) in (0..).zip(&measurement.threadgroups) {
            let needs = [u64::from(*vertices), u64::from(*primitives), 1];
            check_threadgroup(pipeline, group, [needs[0], needs[1]], limit)?;
            if (0..3).any(|i| taken[i] + needs[i] > most[i]) {
                chunks.push(chunk(first, group, taken));
                first = group;
                taken = [0; 3];
            }
            for i in 0..3 {
                taken[i] += needs[i];
            }
        }
        chunks.push(chunk(first, measurement.threadgroups(), taken));
        Ok(Self {
            label: format!("{}: workspace", pipeline.label),
            patches: measurement.patches,
            threadgroups: measurement.threadgroups(),
            off_chip_threadgroups: chunks.iter().map(|chunk| chunk.threadgroups.len() as u32).max().unwrap_or(0),
            draws: 1,
            chunks,
        })
    }
}

/// Bytes of a vertex, of a primitive's indices, of a threadgroup in the off-chip buffer.
fn strides(pipeline: &TessellationPipeline) -> [u64; 3] {
    [pipeline.vertex_stride().max(1), pipeline.index_stride(), pipeline.off_chip_bytes_per_threadgroup().max(1)]
}

/// Refuses a threadgroup of so many vertices and primitives that has to have more than `limit` bytes in one buffer.
pub(super) fn check_threadgroup(
    pipeline: &TessellationPipeline,
    group: u32,
    [vertices, primitives]: [u64; 2],
    limit: u64,
) -> Result<(), Error> {
    let needs = [vertices, primitives, 1].into_iter().zip(strides(pipeline)).map(|(count, stride)| count * stride);
    match needs.max().filter(|needed| *needed > limit) {
        None => Ok(()),
        Some(needed) => Err(Error::LimitExceeded {
            what: format!("threadgroup {group} with {vertices} vertices and {primitives} primitives"),
            limit: "max_storage_buffer_binding_size",
            needed,
            available: limit,
            advice: "request a higher limit, or use smaller vertices or factors",
        }),
    }
}

/// The counts are within limits of the device, which fit 32 bits once divided by a stride of at least 4.
fn chunk(first: u32, end: u32, [vertices, primitives, _]: [u64; 3]) -> ChunkCapacity {
    let fits = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    ChunkCapacity { threadgroups: first..end, vertices: fits(vertices), primitives: fits(primitives) }
}
