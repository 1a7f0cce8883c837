//! `--watch`: pictures follow their files, and stay where a file is wrong.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::cli::{error_of, folder, patchwave};

/// How long a run may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program while it watches; it is ended with the test.
struct Watching {
    child: Child,
    lines: Receiver<String>,
    told: Vec<String>,
}

impl Watching {
    fn new(args: &[&str]) -> Self {
        let mut command = patchwave(args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let stderr = child.stderr.take().expect("stderr is a pipe");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines, told: Vec::new() }
    }

    /// Waits until a line with these words is said; `false` where there is no adapter.
    #[track_caller]
    fn says(&mut self, words: &str) -> bool {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(words) => return true,
                Ok(line) if line.contains("there is no adapter") || line.contains("no adapter answers") => {
                    eprintln!("skipped: there is no adapter to draw on");
                    return false;
                }
                Ok(line) => self.told.push(line),
                Err(error) => panic!("'{words}' was not said ({error}), but {:?}", self.told),
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

/// Puts a text into a file at once, with a new file in the place of the old one, as many editors do: a write could be seen
/// half done by who looks while this thread waits for its turn.
fn put(path: &Path, text: impl AsRef<[u8]>) {
    let new = path.with_extension("new");
    fs::write(&new, text).and_then(|()| fs::rename(&new, path)).expect("the file can be replaced");
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn a_scene_is_run_again_and_an_error_keeps_the_picture() {
    let place = folder("watch-run");
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
    let [scene, shader, picture] = ["sheet.toml", "wavy-sheet.wgsl", "sheet.png"].map(|name| place.join(name));
    let toml = fs::read_to_string(assets.join("wavy-sheet.toml")).expect("the scene is there");
    let (toml, _) = toml.split_once("[expect]").expect("it expects something");
    put(&scene, toml);
    let wgsl = fs::read_to_string(assets.join("wavy-sheet.wgsl")).expect("the shader is there");
    put(&shader, &wgsl);

    let mut watching = Watching::new(&["run", text(&scene), "-o", text(&picture), "--watch"]);
    if !watching.says("watching 2 files") {
        return;
    }
    let first = read(&picture);
    // The shader changes.
    let changed = wgsl.replacen("fn domain(", "// another colour\nfn domain(", 1).replace("vec3f(0.", "vec3f(0.9 - 0.");
    assert_ne!(changed, wgsl);
    put(&shader, &changed);
    assert!(watching.says("watching 2 files"));
    let second = read(&picture);
    assert!(first != second, "the picture follows the shader");
    // It breaks.
    put(&shader, changed.replacen("fn domain(", "fn domain((", 1));
    assert!(watching.says("error: "));
    assert!(watching.says("what was written before stays"));
    assert!(read(&picture) == second, "the picture of before stays");
    // It is repaired.
    put(&shader, &wgsl);
    assert!(watching.says("watching 2 files"));
    assert!(read(&picture) == first, "and follows again");
    // The scene breaks, and is repaired with another size.
    put(&scene, toml.replace("[state]", "[state"));
    assert!(watching.says("sheet.toml:"));
    assert!(watching.says("what was written before stays"));
    put(&scene, toml.replace("size = [480, 360]", "size = [48, 36]"));
    assert!(watching.says("watching 2 files"));
    assert_eq!(image::image_dimensions(&picture).expect("it is a picture"), (48, 36));
    // A file that is named and not there is waited for.
    fs::remove_file(&shader).expect("it was there");
    assert!(watching.says("cannot read"));
    put(&shader, &wgsl);
    assert!(watching.says("watching 2 files"));
    assert!(watching.child.try_wait().expect("its state is known").is_none(), "it goes on until it is ended");
}

#[test]
fn the_teapot_follows_its_shader() {
    let place = folder("watch-render");
    let [shader, picture] = ["mine.wgsl", "teapot.png"].map(|name| place.join(name));
    let wgsl = include_str!("../../assets/shaders/teapot.wgsl");
    put(&shader, wgsl);
    let args = ["render", "teapot", "--size", "64x48", "--shader", text(&shader), "-o", text(&picture), "--watch"];
    let mut watching = Watching::new(&args);
    if !watching.says("watching 1 file") {
        return;
    }
    let first = read(&picture);
    // A wrong shader says where it is wrong.
    put(&shader, wgsl.replace("tess_bernstein(location.x)", "lerp(location.x)"));
    assert!(watching.says("mine.wgsl:92:13:"));
    assert!(watching.says("what was written before stays"));
    assert!(read(&picture) == first);
    // So does one that the studio cannot draw.
    put(&shader, wgsl.replace("@location(1)", "@location(5)"));
    assert!(watching.says("needs @location(1) normal: vec3f"));
    assert!(watching.says("what was written before stays"));
    // A shader that moves the teapot makes another picture.
    let moved = wgsl.replace("ControlPoint(attributes.position)", "ControlPoint(attributes.position * 0.5)");
    assert_ne!(moved, wgsl);
    put(&shader, moved);
    assert!(watching.says("watching 1 file"));
    assert!(read(&picture) != first);
}

#[test]
fn nothing_to_watch_is_an_error() {
    let place = folder("watch-bad");
    let missing = place.join("missing.toml");
    let error = error_of(&["run", text(&missing), "--watch"], 1);
    assert!(error.contains("cannot watch") && error.contains("there is no such file"), "{error}");
    let error = error_of(&["run", text(&place), "--watch"], 1);
    assert!(error.contains("cannot watch"), "{error}");
    let error = error_of(&["render", "teapot", "-o", "x.png", "--watch"], 2);
    assert!(error.contains("--shader"), "{error}");
    let error = error_of(&["render", "teapot", "-o", "x.png", "--watch", "--shader", text(&missing)], 1);
    assert!(error.contains("cannot watch"), "{error}");
    let error = error_of(&["render", "teapot", "-o", "x.png", "--shader", text(&missing)], 1);
    assert!(error.contains("cannot read"), "{error}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it() {
    use std::os::unix::process::ExitStatusExt;
    let place = folder("watch-end");
    let [shader, picture] = ["mine.wgsl", "teapot.png"].map(|name| place.join(name));
    put(&shader, include_str!("../../assets/shaders/teapot.wgsl"));
    let args = ["render", "teapot", "--size", "16x12", "--shader", text(&shader), "-o", text(&picture), "--watch"];
    let mut watching = Watching::new(&args);
    if !watching.says("watching 1 file") {
        return;
    }
    let interrupt = std::process::Command::new("kill").args(["-INT", &watching.child.id().to_string()]).status();
    assert!(interrupt.expect("kill is everywhere").success());
    let status = watching.child.wait().expect("its end is known");
    assert_eq!(status.signal(), Some(2));
    let mut left: Vec<_> =
        fs::read_dir(&place).expect("it is there").flatten().map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(left, ["mine.wgsl", "teapot.png"], "nothing is left behind");
}
