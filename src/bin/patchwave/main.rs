//! `patchwave`: hull and domain shaders for wgpu, from the command line.
//!
//! A thin caller of the library: one file a verb, and what the verbs share in `adapter`, `factors`, `mesh_file`, `names`,
//! `output`, `progress`, `scene`, `shader_file` and `watch`.

mod adapter;
mod bench;
mod canvas;
mod check;
mod compare;
mod compile;
mod completions;
mod factors;
mod info;
mod measure;
mod mesh_file;
mod names;
#[cfg(feature = "native")]
mod native;
mod nodes;
mod output;
mod pattern;
mod progress;
mod render;
mod run;
mod scene;
mod shader_file;
mod tessellate;
mod test;
mod timeline;
mod tune;
mod verify;
mod view;
mod watch;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The whole command line.
#[derive(Parser)]
#[command(
    name = "patchwave",
    version,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    about = "Hull and domain shaders for wgpu: D3D-style tessellation as compute passes",
    after_help = "\
Exit codes:
  0  done, and every check passed
  1  a check failed, or the work could not be done (one line on stderr says why)
  2  the command line is wrong

Examples:
  patchwave info
  patchwave render teapot -o out/teapot.png
  patchwave tessellate --domain tri --partitioning integer --topology triangle_cw \\
      --edges 3,4,5 --inside 4
  patchwave run assets/scenes/wavy-sheet.toml -o out/sheet.png
  patchwave check assets/shaders/teapot.wgsl
  patchwave verify

'patchwave help VERB' or 'patchwave VERB --help' tells all about a verb."
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// What to do.
#[derive(Subcommand)]
enum Verb {
    Render(render::Args),
    Run(run::Args),
    View(view::Args),
    Test(test::Args),
    Tessellate(tessellate::Args),
    Verify(verify::Args),
    Compare(compare::Args),
    Timeline(timeline::Args),
    Tune(tune::Args),
    Bench(bench::Args),
    Nodes(nodes::Args),
    Info(info::Args),
    Check(check::Args),
    Compile(compile::Args),
    Completions(completions::Args),
}

/// How a verb ended that had no error.
enum Outcome {
    /// Exit code 0.
    Passed,
    /// Exit code 1: it ran, and what it checked does not hold. It has said so itself.
    Failed,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(factors::join_negative(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => return answer_clap(&error),
    };
    let result = match cli.verb {
        Verb::Render(args) => render::run(&args),
        Verb::Run(args) => run::run(&args),
        Verb::View(args) => view::run(&args),
        Verb::Test(args) => test::run(&args),
        Verb::Tessellate(args) => tessellate::run(&args),
        Verb::Verify(args) => verify::run(&args),
        Verb::Compare(args) => compare::run(&args),
        Verb::Tune(args) => tune::run(&args),
        Verb::Timeline(args) => timeline::run(&args),
        Verb::Bench(args) => bench::run(&args),
        Verb::Nodes(args) => nodes::run(&args),
        Verb::Info(args) => info::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Compile(args) => compile::run(&args),
        Verb::Completions(args) => completions::run(&args),
    };
    match result {
        Ok(Outcome::Passed) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Err(error) => answer_error(&error),
    }
}

/// Says on one line why a verb could not do its work.
fn answer_error(error: &anyhow::Error) -> ExitCode {
    if error.downcast_ref::<output::ReaderGone>().is_some() {
        // As with `| head`: whoever reads has what they want.
        return ExitCode::SUCCESS;
    }
    output::complain(&one_line(&format!("{error:#}")));
    if error.downcast_ref::<output::Usage>().is_some() { ExitCode::from(2) } else { ExitCode::from(1) }
}

/// Prints help and version as clap made them, and its errors on one line.
fn answer_clap(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // Printing fails only if the reader is gone.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            let text = error.render().to_string();
            let text = text.split("\n\nUsage:").next().unwrap_or(&text);
            let text = text.split("\n\nFor more information").next().unwrap_or(text);
            let text = one_line(text.strip_prefix("error: ").unwrap_or(text));
            output::complain(&format!("{text}; 'patchwave --help' and 'patchwave VERB --help' tell what there is"));
            ExitCode::from(2)
        }
    }
}

/// The words of a text with single spaces between them.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
