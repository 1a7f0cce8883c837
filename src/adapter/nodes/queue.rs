//! What is queued on nodes, and how it goes forward: lists, signals and waits, in each node's order.
//!
//! wgpu has no fence between devices. A wait therefore holds a node's later submissions back on the CPU until the signal
//! has come, whether that is queued before the wait or after it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use super::error::NodeError;
use super::list::{ClosedNodeCommandList, Segment};
use super::push::Push;
use super::set::NodeSet;
use super::staging::{Mapped, Mapping, Way};
use crate::pipeline::guarded;

/// A fence of a node set: a number that signals set and waits wait for. All nodes see it. Clones are the same fence.
#[derive(Clone, Debug)]
pub struct NodeFence {
    set: u64,
    label: String,
    state: Arc<Mutex<FenceState>>,
}

#[derive(Debug, Default)]
struct FenceState {
    value: u64,
    /// The node that failed before it could signal, and the highest value that it would have given.
    lost: Option<(u32, u64)>,
}

impl FenceState {
    fn lose(&mut self, node: usize, value: u64) {
        if self.lost.is_none_or(|(_, lost)| lost <= value) {
            self.lost = Some((node as u32, value));
        }
    }
}

impl NodeFence {
    /// The value reached.
    #[must_use]
    pub fn completed_value(&self) -> u64 {
        self.with(|state| state.value)
    }

    /// Sets the value from the CPU; as in Direct3D it may also go back.
    pub fn signal(&self, value: u64) {
        self.with(|state| state.value = value);
    }

    fn with<T>(&self, with: impl FnOnce(&mut FenceState) -> T) -> T {
        with(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Something queued on a node.
#[derive(Debug)]
enum Item {
    Run(VecDeque<Segment>),
    Signal(NodeFence, u64),
    Wait(NodeFence, u64),
}

/// A small copy that tells when everything submitted before it is through.
#[derive(Debug)]
struct Marker {
    mapped: Mapped,
    /// What it signals.
    signal: Option<(NodeFence, u64)>,
}

/// What a node has before it.
#[derive(Debug, Default)]
pub(super) struct NodeQueue {
    items: VecDeque<Item>,
    push: Option<Push>,
    /// Signals whose work is submitted, oldest first.
    markers: VecDeque<Marker>,
    /// Whether something was submitted since the last marker.
    unmarked: bool,
}

impl NodeQueue {
    fn is_idle(&self) -> bool {
        self.items.is_empty() && self.push.is_none() && self.markers.is_empty()
    }
}

/// How far what is queued has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Everything queued has been done, on the GPUs too.
    Idle,
    /// Something is under way on a GPU.
    Working,
    /// All that is left waits for fences that nothing under way signals.
    Waiting,
}

impl NodeSet {
    /// Creates a fence.
    #[must_use]
    pub fn create_fence(&self, label: &str, initial_value: u64) -> NodeFence {
        let state = FenceState { value: initial_value, lost: None };
        NodeFence { set: self.id, label: label.to_owned(), state: Arc::new(Mutex::new(state)) }
    }

    /// Queues a list on its node, and starts what can start.
    ///
    /// # Errors
    /// [`NodeError::Foreign`]; else as [`NodeSet::advance`], for whatever is queued.
    pub fn execute(&mut self, list: ClosedNodeCommandList) -> Result<(), NodeError> {
        if list.set != self.id {
            return Err(NodeError::Foreign { what: "the command list".to_owned() });
        }
        self.enqueue(list.node, Item::Run(list.segments.into()))
    }

    /// Queues a signal: the fence is set to `value` when everything queued on the node before it is through, pushes having
    /// arrived.
    ///
    /// # Errors
    /// [`NodeError::NodeIndex`], [`NodeError::Foreign`]; else as [`NodeSet::advance`].
    pub fn signal(&mut self, node: u32, fence: &NodeFence, value: u64) -> Result<(), NodeError> {
        self.check_fence(fence)?;
        self.check_index(node)?;
        // Whoever waits for what was lost has this to wait for.
        fence.with(|state| state.lost = state.lost.filter(|(_, lost)| *lost > value));
        self.enqueue(node, Item::Signal(fence.clone(), value))
    }

    /// Queues a wait: nothing queued on the node after it is submitted before the fence has reached `value`, however long
    /// that takes and whether or not the signal is queued yet.
    ///
    /// # Errors
    /// As [`NodeSet::signal`].
    pub fn wait(&mut self, node: u32, fence: &NodeFence, value: u64) -> Result<(), NodeError> {
        self.check_fence(fence)?;
        self.enqueue(node, Item::Wait(fence.clone(), value))
    }

    fn check_fence(&self, fence: &NodeFence) -> Result<(), NodeError> {
        if fence.set == self.id {
            return Ok(());
        }
        Err(NodeError::Foreign { what: format!("fence '{}'", fence.label) })
    }

    fn enqueue(&mut self, node: u32, item: Item) -> Result<(), NodeError> {
        let index = self.check_index(node)?;
        if let Some(queue) = self.queues.get_mut(index) {
            queue.items.push_back(item);
        }
        self.advance().map(|_| ())
    }

    /// Goes as far as it can without waiting for a GPU: looks what has come back, submits what may be submitted.
    ///
    /// # Errors
    /// The errors of queued work, one a call, oldest first: [`NodeError::Lost`], [`NodeError::SignalLost`],
    /// [`NodeError::Pipeline`]. What else is queued on that node is dropped then; other nodes go on.
    pub fn advance(&mut self) -> Result<Progress, NodeError> {
        for node in 0..self.nodes.len() {
            self.poll(node, wgpu::PollType::Poll);
        }
        loop {
            let mut moved = false;
            for node in 0..self.nodes.len() {
                match self.advance_node(node) {
                    Ok(step) => moved |= step,
                    Err(error) => {
                        self.fail(node, error);
                        moved = true;
                    }
                }
            }
            if !moved {
                break;
            }
        }
        if let Some(error) = self.errors.pop_front() {
            return Err(error);
        }
        Ok(if self.queues.iter().all(|queue| queue.is_idle() && !queue.unmarked) {
            Progress::Idle
        } else if self.queues.iter().any(|queue| queue.push.is_some() || !queue.markers.is_empty() || queue.unmarked) {
            Progress::Working
        } else {
            Progress::Waiting
        })
    }

    /// Goes on until everything queued is through. On native backends somebody has to poll the devices meanwhile;
    /// `finish_blocking` does it itself.
    ///
    /// # Errors
    /// As [`NodeSet::advance`], and [`NodeError::NeverSignalled`] where a node waits for what nothing queued signals; it
    /// goes on waiting.
    pub async fn finish(&mut self) -> Result<(), NodeError> {
        poll_fn(|context| {
            self.notify.register(context.waker());
            match self.finish_step() {
                Ok(Some(())) => Poll::Ready(Ok(())),
                Ok(None) => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            }
        })
        .await
    }

    /// [`NodeSet::finish`], waiting for the devices.
    ///
    /// # Errors
    /// As [`NodeSet::finish`].
    #[cfg(feature = "blocking")]
    pub fn finish_blocking(&mut self) -> Result<(), NodeError> {
        while self.finish_step()?.is_none() {
            let blocked = self.queues.iter().enumerate().find_map(|(index, queue)| {
                let push = queue.push.as_ref().and_then(Push::blocked_on);
                let on = push.or_else(|| Some((index, queue.markers.front()?.mapped.submission.clone())));
                on.map(|(node, submission)| (index, node, submission))
            });
            let Some((index, node, submission)) = blocked else { continue };
            if !self.poll(node, wgpu::PollType::Wait { submission_index: Some(submission), timeout: None }) {
                // A device that cannot be polled calls nobody back.
                self.fail(index, NodeError::Lost { node: node as u32, doing: "as its work was waited for" });
            }
        }
        Ok(())
    }

    /// A step of finishing: `Some` once there is nothing left.
    fn finish_step(&mut self) -> Result<Option<()>, NodeError> {
        match self.advance()? {
            Progress::Idle => return Ok(Some(())),
            Progress::Waiting => return Err(self.never_signalled()),
            Progress::Working => {}
        }
        // What was submitted without a signal behind it is waited for too.
        for node in 0..self.nodes.len() {
            let last = self.queues.get(node).is_some_and(|queue| queue.unmarked && queue.push.is_none());
            if last && let Err(error) = self.mark(node, None) {
                self.fail(node, error);
            }
        }
        Ok(None)
    }

    fn never_signalled(&self) -> NodeError {
        let waits = (0..).zip(&self.queues).find_map(|(node, queue)| match queue.items.front() {
            Some(Item::Wait(fence, value)) => Some(NodeError::NeverSignalled {
                node,
                fence: format!("fence '{}'", fence.label),
                value: *value,
                completed: fence.completed_value(),
            }),
            _ => None,
        });
        // Only waits hold a node back that has nothing under way.
        waits.unwrap_or(NodeError::NodeIndex { index: 0, nodes: self.node_count() })
    }

    /// Polls a device. wgpu panics where the driver reports the device as lost; the callbacks that never come say so too.
    fn poll(&self, node: usize, how: wgpu::PollType) -> bool {
        let Some(node) = self.nodes.get(node) else { return false };
        matches!(catch_unwind(AssertUnwindSafe(|| node.shared.device.poll(how))), Ok(Ok(_)))
    }

    /// One step of a node; whether there was one.
    fn advance_node(&mut self, index: usize) -> Result<bool, NodeError> {
        let mut moved = self.reap_markers(index)?;
        let notify = Arc::clone(&self.notify);
        let Some(queue) = self.queues.get_mut(index) else { return Ok(false) };
        if let Some(push) = &mut queue.push {
            moved |= push.advance(&mut self.nodes, &notify)?;
            if !push.is_done() {
                return Ok(moved);
            }
            queue.push = None;
            moved = true;
        }
        match queue.items.front_mut() {
            None => {}
            Some(Item::Wait(fence, value)) => {
                let (reached, lost) = fence.with(|state| (state.value >= *value, state.lost));
                if reached {
                    queue.items.pop_front();
                    return Ok(true);
                }
                if let Some((lost, _)) = lost.filter(|(_, lost)| lost >= value) {
                    let fence = format!("fence '{}'", fence.label);
                    return Err(NodeError::SignalLost { node: index as u32, fence, value: *value, lost });
                }
            }
            Some(Item::Run(segments)) => {
                match segments.pop_front() {
                    None => {
                        queue.items.pop_front();
                    }
                    Some(Segment::Push(pieces)) => {
                        queue.push = Some(Push::new(index, pieces, self.staging));
                    }
                    Some(Segment::Commands(commands)) => {
                        queue.unmarked = true;
                        if let Some(node) = self.nodes.get(index) {
                            let shared = &node.shared;
                            guarded(&shared.device, "a node's command list", || shared.queue.submit([commands]))?;
                        }
                    }
                }
                return Ok(true);
            }
            Some(Item::Signal(..)) => {
                if let Some(Item::Signal(fence, value)) = queue.items.pop_front() {
                    self.mark(index, Some((fence, value)))?;
                }
                return Ok(true);
            }
        }
        Ok(moved)
    }

    /// Submits a marker behind what the node has been given.
    fn mark(&mut self, index: usize, signal: Option<(NodeFence, u64)>) -> Result<(), NodeError> {
        let notify = Arc::clone(&self.notify);
        let (Some(node), Some(queue)) = (self.nodes.get_mut(index), self.queues.get_mut(index)) else { return Ok(()) };
        let shared = Arc::clone(&node.shared);
        let submitted = node.staging.take(&shared.device, Way::Read, 4).and_then(|buffer| {
            let submission = guarded(&shared.device, "a signal", || {
                let mut encoder = shared
                    .device
                    .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("node signal") });
                encoder.clear_buffer(&buffer, 0, Some(4));
                shared.queue.submit([encoder.finish()])
            })?;
            Ok((buffer, submission))
        });
        let (buffer, submission) = match submitted {
            Ok(submitted) => submitted,
            Err(error) => {
                if let Some((fence, value)) = signal {
                    fence.with(|state| state.lose(index, value));
                }
                return Err(error.into());
            }
        };
        let mapped = Mapped::request(&shared.device, buffer, wgpu::MapMode::Read, submission, &notify);
        queue.markers.push_back(Marker { mapped, signal });
        queue.unmarked = false;
        Ok(())
    }

    fn reap_markers(&mut self, index: usize) -> Result<bool, NodeError> {
        let (Some(node), Some(queue)) = (self.nodes.get_mut(index), self.queues.get_mut(index)) else {
            return Ok(false);
        };
        let mut moved = false;
        while let Some(marker) = queue.markers.front() {
            match marker.mapped.state() {
                Mapping::Pending => break,
                Mapping::Failed => return Err(NodeError::Lost { node: index as u32, doing: "before a signal" }),
                Mapping::Mapped => {}
            }
            if let Some(Marker { mapped, signal }) = queue.markers.pop_front() {
                mapped.buffer.unmap();
                node.staging.give(Way::Read, mapped.buffer);
                if let Some((fence, value)) = signal {
                    fence.signal(value);
                }
            }
            moved = true;
        }
        Ok(moved)
    }

    /// Drops what a node has before it, and notes in its fences that their signals will not come.
    fn fail(&mut self, index: usize, error: NodeError) {
        let own = index as u32;
        // A push may have failed for the sake of any other node.
        let nodes = std::iter::once(own).chain((0..self.node_count()).filter(move |node| *node != own));
        let error = self.or_lost(error, nodes, "as what was queued for it began");
        // A push fails for its destination's sake too; then this node is the one that will not signal.
        if let Some(queue) = self.queues.get_mut(index) {
            let queue = std::mem::take(queue);
            let queued = queue.items.into_iter().filter_map(|item| match item {
                Item::Signal(fence, value) => Some((fence, value)),
                Item::Run(_) | Item::Wait(..) => None,
            });
            let marked = queue.markers.into_iter().filter_map(|marker| marker.signal);
            for (fence, value) in marked.chain(queued) {
                fence.with(|state| state.lose(index, value));
            }
        }
        self.errors.push_back(error);
    }
}
