//! Draws with tessellation and draws without it in one render pass, one after the other.
//!
//! KhronosGroup/MoltenVK#993 and #2250: a draw without tessellation, also an indirect one, that came after a tessellated one
//! in the same pass used state that was no longer there.

use patchwave::{Domain, Draw, TessellationPipelineDescriptor};
use wgpu::util::DrawIndirectArgs;

use super::rig::Rig;

const SIZE: u32 = 16;

/// A quad over the left half of the target.
const SHADER: &str = "
    struct P { at: vec2f } struct C { factors: QuadFactors }
    struct S { @builtin(position) position: vec4f }
    fn vertex(id: VertexId) -> P { return P(vec2f(f32(id.vertex_index % 2u), f32(id.vertex_index / 2u))); }
    fn patch_constants(patch_id: u32) -> C { return C(QuadFactors(vec4f(3.0), vec2f(3.0))); }
    fn domain(uv: vec2f, patch_id: u32) -> S {
        let at = mix(output_point(0u).at, output_point(3u).at, uv);
        return S(vec4f(at.x - 1.0, at.y * 2.0 - 1.0, 0.0, 1.0));
    }";

/// A triangle without vertex buffers over all of the target.
const PLAIN: &str = "
    @vertex fn plain_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(select(-1.0, 3.0, i == 1u), select(-1.0, 3.0, i == 2u), 0.0, 1.0);
    }
    @fragment fn green() -> @location(0) vec4f { return vec4f(0.0, 1.0, 0.0, 1.0); }";

#[test]
fn draws_without_tessellation_follow_in_the_same_pass() {
    let rig = Rig::new();
    let mut descriptor = TessellationPipelineDescriptor::new(SHADER, Domain::Quad, 4);
    descriptor.names.hull = None;
    let pipeline = rig.pipeline(&descriptor);
    let mut workspace = rig.measured_workspace(&pipeline, &Draw::new(0..4));

    let render = |text: &str, vertex: &str, fragment: &str, buffers: &[Option<wgpu::VertexBufferLayout<'_>>]| {
        let module = rig.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        rig.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some(vertex),
                compilation_options: Default::default(),
                buffers,
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(fragment),
                compilation_options: Default::default(),
                targets: &[Some(wgpu::TextureFormat::Rgba8Unorm.into())],
            }),
            multiview_mask: None,
            cache: None,
        })
    };
    let red = "@fragment fn red() -> @location(0) vec4f { return vec4f(1.0, 0.0, 0.0, 1.0); }";
    let attributes = pipeline.vertex_attributes();
    let layout = wgpu::VertexBufferLayout {
        array_stride: pipeline.vertex_stride(),
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &attributes,
    };
    let text = pipeline.pass_through_shader().expect("there is a position") + red;
    let tessellated = render(&text, "vertex_main", "red", &[Some(layout)]);
    let plain = render(PLAIN, "plain_main", "green", &[]);

    let target = rig.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: SIZE, height: SIZE, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let record = DrawIndirectArgs { vertex_count: 3, instance_count: 1, ..Default::default() };
    let records = rig.buffer(record.as_bytes(), wgpu::BufferUsages::INDIRECT);
    for indirect in [false, true] {
        workspace.reset();
        let mut encoder = rig.encoder();
        let mesh = pipeline.encode(&rig.queue, &mut encoder, &mut workspace, &Draw::new(0..4)).expect("the draw fits");
        let view = target.create_view(&wgpu::TextureViewDescriptor::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: None,
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        pass.set_pipeline(&tessellated);
        mesh.draw(&mut pass);
        pass.set_pipeline(&plain);
        if indirect {
            pass.draw_indirect(&records, 0);
        } else {
            pass.draw(0..3, 0..1);
        }
        // And tessellated once more.
        pass.set_pipeline(&tessellated);
        mesh.draw(&mut pass);
        drop(pass);
        let row = 256;
        let read = rig.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(row * SIZE),
            usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        encoder.copy_texture_to_buffer(
            target.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &read,
                layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None },
            },
            target.size(),
        );
        rig.queue.submit([encoder.finish()]);
        let pixels = rig.words(&read);
        let pixel = |x: u32, y: u32| pixels[(y * row / 4 + x) as usize].to_le_bytes();
        for y in 0..SIZE {
            assert_eq!(pixel(2, y), [255, 0, 0, 255], "the tessellated half, indirect: {indirect}");
        }
        for y in 0..SIZE {
            assert_eq!(pixel(SIZE - 2, y), [0, 255, 0, 255], "the plain triangle, indirect: {indirect}");
        }
    }
}
