//! Where results go: stdout without a panic when the reader leaves, files without a partial one left behind.

use anyhow::Context;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Whoever read stdout has gone, as after `| head`. Not an error of ours.
#[derive(Debug, thiserror::Error)]
#[error("the reader of stdout is gone")]
pub(crate) struct ReaderGone;

/// What was asked makes no sense, as far as clap cannot tell: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Says one line on stderr, in the form of every error of the program.
pub(crate) fn complain(line: &str) {
    // Nothing can be done where stderr is closed, and `eprintln!` would panic.
    let _ = writeln!(io::stderr(), "error: {line}");
}

/// Writes a text to stdout.
pub(crate) fn say(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(ReaderGone.into()),
        result => result.context("cannot write to stdout"),
    }
}

/// Writes a text to a file, or to stdout where none is asked for.
pub(crate) fn write_text(path: Option<&Path>, text: &str) -> anyhow::Result<()> {
    match path {
        Some(path) => write_file(path, text.as_bytes()),
        None => say(text),
    }
}

/// Writes a file whole or not at all: to a temporary file beside it, which then takes its name.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let shown = path.display();
    if path.is_dir() {
        anyhow::bail!("cannot write {shown}: it is a folder; name a file");
    }
    // Renaming onto a device or a pipe would replace it by a file.
    if path.exists() && !path.is_file() {
        return fs::write(path, bytes).with_context(|| format!("cannot write {shown}"));
    }
    let Some(name) = path.file_name() else {
        anyhow::bail!("cannot write {shown}: it names no file");
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot write {shown}: its folder {} cannot be made", folder.display()))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", std::process::id()));
    let part = Part(folder.join(hidden));
    fs::write(&part.0, bytes).and_then(|()| fs::rename(&part.0, path)).with_context(|| format!("cannot write {shown}"))
}

/// A temporary file, removed if it still has its temporary name at the end.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
