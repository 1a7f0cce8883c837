//! The factor sets that patchwave and the driver are both given.

use patchwave::tessellator::Domain;

/// Four outer and two inner factors as bits, in native order, which is the domain's own with zeros where it has none.
pub(super) type Set = [u32; 6];

/// Numbers that only have to be the same on every run (splitmix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` up to `high`.
    pub(super) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * ((self.next() >> 40) as f32 / (1u32 << 24) as f32)
    }
}

/// What is no ordinary factor: clamped, or dropping the patch.
const ODD: [f32; 14] = [
    f32::NAN,
    -f32::NAN,
    0.0,
    -0.0,
    -1.0,
    f32::NEG_INFINITY,
    f32::INFINITY,
    f32::MIN_POSITIVE,
    0.25,
    0.999_999_94,
    64.000_01,
    65.0,
    1e30,
    f32::MAX,
];

/// Factor sets of a domain: all factors the same, at whole numbers and one step to either side; odd values for all and for
/// each alone; each factor different, fractional and whole.
pub(super) fn sets(domain: Domain, is_quick: bool) -> Vec<Vec<f32>> {
    let count = domain.factor_count();
    let mut sets = Vec::new();
    let whole: Vec<u32> = if is_quick { vec![1, 2, 3, 4, 7, 16, 31, 64] } else { (1..=64).collect() };
    for n in whole {
        let n = n as f32;
        sets.extend([n.next_down(), n, n.next_up()].map(|factor| vec![factor; count]));
    }
    for odd in ODD {
        sets.push(vec![odd; count]);
        for place in 0..count {
            let mut set = vec![3.0; count];
            set[place] = odd;
            sets.push(set);
        }
    }
    let mut random = Random::new(domain.number().into());
    let (turns, most) = if is_quick { (12, 24.0) } else { (150, 66.0) };
    for turn in 0..turns {
        let set: Vec<f32> = (0..count).map(|_| random.between(0.5, most)).collect();
        sets.push(if turn % 3 == 2 { set.into_iter().map(f32::ceil).collect() } else { set });
    }
    sets
}

/// The bits of a set in the order in which native tessellation takes them.
pub(super) fn native(domain: Domain, set: &[f32]) -> Set {
    let (outer, inner) = set.split_at(domain.edge_count().min(set.len()));
    let mut native = [0; 6];
    for (to, from) in native.iter_mut().zip(outer) {
        *to = from.to_bits();
    }
    for (to, from) in native[4..].iter_mut().zip(inner) {
        *to = from.to_bits();
    }
    native
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_the_domains() {
        for domain in Domain::ALL {
            for is_quick in [true, false] {
                let sets = sets(domain, is_quick);
                assert!(sets.iter().all(|set| set.len() == domain.factor_count()));
                assert!(sets.iter().flatten().any(|factor| factor.is_nan()));
            }
        }
        let one = |n: u32| (n as f32).to_bits();
        assert_eq!(native(Domain::Tri, &[1.0, 2.0, 3.0, 4.0]), [one(1), one(2), one(3), 0, one(4), 0]);
        assert_eq!(native(Domain::Isoline, &[1.0, 2.0]), [one(1), one(2), 0, 0, 0, 0]);
    }
}
