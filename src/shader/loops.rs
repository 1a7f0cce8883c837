//! Which of the user's loops are sure to end.
//!
//! A loop that never ends is undefined behaviour below WGSL, so naga has each loop count its rounds and leave after 2^64.
//! That costs an H200 a quarter of a domain pass, and keeps drivers from unrolling. Where each loop of the user's text is
//! a counted one, it ends anyway, and the kernel is compiled without the counters.

use naga::{BinaryOperator, Block, Expression, Function, Handle, Literal, LocalVariable, Module, Statement};

/// Whether every loop in every function of the module is a counted loop.
///
/// Counted is a loop whose first decision is to leave where an integer variable has reached a bound, and whose continuing
/// part is the only place in the loop that writes the variable, by a constant step towards the bound:
///
/// - by steps of 1 while it is less (or, downwards, greater) than anything of its type, which it cannot be for ever;
/// - by larger steps, or while it may be equal, where the bound is a literal far enough from the end of the type that the
///   variable cannot run past it.
///
/// `for (var i = 0u; i < n; i++)` is one. Any other loop may still end; it is not proven.
pub(super) fn all_end(module: &Module) -> bool {
    module.functions.iter().all(|(_, function)| block_ends(function, &function.body))
}

fn block_ends(function: &Function, block: &Block) -> bool {
    block.iter().all(|statement| match statement {
        Statement::Loop { body, continuing, break_if } => {
            break_if.is_none()
                && is_counted(function, body, continuing)
                && block_ends(function, body)
                && block_ends(function, continuing)
        }
        Statement::Block(inner) => block_ends(function, inner),
        Statement::If { accept, reject, .. } => block_ends(function, accept) && block_ends(function, reject),
        Statement::Switch { cases, .. } => cases.iter().all(|case| block_ends(function, &case.body)),
        _ => true,
    })
}

/// How far a counter is from where it must not go.
struct Count {
    counter: Handle<LocalVariable>,
    upwards: bool,
    or_equal: bool,
    /// The bound, where it is a literal.
    bound: Option<i64>,
}

fn is_counted(function: &Function, body: &Block, continuing: &Block) -> bool {
    let mut rest = body.iter().skip_while(|statement| matches!(statement, Statement::Emit(_)));
    let Some(Statement::If { condition, accept, reject }) = rest.next() else { return false };
    if !accept.is_empty() || !matches!(reject.first(), Some(Statement::Break)) {
        return false;
    }
    let Some(count) = condition_of(function, body, *condition) else { return false };
    let Some(step) = last_step(function, continuing, &count) else { return false };
    let writes = writes_in(function, body, count.counter) + writes_in(function, continuing, count.counter);
    writes == 1 && count.ends_by(step)
}

impl Count {
    fn ends_by(&self, step: i64) -> bool {
        match self.bound {
            _ if step == 1 && !self.or_equal => true,
            // Whether the counter is an i32 or a u32, it stays within what both can hold.
            Some(bound) if self.upwards => bound + step <= i64::from(i32::MAX),
            Some(bound) => bound - step >= 0,
            None => false,
        }
    }
}

/// The condition to go on: a counter compared with a bound.
fn condition_of(function: &Function, body: &Block, condition: Handle<Expression>) -> Option<Count> {
    let Expression::Binary { op, left, right } = function.expressions.try_get(condition).ok()? else { return None };
    let (upwards, or_equal) = match op {
        BinaryOperator::Less => (true, false),
        BinaryOperator::LessEqual => (true, true),
        BinaryOperator::Greater => (false, false),
        BinaryOperator::GreaterEqual => (false, true),
        _ => return None,
    };
    let counter = loaded(function, body, *left)?;
    Some(Count { counter, upwards, or_equal, bound: literal(function, *right) })
}

/// The local variable whose value an expression is, loaded anew by this block in each round.
fn loaded(function: &Function, block: &Block, value: Handle<Expression>) -> Option<Handle<LocalVariable>> {
    let Expression::Load { pointer } = function.expressions.try_get(value).ok()? else { return None };
    let here = block.iter().any(|statement| match statement {
        Statement::Emit(range) => range.clone().any(|handle| handle == value),
        _ => false,
    });
    here.then(|| pointed(function, *pointer)).flatten()
}

fn pointed(function: &Function, pointer: Handle<Expression>) -> Option<Handle<LocalVariable>> {
    match function.expressions.try_get(pointer).ok()? {
        Expression::LocalVariable(variable) => Some(*variable),
        _ => None,
    }
}

fn literal(function: &Function, value: Handle<Expression>) -> Option<i64> {
    match function.expressions.try_get(value).ok()? {
        Expression::Literal(Literal::U32(value)) => Some(i64::from(*value)),
        Expression::Literal(Literal::I32(value)) => Some(i64::from(*value)),
        _ => None,
    }
}

/// The step towards the bound that the continuing part ends with.
fn last_step(function: &Function, continuing: &Block, count: &Count) -> Option<i64> {
    let Some(Statement::Store { pointer, value }) = continuing.last() else { return None };
    if pointed(function, *pointer) != Some(count.counter) {
        return None;
    }
    let Expression::Binary { op, left, right } = function.expressions.try_get(*value).ok()? else { return None };
    let towards = match op {
        BinaryOperator::Add => count.upwards,
        BinaryOperator::Subtract => !count.upwards,
        _ => return None,
    };
    let stepped = loaded(function, continuing, *left) == Some(count.counter);
    literal(function, *right).filter(|step| *step > 0 && towards && stepped)
}

/// How often a block may write a variable: stores, and calls that are given a pointer to it.
fn writes_in(function: &Function, block: &Block, variable: Handle<LocalVariable>) -> usize {
    let is = |pointer: Handle<Expression>| pointed(function, pointer) == Some(variable);
    block
        .iter()
        .map(|statement| match statement {
            Statement::Store { pointer, .. } => usize::from(is(*pointer)),
            Statement::Call { arguments, .. } => arguments.iter().filter(|argument| is(**argument)).count(),
            Statement::Block(inner) => writes_in(function, inner, variable),
            Statement::If { accept, reject, .. } => {
                writes_in(function, accept, variable) + writes_in(function, reject, variable)
            }
            Statement::Switch { cases, .. } => cases.iter().map(|case| writes_in(function, &case.body, variable)).sum(),
            Statement::Loop { body, continuing, .. } => {
                writes_in(function, body, variable) + writes_in(function, continuing, variable)
            }
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    fn ends(body: &str) -> bool {
        let text = format!("fn g(p: ptr<function, u32>) {{ *p = 0u; }} fn f(n: u32, m: i32) {{ var x = 0u; {body} }}");
        let module =
            naga::front::wgsl::parse_str(&text).unwrap_or_else(|error| panic!("{}", error.emit_to_string(&text)));
        super::all_end(&module)
    }

    #[test]
    fn counted_loops_end() {
        for body in [
            "",
            "for (var i = 0u; i < 4u; i++) { x += i; }",
            "for (var i = n; i < n * n; i += 1u) { if (x > i) { continue; } x++; }",
            "for (var i = 0; i <= 7; i += 2) { for (var j = 0u; j < x; j++) { x += j; } }",
            "for (var i = 9; i > m; i--) { if (x > 3u) { break; } }",
            "for (var i = 32u; i >= 1u; i -= 1u) { x = i; }",
            "var i = 0u; loop { if (i < n) {} else { break; } x++; continuing { i = i + 1u; } }",
            "switch n { case 1u: { for (var i = 0u; i < 4u; i++) { x += i; } } default: {} }",
        ] {
            assert!(ends(body), "{body}");
        }
    }

    #[test]
    fn others_are_not_proven() {
        for body in [
            "loop { if (x > 3u) { break; } x++; }",
            "while (x < n) { x++; }",
            "for (var i = 0u; i < 4u; i++) { i = 0u; }",
            "for (var i = 0u; i < 4u; i++) { g(&i); }",
            "for (var i = 0u; i < 4u; i++) { let p = &i; *p = 1u; }",
            "for (var i = 0u; i < 4u; i++) { for (var j = 0u; j < 4u; j++) { i -= 1u; } }",
            "for (var i = 0u; i < 4u; i--) { x = i; }",
            "for (var i = 0u; i < n; i += 2u) { x = i; }",
            "for (var i = 0u; i <= n; i++) { x = i; }",
            "for (var i = 4u; i >= 0u; i--) { x = i; }",
            "for (var i = 0; i < 2147483647; i += 2) { x = 1u; }",
            "for (var i = 0u; i != 4u; i++) { x = i; }",
            "for (var i = 0u; i < 4u; i += n) { x = i; }",
            "for (var i = 0u; i < 4u; x++) { }",
            "for (var t = 0.0; t < 4.0; t += 1.0) { x++; }",
            "let stale = x; for (; stale < 4u; x++) { }",
            "let stale = x; for (; x < 4u; x = stale + 1u) { }",
            "for (;;) { if (x > 3u) { break; } }",
            "if (n > 1u) { switch n { case 1u: { loop { x++; if (x > 9u) { break; } } } default: {} } }",
        ] {
            assert!(!ends(body), "{body}");
        }
    }
}
