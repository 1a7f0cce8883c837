//! The mode never changes the result: vertices and primitives are the same bits on-chip, off-chip and dynamically, at every
//! number of patches per threadgroup and every wave threshold.

use patchwave::hardware::{PipelineStateFlags, TessellationParameters};
use patchwave::{
    Domain, Draw, Error, Mesh, OutputTopology, Partitioning, TessellationPipeline, TessellationPipelineDescriptor,
};

use super::model::{assert_mesh, mixed_factors, tessellate};
use super::rig::{FactorTable, Rig, factor_table_wgsl, location_type};

/// A domain function full of products and sums, each of which a compiler may or may not fuse.
fn shader(domain: Domain) -> String {
    let uv = if domain == Domain::Tri { "vec2f(location.x, location.y - location.z * 0.25)" } else { "location" };
    format!(
        "{}
         struct Point {{ position: vec3f, weight: f32 }}
         struct Surface {{ @location(0) location: {location}, @location(1) position: vec3f, @location(2) normal: vec4f }}
         fn vertex(id: VertexId) -> Point {{
             let x = f32(id.vertex_index) * 0.37;
             return Point(vec3f(x, x * x * 0.01 - 1.3, fract(x * 7.13)), 1.0 + 0.1 * x);
         }}
         fn hull(point: u32, patch_id: u32) -> Point {{
             let a = input_point(point);
             let b = input_point((point + 1u) % 3u);
             return Point(a.position * 0.7 + b.position * 0.3, a.weight * b.weight + 0.1);
         }}
         fn patch_constants(patch_id: u32) -> PatchConstants {{ return table_constants(patch_id); }}
         fn power(t: f32, k: f32) -> f32 {{ return ((t * k + 0.3) * t - k) * t + 0.77 * k; }}
         fn domain(location: {location}, patch_id: u32) -> Surface {{
             let uv = {uv};
             var position = vec3f();
             var normal = vec4f();
             for (var i = 0u; i < 4u; i++) {{
                 let p = output_point(i % 3u);
                 let w = power(uv.x, p.weight) * power(uv.y, 1.7 - p.weight) + 0.01 * f32(patch_id);
                 position += w * p.position + p.position * uv.x * uv.y;
                 normal += vec4f(p.position * w - position * uv.y, w * w + uv.x);
             }}
             return Surface(location, position, normal * inverseSqrt(dot(normal, normal) + 1.0));
         }}",
        factor_table_wgsl(domain),
        location = location_type(domain),
    )
}

/// A draw, and what it is drawn with.
struct Setup {
    rig: Rig,
    table: FactorTable,
    shader: String,
    domain: Domain,
    topology: OutputTopology,
    partitioning: Partitioning,
    patches: u32,
}

struct Modes {
    setup: Setup,
    expected: Mesh,
}

const ON_CHIP: PipelineStateFlags = PipelineStateFlags::None;
const OFF_CHIP: PipelineStateFlags = PipelineStateFlags::GsOffchipTsOffchip;

fn of(patches: u32, thresholds: Option<(f32, u32)>) -> TessellationParameters {
    TessellationParameters {
        patches_per_threadgroup: Some(patches),
        tessellation_factor_threshold: thresholds.map(|(threshold, _)| threshold),
        ds_wave_threshold: thresholds.map(|(_, waves)| waves),
    }
}

impl Modes {
    fn new(domain: Domain, topology: OutputTopology) -> Self {
        // 130 culled patches stand before, between and behind: a few are enough here.
        let factors: Vec<[f32; 6]> =
            mixed_factors(44, 77).into_iter().skip(126).take(26).chain([[9.0; 6]; 3]).collect();
        Self::of(domain, topology, Partitioning::Integer, &factors)
    }

    fn of(domain: Domain, topology: OutputTopology, partitioning: Partitioning, factors: &[[f32; 6]]) -> Self {
        let rig = Rig::new();
        let table = FactorTable::new(&rig, factors);
        let shader = shader(domain);
        let setup = Setup { rig, table, shader, domain, topology, partitioning, patches: factors.len() as u32 };
        let expected = setup.mesh(&setup.compile(None));
        assert_mesh(&expected, &tessellate(domain, partitioning, topology, factors));
        Self { setup, expected }
    }
}

impl Setup {
    fn compile(&self, patches: Option<u32>) -> TessellationPipeline {
        let mut descriptor = TessellationPipelineDescriptor::new(&self.shader, self.domain, 3);
        let groups = [Some(&self.table.layout)];
        descriptor.bind_group_layouts = &groups;
        descriptor.output_topology = self.topology;
        descriptor.partitioning = self.partitioning;
        descriptor.hull_off_chip = true;
        descriptor.domain_off_chip = true;
        descriptor.parameters.patches_per_threadgroup = patches;
        self.rig.pipeline(&descriptor)
    }

    fn mesh(&self, pipeline: &TessellationPipeline) -> Mesh {
        let groups = [Some(&self.table.group)];
        let mut draw = Draw::new(0..self.patches * 3);
        draw.bind_groups = &groups;
        self.rig.mesh(pipeline, &draw)
    }
}

impl Modes {
    #[track_caller]
    fn check(&self, pipeline: &TessellationPipeline, flags: PipelineStateFlags, parameters: TessellationParameters) {
        let pipeline = pipeline.with_parameters(flags, &parameters).expect("valid parameters");
        let mesh = self.setup.mesh(&pipeline);
        assert!(mesh == self.expected, "{} {flags:?} {parameters:?} changes the result", self.setup.domain);
    }

    /// Everything at every number of patches and every wave threshold of the compiled kernels, and some of it with kernels
    /// that are compiled for fewer patches.
    fn check_all(&self) {
        let pipeline = self.setup.compile(None);
        let most = pipeline.parameters().patches_per_threadgroup;
        assert!(most >= self.setup.patches, "one threadgroup takes all patches, at the most");
        for patches in 1..=most {
            let waves = patches % 16;
            self.check(&pipeline, ON_CHIP, of(patches, None));
            self.check(&pipeline, OFF_CHIP, of(patches, Some((0.0, 0))));
            self.check(&pipeline, OFF_CHIP, of(patches, Some((2.5, waves))));
        }
        for patches in [1, 5, most] {
            for waves in 0..16 {
                self.check(&pipeline, OFF_CHIP, of(patches, Some((0.0, waves))));
            }
        }
        for patches in [1, 2, 7, 16, 17, 33] {
            let compiled = self.setup.compile(Some(patches));
            self.check(&compiled, ON_CHIP, of(patches, None));
            self.check(&compiled, OFF_CHIP, of(patches, Some((0.0, patches % 5))));
            self.check(&compiled, OFF_CHIP, of(patches, Some((2.5, 1))));
        }
    }
}

#[test]
fn quads_are_the_same_in_every_mode() {
    Modes::new(Domain::Quad, OutputTopology::TriangleCw).check_all();
}

#[test]
fn triangles_are_the_same_in_every_mode() {
    Modes::new(Domain::Tri, OutputTopology::TriangleCcw).check_all();
}

#[test]
fn isolines_are_the_same_in_every_mode() {
    Modes::new(Domain::Isoline, OutputTopology::Line).check_all();
}

/// Neighbours that are cut alike share what follows from their factors (shaders/runs.wgsl): runs that are shorter than,
/// as long as and longer than the longest, with culled patches between, at the ends of threadgroups and of off-chip items.
#[test]
fn runs_of_patches_that_are_cut_alike() {
    let [many, more, culled] = [[31.0; 6], [47.3; 6], [-1.0; 6]];
    let uneven = [40.0, 9.0, 33.5, 21.0, 37.0, 30.0];
    let runs =
        [(many, 5), (more, 1), (many, 2), (culled, 3), (many, 4), (uneven, 9), (more, 3), ([2.0; 6], 6), (many, 8)];
    let factors: Vec<[f32; 6]> = runs.iter().flat_map(|(factors, count)| vec![*factors; *count]).collect();
    for (domain, topology, partitioning) in [
        (Domain::Quad, OutputTopology::TriangleCw, Partitioning::Integer),
        (Domain::Tri, OutputTopology::TriangleCcw, Partitioning::FractionalOdd),
        (Domain::Isoline, OutputTopology::Line, Partitioning::FractionalEven),
    ] {
        let modes = Modes::of(domain, topology, partitioning, &factors);
        let pipeline = modes.setup.compile(None);
        let most = pipeline.parameters().patches_per_threadgroup;
        for patches in [1, 3, 6, 16, most] {
            modes.check(&pipeline, ON_CHIP, of(patches, None));
            for waves in [0, 1, 3, 10, 15] {
                modes.check(&pipeline, OFF_CHIP, of(patches, Some((0.0, waves))));
            }
            modes.check(&pipeline, OFF_CHIP, of(patches, Some((32.0, 2))));
        }
    }
}

#[test]
fn other_parameters_without_compiling() {
    let modes = Modes::new(Domain::Tri, OutputTopology::TriangleCw);
    let Setup { rig, patches, table, .. } = &modes.setup;
    let compiled = modes.setup.compile(Some(8));
    let refused = compiled.with_parameters(ON_CHIP, &of(9, None)).map(|_| ());
    assert!(matches!(refused, Err(Error::Parameters(_))), "more patches than the kernels' arrays hold");
    let off_chip = compiled.with_parameters(OFF_CHIP, &of(8, Some((1.0, 2)))).expect("valid");
    assert_eq!(off_chip.kernels(), compiled.kernels());
    // A workspace of the on-chip pipeline has no room off-chip; it is not used all the same.
    let groups = [Some(&table.group)];
    let mut draw = Draw::new(0..patches * 3);
    draw.bind_groups = &groups;
    let mut workspace = rig.measured_workspace(&compiled, &draw);
    let mut encoder = rig.encoder();
    let refused = off_chip.encode(&rig.queue, &mut encoder, &mut workspace, &draw).map(|_| ());
    assert!(matches!(refused, Err(Error::WorkspaceMismatch { .. })), "{refused:?}");
    // The other way round it serves both.
    let mut workspace = rig.measured_workspace(&off_chip, &draw);
    for pipeline in [&compiled, &off_chip] {
        workspace.reset();
        let tessellation = rig.run(pipeline, &mut workspace, &draw);
        assert!(rig.read(&tessellation) == modes.expected);
    }
}
