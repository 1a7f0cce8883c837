//! Pipelines compiled on a thread of their own, so that frames go on meanwhile.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use patchwave::TessellationPipeline;

use super::state::Variant;

/// Pipelines that are kept, so that going back takes no compiling.
const KEPT: usize = 16;

/// What compiles one pipeline.
pub(super) type Job = Box<dyn FnOnce() -> anyhow::Result<TessellationPipeline> + Send>;

/// Tells the window that there is news, from any thread.
pub(super) type Wake = Arc<dyn Fn() + Send + Sync>;

type Compiled = (Variant, anyhow::Result<TessellationPipeline>);

/// Compiles one pipeline at a time.
pub(super) struct Compiler {
    /// The latest last.
    kept: Vec<(Variant, TessellationPipeline)>,
    running: Option<Variant>,
    /// What did not compile last, and why.
    failed: Option<(Variant, anyhow::Error)>,
    sender: Sender<Compiled>,
    receiver: Receiver<Compiled>,
    wake: Wake,
}

/// Where a wanted pipeline stands.
pub(super) enum Standing<'a> {
    Ready(&'a TessellationPipeline),
    Compiling,
    Failed(&'a anyhow::Error),
}

impl Compiler {
    pub(super) fn new(wake: Wake) -> Self {
        let (sender, receiver) = mpsc::channel();
        Self { kept: Vec::new(), running: None, failed: None, sender, receiver, wake }
    }

    /// Whether a thread is at work.
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The pipeline of a variant; where there is none, `job` makes what compiles it, once no other is being compiled.
    pub(super) fn want(&mut self, variant: &Variant, job: impl FnOnce() -> Job) -> Standing<'_> {
        while let Ok((of, result)) = self.receiver.try_recv() {
            self.running = None;
            match result {
                Ok(pipeline) => {
                    if self.kept.len() >= KEPT {
                        self.kept.remove(0);
                    }
                    self.kept.push((of, pipeline));
                }
                Err(error) => self.failed = Some((of, error)),
            }
        }
        if let Some(at) = self.kept.iter().position(|(of, _)| of == variant) {
            // Whatever was wrong is no longer wanted.
            self.failed = None;
            return Standing::Ready(&self.kept[at].1);
        }
        if self.failed.as_ref().is_some_and(|(of, _)| of != variant) {
            self.failed = None;
        }
        if self.failed.is_none() && self.running.is_none() {
            self.start(variant.clone(), job());
        }
        match &self.failed {
            Some((_, error)) => Standing::Failed(error),
            None => Standing::Compiling,
        }
    }

    fn start(&mut self, variant: Variant, job: Job) {
        let (sender, wake, of) = (self.sender.clone(), Arc::clone(&self.wake), variant.clone());
        let spawned = std::thread::Builder::new().name("compiler".to_owned()).spawn(move || {
            // A receiver that is gone does not want it.
            let _ = sender.send((of, job()));
            wake();
        });
        match spawned {
            Ok(_) => self.running = Some(variant),
            Err(error) => self.failed = Some((variant, anyhow::Error::new(error).context("no thread to compile on"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::state;
    use super::*;
    use patchwave::tessellator::Partitioning;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn what_fails_is_told_until_something_else_is_wanted() {
        let (woken, wakes) = channel();
        let mut compiler = Compiler::new(Arc::new(move || woken.send(()).expect("the test listens")));
        let variant = state().settings.variant();
        let fails = || -> Job { Box::new(|| anyhow::bail!("no such constant")) };
        assert!(matches!(compiler.want(&variant, fails), Standing::Compiling));
        wakes.recv_timeout(Duration::from_secs(20)).expect("it wakes");
        let unwanted = || -> Job { panic!("what has failed is not tried again and again") };
        for _ in 0..3 {
            let Standing::Failed(error) = compiler.want(&variant, unwanted) else { panic!("it failed") };
            assert_eq!(error.to_string(), "no such constant");
        }
        assert!(!compiler.is_running());
        let mut other = state().settings;
        other.partitioning = Partitioning::Pow2;
        assert!(matches!(compiler.want(&other.variant(), fails), Standing::Compiling));
        // While that one is at it, the first is not started again.
        assert!(matches!(compiler.want(&variant, unwanted), Standing::Compiling));
        wakes.recv_timeout(Duration::from_secs(20)).expect("it wakes");
        assert!(matches!(compiler.want(&variant, fails), Standing::Compiling));
    }
}
