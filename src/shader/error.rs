//! What can be wrong with the user's shader, said in the user's own lines.

use thiserror::Error;

/// Why a shader was refused. Lines count from 1 and are those of the user's text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ShaderError {
    /// A name in [`StageNames`](super::StageNames) cannot be the name of a function of the user's.
    #[error("the descriptor names the {stage} function `{name}`, which {problem}")]
    InvalidStageName {
        /// `vertex`, `hull`, `patch constant` or `domain`.
        stage: &'static str,
        /// The name given.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A declaration takes a name that patchwave or WGSL itself needs.
    #[error("line {line}: `{name}` cannot be declared, because {problem}; choose another name")]
    ReservedName {
        /// The name declared.
        name: String,
        /// The line of its declaration.
        line: u32,
        /// Whose name it is.
        problem: &'static str,
    },
    /// A comment, a bracket or a declaration is left open at the end of the text.
    #[error("line {line}: {what}")]
    Unfinished {
        /// Where it opens, or closes without having been opened.
        line: u32,
        /// What is left open, and how to end it.
        what: String,
    },
    /// The text goes past a limit that keeps WGSL compilers from exhausting the stack.
    #[error("line {line}: {what} goes past patchwave's limit of {limit}; {advice}")]
    TooComplex {
        /// Where the limit is passed.
        line: u32,
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// What to do.
        advice: &'static str,
    },
    /// The text is not valid WGSL, in naga's judgement.
    #[error("{}{message}", Place { line: *.line, column: *.column })]
    Wgsl {
        /// The line, where naga gives one.
        line: Option<u32>,
        /// The column in characters, from 1, where naga gives one.
        column: Option<u32>,
        /// The function of the user's that it is about, where it is known.
        function: Option<String>,
        /// What naga says, and what to do.
        message: String,
    },
    /// naga gave up on the text by panicking.
    #[error(
        "the WGSL compiler naga failed inside while {step} this shader ({message}); take out recently added functions \
         one by one to find the expression that it stumbles over, and write that one more simply"
    )]
    CompilerFailure {
        /// What naga was doing.
        step: &'static str,
        /// The panic's message.
        message: String,
    },
    /// A stage function is not in the text.
    #[error("the {stage} function `{function}` is missing; expected `{expected}`{advice}")]
    MissingFunction {
        /// `vertex`, `hull`, `patch constant` or `domain`.
        stage: &'static str,
        /// The name looked for.
        function: String,
        /// The signature looked for.
        expected: String,
        /// What else could be done.
        advice: &'static str,
    },
    /// A stage function's parameters or result are not those of the contract.
    #[error("line {line}: `{function}` has the wrong signature: {problem}; expected `{expected}`, found `{found}`")]
    WrongSignature {
        /// The function.
        function: String,
        /// The line of its header.
        line: u32,
        /// What differs.
        problem: String,
        /// The signature of the contract.
        expected: String,
        /// The signature in the text.
        found: String,
    },
    /// A type that has to lie in memory between stages cannot.
    #[error(
        "line {line}: `{function}` returns `{type_name}`, which cannot be kept in memory between stages: \
         `{member}` {problem}"
    )]
    UnsuitableType {
        /// The function that returns the type.
        function: String,
        /// The line of its header.
        line: u32,
        /// The type returned.
        type_name: String,
        /// The path to the offending member, for example `ControlPoint.weights[]`.
        member: String,
        /// What is wrong with it and what to use.
        problem: String,
    },
    /// The patch constants do not hold the factors of this domain.
    #[error(
        "line {line}: the patch constants `{type_name}` that `{function}` returns need exactly one member of type \
         `{expected}`, found {found}"
    )]
    WrongFactors {
        /// The patch constant function.
        function: String,
        /// The line of its header.
        line: u32,
        /// The type returned.
        type_name: String,
        /// The factor struct of the domain.
        expected: &'static str,
        /// What is there instead.
        found: String,
    },
    /// A member of the vertex function's attributes or of the domain function's output cannot be one.
    #[error("line {line}: `{type_name}.{member}`, in the {role} of `{function}`, {problem}")]
    UnsuitableMember {
        /// The stage function.
        function: String,
        /// The line of the function's header.
        line: u32,
        /// `attributes` or `output`.
        role: &'static str,
        /// The struct.
        type_name: String,
        /// Its member.
        member: String,
        /// What is wrong with it and what to use.
        problem: String,
    },
    /// Workgroup memory is patchwave's to plan.
    #[error(
        "line {line}: the workgroup variable `{name}` is not allowed, because patchwave plans workgroup memory; \
         pass what neighbours share in control points or patch constants"
    )]
    WorkgroupVariable {
        /// The variable.
        name: String,
        /// The line of its declaration.
        line: u32,
    },
    /// A variable in an address space that compute passes of patchwave do not fill.
    #[error(
        "line {line}: the variable `{name}` is in the address space `{space}`, which patchwave has no means \
         to fill; use a uniform buffer in groups 0 to 2"
    )]
    UnsupportedVariable {
        /// The variable.
        name: String,
        /// The line of its declaration.
        line: u32,
        /// Its address space.
        space: String,
    },
    /// A resource without `@group` and `@binding`.
    #[error("line {line}: the resource `{name}` needs `@group(n) @binding(n)`, with a group from 0 to 2")]
    MissingBinding {
        /// The variable.
        name: String,
        /// The line of its declaration.
        line: u32,
    },
    /// A resource in a group that is not the user's.
    #[error(
        "line {line}: the resource `{name}` is in group {group}; groups 0 to 2 are the shader's, group 3 is \
         patchwave's, and WebGPU has no more"
    )]
    ReservedGroup {
        /// The variable.
        name: String,
        /// Its group.
        group: u32,
        /// The line of its declaration.
        line: u32,
    },
    /// Two resources that the stages reach share a group and a binding.
    #[error(
        "line {line}: `{name}` has the same group {group} and binding {binding} as `{other}`, and the stages \
         use both; they run in one kernel, so give each its own"
    )]
    SharedBinding {
        /// The later variable.
        name: String,
        /// The earlier variable.
        other: String,
        /// Their group.
        group: u32,
        /// Their binding.
        binding: u32,
        /// The line of the later declaration.
        line: u32,
    },
    /// Entry points are patchwave's to write.
    #[error(
        "line {line}: `{function}` is an entry point; patchwave writes those itself: take its attributes \
         away, or keep it in another module"
    )]
    EntryPoint {
        /// The function.
        function: String,
        /// The line of its header.
        line: u32,
    },
    /// A barrier reached by a stage function.
    #[error(
        "line {line}: `{operation}` is reached from `{function}` ({}), but a stage function runs for some lanes \
         of a wave only; take it out",
        Chain(.chain)
    )]
    Barrier {
        /// The stage function.
        function: String,
        /// The barrier.
        operation: &'static str,
        /// The calls that lead to it, from the stage function on.
        chain: Vec<String>,
        /// The line.
        line: u32,
    },
    /// An operation that needs the neighbouring pixels of a fragment.
    #[error(
        "line {line}: `{operation}` is reached from `{function}` ({}), and needs implicit derivatives, which only \
         fragments have; {advice}",
        Chain(.chain)
    )]
    ImplicitDerivative {
        /// The stage function.
        function: String,
        /// The operation.
        operation: &'static str,
        /// The calls that lead to it, from the stage function on.
        chain: Vec<String>,
        /// The line.
        line: u32,
        /// What to use instead.
        advice: &'static str,
    },
    /// `discard` reached by a stage function.
    #[error(
        "line {line}: `discard` is reached from `{function}` ({}), but only fragments can be discarded; to cull a \
         patch, set an edge factor to 0",
        Chain(.chain)
    )]
    Discard {
        /// The stage function.
        function: String,
        /// The calls that lead to it, from the stage function on.
        chain: Vec<String>,
        /// The line.
        line: u32,
    },
    /// A stage function reaches an accessor whose data its stage does not see.
    #[error(
        "line {line}: `{function}` may not reach `{accessor}` ({}); the {stage} function may use {allowed}",
        Chain(.chain)
    )]
    ForbiddenAccessor {
        /// The stage function.
        function: String,
        /// `vertex`, `hull`, `patch constant` or `domain`.
        stage: &'static str,
        /// The accessor.
        accessor: &'static str,
        /// The calls from the stage function to the accessor, both included.
        chain: Vec<String>,
        /// The line of the call of the accessor.
        line: u32,
        /// What the stage may use.
        allowed: &'static str,
    },
    /// A pointer to a part of a variable as an argument, on which naga's writers panic.
    #[error(
        "line {line}: `{function}` passes a pointer to a part of a variable to `{callee}`, which naga cannot compile; \
         pass a pointer to the whole variable, or copy the part to a `var` of its own and pass that"
    )]
    PointerArgument {
        /// The function that contains the call.
        function: String,
        /// The function called.
        callee: String,
        /// The line of the call.
        line: u32,
    },
    /// A render pipeline needs a position, and the domain function gives none.
    #[error(
        "`{type_name}`, the output of the domain function, has no `@builtin(position)` member, so it cannot \
         be drawn as it is; add one, or draw with a vertex shader of your own"
    )]
    NoPosition {
        /// The struct.
        type_name: String,
    },
}

impl ShaderError {
    /// The line of the user's text that the error is about, where there is one.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        match self {
            Self::InvalidStageName { .. }
            | Self::CompilerFailure { .. }
            | Self::MissingFunction { .. }
            | Self::NoPosition { .. } => None,
            Self::Wgsl { line, .. } => *line,
            Self::ReservedName { line, .. }
            | Self::Unfinished { line, .. }
            | Self::TooComplex { line, .. }
            | Self::WrongSignature { line, .. }
            | Self::UnsuitableType { line, .. }
            | Self::WrongFactors { line, .. }
            | Self::UnsuitableMember { line, .. }
            | Self::WorkgroupVariable { line, .. }
            | Self::UnsupportedVariable { line, .. }
            | Self::MissingBinding { line, .. }
            | Self::ReservedGroup { line, .. }
            | Self::SharedBinding { line, .. }
            | Self::EntryPoint { line, .. }
            | Self::Barrier { line, .. }
            | Self::ImplicitDerivative { line, .. }
            | Self::Discard { line, .. }
            | Self::ForbiddenAccessor { line, .. }
            | Self::PointerArgument { line, .. } => Some(*line),
        }
    }

    /// The column in characters, from 1, where it is known.
    #[must_use]
    pub fn column(&self) -> Option<u32> {
        match self {
            Self::Wgsl { column, .. } => *column,
            _ => None,
        }
    }

    /// What is wrong and what to do, without the place that [`Display`](std::fmt::Display) puts before it.
    #[must_use]
    pub fn message(&self) -> String {
        let text = self.to_string();
        let place = Place { line: self.line(), column: self.column() }.to_string();
        text.strip_prefix(&place).map_or(text.clone(), str::to_owned)
    }

    /// The function of the user's that the error is about, where there is one.
    #[must_use]
    pub fn function(&self) -> Option<&str> {
        match self {
            Self::InvalidStageName { name, .. } => Some(name),
            Self::Wgsl { function, .. } => function.as_deref(),
            Self::MissingFunction { function, .. }
            | Self::WrongSignature { function, .. }
            | Self::UnsuitableType { function, .. }
            | Self::WrongFactors { function, .. }
            | Self::UnsuitableMember { function, .. }
            | Self::EntryPoint { function, .. }
            | Self::Barrier { function, .. }
            | Self::ImplicitDerivative { function, .. }
            | Self::Discard { function, .. }
            | Self::ForbiddenAccessor { function, .. }
            | Self::PointerArgument { function, .. } => Some(function),
            Self::ReservedName { .. }
            | Self::Unfinished { .. }
            | Self::TooComplex { .. }
            | Self::CompilerFailure { .. }
            | Self::WorkgroupVariable { .. }
            | Self::UnsupportedVariable { .. }
            | Self::MissingBinding { .. }
            | Self::ReservedGroup { .. }
            | Self::SharedBinding { .. }
            | Self::NoPosition { .. } => None,
        }
    }
}

/// Writes `line 3, column 4: ` as far as it is known.
struct Place {
    line: Option<u32>,
    column: Option<u32>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: "),
            (Some(line), None) => write!(f, "line {line}: "),
            (None, _) => Ok(()),
        }
    }
}

/// Writes a chain of calls as `domain → evaluate → input_point`.
struct Chain<'a>(&'a [String]);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" → ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}
