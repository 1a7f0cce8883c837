//! Composition: the user's text, the prelude, and our passes become WGSL modules.
//!
//! The user's text comes first and untouched, so that its lines stay true and its directives stay first. What differs
//! from one pipeline to the next (names, counts, layouts) is generated here as constants, aliases and small functions;
//! everything else is read from `shaders/` as it stands.

use std::fmt::Write as _;

use super::fetch::{AttributeSource, Bindings};
use super::prelude::{PRELUDE, library_of};
use super::{Reflection, Surface, fetch};
use crate::tessellator::{Domain, OutputTopology, Partitioning, WGSL as TESSELLATOR, wgsl_constants};

/// The threadgroup's record alone, which `shaders/nodes/gather.wgsl` reads as well.
const RECORDS: &str = include_str!("../../shaders/records.wgsl");
const STATE: &str = concat!(include_str!("../../shaders/records.wgsl"), include_str!("../../shaders/state.wgsl"));
const SLOTS: &str = include_str!("../../shaders/slots.wgsl");
const PARAMS: &str = include_str!("../../shaders/params.wgsl");
const INDIRECT: &str = include_str!("../../shaders/indirect.wgsl");
const STREAM: &str = include_str!("../../shaders/stream.wgsl");
const RUNS: &str = include_str!("../../shaders/runs.wgsl");
const THREADGROUP: &str = include_str!("../../shaders/threadgroup.wgsl");
const ALLOCATE: &str = include_str!("../../shaders/allocate.wgsl");
const FINISH: &str = include_str!("../../shaders/finish.wgsl");
const STRIP_CUT: &str = include_str!("../../shaders/strip_cut.wgsl");
const CONNECTIVITY: &str = include_str!("../../shaders/connectivity.wgsl");
const GATHER: &str = include_str!("../../shaders/nodes/gather.wgsl");

/// The fixed-function state of a pipeline that becomes constants of its kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FixedFunction {
    pub(crate) domain: Domain,
    pub(crate) partitioning: Partitioning,
    pub(crate) topology: OutputTopology,
    /// Factors above it are taken as it, as HLSL's `maxtessfactor` has the compiler do.
    pub(crate) maximum_factor: f32,
}

/// Sizes of the threadgroup kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelShape {
    /// Input control points of a patch, 1 to 32.
    pub(crate) input_points: u32,
    /// Output control points of a patch, 0 to 32.
    pub(crate) output_points: u32,
    /// Patches that the workgroup arrays hold.
    pub(crate) max_patches: u32,
    /// Lanes of a workgroup.
    pub(crate) lanes: u32,
    /// Whether indexed draws have a patch table.
    pub(crate) strip_cut: bool,
}

/// Counts that both sides of the state buffer agree on; see `shaders/state.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateShape {
    pub(crate) chunks: u32,
    pub(crate) slots: u32,
}

/// Lanes of a workgroup of the connectivity pass.
const CONNECTIVITY_LANES: u32 = 128;

fn constants(fixed: &FixedFunction, state: StateShape) -> String {
    format!(
        "{}const PW_VERTICES_PER_PRIMITIVE: u32 = {}u;\n\
         const PW_CHUNKS: u32 = {}u;\n\
         const PW_SLOTS: u32 = {}u;\n",
        wgsl_constants(fixed.domain, fixed.partitioning, fixed.topology),
        fixed.topology.vertices_per_primitive(),
        state.chunks,
        state.slots,
    )
}

fn push_tessellator(text: &mut String) {
    for part in TESSELLATOR {
        text.push_str(part);
        text.push('\n');
    }
}

/// The kernel of the hull and domain passes, entry point `pw_threadgroup`.
pub(crate) fn threadgroup(
    reflection: &Reflection,
    fixed: &FixedFunction,
    shape: &KernelShape,
    state: StateShape,
    attributes: &[AttributeSource],
    bindings: &Bindings,
) -> String {
    let mut text = String::with_capacity(reflection.source.len() + 48 * 1024);
    text.push_str(&reflection.source);
    text.push('\n');
    text.push_str(PRELUDE);
    text.push_str(&library_of(&reflection.source).text(fixed.partitioning, fixed.maximum_factor));
    text.push_str(&constants(fixed, state));
    push_stages(&mut text, reflection, fixed, shape);
    push_store_vertex(&mut text, &reflection.surface);
    fetch::push(&mut text, reflection.attributes.as_ref(), attributes, bindings, shape.strip_cut);
    text.push_str(STATE);
    text.push_str(PARAMS);
    push_tessellator(&mut text);
    text.push_str(SLOTS);
    text.push_str(RUNS);
    push_threadgroup_body(&mut text, reflection);
    text
}

/// The template with the handling of private variables written in: their initial values are taken as the kernel starts
/// and given back before each call, so that results do not depend on how lanes are packed. By way of pointers, since the
/// kernel's local variables hide the user's private ones of the same names.
fn push_threadgroup_body(text: &mut String, reflection: &Reflection) {
    for line in THREADGROUP.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        match line.trim() {
            "//@ save private variables" => {
                for (i, name) in reflection.private_variables.iter().enumerate() {
                    let _ = writeln!(text, "{indent}let pw_private_{i} = &{name};");
                    let _ = writeln!(text, "{indent}let pw_initial_{i} = {name};");
                }
            }
            "//@ reset private variables" => {
                for i in 0..reflection.private_variables.len() {
                    let _ = writeln!(text, "{indent}*pw_private_{i} = pw_initial_{i};");
                }
            }
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

/// Aliases of the user's types, the accessor functions for workgroup memory, and one call of each stage function.
fn push_stages(text: &mut String, reflection: &Reflection, fixed: &FixedFunction, shape: &KernelShape) {
    let names = &reflection.names;
    let KernelShape { input_points, output_points, max_patches, lanes, .. } = *shape;
    let hull_points = if names.hull.is_some() { output_points } else { 0 };
    let stored_points = output_points.max(1);
    let input_type = &reflection.input_point.type_name;
    let output_type = &reflection.output_point.type_name;
    let constants_type = &reflection.constants.type_name;
    let surface_type = &reflection.surface.type_name;
    let _ = write!(
        text,
        "alias PwInputPoint = {input_type};\n\
         alias PwOutputPoint = {output_type};\n\
         alias PwConstants = {constants_type};\n\
         alias PwSurface = {surface_type};\n\
         const PW_LANES: u32 = {lanes}u;\n\
         const PW_MAX_PATCHES: u32 = {max_patches}u;\n\
         const PW_INPUT_POINTS: u32 = {input_points}u;\n\
         const PW_OUTPUT_POINTS: u32 = {output_points}u;\n\
         const PW_HULL_POINTS: u32 = {hull_points}u;\n\
         const PW_STORED_POINTS: u32 = {stored_points}u;\n\
         const PW_MAXIMUM_FACTOR: u32 = {maximum:#x}u;\n\
         var<workgroup> pw_input: array<array<PwInputPoint, PW_INPUT_POINTS>, PW_MAX_PATCHES>;\n\
         fn input_point(pw_i: u32) -> PwInputPoint {{\n    \
             return pw_input[pw_patch_slot][min(pw_i, PW_INPUT_POINTS - 1u)];\n}}\n",
        maximum = fixed.maximum_factor.to_bits(),
    );
    // Arrays within an array: the patch is checked once for all of its control points, and an index that the compiler
    // knows needs neither a check nor arithmetic.
    // A pass-through hull leaves the input control points where they lie; output points then are input points.
    let output_array = if hull_points > 0 {
        text.push_str("var<workgroup> pw_output: array<array<PwOutputPoint, PW_STORED_POINTS>, PW_MAX_PATCHES>;\n");
        Some("pw_output")
    } else if output_points > 0 {
        Some("pw_input")
    } else {
        None
    };
    match output_array {
        Some(array) => {
            let _ = write!(
                text,
                "fn output_point(pw_i: u32) -> PwOutputPoint {{\n    \
                     return {array}[pw_patch_slot][min(pw_i, PW_STORED_POINTS - 1u)];\n}}\n\
                 fn pw_store_output(i: u32, value: PwOutputPoint) {{\n    {array}[i / PW_STORED_POINTS][i % PW_STORED_POINTS] = value;\n}}\n\
                 fn pw_load_output(i: u32) -> PwOutputPoint {{\n    return {array}[i / PW_STORED_POINTS][i % PW_STORED_POINTS];\n}}\n"
            );
        }
        // No output control points: reading one gives zero, as reading past the end does in D3D.
        None => {
            let _ = write!(
                text,
                "fn output_point(pw_i: u32) -> PwOutputPoint {{\n    return PwOutputPoint();\n}}\n\
                 fn pw_store_output(i: u32, value: PwOutputPoint) {{}}\n\
                 fn pw_load_output(i: u32) -> PwOutputPoint {{\n    return PwOutputPoint();\n}}\n"
            );
        }
    }
    text.push_str("fn constants() -> PwConstants {\n    return pw_constants[pw_patch_slot];\n}\n");
    push_calls(text, reflection, fixed, hull_points);
}

fn push_calls(text: &mut String, reflection: &Reflection, fixed: &FixedFunction, hull_points: u32) {
    let names = &reflection.names;
    let mut arguments = Vec::new();
    if reflection.attributes.is_some() {
        arguments.push("pw_fetch_attributes(pw_source, pw_params.first_instance + pw_instance)");
    }
    if reflection.takes_vertex_id {
        // As WebGPU's builtins of the same names: the base vertex and the first instance are counted in.
        arguments.push("VertexId(pw_source, pw_params.first_instance + pw_instance)");
    }
    let _ = write!(
        text,
        "fn pw_call_vertex(pw_vertex: u32, pw_instance: u32) -> PwInputPoint {{\n    \
             let pw_source = pw_vertex_index(pw_vertex);\n    return {}({});\n}}\n",
        names.vertex,
        arguments.join(", ")
    );
    match &names.hull {
        Some(hull) if hull_points > 0 => {
            let _ = write!(
                text,
                "fn pw_call_hull(pw_point: u32, pw_id: u32) -> PwOutputPoint {{\n    return {hull}(pw_point, pw_id);\n}}\n"
            );
        }
        // Never called: its loop has no control points to run over.
        _ => text.push_str(
            "fn pw_call_hull(point: u32, patch_id: u32) -> PwOutputPoint {\n    return pw_load_output(point);\n}\n",
        ),
    }
    let location = match fixed.domain {
        Domain::Tri => "vec3f(vec3u(pw_uv, 65536u - pw_uv.x - pw_uv.y)) * (1.0 / 65536.0)",
        Domain::Quad | Domain::Isoline => "vec2f(pw_uv) * (1.0 / 65536.0)",
    };
    let factors = match fixed.domain {
        Domain::Isoline => "f.density, f.detail",
        Domain::Tri => "f.edges.x, f.edges.y, f.edges.z, f.inside",
        Domain::Quad => "f.edges.x, f.edges.y, f.edges.z, f.edges.w, f.inside.x, f.inside.y",
    };
    let factors: Vec<String> =
        factors.split(", ").map(|factor| format!("pw_limit_factor(bitcast<u32>({factor}))")).collect();
    let _ = write!(
        text,
        "fn pw_call_constants(pw_id: u32) -> PwConstants {{\n    return {}(pw_id);\n}}\n\
         fn pw_call_domain(pw_uv: vec2u, pw_id: u32) -> PwSurface {{\n    return {}({location}, pw_id);\n}}\n\
         // Positive numbers above the maximum become it; NaN and negative ones are left for the tessellator.\n\
         fn pw_limit_factor(bits: u32) -> u32 {{\n    \
             return select(bits, PW_MAXIMUM_FACTOR, bits > PW_MAXIMUM_FACTOR && bits <= 0x7f800000u);\n}}\n\
         fn pw_factor_bits(value: PwConstants) -> array<u32, PW_FACTORS> {{\n    \
             let f = value.{};\n    return array<u32, PW_FACTORS>({});\n}}\n",
        names.patch_constants,
        names.domain,
        reflection.factors_member,
        factors.join(", "),
    );
}

/// Writes `PwVertexUnit` and `pw_store_vertex`: a vertex as whole 16-byte units, or 8 or 4 where its stride asks for that,
/// padding as zeros. Sectors of memory that are written in part only cost an H200 more than twice the time, and few wide
/// stores are better than many narrow ones.
fn push_store_vertex(text: &mut String, surface: &Surface) {
    let mut words = vec!["0u".to_owned(); (surface.stride / 4) as usize];
    for member in &surface.members {
        for i in 0..member.components {
            let component = match (member.components, ["x", "y", "z", "w"].get(i as usize)) {
                (2.., Some(component)) => format!(".{component}"),
                _ => String::new(),
            };
            if let Some(word) = words.get_mut((member.offset / 4 + i) as usize) {
                *word = format!("bitcast<u32>(pw_surface.{}{component})", member.name);
            }
        }
    }
    let unit = match surface.stride {
        stride if stride.is_multiple_of(16) => 4,
        stride if stride.is_multiple_of(8) => 2,
        _ => 1,
    };
    let name = match unit {
        4 => "vec4u",
        2 => "vec2u",
        _ => "u32",
    };
    let units = words.len() / unit;
    let _ = write!(text, "alias PwVertexUnit = {name};\nfn pw_store_vertex(pw_i: u32, pw_surface: PwSurface) {{\n");
    for (i, words) in words.chunks(unit).enumerate() {
        let _ = writeln!(text, "    pw_vertices[pw_i * {units}u + {i}u] = {name}({});", words.join(", "));
    }
    text.push_str("}\n");
}

const ALLOCATE_VARIABLES: &str = "\
@group(3) @binding(1) var<storage, read_write> pw_state: PwState;
@group(3) @binding(2) var<storage, read_write> pw_arguments: array<PwArguments, PW_SLOTS>;
";

/// The module of the allocate pass, entry points `pw_allocate_blocks`, `pw_allocate_draw`, `pw_close_draw` and `pw_withdraw`.
pub(crate) fn allocate(fixed: &FixedFunction, vertex_stride: u32, state: StateShape) -> String {
    let mut text = constants(fixed, state);
    let _ = writeln!(text, "const PW_VERTEX_WORDS: u32 = {}u;", vertex_stride / 4);
    text.push_str(STATE);
    text.push_str(PARAMS);
    text.push_str(ALLOCATE_VARIABLES);
    text.push_str(SLOTS);
    text.push_str(ALLOCATE);
    text
}

/// The module that brings the output of a node into order, entry point `gather`.
pub(crate) fn gather() -> String {
    [RECORDS, GATHER].concat()
}

/// The module of the connectivity pass, entry point `pw_connectivity`.
pub(crate) fn connectivity(fixed: &FixedFunction, max_patches: u32, state: StateShape) -> String {
    let mut text = constants(fixed, state);
    text.push_str(STATE);
    text.push_str(PARAMS);
    text.push_str(
        "@group(3) @binding(1) var<storage, read_write> pw_state: PwState;\n\
         @group(3) @binding(2) var<storage, read_write> pw_indices: array<u32>;\n",
    );
    text.push_str(SLOTS);
    push_connectivity(&mut text, max_patches);
    text
}

/// The module of both in one, entry point `pw_finish`.
pub(crate) fn finish(fixed: &FixedFunction, max_patches: u32, vertex_stride: u32, state: StateShape) -> String {
    let mut text = allocate(fixed, vertex_stride, state);
    text.push_str("@group(3) @binding(3) var<storage, read_write> pw_indices: array<u32>;\n");
    push_connectivity(&mut text, max_patches);
    text.push_str(FINISH);
    text
}

fn push_connectivity(text: &mut String, max_patches: u32) {
    let _ = write!(
        text,
        "const PW_CONNECTIVITY_LANES: u32 = {CONNECTIVITY_LANES}u;\nconst PW_MAX_PATCHES: u32 = {max_patches}u;\n"
    );
    push_tessellator(text);
    text.push_str(RUNS);
    text.push_str(CONNECTIVITY);
}

/// The module of the passes that look for strip cuts, entry points `pw_cut_blocks`, `pw_cut_totals` and `pw_cut_patches`.
pub(crate) fn strip_cut(fixed: &FixedFunction, input_points: u32, state: StateShape, index_binding: u32) -> String {
    let mut text = constants(fixed, state);
    let _ = writeln!(text, "const PW_INPUT_POINTS: u32 = {input_points}u;");
    fetch::push_index(&mut text, &fetch::IndexVariable::declared(index_binding));
    text.push_str(STATE);
    text.push_str(PARAMS);
    text.push_str(STRIP_CUT);
    text
}

/// Bytes of a patch in the off-chip buffer: `PwOffChipPatch` as WGSL lays it out. A test compares it with naga's layout.
pub(crate) fn off_chip_stride(reflection: &Reflection, output_points: u32) -> u64 {
    let points = &reflection.output_point;
    let constants = &reflection.constants;
    let align = u64::from(points.alignment.max(constants.alignment));
    let end = u64::from(output_points.max(1)) * u64::from(points.stride);
    let constants_offset = end.next_multiple_of(u64::from(constants.alignment));
    (constants_offset + u64::from(constants.size)).next_multiple_of(align)
}

/// The module that turns the records of an indirect draw into parameters, entry point `pw_indirect`.
pub(crate) fn indirect(fixed: &FixedFunction, input_points: u32, params_stride: u64, state: StateShape) -> String {
    let mut text = constants(fixed, state);
    let _ = write!(
        text,
        "const PW_INPUT_POINTS: u32 = {input_points}u;\nconst PW_PARAMS_STRIDE: u32 = {params_stride}u;\n"
    );
    text.push_str(STATE);
    text.push_str(SLOTS);
    text.push_str(INDIRECT);
    text
}

/// The module of the stream output, entry point `pw_stream`.
pub(crate) fn stream(fixed: &FixedFunction, vertex_stride: u32, state: StateShape) -> String {
    let mut text = constants(fixed, state);
    let _ = writeln!(text, "const PW_VERTEX_WORDS: u32 = {}u;", vertex_stride / 4);
    text.push_str(STATE);
    text.push_str(PARAMS);
    text.push_str(STREAM);
    text
}
