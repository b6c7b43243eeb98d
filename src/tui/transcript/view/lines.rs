//! The rows of a laid-out cell as lines of text: rows that were wrapped are one line again, gutters and marks are left out.
//!
//! Used wherever a place must hold at every width: anchors, what is found, what is selected and copied. A byte counts within
//! the line as it would be copied, the blanks that a break took included.

use crate::transcript::view::rows::Rows;
use crate::widgets::wrap::{Joint, Line};

/// One line of text.
#[derive(Debug, Default)]
pub(super) struct TextLine {
    pub text: String,
    rows: usize,
}

/// Walks down the rows of a cell, and knows the place with which each begins.
#[derive(Debug, Default)]
pub(super) struct RowPlace {
    pub line: usize,
    pub byte: usize,
    length: usize,
    seen: bool,
}

impl RowPlace {
    /// Goes on to the next row.
    pub(super) fn step(&mut self, row: &Line) {
        match row.joint() {
            Joint::GoesOn(blanks) if self.seen => self.byte += self.length + usize::from(blanks),
            Joint::GoesOn(_) | Joint::Begins => {
                self.line += usize::from(self.seen);
                self.byte = 0;
            }
        }
        self.length = row.text_after_lead().len();
        self.seen = true;
    }
}

impl Rows {
    pub(super) fn place_of(&self, row: usize) -> RowPlace {
        let mut place = RowPlace::default();
        self.iter().take(row + 1).for_each(|row| place.step(row));
        place
    }

    /// Returns the row that a place of the text stands in; the last one for a place behind the end.
    pub(super) fn row_of(&self, line: usize, byte: usize) -> usize {
        let mut place = RowPlace::default();
        let mut found = 0;
        for (at, row) in self.iter().enumerate() {
            place.step(row);
            if (place.line, place.byte) > (line, byte) {
                break;
            }
            found = at;
        }
        found
    }

    /// Calls for each line of the text with its number.
    pub(super) fn lines(&self, mut each: impl FnMut(usize, &TextLine)) {
        let mut line = TextLine::default();
        let mut number = 0;
        for row in self.iter() {
            if line.rows > 0 && row.joint() == Joint::Begins {
                each(number, &line);
                number += 1;
                line.text.clear();
            }
            line.push(row);
        }
        if line.rows > 0 {
            each(number, &line);
        }
    }
}

impl TextLine {
    fn push(&mut self, row: &Line) {
        if let Joint::GoesOn(blanks) = row.joint() {
            self.text.extend(std::iter::repeat_n(' ', usize::from(blanks)));
        }
        self.rows += 1;
        self.text.push_str(row.text_after_lead());
    }
}
