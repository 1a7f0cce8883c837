//! A frame on a device: pipelines, workspace, what was read back, painting. Knows of no window.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use patchwave::hardware::{ResolvedParameters, Statistics, TessellationParameters};
use patchwave::pipeline::DrawReport;
use patchwave::{Error, Tessellation, TessellationPipeline};

use super::compiler::{Compiler, Standing, Wake};
use super::memory::{Keeper, Verdict, judge, most, needed};
use super::news::{Answers, News, together};
use super::painter::{Canvas, Painter, clear_color};
use super::panel::Status;
use super::state::{Factors, State, Variant};
use super::subject::{BACKGROUND, Source, Subject};
use super::times::{PassTimes, Stamps};
use crate::run::numbers::Number;
use crate::scene::Size;
use crate::scene::camera::Camera;
use crate::scene::gpu::Gpu;
use crate::scene::mode::Mode;

/// The pipeline of the frames.
struct Current {
    variant: Variant,
    /// As it was compiled.
    base: TessellationPipeline,
    /// In the mode of now.
    pipeline: TessellationPipeline,
    mode: (Mode, TessellationParameters),
}

/// What a tessellation follows from: where it changes, reports and statistics of before are of something else.
#[derive(Clone, PartialEq)]
struct Inputs {
    workspace: u64,
    variant: Variant,
    mode: (Mode, TessellationParameters),
    factors: Factors,
    numbers: Vec<Number>,
    /// By its bits, so that NaN is itself.
    factor: u32,
    segment_pixels: f32,
    camera: Camera,
}

/// Draws frames of one scene.
pub(super) struct Engine<'a> {
    pub(super) gpu: Gpu,
    subject: Subject<'a>,
    compiler: Compiler,
    current: Option<Current>,
    keeper: Keeper,
    painter: Option<Painter>,
    format: wgpu::TextureFormat,
    stamps: Result<Stamps, &'static str>,
    sender: Sender<News>,
    receiver: Receiver<News>,
    inputs: Option<Inputs>,
    /// How often they have changed.
    version: u64,
    reports: Answers<DrawReport>,
    statistics: Answers<Statistics>,
    statistics_sum: Option<Statistics>,
    times: PassTimes,
    status: Option<Status>,
    /// What was done of late, and when.
    notice: Option<(Instant, Status)>,
    is_settled: bool,
}

/// How long a notice stays, so that it can be read.
const NOTICE: Duration = Duration::from_millis(1500);

impl<'a> Engine<'a> {
    /// For frames of this format. `wake` is called when a pipeline has been compiled.
    pub(super) fn new(
        gpu: Gpu,
        source: &'a Source,
        state: &State,
        format: wgpu::TextureFormat,
        wake: Wake,
    ) -> anyhow::Result<Self> {
        // The first update gives it the camera of the window's size.
        let camera = state.lod_camera(Size { width: 4, height: 3 });
        let subject = Subject::new(&gpu, source, &state.settings, &camera)?;
        let stamps = Stamps::new(&gpu, u32::try_from(subject.shapes().len()).unwrap_or(u32::MAX));
        let (sender, receiver) = mpsc::channel();
        Ok(Self {
            gpu,
            subject,
            compiler: Compiler::new(wake),
            current: None,
            keeper: Keeper::new(),
            painter: None,
            format,
            stamps,
            sender,
            receiver,
            inputs: None,
            version: 0,
            reports: Answers::new(),
            statistics: Answers::new(),
            statistics_sum: None,
            times: PassTimes::default(),
            status: None,
            notice: None,
            is_settled: false,
        })
    }

    pub(super) fn status(&self) -> Option<&Status> {
        self.status.as_ref().or(self.notice.as_ref().map(|(_, notice)| notice))
    }

    /// When the notice on the screen is to go.
    pub(super) fn notice_until(&self) -> Option<Instant> {
        self.notice.as_ref().map(|(since, _)| *since + NOTICE)
    }

    /// Whether the last frame showed what is set, whole and with its statistics, where they are shown.
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Whether another frame would show more than the last one, without anything being set: answers are under way. A
    /// compiler wakes the window itself.
    pub(super) fn is_waiting(&self) -> bool {
        !self.is_settled
            && self.current.is_some()
            && !(self.compiler.is_running() && self.reports.is_through(self.version))
    }

    pub(super) fn statistics(&self) -> Option<&Statistics> {
        self.statistics_sum.as_ref()
    }

    pub(super) fn times(&self) -> Result<&PassTimes, &'static str> {
        self.stamps.as_ref().map(|_| &self.times).map_err(|reason| *reason)
    }

    pub(super) fn most_patches(&self) -> Option<u32> {
        self.current.as_ref().map(|current| current.base.parameters().patches_per_threadgroup)
    }

    pub(super) fn resolved(&self) -> Option<&ResolvedParameters> {
        self.current.as_ref().map(|current| current.pipeline.parameters())
    }

    pub(super) fn workspace_bytes(&self) -> u64 {
        self.keeper.memory.as_ref().map_or(0, |memory| memory.workspace.total_bytes())
    }

    pub(super) fn grown(&self) -> u32 {
        self.keeper.grown
    }

    /// Takes what has come from the GPU since, without waiting. To be called before the panel is laid out.
    pub(super) fn take_news(&mut self) {
        // Callbacks are called here. A device that is lost is told otherwise.
        let _ = self.gpu.device.poll(wgpu::PollType::Poll);
        self.notice.take_if(|(since, _)| since.elapsed() >= NOTICE);
        while let Ok(news) = self.receiver.try_recv() {
            match news {
                News::Times(times) => self.times.approach(&times),
                News::Report { of, report } => {
                    if let Some(error) = self.reports.answer(of, report) {
                        self.notice = Some((Instant::now(), Status::error(error.to_string())));
                    }
                }
                News::Statistics { of, statistics } => {
                    // Those of a draw that did not fit follow once it does; its report says so.
                    let failed = self.statistics.answer(of, statistics);
                    if let Some(error) = failed.filter(|error| !matches!(error, Error::WorkspaceTooSmall { .. })) {
                        self.notice = Some((Instant::now(), Status::error(error.to_string())));
                    }
                    if let Some((_, all)) = self.statistics.known() {
                        self.statistics_sum = Some(together(all));
                    }
                }
            }
        }
    }

    /// Takes up the pipeline that is set, once it is compiled; until then the one of before goes on.
    fn choose_pipeline(&mut self, state: &State) -> anyhow::Result<()> {
        let settings = &state.settings;
        let variant = settings.variant();
        let (subject, device) = (&self.subject, &self.gpu.device);
        match self.compiler.want(&variant, || subject.job(device, settings)) {
            Standing::Ready(base) => {
                if self.current.as_ref().is_none_or(|current| current.variant != variant) {
                    let mode = (settings.mode, settings.parameters());
                    let pipeline = match mode.0.of(base, &mode.1) {
                        Ok(pipeline) => pipeline,
                        // Nothing was ever shown: the command line was wrong.
                        Err(error) if self.current.is_none() => return Err(error),
                        // The parameters are judged anew below.
                        Err(_) => base.clone(),
                    };
                    self.current = Some(Current { variant, base: base.clone(), pipeline, mode });
                }
            }
            Standing::Compiling => self.status = Some(Status::busy("compiling …")),
            Standing::Failed(error) if self.current.is_none() => anyhow::bail!("{error:#}"),
            Standing::Failed(error) => self.status = Some(Status::error(format!("{error:#}"))),
        }
        let mode = (settings.mode, settings.parameters());
        if let Some(current) = self.current.as_mut().filter(|current| current.mode != mode) {
            match mode.0.of(&current.base, &mode.1) {
                Ok(pipeline) => (current.pipeline, current.mode) = (pipeline, mode),
                Err(error) => self.status = Some(Status::error(format!("{error:#}"))),
            }
        }
        Ok(())
    }

    /// Judges the room by the reports of the frames before.
    fn grow(&mut self) {
        let Some(current) = &self.current else { return };
        let Some((of, reports)) = self.reports.known() else { return };
        // What was short before may have been seen to.
        let is_short = reports.iter().find_map(|report| report.shortage).filter(|_| of == self.version);
        let needs = needed(reports);
        let most = most(&current.pipeline, &self.gpu.device.limits());
        match judge(needs, self.keeper.room, most) {
            Verdict::Enough => {
                if let Some(shortage) = is_short {
                    let text = format!("{}: {} needed, {} there", shortage.what, shortage.needed, shortage.available);
                    self.status = Some(Status::error(text));
                }
            }
            Verdict::Grow(room) => {
                if let Some(shortage) = is_short {
                    // The frames before drew nothing of it.
                    let text = format!(
                        "{} {} needed, {} there: the workspace has grown",
                        shortage.needed, shortage.what, shortage.available
                    );
                    self.notice = Some((Instant::now(), Status::busy(text)));
                }
                self.keeper.room = room;
                self.keeper.grown += 1;
            }
            Verdict::TooMuch if of != self.version => {}
            Verdict::TooMuch => {
                self.status = Some(Status::error(format!(
                    "does not fit: {} vertices and {} primitives, of which the device can bind {} and {}; lower factors",
                    needs[0], needs[1], most[0], most[1]
                )));
            }
        }
    }

    /// Encodes a frame.
    pub(super) fn encode(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        canvas: &Canvas<'_>,
        state: &State,
    ) -> anyhow::Result<()> {
        self.status = None;
        self.is_settled = false;
        self.choose_pipeline(state)?;
        self.grow();
        let [.., width, height] = canvas.part;
        let size = Size { width: width.max(1), height: height.max(1) };
        let tessellations = match self.tessellate(encoder, state, size) {
            Ok(tessellations) => tessellations,
            Err(error) => {
                // wgpu may have more to say, for instance that the device is lost.
                self.gpu.check()?;
                self.status = Some(Status::error(format!("{error:#}")));
                Vec::new()
            }
        };
        self.paint(encoder, canvas, state, size, &tessellations)?;
        let is_busy = self.status.as_ref().is_some_and(|status| !status.is_error);
        // An error stays as it is, however many frames follow.
        let is_error = self.status.as_ref().is_some_and(|status| status.is_error);
        let is_known = self.reports.is_through(self.version)
            && (!state.settings.statistics || self.statistics.is_through(self.version));
        self.is_settled = !is_busy && (is_error || (!tessellations.is_empty() && is_known));
        Ok(())
    }

    fn tessellate(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        state: &State,
        size: Size,
    ) -> anyhow::Result<Vec<Tessellation>> {
        let Some(current) = &self.current else { return Ok(Vec::new()) };
        let (gpu, settings) = (&self.gpu, &state.settings);
        let camera = state.lod_camera(size);
        self.subject.update(gpu, &current.pipeline, settings, &state.orbit, &camera, size)?;
        let shapes = self.subject.shapes();
        self.keeper.ensure(&gpu.device, &current.pipeline, settings.policy.policy(), &shapes)?;
        let Some(memory) = &mut self.keeper.memory else { return Ok(Vec::new()) };

        let inputs = Inputs {
            workspace: self.keeper.made,
            variant: current.variant.clone(),
            mode: current.mode,
            factors: settings.factors,
            numbers: settings.numbers.clone(),
            factor: settings.factor.to_bits(),
            segment_pixels: settings.segment_pixels,
            camera,
        };
        if self.inputs.as_ref() != Some(&inputs) {
            self.inputs = Some(inputs);
            self.version += 1;
        }
        self.reports.begin(self.version, shapes.len());
        if settings.statistics {
            self.statistics.begin(self.version, shapes.len());
        }

        memory.workspace.reset();
        let mut tessellations = Vec::with_capacity(shapes.len());
        let stamps = self.stamps.as_ref().ok();
        self.subject.for_draws(&mut |draw| {
            let (pipeline, queue, workspace) = (&current.pipeline, &gpu.queue, &mut memory.workspace);
            tessellations.push(match stamps {
                Some(stamps) => {
                    let stamps = stamps.of_draw(tessellations.len() as u32);
                    pipeline.encode_with_timestamps(queue, encoder, workspace, draw, &stamps)?
                }
                None => pipeline.encode(queue, encoder, workspace, draw)?,
            });
            Ok(())
        })?;

        // Nothing is read back while nothing changes.
        while let Some(of) = self.reports.question() {
            let Some(tessellation) = tessellations.get(of.draw) else { break };
            let sender = self.sender.clone();
            // A receiver that is gone does not want the answer.
            let answer = move |report| drop(sender.send(News::Report { of, report }));
            if !memory.workspace.request_report(encoder, tessellation, answer)? {
                break;
            }
            self.reports.ask(of);
        }
        while let Some(of) = self.statistics.question() {
            let Some(tessellation) = tessellations.get(of.draw) else { break };
            let sender = self.sender.clone();
            let answer = move |statistics| drop(sender.send(News::Statistics { of, statistics }));
            if !memory.workspace.request_statistics(encoder, tessellation, answer)? {
                break;
            }
            self.statistics.ask(of);
        }
        Ok(tessellations)
    }

    fn paint(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        canvas: &Canvas<'_>,
        state: &State,
        size: Size,
        tessellations: &[Tessellation],
    ) -> anyhow::Result<()> {
        if let (None, Some(current)) = (&self.painter, &self.current) {
            let (look, is_mirrored) = self.subject.look(&current.base)?;
            let draws = u32::try_from(self.subject.shapes().len()).unwrap_or(u32::MAX);
            let painter = Painter::new(&self.gpu, &current.base, look, is_mirrored, draws, self.format)?;
            self.painter = Some(painter);
        }
        let Some(painter) = &mut self.painter else {
            clear(encoder, canvas.view, clear_color(BACKGROUND, self.format));
            return Ok(());
        };
        if let Some(memory) = &self.keeper.memory {
            painter.bind(&self.gpu, self.keeper.made, tessellations, &memory.patches);
        }
        painter.mark(&self.gpu, encoder, &state.settings, tessellations);
        let camera: Camera = state.orbit.camera(size);
        // A frame without its draws has not all stamps, and is not timed.
        let are_all_stamped = tessellations.len() == self.subject.shapes().len()
            && tessellations.iter().all(|tessellation| !tessellation.chunks().is_empty());
        let stamps = self.stamps.as_ref().ok().filter(|_| are_all_stamped);
        let writes = stamps.map(Stamps::of_painting);
        painter.paint(&self.gpu, encoder, canvas, (&state.settings, &camera, state.orbit.key()), tessellations, writes);
        if let Some(stamps) = stamps {
            stamps.finish(encoder, &self.sender);
        }
        Ok(())
    }
}

fn clear(encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView, color: wgpu::Color) {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("nothing yet"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(color), store: wgpu::StoreOp::Store },
        })],
        depth_stencil_attachment: None,
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    });
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
