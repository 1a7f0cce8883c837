//! Domain points and primitives of the driver's tessellator against patchwave's, on the CPU and on the GPU.

use patchwave::golden::gpu::{GpuPatch, tessellate};
use patchwave::golden::location_bits;
use patchwave::tessellator::{Domain, OutputTopology, Partitioning, TessellatedPatch};
use serde::Serialize;
use std::collections::BTreeSet;

use super::factors;
use super::shaders::{PARTITIONINGS, Shader, Shaders, kinds};
use super::vulkan::{Buffer, Device, Pipeline, PipelineDescriptor, Queries, QueryKind, Raster, Stages, Target};
use crate::progress::Progress;
use crate::scene::gpu::Gpu;

/// What was compared, and how often it differed.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Tally {
    /// Patches of one kind with one set of factors.
    pub(super) configurations: u64,
    /// Of these, dropped patches.
    pub(super) culled: u64,
    /// Distinct points.
    pub(super) points: u64,
    /// Invocations of the evaluation shader by the pipeline statistics.
    pub(super) invocations: u64,
    pub(super) primitives: u64,
    /// Configurations in which the set of points is not that of patchwave's CPU twin.
    pub(super) points_differ_from_cpu: u64,
    /// The same of patchwave's passes on this device.
    pub(super) points_differ_from_gpu: u64,
    /// Statistics count other invocations than arrived in the buffer.
    pub(super) invocations_differ: u64,
    /// Configurations without degenerate primitives in which the number of primitives differs.
    pub(super) counts_differ: u64,
    /// Configurations with degenerate primitives: their number is the driver's own affair, the others are compared.
    pub(super) degenerate: u64,
    /// Of these, how many have another number of primitives.
    pub(super) degenerate_counts_differ: u64,
    /// Whether the primitives themselves were compared, which takes transform feedback.
    pub(super) compares_primitives: bool,
    /// Configurations in which the primitives that are not degenerate are not patchwave's, winding included.
    pub(super) primitives_differ_from_cpu: u64,
    /// The same of patchwave's passes on this device.
    pub(super) primitives_differ_from_gpu: u64,
    /// The first few configurations that differ, in words.
    pub(super) examples: Vec<String>,
}

impl Tally {
    pub(super) fn disagreements(&self) -> u64 {
        self.points_differ_from_cpu
            + self.points_differ_from_gpu
            + self.invocations_differ
            + self.counts_differ
            + self.primitives_differ_from_cpu
            + self.primitives_differ_from_gpu
    }

    fn differs(&mut self, which: fn(&mut Self) -> &mut u64, example: impl FnOnce() -> String) {
        *which(self) += 1;
        if self.examples.len() < 10 {
            self.examples.push(example());
        }
    }
}

/// What the driver makes of one patch.
#[derive(Clone, Debug, Default)]
struct NativePatch {
    points: Vec<[u32; 2]>,
    /// As they came out; empty without transform feedback.
    primitives: Vec<Primitive>,
    clipped: u64,
    invocations: u64,
}

/// The points of a primitive, all ones where it has fewer than three.
type Primitive = [[u32; 2]; 3];

const NO_POINT: [u32; 2] = [u32::MAX; 2];

/// One kind of tessellation.
#[derive(Clone, Copy)]
struct Kind {
    domain: Domain,
    partitioning: Partitioning,
    topology: OutputTopology,
}

/// Compares all kinds.
pub(super) fn compare(
    native: &Device,
    shaders: &Shaders,
    gpu: &Gpu,
    is_quick: bool,
    progress: &mut Progress,
) -> anyhow::Result<Tally> {
    let mut tally = Tally { compares_primitives: native.captures_primitives(), ..Tally::default() };
    for (domain, topology) in kinds() {
        let sets = factors::sets(domain, is_quick);
        for partitioning in PARTITIONINGS {
            progress.say(match domain {
                Domain::Isoline => "comparing isolines with the driver's",
                Domain::Tri => "comparing triangles with the driver's",
                Domain::Quad => "comparing quads with the driver's",
            });
            let kind = Kind { domain, partitioning, topology };
            compare_kind(native, shaders, gpu, kind, &sets, &mut tally)?;
        }
    }
    Ok(tally)
}

fn compare_kind(
    native: &Device,
    shaders: &Shaders,
    gpu: &Gpu,
    kind: Kind,
    sets: &[Vec<f32>],
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let Kind { domain, partitioning, topology } = kind;
    let bits: Vec<Vec<u32>> = sets.iter().map(|set| set.iter().map(|factor| factor.to_bits()).collect()).collect();
    let twins = bits
        .iter()
        .map(|bits| TessellatedPatch::new(domain, partitioning, topology, bits))
        .collect::<Result<Vec<_>, _>>()?;
    let slices: Vec<&[u32]> = bits.iter().map(Vec::as_slice).collect();
    let ours = tessellate(&gpu.device, &gpu.queue, domain, partitioning, topology, &slices)?;
    gpu.check()?;
    let theirs = capture(native, shaders, kind, sets, &twins)?;
    for (((set, twin), ours), theirs) in sets.iter().zip(&twins).zip(&ours).zip(&theirs) {
        compare_patch(kind, set, twin, ours, theirs, tally);
    }
    Ok(())
}

fn compare_patch(
    kind: Kind,
    set: &[f32],
    twin: &TessellatedPatch,
    ours: &GpuPatch,
    theirs: &NativePatch,
    tally: &mut Tally,
) {
    let Kind { domain, partitioning, topology } = kind;
    let named = |what: &str| format!("{domain}, {partitioning}, {topology}, factors {set:?}: {what}");
    let set_of = |points: &[[u32; 2]]| points.iter().copied().collect::<BTreeSet<_>>();
    let twin_points: Vec<_> = twin.points().collect();
    let native_points = set_of(&theirs.points);

    tally.configurations += 1;
    tally.culled += u64::from(twin.is_culled());
    tally.points += native_points.len() as u64;
    tally.invocations += theirs.invocations;
    tally.primitives += theirs.clipped;
    let cpu_points = set_of(&twin_points);
    if native_points != cpu_points {
        tally.differs(
            |tally| &mut tally.points_differ_from_cpu,
            || named(&format!("{} points, {} on the CPU", native_points.len(), cpu_points.len())),
        );
    }
    if native_points != set_of(&ours.points) {
        tally.differs(|tally| &mut tally.points_differ_from_gpu, || named("points other than patchwave's on the GPU"));
    }
    if theirs.invocations != theirs.points.len() as u64 {
        tally.differs(
            |tally| &mut tally.invocations_differ,
            || named(&format!("{} invocations counted, {} seen", theirs.invocations, theirs.points.len())),
        );
    }

    let per = topology.vertices_per_primitive() as usize;
    let of = |points: &[[u32; 2]], indices: &[u32]| -> Vec<Primitive> {
        let point = |index: &u32| points.get(*index as usize).copied().unwrap_or(NO_POINT);
        indices
            .chunks_exact(per)
            .map(|indices| std::array::from_fn(|i| indices.get(i).map_or(NO_POINT, point)))
            .collect()
    };
    let twin_indices: Vec<u32> = twin.indices().collect();
    let expected = of(&twin_points, &twin_indices);
    let (cpu, is_degenerate) = canonical(&expected, per);
    tally.degenerate += u64::from(is_degenerate);
    let count = expected.len() as u64;
    if theirs.clipped != count {
        if is_degenerate {
            tally.degenerate_counts_differ += 1;
        } else {
            let counts = format!("{} primitives, {count} on the CPU", theirs.clipped);
            tally.differs(|tally| &mut tally.counts_differ, || named(&counts));
        }
    }
    if tally.compares_primitives {
        let (native, _) = canonical(&theirs.primitives, per);
        if native != cpu {
            let counts = format!("{} primitives with an area captured, {} on the CPU", native.len(), cpu.len());
            tally.differs(|tally| &mut tally.primitives_differ_from_cpu, || named(&counts));
        }
        if native != canonical(&of(&ours.points, &ours.indices), per).0 {
            tally.differs(|tally| &mut tally.primitives_differ_from_gpu, || named("primitives other than patchwave's"));
        }
    }
}

/// Primitives in an order and with a first point that do not depend on where they came from, those left out that have a
/// point twice; of points, each once. And whether anything was left out.
fn canonical(primitives: &[Primitive], per: usize) -> (Vec<Primitive>, bool) {
    let mut kept: Vec<Primitive> = primitives
        .iter()
        .filter_map(|&[a, b, c]| match per {
            1 => Some([a, b, c]),
            // A line has no direction.
            2 => (a != b).then_some([a.min(b), a.max(b), c]),
            _ if a == b || b == c || c == a => None,
            _ if a <= b && a <= c => Some([a, b, c]),
            _ if b <= a && b <= c => Some([b, c, a]),
            _ => Some([c, a, b]),
        })
        .collect();
    kept.sort_unstable();
    if per == 1 {
        kept.dedup();
    }
    let left_out = kept.len() != primitives.len();
    (kept, left_out)
}

/// Tessellates natively, a draw a patch: so each has statistics of its own, and no draw is larger than lavapipe can take.
fn capture(
    device: &Device,
    shaders: &Shaders,
    kind: Kind,
    sets: &[Vec<f32>],
    twins: &[TessellatedPatch],
) -> anyhow::Result<Vec<NativePatch>> {
    let Kind { domain, partitioning, topology } = kind;
    let captures = device.captures_primitives();
    let stages = Stages {
        vertex: shaders.get(&Shader::plain("points.vert"))?,
        control: shaders.get(&Shader::plain("points.tesc"))?,
        evaluation: shaders.get(&Shader::points(domain, partitioning, topology, captures))?,
        fragment: None,
    };
    let target = Target::none(device)?;
    let pipeline = Pipeline::new(
        device,
        &PipelineDescriptor {
            stages: &stages,
            control_points: 1,
            attributes: 0,
            buffers: 3,
            raster: Raster::CullAll,
            target: &target,
        },
    )?;
    let table: Vec<_> = sets.iter().map(|set| factors::native(domain, set)).collect();
    let per = u64::from(topology.vertices_per_primitive());
    // Twice and some more than there can be: drivers run points more than once, and what does not fit is an error.
    let room = |count: u64| (2 * count + 65_536) * 16;
    let points = twins.iter().map(|twin| u64::from(twin.point_count())).sum();
    let primitives: u64 = twins.iter().map(|twin| u64::from(twin.primitive_count())).sum();
    let factors = Buffer::with(device, bytemuck::cast_slice(table.as_flattened()))?;
    let count = Buffer::new(device, 4)?;
    let appended = Buffer::new(device, room(points))?;
    let fed = Buffer::new(device, if captures { room(primitives * per) } else { 4 })?;
    let statistics = Queries::new(device, QueryKind::Statistics, sets.len() as u32)?;
    let written = if captures { Some(Queries::new(device, QueryKind::Feedback, 1)?) } else { None };
    let bindings = pipeline.bindings(&[&factors, &count, &appended])?;
    let commands = device.record(|recorder| {
        recorder.reset(&statistics);
        if let Some(written) = &written {
            recorder.reset(written);
        }
        recorder.clear(&count);
        recorder.begin(&target);
        recorder.set(&pipeline, &bindings, &[0.0; 16], None);
        if let Some(written) = &written {
            recorder.begin_query(written, 0);
        }
        recorder.with_feedback(&fed, |recorder| {
            for patch in 0..sets.len() as u32 {
                recorder.begin_query(&statistics, patch);
                recorder.draw(patch, 1);
                recorder.end_query(&statistics, patch);
            }
        });
        if let Some(written) = &written {
            recorder.end_query(written, 0);
        }
        recorder.end();
        Ok(())
    })?;
    commands.submit()?;

    let mut patches = vec![NativePatch::default(); sets.len()];
    for (patch, answer) in patches.iter_mut().zip(statistics.read()?) {
        if let [clipped, invocations] = answer[..] {
            (patch.clipped, patch.invocations) = (clipped, invocations);
        }
    }
    let count: Vec<u32> = bytemuck::pod_collect_to_vec(&count.read(4)?);
    let count = u64::from(count.first().copied().unwrap_or(0));
    anyhow::ensure!(count * 16 <= appended.bytes(), "the driver ran {count} invocations for {points} points");
    for (patch, point) in read_points(domain, &appended, count)? {
        let patch = patches.get_mut(patch);
        patch.ok_or_else(|| anyhow::anyhow!("the driver evaluated a patch that was not drawn"))?.points.push(point);
    }
    if let Some(written) = &written {
        let answer = written.read()?.into_iter().next().unwrap_or_default();
        let [wrote, there] = answer[..] else { anyhow::bail!("transform feedback has no answer") };
        anyhow::ensure!(wrote == there, "the driver made {there} primitives where there are {primitives}");
        let vertices = read_points(domain, &fed, wrote * per)?;
        for corners in vertices.chunks_exact(per as usize) {
            let patch = corners.first().map_or(usize::MAX, |(patch, _)| *patch);
            anyhow::ensure!(corners.iter().all(|(other, _)| *other == patch), "a primitive of two patches came out");
            let primitive = std::array::from_fn(|i| corners.get(i).map_or(NO_POINT, |(_, point)| *point));
            let patch = patches.get_mut(patch);
            patch.ok_or_else(|| anyhow::anyhow!("a primitive of no patch came out"))?.primitives.push(primitive);
        }
    }
    Ok(patches)
}

/// Locations with their patches.
fn read_points(domain: Domain, from: &Buffer<'_>, count: u64) -> anyhow::Result<Vec<(usize, [u32; 2])>> {
    let words: Vec<[u32; 4]> = bytemuck::pod_collect_to_vec(&from.read(count * 16)?);
    // `read` gives 4 bytes at least.
    let words = words.into_iter().take(count as usize);
    Ok(words.map(|[u, v, w, patch]| (patch as usize, fixed(domain, u, v, w))).collect())
}

/// u and v in 1/65536; all ones where they are no such numbers, or w is not what it has to be.
fn fixed(domain: Domain, u: u32, v: u32, w: u32) -> [u32; 2] {
    let exact = |bits: u32| {
        let value = (f32::from_bits(bits) * 65536.0) as u32;
        if location_bits(value) == bits { value } else { u32::MAX }
    };
    let point = [exact(u), exact(v)];
    let rest = 0x1_0000u32.checked_sub(point[0]).and_then(|rest| rest.checked_sub(point[1]));
    if domain == Domain::Tri && rest != Some(exact(w)) { NO_POINT } else { point }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primitives_are_compared_whatever_their_order() {
        let [a, b, c, d] = [[0, 0], [0, 1], [1, 0], [1, 1]];
        let (one, out) = canonical(&[[a, b, c], [c, d, b], [a, a, b]], 3);
        assert!(out);
        assert_eq!(one, canonical(&[[d, b, c], [b, c, a]], 3).0);
        assert_ne!(one, canonical(&[[d, c, b], [b, c, a]], 3).0, "winding counts");
        assert_eq!(canonical(&[[b, a, NO_POINT]], 2), canonical(&[[a, b, NO_POINT]], 2));
        assert_eq!(canonical(&[[a, NO_POINT, NO_POINT]; 2], 1).0.len(), 1);
    }

    #[test]
    fn locations_are_exact_or_nothing() {
        let bits = |x: f32| x.to_bits();
        assert_eq!(fixed(Domain::Quad, bits(0.5), bits(1.0), bits(0.0)), [0x8000, 0x1_0000]);
        assert_eq!(fixed(Domain::Quad, bits(1.0 / 3.0), bits(0.0), 0)[0], u32::MAX);
        assert_eq!(fixed(Domain::Tri, bits(0.5), bits(0.25), bits(0.25)), [0x8000, 0x4000]);
        assert_eq!(fixed(Domain::Tri, bits(0.5), bits(0.25), bits(0.5)), NO_POINT);
    }
}
