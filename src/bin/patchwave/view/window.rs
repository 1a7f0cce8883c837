//! The window: its events, and a frame from its surface to the screen.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::{Window, WindowId};

use super::engine::Engine;
use super::painter::Canvas;
use super::panel::{self, Shown};
use super::screen::{Next, Screen, Wishes, surface};
use super::screenshot::Copy;
use super::state::State;
use super::subject::Source;
use crate::adapter::AdapterChoice;
use crate::scene::Size;
use crate::scene::gpu::Gpu;

/// What is to be shown, and for how long.
pub(super) struct Plan<'a> {
    pub(super) source: &'a Source,
    pub(super) adapter: &'a AdapterChoice,
    pub(super) size: Size,
    /// Frames to draw before it ends by itself.
    pub(super) frames: Option<u32>,
    pub(super) wants_screenshot: bool,
    /// Frames after which the device is lost, for tests.
    pub(super) lose_device_after: Option<u32>,
}

/// What came of it.
#[derive(Default)]
pub(super) struct Outcome {
    /// The last frame as PNG, where it was asked for.
    pub(super) screenshot: Option<Vec<u8>>,
    adapter: String,
    /// From one frame that counts to the next.
    milliseconds: Vec<f64>,
    losses: u32,
}

impl Outcome {
    /// How long frames took, on one line.
    pub(super) fn summary(&self) -> String {
        let mut sorted = self.milliseconds.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| sorted.get((sorted.len() as f64 * share) as usize).copied();
        let losses = if self.losses > 0 { format!("; the device was lost {} ×", self.losses) } else { String::new() };
        match (at(0.5), at(0.95)) {
            (Some(median), Some(most)) => format!(
                "{}: {} frames, median {median:.1} ms, 95 % within {most:.1} ms{losses}\n",
                self.adapter,
                sorted.len() + 1
            ),
            _ => format!("{}: 1 frame{losses}\n", self.adapter),
        }
    }
}

/// A pipeline was compiled, or the device was lost.
#[derive(Debug)]
struct Woken;

/// A device that is lost more often than this is given up.
const MOST_LOSSES: u32 = 3;
/// When to try again to draw on a window that shows nothing.
const LATER: Duration = Duration::from_millis(100);

/// Shows the scene until the window is closed or the frames are drawn.
pub(super) fn show(plan: &Plan<'_>, state: State) -> anyhow::Result<Outcome> {
    let event_loop = event_loop()?;
    let mut app = App {
        plan,
        state,
        proxy: event_loop.create_proxy(),
        window: None,
        live: None,
        ended: None,
        outcome: Outcome::default(),
        drawn: 0,
        counted: 0,
        counted_at: None,
        view_size: plan.size,
        pace: Pace::default(),
    };
    event_loop.run_app(&mut app).context("the window system failed")?;
    match app.ended {
        Some(Err(error)) => Err(error),
        Some(Ok(())) | None => Ok(app.outcome),
    }
}

/// Connects to the window system.
fn event_loop() -> anyhow::Result<EventLoop<Woken>> {
    const ADVICE: &str = "'patchwave render' and 'patchwave run' need none";
    // winit panics where libraries of the window system are missing, which is no reason for a backtrace.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let made = catch_unwind(AssertUnwindSafe(|| EventLoop::with_user_event().build()));
    std::panic::set_hook(hook);
    match made {
        Ok(Ok(event_loop)) => Ok(event_loop),
        Ok(Err(error)) => {
            let error = without_source(&error.to_string());
            anyhow::bail!("there is no window system to show a window on: {error}; {ADVICE}")
        }
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a library is missing");
            anyhow::bail!("the window system cannot be used: {message}; {ADVICE}")
        }
    }
}

/// winit's messages begin with the place in its source that they come from.
fn without_source(message: &str) -> String {
    let words = message.rsplit_once(".rs:").and_then(|(_, rest)| rest.split_once(": ")).map(|(_, words)| words);
    words.unwrap_or(message).trim_end_matches('.').to_owned()
}

/// How long frames take by the clock, while they follow one another.
#[derive(Default)]
struct Pace {
    last: Option<Instant>,
    milliseconds: Option<f32>,
}

impl Pace {
    /// A frame is drawn; whether another is to follow at once.
    fn drawn(&mut self, goes_on: bool) {
        let now = Instant::now();
        if let Some(last) = self.last {
            let took = (now - last).as_secs_f32() * 1e3;
            self.milliseconds = Some(self.milliseconds.map_or(took, |held| held + (took - held) * 0.1));
        }
        self.last = goes_on.then_some(now);
        if !goes_on {
            self.milliseconds = None;
        }
    }
}

/// What a window has once there is a device.
struct Live<'a> {
    engine: Engine<'a>,
    renderer: egui_wgpu::Renderer,
    egui: egui_winit::State,
    screen: Screen,
    /// Why the device was lost, once it is.
    lost: Arc<Mutex<Option<String>>>,
}

struct App<'p> {
    plan: &'p Plan<'p>,
    state: State,
    proxy: EventLoopProxy<Woken>,
    /// Behind the device and its surface, which go first.
    live: Option<Live<'p>>,
    window: Option<Arc<Window>>,
    ended: Option<anyhow::Result<()>>,
    outcome: Outcome,
    /// Frames, and those of them that count.
    drawn: u32,
    counted: u32,
    counted_at: Option<Instant>,
    /// Of the part that the scene is seen in.
    view_size: Size,
    pace: Pace,
}

impl ApplicationHandler<Woken> for App<'_> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.window.is_none() {
            let opened = self.open_window(event_loop);
            self.end_on_error(event_loop, opened);
        }
    }

    fn new_events(&mut self, _: &ActiveEventLoop, cause: StartCause) {
        if let StartCause::ResumeTimeReached { .. } = cause {
            self.redraw();
        }
    }

    fn user_event(&mut self, _: &ActiveEventLoop, _: Woken) {
        self.redraw();
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if self.ended.is_some() {
            return;
        }
        if let (Some(live), Some(window)) = (&mut self.live, &self.window) {
            let response = live.egui.on_window_event(window, &event);
            if response.repaint && !matches!(event, WindowEvent::RedrawRequested) {
                self.redraw();
            }
        }
        match event {
            WindowEvent::CloseRequested => {
                let closed = match self.plan.frames {
                    Some(frames) => {
                        Err(anyhow::anyhow!("the window was closed after {} of {frames} frames", self.counted))
                    }
                    None => Ok(()),
                };
                self.end(event_loop, closed);
            }
            WindowEvent::Resized(_) | WindowEvent::ScaleFactorChanged { .. } | WindowEvent::Occluded(false) => {
                self.redraw();
            }
            WindowEvent::RedrawRequested => {
                let drawn = self.frame(event_loop);
                self.end_on_error(event_loop, drawn);
            }
            _ => {}
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        // While the connection to the window system is still there.
        self.live = None;
        self.window = None;
    }
}

impl<'p> App<'p> {
    fn redraw(&self) {
        if let Some(window) = &self.window {
            window.request_redraw();
        }
    }

    fn end(&mut self, event_loop: &ActiveEventLoop, result: anyhow::Result<()>) {
        self.ended.get_or_insert(result);
        event_loop.exit();
    }

    fn end_on_error(&mut self, event_loop: &ActiveEventLoop, result: anyhow::Result<()>) {
        if let Err(error) = result {
            self.end(event_loop, Err(error));
        }
    }

    fn open_window(&mut self, event_loop: &ActiveEventLoop) -> anyhow::Result<()> {
        let attributes = Window::default_attributes()
            .with_title(format!("patchwave: {}", self.plan.source.name()))
            .with_inner_size(PhysicalSize::new(self.plan.size.width, self.plan.size.height));
        let window = event_loop.create_window(attributes).context("no window can be opened")?;
        self.window = Some(Arc::new(window));
        self.live = Some(self.open(event_loop)?);
        self.redraw();
        Ok(())
    }

    /// Opens a device for the window.
    fn open(&self, event_loop: &ActiveEventLoop) -> anyhow::Result<Live<'p>> {
        let window = self.window.as_ref().context("the window is gone")?;
        let display = Box::new(event_loop.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        let instance = wgpu::Instance::new(descriptor);
        let surface = surface(&instance, window)?;
        let chosen = self.plan.adapter.choose_for(&instance, &surface)?;
        let gpu = Gpu::open(&chosen)?;
        let lost = Arc::new(Mutex::new(None));
        let (told, proxy) = (Arc::clone(&lost), self.proxy.clone());
        gpu.device.set_device_lost_callback(move |_, message| {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
            // A loop that has ended wants nothing any more.
            let _ = proxy.send_event(Woken);
        });
        let wishes = Wishes { unpaced: self.plan.frames.is_some(), copied: self.plan.wants_screenshot };
        let screen = Screen::new(instance, Arc::clone(window), surface, &chosen.adapter, &gpu.device, wishes)?;
        let options = egui_wgpu::RendererOptions { dithering: false, ..egui_wgpu::RendererOptions::default() };
        let renderer = egui_wgpu::Renderer::new(&gpu.device, screen.format(), options);
        let context = egui::Context::default();
        context.set_theme(egui::Theme::Dark);
        let egui = egui_winit::State::new(
            context,
            egui::ViewportId::ROOT,
            window,
            Some(window.scale_factor() as f32),
            None,
            Some(gpu.device.limits().max_texture_dimension_2d as usize),
        );
        let proxy = self.proxy.clone();
        let wake = Arc::new(move || drop(proxy.send_event(Woken)));
        let engine = Engine::new(gpu, self.plan.source, &self.state, screen.format(), wake)?;
        Ok(Live { engine, renderer, egui, screen, lost })
    }

    /// Draws a frame, on a device made anew where the one before was lost.
    fn frame(&mut self, event_loop: &ActiveEventLoop) -> anyhow::Result<()> {
        let drawn = self.draw(event_loop);
        let lost = self.live.as_ref().and_then(|live| live.lost.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(reason) = lost else { return drawn };
        // Whatever the frame complained of follows from the loss.
        self.outcome.losses += 1;
        if self.outcome.losses > MOST_LOSSES {
            anyhow::bail!("the device was lost {} times, the last time because: {reason}", self.outcome.losses);
        }
        self.live = None;
        self.live = Some(self.open(event_loop).with_context(|| format!("the device was lost ({reason})"))?);
        self.redraw();
        Ok(())
    }

    fn draw(&mut self, event_loop: &ActiveEventLoop) -> anyhow::Result<()> {
        let (Some(live), Some(window)) = (&mut self.live, &self.window) else { return Ok(()) };
        let Live { engine, renderer, egui, screen, .. } = live;
        let (device, queue) = (engine.gpu.device.clone(), engine.gpu.queue.clone());
        engine.take_news();
        let texture = match screen.next(&device)? {
            Next::Frame(texture) => texture,
            Next::Nothing => {
                engine.gpu.check()?;
                // A minimised window says when it is back; what else there is does not.
                let size = window.inner_size();
                let is_seen = size.width > 0 && size.height > 0;
                event_loop.set_control_flow(if is_seen {
                    ControlFlow::WaitUntil(Instant::now() + LATER)
                } else {
                    ControlFlow::Wait
                });
                self.pace = Pace::default();
                return Ok(());
            }
        };
        let size = Size { width: texture.texture.width(), height: texture.texture.height() };

        let said = engine.status().cloned();
        let name = self.plan.source.name();
        let mut laid_out = (egui::Rect::NOTHING, panel::Asked::default());
        let input = egui.take_egui_input(window);
        let context = egui.egui_ctx().clone();
        let mut output = context.run_ui(input, |ui| {
            let shown = Shown {
                scene: &name,
                adapter: &engine.gpu.name,
                status: engine.status(),
                most_patches: engine.most_patches(),
                resolved: engine.resolved(),
                statistics: engine.statistics(),
                workspace_bytes: engine.workspace_bytes(),
                grown: engine.grown(),
                times: engine.times(),
                frame_milliseconds: self.pace.milliseconds,
            };
            laid_out = panel::show(ui, &mut self.state, &shown, self.view_size);
        });
        // egui insists on textures being seen to, whatever becomes of the frame.
        let textures = std::mem::take(&mut output.textures_delta.set);
        let freed = std::mem::take(&mut output.textures_delta.free);
        egui.handle_platform_output(window, output.platform_output);
        let scale = output.pixels_per_point;
        let part = part(laid_out.0, scale, size);
        self.view_size = Size { width: part[2].max(1), height: part[3].max(1) };

        let view = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("view") });
        engine.encode(&mut encoder, &Canvas { view: &view, size, part }, &self.state)?;

        let jobs = context.tessellate(output.shapes, scale);
        for (id, deltas) in &textures {
            deltas.iter().for_each(|delta| renderer.update_texture(&device, &queue, *id, delta));
        }
        let descriptor =
            egui_wgpu::ScreenDescriptor { size_in_pixels: [size.width, size.height], pixels_per_point: scale };
        let mut commands = renderer.update_buffers(&device, &queue, &mut encoder, &jobs, &descriptor);
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("panel"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: None,
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        renderer.render(&mut pass.forget_lifetime(), &jobs, &descriptor);

        // What is said in the panel is of the frame before.
        let is_settled = engine.is_settled() && engine.status() == said.as_ref();
        let mut is_last = false;
        if is_settled {
            self.counted += 1;
            is_last = self.plan.frames == Some(self.counted);
        }
        let copy =
            (is_last && self.plan.wants_screenshot).then(|| Copy::new(&engine.gpu, &mut encoder, &texture.texture));
        commands.push(encoder.finish());
        queue.submit(commands);
        window.pre_present_notify();
        queue.present(texture);
        for id in &freed {
            renderer.free_texture(id);
        }
        engine.gpu.check()?;
        self.drawn += 1;
        if self.plan.lose_device_after == Some(self.drawn) {
            device.destroy();
        }

        if is_settled {
            let now = Instant::now();
            if let Some(before) = self.counted_at.replace(now) {
                self.outcome.milliseconds.push((now - before).as_secs_f64() * 1e3);
            }
        } else {
            self.counted_at = None;
        }
        if let Some(copy) = copy {
            self.outcome.screenshot = Some(copy.png(&engine.gpu)?);
        }
        if is_last || laid_out.1.quit {
            self.outcome.adapter.clone_from(&engine.gpu.name);
            self.end(event_loop, Ok(()));
            return Ok(());
        }

        let delay =
            output.viewport_output.get(&egui::ViewportId::ROOT).map_or(Duration::MAX, |root| root.repaint_delay);
        let goes_on = self.plan.frames.is_some()
            || self.state.settings.continuous
            || engine.is_waiting()
            || engine.status() != said.as_ref()
            || panel::is_moving(&context)
            || delay.is_zero();
        self.pace.drawn(goes_on);
        if goes_on {
            window.request_redraw();
        }
        let soon = Instant::now().checked_add(delay).into_iter().chain(engine.notice_until()).min();
        event_loop.set_control_flow(soon.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
        Ok(())
    }
}

/// A rectangle of points in pixels: left, top, width and height, within a picture of this size.
fn part(rect: egui::Rect, scale: f32, size: Size) -> [u32; 4] {
    // Casts of floats stop at the ends of the integers' range.
    let [left, right] = [rect.left(), rect.right()].map(|at| ((at * scale).round() as u32).min(size.width));
    let [top, bottom] = [rect.top(), rect.bottom()].map(|at| ((at * scale).round() as u32).min(size.height));
    [left, top, right.saturating_sub(left), bottom.saturating_sub(top)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_view_lies_within_the_picture() {
        let size = Size { width: 200, height: 100 };
        let rect = |left, top, right, bottom| egui::Rect { min: egui::pos2(left, top), max: egui::pos2(right, bottom) };
        assert_eq!(part(rect(30.0, 0.0, 100.0, 50.0), 2.0, size), [60, 0, 140, 100]);
        assert_eq!(part(rect(30.0, -5.0, 500.0, 500.0), 2.0, size), [60, 0, 140, 100]);
        // A window narrower than the panel, and no layout at all.
        assert_eq!(part(rect(300.0, 0.0, 200.0, 100.0), 1.0, size)[2], 0);
        assert_eq!(part(egui::Rect::NOTHING, 1.0, size)[2..], [0, 0]);
    }

    #[test]
    fn messages_come_without_the_place_in_another_crate() {
        assert_eq!(
            without_source("os error at /a/b.rs:7: neither this nor that is set."),
            "neither this nor that is set"
        );
        assert_eq!(without_source("not supported"), "not supported");
    }

    #[test]
    fn a_summary_of_frames() {
        let outcome = |milliseconds: &[f64], losses| Outcome {
            adapter: "gpu".to_owned(),
            milliseconds: milliseconds.to_vec(),
            losses,
            ..Outcome::default()
        };
        assert_eq!(outcome(&[], 0).summary(), "gpu: 1 frame\n");
        let text = outcome(&[3.0, 1.0, 2.0], 1).summary();
        assert_eq!(text, "gpu: 4 frames, median 2.0 ms, 95 % within 3.0 ms; the device was lost 1 ×\n");
    }
}
