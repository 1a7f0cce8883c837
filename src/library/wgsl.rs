//! The library's WGSL, and which pieces of it a shader asks for.

use crate::tessellator::Partitioning;

/// A file of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its name, that of the twin's module.
    pub name: &'static str,
    /// Its text.
    pub wgsl: &'static str,
    /// The pieces that it needs, by name.
    pub needs: &'static [&'static str],
}

macro_rules! piece {
    ($name:literal, $needs:expr) => {
        Piece { name: $name, wgsl: include_str!(concat!("../../shaders/library/", $name, ".wgsl")), needs: &$needs }
    };
}

/// All pieces. `process` and `culling` also need the factor structs, which patchwave gives every shader.
pub const PIECES: [Piece; 9] = [
    piece!("rounding", []),
    piece!("process", ["rounding"]),
    piece!("edges", ["rounding"]),
    piece!("culling", []),
    piece!("blend", []),
    piece!("bernstein", []),
    piece!("bspline", []),
    piece!("pn", ["blend"]),
    piece!("phong", ["blend"]),
];

/// Functions that are generated, since they return the pipeline's state.
const PARTITIONING: &str = "tess_partitioning";
const MAXIMUM_FACTOR: &str = "tess_maximum_factor";

impl Piece {
    /// The names that it declares for shaders to use: functions `tess_…`, structs `Tess…`, constants `TESS_…`.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.wgsl.lines().filter_map(|line| {
            let name = ["fn ", "struct ", "const "].iter().find_map(|keyword| line.strip_prefix(keyword))?;
            let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
            name.get(..end).filter(|name| !name.starts_with("pw_"))
        })
    }
}

/// Whether the library declares this name, in whichever piece.
pub(crate) fn has_name(name: &str) -> bool {
    // Most words of a shader are dismissed here.
    let prefixed = name.get(..5).is_some_and(|prefix| prefix.eq_ignore_ascii_case("tess_")) || name.starts_with("Tess");
    prefixed
        && ([PARTITIONING, MAXIMUM_FACTOR].contains(&name)
            || PIECES.iter().any(|piece| piece.names().any(|n| n == name)))
}

/// Pieces to put behind a shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    pieces: [bool; PIECES.len()],
    state: bool,
}

impl Selection {
    /// The pieces that declare any of these words, and what those need.
    pub(crate) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut selection = Self::default();
        for word in words.filter(|word| has_name(word)) {
            selection.state |= [PARTITIONING, MAXIMUM_FACTOR].contains(&word);
            for (chosen, piece) in selection.pieces.iter_mut().zip(&PIECES) {
                *chosen |= piece.names().any(|name| name == word);
            }
        }
        // What is needed needs nothing itself.
        let chosen = selection.pieces;
        for (piece, _) in PIECES.iter().zip(chosen).filter(|(_, chosen)| *chosen) {
            for (needed, other) in selection.pieces.iter_mut().zip(&PIECES) {
                *needed |= piece.needs.contains(&other.name);
            }
        }
        selection
    }

    /// Their text, for a pipeline with this state.
    pub(crate) fn text(&self, partitioning: Partitioning, maximum_factor: f32) -> String {
        let mut text = String::new();
        for (piece, _) in PIECES.iter().zip(self.pieces).filter(|(_, chosen)| *chosen) {
            text.push_str(piece.wgsl);
        }
        if self.state {
            text.push_str(&format!(
                "fn {PARTITIONING}() -> u32 {{ return {}u; }}\n\
                 fn {MAXIMUM_FACTOR}() -> f32 {{ return bitcast<f32>({:#x}u); }}\n",
                partitioning.number(),
                maximum_factor.to_bits(),
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_prefixed_and_declared_once() {
        let mut names: Vec<&str> = PIECES.iter().flat_map(Piece::names).collect();
        assert!(names.contains(&"tess_process_2d_quad_avg") && names.contains(&"TessQuad"));
        assert!(names.contains(&"TESS_POW2") && names.len() > 50, "{names:?}");
        assert!(names.iter().all(|name| has_name(name)), "{names:?}");
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "each name once");
        assert!(has_name("tess_partitioning") && !has_name("tess_factor") && !has_name("Tessé") && !has_name("té"));
    }

    #[test]
    fn what_is_asked_for_comes_with_what_it_needs() {
        let text = |word: &'static str| Selection::of([word].into_iter()).text(Partitioning::Pow2, 8.0);
        assert_eq!(text("position"), "");
        assert_eq!(text("pw_lib_inside"), "");
        assert!(text("tess_process_tri_avg").contains("fn tess_round_factor"));
        assert!(!text("tess_process_tri_avg").contains("fn tess_weigh"));
        assert!(text("tess_phong").contains("fn tess_weigh"));
        assert!(text("tess_partitioning").starts_with("fn tess_partitioning() -> u32 { return 1u; }"));
        for piece in &PIECES {
            for needed in piece.needs {
                let needed = PIECES.iter().find(|other| other.name == *needed).unwrap();
                assert!(needed.needs.is_empty(), "{} needs {}", piece.name, needed.name);
            }
        }
    }
}
