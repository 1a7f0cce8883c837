//! The layouts that the Rust side assumes against those that naga gives the WGSL, and the plan's sum of workgroup memory
//! against the kernel's.

use naga::proc::Layouter;
use naga::{AddressSpace, Module, TypeInner};

use super::layout::{
    ARGUMENT_BYTES, CHUNKS, CONNECTIVITY_ARGUMENTS, DOMAIN_ARGUMENTS, GROUP_WORDS, GroupRecord, HULL_ARGUMENTS, Params,
    SLOTS, STREAM_ARGUMENTS, STREAM_DRAW_ARGUMENTS, Slot, USED_BYTES, WORDS_OFFSET,
};
use crate::hardware::{PatchFootprint, Profile, ThreadgroupPlan};
use crate::shader::compose::{self, FixedFunction, KernelShape, StateShape};
use crate::shader::fetch::{Bindings, IndexPlace};
use crate::shader::{StageNames, reflect};
use crate::tessellator::{Domain, OutputTopology, Partitioning};

const STATE_SHAPE: StateShape = StateShape { chunks: CHUNKS, slots: SLOTS };
const LANES: u32 = 128;

/// A kernel as naga reads it.
struct Kernel {
    module: Module,
    layouter: Layouter,
}

impl Kernel {
    fn new(text: &str) -> Self {
        let module =
            naga::front::wgsl::parse_str(text).unwrap_or_else(|error| panic!("{}", error.emit_to_string(text)));
        let mut layouter = Layouter::default();
        layouter.update(module.to_ctx()).expect("all types have layouts");
        Self { module, layouter }
    }

    /// The members of a struct with their offsets, what is spare left out, and its size.
    fn members(&self, name: &str) -> (Vec<(String, u32)>, u32) {
        let found = self.module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name));
        let (_, ty) = found.unwrap_or_else(|| panic!("no struct {name}"));
        let TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no struct") };
        let members = members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset));
        let members = members.filter(|(name, _)| !name.starts_with("spare")).collect();
        (members, *span)
    }

    /// The value of a constant of 32 bits.
    fn constant(&self, name: &str) -> Option<u32> {
        let (_, constant) =
            self.module.constants.iter().find(|(_, constant)| constant.name.as_deref() == Some(name))?;
        match self.module.global_expressions[constant.init] {
            naga::Expression::Literal(naga::Literal::U32(value)) => Some(value),
            _ => None,
        }
    }

    /// Bytes of all workgroup variables, each taken up to a multiple of 16 bytes, as Tint counts them.
    fn workgroup_bytes(&self) -> u64 {
        let variables = self.module.global_variables.iter();
        variables
            .filter(|(_, variable)| variable.space == AddressSpace::WorkGroup)
            .map(|(_, variable)| u64::from(self.layouter[variable.ty].size).next_multiple_of(16))
            .sum()
    }
}

fn fixed(domain: Domain) -> FixedFunction {
    let topology = if domain == Domain::Isoline { OutputTopology::Line } else { OutputTopology::TriangleCw };
    FixedFunction { domain, partitioning: Partitioning::Integer, topology, maximum_factor: 64.0 }
}

/// Name and offset of each field of a `#[repr(C)]` struct.
macro_rules! fields {
    ($of:ty: $($name:ident)*) => {
        vec![$((stringify!($name).to_owned(), std::mem::offset_of!($of, $name) as u32)),*]
    };
}

#[test]
fn structs_lie_as_in_wgsl() {
    let kernel = Kernel::new(&compose::allocate(&fixed(Domain::Tri), 32, STATE_SHAPE));
    let params = fields!(Params:
        role mode slot chunk first_threadgroup threadgroups patches_per_threadgroup patches_per_instance
        threadgroups_per_instance first_patch patches two_levels threadgroup_records patch_records block_sums queue
        vertex_capacity primitive_capacity queue_capacity off_chip_capacity first_vertex base_vertex first_instance
        index_kind index_offset index_count ds_wave_threshold connectivity_items connectivity_capacity slots item_waves
        item_primitives on_chip_below
        vertex_buffers patch_table draw_indices readings first_patch_id indirect_offset indirect_stride most_patches most_threadgroups
        is_first primitive_counts);
    assert_eq!(kernel.members("PwParams"), (params, size_of::<Params>() as u32));
    let slot = fields!(Slot:
        vertices vertices_high queue off_chip overflow primitives primitives_high vertex_start primitive_start
        threadgroups connectivity patches patches_per_instance now next);
    assert_eq!(kernel.members("PwSlot"), (slot, size_of::<Slot>() as u32));

    let (arguments, size) = kernel.members("PwArguments");
    assert_eq!(u64::from(size), ARGUMENT_BYTES);
    let offset = |name: &str| arguments.iter().find(|(n, _)| n == name).map(|(_, offset)| u64::from(*offset));
    assert_eq!(offset("domain"), Some(DOMAIN_ARGUMENTS));
    assert_eq!(offset("connectivity"), Some(CONNECTIVITY_ARGUMENTS));
    assert_eq!(offset("hull"), Some(HULL_ARGUMENTS));
    assert_eq!(offset("stream"), Some(STREAM_ARGUMENTS));
    assert_eq!(offset("stream_vertices"), Some(STREAM_DRAW_ARGUMENTS));
    // As wgpu's indirect draws and WebGPU want them.
    let drawn = ["index_count", "instance_count", "first_index", "base_vertex", "first_instance"];
    assert_eq!(drawn.map(offset), [0, 4, 8, 12, 16].map(Some));

    let (state, _) = kernel.members("PwState");
    let expected = [("used", 0), ("slots", USED_BYTES as u32), ("words", WORDS_OFFSET as u32)];
    assert_eq!(state, expected.map(|(name, offset)| (name.to_owned(), offset)));
}

/// The kernel that gathers has the record by itself; the others have the same text before theirs.
#[test]
fn records_lie_as_in_wgsl() {
    let fields = fields!(GroupRecord:
        points primitives vertex_base sum_low sum_high off_chip culled_and_patches primitive_base);
    for text in [compose::gather(), compose::allocate(&fixed(Domain::Tri), 32, STATE_SHAPE)] {
        let kernel = Kernel::new(&text);
        assert_eq!(kernel.constant("PW_GROUP_WORDS"), Some(GROUP_WORDS));
        for (name, offset) in &fields {
            let name = if name == "culled_and_patches" { "culled" } else { name };
            assert_eq!(kernel.constant(&format!("PW_GROUP_{}", name.to_uppercase())), Some(offset / 4), "{name}");
        }
    }
}

/// Types of control points and constants from a lone float to what fills a patch.
const TYPES: [&str; 6] = [
    "struct P { x: f32 } struct C { factors: FACTORS }",
    "struct P { x: vec3f } struct C { factors: FACTORS, x: u32 }",
    "struct P { x: vec3f, y: f32, z: vec2u } struct C { x: vec3f, factors: FACTORS, y: array<vec3f, 5> }",
    "struct P { x: mat4x4f, y: vec2f } struct C { factors: FACTORS, y: array<u32, 31> }",
    "struct P { x: array<u32, 7> } struct C { y: u32, factors: FACTORS }",
    "struct P { x: array<vec4f, 10>, y: u32 } struct C { factors: FACTORS, y: mat3x3f }",
];

/// Calls `check` with the kernel and the plan of many shapes of pipelines, and what the off-chip buffer is laid out by.
fn for_each_shape(mut check: impl FnMut(&str, &Kernel, &ThreadgroupPlan, u64)) {
    let mut shapes = 0;
    for (domain, factors, location) in [
        (Domain::Isoline, "IsolineFactors", "vec2f"),
        (Domain::Tri, "TriFactors", "vec3f"),
        (Domain::Quad, "QuadFactors", "vec2f"),
    ] {
        for types in TYPES {
            let shader = format!(
                "{}\nstruct S {{ @location(0) x: f32 }}
                 fn vertex() -> P {{ return P(); }}
                 fn hull(point: u32, patch_id: u32) -> P {{ return input_point(point); }}
                 fn patch_constants(patch_id: u32) -> C {{ var c: C; c.factors = {factors}(); return c; }}
                 fn domain(at: {location}, patch_id: u32) -> S {{ return S(1.0); }}",
                types.replace("FACTORS", factors)
            );
            for (input, output, hull) in [(1, 1, true), (3, 10, true), (4, 0, true), (5, 5, false), (4, 0, false)] {
                let mut names = StageNames::default();
                if !hull {
                    names.hull = None;
                }
                let reflection = reflect(&shader, &names, domain).expect("a good shader");
                let footprint = PatchFootprint {
                    input_points: input,
                    input_stride: reflection.input_point.stride,
                    output_points: output,
                    output_stride: reflection.output_point.stride,
                    constants_stride: reflection.constants.stride,
                    pass_through: !hull,
                    factors: domain.factor_count() as u32,
                };
                for limit in [16 * 1024, 32 * 1024, 64 * 1024] {
                    let plan = ThreadgroupPlan::maximised(&Profile::default(), &footprint, limit).expect("it fits");
                    let shape = KernelShape {
                        input_points: input,
                        output_points: output,
                        max_patches: plan.patches,
                        lanes: LANES,
                        strip_cut: shapes % 2 == 1,
                    };
                    let bindings = Bindings::new(&[], &[], IndexPlace::Own);
                    let text = compose::threadgroup(&reflection, &fixed(domain), &shape, STATE_SHAPE, &[], &bindings);
                    let what = format!("{domain} {input}->{output} hull {hull} limit {limit}: {types}");
                    assert!(plan.wgsl_workgroup_bytes <= u64::from(limit), "{what}");
                    let stride = compose::off_chip_stride(&reflection, output);
                    check(&what, &Kernel::new(&text), &plan, stride);
                    shapes += 1;
                }
            }
        }
    }
    assert_eq!(shapes, 3 * TYPES.len() * 5 * 3);
}

/// The plan may be a little above what the kernel takes, for the alignment of its arrays, and never below: nothing else
/// keeps a kernel within the device's limit.
#[test]
fn the_plan_sums_up_the_workgroup_memory() {
    for_each_shape(|what, kernel, plan, _| {
        let (has, planned) = (kernel.workgroup_bytes(), plan.wgsl_workgroup_bytes);
        assert!(has <= planned && planned < has + 128, "{what}: {has} bytes, {planned} planned");
    });
}

#[test]
fn patches_lie_in_the_off_chip_buffer_as_the_workspace_has_room_for() {
    for_each_shape(|what, kernel, _, stride| {
        let found = kernel.module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some("PwOffChipPatch"));
        let (handle, _) = found.expect("the struct");
        assert_eq!(u64::from(kernel.layouter[handle].to_stride()), stride, "{what}");
    });
}
