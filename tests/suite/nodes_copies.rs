//! Buffers between two simulated nodes: every byte where it belongs, and nothing touched where a copy is refused.

use patchwave::adapter::CrossNodeSharingTier;
use patchwave::adapter::nodes::{NodeError, ResourceUse, Staging};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::nodes_rig::{NodeRig, pattern};

/// Offsets and sizes of any alignment, from a byte to several chunks; local copies and pushes alike.
#[test]
fn any_bytes_go_anywhere() {
    let mut rig = NodeRig::new();
    let (from, to) = (pattern(300_001, 1), pattern(300_003, 2));
    let source = rig.buffer(0, 1, &from);
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let sizes = prop_oneof![0usize..16, 0usize..200_000];
    let ranges = (0u32..2, sizes, 0usize..100_000, 0usize..100_000);
    // Proptest runs closures that do not change what they hold.
    let rig = std::cell::RefCell::new(&mut rig);
    runner
        .run(&ranges, |(node, size, source_offset, offset)| {
            let rig = &mut *rig.borrow_mut();
            let destination = rig.buffer(node, 3, &to);
            rig.run(0, |list| {
                list.copy_buffer_region(&destination, offset as u64, &source, source_offset as u64, size as u64)
            })
            .unwrap_or_else(|error| panic!("the copy: {error}"));
            let mut expected = to.clone();
            expected[offset..offset + size].copy_from_slice(&from[source_offset..source_offset + size]);
            prop_assert!(rig.bytes(&destination) == expected, "{size} bytes {source_offset} -> {offset} on {node}");
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn every_alignment_of_a_few_bytes() {
    let mut rig = NodeRig::new();
    let (from, to) = (pattern(64, 3), pattern(64, 4));
    let source = rig.buffer(1, 3, &from);
    for node in [0, 1] {
        let mut list = rig.nodes.create_command_list(2).expect("a list of node 1");
        let mut copies = Vec::new();
        for size in 0..10usize {
            for source_offset in 0..4usize {
                for offset in 0..4usize {
                    let destination = rig.buffer(node, 3, &to);
                    let (at, begin) = (16 + offset, 8 + source_offset);
                    list.copy_buffer_region(&destination, at as u64, &source, begin as u64, size as u64)
                        .expect("it is right");
                    let mut expected = to.clone();
                    expected[at..at + size].copy_from_slice(&from[begin..begin + size]);
                    copies.push((destination, expected));
                }
            }
        }
        rig.nodes.execute(list.close().expect("it is right")).expect("it starts");
        rig.nodes.finish_blocking().expect("it ends");
        for (destination, expected) in copies {
            assert_eq!(rig.bytes(&destination), expected);
        }
    }
}

/// Several threads copy the chunks; the bytes are the same.
#[test]
fn copied_by_several_threads() {
    let mut rig = NodeRig::with(Staging { chunk_bytes: 4 << 20, ring: 3, copy_threads: 3 });
    let (from, to) = (pattern(14_000_000, 5), pattern(14_000_000, 6));
    let (source, destination) = (rig.buffer(0, 1, &from), rig.buffer(1, 3, &to));
    let (begin, at, size) = (1_003, 2_001, 13_900_006);
    rig.run(0, |list| list.copy_buffer_region(&destination, at as u64, &source, begin as u64, size as u64))
        .unwrap_or_else(|error| panic!("the push: {error}"));
    let mut expected = to;
    expected[at..at + size].copy_from_slice(&from[begin..begin + size]);
    assert!(rig.bytes(&destination) == expected);
}

#[test]
fn whole_buffers_and_parts_of_one() {
    let mut rig = NodeRig::new();
    let (from, to) = (pattern(70_003, 7), pattern(70_003, 8));
    let source = rig.buffer(0, 1, &from);
    let (near, far) = (rig.buffer(0, 1, &to), rig.buffer(1, 3, &to));
    rig.run(0, |list| {
        list.copy_resource(&near, &source)?;
        list.copy_resource(&far, &source)
    })
    .expect("both are copied");
    assert!(rig.bytes(&near) == from && rig.bytes(&far) == from);
    // Within one buffer, side by side.
    rig.run(0, |list| list.copy_buffer_region(&near, 20_001, &near, 1, 20_000)).expect("the ranges are apart");
    let mut expected = from.clone();
    expected.copy_within(1..20_001, 20_001);
    assert!(rig.bytes(&near) == expected);
}

/// Pushes in both directions at once, and in turn: what came is pushed back.
#[test]
fn there_and_back() {
    let mut rig = NodeRig::new();
    let data = pattern(500_000, 9);
    let a = rig.buffer(0, 3, &data);
    let b = rig.buffer(1, 3, &pattern(500_000, 10));
    let back = rig.buffer(0, 3, &vec![0; 500_000]);
    rig.run(0, |list| list.copy_resource(&b, &a)).expect("there");
    rig.run(1, |list| list.copy_resource(&back, &b)).expect("and back");
    assert!(rig.bytes(&back) == data);
    let (c, d) = (rig.buffer(0, 3, &pattern(300_000, 11)), rig.buffer(1, 3, &pattern(300_000, 12)));
    let (to_c, to_d) = (rig.buffer(0, 3, &vec![0; 300_000]), rig.buffer(1, 3, &vec![0; 300_000]));
    for (node, from, to) in [(0, &c, &to_d), (1, &d, &to_c)] {
        let mut list = rig.nodes.create_command_list(1 << node).expect("a list");
        list.copy_resource(to, from).expect("it is right");
        rig.nodes.execute(list.close().expect("it is right")).expect("it starts");
    }
    rig.nodes.finish_blocking().expect("both end");
    assert!(rig.bytes(&to_d) == pattern(300_000, 11) && rig.bytes(&to_c) == pattern(300_000, 12));
}

/// Each case: what the call says, and that close says it again.
#[test]
fn refused_copies_touch_nothing() {
    let mut rig = NodeRig::new();
    let (data, old) = (pattern(4_096, 13), pattern(4_096, 14));
    let local = rig.buffer(0, 3, &data);
    let other = rig.buffer(0, 3, &old);
    let remote = rig.buffer(1, 3, &old);
    let hidden = rig.buffer(1, 2, &old);
    let short = rig.buffer(0, 1, &old[..100]);
    let stranger = NodeRig::new();
    let foreign = stranger.buffer(0, 3, &old);
    let cases = [
        // A pull.
        (
            &other,
            0,
            &remote,
            0,
            16,
            "node 0 may not use it as copy source: that needs TIER_2; the tier is TIER_1_EMULATED",
        ),
        (&remote, 0, &remote, 256, 16, "may not use it as copy source: that needs TIER_2"),
        (&hidden, 0, &local, 0, 16, "its visible node mask 0x2 lacks node 0, which the command list is of"),
        (&remote, 4_090, &local, 0, 7, "7 bytes from offset 4090 end beyond the destination's 4096 bytes"),
        (&remote, 0, &local, 4_095, 2, "2 bytes from offset 4095 end beyond the source's 4096 bytes"),
        (&remote, 4_097, &local, 0, 0, "0 bytes from offset 4097 end beyond the destination's 4096 bytes"),
        (&remote, u64::MAX, &local, 0, 4, "end beyond the destination's 4096 bytes"),
        (&remote, 0, &short, 97, 4, "end beyond the source's 100 bytes"),
        (&other, 10, &other, 5, 6, "6 bytes from offset 5 to 10 of one buffer overlap"),
        (&other, 5, &other, 5, 1, "of one buffer overlap"),
        (&foreign, 0, &local, 0, 16, "buffer 'test' belongs to another node set"),
        (&remote, 0, &foreign, 0, 16, "buffer 'test' belongs to another node set"),
    ];
    for (to, to_offset, from, from_offset, size, words) in cases {
        let mut list = rig.nodes.create_command_list(1).expect("a list of node 0");
        // What was right before is not executed either.
        list.copy_buffer_region(&other, 0, &local, 0, 64).expect("it is right");
        let error = list.copy_buffer_region(to, to_offset, from, from_offset, size).expect_err("it is refused");
        assert!(error.to_string().contains(words), "{error}");
        // The first error sticks.
        list.copy_buffer_region(&other, 0, &local, 4_096, 64).expect_err("this one is refused too");
        assert_eq!(list.close().expect_err("nothing to execute").to_string(), error.to_string());
    }
    rig.nodes.finish_blocking().expect("there is nothing to do");
    for buffer in [&other, &remote, &hidden] {
        assert_eq!(rig.bytes(buffer), old);
    }
    assert_eq!((rig.bytes(&local), stranger.bytes(&foreign)), (data, old));
}

#[test]
fn whole_resources_that_differ_are_refused() {
    let rig = NodeRig::new();
    let (a, b) = (rig.buffer(0, 1, &pattern(100, 1)), rig.buffer(1, 3, &pattern(101, 2)));
    let texture = rig.texture(1, &super::nodes_textures::colour(8, 8));
    let mut list = rig.nodes.create_command_list(1).expect("a list");
    let error = list.copy_resource(&b, &a).expect_err("sizes differ");
    assert_eq!(error.to_string(), "copy_resource: from 100 bytes to 101; sizes must be the same");
    let error = list.copy_resource(&a, &a).expect_err("it is one buffer");
    assert_eq!(error.to_string(), "copy_resource: source and destination are one buffer");
    let source = patchwave::adapter::nodes::NodeResource::from(&a);
    let error = list.copy_resource(patchwave::adapter::nodes::NodeResource::from(&texture), source);
    let words = "copy_resource: a buffer and a texture; copy_texture_region takes a footprint of the buffer";
    assert_eq!(error.expect_err("kinds differ").to_string(), words);
    assert_eq!(rig.bytes(&b), pattern(101, 2));
}

/// Nothing but copies into it may be done with a resource of another node, and not by the caller's own commands.
#[test]
fn other_uses_across_nodes_are_refused() {
    let rig = NodeRig::new();
    let (local, remote) = (rig.buffer(0, 3, &pattern(64, 1)), rig.buffer(1, 3, &pattern(64, 2)));
    for (resource_use, needs) in [
        (ResourceUse::UnorderedAccess, Some(CrossNodeSharingTier::Tier2)),
        (ResourceUse::ShaderAtomics, Some(CrossNodeSharingTier::Tier3)),
        (ResourceUse::RenderTarget, None),
        (ResourceUse::CopySource, Some(CrossNodeSharingTier::Tier2)),
    ] {
        let mut list = rig.nodes.create_command_list(1).expect("a list");
        list.encode(&[((&local).into(), resource_use)], |_| ()).expect("its own resource");
        let mut called = false;
        let error = list.encode(&[((&remote).into(), resource_use)], |_| called = true).expect_err("another node's");
        match &error {
            NodeError::CrossNode { needs: found, tier, .. } => {
                assert_eq!((*found, *tier), (needs, CrossNodeSharingTier::Tier1Emulated));
            }
            other => panic!("another error: {other}"),
        }
        let name = needs.map_or("no sharing tier allows it", CrossNodeSharingTier::name);
        assert!(error.to_string().contains(name), "{error}");
        assert!(!called && list.close().is_err());
    }
    let mut list = rig.nodes.create_command_list(1).expect("a list");
    let error = list.encode(&[((&remote).into(), ResourceUse::CopyDestination)], |_| ()).expect_err("not by wgpu");
    assert!(error.to_string().contains("written by the list's own copies only"), "{error}");
}

/// The caller's commands run between the copies, in order.
#[test]
fn own_commands_run_in_order() {
    let mut rig = NodeRig::new();
    let (a, b) = (rig.buffer(0, 1, &pattern(4_000, 1)), rig.buffer(1, 3, &pattern(4_000, 2)));
    let mut list = rig.nodes.create_command_list(1).expect("a list");
    let clear = |list: &mut patchwave::adapter::nodes::NodeCommandList, offset, size| {
        list.encode(&[((&a).into(), ResourceUse::CopyDestination)], |encoder| {
            encoder.clear_buffer(a.buffer(), offset, Some(size));
        })
        .expect("its own resource");
    };
    clear(&mut list, 0, 1_000);
    list.copy_buffer_region(&b, 0, &a, 0, 2_000).expect("it is right");
    clear(&mut list, 0, 4_000);
    list.copy_buffer_region(&b, 3_000, &a, 3_000, 1_000).expect("it is right");
    rig.nodes.execute(list.close().expect("it is right")).expect("it starts");
    rig.nodes.finish_blocking().expect("it ends");
    let mut expected = pattern(4_000, 2);
    expected[..1_000].fill(0);
    expected[1_000..2_000].copy_from_slice(&pattern(4_000, 1)[1_000..2_000]);
    expected[3_000..].fill(0);
    assert_eq!(rig.bytes(&b), expected);
    // What wgpu refuses of the caller's commands comes up as the list is closed.
    let mut list = rig.nodes.create_command_list(1).expect("a list");
    list.encode(&[], |encoder| encoder.clear_buffer(a.buffer(), 2, Some(4))).expect("not looked at yet");
    assert!(matches!(list.close(), Err(NodeError::Pipeline(patchwave::Error::Wgpu { .. }))));
}
