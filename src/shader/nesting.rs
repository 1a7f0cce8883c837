//! Follows brackets and bounds how deep the syntax tree of a text can be, without parsing it.
//!
//! naga's passes recurse over the tree. Its parser limits its own recursion, but a long chain such as `a + a + a` is deep
//! without any, and running out of stack cannot be caught. The limit is measured so that an unoptimised naga stays
//! within three quarters of the 2 MiB that a thread of Rust's gets.

use super::tokens::Token;

/// The depth allowed, in operators of an expression.
pub(super) const MAX_DEPTH: usize = 250;
/// What a block or an `else` takes of the stack, in the same unit.
const BLOCK: usize = 6;
/// What a parenthesis takes.
const PARENTHESIS: usize = 2;

/// Between an opening bracket and its close.
struct Level {
    bracket: char,
    start: usize,
    /// How deep the bracket itself may be.
    base: usize,
    /// The deepest part between two separators so far.
    deepest: usize,
    part: Part,
    /// Where an `else` would continue.
    else_base: usize,
}

/// What lies between two separators: an expression, or a statement.
#[derive(Clone, Copy, Default)]
struct Part {
    /// Each operator may be within, or around, all others.
    operators: usize,
    /// The deepest bracket.
    within: usize,
    /// What the `else`s before it take.
    base: usize,
}

impl Part {
    fn depth(self) -> usize {
        self.base + self.operators + self.within
    }
}

impl Level {
    fn new(bracket: char, start: usize, base: usize) -> Self {
        Self { bracket, start, base, deepest: 0, part: Part::default(), else_base: 0 }
    }

    fn separate(&mut self, else_base: usize) {
        self.deepest = self.deepest.max(self.part.depth());
        self.part = Part::default();
        self.else_base = else_base;
    }
}

/// The brackets open at a place of a text.
pub(super) struct Nesting {
    levels: Vec<Level>,
    module: Level,
    braces: usize,
    stray: Option<usize>,
}

impl Nesting {
    pub(super) fn new() -> Self {
        Self { levels: Vec::new(), module: Level::new('{', 0, 0), braces: 0, stray: None }
    }

    pub(super) fn at_module_scope(&self) -> bool {
        self.levels.is_empty()
    }

    pub(super) fn outside_braces(&self) -> bool {
        self.braces == 0
    }

    /// A bracket that closes what was not opened.
    pub(super) fn stray(&self) -> Option<usize> {
        self.stray
    }

    /// The outermost bracket that is open, and where.
    pub(super) fn open(&self) -> Option<(char, usize)> {
        self.levels.first().map(|level| (level.bracket, level.start))
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().unwrap_or(&mut self.module)
    }

    /// Takes in a token; how deep the tree may be there.
    pub(super) fn step(&mut self, token: &Token) -> usize {
        match token.text {
            "(" => self.enter('(', PARENTHESIS, token),
            "{" => self.enter('{', BLOCK, token),
            "[" => {
                // Indexing what was indexed is a chain, too.
                self.level().part.operators += 1;
                self.enter('[', PARENTHESIS, token);
            }
            ")" => self.leave('(', PARENTHESIS, token),
            "]" => self.leave('[', PARENTHESIS, token),
            "}" => {
                self.leave('{', BLOCK, token);
                let level = self.level();
                level.separate(level.part.base);
            }
            ";" | "," => self.level().separate(0),
            "else" => {
                let level = self.level();
                level.part.base = level.else_base + BLOCK;
            }
            // naga makes several blocks of these.
            "for" | "while" | "loop" | "switch" => self.level().part.operators += BLOCK,
            text if text.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {}
            _ => self.level().part.operators += 1,
        }
        let level = self.level();
        level.base + level.part.depth().max(level.deepest)
    }

    fn enter(&mut self, bracket: char, weight: usize, token: &Token) {
        self.braces += usize::from(bracket == '{');
        let level = self.level();
        let base = level.base + level.part.base + level.part.operators + weight;
        self.levels.push(Level::new(bracket, token.start, base));
    }

    fn leave(&mut self, bracket: char, weight: usize, token: &Token) {
        match self.levels.pop() {
            Some(mut level) if level.bracket == bracket => {
                self.braces -= usize::from(bracket == '{');
                level.separate(0);
                let outer = self.level();
                outer.part.within = outer.part.within.max(level.deepest + weight);
            }
            _ => self.stray = Some(token.start),
        }
    }
}
