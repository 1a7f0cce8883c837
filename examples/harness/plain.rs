//! Render pipelines without vertex buffers, for what stands around a tessellated surface.

use super::gpu::Gpu;
use super::picture::{COLOR, DEPTH, SAMPLES};

impl Gpu {
    /// A pipeline that draws triangles into a [`super::Picture`], whose vertices the shader makes from their numbers. Entry
    /// points are `vertex_main` and `fragment_main`.
    pub fn plain_pipeline(
        &self,
        label: &str,
        shader: &str,
        layouts: &[Option<&wgpu::BindGroupLayout>],
    ) -> anyhow::Result<wgpu::RenderPipeline> {
        self.pipeline_of_buffers(label, shader, layouts, &[])
    }

    /// As [`Gpu::plain_pipeline`], with vertex buffers.
    pub fn pipeline_of_buffers(
        &self,
        label: &str,
        shader: &str,
        layouts: &[Option<&wgpu::BindGroupLayout>],
        buffers: &[Option<wgpu::VertexBufferLayout<'_>>],
    ) -> anyhow::Result<wgpu::RenderPipeline> {
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl(shader.into()),
        });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: layouts,
            immediate_size: 0,
        });
        let pipeline = self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(label),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers,
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..wgpu::MultisampleState::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment_main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(COLOR.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        self.check()?;
        Ok(pipeline)
    }
}
