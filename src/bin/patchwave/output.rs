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

/// Says one line on stderr about what is odd without being wrong.
pub(crate) fn warn(line: &str) {
    let _ = writeln!(io::stderr(), "warning: {line}");
}

/// Says one line on stderr about what goes on.
pub(crate) fn remark(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes a text to stdout.
pub(crate) fn say(text: &str) -> anyhow::Result<()> {
    say_bytes(text.as_bytes())
}

/// Writes bytes to stdout.
pub(crate) fn say_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
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
    Prepared::new(path)?.write(bytes)
}

/// A file that is known to be writable, before the work is done that it is for.
pub(crate) struct Prepared<'a> {
    path: &'a Path,
    /// What becomes the file; none where the path is a device or a pipe, which renaming would replace by a file.
    part: Option<Part>,
}

impl<'a> Prepared<'a> {
    /// Makes the folder, if it is not there, and an empty temporary file in it.
    pub(crate) fn new(path: &'a Path) -> anyhow::Result<Self> {
        let shown = path.display();
        if path.is_dir() {
            anyhow::bail!("cannot write {shown}: it is a folder; name a file");
        }
        if path.exists() && !path.is_file() {
            return Ok(Self { path, part: None });
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
        fs::write(&part.0, []).with_context(|| format!("cannot write {shown}"))?;
        Ok(Self { path, part: Some(part) })
    }

    /// Writes the file whole or not at all.
    pub(crate) fn write(self, bytes: &[u8]) -> anyhow::Result<()> {
        let written = match &self.part {
            None => fs::write(self.path, bytes),
            Some(part) => fs::write(&part.0, bytes).and_then(|()| fs::rename(&part.0, self.path)),
        };
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// A temporary file, removed if it still has its temporary name at the end.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
