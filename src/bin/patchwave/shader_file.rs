//! A user's shader from a file, and the pipeline that the command line describes for it: what `check` and `compile` share.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use patchwave::pipeline::{Composition, Indices};
use patchwave::shader::{Outline, Reflection, ScalarKind, outline, reflect};
use patchwave::{Domain, Error, OutputTopology, Partitioning, StageNames, TessellationPipelineDescriptor};

use crate::names;
use crate::run::formats::Format;
use crate::scene::mode::{Mode, ParameterArgs};

/// What a text may have; the library refuses longer ones.
const MOST_BYTES: u64 = 16 << 20;

/// A shader's text and what messages call it.
pub(crate) struct ShaderFile {
    /// `stdin` where it was `-`.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl ShaderFile {
    /// Reads a file, or stdin for `-`. What is wrong is said on one line.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { "stdin".to_owned() } else { path.display().to_string() };
        let mut bytes = Vec::new();
        let read = if is_stdin {
            io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes)
        } else if path.is_dir() {
            anyhow::bail!("cannot read {name}: it is a folder; name a WGSL file");
        } else {
            File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        };
        read.map_err(|error| anyhow::anyhow!("cannot read {name}: {error}"))?;
        anyhow::ensure!(bytes.len() as u64 <= MOST_BYTES, "{name} has more than {MOST_BYTES} bytes: it is no shader");
        anyhow::ensure!(
            !bytes.is_empty(),
            "{name} is empty: a shader has the functions vertex, patch_constants and domain"
        );
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = 1 + error.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count();
            anyhow::anyhow!("{name} is not UTF-8 text: line {line} has a byte that is none")
        })?;
        Ok(Self { name, text })
    }
}

/// The descriptor of a tessellation pipeline on the command line.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct DescriptorArgs {
    /// What a patch's parameter space is [default: the one whose factor struct the shader names]
    #[arg(long, value_parser = names::domain(), value_name = "D")]
    domain: Option<Domain>,
    /// Input control points of a patch, 1 to 32 [default: 2 for isoline, 3 for tri, 4 for quad, or as many as the
    /// shader's literal indices ask for]
    #[arg(long, value_name = "N")]
    input_control_points: Option<u32>,
    /// Output control points of a patch, 0 to 32 [default: as many as the input's]
    #[arg(long, value_name = "N")]
    output_control_points: Option<u32>,
    /// How factors become segments
    #[arg(long, value_parser = names::partitioning(), value_name = "P", default_value = "integer")]
    partitioning: Partitioning,
    /// What primitives come out [default: line for isoline, else triangle_cw]
    #[arg(long, value_parser = names::topology(), value_name = "T")]
    topology: Option<OutputTopology>,
    /// Factors above it are taken as it, 1 to 64
    #[arg(long, value_name = "F", default_value_t = 64.0)]
    maximum_factor: f32,
    /// The vertex function's name
    #[arg(long, value_name = "NAME", default_value = "vertex")]
    vertex_function: String,
    /// The hull function's name [default: hull; without such a function control points pass through]
    #[arg(long, value_name = "NAME")]
    hull_function: Option<String>,
    /// Control points pass through, whatever functions there are
    #[arg(long, conflicts_with = "hull_function")]
    no_hull: bool,
    /// The patch constant function's name
    #[arg(long, value_name = "NAME", default_value = "patch_constants")]
    patch_constants_function: String,
    /// The domain function's name
    #[arg(long, value_name = "NAME", default_value = "domain")]
    domain_function: String,
    /// The value of an override, by @id or by name; once for each
    #[arg(long, value_name = "KEY=VALUE")]
    constant: Vec<Constant>,
    /// A vertex buffer, once for each slot, like 0=float32x3,1=unorm8x4@12,stride=16,step=instance [default: one, with all
    /// attributes of the shader in 32 bits a component]
    #[arg(long, value_name = "LAYOUT")]
    vertex_buffer: Vec<BufferLayout>,
    /// Indices of all ones cut patches off
    #[arg(long)]
    strip_cut: bool,
    /// No draw is indexed; leaves a storage binding to the shader
    #[arg(long, conflicts_with = "strip_cut")]
    no_indices: bool,
    /// Where domain waves run
    #[arg(long, value_enum, value_name = "MODE", default_value = "onchip")]
    mode: Mode,
    #[command(flatten)]
    parameters: ParameterArgs,
    /// Workgroup memory of the device in bytes: wgpu's max_compute_workgroup_storage_size
    #[arg(long, value_name = "BYTES", default_value_t = wgpu::Limits::default().max_compute_workgroup_storage_size)]
    workgroup_memory: u32,
    /// Storage buffers that a stage of the device can have: wgpu's max_storage_buffers_per_shader_stage
    #[arg(long, value_name = "N", default_value_t = wgpu::Limits::default().max_storage_buffers_per_shader_stage)]
    storage_buffers: u32,
}

/// An override's value on the command line.
#[derive(Clone, Debug)]
struct Constant(String, f64);

impl FromStr for Constant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse =
            || format!("'{text}' is no value of an override; write its name or @id, '=' and a number or true or false");
        let (key, value) = text.split_once('=').ok_or_else(refuse)?;
        let value = match value {
            "true" => 1.0,
            "false" => 0.0,
            number => number.parse().map_err(|_| refuse())?,
        };
        Ok(Self(key.to_owned(), value))
    }
}

/// A vertex buffer's layout on the command line.
#[derive(Clone, Debug)]
struct BufferLayout {
    attributes: Vec<wgpu::VertexAttribute>,
    stride: u64,
    step: wgpu::VertexStepMode,
}

impl FromStr for BufferLayout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut attributes, mut end, mut stride) = (Vec::new(), 0_u64, None);
        let mut step = wgpu::VertexStepMode::Vertex;
        for part in text.split(',') {
            let (key, value) = part.split_once('=').ok_or_else(|| {
                format!("'{part}' is no part of a vertex buffer; write LOCATION=FORMAT, with @OFFSET behind it or not, stride=N or step=instance")
            })?;
            let number =
                |text: &str| text.parse::<u64>().map_err(|_| format!("'{text}' in '{part}' is no number of bytes"));
            match (key.trim(), value.trim()) {
                ("stride", value) => stride = Some(number(value)?),
                ("step", "vertex") => step = wgpu::VertexStepMode::Vertex,
                ("step", "instance") => step = wgpu::VertexStepMode::Instance,
                ("step", other) => return Err(format!("there is no step '{other}'; there are vertex, instance")),
                (location, value) => {
                    let shader_location = location
                        .parse()
                        .map_err(|_| format!("'{location}' is no location; write its number, stride or step"))?;
                    let (format, offset) = match value.split_once('@') {
                        Some((format, offset)) => (format, number(offset)?),
                        None => (value, end),
                    };
                    let format = Format::named(format)?.format;
                    end = offset.saturating_add(format.size());
                    attributes.push(wgpu::VertexAttribute { format, offset, shader_location });
                }
            }
        }
        let element = attributes.iter().map(|one| one.offset.saturating_add(one.format.size())).max().unwrap_or(0);
        Ok(Self { attributes, stride: stride.unwrap_or(element), step })
    }
}

/// Why a shader was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// The text does not tell its domain.
    #[error("{0}")]
    Domain(String),
    /// The library's word.
    #[error(transparent)]
    Library(#[from] Error),
}

/// A shader's pipeline, and what of its descriptor was guessed.
pub(crate) struct Composed {
    pub(crate) composition: Composition,
    pub(crate) domain: Domain,
    pub(crate) partitioning: Partitioning,
    pub(crate) topology: OutputTopology,
    pub(crate) points: [u32; 2],
    /// The limits that it was made for.
    pub(crate) limits: wgpu::Limits,
    pub(crate) guesses: Vec<Guess>,
    /// What a device without features of its own would say against it.
    pub(crate) needs: Option<String>,
}

/// What was not said and how it was told.
pub(crate) struct Guess {
    pub(crate) what: &'static str,
    pub(crate) value: String,
    pub(crate) because: String,
}

impl fmt::Display for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.what, self.value, self.because)
    }
}

impl DescriptorArgs {
    /// The thresholds that are given though only the dynamic mode has any.
    pub(crate) fn ignored(&self) -> Vec<&'static str> {
        self.parameters.ignored_in(self.mode)
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// The values of overrides.
    pub(crate) fn constants(&self) -> impl Iterator<Item = (&str, f64)> {
        self.constant.iter().map(|Constant(key, value)| (key.as_str(), *value))
    }

    /// Composes a shader's kernels. Overrides that need a value and have none are taken to be 1: no kernel's text depends
    /// on them.
    pub(crate) fn compose(&self, text: &str) -> Result<Composed, Refused> {
        let about = outline(text);
        let mut guesses = Vec::new();
        let domain = self.domain(&about, &mut guesses)?;
        let names = self.names(&about, &mut guesses);
        let points = self.points(&about, domain, &mut guesses);
        // The default vertex buffer follows from the attributes.
        let reflection = reflect(text, &names, domain).map_err(Error::from)?;
        let usual = self.vertex_buffer.is_empty().then(|| attribute_buffer(&reflection)).flatten();
        if let (Some(buffer), true) = (&usual, reflection.attributes.is_some()) {
            let value = format!("of {} bytes", buffer.stride);
            guesses.push(Guess {
                what: "one vertex buffer",
                value,
                because: "--vertex-buffer says another".to_owned(),
            });
        }
        let buffers: Vec<_> = usual
            .iter()
            .chain(&self.vertex_buffer)
            .map(|buffer| wgpu::VertexBufferLayout {
                array_stride: buffer.stride,
                step_mode: buffer.step,
                attributes: &buffer.attributes,
            })
            .collect();
        let mut constants: Vec<(&str, f64)> = self.constants().collect();
        let without = reflection.overrides.iter().filter(|one| !one.has_default);
        constants.extend(
            without.filter(|one| self.constants().all(|(key, _)| key != one.key)).map(|one| (one.key.as_str(), 1.0)),
        );

        let mut descriptor = TessellationPipelineDescriptor {
            names: names.clone(),
            constants: &constants,
            vertex_buffers: &buffers,
            indices: if self.no_indices { Indices::Never } else { Indices::OwnBuffer },
            strip_cut: self.strip_cut,
            output_control_points: points[1],
            partitioning: self.partitioning,
            maximum_factor: self.maximum_factor,
            ..TessellationPipelineDescriptor::new(text, domain, points[0])
        };
        if let Some(topology) = self.topology {
            descriptor.output_topology = topology;
        }
        let (flags, parameters) = self.mode.parameters(&self.parameters.parameters());
        if flags.tessellation_off_chip() {
            descriptor = descriptor.off_chip(parameters);
        } else {
            descriptor.parameters = parameters;
        }
        let limits = wgpu::Limits {
            max_compute_workgroup_storage_size: self.workgroup_memory,
            max_storage_buffers_per_shader_stage: self.storage_buffers,
            ..wgpu::Limits::default()
        };
        let composition = Composition::new(&descriptor, wgpu::Features::all(), &limits)?;
        let needs =
            Composition::new(&descriptor, wgpu::Features::empty(), &limits).err().map(|error| error.to_string());
        let topology = descriptor.output_topology;
        let partitioning = self.partitioning;
        Ok(Composed { composition, domain, partitioning, topology, points, limits, guesses, needs })
    }

    fn domain(&self, about: &Outline, guesses: &mut Vec<Guess>) -> Result<Domain, Refused> {
        let structs = |domain: &Domain| match domain {
            Domain::Isoline => "IsolineFactors",
            Domain::Tri => "TriFactors",
            Domain::Quad => "QuadFactors",
        };
        match (self.domain, &about.domains[..]) {
            (Some(domain), _) => Ok(domain),
            (None, [domain]) => {
                let because = format!("the shader names {}; --domain says another", structs(domain));
                guesses.push(Guess { what: "domain", value: domain.to_string(), because });
                Ok(*domain)
            }
            (None, []) => Err(Refused::Domain(
                "which domain? the shader names none of QuadFactors, TriFactors and IsolineFactors, one of which its \
                 patch constants need; write it, or say --domain"
                    .to_owned(),
            )),
            (None, several) => Err(Refused::Domain(format!(
                "which domain? the shader names {}; say --domain",
                several.iter().map(structs).collect::<Vec<_>>().join(" and ")
            ))),
        }
    }

    fn names(&self, about: &Outline, guesses: &mut Vec<Guess>) -> StageNames {
        let usual = about.functions.iter().any(|name| name == "hull").then(|| "hull".to_owned());
        let hull = if self.no_hull { None } else { self.hull_function.clone().or(usual) };
        if hull.is_none() && !self.no_hull {
            let because = "there is no function hull; --hull-function names one of another name".to_owned();
            guesses.push(Guess { what: "control points", value: "pass through".to_owned(), because });
        }
        StageNames {
            vertex: self.vertex_function.clone(),
            hull,
            patch_constants: self.patch_constants_function.clone(),
            domain: self.domain_function.clone(),
        }
    }

    /// Input and output control points.
    fn points(&self, about: &Outline, domain: Domain, guesses: &mut Vec<Guess>) -> [u32; 2] {
        let usual = match domain {
            Domain::Isoline => 2,
            Domain::Tri => 3,
            Domain::Quad => 4,
        };
        let literal = about.input_points.max(about.output_points);
        let guess = usual.max(literal);
        let (points, option) = match (self.input_control_points, self.output_control_points) {
            (Some(input), Some(output)) => return [input, output],
            (Some(input), None) => ([input; 2], "--output-control-points"),
            (None, Some(0)) => ([guess, 0], "--input-control-points"),
            (None, Some(output)) => ([output; 2], "--input-control-points"),
            (None, None) => ([guess; 2], "--input-control-points"),
        };
        let why = if points[0] != guess {
            "as many in as out".to_owned()
        } else if literal > usual {
            format!("an index of the shader is {}", literal - 1)
        } else {
            format!("usual for {domain}")
        };
        let because = format!("{why}; {option} says another number");
        let value = format!("{} in, {} out", points[0], points[1]);
        guesses.push(Guess { what: "control points", value, because });
        points
    }
}

/// A buffer with all attributes of a shader, each component in 32 bits.
fn attribute_buffer(reflection: &Reflection) -> Option<BufferLayout> {
    use wgpu::VertexFormat as F;
    let attributes = reflection.attributes.as_ref()?;
    let mut offset = 0;
    let members = attributes.members.iter().map(|member| {
        let format = match (member.kind, member.components) {
            (ScalarKind::Float, 1) => F::Float32,
            (ScalarKind::Float, 2) => F::Float32x2,
            (ScalarKind::Float, 3) => F::Float32x3,
            (ScalarKind::Float, _) => F::Float32x4,
            (ScalarKind::Sint, 1) => F::Sint32,
            (ScalarKind::Sint, 2) => F::Sint32x2,
            (ScalarKind::Sint, 3) => F::Sint32x3,
            (ScalarKind::Sint, _) => F::Sint32x4,
            (ScalarKind::Uint, 1) => F::Uint32,
            (ScalarKind::Uint, 2) => F::Uint32x2,
            (ScalarKind::Uint, 3) => F::Uint32x3,
            (ScalarKind::Uint, _) => F::Uint32x4,
        };
        let attribute = wgpu::VertexAttribute { format, offset, shader_location: member.location };
        offset += format.size();
        attribute
    });
    let attributes: Vec<_> = members.collect();
    Some(BufferLayout { attributes, stride: offset, step: wgpu::VertexStepMode::Vertex })
}
