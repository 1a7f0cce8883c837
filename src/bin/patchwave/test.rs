//! `patchwave test`: a folder of scene files, each against what it expects.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;

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
  patchwave test assets/scenes --adapter llvmpipe")]
pub(crate) struct Args {
    /// The folder; files that end in .toml are scene files
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    adapter: AdapterChoice,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let scenes = scenes(&args.folder)?;
    let gpu = Gpu::open(&args.adapter.choose()?)?;
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for path in &scenes {
        let begun = Instant::now();
        let shown = path.display();
        let judged = run::judge_file(&gpu, path).map(|judged| judged.mismatches);
        // What a scene left behind must not be taken for the next one's.
        let judged = gpu.check().and(judged);
        let seconds = begun.elapsed().as_secs_f64();
        let line = match judged {
            Ok(Some(mismatches)) if mismatches.is_empty() => {
                passed += 1;
                format!("passed {shown} ({seconds:.2} s)\n")
            }
            Ok(Some(mismatches)) => {
                failed += 1;
                format!("FAILED {shown}: {}\n", mismatches.join("; "))
            }
            Ok(None) => {
                skipped += 1;
                format!("skipped {shown}: it has no [expect]\n")
            }
            Err(error) => {
                failed += 1;
                format!("FAILED {}\n", one_line(&format!("{error:#}")))
            }
        };
        output::say(&line)?;
    }
    let skipped = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
    output::say(&format!("{passed} passed, {failed} failed{skipped}\n"))?;
    Ok(if failed == 0 { Outcome::Passed } else { Outcome::Failed })
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
