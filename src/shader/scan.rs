//! Finds the module-scope declarations of a WGSL text without parsing it.
//!
//! The result types of the stage functions have to be known before naga runs, since the accessors that go with them are
//! part of what naga parses. On the way the text is held to limits, because naga's recursive passes run out of stack on
//! very long chains of operators, which no caller could catch.

use super::error::ShaderError;
use super::lines::Lines;
use super::nesting::{MAX_DEPTH, Nesting};
use super::tokens::{Token, Tokens, join};

/// Module-scope declarations; naga orders them recursively.
const MAX_DECLARATIONS: usize = 1500;
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
    /// Whether a body follows.
    pub(super) complete: bool,
}

/// What was found.
pub(super) struct Scan {
    pub(super) functions: Vec<Header>,
    /// Every name declared, with its line.
    pub(super) declared: Vec<(String, u32)>,
    /// Where something opens that the text does not finish, and what.
    pub(super) unfinished: Option<(u32, String)>,
    /// Whether what is unfinished is only attributes, which naga would take for those of what follows.
    pub(super) loose_attributes: bool,
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
        let mut scan = Self { functions: Vec::new(), declared: Vec::new(), unfinished: None, loose_attributes: false };
        let mut tokens = Tokens::new(source);
        let mut nesting = Nesting::new();
        let mut declaration: Vec<Token> = Vec::new();
        for token in tokens.by_ref() {
            let at_top = nesting.at_module_scope();
            if nesting.step(&token) > MAX_DEPTH {
                return Err(ShaderError::TooComplex {
                    line: lines.line(token.start),
                    what: "the depth of an expression or statement (operators and brackets within one another)",
                    limit: MAX_DEPTH,
                    advice: "split it with `let`, or use a loop",
                });
            }
            if let Some(at) = nesting.stray() {
                scan.unfinished =
                    Some((lines.line(at), format!("`{}` closes nothing that is open; take it out", token.text)));
                return Ok(scan);
            }
            // Of functions and structs only what comes before the braces is kept.
            if at_top || nesting.outside_braces() {
                declaration.push(token);
            }
            let ends = nesting.at_module_scope() && matches!(token.text, ";" | "}");
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
        scan.loose_attributes = after_attributes(&declaration).is_empty() && nesting.at_module_scope();
        scan.unfinished = match (tokens.open_comment(), nesting.open(), declaration.first()) {
            (Some(at), ..) => {
                Some((lines.line(at), "a comment opens here and is not closed; end it with `*/`".to_owned()))
            }
            (None, Some((bracket, at)), _) => {
                Some((lines.line(at), format!("`{}` opens here and is not closed; close it", bracket)))
            }
            (None, None, Some(token)) => Some((
                lines.line(token.start),
                "a declaration begins here and the text ends within it; finish it or take it out".to_owned(),
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
        let rest = if keyword.text == "var" { after_template(rest) } else { rest };
        let Some(name) = rest.first().filter(|token| token.is_name()) else {
            return;
        };
        let line = lines.line(name.start);
        match keyword.text {
            "fn" => self.functions.push(header(tokens, name.text, line)),
            "struct" | "alias" | "const" | "override" | "var" => {}
            _ => return,
        }
        self.declared.push((name.text.to_owned(), line));
    }
}

fn header(tokens: &[Token], name: &str, line: u32) -> Header {
    let brace = tokens.iter().position(|token| token.text == "{");
    let tokens = brace.and_then(|end| tokens.get(..end)).unwrap_or(tokens);
    let arrow = tokens.iter().position(|token| token.text == "->");
    let result = arrow.and_then(|at| tokens.get(at + 1..)).map(join).filter(|text| !text.is_empty());
    Header { name: name.to_owned(), line, text: join(tokens), result, complete: brace.is_some() }
}

/// Skips `@name` and `@name(…)`.
fn after_attributes<'a, 'b>(mut tokens: &'a [Token<'b>]) -> &'a [Token<'b>] {
    while let [at, _, rest @ ..] = tokens {
        if at.text != "@" {
            break;
        }
        tokens = if rest.first().is_some_and(|token| token.text == "(") { after_pair(rest, "(", ")") } else { rest };
    }
    tokens
}

/// Skips the `<…>` of a `var`.
fn after_template<'a, 'b>(tokens: &'a [Token<'b>]) -> &'a [Token<'b>] {
    if tokens.first().is_some_and(|token| token.text == "<") { after_pair(tokens, "<", ">") } else { tokens }
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
