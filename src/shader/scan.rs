//! Finds the module-scope declarations of a WGSL text without parsing it.
//!
//! The result types of the stage functions have to be known before naga runs, since the accessors that go with them are
//! part of what naga parses. On the way the text is held to limits, because naga's recursive passes run out of stack on
//! very long chains of operators, which no caller could catch.

use super::error::ShaderError;
use super::lines::Lines;
use super::tokens::{Token, Tokens, join};

/// Operators, accesses and brackets within one another.
const MAX_DEPTH: usize = 400;
/// Module-scope declarations; naga orders them recursively.
const MAX_DECLARATIONS: usize = 2000;
/// Bytes of text; naga counts them in 32 bits and a module of this size takes minutes to compile.
const MAX_BYTES: usize = 16 << 20;

/// The header of a function.
pub(super) struct Header {
    pub(super) name: String,
    pub(super) line: u32,
    /// The header as the user wrote it, blanks collapsed.
    pub(super) text: String,
    /// The type after the arrow.
    pub(super) result: Option<String>,
}

/// A module-scope `var`.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) type_text: Option<String>,
    pub(super) initial: Option<String>,
}

/// What was found.
pub(super) struct Scan {
    pub(super) functions: Vec<Header>,
    pub(super) variables: Vec<Variable>,
    /// Every name declared, with its line.
    pub(super) declared: Vec<(String, u32)>,
    /// Where something opens that the text does not finish, and what.
    pub(super) unfinished: Option<(u32, String)>,
}

impl Scan {
    pub(super) fn function(&self, name: &str) -> Option<&Header> {
        self.functions.iter().find(|header| header.name == name)
    }

    pub(super) fn new(source: &str, lines: &Lines) -> Result<Self, ShaderError> {
        if source.len() > MAX_BYTES {
            return Err(ShaderError::TooComplex {
                line: lines.last(),
                what: "the text's length in bytes",
                limit: MAX_BYTES,
                advice: "move data into buffers",
            });
        }
        let mut scan = Self {
            functions: Vec::new(),
            variables: Vec::new(),
            declared: Vec::new(),
            unfinished: None,
        };
        let mut tokens = Tokens::new(source);
        let mut nesting = Nesting::new();
        let mut declaration: Vec<Token> = Vec::new();
        for token in tokens.by_ref() {
            let at_top = nesting.levels.is_empty();
            if nesting.step(&token) > MAX_DEPTH {
                return Err(ShaderError::TooComplex {
                    line: lines.line(token.start),
                    what: "the depth of an expression or statement (operators and brackets within one another)",
                    limit: MAX_DEPTH,
                    advice: "split it with `let`, or use a loop",
                });
            }
            if let Some(at) = nesting.stray {
                scan.unfinished = Some((
                    lines.line(at),
                    format!("`{}` closes nothing that is open; take it out", token.text),
                ));
                return Ok(scan);
            }
            // Of functions and structs only what comes before the braces is kept.
            if at_top || nesting.outside_braces() {
                declaration.push(token);
            }
            let ends = nesting.levels.is_empty() && matches!(token.text, ";" | "}");
            if ends {
                scan.declare(&declaration, lines);
                declaration.clear();
                if scan.declared.len() > MAX_DECLARATIONS {
                    return Err(ShaderError::TooComplex {
                        line: lines.line(token.start),
                        what: "the number of module-scope declarations",
                        limit: MAX_DECLARATIONS,
                        advice: "gather constants in arrays, or move data into buffers",
                    });
                }
            }
        }
        scan.unfinished = match (
            tokens.open_comment(),
            nesting.levels.first(),
            declaration.first(),
        ) {
            (Some(at), ..) => Some((
                lines.line(at),
                "a comment opens here and is not closed; end it with `*/`".to_owned(),
            )),
            (None, Some(level), _) => Some((
                lines.line(level.start),
                format!("`{}` opens here and is not closed; close it", level.bracket),
            )),
            (None, None, Some(token)) => Some((
                lines.line(token.start),
                "a declaration begins here and the text ends within it; finish it or take it out"
                    .to_owned(),
            )),
            (None, None, None) => None,
        };
        Ok(scan)
    }

    fn declare(&mut self, tokens: &[Token], lines: &Lines) {
        let tokens = after_attributes(tokens);
        let Some((keyword, rest)) = tokens.split_first() else {
            return;
        };
        let rest = if keyword.text == "var" {
            after_template(rest)
        } else {
            rest
        };
        let Some(name) = rest.first().filter(|token| token.is_name()) else {
            return;
        };
        let line = lines.line(name.start);
        match keyword.text {
            "fn" => self.functions.push(header(tokens, name.text, line)),
            "var" => self.variables.push(variable(rest, name.text)),
            "struct" | "alias" | "const" | "override" => {}
            _ => return,
        }
        self.declared.push((name.text.to_owned(), line));
    }
}

fn header(tokens: &[Token], name: &str, line: u32) -> Header {
    let end = tokens
        .iter()
        .position(|token| token.text == "{")
        .unwrap_or(tokens.len());
    let tokens = tokens.get(..end).unwrap_or(tokens);
    let arrow = tokens.iter().position(|token| token.text == "->");
    let result = arrow
        .and_then(|at| tokens.get(at + 1..))
        .map(join)
        .filter(|text| !text.is_empty());
    Header {
        name: name.to_owned(),
        line,
        text: join(tokens),
        result,
    }
}

fn variable(rest: &[Token], name: &str) -> Variable {
    let end = rest
        .iter()
        .position(|token| token.text == ";")
        .unwrap_or(rest.len());
    let equals = rest.iter().position(|token| token.text == "=");
    let part =
        |from: usize, to: usize| rest.get(from..to).map(join).filter(|text| !text.is_empty());
    let has_type = rest.get(1).is_some_and(|token| token.text == ":");
    Variable {
        name: name.to_owned(),
        type_text: if has_type {
            part(2, equals.unwrap_or(end))
        } else {
            None
        },
        initial: equals.and_then(|at| part(at + 1, end)),
    }
}

/// Skips `@name` and `@name(…)`.
fn after_attributes<'a, 'b>(mut tokens: &'a [Token<'b>]) -> &'a [Token<'b>] {
    while let [at, _, rest @ ..] = tokens {
        if at.text != "@" {
            break;
        }
        tokens = if rest.first().is_some_and(|token| token.text == "(") {
            after_pair(rest, "(", ")")
        } else {
            rest
        };
    }
    tokens
}

/// Skips the `<…>` of a `var`.
fn after_template<'a, 'b>(tokens: &'a [Token<'b>]) -> &'a [Token<'b>] {
    if tokens.first().is_some_and(|token| token.text == "<") {
        after_pair(tokens, "<", ">")
    } else {
        tokens
    }
}

fn after_pair<'a, 'b>(tokens: &'a [Token<'b>], open: &str, close: &str) -> &'a [Token<'b>] {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate() {
        if token.text == open {
            depth += 1;
        } else if token.text == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return tokens.get(index + 1..).unwrap_or_default();
            }
        }
    }
    &[]
}

/// An open bracket and how deep the syntax tree within it may be.
struct Level {
    bracket: char,
    start: usize,
    expression: Depth,
}

/// An upper bound of the depth of the syntax tree between two separators.
#[derive(Clone, Copy, Default)]
struct Depth {
    /// Of the part being read.
    current: usize,
    /// Of the part before, which an `else` continues.
    before: usize,
    /// Of the deepest part so far.
    deepest: usize,
}

impl Depth {
    fn grow(&mut self) -> usize {
        self.current += 1;
        self.deepest = self.deepest.max(self.current);
        self.current
    }

    fn separate(&mut self) {
        self.before = self.current;
        self.current = 0;
    }
}

/// Follows brackets. A left-associative chain is as deep as it has operators, on top of its deepest operand.
struct Nesting {
    levels: Vec<Level>,
    top: Depth,
    /// A bracket that closes what was not opened.
    stray: Option<usize>,
    braces: usize,
}

impl Nesting {
    fn new() -> Self {
        Self {
            levels: Vec::new(),
            top: Depth::default(),
            stray: None,
            braces: 0,
        }
    }

    fn outside_braces(&self) -> bool {
        self.braces == 0
    }

    fn depth(&mut self) -> &mut Depth {
        match self.levels.last_mut() {
            Some(level) => &mut level.expression,
            None => &mut self.top,
        }
    }

    /// Takes in a token; how deep the tree may be there.
    fn step(&mut self, token: &Token) -> usize {
        match token.text {
            "(" | "[" | "{" => {
                let depth = self.depth().grow();
                let bracket = token.text.chars().next().unwrap_or('(');
                self.braces += usize::from(bracket == '{');
                self.levels.push(Level {
                    bracket,
                    start: token.start,
                    expression: Depth::default(),
                });
                depth.max(self.levels.len())
            }
            ")" | "]" | "}" => {
                let opening = match token.text {
                    ")" => '(',
                    "]" => '[',
                    _ => '{',
                };
                let Some(level) = self.levels.pop().filter(|level| level.bracket == opening) else {
                    self.stray = Some(token.start);
                    return 0;
                };
                self.braces -= usize::from(opening == '{');
                let depth = self.depth();
                depth.current = depth.current.max(level.expression.deepest + 1);
                depth.deepest = depth.deepest.max(depth.current);
                let current = depth.current;
                if opening == '{' {
                    depth.separate();
                }
                current
            }
            ";" | "," => {
                self.depth().separate();
                0
            }
            "else" => {
                let depth = self.depth();
                depth.current = depth.before;
                depth.grow()
            }
            text if text.starts_with(|c: char| c.is_alphanumeric() || c == '_') => 0,
            _ => self.depth().grow(),
        }
    }
}
