//! What a draw came to on the emulated machine, from the records of its threadgroups (docs/hardware.md, section 3).

use super::{Readings, ThreadgroupRecord, WAVE_LANES};
use crate::tessellator::Domain;

/// What of a pipeline the statistics follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineShape {
    /// The domain of its patches.
    pub domain: Domain,
    /// Input control points of a patch.
    pub input_points: u32,
    /// Output control points of a patch.
    pub output_points: u32,
    /// Domain waves that an off-chip threadgroup keeps on-chip.
    pub on_chip_waves: u32,
    /// Bytes that a patch leaves in patchwave's off-chip buffer: output control points and patch constants.
    pub off_chip_bytes_per_patch: u64,
    /// LDS that each threadgroup is given on the emulated machine, the last and short one of an instance too (A10).
    pub lds_bytes: u64,
    /// How the documentation's open questions are read.
    pub readings: Readings,
}

impl PipelineShape {
    /// Vertex threads of `patches` patches: each control point is one, also where an index repeats (A20).
    #[must_use]
    pub fn vertex_threads(&self, patches: u32) -> u64 {
        u64::from(patches) * u64::from(self.input_points)
    }

    /// Hull threads of `patches` patches: without output control points, patch constants still take one (A22).
    #[must_use]
    pub fn hull_threads(&self, patches: u32) -> u64 {
        u64::from(patches) * u64::from(self.output_points.max(1))
    }
}

/// Threads of a stage, and the waves that they are packed into, stage by stage and threadgroup by threadgroup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageThreads {
    /// Threads.
    pub threads: u64,
    /// Waves of 64 lanes, the last one of a threadgroup perhaps partial.
    pub waves: u64,
}

impl StageThreads {
    fn add(&mut self, threads: u64) {
        self.threads += threads;
        self.waves += threads.div_ceil(u64::from(WAVE_LANES));
    }

    /// Lanes of the waves that have no thread.
    #[must_use]
    pub fn wasted_lanes(&self) -> u64 {
        (self.waves * u64::from(WAVE_LANES)).saturating_sub(self.threads)
    }
}

/// What a draw came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// D3D12's IAVertices: control points that the input assembler fetched.
    pub ia_vertices: u64,
    /// D3D12's IAPrimitives: patches.
    pub ia_primitives: u64,
    /// D3D12's VSInvocations.
    pub vs_invocations: u64,
    /// D3D12's HSInvocations: patches.
    pub hs_invocations: u64,
    /// D3D12's DSInvocations: one a domain point, without duplicates (A6).
    pub ds_invocations: u64,

    /// Threadgroups.
    pub threadgroups: u64,
    /// Threadgroups that went off-chip.
    pub off_chip_threadgroups: u64,
    /// Patches that an edge factor culled.
    pub culled_patches: u64,
    /// Points, lines or triangles that came out.
    pub primitives: u64,
    /// Vertex stage.
    pub vertex: StageThreads,
    /// Hull stage.
    pub hull: StageThreads,
    /// Domain stage.
    pub domain: StageThreads,
    /// Domain waves that ran on the compute unit that ran the hull.
    pub on_chip_waves: u64,
    /// Domain waves that any compute unit may have taken.
    pub off_chip_waves: u64,
    /// Bytes written to the off-chip buffer.
    pub off_chip_bytes: u64,
    /// LDS of all threadgroups together, on the emulated machine.
    pub lds_bytes: u64,
    /// The average factor of each threadgroup, as the heuristic took it.
    pub average_factors: Vec<f64>,
}

impl Statistics {
    /// The statistics of a draw whose threadgroups came to these records.
    #[must_use]
    pub fn new(shape: &PipelineShape, records: &[ThreadgroupRecord]) -> Self {
        let mut all = Self { average_factors: Vec::with_capacity(records.len()), ..Self::default() };
        for record in records {
            let patches = u64::from(record.patches);
            all.ia_vertices += shape.vertex_threads(record.patches);
            all.ia_primitives += patches;
            all.hs_invocations += patches;
            all.culled_patches += u64::from(record.culled);
            all.primitives += u64::from(record.primitives);
            all.vertex.add(shape.vertex_threads(record.patches));
            all.hull.add(shape.hull_threads(record.patches));
            all.domain.add(u64::from(record.points));
            all.on_chip_waves += u64::from(record.on_chip_waves(shape.on_chip_waves));
            all.off_chip_waves += u64::from(record.off_chip_waves(shape.on_chip_waves));
            if record.off_chip {
                all.off_chip_threadgroups += 1;
                all.off_chip_bytes += patches * shape.off_chip_bytes_per_patch;
            }
            all.average_factors.push(record.average_factor(shape.domain, &shape.readings));
        }
        all.threadgroups = records.len() as u64;
        all.lds_bytes = all.threadgroups * shape.lds_bytes;
        all.vs_invocations = all.vertex.threads;
        all.ds_invocations = all.domain.threads;
        all
    }

    /// Lanes without a thread in the partial waves of all stages.
    #[must_use]
    pub fn wasted_lanes(&self) -> u64 {
        self.vertex.wasted_lanes() + self.hull.wasted_lanes() + self.domain.wasted_lanes()
    }

    /// Average of the threadgroups' average factors; 0 where there are none.
    #[must_use]
    pub fn mean_average_factor(&self) -> f64 {
        if self.average_factors.is_empty() {
            return 0.0;
        }
        self.average_factors.iter().sum::<f64>() / self.average_factors.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::heuristic::FactorSum;
    use super::*;

    #[test]
    fn threads_waves_and_bytes_by_hand() {
        let shape = PipelineShape {
            domain: Domain::Quad,
            input_points: 16,
            output_points: 3,
            on_chip_waves: 4,
            off_chip_bytes_per_patch: 88,
            lds_bytes: 4096,
            readings: Readings::default(),
        };
        let records = [
            // 10 patches at factor 8: 81 points each, 810 points are 12.7 waves; off-chip keeps 4.
            ThreadgroupRecord {
                patches: 10,
                culled: 0,
                points: 810,
                primitives: 1280,
                factor_sum: FactorSum::Exact((8 * 60) << 23),
                off_chip: true,
            },
            // A last one of 3 patches at factor 1, one of them culled: 2 · 6 · 1 over 18 factors.
            ThreadgroupRecord {
                patches: 3,
                culled: 1,
                points: 8,
                primitives: 4,
                factor_sum: FactorSum::Exact(12 << 23),
                off_chip: false,
            },
        ];
        let all = Statistics::new(&shape, &records);
        assert_eq!([all.ia_vertices, all.ia_primitives, all.hs_invocations], [13 * 16, 13, 13]);
        // 160 and 48 vertex threads: 3 + 1 waves. 30 and 9 hull threads: 1 + 1. 810 and 8 points: 13 + 1.
        assert_eq!(all.vertex, StageThreads { threads: 208, waves: 4 });
        assert_eq!(all.hull, StageThreads { threads: 39, waves: 2 });
        assert_eq!(all.domain, StageThreads { threads: 818, waves: 14 });
        assert_eq!(all.wasted_lanes(), (256 - 208) + (128 - 39) + (896 - 818));
        assert_eq!([all.on_chip_waves, all.off_chip_waves], [4 + 1, 9]);
        assert_eq!([all.threadgroups, all.off_chip_threadgroups, all.culled_patches], [2, 1, 1]);
        assert_eq!([all.off_chip_bytes, all.lds_bytes, all.primitives], [880, 8192, 1284]);
        assert_eq!(all.average_factors, [8.0, 12.0 / 18.0]);
        let readings = Readings { culled_patches: super::super::CulledPatches::Excluded, ..Readings::default() };
        assert_eq!(records[1].average_factor(Domain::Quad, &readings), 1.0);
        assert_eq!(Statistics::new(&shape, &[]), Statistics::default());
        // Without output control points, a patch still takes a hull thread.
        assert_eq!(PipelineShape { output_points: 0, ..shape }.hull_threads(70), 70);
    }
}
