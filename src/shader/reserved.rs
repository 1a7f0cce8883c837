//! Names that the user's module-scope declarations may not take.

use super::prelude::{CONSTANTS, FACTORS, INPUT_POINT, OUTPUT_POINT, VERTEX_ID};
use crate::library;

/// What patchwave gives the shader under these names, beside the factor structs.
const GIVEN: [&str; 4] = [INPUT_POINT, OUTPUT_POINT, CONSTANTS, VERTEX_ID];

/// WGSL lets a module shadow its types and functions. patchwave's passes share the module and mean the originals, so a
/// shadowed `vec4f` would change them silently.
const PREDECLARED: &str = "
    bool i32 u32 f32 f16 i64 u64 f64 i16 u16 array atomic ptr vec2 vec3 vec4 vec2i vec3i vec4i vec2u vec3u vec4u
    vec2f vec3f vec4f vec2h vec3h vec4h mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4
    mat2x2f mat2x3f mat2x4f mat3x2f mat3x3f mat3x4f mat4x2f mat4x3f mat4x4f
    mat2x2h mat2x3h mat2x4h mat3x2h mat3x3h mat3x4h mat4x2h mat4x3h mat4x4h
    function private workgroup uniform storage handle read write read_write
    bitcast all any select arrayLength abs acos acosh asin asinh atan atanh atan2 ceil clamp cos cosh countLeadingZeros
    countOneBits countTrailingZeros cross degrees determinant distance dot dot4U8Packed dot4I8Packed exp exp2
    extractBits faceForward firstLeadingBit firstTrailingBit floor fma fract frexp insertBits inverseSqrt ldexp length
    log log2 max min mix modf normalize pow quantizeToF16 radians reflect refract reverseBits round saturate sign sin
    sinh smoothstep sqrt step tan tanh transpose trunc
    atomicLoad atomicStore atomicAdd atomicSub atomicMax atomicMin atomicAnd atomicOr atomicXor atomicExchange
    atomicCompareExchangeWeak pack4x8snorm pack4x8unorm pack4xI8 pack4xU8 pack4xI8Clamp pack4xU8Clamp pack2x16snorm
    pack2x16unorm pack2x16float unpack4x8snorm unpack4x8unorm unpack4xI8 unpack4xU8 unpack2x16snorm unpack2x16unorm
    unpack2x16float storageBarrier textureBarrier workgroupBarrier workgroupUniformLoad
    subgroupAdd subgroupExclusiveAdd subgroupInclusiveAdd subgroupAll subgroupAnd subgroupAny subgroupBallot
    subgroupBroadcast subgroupBroadcastFirst subgroupElect subgroupMax subgroupMin subgroupMul subgroupExclusiveMul
    subgroupInclusiveMul subgroupOr subgroupShuffle subgroupShuffleDown subgroupShuffleUp subgroupShuffleXor subgroupXor
    subgroupBarrier
";

/// Whose name it is, where it is not the user's to declare.
pub(super) fn owner(name: &str) -> Option<&'static str> {
    if ["pw_", "Pw", "PW_"].iter().any(|prefix| name.starts_with(prefix)) {
        Some("names that start with `pw_`, `Pw` or `PW_` are patchwave's")
    } else if GIVEN.contains(&name) || FACTORS.contains(&name) {
        Some("patchwave gives it to every shader")
    } else if library::has_name(name) {
        Some("patchwave's library of shader functions has it (docs/library.md)")
    } else if PREDECLARED.split_ascii_whitespace().any(|word| word == name) {
        Some("it is WGSL's own and patchwave's passes, which share the module, use WGSL's")
    } else {
        None
    }
}

/// What is wrong with a name that the descriptor gives a stage function.
pub(super) fn stage_name_problem(name: &str) -> Option<&'static str> {
    let mut characters = name.chars();
    let start = characters.next().is_some_and(|c| c.is_alphabetic() || (c == '_' && name.len() > 1));
    if !start || name.starts_with("__") || !characters.all(|c| c.is_alphanumeric() || c == '_') {
        Some("is not a WGSL identifier")
    } else if naga::keywords::wgsl::RESERVED.contains(&name) {
        Some("is a word that WGSL reserves")
    } else {
        owner(name)
    }
}
