//! What patchwave gives every shader: structs that the composer appends as they are, and stand-ins for the accessors.

use super::tokens::Tokens;
use crate::library::Selection;
use crate::tessellator::Partitioning;

/// Stands for the pipeline's own maximum factor.
const MAXIMUM_FACTOR: f32 = 64.0;

/// The structs given to the user's shader. Appended to the user's text both here and by the composer.
pub(crate) const PRELUDE: &str = "\
struct QuadFactors { edges: vec4f, inside: vec2f }
struct TriFactors { edges: vec3f, inside: f32 }
struct IsolineFactors { density: f32, detail: f32 }
struct VertexId { vertex_index: u32, instance_index: u32 }
";

/// The factor structs of the quad, tri and isoline domains.
pub(super) const FACTORS: [&str; 3] = ["QuadFactors", "TriFactors", "IsolineFactors"];
/// The struct that tells the vertex function which vertex it makes.
pub(super) const VERTEX_ID: &str = "VertexId";

/// The accessor of the vertex function's results.
pub(crate) const INPUT_POINT: &str = "input_point";
/// The accessor of the hull function's results.
pub(crate) const OUTPUT_POINT: &str = "output_point";
/// The accessor of the patch constants.
pub(crate) const CONSTANTS: &str = "constants";

/// The pieces of the library that a text names. Reading and composing ask for them alike.
pub(crate) fn library_of(source: &str) -> Selection {
    Selection::of(Tokens::new(source).map(|token| token.text))
}

/// The text that reading puts after the user's, and which stage each part of it is about.
pub(super) struct Appendix {
    /// The text.
    pub(super) text: String,
    /// Where the accessor that stands for a stage's result ends, as an offset in `text`; in order.
    pub(super) ends: [usize; 3],
}

impl Appendix {
    /// The accessors only need to type-check: they return zeros. A local variable and not a private one, so that the
    /// user's private variables are the only ones in the module.
    pub(super) fn new(input_point: &str, output_point: &str, constants: &str, library: Selection) -> Self {
        let mut text = format!("\n{PRELUDE}");
        let mut ends = [0; 3];
        let accessors = [
            (INPUT_POINT, "point: u32", input_point),
            (OUTPUT_POINT, "point: u32", output_point),
            (CONSTANTS, "", constants),
        ];
        for (end, (name, parameters, result)) in ends.iter_mut().zip(accessors) {
            text.push_str(&format!(
                "fn {name}({parameters}) -> {result} {{ var pw_zero: {result}; return pw_zero; }}\n"
            ));
            *end = text.len();
        }
        // Last, since what stands before an end is taken to be about a stage function. The state is not known yet; it is
        // given by functions, so that no type can depend on it.
        text.push_str(&library.text(Partitioning::Integer, MAXIMUM_FACTOR));
        Self { text, ends }
    }
}
