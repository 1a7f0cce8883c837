//! What to do about an error beyond what the library says: words of other shading languages, and slips of the pen.

use patchwave::ShaderError;
use patchwave::shader::outline;

use crate::run::place::nearest;

/// Words of HLSL and GLSL and what WGSL has for them; those of tessellation as `docs/porting.md` has them.
const ELSEWHERE: [(&str, &str); 45] = [
    ("lerp", "HLSL's lerp(a, b, t) is mix(a, b, t)"),
    ("frac", "HLSL's frac(x) is fract(x)"),
    ("rsqrt", "HLSL's rsqrt(x) is inverseSqrt(x)"),
    ("inversesqrt", "GLSL's inversesqrt(x) is inverseSqrt(x)"),
    ("mul", "HLSL's mul(m, v) is m * v; matrices of WGSL are given column by column"),
    ("mod", "GLSL's mod(x, y) is x - y * floor(x / y); for integers there is the operator %"),
    ("mad", "HLSL's mad(a, b, c) is fma(a, b, c)"),
    ("fmod", "HLSL's fmod(x, y) is x % y"),
    ("ddx", "there are no derivatives outside of fragment shaders"),
    ("ddy", "there are no derivatives outside of fragment shaders"),
    ("texture", "GLSL's texture(s, uv) is textureSampleLevel(t, s, uv, 0.0) here"),
    ("textureLod", "GLSL's textureLod(s, uv, l) is textureSampleLevel(t, s, uv, l)"),
    ("texelFetch", "GLSL's texelFetch(t, p, l) is textureLoad(t, p, l)"),
    ("asfloat", "HLSL's asfloat(x) is bitcast<f32>(x)"),
    ("asuint", "HLSL's asuint(x) is bitcast<u32>(x)"),
    ("asint", "HLSL's asint(x) is bitcast<i32>(x)"),
    ("floatBitsToUint", "GLSL's floatBitsToUint(x) is bitcast<u32>(x)"),
    ("uintBitsToFloat", "GLSL's uintBitsToFloat(x) is bitcast<f32>(x)"),
    ("float", "WGSL's floats are f32"),
    ("int", "WGSL's integers are i32"),
    ("uint", "WGSL's unsigned integers are u32"),
    ("half", "write f32, or f16 after `enable f16;`"),
    ("float2", "HLSL's float2 is vec2f"),
    ("float3", "HLSL's float3 is vec3f"),
    ("float4", "HLSL's float4 is vec4f"),
    ("uint2", "HLSL's uint2 is vec2u"),
    ("uint3", "HLSL's uint3 is vec3u"),
    ("uint4", "HLSL's uint4 is vec4u"),
    ("int2", "HLSL's int2 is vec2i"),
    ("float3x3", "HLSL's float3x3 is mat3x3f"),
    ("float4x4", "HLSL's float4x4 is mat4x4f"),
    ("mat3", "GLSL's mat3 is mat3x3f"),
    ("mat4", "GLSL's mat4 is mat4x4f"),
    ("InputPatch", "elements of an InputPatch are input_point(i)"),
    ("OutputPatch", "elements of an OutputPatch are output_point(i)"),
    ("gl_in", "gl_in[i] is input_point(i) in hull and patch_constants, and output_point(i) in domain"),
    ("gl_out", "gl_out[i] is what hull returns for point i; output_point(i) reads it later"),
    ("gl_InvocationID", "gl_InvocationID is the first parameter of hull"),
    ("gl_PrimitiveID", "gl_PrimitiveID is the parameter patch_id"),
    ("gl_TessCoord", "gl_TessCoord is the first parameter of domain"),
    ("gl_TessLevelOuter", "outer levels are the edges of the factors that patch_constants returns"),
    ("gl_TessLevelInner", "inner levels are the inside of the factors that patch_constants returns"),
    ("gl_PatchVerticesIn", "the number of control points is the descriptor's; write it as a constant"),
    ("gl_Position", "return it as the @builtin(position) of the output struct"),
    ("gl_VertexIndex", "take a parameter of type VertexId: its vertex_index"),
];

/// What the contract gives every shader.
const GIVEN: [&str; 7] =
    ["input_point", "output_point", "constants", "QuadFactors", "TriFactors", "IsolineFactors", "VertexId"];

/// Advice on an error, where there is some.
pub(crate) fn on(error: &ShaderError, shader: &str) -> Option<String> {
    match error {
        ShaderError::Wgsl { message, .. } => on_unknown_name(message, shader),
        ShaderError::MissingFunction { stage, function, .. } => {
            let option = match *stage {
                "vertex" => "--vertex-function",
                "hull" => "--hull-function",
                "domain" => "--domain-function",
                _ => "--patch-constants-function",
            };
            let there = outline(shader).functions;
            let meant = nearest(function, there.iter().map(String::as_str));
            let meant = meant.map_or_else(String::new, |other| format!("did you mean '{other}'? "));
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            Some(format!("{meant}if it has another name, say {option}; functions of the shader: {there}"))
        }
        ShaderError::WrongFactors { .. } => Some("if the domain is another, say --domain".to_owned()),
        _ => None,
    }
}

/// On a name that naga does not know; it quotes names.
fn on_unknown_name(message: &str, shader: &str) -> Option<String> {
    let unknown = ["no definition in scope for identifier", "unknown type", "unknown identifier"];
    if !unknown.iter().any(|words| message.contains(words)) {
        return None;
    }
    let name = message.split(['`', '\'']).nth(1)?;
    if let Some((_, advice)) = ELSEWHERE.iter().find(|(word, _)| *word == name) {
        return Some((*advice).to_owned());
    }
    let functions = outline(shader).functions;
    let library: Vec<&str> = patchwave::library::PIECES.iter().flat_map(|piece| piece.names()).collect();
    let known = functions.iter().map(String::as_str).chain(GIVEN).chain(library);
    let meant = nearest(name, known)?;
    Some(format!("did you mean '{meant}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_languages_and_slips_are_answered() {
        let unknown = |name: &str| format!("no definition in scope for identifier: `{name}`");
        for (name, words) in [
            ("lerp", Some("mix(a, b, t)")),
            ("input_pont", Some("input_point")),
            ("QuadFactor", Some("QuadFactors")),
            ("evaluat", Some("evaluate")),
            ("tess_bernstien", Some("tess_bernstein")),
            ("wholly_unlike_anything", None),
        ] {
            let advice = on_unknown_name(&unknown(name), "fn evaluate() {}");
            match words {
                Some(words) => {
                    assert!(advice.as_deref().is_some_and(|advice| advice.contains(words)), "{name}: {advice:?}")
                }
                None => assert_eq!(advice, None),
            }
        }
        assert_eq!(on_unknown_name("expected `;`, found `lerp`", ""), None);
    }
}
