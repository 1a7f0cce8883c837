//! What a verb is about, on stderr, once it has taken longer than a second.

use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a verb may be silent.
const PATIENCE: Duration = Duration::from_secs(1);

/// Says what is being done while it lives.
pub(crate) struct Progress {
    steps: Option<Sender<&'static str>>,
    teller: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins with a step.
    pub(crate) fn new(first: &'static str) -> Self {
        let (steps, receiver) = mpsc::channel();
        let begun = Instant::now();
        let teller = thread::Builder::new().spawn(move || {
            let (mut step, mut told) = (first, false);
            loop {
                let left = PATIENCE.saturating_sub(begun.elapsed());
                let next = if told {
                    receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
                } else {
                    receiver.recv_timeout(left)
                };
                match next {
                    Ok(next) => {
                        step = next;
                        told = false;
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        // Nothing can be done where stderr is closed.
                        let _ = writeln!(io::stderr(), "{step} …");
                        told = true;
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        // Without a thread there is no telling, which is no reason to fail.
        Self { steps: Some(steps), teller: teller.ok() }
    }

    /// Goes on to the next step.
    pub(crate) fn say(&mut self, step: &'static str) {
        if let Some(steps) = &self.steps {
            let _ = steps.send(step);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.steps = None;
        if let Some(teller) = self.teller.take() {
            let _ = teller.join();
        }
    }
}
