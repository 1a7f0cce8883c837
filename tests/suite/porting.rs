//! The porting guide's example: its WGSL tessellates as its descriptor says, and glslang takes its GLSL and HLSL.

use std::process::Command;

use patchwave::tessellator::TessellatedPatch;
use patchwave::{Domain, Draw, OutputTopology, Partitioning, TessellationPipelineDescriptor};

use super::rig::Rig;

const GUIDE: &str = include_str!("../../docs/porting.md");

/// The guide's blocks of a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    GUIDE.split(begin.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_wgsl_tessellates() {
    let [shader] = blocks("wgsl")[..] else { panic!("one block of WGSL") };
    let rig = Rig::new();
    // A column-major identity, the eye, and how many segments an edge has that is as long as it is far away.
    let mut frame = vec![0f32; 20];
    (0..4).for_each(|i| frame[5 * i] = 1.0);
    frame[16..].copy_from_slice(&[0.0, 0.0, 3.0, 12.0]);
    let uniform = rig.buffer(bytemuck::cast_slice(&frame), wgpu::BufferUsages::UNIFORM);
    let layout = rig.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        }],
    });
    let group = rig.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }],
    });
    let corners: [[f32; 6]; 3] =
        [[1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]];
    let vertices = rig.storage(corners.as_flattened());
    let bind_group_layouts = [Some(&layout)];
    let mut descriptor = TessellationPipelineDescriptor {
        partitioning: Partitioning::FractionalOdd,
        output_topology: OutputTopology::TriangleCw,
        maximum_factor: 32.0,
        vertex_buffers: &[wgpu::VertexBufferLayout {
            array_stride: 24,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3],
        }],
        bind_group_layouts: &bind_group_layouts,
        ..TessellationPipelineDescriptor::new(shader, Domain::Tri, 3)
    };
    descriptor.names.hull = None;
    let draw = Draw { vertex_buffers: &[vertices.slice(..)], bind_groups: &[Some(&group)], ..Draw::new(0..3) };
    let mesh = rig.mesh(&rig.pipeline(&descriptor), &draw);

    // An edge of length √2, seen from its middle's distance.
    let edge = |middle: [f64; 3]| {
        12.0 * 2f64.sqrt() / (middle[0].powi(2) + middle[1].powi(2) + (middle[2] - 3.0).powi(2)).sqrt()
    };
    let edges = [edge([0.0, 0.5, 0.5]), edge([0.5, 0.0, 0.5]), edge([0.5, 0.5, 0.0])];
    let factors = &mesh.patches[0].factors;
    for (found, expected) in factors.iter().zip([edges[0], edges[1], edges[2], edges[0]]) {
        assert!((f64::from(*found) - expected).abs() < 1e-4, "{found} for {expected}");
    }
    let bits: Vec<u32> = factors.iter().take(4).map(|factor| factor.to_bits()).collect();
    let patch = TessellatedPatch::new(Domain::Tri, Partitioning::FractionalOdd, OutputTopology::TriangleCw, &bits)
        .expect("a patch");
    assert_eq!(mesh.vertex_count(), patch.point_count() as usize);
    // Bent outwards: nothing is nearer the origin than the flat triangle's middle, nor beyond the sphere.
    let positions = mesh.member("position").expect("a position");
    let mut corners_seen = 0;
    for position in &positions {
        let length = position[..3].iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((0.57..1.0001).contains(&length), "{position:?}");
        corners_seen += usize::from(length > 0.9999);
    }
    assert_eq!(corners_seen, 3);
}

/// `make test` installs glslang, as the comparison with the driver's tessellation needs it too.
#[test]
fn glslang_takes_the_others() {
    let [control, evaluation] = blocks("glsl")[..] else { panic!("two blocks of GLSL") };
    let [hlsl] = blocks("hlsl")[..] else { panic!("one block of HLSL") };
    let folder = super::cli::folder("porting");
    let check = |name: &str, text: &str, more: &[&str]| {
        let file = folder.join(name);
        std::fs::write(&file, text).expect("the test's folder can be written");
        let mut command = Command::new("glslangValidator");
        let output = command.args(["-V", "-o"]).arg(file.with_extension("spv")).args(more).arg(&file).output();
        let output = output.expect("glslang is needed: install glslang-tools, or run `make test`");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
    };
    check("phong.tesc", control, &[]);
    check("phong.tese", evaluation, &[]);
    for (stage, entry) in [("vert", "vertex"), ("tesc", "hull"), ("tese", "domain")] {
        check(&format!("{stage}.hlsl"), hlsl, &["-D", "-S", stage, "-e", entry]);
    }
}
