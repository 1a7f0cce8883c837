//! The README's example: the text between the marks is the README's, word for word, and it runs.

// README begins
use patchwave::{
    Domain, Draw, Error, Mesh, TessellationPipeline, TessellationPipelineDescriptor, Workspace, WorkspaceDescriptor,
};

const SHADER: &str = "
struct Corner { position: vec2f }
struct PatchConstants { factors: QuadFactors }
struct Surface { @builtin(position) position: vec4f, @location(0) uv: vec2f }

fn vertex(id: VertexId) -> Corner { return Corner(vec2f(f32(id.vertex_index % 2), f32(id.vertex_index / 2))); }
fn patch_constants(patch_id: u32) -> PatchConstants { return PatchConstants(QuadFactors(vec4f(8), vec2f(8))); }
fn domain(uv: vec2f, patch_id: u32) -> Surface {
    let top = mix(output_point(0).position, output_point(1).position, uv.x);
    let bottom = mix(output_point(2).position, output_point(3).position, uv.x);
    return Surface(vec4f(mix(top, bottom, uv.y), 0, 1), uv);
}";

fn tessellate(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Mesh, Error> {
    let mut descriptor = TessellationPipelineDescriptor::new(SHADER, Domain::Quad, 4);
    descriptor.names.hull = None; // the control points pass through
    let pipeline = TessellationPipeline::new(device, &descriptor)?;

    // Once: how much memory does the draw need?
    let draw = Draw::new(0..4);
    let needs = pipeline.measure_blocking(device, queue, &draw)?;
    let mut workspace = Workspace::new(device, &pipeline, WorkspaceDescriptor::for_measurement(&pipeline, &needs)?)?;

    // Each frame: encode; then `tessellation.draw(&mut render_pass)` wherever the mesh is needed.
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let tessellation = pipeline.encode(queue, &mut encoder, &mut workspace, &draw)?;
    queue.submit([encoder.finish()]);
    Mesh::read_blocking(device, queue, &tessellation) // for export and tests, not for drawing
}
// README ends

#[test]
fn the_example_runs() {
    let (device, queue) = crate::gpu::device();
    let mesh = tessellate(&device, &queue).expect("the example tessellates");
    assert_eq!((mesh.vertex_count(), mesh.indices.len()), (81, 8 * 8 * 2 * 3));
}

#[test]
fn the_example_is_the_readme_s() {
    let source = include_str!("readme.rs");
    let begin = source.find("// README begins\n").expect("the mark") + "// README begins\n".len();
    let end = source.find("// README ends").expect("the mark");
    let readme = include_str!("../../README.md");
    assert!(readme.contains(&format!("```rust\n{}```", &source[begin..end])), "README.md and this file differ");
}

/// What a program hands from thread to thread.
#[test]
fn types_are_send_and_sync() {
    fn of<T: Send + Sync>() {}
    of::<patchwave::TessellationPipeline>();
    of::<Workspace>();
    of::<patchwave::Tessellation>();
    of::<patchwave::pipeline::BatchPlan>();
    of::<patchwave::pipeline::BatchWorkspace>();
    of::<Mesh>();
    of::<Error>();
}
