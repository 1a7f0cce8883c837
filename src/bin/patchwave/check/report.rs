//! What is told of a checked shader.

use std::fmt::Write;

use comfy_table::{Table, presets};
use patchwave::shader::{BindingKind, PointLayout, ScalarKind, SurfaceMember, SurfaceSlot, TextureSample};
use serde_json::{Value, json};

use super::Problem;
use crate::shader_file::Composed;

/// What came of a file.
pub(crate) enum Found {
    Unreadable { name: String, message: String },
    Wrong { name: String, problem: Problem },
    Right { name: String, composed: Box<Composed> },
}

/// For people.
pub(crate) fn text(found: &Found, pass_through: bool) -> String {
    match found {
        Found::Unreadable { name, message } => format!("{name}: {message}\n"),
        Found::Wrong { name, problem } => problem_text(name, problem),
        Found::Right { name, composed } => {
            let mut text = format!("{name}: keeps the contract\n{}\n", table(composed));
            for guess in &composed.guesses {
                // Writing to a string does not fail, here and below.
                let _ = writeln!(text, "guessed: {guess}");
            }
            for remark in remarks(composed) {
                let _ = writeln!(text, "note: {remark}");
            }
            if pass_through && let Ok(shader) = composed.composition.pass_through_shader() {
                let _ = write!(
                    text,
                    "\n// The vertex shader of your render pipeline, before your fragment shader.\n{shader}"
                );
            }
            text
        }
    }
}

fn problem_text(name: &str, problem: &Problem) -> String {
    let mut text = problem.located(name) + "\n";
    if let (Some(line), Some(at)) = (problem.line, &problem.text) {
        let number = line.to_string();
        let _ = writeln!(text, "  {number} | {}", at.trim_end());
        if let Some(column) = problem.column {
            // Tabs stay tabs, so that the mark stands under what it marks.
            let before = at.chars().take(column.saturating_sub(1) as usize);
            let blanks: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            let _ = writeln!(text, "  {} | {blanks}^", " ".repeat(number.len()));
        }
    }
    if let Some(advice) = &problem.advice {
        let _ = writeln!(text, "  advice: {advice}");
    }
    text
}

/// One object a shader.
pub(crate) fn json(found: &Found, pass_through: bool) -> Value {
    match found {
        Found::Unreadable { name, message } => {
            json!({ "file": name, "passed": false, "error": { "message": message } })
        }
        Found::Wrong { name, problem } => json!({
            "file": name,
            "passed": false,
            "error": {
                "message": problem.message,
                "line": problem.line,
                "column": problem.column,
                "function": problem.function,
                "text": problem.text,
                "advice": problem.advice,
            },
        }),
        Found::Right { name, composed } => {
            let mut object = right_json(name, composed);
            if pass_through {
                object["pass_through"] = json!(composed.composition.pass_through_shader().ok());
            }
            object
        }
    }
}

fn right_json(name: &str, composed: &Composed) -> Value {
    let Composed { composition, limits, .. } = composed;
    let reflection = composition.reflection();
    let point = |layout: &PointLayout| {
        json!({
            "type": layout.type_name, "size": layout.size, "stride": layout.stride, "alignment": layout.alignment,
            "scalars": layout.scalars,
        })
    };
    let member = |member: &SurfaceMember| {
        json!({
            "name": member.name,
            "location": match member.slot { SurfaceSlot::Location(location) => Some(location), SurfaceSlot::Position => None },
            "type": type_name(member.kind, member.components),
            "offset": member.offset,
        })
    };
    let attributes = reflection.attributes.iter().flat_map(|attributes| &attributes.members);
    let attributes = attributes
        .map(|one| json!({ "name": one.name, "location": one.location, "type": type_name(one.kind, one.components) }));
    let bindings = reflection.bindings.iter().map(|one| {
        json!({
            "name": one.name, "group": one.group, "binding": one.binding, "kind": kind(&one.kind), "used": one.used,
            "line": one.line,
        })
    });
    let overrides = reflection.overrides.iter().map(|one| {
        json!({ "key": one.key, "name": one.name, "type": format!("{:?}", one.kind).to_lowercase(), "has_default": one.has_default })
    });
    let (plan, parameters, lds) = (composition.plan(), composition.parameters(), composition.lds_budget());
    json!({
        "file": name,
        "passed": true,
        "domain": composed.domain.name(),
        "partitioning": composed.partitioning.name(),
        "topology": composed.topology.name(),
        "input_control_points": composed.points[0],
        "output_control_points": composed.points[1],
        "functions": {
            "vertex": { "name": reflection.names.vertex, "line": reflection.lines.vertex },
            "hull": reflection.names.hull.as_ref().map(|name| json!({ "name": name, "line": reflection.lines.hull })),
            "patch_constants": { "name": reflection.names.patch_constants, "line": reflection.lines.patch_constants },
            "domain": { "name": reflection.names.domain, "line": reflection.lines.domain },
        },
        "attributes": Value::from_iter(attributes),
        "input_point": point(&reflection.input_point),
        "output_point": point(&reflection.output_point),
        "patch_constants": point(&reflection.constants),
        "surface": {
            "type": reflection.surface.type_name,
            "stride": reflection.surface.stride,
            "members": Value::from_iter(reflection.surface.members.iter().map(member)),
        },
        "bindings": Value::from_iter(bindings),
        "overrides": Value::from_iter(overrides),
        "private_variables": reflection.private_variables,
        "lds_bytes_per_patch": composition.footprint().profile_bytes(),
        "lds_bytes_per_threadgroup": lds.allocated,
        "threadgroups_per_compute_unit": lds.threadgroups_per_compute_unit,
        "workgroup_bytes": composition.footprint().workgroup_bytes(parameters.patches_per_threadgroup),
        "workgroup_bytes_limit": limits.max_compute_workgroup_storage_size,
        "patches_per_threadgroup": parameters.patches_per_threadgroup,
        "most_patches_per_threadgroup": plan.patches,
        "limited_by": plan.limited_by.words(),
        "storage_buffers": composition.storage_buffers(),
        "storage_buffers_limit": limits.max_storage_buffers_per_shader_stage,
        "guesses": Value::from_iter(composed.guesses.iter().map(ToString::to_string)),
        "notes": remarks(composed),
    })
}

/// What is right, and still worth knowing.
fn remarks(composed: &Composed) -> Vec<String> {
    let reflection = composed.composition.reflection();
    let mut remarks: Vec<String> = composed.composition.warnings().iter().map(ToString::to_string).collect();
    if let Some(error) = &composed.needs {
        remarks.push(format!("it needs a device with more than WebGPU's core features: {error}"));
    }
    if let Err(error) = composed.composition.pass_through_shader() {
        remarks.push(format!("there is no pass-through shader: {error}"));
    }
    for unused in reflection.bindings.iter().filter(|binding| !binding.used) {
        remarks.push(format!("no stage function reaches `{}` (line {})", unused.name, unused.line));
    }
    for one in reflection.overrides.iter().filter(|one| !one.has_default) {
        remarks.push(format!(
            "the override `{}` (line {}) has no default: the descriptor gives it a value",
            one.key, one.line
        ));
    }
    if !reflection.loops_end {
        remarks.push(
            "a loop is not a counted one that is sure to end; wgpu counts its turns, which costs time".to_owned(),
        );
    }
    remarks
}

fn table(composed: &Composed) -> String {
    let Composed { composition, limits, .. } = composed;
    let reflection = composition.reflection();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut row = |name: &str, value: String| {
        table.add_row([name.to_owned(), value]);
    };
    row("domain", format!("{}, {}, {}", composed.domain, composed.partitioning, composed.topology));
    row("control points", format!("{} in, {} out", composed.points[0], composed.points[1]));
    let lines = &reflection.lines;
    row("vertex function", format!("{}, line {}", reflection.names.vertex, lines.vertex));
    let hull = reflection.names.hull.as_ref().zip(lines.hull);
    row(
        "hull function",
        hull.map_or_else(
            || "none: control points pass through".to_owned(),
            |(name, line)| format!("{name}, line {line}"),
        ),
    );
    row("patch constants function", format!("{}, line {}", reflection.names.patch_constants, lines.patch_constants));
    row("domain function", format!("{}, line {}", reflection.names.domain, lines.domain));
    for (i, one) in reflection.attributes.iter().flat_map(|attributes| &attributes.members).enumerate() {
        let of = reflection.attributes.as_ref().filter(|_| i == 0);
        let name = of.map_or_else(String::new, |attributes| format!("attributes {}", attributes.type_name));
        row(&name, format!("@location({}) {}: {}", one.location, one.name, type_name(one.kind, one.components)));
    }
    let mut layout = |name: &str, layout: &PointLayout| {
        row(name, format!("{}: {} bytes, {} apart", layout.type_name, layout.size, layout.stride));
    };
    layout("input point", &reflection.input_point);
    layout("output point", &reflection.output_point);
    layout("patch constants", &reflection.constants);
    row("output", format!("{}: {} bytes apart", reflection.surface.type_name, reflection.surface.stride));
    for member in &reflection.surface.members {
        let slot = match member.slot {
            SurfaceSlot::Position => "@builtin(position)".to_owned(),
            SurfaceSlot::Location(location) => format!("@location({location})"),
        };
        row(
            "",
            format!("{slot} {}: {} at byte {}", member.name, type_name(member.kind, member.components), member.offset),
        );
    }
    for binding in &reflection.bindings {
        let at = format!("@group({}) @binding({})", binding.group, binding.binding);
        row(&at, format!("{}: {}", binding.name, kind(&binding.kind)));
    }
    for one in &reflection.overrides {
        let default = if one.has_default { "has a default" } else { "needs a value" };
        row(&format!("override {}", one.key), format!("{:?}, {default}", one.kind).to_lowercase());
    }
    let (plan, parameters, lds) = (composition.plan(), composition.parameters(), composition.lds_budget());
    row("LDS a patch", format!("{} bytes", composition.footprint().profile_bytes()));
    let patches = parameters.patches_per_threadgroup;
    row(
        "patches a threadgroup",
        format!("{patches} of at most {}, bound by {}", plan.patches, plan.limited_by.words()),
    );
    let fit = lds.threadgroups_per_compute_unit;
    row("LDS a threadgroup", format!("{} bytes; {fit} threadgroups a compute unit", lds.allocated));
    let bytes = composition.footprint().workgroup_bytes(patches);
    row("workgroup memory", format!("{bytes} of {} bytes", limits.max_compute_workgroup_storage_size));
    row(
        "storage buffers",
        format!("{} of {}", composition.storage_buffers(), limits.max_storage_buffers_per_shader_stage),
    );
    table.trim_fmt()
}

fn type_name(kind: ScalarKind, components: u32) -> String {
    let (scalar, letter) = match kind {
        ScalarKind::Float => ("f32", 'f'),
        ScalarKind::Sint => ("i32", 'i'),
        ScalarKind::Uint => ("u32", 'u'),
    };
    if components < 2 { scalar.to_owned() } else { format!("vec{components}{letter}") }
}

fn kind(kind: &BindingKind) -> String {
    match kind {
        BindingKind::UniformBuffer { size } => format!("uniform buffer of at least {size} bytes"),
        BindingKind::StorageBuffer { size, read_only } => {
            let access = if *read_only { "read-only" } else { "writable" };
            format!("{access} storage buffer of at least {size} bytes")
        }
        BindingKind::Sampler { comparison: false } => "sampler".to_owned(),
        BindingKind::Sampler { comparison: true } => "comparison sampler".to_owned(),
        BindingKind::Texture { dimension, sample, multisampled } => {
            let sample = match sample {
                TextureSample::Kind(kind) => type_name(*kind, 1),
                TextureSample::Depth => "depth".to_owned(),
            };
            let samples = if *multisampled { "multisampled " } else { "" };
            format!("{samples}{} texture of {sample}", format!("{dimension:?}").to_lowercase())
        }
        BindingKind::StorageTexture { dimension, format, .. } => {
            format!("{} storage texture of {format}", format!("{dimension:?}").to_lowercase())
        }
        BindingKind::AccelerationStructure => "acceleration structure".to_owned(),
        BindingKind::ExternalTexture => "external texture".to_owned(),
        BindingKind::Array { count, element } => {
            let count = count.map_or_else(|| "as many as are bound".to_owned(), |count| count.to_string());
            format!("array ({count}) of {}", self::kind(element))
        }
        _ => "resource".to_owned(),
    }
}
