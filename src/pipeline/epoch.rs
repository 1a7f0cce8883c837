//! Which results still lie in a workspace's buffers: each filling of it has a number, and results keep that of theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;

/// The number of a workspace's present filling, shared with the results that were encoded into it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epoch(Arc<AtomicU64>);

impl Epoch {
    /// What lay in the buffers until now is about to be overwritten.
    pub(crate) fn advance(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// The present filling.
    pub(crate) fn mark(&self) -> Mark {
        Mark { epoch: self.clone(), number: self.0.load(Ordering::Acquire) }
    }
}

/// The filling that a result belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    epoch: Epoch,
    number: u64,
}

impl Mark {
    /// Refuses a result whose memory has been given to another draw.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.epoch.0.load(Ordering::Acquire) == self.number { Ok(()) } else { Err(Error::ResultOverwritten) }
    }
}
