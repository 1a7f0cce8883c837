//! What a front end tells the composer about the user's shader. Text in, these plain values out; no buffers, no device.

/// The names of the user's stage functions. The defaults are those of the shader contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageNames {
    /// `fn vertex(attributes: Attributes, id: VertexId) -> ControlPoint`; either parameter may be left out.
    pub vertex: String,
    /// `fn hull(point: u32, patch_id: u32) -> ControlPoint`; `None`: pass-through.
    pub hull: Option<String>,
    /// `fn patch_constants(patch_id: u32) -> PatchConstants`.
    pub patch_constants: String,
    /// `fn domain(location: vec2f, patch_id: u32) -> Surface`; `vec3f` for the tri domain.
    pub domain: String,
}

impl Default for StageNames {
    /// `vertex`, `hull`, `patch_constants` and `domain`.
    fn default() -> Self {
        Self {
            vertex: "vertex".to_owned(),
            hull: Some("hull".to_owned()),
            patch_constants: "patch_constants".to_owned(),
            domain: "domain".to_owned(),
        }
    }
}

/// The lines of the stage functions' headers, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageLines {
    /// The vertex function's.
    pub vertex: u32,
    /// The hull function's, where there is one.
    pub hull: Option<u32>,
    /// The patch constant function's.
    pub patch_constants: u32,
    /// The domain function's.
    pub domain: u32,
}

/// A type of the user's that lies in workgroup or storage memory: how WGSL spells it and what it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointLayout {
    /// The type as the user's function declares its result, for example `ControlPoint`.
    pub type_name: String,
    /// Bytes from one element of an array to the next.
    pub stride: u32,
    /// Bytes that one value takes, without the padding after it.
    pub size: u32,
    /// What its address has to be a multiple of, as naga lays it out: without regard to an `@align` in it.
    pub alignment: u32,
    /// 32-bit scalars in the type, as D3D counts them against its limits (padding not counted).
    pub scalars: u32,
}

/// The scalar kind of a vertex attribute or of an output member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    /// `f32`.
    Float,
    /// `i32`.
    Sint,
    /// `u32`.
    Uint,
}

/// One member of the struct that the vertex function reads, filled by the input assembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeMember {
    /// The member's name.
    pub name: String,
    /// `@location`.
    pub location: u32,
    /// The scalar kind of its components.
    pub kind: ScalarKind,
    /// 1 to 4 components.
    pub components: u32,
}

/// The struct that the vertex function reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The struct's name.
    pub type_name: String,
    /// Its members in order.
    pub members: Vec<AttributeMember>,
}

/// How a member of the domain function's output reaches the caller's render pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceSlot {
    /// `@builtin(position)`.
    Position,
    /// `@location(n)`.
    Location(u32),
}

/// One member of the domain function's output struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurfaceMember {
    /// The member's name.
    pub name: String,
    /// Builtin position or a location.
    pub slot: SurfaceSlot,
    /// The scalar kind of its components.
    pub kind: ScalarKind,
    /// 1 to 4 components.
    pub components: u32,
    /// Byte offset in a vertex.
    pub offset: u32,
    /// The `@interpolate(…)` attribute as WGSL text, empty where there is none or it says what WGSL assumes anyway.
    pub interpolate: String,
    /// Whether a position is `@invariant`.
    pub invariant: bool,
}

/// The domain function's output struct: both an IO struct and host-shareable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    /// The struct's name.
    pub type_name: String,
    /// Bytes a vertex takes in the vertex buffer.
    pub stride: u32,
    /// Its members in order.
    pub members: Vec<SurfaceMember>,
}

/// What a resource is, as far as a bind group has to agree with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindingKind {
    /// `var<uniform>`.
    UniformBuffer {
        /// The least bytes that have to be bound.
        size: u32,
    },
    /// `var<storage>`.
    StorageBuffer {
        /// The least bytes that have to be bound: one element, where an array at the end has no size.
        size: u32,
        /// Whether the shader may only read it.
        read_only: bool,
    },
    /// `sampler` or `sampler_comparison`.
    Sampler {
        /// Whether it compares.
        comparison: bool,
    },
    /// A texture to sample or load from.
    Texture {
        /// Its dimension.
        dimension: TextureDimension,
        /// What a texel is.
        sample: TextureSample,
        /// Whether it has several samples a texel.
        multisampled: bool,
    },
    /// A storage texture.
    StorageTexture {
        /// Its dimension.
        dimension: TextureDimension,
        /// Its format as WGSL spells it, for example `rgba8unorm`.
        format: &'static str,
        /// Whether the shader may read it.
        reads: bool,
        /// Whether the shader may write it.
        writes: bool,
    },
    /// `acceleration_structure`.
    AccelerationStructure,
    /// `texture_external`.
    ExternalTexture,
    /// `binding_array<…>`: several resources under one binding.
    Array {
        /// How many; `None`: as many as are bound.
        count: Option<u32>,
        /// What each is.
        element: Box<BindingKind>,
    },
}

/// The dimension of a texture's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureDimension {
    /// `1d`.
    D1,
    /// `2d`.
    D2,
    /// `2d_array`.
    D2Array,
    /// `3d`.
    D3,
    /// `cube`.
    Cube,
    /// `cube_array`.
    CubeArray,
}

/// What sampling a texture gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureSample {
    /// Components of a scalar kind.
    Kind(ScalarKind),
    /// Depth.
    Depth,
}

/// A resource of the user's in bind groups 0 to 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserBinding {
    /// The variable's name.
    pub name: String,
    /// `@group`.
    pub group: u32,
    /// `@binding`.
    pub binding: u32,
    /// Whether it is a storage buffer, and so counts against the device's limit a stage.
    pub is_storage_buffer: bool,
    /// What has to be bound there.
    pub kind: BindingKind,
    /// Whether the four stage functions reach it.
    pub used: bool,
    /// The line of its declaration, from 1.
    pub line: u32,
}

/// The type of an `override`, as far as a value given for it has to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OverrideKind {
    /// `bool`: 0 is false, all else true.
    Bool,
    /// `i32`.
    Sint,
    /// `u32`.
    Uint,
    /// `f32`.
    Float,
    /// `f16`.
    Half,
    /// Another type that naga knows and WebGPU does not.
    Other,
}

/// An `override` declaration of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserOverride {
    /// The key by which a value is given: the decimal `@id` where there is one, else the name.
    pub key: String,
    /// The variable's name.
    pub name: String,
    /// The type of its value.
    pub kind: OverrideKind,
    /// Whether the shader gives a default; without one the descriptor has to give a value.
    pub has_default: bool,
    /// The line of its declaration, from 1.
    pub line: u32,
}

/// All that the composer needs to know of a user's shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reflection {
    /// The user's text, untouched.
    pub source: String,
    /// The names by which the stage functions are called.
    pub names: StageNames,
    /// Where the stage functions are.
    pub lines: StageLines,
    /// The attribute struct, where the vertex function takes one.
    pub attributes: Option<Attributes>,
    /// Whether the vertex function takes a `VertexId`.
    pub takes_vertex_id: bool,
    /// What the vertex function leaves in workgroup memory.
    pub input_point: PointLayout,
    /// What the hull function leaves in workgroup memory; the input point's where there is no hull function.
    pub output_point: PointLayout,
    /// What the patch constant function leaves.
    pub constants: PointLayout,
    /// The member of the patch constants that holds the factors.
    pub factors_member: String,
    /// The domain function's output.
    pub surface: Surface,
    /// Private variables of the user's that the stage functions reach, to be set back before each call.
    pub private_variables: Vec<String>,
    /// Resources in bind groups 0 to 2.
    pub bindings: Vec<UserBinding>,
    /// Override declarations.
    pub overrides: Vec<UserOverride>,
    /// Whether all loops are counted ones that are sure to end, as `for (var i = 0u; i < n; i++)` is where nothing else
    /// writes `i`. The kernel then needs no counters of its own in them.
    pub loops_end: bool,
}
