//! Cuts WGSL text into words and symbols, as far as finding module-scope declarations needs it.

/// A word (an identifier, keyword or number) or a symbol, with where it is in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    /// The token itself.
    pub(super) text: &'a str,
    /// Its byte offset.
    pub(super) start: usize,
    /// Whether a blank or a comment comes before it.
    pub(super) spaced: bool,
}

impl Token<'_> {
    /// Whether it can be the name of something.
    pub(super) fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// The tokens of a text, comments left out. Nothing in the text makes it fail: what is no word is a symbol.
pub(super) struct Tokens<'a> {
    source: &'a str,
    offset: usize,
    open_comment: Option<usize>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, offset: 0, open_comment: None }
    }

    /// Where a block comment opens that the text does not close. Known once the tokens have been walked.
    pub(super) fn open_comment(&self) -> Option<usize> {
        self.open_comment
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.offset..).unwrap_or_default()
    }

    /// Skips blanks and comments; whether there were any.
    fn skip_trivia(&mut self) -> bool {
        let begin = self.offset;
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.offset += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.offset += trimmed.find(is_line_break).unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                self.skip_block_comment(trimmed);
            } else {
                return self.offset > begin;
            }
        }
    }

    /// Block comments nest in WGSL.
    fn skip_block_comment(&mut self, text: &str) {
        let begin = self.offset;
        let mut depth = 0usize;
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(pair) = bytes.get(at..at + 2) {
            match pair {
                b"/*" => {
                    depth += 1;
                    at += 2;
                }
                b"*/" => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        self.offset += at;
                        return;
                    }
                }
                _ => at += 1,
            }
        }
        self.open_comment = Some(begin);
        self.offset = self.source.len();
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let spaced = self.skip_trivia();
        let rest = self.rest();
        let first = rest.chars().next()?;
        let length = if is_word(first) {
            // A number keeps its point, so that `1.5` is not taken for a member access.
            let number = first.is_ascii_digit();
            rest.find(|c: char| !(is_word(c) || (number && c == '.'))).unwrap_or(rest.len())
        } else {
            const PAIRS: [&str; 10] = ["->", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*="];
            if PAIRS.iter().any(|pair| rest.starts_with(pair)) { 2 } else { first.len_utf8() }
        };
        let text = rest.get(..length)?;
        let start = self.offset;
        self.offset += length;
        Some(Token { text, start, spaced })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The line breaks of WGSL, at which a line comment ends.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{000B}' | '\u{000C}' | '\u{0085}' | '\u{2028}' | '\u{2029}')
}

/// Puts tokens together again, comments dropped and blanks collapsed.
pub(super) fn join(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if token.spaced && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(token.text);
    }
    text
}
