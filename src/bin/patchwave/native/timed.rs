//! Grids of bicubic patches through the driver's tessellation, timed.

use anyhow::Context;
use patchwave::tessellator::Partitioning;
use std::time::Instant;

use super::shaders::{Shader, Shaders};
use super::vulkan::{
    Bindings, Buffer, Device, Pipeline, PipelineDescriptor, Queries, QueryKind, Raster, Recorder, Stages, Target,
};
use crate::measure::WARM_UP;

/// What becomes of the vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing: the rasterizer discards their primitives.
    Discard,
    /// As above, and the evaluation shader writes each of them, 32 bytes, to a storage buffer.
    Write,
    /// Their primitives are drawn.
    Draw,
}

impl Way {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Discard => "discarded",
            Self::Write => "written",
            Self::Draw => "drawn",
        }
    }
}

/// A grid to draw.
pub(super) struct Load<'a> {
    /// Control points, 16 a patch.
    pub(super) control: &'a [[f32; 3]],
    /// A factor a patch.
    pub(super) factors: &'a [f32],
    /// Domain points of the patch that has the most.
    pub(super) points_of_patch: u64,
    /// Of the picture.
    pub(super) clip_from_world: &'a glam::Mat4,
    /// Width and height of the picture.
    pub(super) side: u32,
}

/// What was measured, and what was seen in a run of its own that was not timed.
pub(super) struct Timed {
    /// Sorted.
    pub(super) milliseconds: Vec<f64>,
    /// Of the evaluation shader, by pipeline statistics.
    pub(super) invocations: u64,
    /// That reached clipping, by pipeline statistics: 0 where they are discarded.
    pub(super) primitives: u64,
    pub(super) draws: u32,
    pub(super) seen: Seen,
}

/// What there is to look at.
pub(super) enum Seen {
    Nothing,
    /// Vertices that were counted, and the ring that they went to: position, normal and two zeros each.
    Vertices {
        count: u64,
        ring: Vec<[f32; 8]>,
    },
    /// Red, green, blue and alpha of each pixel.
    Picture(Vec<u8>),
}

const CONTROL_POINTS: u32 = 16;
/// Bytes of a vertex that is written.
pub(super) const VERTEX_BYTES: u64 = 32;
/// Vertices of the ring that they go to: more than any cache has room for.
const RING: u64 = 1 << 23;
const RING_ON_PROCESSOR: u64 = 1 << 20;

/// lavapipe takes at most so many control points and domain points a draw well: beyond them it counts primitives anew, and
/// its time grows with the square.
const CONTROL_POINTS_OF_DRAW: u64 = 4096;
const POINTS_OF_DRAW: u64 = 65_535;

/// Measures one way.
///
/// # Errors
/// What the driver refuses, above all memory.
pub(super) fn time(
    device: &Device,
    shaders: &Shaders,
    load: &Load<'_>,
    way: Way,
    repeat: u32,
) -> anyhow::Result<Timed> {
    let target = match way {
        Way::Draw => Target::picture(device, load.side, load.side)?,
        Way::Discard | Way::Write => Target::none(device)?,
    };
    let pipeline = pipeline(device, shaders, way, &target)?;
    let control = Buffer::with(device, bytemuck::cast_slice(load.control))?;
    let factors = Buffer::with(device, bytemuck::cast_slice(load.factors))?;
    let count = Buffer::new(device, 4)?;
    let ring = Buffer::new(device, if way == Way::Write { ring_bytes(device) } else { 4 })?;
    let picture = Buffer::new(device, if way == Way::Draw { target.picture_bytes() } else { 4 })?;
    let bindings = pipeline.bindings(&[&factors, &count, &ring])?;
    let scene = Scene {
        pipeline: &pipeline,
        target: &target,
        bindings: &bindings,
        control: &control,
        matrix: load.clip_from_world.to_cols_array(),
        patches: load.factors.len() as u32,
        patches_of_draw: patches_of_draw(device, load),
    };

    let statistics = Queries::new(device, QueryKind::Statistics, 1)?;
    let looked_at = device.record(|recorder| {
        recorder.reset(&statistics);
        recorder.clear(&count);
        // What is not written has normals of no length.
        recorder.clear(&ring);
        recorder.begin_query(&statistics, 0);
        scene.draw(recorder);
        recorder.end_query(&statistics, 0);
        if way == Way::Draw {
            recorder.copy_picture(&target, &picture);
        }
        Ok(())
    })?;
    looked_at.submit()?;
    let answer = statistics.read()?;
    let statistic = |i: usize| answer.first().and_then(|pair| pair.get(i)).copied().unwrap_or(0);
    let seen = match way {
        Way::Discard => Seen::Nothing,
        Way::Draw => Seen::Picture(target.read(&picture)?),
        Way::Write => {
            let count: Vec<u32> = bytemuck::pod_collect_to_vec(&count.read(4)?);
            let count = u64::from(count.first().copied().unwrap_or(0));
            let ring = ring.read(count.saturating_mul(VERTEX_BYTES))?;
            Seen::Vertices { count, ring: bytemuck::pod_collect_to_vec(&ring) }
        }
    };
    Ok(Timed {
        milliseconds: again(device, &scene, &count, repeat)?,
        invocations: statistic(1),
        primitives: statistic(0),
        draws: scene.draws(),
        seen,
    })
}

fn pipeline<'d>(device: &'d Device, shaders: &Shaders, way: Way, target: &Target<'d>) -> anyhow::Result<Pipeline<'d>> {
    let evaluation = Shader::surface("bicubic.tese", Partitioning::Integer);
    let is_drawn = way == Way::Draw;
    let stages = Stages {
        vertex: shaders.get(&Shader::plain("bicubic.vert"))?,
        control: shaders.get(&Shader::plain("bicubic.tesc"))?,
        evaluation: shaders.get(&if way == Way::Write { evaluation.switched("WRITE") } else { evaluation })?,
        fragment: if is_drawn { Some(shaders.get(&Shader::plain("shade.frag"))?) } else { None },
    };
    let raster = if is_drawn { Raster::Draw } else { Raster::Discard };
    let descriptor = PipelineDescriptor {
        stages: &stages,
        control_points: CONTROL_POINTS,
        attributes: 1,
        buffers: 3,
        raster,
        target,
    };
    Pipeline::new(device, &descriptor)
}

fn ring_bytes(device: &Device) -> u64 {
    let vertices = if device.is_processor { RING_ON_PROCESSOR } else { RING };
    // The shader turns the ring by a mask, so that its length is a power of two.
    let most = (device.largest_binding / VERTEX_BYTES).checked_ilog2().map_or(1, |log| 1 << log);
    vertices.min(most) * VERTEX_BYTES
}

fn patches_of_draw(device: &Device, load: &Load<'_>) -> u32 {
    if !device.is_processor {
        return u32::MAX / CONTROL_POINTS;
    }
    let by_points = POINTS_OF_DRAW / load.points_of_patch.max(1);
    by_points.clamp(1, CONTROL_POINTS_OF_DRAW / u64::from(CONTROL_POINTS)) as u32
}

/// Times the same commands again and again; sorted.
fn again<'r>(device: &'r Device, scene: &Scene<'r>, count: &'r Buffer<'_>, repeat: u32) -> anyhow::Result<Vec<f64>> {
    let stamps = if device.has_stamps() { Some(Queries::new(device, QueryKind::Stamp, 2)?) } else { None };
    let commands = device.record(|recorder| {
        recorder.clear(count);
        if let Some(stamps) = &stamps {
            recorder.reset(stamps);
            recorder.stamp(stamps, 0);
        }
        scene.draw(recorder);
        if let Some(stamps) = &stamps {
            recorder.stamp(stamps, 1);
        }
        Ok(())
    })?;
    let mut milliseconds = Vec::new();
    let begin = Instant::now();
    let mut is_warm = false;
    while milliseconds.len() < repeat as usize {
        let wall = commands.submit()?;
        let time = match &stamps {
            None => wall,
            Some(stamps) => {
                let ticks: Vec<u64> = stamps.read()?.concat();
                let [from, to] = *ticks.as_slice() else { anyhow::bail!("native time stamps have no answer") };
                device.milliseconds(from, to).context("the queue has no time stamps")?
            }
        };
        if is_warm {
            milliseconds.push(time);
        }
        // As for patchwave's passes: by the wall clock, one run is enough.
        is_warm = stamps.is_none() || begin.elapsed() >= WARM_UP;
    }
    milliseconds.sort_by(f64::total_cmp);
    Ok(milliseconds)
}

/// What the commands of a way are made of.
struct Scene<'r> {
    pipeline: &'r Pipeline<'r>,
    target: &'r Target<'r>,
    bindings: &'r Bindings<'r>,
    control: &'r Buffer<'r>,
    matrix: [f32; 16],
    patches: u32,
    patches_of_draw: u32,
}

impl<'r> Scene<'r> {
    fn draws(&self) -> u32 {
        self.patches.div_ceil(self.patches_of_draw)
    }

    fn draw(&self, recorder: &mut Recorder<'r>) {
        recorder.begin(self.target);
        recorder.set(self.pipeline, self.bindings, &self.matrix, Some(self.control));
        for draw in 0..self.draws() {
            let first = draw * self.patches_of_draw;
            let patches = (self.patches - first).min(self.patches_of_draw);
            recorder.draw(first * CONTROL_POINTS, patches * CONTROL_POINTS);
        }
        recorder.end();
    }
}
