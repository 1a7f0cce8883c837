//! What a draw needs, counted on the GPU before its memory is made: a count pass and a read-back, explicit and awaited.

use super::draw::{Draw, DrawShape};
use super::encode::Passes;
use super::layout::GROUP_WORDS;
use super::read::{Reading, Source};
use super::tessellation::TessellationPipeline;
use super::workspace::{ChunkCapacity, Workspace, WorkspaceDescriptor};
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
    pub(crate) fn threadgroup_counts(&self) -> &[[u32; 2]] {
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
        let shape = DrawShape::new(self, draw)?;
        let descriptor = WorkspaceDescriptor {
            label: format!("{}: measure", self.label),
            patches: shape.patches,
            threadgroups: shape.threadgroups,
            off_chip_threadgroups: 0,
            draws: 1,
            chunks: vec![ChunkCapacity { threadgroups: 0..shape.threadgroups, vertices: 0, primitives: 0 }],
        };
        let mut workspace = Workspace::new(device, self, descriptor)?;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("measure") });
        let counted = self.encode_passes(queue, &mut encoder, &mut workspace, draw, Passes::Count, None)?;
        let source = Source {
            buffer: &counted.state,
            offset: counted.threadgroup_records_offset,
            size: u64::from(shape.threadgroups) * u64::from(GROUP_WORDS) * 4,
        };
        let reading = Reading::submit(device, queue, encoder, "counts", &[source])?;
        Ok(Measuring { patches: shape.patches, reading })
    }
}

/// A measurement under way.
pub(crate) struct Measuring {
    patches: u32,
    reading: Reading,
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
        let index_stride = 4 * u64::from(pipeline.fixed.topology.vertices_per_primitive());
        let off_chip_stride = pipeline.off_chip_bytes_per_threadgroup();
        let strides = [pipeline.vertex_stride().max(1), index_stride, off_chip_stride.max(1)];
        let most = strides.map(|stride| limit / stride);

        let mut chunks: Vec<ChunkCapacity> = Vec::new();
        let mut first = 0;
        let mut taken = [0u64; 3];
        for (group, [vertices, primitives]) in (0..).zip(&measurement.threadgroups) {
            let needs = [u64::from(*vertices), u64::from(*primitives), 1];
            if let Some(i) = (0..3).find(|i| needs[*i] > most[*i]) {
                return Err(Error::LimitExceeded {
                    what: format!("threadgroup {group} with {vertices} vertices and {primitives} primitives"),
                    limit: "max_storage_buffer_binding_size",
                    needed: needs[i] * strides[i],
                    available: limit,
                    advice: "request a higher limit, or use smaller vertices or factors",
                });
            }
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

/// The counts are within limits of the device, which fit 32 bits once divided by a stride of at least 4.
fn chunk(first: u32, end: u32, [vertices, primitives, _]: [u64; 3]) -> ChunkCapacity {
    let fits = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    ChunkCapacity { threadgroups: first..end, vertices: fits(vertices), primitives: fits(primitives) }
}
