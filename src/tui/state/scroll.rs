//! Where the reader of a transcript is: at the growing end, or anchored at one line of one cell.
//!
//! `update` only asks ([`Scroll::ask`]); heights are known to the drawing alone, so the drawing resolves what was asked
//! and returns the new place, which the caller hands back with [`Scroll::settle`]. An anchor names a cell and a line
//! within it: it stays put when content grows below and when the width changes.

use super::cell::CellId;

/// Is the place of the first visible line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Position {
    /// The last line is visible and stays so while the transcript grows.
    #[default]
    Bottom,
    /// The first visible line is this one.
    Anchor {
        /// The cell at the top of the view.
        cell: CellId,
        /// Its line, from 0.
        line: usize,
    },
}

/// Is one wish to look elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Go up by lines.
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
}

/// Holds the place of the reader and what was asked since the last frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scroll {
    position: Position,
    requests: Vec<Request>,
    seen: usize,
}

impl Scroll {
    /// Makes a scroll that follows the end.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks to look elsewhere; the next frame resolves it.
    pub fn ask(&mut self, request: Request) {
        match request {
            // These forget whatever was asked before.
            Request::Top | Request::Bottom => self.requests.clear(),
            Request::Up(_) | Request::Down(_) | Request::PageUp | Request::PageDown | Request::Reveal(_) => {}
        }
        self.requests.push(request);
    }

    /// Takes over what a frame resolved: the place, and how many cells the transcript had.
    pub fn settle(&mut self, position: Position, cells: usize) {
        self.requests.clear();
        self.position = position;
        if position == Position::Bottom {
            self.seen = cells;
        }
    }

    /// Returns the place of the last frame.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Returns what was asked since the last frame, in order.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Returns the number of cells there were when the end was last in view.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// Tells whether the view follows the end.
    pub fn is_following(&self) -> bool {
        self.position == Position::Bottom && self.requests.is_empty()
    }
}
