//! Where the reader of a transcript is: at the growing end, or anchored at one line of one cell.
//!
//! `update` only asks ([`Scroll::ask`]); heights are known to the drawing alone, so the drawing resolves what was asked
//! and returns the new place, which the caller hands back with [`Scroll::settle`]. An anchor names a place in the text of a
//! cell: it stays put when content grows below, when something above is collapsed, and at every width.

use crate::transcript::cell::CellId;

/// The place of the first visible line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Position {
    /// The last line is visible and stays so while the transcript grows.
    #[default]
    Bottom,
    /// The first visible row is the one with this place.
    Anchor(Point),
}

/// A place in the text of a transcript. It is the same at every width, where rows are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    pub cell: CellId,
    /// The line of its text, from 0; a blank row above the cell is its first one.
    pub line: usize,
    /// The byte within that line.
    pub byte: usize,
}

/// A request to look elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScrollRequest {
    Up(usize),
    /// Go down by lines; arriving at the end follows it again.
    Down(usize),
    /// Go up by one view, less one line.
    PageUp,
    /// Go down by one view, less one line.
    PageDown,
    /// Go to the first line.
    Top,
    /// Go to the end and follow it.
    Bottom,
    /// Make a cell visible, moving as little as possible.
    Reveal(CellId),
    /// Make a place visible; it comes to the upper third when it is out of view.
    Show(Point),
    /// Make a place visible, moving as little as possible.
    Reach(Point),
    /// Go back to where the view was.
    Return(Position),
}

/// The place of the reader and what was asked since the last frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scroll {
    position: Position,
    requests: Vec<ScrollRequest>,
    seen: usize,
    top: Option<Point>,
}

impl Scroll {
    /// Makes a scroll that follows the end.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks to look elsewhere; the next frame resolves it.
    pub fn ask(&mut self, request: ScrollRequest) {
        // These forget whatever was asked before.
        if matches!(request, ScrollRequest::Top | ScrollRequest::Bottom | ScrollRequest::Return(_)) {
            self.requests.clear();
        }
        self.requests.push(request);
    }

    /// Takes over what a frame resolved: the place, its first visible row, and how many cells the transcript had.
    pub fn settle(&mut self, position: Position, top: Option<Point>, cells: usize) {
        self.requests.clear();
        self.position = position;
        self.top = top.or(self.top);
        if position == Position::Bottom {
            self.seen = cells;
        }
    }

    /// Returns the place of the last frame.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Returns the first visible row of the last frame; `None` before the first.
    pub fn top(&self) -> Option<Point> {
        self.top
    }

    /// Returns what was asked since the last frame, in order.
    pub fn requests(&self) -> &[ScrollRequest] {
        &self.requests
    }

    /// Returns the number of cells there were when the end was last in view.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// Tells whether the view follows the end, or will with the next frame.
    pub fn is_following(&self) -> bool {
        self.requests.last().map_or(self.position == Position::Bottom, |last| *last == ScrollRequest::Bottom)
    }
}
