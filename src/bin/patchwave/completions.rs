//! `patchwave completions`: what a shell needs to complete the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{Cli, Outcome, output};

/// Print a shell's completion script
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave completions bash > ~/.local/share/bash-completion/completions/patchwave
  patchwave completions zsh > ~/.zfunc/_patchwave
  patchwave completions fish > ~/.config/fish/completions/patchwave.fish
  patchwave completions powershell | Out-String | Invoke-Expression")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "patchwave", &mut script);
    output::say_bytes(&script)?;
    Ok(Outcome::Passed)
}
