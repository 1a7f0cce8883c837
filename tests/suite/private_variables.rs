//! Private variables begin each call of a stage function with their initial values, whatever patches share a lane.

use patchwave::{Domain, Draw, TessellationPipelineDescriptor};

use super::rig::Rig;

/// Each stage counts its own calls in a private variable; every count has to be 1.
#[test]
fn each_call_begins_with_the_initial_values() {
    let shader = "
        var<private> calls: u32;
        var<private> history = array<vec2i, 3>(vec2i(1, 2), vec2i(3, 4), vec2i(5, 6));
        override start: f32 = 2.5;
        var<private> level: f32 = 1.0;
        struct P { calls: u32, history: i32, level: f32 }
        struct C { factors: QuadFactors, own: P }
        struct S { @location(0) calls: vec4u, @location(1) history: vec4i, @location(2) level: vec4f }
        fn step_on() -> P {
            calls += 1u;
            history[1].y += 10;
            level = level * 2.0;
            return P(calls, history[0].x + history[1].y + history[2].x, level);
        }
        fn vertex() -> P { return step_on(); }
        fn hull(point: u32, patch_id: u32) -> P {
            let own = step_on();
            let input = input_point(point);
            return P(own.calls + 16u * input.calls, own.history + 1000 * input.history, own.level + 16.0 * input.level);
        }
        fn patch_constants(patch_id: u32) -> C { return C(QuadFactors(vec4f(9.0), vec2f(9.0)), step_on()); }
        fn domain(location: vec2f, patch_id: u32) -> S {
            let own = step_on();
            let c = constants().own;
            let p = output_point(patch_id % 5u);
            return S(
                vec4u(own.calls, c.calls, p.calls, 0u), vec4i(own.history, c.history, p.history, 0),
                vec4f(own.level, c.level, p.level, 0.0));
        }";
    let rig = Rig::new();
    let mut descriptor = TessellationPipelineDescriptor::new(shader, Domain::Quad, 5);
    descriptor.output_control_points = 7;
    for patches in [1, 3, 100] {
        let mesh = rig.mesh_in_all_modes(&descriptor, &Draw::new(0..5 * patches));
        assert_eq!(mesh.vertex_count(), 100 * patches as usize);
        let calls = mesh.member_bits("calls").expect("calls");
        assert!(calls.iter().all(|calls| *calls == [1, 1, 17, 0]), "{patches} patches: {:?}", calls.last());
        let history = mesh.member_bits("history").expect("history");
        assert!(history.iter().all(|history| *history == [20, 20, 20_020, 0]), "{patches}: {:?}", history.last());
        let level = mesh.member("level").expect("level");
        assert!(level.iter().all(|level| *level == [2.0, 2.0, 34.0, 0.0]), "{patches}: {:?}", level.last());
    }
}

/// Names that the kernel has for variables of its own within its functions are the user's to take.
#[test]
fn any_name_is_free() {
    let names = [
        "lane",
        "index",
        "workgroups",
        "first_id",
        "group",
        "extent",
        "instance",
        "i",
        "j",
        "bits",
        "tessellated",
        "record",
        "decision",
        "points",
        "primitives",
        "block",
        "slot",
        "item",
        "first",
        "last",
        "base",
        "patches",
        "point",
        "low",
        "high",
        "middle",
    ];
    let rig = Rig::new();
    let declarations: String = names.iter().map(|name| format!("var<private> {name}: u32 = 3u;\n")).collect();
    let sum = names.join(" + ");
    let count: String = names.iter().map(|name| format!("{name} += 1u; ")).collect();
    let shader = format!(
        "{declarations}
         struct P {{ sum: u32 }} struct C {{ factors: QuadFactors }}
         struct S {{ @location(0) found: vec4u }}
         fn all_of_them() -> u32 {{ {count} return {sum}; }}
         fn vertex() -> P {{ return P(all_of_them()); }}
         fn hull(pw: u32, id: u32) -> P {{ return P(all_of_them()); }}
         fn patch_constants(id: u32) -> C {{ return C(QuadFactors(vec4f(f32(all_of_them()) / 100.0), vec2f(5.0))); }}
         fn domain(at: vec2f, id: u32) -> S {{ return S(vec4u(all_of_them(), output_point(0u).sum, id, 0u)); }}"
    );
    let pipeline = rig.pipeline(&TessellationPipelineDescriptor::new(&shader, Domain::Quad, 3));
    let mesh = rig.mesh(&pipeline, &Draw::new(0..3 * 50));
    let expected = 4 * names.len() as u32;
    let found = mesh.member_bits("found").expect("found");
    assert_eq!(mesh.patches.len(), 50);
    for (id, patch) in mesh.patches.iter().enumerate() {
        let first = patch.first_vertex as usize;
        for words in &found[first..first + patch.vertices as usize] {
            assert_eq!(*words, [expected, expected, id as u32, 0]);
        }
    }
}
