//! All kinds of composed kernels through Tint, in one run of it: what naga lets pass, above all barriers in control flow
//! that is not uniform, another implementation of WebGPU would refuse.

use patchwave::{Domain, Indices, OutputTopology, Partitioning, TessellationPipelineDescriptor};

use super::rig::Rig;
use super::tint::assert_accepts;

/// A shader with private variables, attributes, ids and an override.
fn shader(domain: Domain) -> String {
    let (factors, value, location) = match domain {
        Domain::Quad => ("QuadFactors", "vec4f(2.0), vec2f(2.0)", "vec2f"),
        Domain::Tri => ("TriFactors", "vec3f(2.0), 2.0", "vec3f"),
        Domain::Isoline => ("IsolineFactors", "2.0, 2.0", "vec2f"),
    };
    format!(
        "override scale: f32 = 1.0;
         var<private> calls: u32 = 3u;
         var<private> lane = vec2f(1.0, 2.0);
         struct Attributes {{ @location(0) position: vec3f, @location(1) colour: vec4u, @location(2) level: i32 }}
         struct Point {{ position: vec3f, level: f32 }}
         struct Constants {{ factors: {factors}, id: u32, corner: vec3f }}
         struct Surface {{ @builtin(position) position: vec4f, @location(0) colour: vec2f }}
         fn vertex(attributes: Attributes, id: VertexId) -> Point {{
             calls += id.vertex_index;
             return Point(attributes.position * scale, f32(attributes.level) + f32(calls) + f32(attributes.colour.w));
         }}
         fn hull(point: u32, patch_id: u32) -> Point {{
             if (input_point(point).level > 4.0) {{ return input_point(0u); }}
             lane.x += 1.0;
             return Point(input_point(point).position * lane.x, f32(patch_id));
         }}
         fn patch_constants(patch_id: u32) -> Constants {{
             return Constants({factors}({value}), patch_id, output_point(0u).position);
         }}
         fn domain(location: {location}, patch_id: u32) -> Surface {{
             let p = output_point(patch_id % 4u);
             return Surface(vec4f(p.position + constants().corner, p.level), location.xy);
         }}"
    )
}

#[test]
fn tint_takes_all_kinds_of_kernels() {
    // The device is only asked for pipelines; the limits are WebGPU's defaults, as Tint's are.
    let rig = Rig::with_limits(wgpu::Limits::default());
    // All conversions, by words and by bytes.
    let formats = [
        wgpu::vertex_attr_array![0 => Float32x3, 1 => Uint32x2, 2 => Sint32],
        wgpu::vertex_attr_array![0 => Snorm16x4, 1 => Uint8x4, 2 => Sint8],
        wgpu::vertex_attr_array![0 => Unorm10_10_10_2, 1 => Uint16, 2 => Sint16],
        wgpu::vertex_attr_array![0 => Float16x4, 1 => Uint32, 2 => Sint8x4],
        wgpu::vertex_attr_array![0 => Unorm8x4Bgra, 1 => Uint8x2, 2 => Sint16x2],
        wgpu::vertex_attr_array![0 => Snorm8x2, 1 => Uint16x4, 2 => Sint32x3],
    ];
    let layouts: Vec<_> = formats
        .iter()
        .zip([20, 13, 12, 15, 4, 22])
        .map(|(attributes, stride)| {
            let layout =
                |step_mode, attributes| wgpu::VertexBufferLayout { array_stride: stride, step_mode, attributes };
            [
                layout(wgpu::VertexStepMode::Vertex, &attributes[..2]),
                layout(wgpu::VertexStepMode::Instance, &attributes[2..]),
            ]
        })
        .collect();
    let mut kernels: Vec<(String, String)> = Vec::new();
    for domain in Domain::ALL {
        let shader = shader(domain);
        for topology in OutputTopology::ALL.into_iter().filter(|topology| topology.is_valid_for(domain)) {
            for (i, partitioning) in Partitioning::ALL.into_iter().enumerate() {
                // Hull functions that add, drop and keep points, no points, and none with a pass-through.
                let shapes = [(3, 10, true), (16, 4, true), (4, 4, false), (4, 0, true), (4, 0, false), (1, 32, true)];
                for (j, (input, output, hull)) in shapes.into_iter().enumerate() {
                    // Each shape with each domain, each partitioning with each topology; not all with all.
                    if j % Partitioning::ALL.len() != i {
                        continue;
                    }
                    let mut descriptor = TessellationPipelineDescriptor::new(&shader, domain, input);
                    descriptor.output_control_points = output;
                    descriptor.partitioning = partitioning;
                    descriptor.output_topology = topology;
                    descriptor.vertex_buffers = &layouts[j];
                    descriptor.strip_cut = j % 3 == 1;
                    descriptor.indices = [Indices::OwnBuffer, Indices::InVertexBuffer(1), Indices::Never][j / 2];
                    if !hull {
                        descriptor.names.hull = None;
                    }
                    let made = rig.pipeline(&descriptor);
                    let name =
                        |pass: &str| format!("{domain} {partitioning} {topology} {input}->{output} {hull}: {pass}");
                    let composed = made.kernels();
                    kernels.push((name("threadgroup"), composed.threadgroup.clone()));
                    kernels.push((name("allocate"), composed.allocate.clone()));
                    kernels.push((name("connectivity"), composed.connectivity.clone()));
                    kernels.push((name("finish"), composed.finish.clone()));
                    kernels.extend(composed.strip_cut.clone().map(|text| (name("strip cut"), text)));
                    kernels.push((name("indirect"), composed.indirect.clone()));
                    kernels.push((name("stream"), composed.stream.clone()));
                }
            }
        }
    }
    // Allocate depends on little: once each text.
    kernels.sort_by(|a, b| a.1.cmp(&b.1));
    kernels.dedup_by(|a, b| a.1 == b.1);
    assert!(kernels.len() > 60, "{} kernels", kernels.len());
    let sources: Vec<(&str, &str)> = kernels.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_accepts(&sources);
}

/// Attributes of doubles are put together from words, so their kernels need nothing that Tint lacks; but they are only made
/// on a device that has such attributes.
#[test]
fn tint_takes_attributes_of_doubles() {
    let doubles = wgpu::Features::VERTEX_ATTRIBUTE_64BIT | wgpu::Features::SHADER_F64;
    let rig = Rig::with_features(doubles);
    if !rig.device.features().intersects(doubles) {
        println!("not run: the adapter has neither VERTEX_ATTRIBUTE_64BIT nor SHADER_F64");
        return;
    }
    let shader = "
        struct Attributes { @location(0) a: f32, @location(1) b: vec2f, @location(2) c: vec3f, @location(3) d: vec4f }
        struct Point { a: f32, b: vec2f, c: vec3f, d: vec4f } struct Constants { factors: QuadFactors }
        struct Surface { @location(0) sum: vec4f }
        fn vertex(attributes: Attributes) -> Point {
            return Point(attributes.a, attributes.b, attributes.c, attributes.d);
        }
        fn patch_constants(patch_id: u32) -> Constants { return Constants(QuadFactors(vec4f(2.0), vec2f(2.0))); }
        fn domain(location: vec2f, patch_id: u32) -> Surface {
            let p = output_point(0u);
            return Surface(p.d + vec4f(p.c, p.a) + vec4f(p.b, location));
        }";
    let attributes = wgpu::vertex_attr_array![0 => Float64, 1 => Float64x2, 2 => Float64x3, 3 => Float64x4];
    let kernels: Vec<(String, String)> = [80, 83]
        .into_iter()
        .map(|stride| {
            // By words, and by bytes.
            let layouts = [wgpu::VertexBufferLayout {
                array_stride: stride,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &attributes,
            }];
            let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Quad, 4);
            descriptor.names.hull = None;
            descriptor.vertex_buffers = &layouts;
            // Tint's limits are WebGPU's defaults; the device may have more workgroup memory.
            descriptor.parameters.patches_per_threadgroup = Some(2);
            let text = rig.pipeline(&descriptor).kernels().threadgroup.clone();
            assert!(!text.contains("f64"), "doubles are read as words");
            (format!("doubles every {stride} bytes"), text)
        })
        .collect();
    let sources: Vec<(&str, &str)> = kernels.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_accepts(&sources);
}
