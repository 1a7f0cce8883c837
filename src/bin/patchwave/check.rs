//! `patchwave check`: shaders against the contract, without a device.

mod advice;
mod report;

use std::path::{Path, PathBuf};

use crate::shader_file::{DescriptorArgs, Refused, ShaderFile};
use crate::{Outcome, one_line, output};

use report::Found;

/// Check shaders: do they keep the contract, and what follows from them
///
/// No GPU is needed. Of a shader that is right it tells functions, layouts, bind groups and how many patches go into a
/// threadgroup; of one that is wrong the line, what was expected and what to do. What the command line does not say is
/// guessed from the shader where that can be, and named as a guess.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes:
  0  every shader keeps the contract
  1  one does not, or could not be read
  2  the command line is wrong

Examples:
  patchwave check assets/shaders/teapot.wgsl
  patchwave check --json assets/shaders/*.wgsl
  patchwave check - --domain tri --input-control-points 3 --pass-through < my.wgsl")]
pub(crate) struct Args {
    /// The shaders; - is stdin
    #[arg(value_name = "FILE.wgsl", required = true)]
    shaders: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Say only what is wrong
    #[arg(short, long)]
    quiet: bool,
    /// Also print the vertex shader that hands the output struct on to a fragment shader
    #[arg(long)]
    pass_through: bool,
    #[command(flatten)]
    descriptor: DescriptorArgs,
}

/// What is wrong with a shader.
pub(crate) struct Problem {
    pub(crate) message: String,
    /// Line and column, from 1, as far as they are known.
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    /// The function that it is about.
    pub(crate) function: Option<String>,
    /// The text of the line.
    pub(crate) text: Option<String>,
    pub(crate) advice: Option<String>,
}

impl Problem {
    /// What was refused, at its place in the shader.
    pub(crate) fn new(refused: &Refused, shader: &str) -> Self {
        let none = Self { message: String::new(), line: None, column: None, function: None, text: None, advice: None };
        match refused {
            Refused::Library(patchwave::Error::Shader(error)) => {
                let line = error.line();
                let at = line.and_then(|line| shader.lines().nth(line.saturating_sub(1) as usize));
                Self {
                    message: one_line(&error.message()),
                    line,
                    column: error.column(),
                    function: error.function().map(str::to_owned),
                    text: at.map(str::to_owned),
                    advice: advice::on(error, shader),
                }
            }
            other => Self { message: one_line(&other.to_string()), ..none },
        }
    }

    /// On one line, with the advice.
    pub(crate) fn told(&self, name: &str) -> String {
        let advice = self.advice.as_ref().map_or_else(String::new, |advice| format!("; {advice}"));
        self.located(name) + &advice
    }

    /// The shader's name with the place, and what is wrong.
    pub(crate) fn located(&self, name: &str) -> String {
        let mut text = name.to_owned();
        for number in [self.line, self.column].into_iter().flatten() {
            text += &format!(":{number}");
        }
        format!("{text}: {}", self.message)
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.shaders.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(output::Usage("stdin can be checked once; '-' is given several times".to_owned()).into());
    }
    let mode = args.descriptor.mode();
    for ignored in args.descriptor.ignored() {
        output::warn(&format!("{ignored} means nothing in mode {}; it goes with --mode dynamic", mode.name()));
    }
    let mut reports = Vec::new();
    let mut all_right = true;
    for path in &args.shaders {
        let found = check(path, &args.descriptor);
        all_right &= matches!(found, Found::Right { .. });
        match &found {
            _ if args.json => reports.push(report::json(&found, args.pass_through)),
            Found::Unreadable { message, .. } => output::complain(message),
            Found::Right { .. } if args.quiet => {}
            _ => output::say(&report::text(&found, args.pass_through))?,
        }
    }
    if args.json {
        let report = serde_json::json!({ "passed": all_right, "shaders": reports });
        output::say(&(serde_json::to_string(&report)? + "\n"))?;
    }
    Ok(if all_right { Outcome::Passed } else { Outcome::Failed })
}

fn check(path: &Path, descriptor: &DescriptorArgs) -> Found {
    let shader = match ShaderFile::read(path) {
        Ok(shader) => shader,
        Err(error) => {
            return Found::Unreadable { name: path.display().to_string(), message: one_line(&format!("{error:#}")) };
        }
    };
    match descriptor.compose(&shader.text) {
        Ok(composed) => Found::Right { name: shader.name, composed: Box::new(composed) },
        Err(refused) => {
            let problem = Problem::new(&refused, &shader.text);
            Found::Wrong { name: shader.name, problem }
        }
    }
}
