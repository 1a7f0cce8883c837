//! `patchwave test`: a folder of scene files, each against what it expects.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use serde_json::json;

use crate::adapter::AdapterChoice;
use crate::scene::gpu::Gpu;
use crate::{Outcome, one_line, output, run};

/// Run all scene files of a folder and compare them with what they expect
///
/// Prints a line each, and 'N passed, N failed' at the end. A scene without [expect] is skipped.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave test assets/scenes
  patchwave test assets/scenes --json --adapter llvmpipe")]
pub(crate) struct Args {
    /// The folder; files that end in .toml are scene files
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    adapter: AdapterChoice,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let scenes = scenes(&args.folder)?;
    let gpu = Gpu::open(&args.adapter.choose()?)?;
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut reports = Vec::new();
    for path in &scenes {
        let begun = Instant::now();
        let shown = path.display();
        let judged = run::judge_file(&gpu, path).map(|judged| judged.mismatches);
        // What a scene left behind must not be taken for the next one's.
        let judged = gpu.check().and(judged);
        let seconds = begun.elapsed().as_secs_f64();
        let result = match judged {
            Ok(Some(mismatches)) if mismatches.is_empty() => Ended { name: "passed", problems: Vec::new() },
            Ok(Some(mismatches)) => Ended { name: "failed", problems: mismatches },
            Ok(None) => Ended { name: "skipped", problems: Vec::new() },
            Err(error) => Ended { name: "failed", problems: vec![one_line(&format!("{error:#}"))] },
        };
        match result.name {
            "passed" => passed += 1,
            "failed" => failed += 1,
            _ => skipped += 1,
        }
        if args.json {
            let Ended { name, problems } = &result;
            reports
                .push(json!({ "scene": shown.to_string(), "result": name, "problems": problems, "seconds": seconds }));
        } else {
            output::say(&result.line(&shown.to_string(), seconds))?;
        }
    }
    if args.json {
        let report = json!({ "passed": passed, "failed": failed, "skipped": skipped, "scenes": reports });
        output::say(&(serde_json::to_string(&report)? + "\n"))?;
    } else {
        let skipped = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
        output::say(&format!("{passed} passed, {failed} failed{skipped}\n"))?;
    }
    Ok(if failed == 0 { Outcome::Passed } else { Outcome::Failed })
}

/// How a scene ended.
struct Ended {
    /// `passed`, `failed` or `skipped`.
    name: &'static str,
    problems: Vec<String>,
}

impl Ended {
    fn line(&self, scene: &str, seconds: f64) -> String {
        match self.name {
            "passed" => format!("passed {scene} ({seconds:.2} s)\n"),
            "skipped" => format!("skipped {scene}: it has no [expect]\n"),
            _ => match self.problems.join("; ") {
                // Errors say themselves where in the file they are about.
                problems if problems.starts_with(scene) => format!("FAILED {problems}\n"),
                problems => format!("FAILED {scene}: {problems}\n"),
            },
        }
    }
}

/// The scene files of a folder, by name.
fn scenes(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let shown = folder.display();
    let mut scenes = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read the folder {shown}"))? {
        let path = entry.with_context(|| format!("cannot read the folder {shown}"))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
            scenes.push(path);
        }
    }
    anyhow::ensure!(!scenes.is_empty(), "{shown} has no scene files: none ends in .toml");
    scenes.sort();
    Ok(scenes)
}
