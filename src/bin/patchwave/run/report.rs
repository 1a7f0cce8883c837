//! What is told of a scene that was run: counts, and vertices, indices and threadgroups on request.

use std::fmt::Write;

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};
use patchwave::hardware::{Statistics, ThreadgroupRecord};
use patchwave::shader::ScalarKind;
use serde_json::{Value, json};

use super::session::{Ran, RanDraw};
use crate::scene::mode::Mode;

/// What `--dump` adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dump {
    /// Each vertex's members, in patch order
    Vertices,
    /// The indices, in primitive order
    Indices,
    /// Each threadgroup's record
    Statistics,
}

/// What draws come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) patches: u64,
    pub(crate) culled: u64,
    pub(crate) vertices: u64,
    pub(crate) primitives: u64,
    pub(crate) threadgroups: u64,
    pub(crate) off_chip_threadgroups: u64,
    pub(crate) chunks: u64,
}

impl Counts {
    pub(crate) fn of(draws: &[RanDraw]) -> Self {
        let mut counts = Self::default();
        for RanDraw { tessellation, mesh, threadgroups } in draws {
            counts.patches += mesh.patches.len() as u64;
            counts.culled += mesh.patches.iter().filter(|patch| patch.vertices == 0).count() as u64;
            counts.vertices += mesh.vertex_count() as u64;
            counts.primitives += mesh.patches.iter().map(|patch| u64::from(patch.primitives)).sum::<u64>();
            counts.threadgroups += threadgroups.len() as u64;
            counts.off_chip_threadgroups += threadgroups.iter().filter(|group| group.off_chip).count() as u64;
            counts.chunks += tessellation.chunks().len() as u64;
        }
        counts
    }

    fn rows(&self) -> [(&'static str, u64); 7] {
        [
            ("patches", self.patches),
            ("culled", self.culled),
            ("vertices", self.vertices),
            ("primitives", self.primitives),
            ("threadgroups", self.threadgroups),
            ("off_chip_threadgroups", self.off_chip_threadgroups),
            ("chunks", self.chunks),
        ]
    }

    fn json(&self) -> Value {
        self.rows().into_iter().map(|(name, count)| (name.to_owned(), Value::from(count))).collect()
    }
}

/// What a report is about.
pub(crate) struct Report<'a> {
    pub(crate) scene: String,
    /// What the file says that it is for.
    pub(crate) about: Option<&'a str>,
    pub(crate) adapter: &'a str,
    pub(crate) mode: Mode,
    /// `None` where the scene ended in the error that it expects.
    pub(crate) ran: Option<&'a Ran>,
    /// The expected error, where there was one.
    pub(crate) error: Option<String>,
    /// `None` where the file expects nothing.
    pub(crate) mismatches: Option<&'a [String]>,
    pub(crate) dumps: &'a [Dump],
}

impl Report<'_> {
    fn draws(&self) -> &[RanDraw] {
        self.ran.map_or(&[], |ran| &ran.draws)
    }

    /// One JSON object.
    pub(crate) fn json(&self) -> anyhow::Result<String> {
        let draws: Vec<Value> = self.draws().iter().map(|draw| self.json_draw(draw)).collect();
        let mut report = json!({
            "scene": self.scene,
            "adapter": self.adapter,
            "mode": self.mode.name(),
            "counts": Counts::of(self.draws()).json(),
            "draws": draws,
        });
        if let Some(about) = self.about {
            report["about"] = json!(about);
        }
        if let Some(error) = &self.error {
            report["error"] = json!(error);
        }
        if let Some(mismatches) = self.mismatches {
            report["expect"] = json!({ "passed": mismatches.is_empty(), "mismatches": mismatches });
        }
        Ok(serde_json::to_string(&report)? + "\n")
    }

    fn json_draw(&self, draw: &RanDraw) -> Value {
        let mut object = json!({ "counts": Counts::of(std::slice::from_ref(draw)).json() });
        for dump in self.dumps {
            match dump {
                Dump::Vertices => {
                    let members: serde_json::Map<String, Value> = members(draw)
                        .into_iter()
                        .map(|(name, kind, values)| {
                            let vertex =
                                |bits: Vec<u32>| Value::from_iter(bits.into_iter().map(|bits| scalar(bits, kind)));
                            (name, Value::from_iter(values.into_iter().map(vertex)))
                        })
                        .collect();
                    object["vertices"] = Value::Object(members);
                }
                Dump::Indices => object["indices"] = json!(draw.mesh.indices),
                Dump::Statistics => {
                    let group = |group: &ThreadgroupRecord| {
                        json!({
                            "patches": group.patches,
                            "culled": group.culled,
                            "vertices": group.points,
                            "primitives": group.primitives,
                            "average_factor": average_factor(group, draw),
                            "off_chip": group.off_chip,
                        })
                    };
                    object["statistics"] =
                        statistics(draw).map(|(name, count)| (name.to_owned(), Value::from(count))).collect();
                    object["threadgroups"] = Value::from_iter(draw.threadgroups.iter().map(group));
                }
            }
        }
        object
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.add_row(["scene".to_owned(), self.scene.clone()]);
        table.add_row(["adapter".to_owned(), self.adapter.to_owned()]);
        table.add_row(["mode".to_owned(), self.mode.name().to_owned()]);
        let counts = if self.ran.is_some() { &Counts::of(self.draws()).rows()[..] } else { &[] };
        for (name, count) in counts {
            table.add_row([name.replace('_', " "), count.to_string()]);
        }
        if let Some(error) = &self.error {
            table.add_row(["error, as expected".to_owned(), error.clone()]);
        }
        if let Some(column) = table.column_mut(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let mut text = self.about.map_or_else(String::new, |about| format!("{about}\n"));
        text += &table.trim_fmt();
        text.push('\n');
        for (number, draw) in self.draws().iter().enumerate() {
            for dump in self.dumps {
                // Writing to a string does not fail.
                let _ = dump_text(&mut text, *dump, number, draw);
            }
        }
        if let Some(mismatches) = self.mismatches {
            for mismatch in mismatches {
                let _ = writeln!(text, "mismatch: {mismatch}");
            }
            text.push_str(if mismatches.is_empty() { "as expected\n" } else { "not as expected\n" });
        }
        text
    }
}

fn dump_text(text: &mut String, dump: Dump, number: usize, draw: &RanDraw) -> std::fmt::Result {
    match dump {
        Dump::Vertices => {
            let members = members(draw);
            for vertex in 0..draw.mesh.vertex_count() {
                write!(text, "draw {number} vertex {vertex}:")?;
                for (name, kind, values) in &members {
                    write!(text, " {name}")?;
                    for bits in values.get(vertex).into_iter().flatten() {
                        write!(text, " {}", plain(*bits, *kind))?;
                    }
                }
                writeln!(text)?;
            }
        }
        Dump::Indices => {
            let size = draw.mesh.topology.vertices_per_primitive() as usize;
            for (primitive, indices) in draw.mesh.indices.chunks(size).enumerate() {
                let indices = indices.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
                writeln!(text, "draw {number} primitive {primitive}: {indices}")?;
            }
        }
        Dump::Statistics => {
            for (name, count) in statistics(draw) {
                writeln!(text, "draw {number} {name} {count}")?;
            }
            for (i, group) in draw.threadgroups.iter().enumerate() {
                writeln!(
                    text,
                    "draw {number} threadgroup {i}: patches {} culled {} vertices {} primitives {} average factor {} {}",
                    group.patches,
                    group.culled,
                    group.points,
                    group.primitives,
                    average_factor(group, draw),
                    if group.off_chip { "off-chip" } else { "on-chip" }
                )?;
            }
        }
    }
    Ok(())
}

/// D3D12's counters, and those of the emulated machine.
fn statistics(draw: &RanDraw) -> impl Iterator<Item = (&'static str, u64)> {
    let statistics = Statistics::new(draw.tessellation.pipeline_shape(), &draw.threadgroups);
    [
        ("ia_vertices", statistics.ia_vertices),
        ("ia_primitives", statistics.ia_primitives),
        ("vs_invocations", statistics.vs_invocations),
        ("hs_invocations", statistics.hs_invocations),
        ("ds_invocations", statistics.ds_invocations),
        ("on_chip_waves", statistics.on_chip_waves),
        ("off_chip_waves", statistics.off_chip_waves),
        ("off_chip_bytes", statistics.off_chip_bytes),
        ("lds_bytes", statistics.lds_bytes),
    ]
    .into_iter()
}

fn average_factor(group: &ThreadgroupRecord, draw: &RanDraw) -> f64 {
    let shape = draw.tessellation.pipeline_shape();
    group.average_factor(shape.domain, &shape.readings)
}

/// Name, kind and values of each member of the output struct.
fn members(draw: &RanDraw) -> Vec<(String, ScalarKind, Vec<Vec<u32>>)> {
    let members = draw.mesh.surface.members.iter();
    let values = |name: &str| draw.mesh.member_bits(name).unwrap_or_default();
    members.map(|member| (member.name.clone(), member.kind, values(&member.name))).collect()
}

fn plain(bits: u32, kind: ScalarKind) -> String {
    match kind {
        ScalarKind::Float => f32::from_bits(bits).to_string(),
        ScalarKind::Sint => (bits as i32).to_string(),
        ScalarKind::Uint => bits.to_string(),
    }
}

/// A number; JSON has no others than finite ones, which are told as text.
fn scalar(bits: u32, kind: ScalarKind) -> Value {
    match kind {
        ScalarKind::Float if f32::from_bits(bits).is_finite() => {
            // By its shortest decimal, and not by that of the f64 of the same value.
            f32::from_bits(bits).to_string().parse::<f64>().map_or(Value::Null, Value::from)
        }
        ScalarKind::Float => Value::from(plain(bits, kind)),
        ScalarKind::Sint => Value::from(bits as i32),
        ScalarKind::Uint => Value::from(bits),
    }
}
