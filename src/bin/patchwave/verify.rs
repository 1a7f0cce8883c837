//! `patchwave verify`: the tessellator against the golden vectors.

use crate::adapter::{AdapterChoice, Candidate};
use crate::progress::Progress;
use crate::scene::gpu::Gpu;
use crate::{Outcome, output};
use patchwave::golden::{self, Case, Difference};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// How many failures the readable report tells in full.
const TOLD: usize = 10;

/// Check the tessellator, on the CPU and on the GPU, against Microsoft's reference
///
/// The golden vectors are outputs of Microsoft's reference tessellator, over all domains, partitionings and topologies.
/// Points and connectivity must agree bit for bit, in order.
/// Exit code 1: a case failed, or could not be run.
#[derive(clap::Args)]
#[command(after_help = "\
JSON is
  {\"adapter\":…,\"cases\":N,\"cpu\":{\"passed\":N,\"failed\":N},
   \"gpu\":{\"passed\":N,\"failed\":N},\"failures\":[id,…]}
with null in the place of \"gpu\" where it could not be run at all.

Examples:
  patchwave verify
  patchwave verify --adapter llvmpipe --json
  patchwave verify --vectors more-vectors/")]
pub(crate) struct Args {
    /// A folder of golden vectors (*.jsonl) [default: those that are built in]
    #[arg(long, value_name = "DIR")]
    vectors: Option<PathBuf>,
    #[cfg(feature = "native")]
    #[command(flatten)]
    native: crate::native::verify::Args,
    #[command(flatten)]
    adapter: AdapterChoice,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What each case came to on one device.
type Verdicts = Vec<Result<(), Difference>>;

/// How many cases passed and failed.
#[derive(Serialize)]
struct Tally {
    passed: usize,
    failed: usize,
}

impl Tally {
    fn of(verdicts: &Verdicts) -> Self {
        let passed = verdicts.iter().filter(|verdict| verdict.is_ok()).count();
        Self { passed, failed: verdicts.len() - passed }
    }
}

/// The report in JSON.
#[derive(Serialize)]
struct Report<'a> {
    adapter: &'a str,
    cases: usize,
    cpu: Tally,
    gpu: Option<Tally>,
    failures: Vec<&'a str>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    #[cfg(feature = "native")]
    if args.native.native {
        return crate::native::verify::run(&args.native, &args.adapter, args.json);
    }
    let chosen = args.adapter.choose()?;
    let cases = match &args.vectors {
        Some(folder) => golden::read_folder(folder)?,
        None => golden::packed()?,
    };
    anyhow::ensure!(!cases.is_empty(), "there is no golden vector to check; each line of a .jsonl file is one");

    let mut progress = Progress::new("checking the CPU");
    let cpu: Verdicts = cases.iter().map(Case::check).collect();
    progress.say("checking the GPU");
    let gpu = verify_on_gpu(&cases, &chosen);
    drop(progress);

    // Each device with its name, the GPU where it ran.
    let ran: Vec<_> = [("CPU", Some(&cpu)), ("GPU", gpu.as_ref().ok())]
        .into_iter()
        .filter_map(|(device, verdicts)| Some((device, verdicts?)))
        .collect();
    let failed = |number: &usize| ran.iter().any(|(_, verdicts)| verdicts.get(*number).is_none_or(Result::is_err));
    let failures: Vec<_> = (0..cases.len()).filter(failed).collect();
    if args.json {
        let report = Report {
            adapter: &chosen.info.name,
            cases: cases.len(),
            cpu: Tally::of(&cpu),
            gpu: gpu.as_ref().ok().map(Tally::of),
            failures: failures.iter().map(|&number| cases[number].id.as_str()).collect(),
        };
        output::say(&(serde_json::to_string(&report)? + "\n"))?;
    } else {
        let mut text = format!("{} golden vectors, GPU: {}\n", cases.len(), chosen.info.name);
        // Writing to a String cannot fail.
        for (device, verdicts) in &ran {
            let Tally { passed, failed } = Tally::of(verdicts);
            let _ = writeln!(text, "{device}: {passed} passed, {failed} failed");
        }
        for &number in failures.iter().take(TOLD) {
            for (device, verdicts) in &ran {
                if let Some(Err(difference)) = verdicts.get(number) {
                    let _ = writeln!(text, "{} on the {device}: {difference}", cases[number].id);
                }
            }
        }
        if failures.len() > TOLD {
            let _ = writeln!(text, "and {} more, all in --json", failures.len() - TOLD);
        }
        output::say(&text)?;
    }
    gpu?;
    Ok(if failures.is_empty() { Outcome::Passed } else { Outcome::Failed })
}

/// Runs the cases through the whole pipeline on the adapter: a verdict each, in their order.
fn verify_on_gpu(cases: &[Case], chosen: &Candidate) -> anyhow::Result<Verdicts> {
    let gpu = Gpu::open(chosen)?;
    let differences = golden::gpu::run(&gpu.device, &gpu.queue, cases)?;
    gpu.check()?;
    let mut verdicts: Verdicts = vec![Ok(()); cases.len()];
    for (number, difference) in differences {
        if let Some(verdict) = verdicts.get_mut(number) {
            *verdict = Err(difference);
        }
    }
    Ok(verdicts)
}
