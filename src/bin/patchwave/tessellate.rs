//! `patchwave tessellate`: the pattern of one patch, as numbers or as a drawing.

use crate::adapter::AdapterChoice;
use crate::canvas::Drawing;
use crate::factors::{Factors, HOW_WRITTEN};
use crate::output::{self, Usage};
use crate::scene::gpu::Gpu;
use crate::{Outcome, names, pattern};
use anyhow::Context;
use clap::ValueEnum;
use patchwave::golden;
use patchwave::tessellator::{Domain, OutputTopology, Partitioning, TessellatedPatch};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Tessellate one patch and print or draw its pattern
///
/// JSON is {"culled":bool,"fixed16":[[u,v],…],"indices":[…]}: domain locations in integers of 1/65536, in the order of
/// Microsoft's reference, and the indices of points, lines or triangles. For tri, w is 65536 - u - v.
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  patchwave tessellate --domain tri --partitioning integer --topology triangle_cw \\
      --edges 3,4,5 --inside 4
  patchwave tessellate --domain quad --partitioning fractional_odd --topology triangle_cw \\
      --edges 5,7.5,3,9 --inside 6.2,4 -o out/quad.png
  patchwave tessellate --domain isoline --partitioning integer --topology line --edges 4,8
  patchwave tessellate --domain tri --partitioning pow2 --topology point \\
      --edges nan,1,1 --inside 1

{HOW_WRITTEN}"))]
pub(crate) struct Args {
    /// What the patch's parameter space is
    #[arg(long, value_parser = names::domain(), value_name = "D")]
    domain: Domain,
    /// How factors become segments
    #[arg(long, value_parser = names::partitioning(), value_name = "P")]
    partitioning: Partitioning,
    /// What primitives come out
    #[arg(long, value_parser = names::topology(), value_name = "T")]
    topology: OutputTopology,
    /// Edge factors: tri U==0,V==0,W==0; quad U==0,V==0,U==1,V==1; isoline density,detail
    #[arg(long, value_name = "F,F,…")]
    edges: Factors,
    /// Inside factors: tri one; quad two, along U and along V; isoline none
    #[arg(long, value_name = "F,…")]
    inside: Option<Factors>,
    /// Where it is computed
    #[arg(long, value_enum, default_value = "cpu")]
    device: Device,
    /// What is written [default: by the ending of --output's name, else json]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The file to write; stdout without it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    adapter: AdapterChoice,
}

/// Where the tessellator runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Device {
    /// The CPU twin
    Cpu,
    /// The pipeline on the adapter
    Gpu,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Locations and indices
    Json,
    /// A drawing: each ring in its colour, transition triangles tinted
    Svg,
    /// The same drawing in pixels
    Png,
    /// Locations as x and y in the plane z = 0, with the primitives in order
    Obj,
}

/// A patch to tessellate, checked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) domain: Domain,
    pub(crate) partitioning: Partitioning,
    pub(crate) topology: OutputTopology,
    /// The bits of the factors: edges, then inside.
    pub(crate) factor_bits: Vec<u32>,
}

/// What came out, as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Pattern {
    pub(crate) culled: bool,
    /// Domain locations u, v in 1/65536.
    pub(crate) fixed16: Vec<[u32; 2]>,
    pub(crate) indices: Vec<u32>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let request = checked(args)?;
    let (format, path) = (format_of(args)?, args.output.as_deref());
    let pattern = match args.device {
        Device::Cpu => tessellate_on_cpu(&request)?,
        Device::Gpu => tessellate_on_gpu(&request, &args.adapter)?,
    };
    match format {
        Format::Json => output::write_text(path, &(serde_json::to_string(&pattern)? + "\n"))?,
        Format::Obj => output::write_text(path, &pattern::obj(&request, &pattern))?,
        Format::Svg | Format::Png => {
            let mesh = match request.topology {
                // Points alone do not tell their rings; the triangles between the same points do.
                OutputTopology::Point if request.domain != Domain::Isoline => {
                    let triangles = Request { topology: OutputTopology::TriangleCw, ..request.clone() };
                    tessellate_on_cpu(&triangles)?.indices
                }
                _ => pattern.indices.clone(),
            };
            let sheet = pattern::Sheet { request: &request, pattern: &pattern, mesh: &mesh };
            match (format, path) {
                (Format::Svg, _) => output::write_text(path, &sheet.svg())?,
                (_, Some(path)) => output::write_file(path, &sheet.png()?)?,
                (_, None) => output::say_bytes(&sheet.png()?)?,
            }
        }
    }
    Ok(Outcome::Passed)
}

/// The format that is asked for, or that the file's name tells.
fn format_of(args: &Args) -> Result<Format, Usage> {
    let Some(path) = args.output.as_deref() else {
        let format = args.format.unwrap_or(Format::Json);
        if format == Format::Png && std::io::stdout().is_terminal() {
            return Err(Usage("a PNG is binary; name a file with --output, or pipe it on".to_owned()));
        }
        return Ok(format);
    };
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match (args.format, extension.as_deref()) {
        (Some(format), _) => Ok(format),
        (None, Some("json") | None) => Ok(Format::Json),
        (None, Some("svg")) => Ok(Format::Svg),
        (None, Some("png")) => Ok(Format::Png),
        (None, Some("obj")) => Ok(Format::Obj),
        (None, Some(other)) => {
            Err(Usage(format!("'.{other}' tells no format; there are json, svg, png, obj, or say --format")))
        }
    }
}

/// The request, where the numbers of factors and the topology fit the domain.
fn checked(args: &Args) -> Result<Request, Usage> {
    let Args { domain, partitioning, topology, .. } = *args;
    let edges = &args.edges.0[..];
    let inside = args.inside.as_ref().map_or(&[][..], |inside| &inside.0);
    let names = match domain {
        Domain::Isoline => "--edges density,detail",
        Domain::Tri => "--edges U==0,V==0,W==0 --inside F",
        Domain::Quad => "--edges U==0,V==0,U==1,V==1 --inside U,V",
    };
    let wanted = [domain.edge_count(), domain.factor_count() - domain.edge_count()];
    for ((option, given), wanted) in [("--edges", edges), ("--inside", inside)].into_iter().zip(wanted) {
        if given.len() != wanted {
            let factors = if given.len() == 1 { "factor" } else { "factors" };
            return Err(Usage(format!("{option} has {} {factors}, and {domain} takes {wanted}: {names}", given.len())));
        }
    }
    if !topology.is_valid_for(domain) {
        let there = OutputTopology::ALL.iter().filter(|topology| topology.is_valid_for(domain));
        let there = there.map(|topology| topology.name()).collect::<Vec<_>>().join(", ");
        return Err(Usage(format!("--topology {topology} does not go with --domain {domain}; it has {there}")));
    }
    Ok(Request { domain, partitioning, topology, factor_bits: [edges, inside].concat() })
}

/// Runs the CPU twin.
fn tessellate_on_cpu(request: &Request) -> anyhow::Result<Pattern> {
    let Request { domain, partitioning, topology, ref factor_bits } = *request;
    let patch = TessellatedPatch::new(domain, partitioning, topology, factor_bits)?;
    Ok(Pattern { culled: patch.is_culled(), fixed16: patch.points().collect(), indices: patch.indices().collect() })
}

/// Runs the patch through the whole pipeline on the chosen adapter.
fn tessellate_on_gpu(request: &Request, adapter: &AdapterChoice) -> anyhow::Result<Pattern> {
    let Request { domain, partitioning, topology, ref factor_bits } = *request;
    let gpu = Gpu::open(&adapter.choose()?)?;
    let patches =
        golden::gpu::tessellate(&gpu.device, &gpu.queue, domain, partitioning, topology, &[factor_bits.as_slice()])?;
    gpu.check()?;
    let patch = patches.into_iter().next();
    let patch = patch.with_context(|| format!("adapter '{}' gave no patch back", gpu.name))?;
    Ok(Pattern { culled: patch.culled, fixed16: patch.points, indices: patch.indices })
}
