// A threadgroup's record, in words.
const PW_GROUP_WORDS: u32 = 8u;
const PW_GROUP_POINTS: u32 = 0u;
const PW_GROUP_PRIMITIVES: u32 = 1u;
const PW_GROUP_VERTEX_BASE: u32 = 2u;
const PW_GROUP_SUM_LOW: u32 = 3u;
const PW_GROUP_SUM_HIGH: u32 = 4u;
const PW_GROUP_OFF_CHIP: u32 = 5u;       // 0: on-chip; else 1 + its block in the off-chip buffer
const PW_GROUP_CULLED: u32 = 6u;         // in the lower half; above it the patches that there are
const PW_GROUP_PRIMITIVE_BASE: u32 = 7u; // exclusive sum, written by allocate
