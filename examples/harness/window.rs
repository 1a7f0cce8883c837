//! A window that shows an example live.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop, OwnedDisplayHandle};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

use super::camera::{Camera, View};
use super::{Cli, Example, Gpu, Picture};

/// Opens the window and stays until it is closed.
pub(super) fn show<E: Example>(cli: &Cli<E::Options>) -> anyhow::Result<()> {
    let events = EventLoop::new().context("there is no window system; without --window a PNG file is written")?;
    let mut app =
        App::<E> { cli, display: events.owned_display_handle(), shown: None, view: E::VIEW, drag: None, failure: None };
    events.run_app(&mut app).context("the window system failed")?;
    app.failure.map_or(Ok(()), Err)
}

struct App<'c, E: Example> {
    cli: &'c Cli<E::Options>,
    display: OwnedDisplayHandle,
    shown: Option<Shown<E>>,
    view: View,
    /// Where the pointer was last, while a button is down.
    drag: Option<Option<[f64; 2]>>,
    failure: Option<anyhow::Error>,
}

/// What there is while there is a window.
struct Shown<E> {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    blit: wgpu::util::TextureBlitter,
    gpu: Gpu,
    example: E,
    picture: Picture,
    begun: Instant,
}

impl<E: Example> Shown<E> {
    fn new(events: &ActiveEventLoop, display: OwnedDisplayHandle, cli: &Cli<E::Options>) -> anyhow::Result<Self> {
        let attributes = Window::default_attributes()
            .with_title(format!("patchwave: {}", E::NAME))
            .with_inner_size(PhysicalSize::new(cli.size[0], cli.size[1]));
        let window = Arc::new(events.create_window(attributes).context("the window cannot be made")?);
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle(Box::new(display)));
        let gpu = Gpu::open_on(instance, cli.adapter.as_deref())?;
        let surface = gpu.instance.create_surface(Arc::clone(&window)).context("the window cannot be drawn into")?;
        let size = window.inner_size();
        let mut config = surface
            .get_default_config(&gpu.adapter, size.width.max(1), size.height.max(1))
            .with_context(|| format!("adapter '{}' cannot draw into this window", gpu.name))?;
        // The picture's colours are linear to shaders; the window's must be too.
        let formats = surface.get_capabilities(&gpu.adapter).formats;
        config.format = formats.iter().copied().find(wgpu::TextureFormat::is_srgb).unwrap_or(config.format);
        surface.configure(&gpu.device, &config);
        let blit = wgpu::util::TextureBlitter::new(&gpu.device, config.format);
        let example = E::new(&gpu, &cli.own)?;
        let picture = Picture::new(&gpu, [config.width, config.height])?;
        Ok(Self { window, surface, config, blit, gpu, example, picture, begun: Instant::now() })
    }

    fn resize(&mut self, size: PhysicalSize<u32>) -> anyhow::Result<()> {
        // A minimised window has no size and shows nothing.
        if size.width > 0 && size.height > 0 {
            [self.config.width, self.config.height] = [size.width, size.height];
            self.surface.configure(&self.gpu.device, &self.config);
            self.picture = Picture::new(&self.gpu, [size.width, size.height])?;
        }
        Ok(())
    }

    fn draw(&mut self, view: &View) -> anyhow::Result<()> {
        use wgpu::CurrentSurfaceTexture::{Lost, Outdated, Suboptimal, Success};
        let target = match self.surface.get_current_texture() {
            Success(target) | Suboptimal(target) => target,
            Outdated | Lost => {
                self.surface.configure(&self.gpu.device, &self.config);
                return Ok(());
            }
            // Hidden, or not ready: the next frame will do.
            _ => return Ok(()),
        };
        let size = [self.config.width, self.config.height];
        let seconds = self.begun.elapsed().as_secs_f32();
        let frame = self.picture.frame(Camera::new(view, size), seconds, E::BACKGROUND);
        let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.example.encode(&self.gpu, &mut encoder, &frame)?;
        let shown = target.texture.create_view(&wgpu::TextureViewDescriptor::default());
        self.blit.copy(&self.gpu.device, &mut encoder, self.picture.view(), &shown);
        self.gpu.queue.submit([encoder.finish()]);
        self.window.pre_present_notify();
        self.gpu.queue.present(target);
        self.gpu.check()
    }
}

impl<E: Example> App<'_, E> {
    /// Ends with what went wrong, if anything did.
    fn end_on(&mut self, events: &ActiveEventLoop, done: anyhow::Result<()>) {
        if let Err(error) = done {
            self.failure.get_or_insert(error);
            events.exit();
        }
    }

    fn turn(&mut self, pointer: [f64; 2]) {
        if let Some(last) = &mut self.drag {
            if let Some([x, y]) = *last {
                self.view.azimuth -= (pointer[0] - x) as f32 * 0.3;
                self.view.elevation = (self.view.elevation + (pointer[1] - y) as f32 * 0.3).clamp(-85.0, 85.0);
            }
            *last = Some(pointer);
        }
    }
}

impl<E: Example> ApplicationHandler for App<'_, E> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.shown.is_none() {
            match Shown::new(events, self.display.clone(), self.cli) {
                Ok(shown) => self.shown = Some(shown),
                Err(error) => self.end_on(events, Err(error)),
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _window: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::KeyboardInput { event, .. } if event.logical_key == Key::Named(NamedKey::Escape) => {
                events.exit()
            }
            WindowEvent::MouseInput { state, button: MouseButton::Left, .. } => {
                self.drag = (state == ElementState::Pressed).then_some(None);
            }
            WindowEvent::CursorMoved { position, .. } => self.turn([position.x, position.y]),
            WindowEvent::MouseWheel { delta, .. } => {
                let steps = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => lines,
                    MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 40.0,
                };
                // The picture's angle stays; the eye moves.
                let factor = 0.9_f32.powf(steps);
                self.view.distance *= factor;
                self.view.radius *= factor;
            }
            WindowEvent::Resized(size) => {
                let done = self.shown.as_mut().map_or(Ok(()), |shown| shown.resize(size));
                self.end_on(events, done);
            }
            WindowEvent::RedrawRequested => {
                let view = self.view;
                let done = self.shown.as_mut().map_or(Ok(()), |shown| shown.draw(&view));
                self.end_on(events, done);
                if let Some(shown) = &self.shown {
                    shown.window.request_redraw();
                }
            }
            _ => {}
        }
    }
}
