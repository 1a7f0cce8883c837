//! `patchwave verify --native`: patchwave against the driver's own tessellation.

use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

use super::pictures::{self, Compared};
use super::points::{self, Tally};
use super::shaders::Shaders;
use super::surfaces::{self, Verdict};
use super::vulkan::Device;
use crate::adapter::AdapterChoice;
use crate::progress::Progress;
use crate::scene::gpu::Gpu;
use crate::{Outcome, output};

/// What `verify` takes for it.
#[derive(clap::Args)]
#[group(id = "native_oracle")]
pub(crate) struct Args {
    /// Check against the driver's own tessellation (Vulkan) instead: domain points, primitives, surfaces, pictures
    #[arg(long, conflicts_with = "vectors")]
    pub(crate) native: bool,
    /// With --native: fewer factors, for a minute on a processor
    #[arg(long, requires = "native")]
    quick: bool,
    /// With --native: take the native shaders from a folder rather than compile them with glslang
    #[arg(long, value_name = "DIR", requires = "native")]
    spirv: Option<PathBuf>,
    /// With --native: write the native shaders into a folder, for --spirv elsewhere, and do nothing else
    #[arg(long, value_name = "DIR", requires = "native", conflicts_with = "spirv")]
    write_spirv: Option<PathBuf>,
    /// With --native: write both pictures of each scene and their difference into a folder, also where they agree
    #[arg(long, value_name = "DIR", requires = "native")]
    pictures: Option<PathBuf>,
}

/// The report in JSON.
#[derive(Serialize)]
struct Report<'a> {
    adapter: &'a str,
    driver: &'a str,
    quick: bool,
    disagreements: u64,
    tessellator: Tally,
    surfaces: Vec<Verdict>,
    pictures: Vec<Compared>,
}

pub(crate) fn run(args: &Args, adapter: &AdapterChoice, is_json: bool) -> anyhow::Result<Outcome> {
    let shaders = Shaders::find(args.spirv.as_deref())?;
    if let Some(folder) = &args.write_spirv {
        let files = shaders.write_all(folder)?;
        output::say(&format!("{files} native shaders written to {}\n", folder.display()))?;
        return Ok(Outcome::Passed);
    }
    let chosen = adapter.choose()?;
    let native = Device::open(&chosen.info)?;
    let gpu = Gpu::open(&chosen)?;
    let mut progress = Progress::new("comparing with native tessellation");
    let tessellator = points::compare(&native, &shaders, &gpu, args.quick, &mut progress)?;
    progress.say("comparing surfaces with the driver's");
    let surfaces = surfaces::compare(&native, &shaders, &gpu, args.quick)?;
    progress.say("comparing pictures with the driver's");
    let pictures = pictures::compare(&native, &shaders, &gpu, args.quick, args.pictures.as_deref())?;
    drop(progress);

    let disagreements = tessellator.disagreements()
        + surfaces.iter().filter(|verdict| !verdict.agrees()).count() as u64
        + pictures.iter().filter(|compared| !compared.agrees()).count() as u64;
    let driver = format!("{} {}", chosen.info.driver, chosen.info.driver_info);
    let report = Report {
        adapter: &native.name,
        driver: driver.trim(),
        quick: args.quick,
        disagreements,
        tessellator,
        surfaces,
        pictures,
    };
    output::say(&if is_json { serde_json::to_string(&report)? + "\n" } else { text(&report) })?;
    Ok(if disagreements == 0 { Outcome::Passed } else { Outcome::Failed })
}

fn text(report: &Report<'_>) -> String {
    let mut text = format!("native tessellation of {} ({})\n", report.adapter, report.driver);
    let tally = &report.tessellator;
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    line(format!(
        "{} configurations, {} of them culled: {} distinct points, {} invocations ({:.3} a point), {} primitives",
        tally.configurations,
        tally.culled,
        tally.points,
        tally.invocations,
        tally.invocations as f64 / tally.points.max(1) as f64,
        tally.primitives
    ));
    line(format!(
        "sets of points that differ: {} from the CPU's, {} from the GPU's",
        tally.points_differ_from_cpu, tally.points_differ_from_gpu
    ));
    line(format!(
        "invocations counted and seen differ: {}; numbers of primitives: {} (and {} of the {} with degenerate ones)",
        tally.invocations_differ, tally.counts_differ, tally.degenerate_counts_differ, tally.degenerate
    ));
    line(if tally.compares_primitives {
        format!(
            "sets of primitives, with their winding, that differ: {} from the CPU's, {} from the GPU's",
            tally.primitives_differ_from_cpu, tally.primitives_differ_from_gpu
        )
    } else {
        "primitives themselves are not compared: the device has no transform feedback".to_owned()
    });
    for example in &tally.examples {
        line(format!("  {example}"));
    }
    for verdict in &report.surfaces {
        let Verdict { surface, patches, vertices, unmatched, .. } = verdict;
        let is = if verdict.agrees() { "agree" } else { "DIFFER" };
        line(format!("{patches} {surface}, {vertices} vertices ({unmatched} unmatched) {is}:"));
        for (what, [to_native, ours, native], tolerance) in [
            (
                "positions, of the largest coordinate",
                [verdict.position_ours_to_native, verdict.position_ours_to_exact, verdict.position_native_to_exact],
                verdict.position_tolerance,
            ),
            (
                "normals",
                [verdict.normal_ours_to_native, verdict.normal_ours_to_exact, verdict.normal_native_to_exact],
                verdict.normal_tolerance,
            ),
        ] {
            line(format!(
                "  {what}: ours to native {to_native:.1e}, ours to float64 {ours:.1e}, native to float64 {native:.1e}; \
                 tolerance {tolerance:.0e}"
            ));
        }
    }
    for compared in &report.pictures {
        let Compared { scene, pixels, covered, differing, limit, .. } = compared;
        let is = if compared.agrees() { "agree" } else { "DIFFER" };
        line(format!(
            "{scene}: {differing} of {pixels} pixels differ ({covered} covered; fewer than {} may): the pictures {is}",
            limit
        ));
        if let Some(file) = &compared.difference {
            line(format!("  the difference is in {}", file.display()));
        }
    }
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{} disagreements", report.disagreements);
    text
}
