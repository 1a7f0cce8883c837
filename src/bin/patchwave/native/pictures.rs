//! Scenes drawn through the driver's tessellation and through patchwave's, pixel by pixel.

use anyhow::Context;
use glam::{Mat4, Vec3};
use image::RgbImage;
use patchwave::tessellator::Partitioning;
use patchwave::{Domain, Draw, TessellationPipeline, TessellationPipelineDescriptor, Workspace, WorkspaceDescriptor};
use serde::Serialize;
use std::path::{Path, PathBuf};

use super::shaders::{Shader, Shaders};
use super::vulkan::{Buffer, Device, Pipeline, PipelineDescriptor, Raster, Stages, Target};
use crate::output;
use crate::scene::Size;
use crate::scene::camera::{Camera, View};
use crate::scene::gpu::Gpu;
use crate::scene::teapot::{self, Factors, Teapot};

/// What counts as the same in a channel: rounding in the last place of the last multiplication.
const SAME: u8 = 2;
/// One pixel of so many may differ.
const ONE_IN: usize = 1000;
/// Where the difference goes that nobody asked for.
const DEFAULT_FOLDER: &str = "out/native";

/// What came of a scene.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Compared {
    pub(super) scene: &'static str,
    pub(super) pixels: usize,
    /// Pixels that the scene covers in patchwave's picture.
    pub(super) covered: usize,
    /// Pixels in which a channel differs by more than 2 of 255.
    pub(super) differing: usize,
    /// Fewer than so many may.
    pub(super) limit: usize,
    /// The largest difference of a channel.
    pub(super) largest: u8,
    /// Where both pictures and their difference are, if they were written.
    pub(super) difference: Option<PathBuf>,
}

impl Compared {
    pub(super) fn agrees(&self) -> bool {
        // Two black pictures would agree too.
        self.differing < self.limit && self.covered * 20 > self.pixels
    }
}

/// Draws and compares all scenes; writes the pictures of those that differ, and of all into `folder`.
pub(super) fn compare(
    device: &Device,
    shaders: &Shaders,
    gpu: &Gpu,
    is_quick: bool,
    folder: Option<&Path>,
) -> anyhow::Result<Vec<Compared>> {
    let size = if is_quick { Size { width: 640, height: 480 } } else { Size { width: 1280, height: 960 } };
    let teapot = teapot(device, shaders, gpu, size)?;
    let terrain = terrain(device, shaders, gpu, size)?;
    [("teapot", teapot), ("terrain", terrain)]
        .into_iter()
        .map(|(scene, [ours, theirs])| compare_pictures(scene, size, &ours, &theirs, folder))
        .collect()
}

/// Whether pixels are the same, and the pictures written where they are not.
fn compare_pictures(
    scene: &'static str,
    size: Size,
    ours: &[u8],
    theirs: &[u8],
    folder: Option<&Path>,
) -> anyhow::Result<Compared> {
    let pixels = (size.width * size.height) as usize;
    anyhow::ensure!(ours.len() == pixels * 4 && theirs.len() == pixels * 4, "{scene}: a picture has another size");
    let apart: Vec<u8> = apart(ours, theirs).collect();
    let mut compared = Compared {
        scene,
        pixels,
        covered: ours.chunks_exact(4).filter(|pixel| pixel[..3] != [0; 3]).count(),
        differing: apart.iter().filter(|apart| **apart > SAME).count(),
        limit: pixels.div_ceil(ONE_IN),
        largest: apart.iter().copied().max().unwrap_or(0),
        difference: None,
    };
    if folder.is_some() || !compared.agrees() {
        let folder = folder.unwrap_or(Path::new(DEFAULT_FOLDER));
        let file = |what: &str| folder.join(format!("{scene}-{what}.png"));
        let write = |file: &Path, pixels: Vec<u8>| -> anyhow::Result<()> {
            let picture = RgbImage::from_raw(size.width, size.height, pixels).context("a picture has another size")?;
            let mut png = std::io::Cursor::new(Vec::new());
            picture.write_to(&mut png, image::ImageFormat::Png)?;
            output::write_file(file, png.get_ref())
        };
        let rgb = |pixels: &[u8]| pixels.chunks_exact(4).flat_map(|pixel| pixel[..3].to_vec()).collect();
        write(&file("patchwave"), rgb(ours))?;
        write(&file("native"), rgb(theirs))?;
        // Red where it counts, grey in the measure of the difference where it does not.
        let mark = |apart: &u8| if *apart > SAME { [255, 0, 0] } else { [*apart * 60; 3] };
        write(&file("difference"), apart.iter().flat_map(mark).collect())?;
        compared.difference = Some(file("difference"));
    }
    Ok(compared)
}

/// How far each pixel's channels lie apart at most.
fn apart(ours: &[u8], theirs: &[u8]) -> impl Iterator<Item = u8> {
    let apart = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
    ours.chunks_exact(4).zip(theirs.chunks_exact(4)).map(move |(a, b)| apart(&a[..3], &b[..3]))
}

/// Pixels that differ.
pub(super) fn differing(ours: &[u8], theirs: &[u8]) -> usize {
    apart(ours, theirs).filter(|apart| *apart > SAME).count()
}

/// The teapot, patchwave's picture and the driver's.
fn teapot(device: &Device, shaders: &Shaders, gpu: &Gpu, size: Size) -> anyhow::Result<[Vec<u8>; 2]> {
    const FACTOR: f32 = 11.3;
    let partitioning = Partitioning::FractionalEven;
    let camera = Camera::new(&teapot::VIEW, size);
    let teapot = Teapot::new(gpu, &camera, Factors::Fixed(FACTOR), partitioning, None)?;
    let ours = teapot.with_draw(|draw| ours(gpu, size, &teapot.pipeline, draw))?;
    let control = teapot::control_points()?;
    let scene = NativeScene {
        sources: ["bicubic.vert", "bicubic.tesc", "teapot.tese"],
        partitioning,
        control_points: 16,
        table: &vec![FACTOR; control.len() / 16],
        control: &control,
        camera: &camera,
    };
    Ok([ours, scene.draw(device, shaders, size)?])
}

/// Squares along a side of the terrain.
const SIDE: u32 = 16;
/// Length of a square's side.
const STEP: f32 = 0.5;

/// Hills over a flat grid; each edge has its own factor, that of both squares on it.
fn terrain(device: &Device, shaders: &Shaders, gpu: &Gpu, size: Size) -> anyhow::Result<[Vec<u8>; 2]> {
    let view =
        View { target: Vec3::new(0.0, 0.0, 0.0), azimuth: -60.0, elevation: 32.0, distance: 9.0, fits: [4.2, 2.6] };
    let camera = Camera::new(&view, size);
    let squares = || (0..SIDE * SIDE).map(|i| [(i % SIDE) as f32, (i / SIDE) as f32]);
    let place = |x: f32, y: f32| [(x - SIDE as f32 / 2.0) * STEP, (y - SIDE as f32 / 2.0) * STEP, 0.0];
    let control: Vec<[f32; 3]> = squares()
        .flat_map(|[x, y]| [place(x, y), place(x + 1.0, y), place(x, y + 1.0), place(x + 1.0, y + 1.0)])
        .collect();
    // By the middle of the edge alone, so that neighbours agree.
    let edge = |x: f32, y: f32| 7.0 + 5.5 * (0.9 * x).sin() * (0.7 * y).cos();
    let table: Vec<f32> = squares()
        .flat_map(|[x, y]| {
            let edges = [edge(x, y + 0.5), edge(x + 0.5, y), edge(x + 1.0, y + 0.5), edge(x + 0.5, y + 1.0)];
            let inside = edges.iter().copied().fold(1.0, f32::max);
            edges.into_iter().chain([inside; 2])
        })
        .collect();
    let partitioning = Partitioning::FractionalOdd;
    let scene = NativeScene {
        sources: ["terrain.vert", "terrain.tesc", "terrain.tese"],
        partitioning,
        control_points: 4,
        table: &table,
        control: &control,
        camera: &camera,
    };
    let theirs = scene.draw(device, shaders, size)?;

    let points = gpu.buffer("terrain", bytemuck::cast_slice(&control), wgpu::BufferUsages::STORAGE);
    let (layout, group) = gpu.table("terrain factors", bytemuck::cast_slice(&table));
    let (camera_layout, camera_group) =
        gpu.matrix("terrain camera", wgpu::ShaderStages::COMPUTE, &camera.clip_from_world);
    let shader = include_str!("../../../../assets/shaders/native/terrain.wgsl");
    let mut descriptor = TessellationPipelineDescriptor {
        label: Some("terrain"),
        partitioning,
        vertex_buffers: &[wgpu::VertexBufferLayout {
            array_stride: 12,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Float32x3],
        }],
        bind_group_layouts: &[Some(&layout), Some(&camera_layout)],
        ..TessellationPipelineDescriptor::new(shader, Domain::Quad, 4)
    };
    descriptor.names.hull = None;
    let pipeline = TessellationPipeline::new(&gpu.device, &descriptor)?;
    let draw = Draw {
        vertex_buffers: &[points.slice(..)],
        bind_groups: &[Some(&group), Some(&camera_group)],
        ..Draw::new(0..SIDE * SIDE * 4)
    };
    Ok([ours(gpu, size, &pipeline, &draw)?, theirs])
}

/// Tessellates with patchwave, draws with wgpu, and reads the picture.
fn ours(gpu: &Gpu, size: Size, pipeline: &TessellationPipeline, draw: &Draw<'_>) -> anyhow::Result<Vec<u8>> {
    let measurement = pipeline.measure_blocking(&gpu.device, &gpu.queue, draw)?;
    let mut workspace =
        Workspace::new(&gpu.device, pipeline, WorkspaceDescriptor::for_measurement(pipeline, &measurement)?)?;
    let painter = super::painter::Painter::new(gpu, size, pipeline, None)?;
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let tessellation = pipeline.encode(&gpu.queue, &mut encoder, &mut workspace, draw)?;
    painter.draw(&mut encoder, &tessellation);
    painter.copy(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    painter.read(gpu)
}

/// A scene as the driver draws it.
struct NativeScene<'a> {
    /// Vertex, control and evaluation shader.
    sources: [&'static str; 3],
    partitioning: Partitioning,
    control_points: u32,
    /// Factors, as the control shader reads them.
    table: &'a [f32],
    control: &'a [[f32; 3]],
    camera: &'a Camera,
}

impl NativeScene<'_> {
    fn draw(&self, device: &Device, shaders: &Shaders, size: Size) -> anyhow::Result<Vec<u8>> {
        let [vertex, control, evaluation] = self.sources;
        let stages = Stages {
            vertex: shaders.get(&Shader::plain(vertex))?,
            control: shaders.get(&Shader::plain(control))?,
            evaluation: shaders.get(&Shader::surface(evaluation, self.partitioning))?,
            fragment: Some(shaders.get(&Shader::plain("shade.frag"))?),
        };
        let target = Target::picture(device, size.width, size.height)?;
        let descriptor = PipelineDescriptor {
            stages: &stages,
            control_points: self.control_points,
            attributes: 1,
            buffers: 1,
            raster: Raster::Draw,
            target: &target,
        };
        let pipeline = Pipeline::new(device, &descriptor)?;
        let control = Buffer::with(device, bytemuck::cast_slice(self.control))?;
        let table = Buffer::with(device, bytemuck::cast_slice(self.table))?;
        let copied = Buffer::new(device, target.picture_bytes())?;
        let bindings = pipeline.bindings(&[&table])?;
        let matrix: [f32; 16] = Mat4::to_cols_array(&self.camera.clip_from_world);
        let commands = device.record(|recorder| {
            recorder.begin(&target);
            recorder.set(&pipeline, &bindings, &matrix, Some(&control));
            // A draw a patch: lavapipe slows down beyond 65,535 vertices a draw.
            for first in (0..self.control.len() as u32).step_by(self.control_points as usize) {
                recorder.draw(first, self.control_points);
            }
            recorder.end();
            recorder.copy_picture(&target, &copied);
            Ok(())
        })?;
        commands.submit()?;
        target.read(&copied)
    }
}
