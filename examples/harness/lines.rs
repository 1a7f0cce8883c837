//! Straight lines of any width.

use super::camera::Camera;
use super::gpu::{Bind, Gpu};

/// One line.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Line {
    pub from: [f32; 3],
    pub to: [f32; 3],
    /// Red, green and blue, linear.
    pub color: [f32; 3],
    /// In pixels of a picture 720 pixels high.
    pub width: f32,
}

/// lines.wgsl's `Settings`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Settings {
    clip_from_world: [f32; 16],
    size: [f32; 2],
    pad: [f32; 2],
}

pub struct Lines {
    lines: wgpu::Buffer,
    count: u32,
    settings: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    pipeline: wgpu::RenderPipeline,
}

impl Lines {
    pub fn new(gpu: &Gpu, lines: &[Line]) -> anyhow::Result<Self> {
        let settings = gpu.uniform::<Settings>("lines");
        let (layout, bind_group) = gpu.bind_group("lines", &[Bind::Uniform(&settings)]);
        let attributes = wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x3, 3 => Float32];
        let buffer = wgpu::VertexBufferLayout {
            array_stride: size_of::<Line>() as u64,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &attributes,
        };
        let shader = include_str!("../../assets/shaders/lines.wgsl");
        let pipeline = gpu.pipeline_of_buffers("lines", shader, &[Some(&layout)], &[Some(buffer)])?;
        let count = lines.len() as u32;
        let lines = gpu.buffer("lines", lines, wgpu::BufferUsages::VERTEX);
        Ok(Self { lines, count, settings, bind_group, pipeline })
    }

    /// Draws them into a picture of `size` pixels.
    pub fn draw(&self, gpu: &Gpu, pass: &mut wgpu::RenderPass<'_>, camera: &Camera, size: [u32; 2]) {
        let settings = Settings {
            clip_from_world: camera.clip_from_world.to_cols_array(),
            size: size.map(|side| side as f32),
            pad: [0.0; 2],
        };
        gpu.queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&settings));
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.set_vertex_buffer(0, self.lines.slice(..));
        pass.draw(0..6, 0..self.count);
    }
}
