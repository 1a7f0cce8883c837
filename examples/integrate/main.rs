//! A small renderer of its own — device, shadow map, depth, bind groups, ordinary meshes — that gains a tessellated object.
//!
//!     cargo run --release --example integrate           # writes out/integrate.png
//!
//! Search for `TESSELLATION`: those lines are all that the renderer needed. Its shaders
//! (assets/shaders/integrate.renderer.wgsl) are untouched; the object's stages are in assets/shaders/integrate.wgsl.

mod knot;
mod renderer;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use patchwave::{
    Domain, Draw, GrowingWorkspace, IndexBuffer, TessellationPipeline, TessellationPipelineDescriptor,
    WorkspaceDescriptor,
};
use renderer::{Shadow, Target, UNIFORM, VERTEX, Vertex, meshes, pipeline, save, scene};
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{BufferUsages, vertex_attr_array};

/// Writes a picture of a renderer's scene, with a tessellated object in it.
#[derive(Parser)]
struct Cli {
    /// The picture to write, a PNG file
    #[arg(short, long, value_name = "FILE", default_value = "out/integrate.png")]
    output: PathBuf,
    /// Pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x960", value_parser = parse_size)]
    size: [u32; 2],
    /// An adapter whose name contains this
    #[arg(long, value_name = "NAME", env = "PATCHWAVE_ADAPTER", default_value = "")]
    adapter: String,
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let size = text.split_once('x').and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
    size.filter(|size| size.iter().all(|side| (1..=8192).contains(side)))
        .ok_or_else(|| "expected WIDTHxHEIGHT, each 1 to 8192".to_owned())
}

fn run(cli: &Cli) -> anyhow::Result<()> {
    // The device.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let wanted = |adapter: &wgpu::Adapter| adapter.get_info().name.to_lowercase().contains(&cli.adapter.to_lowercase());
    let adapter = adapters.into_iter().find(wanted).context("no adapter of that name; 'patchwave info' lists them")?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        // TESSELLATION (1 line): WebGPU's default limits do; more lets larger draws through.
        required_limits: TessellationPipeline::required_limits(&adapter),
        ..wgpu::DeviceDescriptor::default()
    }))?;

    // Bind group 0, the scene, and 1, the shadow map.
    let scene_buffer = device.create_buffer_init(&BufferInitDescriptor {
        label: None,
        contents: bytemuck::bytes_of(&scene(cli.size)),
        usage: BufferUsages::UNIFORM,
    });
    let scene_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            // TESSELLATION (1 word): COMPUTE, since the stages in integrate.wgsl read this group. Groups that only
            // fragments read, as the shadow map's, stay as they are.
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT | wgpu::ShaderStages::COMPUTE,
            ty: UNIFORM,
            count: None,
        }],
    });
    let scene_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &scene_layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: scene_buffer.as_entire_binding() }],
    });
    let shadow = Shadow::new(&device);

    // The ordinary meshes and what draws them.
    let vertices = meshes();
    let mesh = device.create_buffer_init(&BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(&vertices),
        usage: BufferUsages::VERTEX,
    });
    let module = device.create_shader_module(wgpu::include_wgsl!("../../assets/shaders/integrate.renderer.wgsl"));
    let for_picture = [Some(&scene_layout), Some(&shadow.layout)];
    let for_shadow = [Some(&scene_layout)];
    let draw_mesh = pipeline(&device, &module, &for_picture, size_of::<Vertex>() as u64, &VERTEX);
    let darken_mesh = pipeline(&device, &module, &for_shadow, size_of::<Vertex>() as u64, &VERTEX);

    // TESSELLATION (22 lines): the cage's buffers. patchwave reads them in compute passes: STORAGE, and neither VERTEX nor
    // INDEX.
    let (cage, patches) = knot::cage();
    let usage = BufferUsages::STORAGE;
    let storage = |contents| device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage });
    let cage = storage(bytemuck::cast_slice(&cage));
    let indices = storage(bytemuck::cast_slice(&patches));
    // The pipeline: the stages, on quads of 16 control points, with the renderer's own bind group 0.
    let tessellator = TessellationPipeline::new(
        &device,
        &TessellationPipelineDescriptor {
            vertex_buffers: &[wgpu::VertexBufferLayout {
                array_stride: 12,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &vertex_attr_array![0 => Float32x3],
            }],
            bind_group_layouts: &[Some(&scene_layout)],
            ..TessellationPipelineDescriptor::new(include_str!("../../assets/shaders/integrate.wgsl"), Domain::Quad, 16)
        },
    )?;
    // What draws its output: the renderer's own pipelines, with the output's vertex layout.
    let (stride, attributes) = (tessellator.vertex_stride(), tessellator.vertex_attributes());
    let draw_knot = pipeline(&device, &module, &for_picture, stride, &attributes);
    let darken_knot = pipeline(&device, &module, &for_shadow, stride, &attributes);
    // Memory for the output, from a guess. Where a frame's output does not fit, the frame is drawn without the object, never
    // with half of it, and `GrowingWorkspace` has the room by the next: its report arrives with the device's polls.
    let guess = WorkspaceDescriptor::new(&tessellator, patches.len() as u32 / 16, 4_000, 6_000);
    let mut workspace = GrowingWorkspace::new(&device, &tessellator, guess)?;
    // TESSELLATION ends

    let target = Target::new(&device, cli.size);
    // The frames; the last one becomes the picture.
    for frame in 0..3 {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());

        // TESSELLATION (7 lines): in the same encoder, before the passes that draw the result; once, for both of them.
        let draw = Draw {
            vertex_buffers: &[cage.slice(..)],
            index_buffer: Some(IndexBuffer { slice: indices.slice(..), format: wgpu::IndexFormat::Uint16 }),
            bind_groups: &[Some(&scene_group)],
            ..Draw::new(0..patches.len() as u32)
        };
        let tessellated = workspace.encode(&tessellator, &device, &queue, &mut encoder, &draw)?;

        let mut pass = shadow.begin(&mut encoder);
        pass.set_bind_group(0, &scene_group, &[]);
        pass.set_pipeline(&darken_mesh);
        pass.set_vertex_buffer(0, mesh.slice(..));
        pass.draw(0..vertices.len() as u32, 0..1);
        // TESSELLATION (2 lines): sets its vertex and index buffers and draws indirectly.
        pass.set_pipeline(&darken_knot);
        tessellated.draw(&mut pass);
        drop(pass);

        let mut pass = target.begin(&mut encoder);
        pass.set_bind_group(0, &scene_group, &[]);
        pass.set_bind_group(1, &shadow.group, &[]);
        pass.set_pipeline(&draw_mesh);
        pass.set_vertex_buffer(0, mesh.slice(..));
        pass.draw(0..vertices.len() as u32, 0..1);
        // TESSELLATION (2 lines)
        pass.set_pipeline(&draw_knot);
        tessellated.draw(&mut pass);
        drop(pass);

        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely())?;
        println!("frame {frame}: the workspace has grown {} times", workspace.times_grown());
    }
    save(&device, &queue, &target.picture, &cli.output)?;
    println!("{} on {}", cli.output.display(), adapter.get_info().name);
    Ok(())
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("integrate: {error:#}");
            ExitCode::FAILURE
        }
    }
}
