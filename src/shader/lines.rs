//! From byte offsets to the user's lines.

/// Where the lines of a text begin.
pub(super) struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let breaks = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { source, starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// The line of an offset, from 1. Offsets past the end are on the last line.
    pub(super) fn line(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The column of an offset in characters, from 1.
    pub(super) fn column(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(0);
        let before = self.source.as_bytes().get(start..offset).unwrap_or_default();
        // Counted without cutting the text, since an offset may lie inside a character.
        let characters = before.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        u32::try_from(characters).map_or(u32::MAX, |count| count.saturating_add(1))
    }

    /// The last line with something on it.
    pub(super) fn last(&self) -> u32 {
        self.line(self.source.trim_end().len())
    }
}
