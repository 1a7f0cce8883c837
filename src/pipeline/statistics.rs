//! The records of a draw's threadgroups, read back on demand.

use super::layout::{GROUP_WORDS, GroupRecord};
use super::output::Tessellation;
use super::read::{Reading, Source};
use crate::Error;
use crate::hardware::ThreadgroupRecord;

impl Tessellation {
    /// Reads the record of each threadgroup, in patch order, of a draw that has been submitted.
    ///
    /// On native backends somebody has to poll the device while this is awaited; `threadgroup_records_blocking` does it
    /// itself.
    ///
    /// # Errors
    /// [`Error::ReadBack`] where the device is lost.
    pub async fn threadgroup_records(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
    ) -> Result<Vec<ThreadgroupRecord>, Error> {
        let bytes = self.submit_records(device, queue)?.bytes().await?;
        Ok(self.records(&bytes))
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
        Ok(self.records(&pollster::block_on(reading.bytes())?))
    }

    fn submit_records(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Reading, Error> {
        let source = Source {
            buffer: &self.state,
            offset: self.threadgroup_records_offset,
            size: u64::from(self.shape.threadgroups) * u64::from(GROUP_WORDS) * 4,
        };
        let encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("read records") });
        Reading::submit(device, queue, encoder, "threadgroup records", &[source])
    }

    fn records(&self, bytes: &[Vec<u8>]) -> Vec<ThreadgroupRecord> {
        let bytes = bytes.first().map_or(&[][..], Vec::as_slice);
        let records: Vec<GroupRecord> = bytemuck::pod_collect_to_vec(bytes);
        (0..self.shape.threadgroups)
            .zip(records)
            .map(|(group, record)| ThreadgroupRecord {
                patches: self.shape.first_patch(group + 1).saturating_sub(self.shape.first_patch(group)),
                culled: record.culled,
                points: record.points,
                primitives: record.primitives,
                factor_sum: u64::from(record.sum_low) | u64::from(record.sum_high) << 32,
                off_chip: record.off_chip != 0,
            })
            .collect()
    }
}
