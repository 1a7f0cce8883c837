//! The records of a draw's threadgroups and the statistics that follow from them, read back on demand.

use super::draw::DrawShape;
use super::layout::{GROUP_WORDS, GroupRecord, SLOT_BYTES, Slot, slots_of};
use super::output::Tessellation;
use super::read::{Reading, Source};
use super::report;
use crate::Error;
use crate::hardware::heuristic::FactorSum;
use crate::hardware::{FactorValues, PipelineShape, Statistics, ThreadgroupRecord};

impl Tessellation {
    /// Reads the record of each threadgroup, in patch order, of a draw that has been submitted.
    ///
    /// On native backends somebody has to poll the device while this is awaited; `threadgroup_records_blocking` does it
    /// itself.
    ///
    /// # Errors
    /// [`Error::WorkspaceTooSmall`] where the draw did not fit, [`Error::ResultOverwritten`] where another has taken its
    /// place, [`Error::ReadBack`] where the device is lost.
    pub async fn threadgroup_records(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
    ) -> Result<Vec<ThreadgroupRecord>, Error> {
        self.records_of(&self.submit_records(device, queue)?.bytes().await?.concat())
    }

    /// [`Tessellation::threadgroup_records`], waiting for the device.
    ///
    /// # Errors
    /// As [`Tessellation::threadgroup_records`].
    #[cfg(feature = "blocking")]
    pub fn threadgroup_records_blocking(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
    ) -> Result<Vec<ThreadgroupRecord>, Error> {
        let reading = self.submit_records(device, queue)?;
        reading.wait(device)?;
        self.records_of(&pollster::block_on(reading.bytes())?.concat())
    }

    /// Reads what a draw that has been submitted came to.
    ///
    /// On native backends somebody has to poll the device while this is awaited; `statistics_blocking` does it itself,
    /// and [`Workspace::request_statistics`](super::Workspace::request_statistics) does not wait at all.
    ///
    /// # Errors
    /// As [`Tessellation::threadgroup_records`].
    pub async fn statistics(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Statistics, Error> {
        Ok(Statistics::new(&self.pipeline_shape, &self.threadgroup_records(device, queue).await?))
    }

    /// [`Tessellation::statistics`], waiting for the device.
    ///
    /// # Errors
    /// As [`Tessellation::threadgroup_records`].
    #[cfg(feature = "blocking")]
    pub fn statistics_blocking(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Statistics, Error> {
        Ok(Statistics::new(&self.pipeline_shape, &self.threadgroup_records_blocking(device, queue)?))
    }

    /// What statistics and timelines of this draw follow from, beside its records.
    #[must_use]
    pub fn pipeline_shape(&self) -> &PipelineShape {
        &self.pipeline_shape
    }

    /// Where the counters of the chunks and the records lie, in the order in which [`Tessellation::records_of`] takes them.
    pub(super) fn record_sources(&self) -> Vec<Source<'_>> {
        let mut sources: Vec<Source<'_>> = self
            .chunks()
            .iter()
            .map(|chunk| Source { buffer: &self.state, offset: Self::slot_offset(chunk), size: SLOT_BYTES })
            .collect();
        sources.push(Source {
            buffer: &self.state,
            offset: self.threadgroup_records_offset,
            size: u64::from(self.shape.threadgroups) * u64::from(GROUP_WORDS) * 4,
        });
        sources
    }

    fn submit_records(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Reading, Error> {
        self.check_there()?;
        let encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("read records") });
        Reading::submit(device, queue, encoder, "threadgroup records", &self.record_sources())
    }

    /// The records out of the bytes of [`Tessellation::record_sources`].
    pub(super) fn records_of(&self, bytes: &[u8]) -> Result<Vec<ThreadgroupRecord>, Error> {
        let (slots, records) = bytes.split_at(bytes.len().min(self.chunks().len() * SLOT_BYTES as usize));
        let slots = slots_of(slots);
        // The records of a draw that did not fit do not say what the others would have done.
        report::report(self, &slots).fits()?;
        let shape = self.shape_of(&slots);
        let records: Vec<GroupRecord> = bytemuck::pod_collect_to_vec(records);
        Ok(records.iter().take(shape.threadgroups as usize).map(|record| self.record(record)).collect())
    }

    /// How many patches and threadgroups there are; of an indirect draw, the GPU has noted it.
    fn shape_of(&self, slots: &[Slot]) -> DrawShape {
        match slots {
            [slot, ..] if self.indirect => DrawShape {
                patches_per_instance: slot.patches_per_instance,
                threadgroups_per_instance: slot
                    .patches_per_instance
                    .div_ceil(self.shape.patches_per_threadgroup.max(1)),
                patches: slot.patches,
                threadgroups: slot.threadgroups,
                ..self.shape
            },
            _ => self.shape,
        }
    }

    fn record(&self, record: &GroupRecord) -> ThreadgroupRecord {
        ThreadgroupRecord {
            patches: record.culled_and_patches >> 16,
            culled: record.culled_and_patches & 0xffff,
            points: record.points,
            primitives: record.primitives,
            factor_sum: match self.pipeline_shape.readings.factor_values {
                FactorValues::Clamped => FactorSum::Exact(u64::from(record.sum_low) | u64::from(record.sum_high) << 32),
                FactorValues::Raw => FactorSum::Raw(record.sum_low),
            },
            off_chip: record.off_chip != 0,
        }
    }
}
