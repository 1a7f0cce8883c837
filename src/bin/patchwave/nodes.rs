//! `patchwave nodes`: how fast nodes push to one another and tessellate together, on this machine.

use std::time::Instant;

use comfy_table::Table;
use patchwave::adapter::nodes::{
    NodeDescriptor, NodeDraw, NodeSet, NodeSetDescriptor, NodeTessellation, Split, Staging,
};
use patchwave::adapter::{collect, distinct_gpus};
use patchwave::{Mesh, Workspace, WorkspaceDescriptor};
use serde::Serialize;

use crate::adapter::{self, AdapterChoice, Candidate};
use crate::scene::gpu::Gpu;
use crate::scene::grid::{Grid, Load};
use crate::{Outcome, output};

/// Measure pushes between nodes and tessellation over nodes
///
/// Each GPU that serves is a node; with --simulated-nodes, so many devices of one adapter are. A push is measured beside
/// plain read-back (one copy to a mapped buffer of node 0, then its bytes into memory of the CPU) and plain upload (bytes
/// of the CPU into a mapped buffer, one copy on node 1) of the same bytes in the same run, staging buffers made beforehand
/// in all three. Streamed tessellation draws the same grid over and over into one workspace a node, all of it on node 0
/// and then shared out. Then one draw is tessellated over the nodes and gathered on node 0, and compared with what one
/// node makes. Times are wall clock, medians.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave nodes
  patchwave nodes --simulated-nodes 2 --mib 64 --patches 256 --points 1000000
  patchwave nodes --copy-threads 4 --json")]
pub(crate) struct Args {
    /// Make this many nodes of one adapter
    #[arg(long, value_name = "N")]
    simulated_nodes: Option<usize>,
    /// MiB that are pushed
    #[arg(long, value_name = "N", default_value_t = 1024)]
    mib: u64,
    /// Patches of a draw
    #[arg(long, value_name = "N", default_value_t = 16_384)]
    patches: u32,
    /// Uniform factor of the patches, 1 to 64
    #[arg(long, value_name = "F", default_value_t = 16.0)]
    factor: f32,
    /// Points of the streamed tessellation, rounded up to whole draws
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    points: u64,
    /// KiB of a chunk of a push
    #[arg(long, value_name = "N", default_value_t = Staging::default().chunk_bytes >> 10)]
    chunk_kib: u64,
    /// Chunks under way on each side of a push
    #[arg(long, value_name = "N", default_value_t = Staging::default().ring)]
    ring: usize,
    /// Threads that copy a chunk from one node's staging buffer to the other's
    #[arg(long, value_name = "N", default_value_t = Staging::default().copy_threads)]
    copy_threads: usize,
    /// Timed repetitions, after warming up
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeat: u32,
    #[command(flatten)]
    adapter: AdapterChoice,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    nodes: Vec<String>,
    provenance: &'static str,
    sharing_tier: &'static str,
    push: PushReport,
    streamed: StreamedReport,
    gathered: GatheredReport,
}

/// Gigabytes a second of the same bytes.
#[derive(Serialize)]
struct PushReport {
    bytes: u64,
    read_back: f64,
    upload: f64,
    push: f64,
    /// Of the slower of plain read-back and plain upload.
    share_of_slower: f64,
    bits_equal: bool,
}

#[derive(Serialize)]
struct StreamedReport {
    points: u64,
    draws: u64,
    one_node_milliseconds: f64,
    all_nodes_milliseconds: f64,
    speedup: f64,
}

#[derive(Serialize)]
struct GatheredReport {
    points: u64,
    bytes: u64,
    /// Counting, making memory, and all passes.
    one_node_milliseconds: f64,
    all_nodes_milliseconds: f64,
    gathering_milliseconds: f64,
    /// Bytes of all shares, those of the gathering node too, by the time of gathering.
    gathering_gigabytes_per_second: f64,
    bits_equal: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    anyhow::ensure!(args.mib > 0 && args.repeat > 0, output::Usage("--mib and --repeat must be at least 1".to_owned()));
    let candidates = candidates(args)?;
    let gpus: Vec<Gpu> = candidates.iter().map(Gpu::open).collect::<anyhow::Result<_>>()?;
    let mut nodes = node_set(args, &candidates, &gpus, gpus.len())?;
    let push = push(args, &gpus, &mut nodes)?;
    let grids: Vec<Grid> = gpus
        .iter()
        .map(|gpu| Grid::new(gpu, args.patches, Load::Uniform(args.factor), None))
        .collect::<anyhow::Result<_>>()?;
    let report = Report {
        nodes: candidates.iter().map(|candidate| candidate.info.name.clone()).collect(),
        provenance: nodes.provenance().words(),
        sharing_tier: nodes.sharing_tier().name(),
        push,
        streamed: streamed(args, &gpus, &grids)?,
        gathered: {
            let mut one = node_set(args, &candidates, &gpus, 1)?;
            gathered(args, &gpus, &grids, &mut nodes, &mut one)?
        },
    };
    for gpu in &gpus {
        gpu.check()?;
    }
    output::say(&if args.json { serde_json::to_string(&report)? + "\n" } else { table(&report) })?;
    let equal = report.push.bits_equal && report.gathered.bits_equal;
    Ok(if equal { Outcome::Passed } else { Outcome::Failed })
}

/// The adapters that become nodes, one for each.
fn candidates(args: &Args) -> anyhow::Result<Vec<Candidate>> {
    if let Some(count) = args.simulated_nodes {
        anyhow::ensure!((2..=32).contains(&count), output::Usage("--simulated-nodes takes 2 to 32".to_owned()));
        let chosen = args.adapter.choose()?;
        return Ok((0..count).map(|_| chosen.again()).collect());
    }
    let all = adapter::all().into_iter().filter(|candidate| candidate.serves() && args.adapter.answered_by(candidate));
    let all: Vec<_> = all.collect();
    let identities: Vec<_> = all.iter().map(|candidate| collect(&candidate.adapter).identity).collect();
    let first = distinct_gpus(&identities);
    // Of a GPU's adapters, one whose id tells it from others; OpenGL's has none.
    let chosen = |gpu: usize| {
        let mut own = (0..first.len()).filter(|place| first[*place] == gpu);
        own.find(|place| !identities[*place].key().is_weak()).unwrap_or(gpu)
    };
    let gpus: Vec<_> = all
        .into_iter()
        .enumerate()
        .filter(|(place, _)| chosen(first[*place]) == *place)
        .map(|(_, candidate)| candidate)
        .collect();
    anyhow::ensure!(
        gpus.len() > 1,
        "{} GPU serves, and nodes are several; --simulated-nodes 2 makes two of one, to try the way that data goes",
        gpus.len()
    );
    Ok(gpus)
}

fn node_set(args: &Args, candidates: &[Candidate], gpus: &[Gpu], count: usize) -> anyhow::Result<NodeSet> {
    let nodes = candidates
        .iter()
        .zip(gpus)
        .take(count)
        .map(|(candidate, gpu)| NodeDescriptor {
            device: gpu.device.clone(),
            queue: gpu.queue.clone(),
            facts: collect(&candidate.adapter),
        })
        .collect();
    let staging = Staging { chunk_bytes: args.chunk_kib << 10, ring: args.ring, copy_threads: args.copy_threads };
    let descriptor =
        NodeSetDescriptor { simulated_nodes: args.simulated_nodes.is_some(), mixed_vendors: true, staging };
    Ok(NodeSet::new(nodes, &descriptor)?)
}

/// Median seconds of `repeat` runs after one that warms up.
fn seconds(repeat: u32, mut run: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    run()?;
    let mut times = Vec::new();
    for _ in 0..repeat {
        let begin = Instant::now();
        run()?;
        times.push(begin.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn push(args: &Args, gpus: &[Gpu], nodes: &mut NodeSet) -> anyhow::Result<PushReport> {
    let size = args.mib << 20;
    let made = |node: u32, label| {
        let descriptor = wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage: wgpu::BufferUsages::empty(),
            mapped_at_creation: false,
        };
        nodes.create_buffer(nodes.heap_masks(1 << node, nodes.all_nodes())?, &descriptor)
    };
    let (source, destination) = (made(0, "pushed")?, made(1, "arrived")?);
    let mut data = {
        let words: Vec<u32> = (0..(size / 4) as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        bytemuck::cast_slice::<u32, u8>(&words).to_vec()
    };
    let (from, to) = (&gpus[0], &gpus[1]);
    let mapped = |gpu: &Gpu, usage| {
        gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("plain"),
            size,
            usage,
            mapped_at_creation: false,
        })
    };

    let staging = mapped(to, wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC);
    let upload_to = |gpu: &Gpu, staging: &wgpu::Buffer, target: &wgpu::Buffer, data: &[u8]| -> anyhow::Result<()> {
        staging.slice(..).map_async(wgpu::MapMode::Write, |_| ());
        gpu.wait()?;
        staging.get_mapped_range_mut(..)?.copy_from_slice(data);
        staging.unmap();
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(staging, 0, target, 0, Some(size));
        gpu.queue.submit([encoder.finish()]);
        gpu.wait()
    };
    let upload = seconds(args.repeat, || upload_to(to, &staging, destination.buffer(), &data))?;
    drop(staging);
    let staging = mapped(from, wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC);
    upload_to(from, &staging, source.buffer(), &data)?;
    drop(staging);

    let expected = data.clone();
    let read_from = |gpu: &Gpu, staging: &wgpu::Buffer, source: &wgpu::Buffer, data: &mut [u8]| -> anyhow::Result<()> {
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(source, 0, staging, 0, Some(size));
        gpu.queue.submit([encoder.finish()]);
        staging.slice(..).map_async(wgpu::MapMode::Read, |_| ());
        gpu.wait()?;
        data.copy_from_slice(&staging.get_mapped_range(..)?);
        staging.unmap();
        Ok(())
    };
    let staging = mapped(from, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    let read_back = seconds(args.repeat, || read_from(from, &staging, source.buffer(), &mut data))?;
    drop(staging);

    // What the upload left there must not pass for a push.
    let mut encoder = to.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.clear_buffer(destination.buffer(), 0, None);
    to.queue.submit([encoder.finish()]);
    to.wait()?;
    let pushed = seconds(args.repeat, || {
        let mut list = nodes.create_command_list(1)?;
        list.copy_buffer_region(&destination, 0, &source, 0, size)?;
        nodes.execute(list.close()?)?;
        Ok(nodes.finish_blocking()?)
    })?;
    let staging = mapped(to, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    read_from(to, &staging, destination.buffer(), &mut data)?;
    let rate = |seconds: f64| size as f64 / seconds / 1e9;
    Ok(PushReport {
        bytes: size,
        read_back: rate(read_back),
        upload: rate(upload),
        push: rate(pushed),
        share_of_slower: rate(pushed) / rate(read_back).min(rate(upload)),
        bits_equal: data == expected,
    })
}

/// The same grid over and over, on node 0 alone and on all.
fn streamed(args: &Args, gpus: &[Gpu], grids: &[Grid]) -> anyhow::Result<StreamedReport> {
    let points = grids[0].expected_points();
    let draws = args.points.div_ceil(points.max(1)).max(1);
    let mut workspaces = gpus
        .iter()
        .zip(grids)
        .map(|(gpu, grid)| {
            let measurement = grid.with_draw(|draw| grid.pipeline.measure_blocking(&gpu.device, &gpu.queue, draw))?;
            let sizes = WorkspaceDescriptor::for_measurement(&grid.pipeline, &measurement)?;
            Ok(Workspace::new(&gpu.device, &grid.pipeline, sizes)?)
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut stream = |nodes: usize| -> anyhow::Result<()> {
        for draw in 0..draws {
            let node = (draw % nodes as u64) as usize;
            let (gpu, grid, workspace) = (&gpus[node], &grids[node], &mut workspaces[node]);
            workspace.reset();
            let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            grid.with_draw(|draw| grid.pipeline.encode(&gpu.queue, &mut encoder, workspace, draw))?;
            gpu.queue.submit([encoder.finish()]);
            // Frees what is through; the GPU has always the next draws before it.
            gpu.device.poll(wgpu::PollType::Poll)?;
        }
        gpus.iter().try_for_each(Gpu::wait)
    };
    let one = seconds(args.repeat, || stream(1))?;
    let all = seconds(args.repeat, || stream(gpus.len()))?;
    Ok(StreamedReport {
        points: draws * points,
        draws,
        one_node_milliseconds: one * 1e3,
        all_nodes_milliseconds: all * 1e3,
        speedup: one / all,
    })
}

fn gathered(
    args: &Args,
    gpus: &[Gpu],
    grids: &[Grid],
    nodes: &mut NodeSet,
    one: &mut NodeSet,
) -> anyhow::Result<GatheredReport> {
    let tessellate = |set: &mut NodeSet, made: &mut Option<NodeTessellation>| -> anyhow::Result<()> {
        // The last one's memory first.
        *made = None;
        let count = set.node_count() as usize;
        let parts: Vec<_> = grids.iter().take(count).map(Grid::parts).collect();
        let draws: Vec<_> = parts
            .iter()
            .zip(grids)
            .map(|(parts, grid)| NodeDraw { pipeline: &grid.pipeline, draw: parts.draw() })
            .collect();
        *made = Some(set.tessellate_blocking(&draws, Split::Even)?);
        Ok(())
    };
    let mut made = None;
    let alone = seconds(args.repeat, || tessellate(one, &mut made))?;
    drop(made.take());
    let together = seconds(args.repeat, || tessellate(nodes, &mut made))?;
    let made = made.ok_or_else(|| anyhow::anyhow!("nothing was tessellated"))?;
    let mut mesh = None;
    let gathering = seconds(args.repeat, || {
        mesh = None;
        mesh = Some(nodes.gather_blocking(&made, 0)?);
        Ok(())
    })?;
    let mesh = mesh.ok_or_else(|| anyhow::anyhow!("nothing was gathered"))?;
    let (vertex_bytes, index_bytes) =
        (u64::from(mesh.vertex_count) * u64::from(mesh.surface.stride), u64::from(mesh.index_count) * 4);

    let expected = {
        let (gpu, grid) = (&gpus[0], &grids[0]);
        let measurement = grid.with_draw(|draw| grid.pipeline.measure_blocking(&gpu.device, &gpu.queue, draw))?;
        let sizes = WorkspaceDescriptor::for_measurement(&grid.pipeline, &measurement)?;
        let mut workspace = Workspace::new(&gpu.device, &grid.pipeline, sizes)?;
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let result = grid.with_draw(|draw| grid.pipeline.encode(&gpu.queue, &mut encoder, &mut workspace, draw))?;
        gpu.queue.submit([encoder.finish()]);
        Mesh::read_blocking(&gpu.device, &gpu.queue, &result)?
    };
    let vertices = copy_of(&gpus[0], mesh.vertices.buffer(), vertex_bytes)?;
    let indices = copy_of(&gpus[0], mesh.indices.buffer(), index_bytes)?;
    let bits_equal = vertices == expected.vertices && indices == bytemuck::cast_slice::<u32, u8>(&expected.indices);
    let bytes = vertex_bytes + index_bytes;
    Ok(GatheredReport {
        points: made.vertices(),
        bytes,
        one_node_milliseconds: alone * 1e3,
        all_nodes_milliseconds: together * 1e3,
        gathering_milliseconds: gathering * 1e3,
        gathering_gigabytes_per_second: bytes as f64 / gathering / 1e9,
        bits_equal,
    })
}

fn copy_of(gpu: &Gpu, source: &wgpu::Buffer, size: u64) -> anyhow::Result<Vec<u8>> {
    let copy = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("compared"),
        size,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(source, 0, &copy, 0, Some(size));
    gpu.queue.submit([encoder.finish()]);
    gpu.read(&copy)
}

fn table(report: &Report) -> String {
    let equal = |equal: bool| if equal { "equal" } else { "DIFFERENT" }.to_owned();
    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(["what", "of", "result", "bits"]);
    let PushReport { bytes, read_back, upload, push, share_of_slower, bits_equal } = report.push;
    let of = format!("{} MiB", bytes >> 20);
    table.add_row(["plain read-back", &of, &format!("{read_back:.2} GB/s"), ""]);
    table.add_row(["plain upload", &of, &format!("{upload:.2} GB/s"), ""]);
    let result = format!("{push:.2} GB/s, {share_of_slower:.2} of the slower");
    table.add_row(["push, node 0 to node 1", &of, &result, &equal(bits_equal)]);
    let streamed = &report.streamed;
    let of = format!("{} points, {} draws", streamed.points, streamed.draws);
    table.add_row(["streamed on node 0", &of, &format!("{:.2} ms", streamed.one_node_milliseconds), ""]);
    let result = format!("{:.2} ms, {:.2} times as fast", streamed.all_nodes_milliseconds, streamed.speedup);
    table.add_row(["streamed on all nodes", &of, &result, ""]);
    let gathered = &report.gathered;
    let of = format!("{} points", gathered.points);
    table.add_row(["one draw on node 0", &of, &format!("{:.2} ms", gathered.one_node_milliseconds), ""]);
    table.add_row(["one draw on all nodes", &of, &format!("{:.2} ms", gathered.all_nodes_milliseconds), ""]);
    let result =
        format!("{:.2} ms, {:.2} GB/s", gathered.gathering_milliseconds, gathered.gathering_gigabytes_per_second);
    let of = format!("{} bytes", gathered.bytes);
    table.add_row(["gathering on node 0", &of, &result, &equal(gathered.bits_equal)]);
    format!(
        "{}; {}; sharing tier {}; wall clock\n{table}\n",
        report.nodes.join(", "),
        report.provenance,
        report.sharing_tier
    )
}
