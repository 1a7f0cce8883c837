//! `patchwave compile`: the kernels that are composed of a shader.

mod spirv;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::check::Problem;
use crate::output::Usage;
use crate::shader_file::{Composed, DescriptorArgs, ShaderFile};
use crate::{Outcome, output};

/// Print the kernels that a shader becomes, as WGSL or SPIR-V
///
/// No GPU is needed. Each stage is a module of its own with its entry points; hull and domain are one kernel, pw_threadgroup.
/// ARCHITECTURE.md tells what each does. patchwave's own buffers are in bind group 3.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave compile assets/shaders/teapot.wgsl --stage hull
  patchwave compile assets/shaders/teapot.wgsl --stage all -o out/kernels
  patchwave compile my.wgsl --stage domain --mode dynamic --patches-per-threadgroup 4 \\
      --target spirv -o out/my.spv")]
pub(crate) struct Args {
    /// The shader; - is stdin
    #[arg(value_name = "FILE.wgsl")]
    shader: PathBuf,
    /// Which kernel
    #[arg(long, value_enum, value_name = "STAGE")]
    stage: Stage,
    /// The language
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "wgsl")]
    target: Target,
    /// The file to write, or the folder with --stage all; stdout without it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    descriptor: DescriptorArgs,
}

/// A kernel by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// Input assembly, vertex and hull functions, patch constants, the heuristic, on-chip domain waves
    Hull,
    /// Domain waves from the off-chip buffer: the same kernel as hull
    Domain,
    /// Primitives in patch order, and the indirect arguments
    Allocate,
    /// The index buffer
    Connectivity,
    /// Allocate and connectivity of small draws in one
    Finish,
    /// Set-up of indirect draws
    Indirect,
    /// Stream output
    Stream,
    /// The passes that look for strip cuts; with --strip-cut
    StripCut,
    /// The vertex shader of the caller's render pipeline
    PassThrough,
    /// All of them, each into a file of the folder
    All,
}

/// What kernels are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// As patchwave gives it to wgpu
    Wgsl,
    /// Binary SPIR-V with wgpu's checks of indices and divisions; @group(n) @binding(m) are set n, binding m
    Spirv,
}

/// A kernel, composed.
struct Module {
    /// As its file is called.
    name: &'static str,
    wgsl: String,
    /// Whether its loops need counters that end them.
    bounds_loops: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let to_stdout = args.output.is_none();
    if args.stage == Stage::All && to_stdout {
        return Err(Usage("--stage all writes several files; name a folder with --output".to_owned()).into());
    }
    if args.target == Target::Spirv && to_stdout && std::io::stdout().is_terminal() {
        return Err(Usage("SPIR-V is binary; name a file with --output, or pipe it on".to_owned()).into());
    }
    let mode = args.descriptor.mode();
    for ignored in args.descriptor.ignored() {
        output::warn(&format!("{ignored} means nothing in mode {}; it goes with --mode dynamic", mode.name()));
    }
    let shader = ShaderFile::read(&args.shader)?;
    let refused = |refused| anyhow::anyhow!("{}", Problem::new(&refused, &shader.text).told(&shader.name));
    let composed = args.descriptor.compose(&shader.text).map_err(refused)?;
    let constants: Vec<(&str, f64)> = args.descriptor.constants().collect();
    let written = |module: &Module| match args.target {
        Target::Wgsl => Ok(module.wgsl.clone().into_bytes()),
        Target::Spirv => spirv::write(&module.wgsl, &constants, module.bounds_loops),
    };
    if args.stage == Stage::All {
        let extension = if args.target == Target::Wgsl { "wgsl" } else { "spv" };
        let folder = args.output.as_deref().unwrap_or(Path::new("."));
        let modules = STAGES.iter().filter_map(|stage| module(*stage, &composed).ok());
        let files: Vec<(PathBuf, Vec<u8>)> = modules
            .map(|module| Ok((folder.join(module.name).with_extension(extension), written(&module)?)))
            .collect::<anyhow::Result<_>>()?;
        for (path, bytes) in &files {
            output::write_file(path, bytes)?;
        }
        return Ok(Outcome::Passed);
    }
    let bytes = written(&module(args.stage, &composed)?)?;
    match &args.output {
        Some(path) => output::write_file(path, &bytes)?,
        None => output::say_bytes(&bytes)?,
    }
    Ok(Outcome::Passed)
}

/// What `--stage all` writes: each module once, as far as the pipeline has it.
const STAGES: [Stage; 8] = [
    Stage::Hull,
    Stage::Allocate,
    Stage::Connectivity,
    Stage::Finish,
    Stage::Indirect,
    Stage::Stream,
    Stage::StripCut,
    Stage::PassThrough,
];

fn module(stage: Stage, composed: &Composed) -> anyhow::Result<Module> {
    let kernels = composed.composition.kernels();
    let ours = |name, wgsl: &String| Module { name, wgsl: wgsl.clone(), bounds_loops: false };
    Ok(match stage {
        Stage::Hull | Stage::Domain | Stage::All => Module {
            bounds_loops: !composed.composition.reflection().loops_end,
            ..ours("threadgroup", &kernels.threadgroup)
        },
        Stage::Allocate => ours("allocate", &kernels.allocate),
        Stage::Connectivity => ours("connectivity", &kernels.connectivity),
        Stage::Finish => ours("finish", &kernels.finish),
        Stage::Indirect => ours("indirect", &kernels.indirect),
        Stage::Stream => ours("stream", &kernels.stream),
        Stage::StripCut => match &kernels.strip_cut {
            Some(wgsl) => ours("strip_cut", wgsl),
            None => return Err(Usage("the pipeline has no such passes; they come with --strip-cut".to_owned()).into()),
        },
        Stage::PassThrough => ours("pass_through", &composed.composition.pass_through_shader()?),
    })
}
