//! Times of stretches of an encoder on the GPU, where the adapter has timestamps.

use super::gpu::Gpu;

/// Takes a timestamp at each mark.
pub(crate) struct Stopwatch {
    queries: Option<(wgpu::QuerySet, wgpu::Buffer, wgpu::Buffer)>,
    marks: u32,
    most: u32,
}

impl Stopwatch {
    /// One that can take `most` marks.
    pub(crate) fn new(gpu: &Gpu, most: u32) -> Self {
        let timestamps = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let queries = gpu.device.features().contains(timestamps).then(|| {
            let set = gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stopwatch"),
                ty: wgpu::QueryType::Timestamp,
                count: most,
            });
            let buffer = |usage| {
                gpu.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("stopwatch"),
                    size: u64::from(most) * 8,
                    usage,
                    mapped_at_creation: false,
                })
            };
            let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
            (set, resolved, buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ))
        });
        Self { queries, marks: 0, most }
    }

    /// Marks a place in the encoder. Marks beyond the most are left out.
    pub(crate) fn mark(&mut self, encoder: &mut wgpu::CommandEncoder) {
        if let Some((set, ..)) = &self.queries
            && self.marks < self.most
        {
            encoder.write_timestamp(set, self.marks);
            self.marks += 1;
        }
    }

    /// To be called last of all on the encoder.
    pub(crate) fn finish(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some((set, resolved, readable)) = &self.queries
            && self.marks > 0
        {
            encoder.resolve_query_set(set, 0..self.marks, resolved, 0);
            encoder.copy_buffer_to_buffer(resolved, 0, readable, 0, Some(u64::from(self.marks) * 8));
        }
    }

    /// Milliseconds between marks, once the encoder is submitted; none where the adapter has no timestamps.
    pub(crate) fn milliseconds(&self, gpu: &Gpu) -> anyhow::Result<Vec<f64>> {
        let Some((.., readable)) = &self.queries else { return Ok(Vec::new()) };
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&gpu.read(readable)?);
        let per_tick = f64::from(gpu.queue.get_timestamp_period()) / 1e6;
        let taken = ticks.get(..self.marks as usize).unwrap_or(&[]);
        Ok(taken.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64 * per_tick).collect())
    }
}
