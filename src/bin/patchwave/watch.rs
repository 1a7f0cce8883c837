//! Waiting until files change.
//!
//! By asking for their times and sizes a few times a second: a scene has a handful of files, so this costs nothing that
//! could be measured, and it sees what notifications of the system miss or tell of differently on every system: editors
//! that put a new file in the old one's place, folders of other machines, and files that are not there yet.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::output::{self, ReaderGone, Usage};
use crate::{Outcome, one_line};

/// How often it is asked.
const INTERVAL: Duration = Duration::from_millis(100);

/// What tells two states of a file apart; `None` where it is not there.
type Stamp = Option<(SystemTime, u64)>;

/// Files and how they were. Made before they are read, so that no change between reading and waiting is missed.
pub(crate) struct Watch(Vec<(PathBuf, Stamp)>);

impl Watch {
    pub(crate) fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(files.into_iter().map(|file| (file.clone(), stamp(&file))).collect())
    }

    /// These files as well, as they are now.
    pub(crate) fn and(mut self, files: &[PathBuf]) -> Self {
        self.0.extend(Self::new(files.iter().cloned()).0);
        self
    }

    /// Returns once a file has changed, and then none for an interval: what is being written is not read in the middle.
    pub(crate) fn wait(&self) {
        let now = || self.0.iter().map(|(file, _)| stamp(file)).collect::<Vec<_>>();
        let mut last = now();
        loop {
            let changed = last.iter().zip(&self.0).any(|(now, (_, before))| now != before);
            thread::sleep(INTERVAL);
            let next = now();
            if changed && next == last {
                return;
            }
            last = next;
        }
    }
}

/// Says on stderr how a run went that is going to be repeated. What only another command line can mend is given back, and so
/// is a reader who has gone.
pub(crate) fn tell(result: anyhow::Result<Outcome>, watch: &Watch) -> anyhow::Result<()> {
    let count = watch.0.len();
    let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    match result {
        Ok(_) => output::remark(&format!("watching {files}; Ctrl-C ends")),
        Err(error) if error.is::<Usage>() || error.is::<ReaderGone>() => return Err(error),
        Err(error) => {
            output::complain(&one_line(&format!("{error:#}")));
            output::remark(&format!("what was written before stays; watching {files}; Ctrl-C ends"));
        }
    }
    Ok(())
}

fn stamp(file: &Path) -> Stamp {
    let about = fs::metadata(file).ok()?;
    // Where a system has no times, sizes have to do.
    Some((about.modified().unwrap_or(SystemTime::UNIX_EPOCH), about.len()))
}
