//! Order between nodes: signals and waits in both orders of events, and nodes whose device is lost.

use patchwave::adapter::nodes::{ClosedNodeCommandList, NodeBuffer, NodeError, NodeFence, Progress};

use super::nodes_rig::{NodeRig, pattern};

const SIZE: usize = 400_003;
/// So many chunks of 64 KiB that a push of it takes a while.
const LARGE: usize = 128_000_003;
/// When a device is lost, in milliseconds from the beginning of a push. One of these is in the middle of it, however fast
/// the machine and busy its processors.
const MIDDLES: [u64; 7] = [15, 5, 30, 2, 60, 1, 120];

/// A list of `node` that copies all of a buffer.
fn copy(rig: &NodeRig, node: u32, to: &NodeBuffer, from: &NodeBuffer) -> ClosedNodeCommandList {
    let mut list = rig.nodes.create_command_list(1 << node).expect("a list");
    list.copy_resource(to, from).expect("it is right");
    list.close().expect("it is right")
}

/// Node 0 pushes to node 1, which copies what came; the wait is queued before or after the signal.
#[test]
fn waits_hold_back_in_both_orders() {
    for wait_first in [true, false] {
        let mut rig = NodeRig::new();
        let (old, new) = (pattern(SIZE, 1), pattern(SIZE, 2));
        let source = rig.buffer(0, 1, &new);
        let arrives = rig.buffer(1, 3, &old);
        let copied = rig.buffer(1, 2, &vec![0; SIZE]);
        let fence = rig.nodes.create_fence("arrived", 0);
        let push = copy(&rig, 0, &arrives, &source);
        let local = copy(&rig, 1, &copied, &arrives);
        if wait_first {
            rig.nodes.wait(1, &fence, 7).expect("queued");
            rig.nodes.execute(local).expect("held back");
            assert_eq!(rig.nodes.advance().expect("no error"), Progress::Waiting);
            let error = rig.nodes.finish_blocking().expect_err("nothing signals it yet");
            assert_eq!(
                error.to_string(),
                "node 1 waits for fence 'arrived' to reach 7; it is at 0 and nothing that is queued signals it: queue the \
                 signal, or signal the fence from the CPU"
            );
            assert!(rig.bytes(&copied) == vec![0; SIZE], "nothing was submitted");
            rig.nodes.execute(push).expect("it starts");
            rig.nodes.signal(0, &fence, 7).expect("queued");
        } else {
            rig.nodes.execute(push).expect("it starts");
            rig.nodes.signal(0, &fence, 7).expect("queued");
            rig.nodes.wait(1, &fence, 7).expect("queued");
            rig.nodes.execute(local).expect("held back");
        }
        rig.nodes.finish_blocking().expect("all is done");
        assert_eq!(fence.completed_value(), 7);
        assert!(rig.bytes(&copied) == new, "wait first: {wait_first}");
    }
}

/// Node 1 uses the destination first, node 0 writes to it only then: the other way round.
#[test]
fn a_push_waits_for_its_destination_to_be_read() {
    let mut rig = NodeRig::new();
    let (old, new) = (pattern(SIZE, 3), pattern(SIZE, 4));
    let source = rig.buffer(0, 1, &new);
    let target = rig.buffer(1, 3, &old);
    let saved = rig.buffer(1, 2, &vec![0; SIZE]);
    let fence = rig.nodes.create_fence("saved", 0);
    rig.nodes.wait(0, &fence, 1).expect("queued");
    let push = copy(&rig, 0, &target, &source);
    rig.nodes.execute(push).expect("held back");
    let save = copy(&rig, 1, &saved, &target);
    rig.nodes.execute(save).expect("it starts");
    rig.nodes.signal(1, &fence, 1).expect("queued");
    rig.nodes.finish_blocking().expect("all is done");
    assert!(rig.bytes(&saved) == old && rig.bytes(&target) == new);
}

/// A token goes round between the nodes, each adding a copy; values go up and the CPU gives the first.
#[test]
fn in_turns() {
    let mut rig = NodeRig::new();
    let data = pattern(1_001, 5);
    let buffers: Vec<_> =
        (0..9u32).map(|i| rig.buffer(i % 2, 3, &if i == 0 { data.clone() } else { vec![0; 1_001] })).collect();
    let fence = rig.nodes.create_fence("turn", 0);
    // Queued backwards, so that every wait comes before its signal.
    let mut turns: Vec<_> = (0..8u64).collect();
    turns.sort_by_key(|turn| (turn % 2, *turn));
    for turn in turns.iter().rev().filter(|turn| *turn % 2 == 1).rev().chain(turns.iter().filter(|turn| *turn % 2 == 0))
    {
        let node = (turn % 2) as u32;
        let list = copy(&rig, node, &buffers[*turn as usize + 1], &buffers[*turn as usize]);
        rig.nodes.wait(node, &fence, turn + 1).expect("queued");
        rig.nodes.execute(list).expect("held back");
        rig.nodes.signal(node, &fence, turn + 2).expect("queued");
    }
    assert_eq!(rig.nodes.advance().expect("no error"), Progress::Waiting);
    fence.signal(1);
    rig.nodes.finish_blocking().expect("all turns are taken");
    assert_eq!(fence.completed_value(), 9);
    assert!(rig.bytes(&buffers[8]) == data);
}

/// The same without blocking functions: somebody polls the devices.
#[test]
fn awaited() {
    let mut rig = NodeRig::new();
    let data = pattern(SIZE, 6);
    let (source, target) = (rig.buffer(0, 1, &data), rig.buffer(1, 3, &vec![0; SIZE]));
    let push = copy(&rig, 0, &target, &source);
    let devices: Vec<_> = rig.rigs.iter().map(|rig| rig.device.clone()).collect();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                for device in &devices {
                    device.poll(wgpu::PollType::Poll).expect("the device lives");
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        rig.nodes.execute(push).expect("it starts");
        let outcome = pollster::block_on(rig.nodes.finish());
        done.store(true, std::sync::atomic::Ordering::Release);
        outcome.expect("it ends");
    });
    assert!(rig.bytes(&target) == data);
}

#[test]
fn indices_and_fences_of_others_are_refused() {
    let (mut rig, stranger) = (NodeRig::new(), NodeRig::new());
    let fence = rig.nodes.create_fence("mine", 0);
    let error = rig.nodes.wait(2, &fence, 0).expect_err("nodes 0 and 1");
    assert_eq!(error.to_string(), "there is no node 2: the node set has 2, from 0 on");
    let foreign = stranger.nodes.create_fence("theirs", 0);
    let error = rig.nodes.signal(0, &foreign, 1).expect_err("another set's");
    assert_eq!(error.to_string(), "fence 'theirs' belongs to another node set; make it with this one");
    let list = stranger.nodes.create_command_list(0).expect("a list").close().expect("it is empty");
    assert!(matches!(rig.nodes.execute(list), Err(NodeError::Foreign { .. })));
    rig.nodes.finish_blocking().expect("nothing is queued");
}

fn errors(rig: &mut NodeRig) -> Vec<NodeError> {
    std::iter::from_fn(|| rig.nodes.finish_blocking().err()).take(8).collect()
}

/// Executes and signals on node 0 while the device of a node is destroyed after a while.
fn lose_in_the_middle(
    rig: &mut NodeRig,
    node: usize,
    push: ClosedNodeCommandList,
    fence: &NodeFence,
    middle: u64,
) -> Vec<NodeError> {
    let device = rig.rigs[node].device.clone();
    let (start, go) = std::sync::mpsc::channel();
    let other = std::thread::spawn(move || {
        go.recv().expect("the test begins");
        std::thread::sleep(std::time::Duration::from_millis(middle));
        device.destroy();
    });
    // The signal is queued behind the push before that begins.
    let gate = rig.nodes.create_fence("gate", 0);
    rig.nodes.wait(0, &gate, 1).expect("queued");
    rig.nodes.execute(push).expect("held back");
    rig.nodes.signal(0, fence, 1).expect("queued");
    start.send(()).expect("the thread waits");
    gate.signal(1);
    let all = errors(rig);
    other.join().expect("it ends");
    all
}

/// The destination's device goes away in the middle of a push: the error says which node; the source and its data are as
/// they were, and its node goes on.
#[test]
fn a_destination_lost_in_the_middle() {
    let data = pattern(LARGE, 7);
    let seen = MIDDLES.iter().any(|&middle| {
        let mut rig = NodeRig::new();
        let (source, target) = (rig.buffer(0, 1, &data), rig.buffer(1, 3, &vec![0; LARGE]));
        let push = copy(&rig, 0, &target, &source);
        let fence = rig.nodes.create_fence("never", 0);
        let errors = lose_in_the_middle(&mut rig, 1, push, &fence, middle);
        let is_middle = fence.completed_value() == 0;
        if is_middle {
            assert!(matches!(errors.first(), Some(NodeError::Lost { node: 1, .. })), "{errors:?}");
        }
        let copied = rig.buffer(0, 1, &vec![0; LARGE]);
        rig.run(0, |list| list.copy_resource(&copied, &source)).expect("node 0 goes on");
        assert!(rig.bytes(&source) == data && rig.bytes(&copied) == data);
        is_middle
    });
    assert!(seen, "no device was lost in the middle of a push");
}

/// The source's device goes away: bytes beside the destination's range stay, a wait for the push's signal fails and what
/// it held back is not executed, and the destination's node goes on.
#[test]
fn a_source_lost_in_the_middle() {
    let (data, old) = (pattern(LARGE, 8), pattern(LARGE + 200, 9));
    let seen = MIDDLES.iter().any(|&middle| {
        let mut rig = NodeRig::new();
        let (source, target) = (rig.buffer(0, 1, &data), rig.buffer(1, 3, &old));
        let kept = rig.buffer(1, 2, &pattern(LARGE + 200, 10));
        let fence = rig.nodes.create_fence("arrived", 0);
        let mut list = rig.nodes.create_command_list(1).expect("a list");
        list.copy_buffer_region(&target, 101, &source, 0, LARGE as u64).expect("it is right");
        let push = list.close().expect("it is right");
        let held = copy(&rig, 1, &kept, &target);
        rig.nodes.wait(1, &fence, 1).expect("queued");
        rig.nodes.execute(held).expect("held back");
        let errors = lose_in_the_middle(&mut rig, 0, push, &fence, middle);
        let now = rig.bytes(&target);
        let arrived = now[101..].iter().zip(&data).take_while(|(now, new)| now == new).count();
        assert_eq!((&now[..101], &now[101 + LARGE..]), (&old[..101], &old[101 + LARGE..]));
        if fence.completed_value() == 1 || arrived == 0 {
            return false;
        }
        assert!(arrived < LARGE, "{arrived} bytes of {LARGE} had arrived");
        let [NodeError::Lost { node: 0, .. }, NodeError::SignalLost { node: 1, lost: 0, value: 1, .. }] = errors[..]
        else {
            panic!("{errors:?}")
        };
        assert!(rig.bytes(&kept) == pattern(LARGE + 200, 10), "what was held back is not executed");
        rig.run(1, |list| list.copy_resource(&kept, &target)).expect("node 1 goes on");
        assert!(rig.bytes(&kept) == now);
        true
    });
    assert!(seen, "no device was lost in the middle of a push");
}

/// A signal that was queued before a push comes, also where the push's destination turns out to be lost.
#[test]
fn signals_before_a_failed_push_come() {
    let mut rig = NodeRig::new();
    let (source, target) = (rig.buffer(0, 1, &pattern(LARGE, 1)), rig.buffer(1, 3, &pattern(100, 2)));
    let copied = rig.buffer(0, 1, &vec![0; LARGE]);
    let [before, behind] = ["before", "behind"].map(|label| rig.nodes.create_fence(label, 0));
    let work = copy(&rig, 0, &copied, &source);
    let mut list = rig.nodes.create_command_list(1).expect("a list");
    list.copy_buffer_region(&target, 0, &source, 0, 100).expect("it is right");
    let push = list.close().expect("it is right");
    // Held back until the signal and what follows it are queued.
    let gate = rig.nodes.create_fence("gate", 0);
    rig.nodes.wait(0, &gate, 1).expect("queued");
    rig.nodes.execute(work).expect("queued");
    rig.nodes.signal(0, &before, 1).expect("queued");
    rig.nodes.execute(push).expect("queued");
    rig.nodes.signal(0, &behind, 1).expect("queued");
    rig.rigs[1].device.destroy();
    gate.signal(1);
    let errors = errors(&mut rig);
    assert!(matches!(errors[..], [NodeError::Lost { node: 1, .. } | NodeError::Pipeline(_)]), "{errors:?}");
    assert_eq!((before.completed_value(), behind.completed_value()), (1, 0));
    assert!(rig.bytes(&copied) == pattern(LARGE, 1));
    // What is queued now is new work: a wait for what was lost fails until a signal for it is queued again.
    rig.nodes.wait(0, &behind, 1).expect_err("nothing gives 1 any more");
    rig.nodes.signal(0, &behind, 2).expect("queued");
    rig.nodes.wait(0, &behind, 2).expect("queued");
    rig.nodes.finish_blocking().expect("the signal comes");
    assert_eq!(behind.completed_value(), 2);
}

/// A device that is lost before anything is queued on it.
#[test]
fn a_node_lost_before() {
    let mut rig = NodeRig::new();
    let (source, target) = (rig.buffer(0, 1, &pattern(100, 1)), rig.buffer(1, 3, &pattern(100, 2)));
    rig.rigs[0].device.destroy();
    let push = copy(&rig, 0, &target, &source);
    let started = rig.nodes.execute(push);
    let lost = |error: &NodeError| matches!(error, NodeError::Lost { node: 0, .. } | NodeError::Pipeline(_));
    let mut all: Vec<_> = started.err().into_iter().collect();
    all.extend(errors(&mut rig));
    assert!(all.len() == 1 && lost(&all[0]), "{all:?}");
    assert!(rig.bytes(&target) == pattern(100, 2));
}
