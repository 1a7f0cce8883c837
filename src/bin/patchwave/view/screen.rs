//! The surface of the window: its configuration, and what becomes of it when the window changes.

use std::sync::Arc;

use anyhow::Context;
use winit::window::Window;

use crate::scene::Size;

/// What there is to draw on.
pub(super) enum Next {
    Frame(wgpu::SurfaceTexture),
    /// Nothing now: the window is minimised or covered, or the display is late.
    Nothing,
}

/// What a surface has to be good for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wishes {
    /// Frames as fast as they come, rather than at the display's pace.
    pub(super) unpaced: bool,
    /// Whether frames are copied from.
    pub(super) copied: bool,
}

/// A window's surface.
pub(super) struct Screen {
    instance: wgpu::Instance,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    configuration: wgpu::SurfaceConfiguration,
    /// Whether the surface has to be configured before the next frame.
    is_stale: bool,
    most: u32,
}

impl Screen {
    pub(super) fn new(
        instance: wgpu::Instance,
        window: Arc<Window>,
        surface: wgpu::Surface<'static>,
        adapter: &wgpu::Adapter,
        device: &wgpu::Device,
        wishes: Wishes,
    ) -> anyhow::Result<Self> {
        let can = surface.get_capabilities(adapter);
        // The panel blends in sRGB, and the scene is encoded by its own shader, so that nobody else should encode.
        let plain = can
            .formats
            .iter()
            .find(|format| matches!(format, wgpu::TextureFormat::Bgra8Unorm | wgpu::TextureFormat::Rgba8Unorm));
        let format = *plain.or(can.formats.first()).context("the window's surface has no format")?;
        let attachment = wgpu::TextureUsages::RENDER_ATTACHMENT;
        let copied = attachment | wgpu::TextureUsages::COPY_SRC;
        if wishes.copied {
            anyhow::ensure!(
                can.usages.contains(copied) && super::screenshot::is_readable(format),
                "no screenshot can be taken: the window system's frames ({format:?}) cannot be copied from"
            );
        }
        let configuration = wgpu::SurfaceConfiguration {
            usage: if wishes.copied { copied } else { attachment },
            format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: 0,
            height: 0,
            present_mode: if wishes.unpaced { wgpu::PresentMode::AutoNoVsync } else { wgpu::PresentMode::AutoVsync },
            desired_maximum_frame_latency: 2,
            alpha_mode: wgpu::CompositeAlphaMode::Auto,
            view_formats: Vec::new(),
        };
        let most = device.limits().max_texture_dimension_2d;
        Ok(Self { instance, window, surface, configuration, is_stale: true, most })
    }

    pub(super) fn format(&self) -> wgpu::TextureFormat {
        self.configuration.format
    }

    /// The next frame's texture, of the window's size as it is now.
    pub(super) fn next(&mut self, device: &wgpu::Device) -> anyhow::Result<Next> {
        let size = self.window.inner_size();
        if size.width == 0 || size.height == 0 {
            return Ok(Next::Nothing);
        }
        let size = Size { width: size.width.min(self.most), height: size.height.min(self.most) };
        if (self.configuration.width, self.configuration.height) != (size.width, size.height) {
            (self.configuration.width, self.configuration.height) = (size.width, size.height);
            self.is_stale = true;
        }
        // A surface that is outdated or lost is made good once; what fails twice is left to the next frame.
        for _ in 0..2 {
            if self.is_stale {
                self.surface.configure(device, &self.configuration);
                self.is_stale = false;
            }
            match self.surface.get_current_texture() {
                wgpu::CurrentSurfaceTexture::Success(texture) => return Ok(Next::Frame(texture)),
                wgpu::CurrentSurfaceTexture::Suboptimal(texture) => {
                    self.is_stale = true;
                    return Ok(Next::Frame(texture));
                }
                wgpu::CurrentSurfaceTexture::Timeout
                | wgpu::CurrentSurfaceTexture::Occluded
                | wgpu::CurrentSurfaceTexture::Validation => return Ok(Next::Nothing),
                wgpu::CurrentSurfaceTexture::Outdated => self.is_stale = true,
                wgpu::CurrentSurfaceTexture::Lost => {
                    self.surface = surface(&self.instance, &self.window)?;
                    self.is_stale = true;
                }
            }
        }
        Ok(Next::Nothing)
    }
}

/// A surface of a window.
pub(super) fn surface(instance: &wgpu::Instance, window: &Arc<Window>) -> anyhow::Result<wgpu::Surface<'static>> {
    instance.create_surface(Arc::clone(window)).context("no adapter's driver can draw on the window")
}
