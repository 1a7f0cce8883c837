//! A floor in the background's colour, z = 0, of which only the soft shadows are seen that things standing on it cast.

use super::camera::Camera;
use super::gpu::{Bind, Gpu};

/// The most shadows on it.
const SHADOWS: usize = 8;

/// A soft spot of shade on the floor.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Shade {
    pub center: [f32; 2],
    /// Along x and y.
    pub radii: [f32; 2],
}

/// floor.wgsl's `Settings`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    background: [f32; 4],
    shades: [Shade; SHADOWS],
}

pub struct Floor {
    background: [f64; 3],
    settings: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    pipeline: wgpu::RenderPipeline,
}

impl Floor {
    pub fn new(gpu: &Gpu, background: [f64; 3]) -> anyhow::Result<Self> {
        let settings = gpu.uniform::<Settings>("floor");
        let (layout, bind_group) = gpu.bind_group("floor", &[Bind::Uniform(&settings)]);
        let shader = include_str!("../../assets/shaders/floor.wgsl");
        let pipeline = gpu.plain_pipeline("floor", shader, &[Some(&layout)])?;
        Ok(Self { background, settings, bind_group, pipeline })
    }

    /// Draws it with these shadows, at most eight.
    pub fn draw(&self, gpu: &Gpu, pass: &mut wgpu::RenderPass<'_>, camera: &Camera, shades: &[Shade]) {
        let [r, g, b] = self.background.map(|channel| channel as f32);
        let settings = Settings {
            clip_from_world: camera.clip_from_world.to_cols_array(),
            background: [r, g, b, 1.0],
            shades: std::array::from_fn(|i| shades.get(i).copied().unwrap_or_default()),
        };
        gpu.queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&settings));
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.draw(0..6, 0..1);
    }
}
