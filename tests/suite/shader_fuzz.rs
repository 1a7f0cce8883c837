//! No text makes the front end panic or run out of stack.

use proptest::prelude::*;

use super::shader_errors::{GOOD, read, refused};

#[test]
fn a_megabyte() {
    let comment = "// nothing to see here\n".repeat(50_000);
    assert_eq!(read(&format!("{comment}{GOOD}")).unwrap().lines.vertex, 50_005);
    for piece in ["{", "}", "(", "<", "/*", "*/", "@", "fn ", "a", "\"", "\u{0}", "é", "0x", "1.e", "&", "struct S {"]
    {
        let text = piece.repeat((1 << 20) / piece.len());
        let _ = refused(&text);
        let _ = refused(&format!("{GOOD}{text}\n"));
    }
}

/// Words and symbols that WGSL gives meaning to, and some that it does not.
const SOUP: &str = "fn struct var let const override alias if else for while loop switch case default break continue
    continuing return discard enable requires diagnostic const_assert true false vertex hull patch_constants domain
    input_point output_point constants Attributes ControlPoint PatchConstants Surface QuadFactors VertexId position
    f32 u32 i32 bool f16 vec2f vec3f vec4f mat4x4f array atomic ptr function private workgroup uniform storage
    read_write texture_2d sampler binding_array textureSample workgroupBarrier dpdx
    @group @binding @location @builtin @compute @workgroup_size @id @interpolate @align @size @must_use
    ( ) { } [ ] < > , ; : . -> = == += + - * / % & && | || ! ~ ^ << >> _ @ # $ \" ' \\ ` é \u{0} \u{feff}
    0 1 -1 0x7fffffff 4294967295 1e39 1.5f 0h 1u /* */ //";

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(SOUP.split_whitespace().collect::<Vec<_>>())
}

fn soup() -> impl Strategy<Value = String> {
    let separator = prop_oneof![8 => Just(" "), 1 => Just("\n"), 1 => Just("")];
    prop::collection::vec((word(), separator), 0..60)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(word, separator)| [word, separator]).collect())
}

/// Replaces `length` bytes at a place in the good shader, places and lengths rounded to characters.
fn mutate(mut source: String, edits: &[(f64, usize, String)]) -> String {
    for (place, length, text) in edits {
        let mut start = (source.len() as f64 * place) as usize;
        while !source.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = (start + length).min(source.len());
        while !source.is_char_boundary(end) {
            end += 1;
        }
        source.replace_range(start..end, text);
    }
    source
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_never_panics(text in any::<String>()) {
        let _ = read(&text);
        let _ = read(&format!("{GOOD}{text}"));
    }

    #[test]
    fn token_soup_never_panics(soup in soup(), at in 0usize..9) {
        let _ = read(&soup);
        let mut lines: Vec<&str> = GOOD.lines().collect();
        lines.insert(at.min(lines.len()), &soup);
        let _ = read(&lines.join("\n"));
    }

    #[test]
    fn mutations_never_panic(edits in prop::collection::vec((0.0..1.0f64, 0usize..12, soup()), 1..4)) {
        let _ = read(&mutate(GOOD.to_owned(), &edits));
    }

    #[test]
    fn small_mutations_never_panic(
        edits in prop::collection::vec((0.0..1.0f64, 0usize..3, word().prop_map(str::to_owned)), 1..3)
    ) {
        let _ = read(&mutate(GOOD.to_owned(), &edits));
    }
}
