//! The tessellator's WGSL on the GPU against its twin, alone in a kernel of its own: where a driver compiles it wrongly,
//! it shows here without the rest of the pipeline.

use patchwave::tessellator::{Domain, OutputTopology, Partitioning, TessellatedPatch, WGSL, wgsl_constants};
use wgpu::util::DeviceExt;

use super::golden::cases;

/// A workgroup a patch. What is beyond the room that the twin says there is is counted and not written.
const KERNEL: &str = r"
struct Job { bits: array<u32, 6>, point_base: u32, point_end: u32, primitive_base: u32, primitive_end: u32 }
struct Report { points: u32, primitives: u32, clamped: array<u32, 6> }
@group(0) @binding(0) var<storage> jobs: array<Job>;
@group(0) @binding(1) var<storage, read_write> reports: array<Report>;
@group(0) @binding(2) var<storage, read_write> points: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> primitives: array<u32>;
var<workgroup> contexts: array<vec2u, PW_CONTEXTS>;
var<workgroup> counts: vec2u;

fn pw_context(i: u32) -> PwContext { let context = contexts[i]; return PwContext(context.x, context.y); }
fn pw_shape(i: u32) -> u32 { return contexts[i].x; }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    if (lane == 0u) {
        var bits: array<u32, PW_FACTORS>;
        for (var i = 0u; i < PW_FACTORS; i++) {
            bits[i] = jobs[group.x].bits[i];
            reports[group.x].clamped[i] = pw_clamped_factor(i, bits[i]);
        }
        let whole = pw_patch(bits);
        for (var i = 0u; i < PW_CONTEXTS; i++) {
            contexts[i] = vec2u(whole.contexts[i].shape, whole.contexts[i].reciprocals);
        }
        counts = vec2u(whole.points, whole.primitives);
        reports[group.x].points = whole.points;
        reports[group.x].primitives = whole.primitives;
    }
    let count = workgroupUniformLoad(&counts);
    for (var k = lane; k < count.x; k += 64u) {
        let place = jobs[group.x].point_base + k;
        if (place < jobs[group.x].point_end) { points[place] = pw_point(k, count.x); }
    }
    for (var t = lane; t < count.y; t += 64u) {
        let place = jobs[group.x].primitive_base + t;
        if (place < jobs[group.x].primitive_end) {
            let primitive = pw_primitive(t, count.x);
            primitives[3u * place] = primitive.x;
            primitives[3u * place + 1u] = primitive.y;
            primitives[3u * place + 2u] = primitive.z;
        }
    }
}
";

fn device() -> (wgpu::Device, wgpu::Queue) {
    pollster::block_on(async {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = instance.request_adapter(&Default::default()).await.expect("an adapter, lavapipe at the least");
        adapter.request_device(&Default::default()).await.expect("a device with the default limits")
    })
}

/// What the kernel makes of the patches, all of one kind: reports, points, primitives, as words.
fn run((device, queue): &(wgpu::Device, wgpu::Queue), patches: &[TessellatedPatch]) -> [Vec<u32>; 3] {
    let kind = &patches[0];
    let constants = wgsl_constants(kind.domain(), kind.partitioning(), kind.topology());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl([&constants, &WGSL.concat(), KERNEL].concat().into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });

    let (mut jobs, mut points, mut primitives) = (Vec::new(), 0, 0);
    for patch in patches {
        let mut bits = [0; 6];
        bits[..patch.factor_bits().len()].copy_from_slice(patch.factor_bits());
        jobs.extend(bits);
        jobs.extend([points, points + patch.point_count(), primitives, primitives + patch.primitive_count()]);
        points += patch.point_count();
        primitives += patch.primitive_count();
    }
    let jobs = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(&jobs),
        usage: wgpu::BufferUsages::STORAGE,
    });
    let buffer = |words: usize, usage| {
        let size = 4 * words.max(4) as u64;
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let results = [8 * patches.len(), 2 * points as usize, 3 * primitives as usize].map(|words| {
        let result = buffer(words, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
        (words, result, buffer(words, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ))
    });
    let bound = [&jobs, &results[0].1, &results[1].1, &results[2].1];
    let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[0, 1, 2, 3]
            .map(|i| wgpu::BindGroupEntry { binding: i as u32, resource: bound[i].as_entire_binding() }),
    });

    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &bindings, &[]);
    pass.dispatch_workgroups(patches.len() as u32, 1, 1);
    drop(pass);
    for (_, result, copy) in &results {
        encoder.copy_buffer_to_buffer(result, 0, copy, 0, result.size());
        encoder.map_buffer_on_submit(copy, wgpu::MapMode::Read, .., |mapped| mapped.expect("the results are mapped"));
    }
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).expect("the GPU comes to an end");
    results.map(|(words, _, copy)| {
        bytemuck::cast_slice(&copy.get_mapped_range(..).expect("the results are mapped"))[..words].to_vec()
    })
}

/// Compares the kernel with the twin, for these factors in every partitioning and topology of the domain.
fn compare(gpu: &(wgpu::Device, wgpu::Queue), partitioning: Partitioning, domain: Domain, factors: &[Vec<u32>]) {
    for topology in OutputTopology::ALL.into_iter().filter(|topology| topology.is_valid_for(domain)) {
        let patches: Vec<TessellatedPatch> = factors
            .iter()
            .map(|bits| TessellatedPatch::new(domain, partitioning, topology, bits).expect("a valid patch"))
            .collect();
        let [reports, points, primitives] = run(gpu, &patches);
        let [mut points, mut primitives] = [points.chunks_exact(2), primitives.chunks_exact(3)];
        for (patch, report) in patches.iter().zip(reports.chunks_exact(8)) {
            let of = || format!("{domain} {partitioning} {topology} {:08x?}", patch.factor_bits());
            assert_eq!(report[..2], [patch.point_count(), patch.primitive_count()], "counts, {}", of());
            for i in 0..domain.factor_count() {
                assert_eq!(Some(report[2 + i]), patch.clamped_factor(i), "factor {i} clamped, {}", of());
            }
            for (k, (expected, found)) in patch.points().zip(&mut points).enumerate() {
                assert_eq!(found, expected, "point {k}, {}", of());
            }
            for t in 0..patch.primitive_count() {
                let found = primitives.next().expect("a primitive");
                assert_eq!(patch.primitive(t).as_ref().map(|primitive| &primitive[..]), Some(found), "{t}, {}", of());
            }
        }
    }
}

#[test]
fn wgsl_is_its_twin_on_all_golden_factors() {
    let gpu = device();
    let cases = cases();
    for domain in Domain::ALL {
        for partitioning in Partitioning::ALL {
            let factors: Vec<Vec<u32>> = cases
                .iter()
                .filter(|case| (case.domain, case.partitioning) == (domain, partitioning))
                .map(|case| case.factor_bits.clone())
                .collect();
            compare(&gpu, partitioning, domain, &factors);
        }
    }
}
