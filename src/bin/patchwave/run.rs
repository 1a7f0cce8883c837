//! `patchwave run`: a scene file through the whole pipeline, and what it expects of it.

mod bindings;
mod buffers;
pub(crate) mod camera;
mod draws;
mod expect;
mod file;
pub(crate) mod formats;
#[cfg(feature = "view")]
pub(crate) mod live;
mod meshes;
#[cfg(feature = "view")]
pub(crate) mod numbers;
mod pack;
mod paint;
pub(crate) mod place;
mod report;
pub(crate) mod scene;
mod session;
mod textures;
mod value;

use std::path::{Path, PathBuf};

use anyhow::Context;
use patchwave::Mesh;
use patchwave::mesh::ExportMembers;

use crate::adapter::AdapterChoice;
use crate::mesh_file::MeshArgs;
use crate::progress::Progress;
use crate::scene::gpu::Gpu;
use crate::scene::mode::Mode;
use crate::scene::picture::Picture;
use crate::watch::{self, Watch};
use crate::{Outcome, output};

use place::{Complaint, Place};
use report::{Dump, Report};
use scene::Scene;
use session::{Ran, Session};

/// Run a scene file: draws with shader, data and state, and what they have to come to
///
/// docs/scenes.md tells all keys. Where the file has [expect] and something does not hold, the exit code is 1.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  patchwave run assets/scenes/wavy-sheet.toml -o out/sheet.png
  patchwave run assets/scenes/isoline-order.toml --dump vertices,indices
  patchwave run assets/scenes/wavy-sheet.toml --mode dynamic --json --dump statistics
  patchwave run assets/scenes/wavy-sheet.toml --mesh out/sheet.glb
  patchwave run my.toml -o out/my.png --watch

The mesh's position and normal are the members that [target] names; what it does not name is
found by its name: world_position, position, …, normal, uv, … (docs/program.md). Several draws
are one mesh.")]
pub(crate) struct Args {
    /// The scene file
    #[arg(value_name = "FILE.toml")]
    scene: PathBuf,
    /// Where domain waves run [default: what the file says, else onchip]
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<Mode>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// What to print beside the counts, comma-separated: vertices, indices, statistics
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    dump: Vec<Dump>,
    /// The PNG file to write; the scene needs a [target]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    meshes: MeshArgs,
    /// Run again whenever the scene file or a file that it names changes, until Ctrl-C; after an error, the files of the
    /// last run without one stay
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    adapter: AdapterChoice,
}

/// What came of a scene, compared with what it expects.
pub(crate) struct Judged {
    ran: Option<Ran>,
    picture: Option<Picture>,
    /// The error that was expected.
    error: Option<String>,
    mode: Mode,
    /// `None` where the file expects nothing.
    pub(crate) mismatches: Option<Vec<String>>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.watch { watch(args) } else { once(args, &mut None) }
}

/// Runs the scene again and again, and ends only where there is nothing to watch or nobody to tell.
fn watch(args: &Args) -> anyhow::Result<Outcome> {
    anyhow::ensure!(args.scene.is_file(), "cannot watch {}: there is no such file", args.scene.display());
    args.meshes.prepared(args.output.as_deref())?;
    args.output.as_deref().map(output::Prepared::new).transpose()?;
    let mut gpu = Some(Gpu::open(&args.adapter.choose()?)?);
    let mut files = vec![args.scene.clone()];
    loop {
        let scene = Watch::new([args.scene.clone()]);
        if let Ok(named) = scene_files(&args.scene) {
            files = named;
        }
        let watch = scene.and(&files);
        watch::tell(once(args, &mut gpu), &watch)?;
        watch.wait();
    }
}

/// A scene file and the files that it names.
fn scene_files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let text = place::SceneText { path: path.to_owned(), text: std::fs::read_to_string(path)? };
    let file = file::SceneFile::read(&text)?;
    Ok(file.files().map(|name| text.folder().join(name)).collect())
}

/// Runs the scene once, on the device that there is or on one that is opened for it.
fn once(args: &Args, gpu: &mut Option<Gpu>) -> anyhow::Result<Outcome> {
    let scene = Scene::read(&args.scene)?;
    if args.output.is_some() && scene.file.target.is_none() {
        let error = Place::new("target").complain("--output needs [target], which the scene does not have");
        return Err(scene.text.located(error.into()));
    }
    let mesh_files = args.meshes.prepared(args.output.as_deref())?;
    let picture_file = args.output.as_deref().map(output::Prepared::new).transpose()?;
    let progress = Progress::new("running the scene");
    let gpu = match gpu {
        Some(gpu) => gpu,
        None => gpu.insert(Gpu::open(&args.adapter.choose()?)?),
    };
    let judged = judge(gpu, &scene, args.mode, args.output.is_some())?;
    if let (Some(file), Some(picture)) = (picture_file, &judged.picture) {
        file.write(&picture.read_png(gpu)?)?;
    }
    let draws = judged.ran.iter().flat_map(|ran| &ran.draws);
    if let Some(mesh) = Mesh::joined(draws.map(|draw| &draw.mesh)) {
        let members = members(&scene, &mesh);
        for file in mesh_files {
            file.write(&mesh, &members)?;
        }
    }
    drop(progress);
    let report = Report {
        scene: args.scene.display().to_string(),
        about: scene.file.about.as_deref(),
        adapter: &gpu.name,
        mode: judged.mode,
        ran: judged.ran.as_ref(),
        error: judged.error,
        mismatches: judged.mismatches.as_deref(),
        dumps: &args.dump,
    };
    output::say(&if args.json { report.json()? } else { report.text() })?;
    let failed = judged.mismatches.is_some_and(|mismatches| !mismatches.is_empty());
    Ok(if failed { Outcome::Failed } else { Outcome::Passed })
}

/// What a mesh file takes of the output struct: the members that the target names, else those of known names.
fn members<'a>(scene: &'a Scene, mesh: &'a Mesh) -> ExportMembers<'a> {
    let by_name = ExportMembers::by_name(&mesh.surface);
    let target = scene.file.target.as_ref();
    let named = |name: fn(&file::Target) -> Option<&str>| target.and_then(name);
    ExportMembers {
        position: named(|target| target.position.as_deref()).or(by_name.position),
        normal: named(|target| target.normal.as_deref()).or(by_name.normal),
        uv: by_name.uv,
    }
}

/// Reads a scene file and compares it with what it expects; whether it has expectations at all is told by the result.
pub(crate) fn judge_file(gpu: &Gpu, path: &Path) -> anyhow::Result<Judged> {
    judge(gpu, &Scene::read(path)?, None, false)
}

/// Runs a scene and compares it with what it expects.
fn judge(gpu: &Gpu, scene: &Scene, mode: Option<Mode>, paints: bool) -> anyhow::Result<Judged> {
    judge_unlocated(gpu, scene, mode, paints).map_err(|error| scene.text.located(error))
}

fn judge_unlocated(gpu: &Gpu, scene: &Scene, asked: Option<Mode>, paints: bool) -> anyhow::Result<Judged> {
    let expect = scene.file.expect.as_ref();
    let mode = asked.unwrap_or(scene.mode());
    let wanted = expect.and_then(|expect| expect.error.as_deref());
    let ran = Session::new(gpu, scene).and_then(|session| Ok((session.run(mode)?, session)));
    let (outcome, session) = match (ran, wanted) {
        (Ok(both), None) => both,
        (Ok(_), Some(wanted)) => {
            let mismatches = Some(vec![format!("error: expected one with '{wanted}', and there was none")]);
            return Ok(Judged { ran: None, picture: None, error: None, mode, mismatches });
        }
        (Err(error), Some(wanted)) if may_be_expected(&error) => {
            let text = format!("{error:#}");
            let mismatch =
                (!text.contains(wanted)).then(|| format!("error: expected one with '{wanted}', found: {text}"));
            let mismatches = Some(Vec::from_iter(mismatch));
            return Ok(Judged { ran: None, picture: None, error: Some(text), mode, mismatches });
        }
        (Err(error), _) => return Err(error),
    };
    let mut mismatches = expect::compare(gpu, &scene.file, &outcome, mode == scene.mode())?;
    if expect.is_some_and(|expect| expect.same_in_all_modes) {
        for other in Mode::ALL.into_iter().filter(|other| *other != mode) {
            let ran = session.run(other).with_context(|| format!("in mode {}", other.name()))?;
            if let Some(difference) = difference(&outcome, &ran) {
                mismatches.push(format!(
                    "same_in_all_modes: {} and {} differ: {difference}",
                    mode.name(),
                    other.name()
                ));
            }
        }
    }
    let image = expect.and_then(|expect| expect.image.as_ref());
    let picture = match &scene.file.target {
        Some(target) if paints || image.is_some() => Some(paint::paint(gpu, scene, target, &outcome)?),
        None if image.is_some() => {
            return Err(Place::new("expect")
                .key("image")
                .complain("it needs [target], which the scene does not have")
                .into());
        }
        _ => None,
    };
    if let (Some(image), Some(picture), Some(target)) = (image, &picture, &scene.file.target) {
        expect::compare_image(image, &scene.text, &picture.read(gpu)?, target.size, &mut mismatches)?;
    }
    Ok(Judged { ran: Some(outcome), picture, error: None, mode, mismatches: expect.map(|_| mismatches) })
}

/// Whether an error is of the kind that a file may expect: not that the file itself is wrong.
fn may_be_expected(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Complaint>().is_none_or(|complaint| complaint.is_relayed)
}

/// The first thing that two modes differ in.
fn difference(one: &Ran, other: &Ran) -> Option<String> {
    for (i, (one, other)) in one.draws.iter().zip(&other.draws).enumerate() {
        let (one, other) = (&one.mesh, &other.mesh);
        if one == other {
            continue;
        }
        if one.patches != other.patches {
            return Some(format!("the patches of draw {i}"));
        }
        if one.indices != other.indices {
            return Some(format!("the indices of draw {i}"));
        }
        let stride = (one.surface.stride as usize).max(1);
        let vertices = one.vertices.chunks(stride).zip(other.vertices.chunks(stride));
        let vertex = vertices.enumerate().find(|(_, (one, other))| one != other).map_or(0, |(vertex, _)| vertex);
        return Some(format!("vertex {vertex} of draw {i}"));
    }
    (one.draws.len() != other.draws.len()).then(|| "the number of draws".to_owned())
}
