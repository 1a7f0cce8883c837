//! The policy chooses how patches are packed, and never what comes out.

use patchwave::hardware::{Policy, TessellationParameters};
use patchwave::{Domain, Draw, TessellationPipelineDescriptor, WorkspaceDescriptor};

use super::rig::Rig;

const SHADER: &str = "
    struct P { id: u32 }
    struct C { factors: QuadFactors }
    struct S { @location(0) at: vec2f, @location(1) ids: vec2u }
    fn vertex(id: VertexId) -> P { return P(id.vertex_index); }
    fn patch_constants(patch_id: u32) -> C { return C(QuadFactors(vec4f(f32(patch_id % 23u)), vec2f(3))); }
    fn domain(at: vec2f, patch_id: u32) -> S { return S(at, vec2u(patch_id, output_point(0).id)); }";

#[test]
fn adaptive_gives_the_driver_s_mesh_from_more_threadgroups() {
    let rig = Rig::new();
    let mut descriptor = TessellationPipelineDescriptor::new(SHADER, Domain::Quad, 1);
    descriptor.names.hull = None;
    for off_chip in [false, true] {
        let mut descriptor = descriptor.clone();
        if off_chip {
            descriptor = descriptor.off_chip(TessellationParameters::default());
        }
        let driver = rig.pipeline(&descriptor);
        descriptor.policy = Policy::Adaptive;
        let adaptive = rig.pipeline(&descriptor);
        for patches in [1, 40, 2500] {
            let draw = Draw::new(0..patches);
            let expected = rig.mesh(&driver, &draw);
            assert_eq!(rig.mesh(&adaptive, &draw), expected, "{patches} patches, measured");
            // Several draws into one workspace that was made without measuring.
            let vertices = expected.vertex_count() as u32 * 2;
            let sizes = WorkspaceDescriptor::new(&adaptive, patches * 2, vertices, vertices * 2);
            let mut workspace = rig.workspace(&adaptive, sizes);
            for _ in 0..2 {
                let result = rig.run(&adaptive, &mut workspace, &draw);
                assert_eq!(result.threadgroups(), patches.div_ceil(patches.div_ceil(1024)));
                assert_eq!(rig.read(&result), expected, "{patches} patches, appended");
            }
        }
    }
}
