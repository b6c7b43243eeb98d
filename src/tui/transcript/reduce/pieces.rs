//! The sanitising of a text that arrives in pieces.
//!
//! Used by `transcript` for deltas. The sanitiser wants whole texts, so the end of what came, from the last place where a
//! cut is harmless, is kept raw and sanitised again with the next piece. What stands before that place never changes.

use crate::transcript::cell::CellId;
use steersman_base::text;

/// Longest end that is kept raw, bytes.
const HELD_BYTES: usize = 4 * 1024;

/// A cell that deltas go to.
#[derive(Debug, Clone)]
pub(super) struct Live {
    pub cell: CellId,
    /// Bytes of the shown text that are final.
    settled: usize,
    /// The raw text behind them.
    held: String,
}

impl Live {
    pub(super) fn new(cell: CellId) -> Self {
        Self { cell, settled: 0, held: String::new() }
    }

    pub(super) fn append(&mut self, shown: &mut String, piece: &str) {
        shown.truncate(self.settled);
        self.held.push_str(piece);
        let cut = safe_split(&self.held);
        if cut > 0 {
            shown.push_str(&text::visible(self.held.get(..cut).unwrap_or_default()));
            self.held.drain(..cut);
            self.settled = shown.len();
        }
        shown.push_str(&text::visible(&self.held));
    }
}

/// Finds the last place where the two sides do not depend on each other.
fn safe_split(held: &str) -> usize {
    let is_plain = |c: char| c.is_alphanumeric() || c == ' ' || c.is_ascii_graphic();
    // Tab stops count from the line's start.
    let line = held.rfind('\n').map_or(0, |end| end + 1);
    if held.get(line..).is_some_and(|line| line.contains('\t')) && held.len() - line < HELD_BYTES {
        return line;
    }
    let mut chars = held.char_indices().rev().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\n' {
            return at + 1;
        }
        if is_plain(c) && chars.peek().is_some_and(|(_, before)| is_plain(*before)) {
            return at;
        }
        if held.len() - at > HELD_BYTES {
            return held.len();
        }
    }
    0
}
