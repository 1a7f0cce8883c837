//! The workspace of the frames: how large it has to be, and when it is made anew.

use patchwave::hardware::Policy;
use patchwave::pipeline::{ChunkCapacity, DrawReport};
use patchwave::{Error, TessellationPipeline, Workspace, WorkspaceDescriptor};

/// Vertices and primitives.
pub(super) type Room = [u64; 2];

/// What there is at first.
const FIRST: Room = [1 << 16, 1 << 17];

/// What is to be done about the room, after a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Enough,
    /// The workspace is to be made anew with so much.
    Grow(Room),
    /// The device cannot bind a buffer of so much.
    TooMuch,
}

/// Judges what draws need against what there is and what there can be. Grows before it is too late: a frame that does not
/// fit draws nothing.
pub(super) fn judge(needed: Room, has: Room, most: Room) -> Verdict {
    if (0..2).any(|i| needed[i] > most[i]) {
        return Verdict::TooMuch;
    }
    // What is nearly full grows; beyond the most there is nothing to grow to.
    let is_tight = |i: usize| needed[i] > has[i] || (needed[i] > has[i] / 8 * 7 && has[i] < most[i]);
    if !(0..2).any(is_tight) {
        return Verdict::Enough;
    }
    Verdict::Grow([0, 1].map(|i| (needed[i] + needed[i] / 2).max(has[i]).min(most[i])))
}

/// What a pipeline's device can bind at most.
pub(super) fn most(pipeline: &TessellationPipeline, limits: &wgpu::Limits) -> Room {
    let bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    // A vertex has an entry of 4 bytes in the table of patches as well.
    let index_stride = 4 * u64::from(pipeline.output_topology().vertices_per_primitive());
    [pipeline.vertex_stride().max(4), index_stride].map(|stride| (bytes / stride).min(u64::from(u32::MAX)))
}

/// What all draws of a frame need.
pub(super) fn needed(reports: &[DrawReport]) -> Room {
    reports.iter().fold([0; 2], |sum: Room, report| [sum[0] + report.vertices, sum[1] + report.primitives])
}

/// What a workspace was made for; where it changes, another is needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    off_chip: bool,
    patches_per_threadgroup: u32,
    policy: Policy,
    room: Room,
}

/// A workspace, and what it was made for.
pub(super) struct Memory {
    pub(super) workspace: Workspace,
    fit: Fit,
    /// The table of patches, an entry a vertex.
    pub(super) patches: wgpu::Buffer,
}

/// The room of the frames, which outlives workspaces.
pub(super) struct Keeper {
    pub(super) memory: Option<Memory>,
    pub(super) room: Room,
    /// How often it grew.
    pub(super) grown: u32,
    /// Workspaces made so far: the number of the present one.
    pub(super) made: u64,
}

impl Keeper {
    pub(super) fn new() -> Self {
        Self { memory: None, room: FIRST, grown: 0, made: 0 }
    }

    /// Makes the workspace, where there is none that serves draws of these shapes (patches of an instance, instances).
    pub(super) fn ensure(
        &mut self,
        device: &wgpu::Device,
        pipeline: &TessellationPipeline,
        policy: Policy,
        shapes: &[[u32; 2]],
    ) -> Result<(), Error> {
        let parameters = pipeline.parameters();
        let fit = Fit {
            off_chip: parameters.off_chip,
            patches_per_threadgroup: parameters.patches_per_threadgroup,
            policy,
            room: self.room,
        };
        if self.memory.as_ref().is_some_and(|memory| memory.fit == fit) {
            return Ok(());
        }
        // The old one first, so that the two need not fit beside each other.
        self.memory = None;
        let [vertices, primitives] = self.room.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        let descriptor = descriptor(parameters.patches_per_threadgroup, policy, shapes, [vertices, primitives]);
        let workspace = Workspace::new(device, pipeline, descriptor)?;
        let patches = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("patches of vertices"),
            size: u64::from(vertices).max(4) * 4,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
        self.made += 1;
        self.memory = Some(Memory { workspace, fit, patches });
        Ok(())
    }
}

fn descriptor(most: u32, policy: Policy, shapes: &[[u32; 2]], [vertices, primitives]: [u32; 2]) -> WorkspaceDescriptor {
    let mut patches = 0u32;
    let mut threadgroups = 0u32;
    let mut most_threadgroups = 0u32;
    for [of_instance, instances] in shapes {
        let of_draw = of_instance.saturating_mul(*instances);
        let per_threadgroup = policy.patches_per_threadgroup(most, u64::from(of_draw)).max(1);
        let of_draw_threadgroups = of_instance.div_ceil(per_threadgroup).saturating_mul(*instances);
        patches = patches.saturating_add(of_draw);
        threadgroups = threadgroups.saturating_add(of_draw_threadgroups);
        most_threadgroups = most_threadgroups.max(of_draw_threadgroups);
    }
    WorkspaceDescriptor {
        label: "view".to_owned(),
        patches,
        threadgroups,
        off_chip_threadgroups: most_threadgroups,
        draws: (shapes.len() as u32).max(1),
        chunks: vec![ChunkCapacity { threadgroups: 0..threadgroups, vertices, primitives }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Room = [1_000_000, 2_000_000];

    #[test]
    fn room_grows_before_it_is_short_and_never_beyond_the_most() {
        let has = [1000, 2000];
        assert_eq!(judge([800, 1700], has, MOST), Verdict::Enough);
        assert_eq!(judge([900, 100], has, MOST), Verdict::Grow([1350, 2000]));
        assert_eq!(judge([5000, 9000], has, MOST), Verdict::Grow([7500, 13_500]));
        assert_eq!(judge([900_000, 9000], has, MOST), Verdict::Grow([1_000_000, 13_500]));
        assert_eq!(judge([1_000_001, 1], has, MOST), Verdict::TooMuch);
        // What has all there can be and holds what is needed does not grow for ever.
        assert_eq!(judge(MOST, MOST, MOST), Verdict::Enough);
    }

    #[test]
    fn what_was_grown_is_enough_for_what_it_was_grown_for() {
        for needed in [[1, 1], [70_000, 3], [65_536, 131_072], [999_999, 1_999_999]] {
            let mut room = FIRST;
            while let Verdict::Grow(more) = judge(needed, room, MOST) {
                assert!((0..2).any(|i| more[i] > room[i]), "{needed:?}");
                room = more;
            }
            assert!(needed[0] <= room[0] && needed[1] <= room[1]);
        }
    }

    #[test]
    fn draws_share_the_room() {
        let report = |vertices, primitives| DrawReport { vertices, primitives, ..DrawReport::default() };
        assert_eq!(needed(&[report(1, 2), report(10, 20)]), [11, 22]);
    }

    #[test]
    fn instances_end_in_threadgroups_of_their_own() {
        let made = descriptor(4, Policy::Driver, &[[5, 3], [8, 1]], [10, 20]);
        assert_eq!((made.patches, made.threadgroups, made.off_chip_threadgroups, made.draws), (23, 8, 6, 2));
        let made = descriptor(4, Policy::Adaptive, &[[5, 3]], [10, 20]);
        assert_eq!(made.threadgroups, 15);
        assert_eq!(descriptor(4, Policy::Driver, &[], [1, 1]).draws, 1);
    }
}
