//! What is behind everything: a fragment shader over the whole picture.

use super::Gpu;
use super::picture::{COLOR, DEPTH, SAMPLES};

/// One triangle over the whole picture; hands on where in clip space a pixel is.
const VERTEX: &str = "
struct Backdrop {
    @builtin(position) position: vec4f,
    @location(0) clip: vec2f,
}

@vertex
fn vertex_main(@builtin(vertex_index) k: u32) -> Backdrop {
    let clip = vec2f(f32(k & 1u), f32(k >> 1u)) * 4.0 - 1.0;
    return Backdrop(vec4f(clip, 1.0, 1.0), clip);
}
";

impl Gpu {
    /// A render pipeline that fills the picture, to be drawn first, with three vertices. `fragment` is WGSL with the entry
    /// point `backdrop_main(backdrop: Backdrop)`; `backdrop.clip` is from -1 to 1, y upwards.
    pub fn backdrop_pipeline(
        &self,
        fragment: &str,
        layouts: &[Option<&wgpu::BindGroupLayout>],
    ) -> anyhow::Result<wgpu::RenderPipeline> {
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("backdrop"),
            source: wgpu::ShaderSource::Wgsl(format!("{VERTEX}{fragment}").into()),
        });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("backdrop"),
            bind_group_layouts: layouts,
            immediate_size: 0,
        });
        let made = self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("backdrop"),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(false),
                depth_compare: Some(wgpu::CompareFunction::Always),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..wgpu::MultisampleState::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("backdrop_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(COLOR.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        self.check()?;
        Ok(made)
    }
}
