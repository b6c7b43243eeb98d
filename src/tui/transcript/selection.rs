//! What is selected in a transcript, and how its ends shall move.
//!
//! Its ends are places in the text: they hold while the transcript grows and at every width. Only the layout knows lines,
//! so `update` asks and `view::look` answers before the next frame.

use crate::state;
use crate::transcript::cell::CellId;
use crate::transcript::scroll::Point;

/// A stretch of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    pub anchor: Point,
    /// Where its moving end is.
    pub head: Point,
    /// How much of the lines at its ends it takes.
    pub shape: Shape,
}

/// How much of the lines at its ends a selection takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// All of them.
    Lines,
    /// From one character to the other, both included.
    Characters,
}

/// One request about the selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionRequest {
    /// Begin with the first line of a cell.
    Begin(CellId),
    /// Move the end by so many lines.
    Lines(isize),
    /// Move the end by so many views.
    Pages(isize),
    /// Move the end to the first line.
    First,
    /// Move the end to the last line.
    Last,
    /// Move the end to the first line of a cell.
    Cell(CellId),
    /// Take the characters between two places of the screen.
    Drag(state::Point, state::Point),
    /// Take the word at a place of the screen.
    Word(state::Point),
    /// Take the line at a place of the screen.
    Line(state::Point),
}

impl Selection {
    /// Returns its ends in the order of the text.
    pub fn ends(&self) -> (Point, Point) {
        (self.anchor.min(self.head), self.anchor.max(self.head))
    }

    /// Returns which bytes of a line it takes, of those from `0` to `length`; none where it takes nothing of the line.
    pub fn bytes_of(&self, cell: CellId, line: usize, length: usize) -> Option<(usize, usize)> {
        let (first, last) = self.ends();
        let here = (cell, line);
        if here < (first.cell, first.line) || here > (last.cell, last.line) {
            return None;
        }
        if self.shape == Shape::Lines {
            return Some((0, length));
        }
        let from = if here == (first.cell, first.line) { first.byte.min(length) } else { 0 };
        let to = if here == (last.cell, last.line) { last.byte.min(length) } else { length };
        Some((from, to.max(from)))
    }
}
