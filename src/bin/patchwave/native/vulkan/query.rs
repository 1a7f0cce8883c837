//! Queries: pipeline statistics, what transform feedback wrote, time stamps.

use anyhow::Context;
use ash::vk;

use super::Device;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryKind {
    /// Primitives that reach clipping, then invocations of the evaluation shader.
    Statistics,
    /// Primitives that transform feedback wrote, then those that there were.
    Feedback,
    /// A time stamp, in the device's ticks.
    Stamp,
}

impl QueryKind {
    /// Numbers that a query gives.
    fn values(self) -> usize {
        if self == Self::Stamp { 1 } else { 2 }
    }
}

/// Some queries of one kind.
pub(crate) struct Queries<'d> {
    device: &'d Device,
    pub(super) pool: vk::QueryPool,
    kind: QueryKind,
    pub(super) count: u32,
}

impl<'d> Queries<'d> {
    pub(crate) fn new(device: &'d Device, kind: QueryKind, count: u32) -> anyhow::Result<Self> {
        let count = count.max(1);
        let create = vk::QueryPoolCreateInfo::default().query_count(count);
        let create = match kind {
            QueryKind::Statistics => create.query_type(vk::QueryType::PIPELINE_STATISTICS).pipeline_statistics(
                vk::QueryPipelineStatisticFlags::CLIPPING_INVOCATIONS
                    | vk::QueryPipelineStatisticFlags::TESSELLATION_EVALUATION_SHADER_INVOCATIONS,
            ),
            QueryKind::Feedback => {
                anyhow::ensure!(device.captures_primitives(), "the device has no transform feedback");
                create.query_type(vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT)
            }
            QueryKind::Stamp => create.query_type(vk::QueryType::TIMESTAMP),
        };
        // SAFETY: the device was made with what these queries need.
        let pool = unsafe { device.device.create_query_pool(&create, None) }.context("no native queries")?;
        Ok(Self { device, pool, kind, count })
    }

    /// The answers, once what was recorded with them is done.
    pub(crate) fn read(&self) -> anyhow::Result<Vec<Vec<u64>>> {
        let values = self.kind.values();
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        let mut answers = Vec::with_capacity(self.count as usize);
        for query in 0..self.count {
            let mut pair = [[0u64; 2]];
            let mut one = [0u64];
            // SAFETY: the room is that of one query's answer; each was recorded and waited for.
            unsafe {
                if values == 2 {
                    self.device.device.get_query_pool_results(self.pool, query, &mut pair, flags)
                } else {
                    self.device.device.get_query_pool_results(self.pool, query, &mut one, flags)
                }
            }
            .context("a native query has no answer")?;
            answers.push(if values == 2 { pair[0].to_vec() } else { one.to_vec() });
        }
        Ok(answers)
    }
}

impl Drop for Queries<'_> {
    fn drop(&mut self) {
        // SAFETY: what was recorded with them borrows them and so is gone.
        unsafe { self.device.device.destroy_query_pool(self.pool, None) };
    }
}
