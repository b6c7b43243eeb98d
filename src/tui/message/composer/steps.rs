//! What is one step in the message: a grapheme, a word, a chip.
//!
//! The text area knows characters; it is told which of them belong together before each key.

use ratatui::style::{Modifier, Style};
use tui_textarea::{AtomicRange, CursorMove};
use unicode_segmentation::UnicodeSegmentation;

use super::{Composer, chips, narrow};

/// Which way from the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordDirection {
    Left,
    Right,
}

impl Composer {
    /// Moves by a word; a chip is one, also where letters touch it.
    pub(super) fn move_word(&mut self, way: WordDirection) {
        let (row, column) = self.area.cursor();
        let (towards, is_left) = match way {
            WordDirection::Left => (CursorMove::WordBack, true),
            WordDirection::Right => (CursorMove::WordForward, false),
        };
        self.area.move_cursor(towards);
        let (new_row, reached) = self.area.cursor();
        let line = self.area.lines().get(row).map_or("", String::as_str);
        let passed = |chip: &chips::ChipSpan<'_>| {
            if is_left {
                chip.end < column && (new_row, reached) < (row, chip.end)
            } else {
                column < chip.start && (row, chip.start) < (new_row, reached)
            }
        };
        let edge = if is_left {
            chips::places_with(line, &self.labels).into_iter().rfind(passed).map(|chip| chip.end)
        } else {
            chips::places_with(line, &self.labels).into_iter().find(passed).map(|chip| chip.start)
        };
        if let Some(edge) = edge {
            self.area.move_cursor(CursorMove::Jump(narrow(row), narrow(edge)));
        }
    }

    /// Deletes a word; where a chip is on the line, no more than up to that.
    pub(super) fn delete_word(&mut self, way: WordDirection) -> bool {
        let (row, column) = self.area.cursor();
        let line = self.area.lines().get(row).map_or("", String::as_str);
        let touches = |chip: chips::ChipSpan<'_>| match way {
            WordDirection::Left => chip.end <= column,
            WordDirection::Right => column <= chip.start,
        };
        if !chips::places_with(line, &self.labels).into_iter().any(touches) {
            return match way {
                WordDirection::Left => self.area.delete_word(),
                WordDirection::Right => self.area.delete_next_word(),
            };
        }
        self.move_word(way);
        let (_, reached) = self.area.cursor();
        self.area.move_cursor(CursorMove::Jump(narrow(row), narrow(column.min(reached))));
        self.keep_steps();
        self.area.delete_str(column.abs_diff(reached))
    }

    /// Makes every chip and every grapheme of several characters on the cursor's line one step for cursor and deletion.
    pub(super) fn keep_steps(&mut self) {
        if self.groups.is_open() {
            self.groups.note(self.fingerprint());
        }
        let (row, _) = self.area.cursor();
        let Some(line) = self.area.lines().get(row) else { return };
        if line.is_ascii() {
            return;
        }
        let chips: Vec<(usize, usize)> =
            chips::places_with(line, &self.labels).into_iter().map(|place| (place.start, place.end)).collect();
        let mut column = 0;
        let mut ranges = Vec::new();
        for grapheme in line.graphemes(true) {
            let end = column + grapheme.chars().count();
            if end > column + 1 && !chips.iter().any(|(start, behind)| *start < end && column < *behind) {
                ranges.push(AtomicRange { row, start_col: column, end_col: end });
            }
            column = end;
        }
        ranges.extend(chips.into_iter().map(|(start_col, end_col)| AtomicRange { row, start_col, end_col }));
        // Refused ranges leave steps by character, which is no more than a nuisance.
        let _ = self.area.try_set_atomic_ranges(ranges);
    }

    pub(super) fn mark_chips(&mut self) {
        let lines = self.area.lines().iter().enumerate();
        let marks: Vec<_> = lines
            .flat_map(|(row, line)| {
                chips::places_with(line, &self.labels)
                    .into_iter()
                    .map(move |place| ((row, place.bytes.0), (row, place.bytes.1)))
            })
            .collect();
        self.area.clear_custom_highlight();
        for mark in self.selected_places().into_iter().chain(marks) {
            self.area.custom_highlight(mark, Style::new().add_modifier(Modifier::REVERSED), 1);
        }
    }
}
