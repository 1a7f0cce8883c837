//! What the stage functions reach through calls, and what they may not.

use std::collections::{HashMap, HashSet, VecDeque};

use naga::{
    Barrier, Block, DerivativeAxis, DerivativeControl, Expression, Function, GlobalVariable, Handle, Module,
    SampleLevel, Span, Statement, TypeInner,
};

use super::error::ShaderError;
use super::lines::Lines;
use super::prelude::{CONSTANTS, INPUT_POINT, OUTPUT_POINT};
use super::signature::{Stage, StageFunction};

/// What a function's own body does, as far as it matters here.
#[derive(Default)]
struct Body {
    calls: Vec<(Handle<Function>, u32)>,
    barriers: Vec<(&'static str, u32)>,
    derivatives: Vec<(&'static str, &'static str, u32)>,
    discards: Vec<u32>,
    globals: Vec<Handle<GlobalVariable>>,
}

/// The bodies of a module's functions.
pub(super) struct Graph<'a> {
    module: &'a Module,
    bodies: HashMap<Handle<Function>, Body>,
}

const LEVEL: &str = "use `textureSampleLevel`, `textureSampleGrad` or `textureLoad`";
const COMPARE: &str = "use `textureSampleCompareLevel`";
const DIFFERENCE: &str = "compute the derivative from the domain location instead";

impl<'a> Graph<'a> {
    /// Reads every function of the module; refuses what no function may do, reached or not, since naga compiles all.
    pub(super) fn new(module: &'a Module, lines: &Lines) -> Result<Self, ShaderError> {
        let mut bodies = HashMap::new();
        for (handle, function) in module.functions.iter() {
            bodies.insert(handle, body(module, function, lines)?);
        }
        Ok(Self { module, bodies })
    }

    fn name(&self, function: Handle<Function>) -> String {
        let name = self.module.functions.try_get(function).ok().and_then(|function| function.name.clone());
        name.unwrap_or_else(|| "?".to_owned())
    }

    /// Walks the calls of a stage function, nearest first. The variables that it reaches, or what it may not reach.
    pub(super) fn walk(&self, at: StageFunction) -> Result<HashSet<Handle<GlobalVariable>>, ShaderError> {
        let mut callers: HashMap<Handle<Function>, Option<Handle<Function>>> = HashMap::from([(at.handle, None)]);
        let mut queue = VecDeque::from([at.handle]);
        let mut globals = HashSet::new();
        while let Some(function) = queue.pop_front() {
            let Some(body) = self.bodies.get(&function) else {
                continue;
            };
            globals.extend(body.globals.iter().copied());
            self.check(at, body, || self.chain(&callers, function))?;
            for &(callee, line) in &body.calls {
                let name = self.name(callee);
                let accessor = [INPUT_POINT, OUTPUT_POINT, CONSTANTS].into_iter().find(|accessor| *accessor == name);
                if let Some(accessor) = accessor.filter(|accessor| !accessors(at.stage).contains(accessor)) {
                    let mut chain = self.chain(&callers, function);
                    chain.push(name);
                    return Err(ShaderError::ForbiddenAccessor {
                        function: at.header.name.clone(),
                        stage: at.stage.word(),
                        accessor,
                        chain,
                        line,
                        allowed: allowed(at.stage),
                    });
                }
                if let std::collections::hash_map::Entry::Vacant(entry) = callers.entry(callee) {
                    entry.insert(Some(function));
                    queue.push_back(callee);
                }
            }
        }
        Ok(globals)
    }

    fn check(&self, at: StageFunction, body: &Body, chain: impl Fn() -> Vec<String>) -> Result<(), ShaderError> {
        let function = at.header.name.clone();
        if let Some(&(operation, line)) = body.barriers.first() {
            return Err(ShaderError::Barrier { function, operation, chain: chain(), line });
        }
        if let Some(&(operation, advice, line)) = body.derivatives.first() {
            return Err(ShaderError::ImplicitDerivative { function, operation, chain: chain(), line, advice });
        }
        if let Some(&line) = body.discards.first() {
            return Err(ShaderError::Discard { function, chain: chain(), line });
        }
        Ok(())
    }

    /// The calls from the stage function to a function it reaches.
    fn chain(
        &self,
        callers: &HashMap<Handle<Function>, Option<Handle<Function>>>,
        function: Handle<Function>,
    ) -> Vec<String> {
        let mut chain = vec![self.name(function)];
        let mut at = function;
        while let Some(Some(caller)) = callers.get(&at) {
            chain.push(self.name(*caller));
            at = *caller;
        }
        chain.reverse();
        chain
    }
}

/// The accessors that a stage may reach.
fn accessors(stage: Stage) -> &'static [&'static str] {
    match stage {
        Stage::Vertex => &[],
        Stage::Hull => &[INPUT_POINT],
        Stage::PatchConstants => &[INPUT_POINT, OUTPUT_POINT],
        Stage::Domain => &[OUTPUT_POINT, CONSTANTS],
    }
}

/// The same in words.
fn allowed(stage: Stage) -> &'static str {
    match stage {
        Stage::Vertex => "no accessor, only its parameters",
        Stage::Hull => "`input_point`",
        Stage::PatchConstants => "`input_point` and `output_point`",
        Stage::Domain => "`output_point` and `constants`",
    }
}

fn body(module: &Module, function: &Function, lines: &Lines) -> Result<Body, ShaderError> {
    let mut body = Body::default();
    let line = |span: Span| span.to_range().map_or(0, |range| lines.line(range.start));
    for (handle, expression) in function.expressions.iter() {
        let at = || line(function.expressions.get_span(handle));
        match *expression {
            Expression::GlobalVariable(variable) => body.globals.push(variable),
            Expression::Derivative { axis, ctrl, .. } => {
                body.derivatives.push((derivative(axis, ctrl), DIFFERENCE, at()));
            }
            Expression::ImageSample { level, depth_ref, .. } => match (level, depth_ref) {
                (SampleLevel::Auto, Some(_)) => body.derivatives.push(("textureSampleCompare", COMPARE, at())),
                (SampleLevel::Auto, None) => body.derivatives.push(("textureSample", LEVEL, at())),
                (SampleLevel::Bias(_), _) => body.derivatives.push(("textureSampleBias", LEVEL, at())),
                _ => {}
            },
            _ => {}
        }
    }
    let mut blocks: Vec<&Block> = vec![&function.body];
    while let Some(block) = blocks.pop() {
        for (statement, &span) in block.span_iter() {
            match statement {
                Statement::Block(inner) => blocks.push(inner),
                Statement::If { accept, reject, .. } => blocks.extend([accept, reject]),
                Statement::Switch { cases, .. } => blocks.extend(cases.iter().map(|case| &case.body)),
                Statement::Loop { body, continuing, .. } => blocks.extend([body, continuing]),
                Statement::Kill => body.discards.push(line(span)),
                Statement::ControlBarrier(flags) | Statement::MemoryBarrier(flags) => {
                    body.barriers.push((barrier(*flags), line(span)));
                }
                Statement::WorkGroupUniformLoad { .. } => body.barriers.push(("workgroupUniformLoad", line(span))),
                Statement::Call { function: callee, arguments, .. } => {
                    body.calls.push((*callee, line(span)));
                    if arguments.iter().any(|argument| points_into_variable(module, function, *argument)) {
                        let callee = module.functions.try_get(*callee).ok().and_then(|callee| callee.name.clone());
                        return Err(ShaderError::PointerArgument {
                            function: function.name.clone().unwrap_or_default(),
                            callee: callee.unwrap_or_default(),
                            line: line(span),
                        });
                    }
                }
                _ => {}
            }
        }
    }
    body.calls.sort_by_key(|(_, line)| *line);
    Ok(body)
}

/// Whether an argument is `&variable[i]` or `&variable.member`: naga's validator lets them through for function and
/// private variables, and its SPIR-V writer then panics.
fn points_into_variable(module: &Module, function: &Function, argument: Handle<Expression>) -> bool {
    let mut at = argument;
    let mut steps = 0usize;
    loop {
        match function.expressions.try_get(at) {
            Ok(Expression::Access { base, .. } | Expression::AccessIndex { base, .. }) => {
                at = *base;
                steps += 1;
            }
            Ok(Expression::LocalVariable(_)) => return steps > 0,
            Ok(Expression::GlobalVariable(variable)) => {
                // An element of a binding array is a handle and no pointer.
                let space = module.global_variables.try_get(*variable).map(|variable| variable.space);
                return steps > 0 && !matches!(space, Ok(naga::AddressSpace::Handle) | Err(_));
            }
            Ok(Expression::FunctionArgument(index)) => {
                let argument = usize::try_from(*index).ok().and_then(|index| function.arguments.get(index));
                let inner = argument.and_then(|argument| module.types.get_handle(argument.ty).ok());
                let pointer = inner
                    .is_some_and(|ty| matches!(ty.inner, TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. }));
                return steps > 0 && pointer;
            }
            _ => return false,
        }
    }
}

fn barrier(flags: Barrier) -> &'static str {
    if flags.contains(Barrier::WORK_GROUP) {
        "workgroupBarrier"
    } else if flags.contains(Barrier::STORAGE) {
        "storageBarrier"
    } else if flags.contains(Barrier::TEXTURE) {
        "textureBarrier"
    } else {
        "subgroupBarrier"
    }
}

fn derivative(axis: DerivativeAxis, control: DerivativeControl) -> &'static str {
    use DerivativeAxis as Axis;
    use DerivativeControl as Control;
    match (axis, control) {
        (Axis::X, Control::None) => "dpdx",
        (Axis::X, Control::Coarse) => "dpdxCoarse",
        (Axis::X, Control::Fine) => "dpdxFine",
        (Axis::Y, Control::None) => "dpdy",
        (Axis::Y, Control::Coarse) => "dpdyCoarse",
        (Axis::Y, Control::Fine) => "dpdyFine",
        (Axis::Width, Control::None) => "fwidth",
        (Axis::Width, Control::Coarse) => "fwidthCoarse",
        (Axis::Width, Control::Fine) => "fwidthFine",
    }
}
