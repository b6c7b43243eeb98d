//! The text of a filter that is typed above a list.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::keymap::WriteKey;
use crate::theme::Theme;
use crate::widgets::fit::{below, put, row};

/// Most characters.
const LONGEST: usize = 200;

/// A filter: a row matches when it holds every word, in any case of letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterText(String);

impl FilterText {
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the words in lower case.
    pub fn words_lowercase(&self) -> Vec<String> {
        self.0.split_whitespace().map(str::to_lowercase).collect()
    }

    /// Types at the end; control characters and what is too long are left out.
    pub fn type_text(&mut self, text: &str) {
        let room = LONGEST.saturating_sub(self.0.chars().count());
        self.0.extend(text.chars().filter(|c| !c.is_control()).take(room));
    }

    /// Deletes at the end; returns whether the key does that.
    pub fn delete(&mut self, key: WriteKey) -> bool {
        let kept = match key {
            WriteKey::RubOut => self.0.grapheme_indices(true).next_back().map_or(0, |(at, _)| at),
            WriteKey::RubOutWord => self.0.trim_end().rfind(' ').map_or(0, |at| at + 1),
            WriteKey::RubOutAll => 0,
            WriteKey::Redo | WriteKey::Expand | WriteKey::Search | WriteKey::TakeText => return false,
        };
        self.0.truncate(kept);
        true
    }

    /// Draws it into the first row of an area; returns where its cursor stands, and what is below it.
    pub fn draw(&self, area: Rect, theme: &Theme, buffer: &mut Buffer) -> (Position, Rect) {
        let prompt = put(buffer, row(area, 0), "/", theme.accent);
        let rest = put(buffer, prompt, &self.0, theme.text);
        (Position { x: rest.x.min(area.right().saturating_sub(1)), y: area.y }, below(area, 1))
    }
}
