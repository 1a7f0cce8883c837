//! What a text tells of itself before its domain is known: enough to guess what a descriptor would say.

use super::prelude::{INPUT_POINT, OUTPUT_POINT};
use super::tokens::Tokens;
use crate::tessellator::Domain;

/// What [`outline`] finds in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The domains whose factor structs the text names: `IsolineFactors`, `TriFactors`, `QuadFactors`, in this order.
    pub domains: Vec<Domain>,
    /// The names of the functions, in order.
    pub functions: Vec<String>,
    /// One more than the highest number that the text itself gives `input_point`; 0 where it gives none.
    pub input_points: u32,
    /// The same of `output_point`.
    pub output_points: u32,
}

/// Looks a text over, comments left out. No text makes it fail; what is no WGSL gives what can be found in it.
#[must_use]
pub fn outline(source: &str) -> Outline {
    let words: Vec<&str> = Tokens::new(source).map(|token| token.text).collect();
    let named = |name: &str| words.contains(&name);
    let domains = Domain::ALL.into_iter().filter(|domain| {
        named(match domain {
            Domain::Isoline => "IsolineFactors",
            Domain::Tri => "TriFactors",
            Domain::Quad => "QuadFactors",
        })
    });
    let functions = words.windows(2).filter(|pair| pair[0] == "fn").map(|pair| pair[1].to_owned()).collect();
    let points = |accessor: &str| {
        let calls = words.windows(4).filter(|call| call[0] == accessor && call[1] == "(" && call[3] == ")");
        calls.filter_map(|call| index(call[2])).max().map_or(0, |index| index.saturating_add(1))
    };
    Outline {
        domains: domains.collect(),
        functions,
        input_points: points(INPUT_POINT),
        output_points: points(OUTPUT_POINT),
    }
}

/// A literal of WGSL that can be an index: decimal or hexadecimal, with or without a suffix.
fn index(literal: &str) -> Option<u32> {
    let digits = literal.strip_suffix(['u', 'i']).unwrap_or(literal);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_comments_does_not_count() {
        let text = "/* QuadFactors */ struct C { f: TriFactors } // fn no()\nfn yes() { _ = output_point(0x0fu); }";
        let expected = Outline {
            domains: vec![Domain::Tri],
            functions: vec!["yes".to_owned()],
            input_points: 0,
            output_points: 16,
        };
        assert_eq!(outline(text), expected);
    }

    #[test]
    fn nothing_makes_it_fail() {
        for text in ["", "fn", "input_point(", "input_point(4294967295u)", "/* open", "fn \u{0} IsolineFactors"] {
            let found = outline(text);
            assert!(found.functions.len() <= 1, "{text}: {found:?}");
        }
        assert_eq!(outline("input_point(4294967295u)").input_points, u32::MAX);
        assert_eq!(outline("input_point(i + 3u); input_point(2)").input_points, 3);
    }
}
