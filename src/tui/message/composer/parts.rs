//! What commands on the text need of it: places as characters of the whole, parts that are taken out and put in, several
//! edits as one step of undo, a selection.

use std::sync::Arc;

use tui_textarea::CursorMove;

use super::chips::{self, ChipSpan};
use super::{Composer, narrow};
use steersman_base::limits;

/// A part of a text, with what its chips stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Clip {
    shown: String,
    chips: Vec<(String, Arc<str>)>,
    is_lines: bool,
}

impl Clip {
    /// Tells whether it is whole lines.
    pub(crate) fn is_lines(&self) -> bool {
        self.is_lines
    }
}

impl Composer {
    /// Returns where the chips of a text and the labels of images stand in it, in bytes and in order.
    pub(crate) fn chips(&self, shown: &str) -> Vec<(usize, usize)> {
        chips::places_with(shown, &self.labels).into_iter().map(|place| place.bytes).collect()
    }

    /// Returns how many characters of the shown text stand before the cursor.
    pub(crate) fn cursor_character(&self) -> usize {
        let (row, column) = self.area.cursor();
        let above = self.area.lines().iter().take(row).map(|line| line.chars().count() + 1);
        above.sum::<usize>() + column
    }

    /// Puts the cursor before a character of the shown text.
    pub(crate) fn put_cursor(&mut self, character: usize) {
        let (row, column) = self.place_of(character);
        self.area.move_cursor(CursorMove::Jump(narrow(row), narrow(column)));
        self.keep_steps();
    }

    pub(crate) fn is_at_line_end(&self) -> bool {
        let (row, column) = self.area.cursor();
        self.area.lines().get(row).is_none_or(|line| line.chars().count() <= column)
    }

    /// Puts a text in the place of so many characters from one on, as one undo step.
    pub(crate) fn splice(&mut self, from: usize, chars: usize, with: &str) {
        if chars > 0 || !with.is_empty() {
            let (row, column) = self.place_of(from);
            self.swap(row, column, chars, with);
        }
    }

    /// Copies a part of the shown text.
    pub(crate) fn clip(&self, shown: &str, is_lines: bool) -> Clip {
        let chip = |place: ChipSpan<'_>| Some((place.label.to_owned(), self.chips.shared(place.label)?));
        Clip { shown: shown.to_owned(), chips: chips::places(shown).filter_map(chip).collect(), is_lines }
    }

    /// Returns a copied part so many times, as it is shown here; `None` where the message would become too long.
    pub(crate) fn fitting_clip(&mut self, clip: &Clip, times: usize) -> Option<String> {
        let shown = self.shown();
        let whole: usize = clip.chips.iter().map(|(_, text)| text.len()).sum::<usize>() + clip.shown.len();
        let is_short = shown.len() + (clip.shown.len() + 1).saturating_mul(times) <= limits::LAID_OUT_BYTES
            && self.chips.expanded_len(&shown) + (whole + 1).saturating_mul(times) <= limits::MESSAGE_BYTES;
        if !is_short {
            return None;
        }
        let mut put = clip.shown.clone();
        for (label, text) in &clip.chips {
            let here = self.chips.adopt(label, text);
            put = put.replace(&format!("{}{label}{}", chips::OPEN, chips::CLOSE), &here);
        }
        Some(vec![put; times].join(if clip.is_lines { "\n" } else { "" }))
    }

    /// Lets undo take back together what is edited from now on.
    pub(crate) fn begin_group(&mut self) {
        self.area.set_undo_coalescing(true);
        self.groups.begin(self.fingerprint());
    }

    pub(crate) fn end_group(&mut self) {
        self.area.set_undo_coalescing(true);
        self.groups.end(self.fingerprint());
    }

    /// Shows these characters as selected.
    pub(crate) fn select(&mut self, characters: Option<(usize, usize)>) {
        if self.selected.is_some() && characters.is_none() {
            self.area.clear_custom_highlight();
        }
        self.selected = characters;
    }

    /// Returns the selected places of each line, in bytes.
    pub(super) fn selected_places(&self) -> Option<((usize, usize), (usize, usize))> {
        let (from, to) = self.selected?;
        let place = |character| {
            let (row, column) = self.place_of(character);
            let line = self.area.lines().get(row).map_or("", String::as_str);
            (row, line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte))
        };
        Some((place(from), place(to)))
    }

    /// Returns the row and the column of a character of the whole text.
    fn place_of(&self, character: usize) -> (usize, usize) {
        let mut left = character;
        let lines = self.area.lines();
        for (row, line) in lines.iter().enumerate() {
            let chars = line.chars().count();
            if left <= chars {
                return (row, left);
            }
            left -= chars + 1;
        }
        let last = lines.len().saturating_sub(1);
        (last, lines.last().map_or(0, |line| line.chars().count()))
    }
}
