//! What can go wrong between a descriptor and a draw.

use crate::hardware::{ParameterError, PlanError};
use crate::shader::ShaderError;
use crate::tessellator::{Domain, OutputTopology};

/// Why patchwave refused or failed. Each variant says what was asked, what there is, and what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The user's shader does not keep the contract.
    #[error(transparent)]
    Shader(#[from] ShaderError),

    /// Not one patch fits a threadgroup.
    #[error(transparent)]
    Plan(#[from] PlanError),

    /// The tessellation parameters cannot be.
    #[error(transparent)]
    Parameters(#[from] ParameterError),

    /// A value of the descriptor or of a draw is out of its range.
    #[error("{what} is {value}; it must be {expected}")]
    OutOfRange {
        /// What was given, in the descriptor's words.
        what: &'static str,
        /// The value that was given.
        value: String,
        /// The range that is allowed.
        expected: String,
    },

    /// An output topology that the domain does not have.
    #[error(
        "output topology {topology} does not go with the {domain} domain: lines need isoline, triangles need tri or quad"
    )]
    TopologyMismatch {
        /// The topology asked for.
        topology: OutputTopology,
        /// The domain it was asked for.
        domain: Domain,
    },

    /// A limit of the device is too small for what was asked.
    #[error("{what} needs {needed} and the device's limit {limit} is {available}: {advice}")]
    LimitExceeded {
        /// What needs it.
        what: String,
        /// The limit's name in `wgpu::Limits`.
        limit: &'static str,
        /// What is needed.
        needed: u64,
        /// What the device was created with.
        available: u64,
        /// What to do.
        advice: &'static str,
    },

    /// A feature that the device was not created with.
    #[error("{what} need the device feature {feature:?}: request it, where the adapter has it")]
    MissingFeature {
        /// What needs it.
        what: &'static str,
        /// The feature.
        feature: wgpu::Features,
    },

    /// A vertex buffer layout that the input assembler cannot fetch.
    #[error("vertex buffer {slot}: {reason}")]
    VertexLayout {
        /// The slot in the descriptor.
        slot: usize,
        /// What is wrong and what would be right.
        reason: String,
    },

    /// An attribute of the vertex function that no vertex buffer feeds, or feeds with another kind of scalar.
    #[error("attribute `{name}` at @location({location}): {reason}")]
    Attribute {
        /// The member of the user's attribute struct.
        name: String,
        /// Its location.
        location: u32,
        /// What is wrong.
        reason: String,
    },

    /// A buffer of a draw that does not serve.
    #[error("{what}: {reason}")]
    Buffer {
        /// Which buffer.
        what: String,
        /// What is wrong and what to do.
        reason: String,
    },

    /// A bind group of the user's shader that the descriptor or the draw lacks.
    #[error("bind group {group} is used by `{binding}` (line {line}) and was not given")]
    MissingBindGroup {
        /// The group.
        group: u32,
        /// A variable of the user's shader in it.
        binding: String,
        /// The line of its declaration.
        line: u32,
    },

    /// An override constant that the shader does not have, or lacks.
    #[error("override constant `{key}`: {reason}")]
    Constant {
        /// The key as given.
        key: String,
        /// What is wrong.
        reason: String,
    },

    /// A workspace that was made for another pipeline.
    #[error("this workspace was made for another pipeline ({reason}): make one with Workspace::new for this pipeline")]
    WorkspaceMismatch {
        /// What differs.
        reason: String,
    },

    /// A draw that needs more than the workspace has; nothing of it is drawn.
    #[error(
        "the workspace is too small: {what} needed {needed}, available {available}; make it with a Measurement or these numbers"
    )]
    WorkspaceTooSmall {
        /// What ran out: vertices, primitives, patches, …
        what: &'static str,
        /// What the draw needs.
        needed: u64,
        /// What there was left.
        available: u64,
    },

    /// A result that is read after its workspace was reset and another draw (or another batch) was encoded into it.
    #[error(
        "the result is gone: its workspace has been reset and another draw or batch encoded into it since; read it \
         before, or give the draws workspaces of their own"
    )]
    ResultOverwritten,

    /// Primitives of a result that has none.
    #[error(
        "the result has vertices only: its draw was encoded with encode_vertices; encode it with encode for primitives"
    )]
    NoIndices,

    /// A bound on memory under which not even the smallest batch of a draw can be.
    #[error(
        "the memory bound of {bound} bytes is too small: {needed} bytes suffice for batches of one threadgroup; raise it, \
         or use fewer patches per threadgroup"
    )]
    BoundTooSmall {
        /// Bytes that suffice, for the batches' workspace and all that goes with it.
        needed: u64,
        /// The bound that was given.
        bound: u64,
    },

    /// An error that wgpu reported for an object of ours.
    #[error("wgpu refused {what}: {message}")]
    Wgpu {
        /// What was being made.
        what: String,
        /// wgpu's words.
        message: String,
    },

    /// The compiler of shaders panicked; what can be known beforehand is refused beforehand.
    #[error("the shader compiler failed while making {what}: {message}; please report the shader to patchwave")]
    Compiler {
        /// What was being made.
        what: String,
        /// The panic's message.
        message: String,
    },

    /// The device was lost or a buffer could not be mapped.
    #[error("reading {what} back failed: {reason}")]
    ReadBack {
        /// What was read.
        what: &'static str,
        /// Why it failed.
        reason: String,
    },
}
