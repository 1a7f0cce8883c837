//! Node masks and what is local, remote and allowed: pure functions against Direct3D's rules.

use patchwave::adapter::CrossNodeSharingTier;
use patchwave::adapter::nodes::{
    HeapMasks, MaskError, Place, Refusal, ResourceUse, all_nodes, check_use, lowest_tier, node_of, nodes_of, place,
};
use proptest::prelude::*;

/// Masks of few nodes are as likely as any others.
fn masks() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), 0u32..16, (0u32..32).prop_map(|bit| 1 << bit)]
}

proptest! {
    #[test]
    fn a_mask_of_one_node(mask in masks(), nodes in 1u32..=32) {
        let effective = if mask == 0 { 1 } else { mask };
        let right = effective.count_ones() == 1 && effective.trailing_zeros() < nodes;
        let answer = node_of(mask, "a mask", nodes);
        prop_assert_eq!(answer.is_ok(), right, "{:?}", answer);
        if let Ok(node) = answer {
            prop_assert_eq!(1 << node, effective);
        }
    }

    #[test]
    fn a_mask_of_several_nodes(mask in masks(), nodes in 1u32..=32) {
        let effective = if mask == 0 { 1 } else { mask };
        let right = (nodes..32).all(|bit| effective & (1 << bit) == 0);
        prop_assert_eq!(nodes_of(mask, "a mask", nodes), if right {
            Ok(effective)
        } else {
            Err(MaskError::UnknownNode { what: "a mask", mask: effective, nodes })
        });
    }

    /// A heap is taken if and only if creation has one bit, visible includes it, and no bit is of a node too many.
    #[test]
    fn a_heap(creation in masks(), visible in masks(), nodes in 1u32..=32) {
        let (c, v) = (if creation == 0 { 1 } else { creation }, if visible == 0 { 1 } else { visible });
        let right = c.count_ones() == 1 && v & c == c && (c | v) & !all_nodes(nodes) == 0;
        let answer = HeapMasks::new(creation, visible, nodes);
        prop_assert_eq!(answer.is_ok(), right, "{:?}", answer);
        if let Ok(masks) = answer {
            prop_assert_eq!((masks.creation(), masks.visible(), 1 << masks.node()), (c, v, c));
            for node in 0..32 {
                let expected = if masks.node() == node {
                    Place::Local
                } else if v & (1 << node) != 0 {
                    Place::Remote
                } else {
                    Place::Invisible
                };
                prop_assert_eq!(place(node, masks), expected);
            }
        }
    }
}

/// Visible 0 stands for 1, not for "where it was created".
#[test]
fn the_trap_of_visible_0() {
    let error = HeapMasks::new(2, 0, 2).expect_err("node 0 alone could see it");
    assert_eq!(error, MaskError::NotVisibleWhereCreated { creation: 2, visible: 1 });
    assert_eq!(
        error.to_string(),
        "visible node mask 0x1 lacks the creation node mask 0x2; include it (a visible mask of 0 stands for 1, node 0)"
    );
    assert!(HeapMasks::new(0, 0, 1).is_ok());
    assert!(HeapMasks::new(1, 0, 2).is_ok());
}

#[test]
fn masks_say_what_is_wrong() {
    let message = |error: MaskError| error.to_string();
    let several = node_of(3, "command list node mask", 2).expect_err("two bits");
    assert_eq!(message(several), "command list node mask 0x3 has 2 bits; set exactly one (0 stands for node 0)");
    let unknown = node_of(4, "command list node mask", 2).expect_err("node 2 of 2");
    assert_eq!(message(unknown), "command list node mask 0x4 names node 2, and there are 2; use bits 0 to 1");
    assert_eq!([all_nodes(0), all_nodes(1), all_nodes(5), all_nodes(32)], [0, 1, 31, u32::MAX]);
}

/// The whole table: what a list of node 0 may do with a resource of node 1 at each tier.
#[test]
fn uses_across_nodes_by_tier() {
    use CrossNodeSharingTier as Tier;
    use ResourceUse as Use;
    let remote = HeapMasks::new(2, 3, 2).expect("it is right");
    let local = HeapMasks::new(1, 3, 2).expect("it is right");
    let hidden = HeapMasks::new(2, 2, 2).expect("it is right");
    let tiers = [Tier::NotSupported, Tier::Tier1Emulated, Tier::Tier1, Tier::Tier2, Tier::Tier3];
    let tier_2 = Some(Tier::Tier2);
    for (resource_use, lowest) in [
        (Use::CopyDestination, Some(Tier::Tier1Emulated)),
        (Use::CopySource, tier_2),
        (Use::ConstantBuffer, tier_2),
        (Use::ShaderResource, tier_2),
        (Use::UnorderedAccess, tier_2),
        (Use::InputAssembler, tier_2),
        (Use::IndirectArguments, tier_2),
        (Use::Resolve, tier_2),
        (Use::ShaderAtomics, Some(Tier::Tier3)),
        (Use::RenderTarget, None),
        (Use::DepthStencil, None),
    ] {
        assert_eq!(lowest_tier(resource_use), lowest);
        for tier in tiers {
            let allowed = lowest.is_some_and(|lowest| lowest as u32 <= tier as u32);
            let expected = if allowed { Ok(Place::Remote) } else { Err(Refusal::Tier { needs: lowest }) };
            assert_eq!(check_use(0, remote, resource_use, tier), expected, "{resource_use:?} at {tier}");
            assert_eq!(check_use(0, local, resource_use, tier), Ok(Place::Local));
            assert_eq!(check_use(0, hidden, resource_use, tier), Err(Refusal::Invisible));
        }
    }
    assert_eq!(tiers.map(|tier| tier as u32), [0, 1, 2, 3, 4]);
}
