//! The message being written: the only file that touches the text area crate.
//!
//! `update` edits it, `view` draws it. Always holds: no control character but line breaks and tabs is in the text, the
//! cursor never stands inside a grapheme or a chip, and what is laid out stays small whatever is pasted. The text leaves
//! only when the queue has taken it.
//!
//! # Where things are
//!
//! - what of a text from outside gets into the message: `clean.rs`
//! - where the terminal's cursor stands within a row, counted as terminals count: by graphemes: `cursor.rs`
//! - edits that undo and redo take together, known by the texts between them: `groups.rs`
//! - what is one step in the message: a grapheme, a word, a chip: `steps.rs`

mod chips;
mod clean;
mod cursor;
mod groups;
mod parts;
mod steps;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;
use tui_textarea::{CursorMove, CursorRenderMode, TextArea, WrapMode};

use crate::keymap::Edit;
pub(super) use chips::size;
pub(super) use parts::Clip;
use steersman_base::limits;
use steersman_base::steering::TextKind;
use steersman_base::text::is_blank;

use chips::Chips;
use clean::clean;
use groups::{Groups, UndoWay};
use steps::WordDirection;

/// What an empty composer shows, the longest first.
pub const PLACEHOLDERS: [&str; 2] = ["Type a message. Enter sends it", "Type a message"];
/// What it shows where no message can be sent.
pub const NOTHING_IS_SENT: [&str; 2] = ["Only read here. / commands", "Only read here"];

/// What stands between two texts that came back.
const GAP: &str = "\n\n";

/// Edits that can be undone.
const UNDO_STEPS: usize = 500;

/// The text of the message, its cursor and its undo history.
#[derive(Debug)]
pub(super) struct Composer {
    area: TextArea<'static>,
    rows: u16,
    chips: Chips,
    /// The images that stand in texts as these words.
    labels: Arc<[String]>,
    kind: TextKind,
    /// Edits that undo takes back together.
    groups: Groups,
    /// The characters that are selected, from one to before another.
    selected: Option<(usize, usize)>,
}

/// What became of a paste.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pasted {
    /// It is in the text as it came.
    Whole,
    /// It is in the text without this many control and invisible characters.
    Cleaned(usize),
    /// The message would be longer than one may be; the text is as it was.
    TooLong,
}

/// What became of the wish to see a chip's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expanded {
    /// The text stands in its place.
    Done,
    /// It is too long to be edited here.
    TooLong,
    NoChip,
}

impl Default for Composer {
    fn default() -> Self {
        let mut area = TextArea::default();
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.set_cursor_render_mode(CursorRenderMode::Hidden);
        area.set_cursor_line_style(Style::new());
        area.set_undo_coalescing(true);
        area.set_max_histories(UNDO_STEPS);
        area.set_placeholder_style(Style::new().add_modifier(Modifier::DIM));
        Self {
            area,
            rows: 1,
            chips: Chips::default(),
            labels: Arc::default(),
            kind: TextKind::default(),
            groups: Groups::default(),
            selected: None,
        }
    }
}

impl Composer {
    /// Returns the text as it is sent, with `\n` between lines.
    pub(super) fn text(&self) -> String {
        self.whole(&self.shown())
    }

    /// Returns the text as it is shown: a chip is one word. Cheap whatever was pasted.
    pub(super) fn shown(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Returns the text before the cursor, and the text behind it.
    pub(super) fn around_cursor(&self) -> (String, String) {
        let (row, column) = self.area.cursor();
        let lines = self.area.lines();
        let line = lines.get(row).map(String::as_str).unwrap_or_default();
        let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
        let (left, right) = line.split_at(at);
        let before = lines.iter().take(row).map(String::as_str).chain([left]).collect::<Vec<_>>();
        let after = [right].into_iter().chain(lines.iter().skip(row + 1).map(String::as_str)).collect::<Vec<_>>();
        (chips::in_brackets(&before.join("\n")), chips::in_brackets(&after.join("\n")))
    }

    /// Returns what a part of the shown text stands for.
    pub(super) fn whole(&self, shown: &str) -> String {
        self.chips.expand(shown).into_owned()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Types one character; a control character is passed over.
    pub(super) fn type_char(&mut self, c: char) {
        if clean(c.encode_utf8(&mut [0; 4])).1 == 0 {
            self.keep_steps();
            self.area.insert_char(c);
        }
    }

    /// Types many characters as one undo step, however many they are.
    pub(super) fn type_text(&mut self, text: &str) {
        self.keep_steps();
        self.area.insert_str(clean(text).0);
    }

    /// Inserts a line break.
    pub(super) fn newline(&mut self) {
        self.keep_steps();
        self.area.insert_newline();
    }

    /// Inserts many characters that came at once as one undo step, as a chip when they are too many to be read here.
    /// Never sends, whatever it contains.
    pub(super) fn paste(&mut self, text: &str) -> Pasted {
        if text.len() > limits::MESSAGE_BYTES.saturating_sub(self.chips.expanded_len(&self.shown())) {
            return Pasted::TooLong;
        }
        let (clean, removed) = clean(text);
        self.keep_steps();
        if chips::is_large(&clean) {
            let chip = self.chips.collapse("pasted", &clean);
            self.area.insert_str(chip);
        } else {
            self.area.insert_str(clean);
        }
        if removed == 0 { Pasted::Whole } else { Pasted::Cleaned(removed) }
    }

    /// Puts the text of the chip before or under the cursor in its place, as one undo step.
    pub(super) fn expand(&mut self) -> Expanded {
        let (row, column) = self.area.cursor();
        let line = self.area.lines().get(row).cloned().unwrap_or_default();
        let near = |place: &chips::ChipSpan<'_>| place.start <= column && column <= place.end;
        // Between two chips it is the one before.
        let Some(place) = chips::places(&line).find(near) else { return Expanded::NoChip };
        let text = self.chips.text(place.label).unwrap_or_default().to_owned();
        if self.shown().len() + text.len() > limits::LAID_OUT_BYTES {
            return Expanded::TooLong;
        }
        self.swap(row, place.start, place.end - place.start, &text);
        Expanded::Done
    }

    /// Replaces the whole text as one undo step.
    pub(super) fn replace(&mut self, text: &str) {
        let shown = self.fitting(text, 0);
        let chars = self.shown().chars().count();
        self.swap(0, 0, chars, &shown);
    }

    /// Replaces so many characters before the cursor as one undo step.
    pub(super) fn complete(&mut self, chars: usize, with: &str) {
        let (row, column) = self.area.cursor();
        let chars = chars.min(column);
        self.swap(row, column - chars, chars, &clean(with).0);
    }

    /// Notes which words of a text stand for images.
    pub(super) fn know_labels(&mut self, labels: &Arc<[String]>) {
        if !Arc::ptr_eq(&self.labels, labels) {
            self.labels = Arc::clone(labels);
        }
    }

    /// Puts a text in the first place of another that stands on one line, as one undo step; the cursor stays where it is
    /// in the text. An empty one stands at the cursor. False when it does not stand there.
    pub(super) fn swap_first(&mut self, from: &str, to: &str) -> bool {
        let (row, column) = self.area.cursor();
        if from.is_empty() {
            self.swap(row, column, 0, to);
            return true;
        }
        let mut lines = self.area.lines().iter().enumerate();
        let Some((at, line, byte)) = lines.find_map(|(at, line)| Some((at, line, line.find(from)?))) else {
            return false;
        };
        let start = line.get(..byte).unwrap_or_default().chars().count();
        let (old, new) = (from.chars().count(), to.chars().count());
        self.swap(at, start, old, to);
        let column = if at == row && column >= start { (column.max(start + old) - old) + new } else { column };
        self.area.move_cursor(CursorMove::Jump(narrow(row), narrow(column)));
        self.keep_steps();
        true
    }

    /// Replaces so many characters at the start of the first row as one undo step; the cursor stays at its character.
    pub(super) fn put_at_start(&mut self, chars: usize, with: &str) {
        let (row, column) = self.area.cursor();
        self.swap(0, 0, chars, with);
        let shifted = if row == 0 { column.saturating_sub(chars) + with.chars().count() } else { column };
        self.area.move_cursor(CursorMove::Jump(narrow(row), narrow(shifted)));
    }

    /// Moves the cursor or deletes; tells whether anything changed.
    pub(super) fn edit(&mut self, edit: Edit) -> bool {
        self.keep_steps();
        let before = self.area.cursor();
        let area = &mut self.area;
        let mut moved = |to| {
            area.move_cursor(to);
            false
        };
        let changed = match edit {
            Edit::Left => moved(CursorMove::Back),
            Edit::Right => moved(CursorMove::Forward),
            Edit::Up => moved(CursorMove::Up),
            Edit::Down => moved(CursorMove::Down),
            Edit::WordLeft | Edit::WordRight => {
                self.move_word(if edit == Edit::WordLeft { WordDirection::Left } else { WordDirection::Right });
                false
            }
            Edit::LineStart => moved(CursorMove::Head),
            Edit::LineEnd => moved(CursorMove::End),
            Edit::Backspace => area.delete_char(),
            Edit::Delete => area.delete_next_char(),
            Edit::DeleteWord => self.delete_word(WordDirection::Left),
            Edit::DeleteNextWord => self.delete_word(WordDirection::Right),
            Edit::DeleteToStart => area.delete_line_by_head(),
            Edit::DeleteToEnd => area.delete_line_by_end(),
            Edit::Yank => area.paste(),
        };
        // A move may have ended inside a grapheme of another line.
        self.keep_steps();
        changed || self.area.cursor() != before
    }

    /// Puts the cursor where a place of the screen is, as the text was drawn last.
    pub(super) fn point(&mut self, place: Position) {
        if let Some((row, column)) = self.area.cursor_at_position(place) {
            self.area.move_cursor(CursorMove::Jump(narrow(row), narrow(column)));
            self.keep_steps();
        }
    }

    /// Scrolls the text by rows, up when there are fewer than none, by moving the cursor.
    pub(super) fn scroll(&mut self, rows: i16) {
        // The crate's own scrolling goes on beyond the ends of the text.
        let towards = if rows < 0 { CursorMove::Up } else { CursorMove::Down };
        (0..rows.unsigned_abs()).for_each(|_| self.area.move_cursor(towards));
    }

    /// Takes the last edit back; false when there is none.
    pub(super) fn undo(&mut self) -> bool {
        self.step(UndoWay::Back, TextArea::undo)
    }

    /// Does again what was taken back last; false when there is nothing.
    pub(super) fn redo(&mut self) -> bool {
        self.step(UndoWay::Forth, TextArea::redo)
    }

    fn step(&mut self, way: UndoWay, go: impl Fn(&mut TextArea<'static>) -> bool) -> bool {
        let mut from = self.fingerprint();
        let done = go(&mut self.area);
        let mut to = self.fingerprint();
        while self.groups.is_within(way, from, to) && go(&mut self.area) {
            (from, to) = (to, self.fingerprint());
        }
        self.keep_steps();
        done
    }

    /// Forgets the text and its history: the queue has it now, or what was removed remembers it.
    pub(super) fn forget(&mut self) {
        self.set("", (0, 0));
        self.kind = TextKind::default();
    }

    pub(super) fn kind(&self) -> TextKind {
        self.kind
    }

    /// Says what the text is to be to its agent.
    pub(super) fn set_kind(&mut self, kind: TextKind) {
        self.kind = kind;
    }

    /// Replaces the text, with the cursor at its end and no history: undo never leads back behind it.
    pub(super) fn load(&mut self, text: &str) {
        let shown = self.fitting(text, 0);
        self.set(&shown, (usize::MAX, usize::MAX));
    }

    /// Puts texts that came back before the draft, with a blank line between each two. The cursor stays where it was in
    /// the draft. The history is forgotten, as an undo would remove what came back.
    pub(super) fn put_before(&mut self, texts: &[String]) {
        if texts.is_empty() {
            return;
        }
        let draft = self.shown();
        let block = self.block(texts);
        if is_blank(&draft) {
            self.set(&block, (usize::MAX, usize::MAX));
            return;
        }
        let (row, column) = self.area.cursor();
        let above = block.split('\n').count() + 1;
        self.set(&format!("{block}{GAP}{draft}"), (row + above, column));
    }

    /// Puts texts behind the draft, as [`Composer::put_before`] puts them before it.
    pub(super) fn put_behind(&mut self, texts: &[String]) {
        let draft = self.shown();
        let block = self.block(texts);
        if is_blank(&block) {
            return;
        }
        if is_blank(&draft) {
            self.set(&block, (usize::MAX, usize::MAX));
            return;
        }
        let cursor = self.area.cursor();
        self.set(&format!("{draft}{GAP}{block}"), cursor);
    }

    /// Takes a text off again that [`Composer::put_before`] has put there; false when it does not stand there any more.
    pub(super) fn take_front(&mut self, text: &str) -> bool {
        let front = clean(text).0;
        let whole = self.shown();
        let chip = chips::places(&whole).next().filter(|chip| chip.start == 0);
        let rest = match chip.filter(|chip| self.chips.text(chip.label) == Some(&front)) {
            Some(chip) => whole.get(chip.bytes.1..),
            None => whole.strip_prefix(&*front),
        };
        let Some(rest) = rest else { return false };
        if rest.is_empty() {
            self.forget();
            return true;
        }
        let Some(draft) = rest.strip_prefix(GAP) else { return false };
        let (row, column) = self.area.cursor();
        let above = whole.split('\n').count() - draft.split('\n').count();
        self.set(draft, (row.saturating_sub(above), column));
        true
    }

    /// Lays the text out in this width, in columns; without text it shows the longest of the placeholders that fits.
    pub(super) fn fit(&mut self, width: u16, placeholders: &[&'static str]) {
        let shown = placeholders.iter().find(|text| text.len() <= width.into());
        let shown = shown.copied().unwrap_or_default();
        // Setting it forgets the measures of the whole text.
        if self.area.placeholder_text() != shown {
            self.area.set_placeholder_text(shown);
        }
        let rows = self.area.measure(width).content_rows.max(1);
        self.scroll_back(self.rows.saturating_sub(rows));
        self.rows = rows;
        if !self.chips.is_empty() || !self.labels.is_empty() || self.selected.is_some() {
            self.mark_chips();
        }
    }

    /// Shows as much of the text as there is room for, whatever was scrolled away on a smaller screen.
    pub(super) fn unscroll(&mut self) {
        self.scroll_back(self.rows);
    }

    /// Scrolls so many rows back, so that none stays empty behind the text; the cursor stays where it is.
    fn scroll_back(&mut self, rows: u16) {
        if rows > 0 {
            let (row, column) = self.area.cursor();
            self.area.scroll((i16::try_from(rows).map_or(i16::MIN, i16::wrapping_neg), 0));
            self.area.move_cursor(CursorMove::Jump(narrow(row), narrow(column)));
        }
    }

    /// Returns the rows that the text took when it was laid out last; at least 1.
    pub(super) fn rows(&self) -> u16 {
        self.rows
    }

    /// Draws the text and returns where the terminal's cursor belongs.
    pub(super) fn render(&self, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        if area.is_empty() {
            return None;
        }
        (&self.area).render(area, buffer);
        if !self.chips.is_empty() {
            for position in area.intersection(*buffer.area()).positions() {
                let Some(cell) = buffer.cell_mut(position) else { continue };
                match cell.symbol().chars().next() {
                    Some(chips::OPEN) => cell.set_char('['),
                    Some(chips::CLOSE) => cell.set_char(']'),
                    _ => continue,
                };
            }
        }
        let (row, column) = self.area.cursor();
        let line = self.area.lines().get(row).map_or("", String::as_str);
        self.area
            .rendered_cursor_position()
            .map(|position| Position { x: area.x + cursor::column(line, column, position.x - area.x), ..position })
    }

    /// Returns the number of the cursor's line, and the line as far as it stands before the cursor.
    pub(super) fn before_cursor(&self) -> (usize, &str) {
        let (row, column) = self.area.cursor();
        let line = self.area.lines().get(row).map_or("", String::as_str);
        let end = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
        (row, line.get(..end).unwrap_or_default())
    }

    /// Returns a text from outside as it is shown: as a chip when what is laid out would become too long.
    fn fitting(&mut self, text: &str, beside: usize) -> String {
        let clean = clean(text).0;
        if beside + clean.len() > limits::LAID_OUT_BYTES && chips::is_large(&clean) {
            self.chips.collapse("text of", &clean)
        } else {
            clean.into_owned()
        }
    }

    /// Joins texts as they are shown, with a blank line between each two.
    fn block(&mut self, texts: &[String]) -> String {
        let mut beside = self.shown().len();
        let mut block = Vec::new();
        for text in texts {
            let shown = self.fitting(text, beside);
            beside += shown.len();
            block.push(shown);
        }
        block.join(GAP)
    }

    /// Sets text and cursor, and forgets the history.
    fn set(&mut self, shown: &str, cursor: (usize, usize)) {
        self.chips.keep(shown);
        self.groups = Groups::default();
        self.area.set_lines(shown.split('\n').map(str::to_owned).collect(), cursor);
    }

    /// Replaces characters by a text as one undo step; the yank stays as it is.
    fn swap(&mut self, row: usize, column: usize, chars: usize, with: &str) {
        self.keep_steps();
        let before = self.fingerprint();
        self.area.move_cursor(CursorMove::Jump(narrow(row), narrow(column)));
        let mut texts = vec![before];
        if chars > 0 {
            let yank = self.area.yank_text();
            self.area.delete_str(chars);
            self.area.set_yank_text(yank);
            texts.push(self.fingerprint());
        }
        if !with.is_empty() {
            self.area.insert_str(with);
            texts.push(self.fingerprint());
        }
        self.groups.add(&texts);
        self.keep_steps();
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.area.lines().hash(&mut hasher);
        hasher.finish()
    }
}

fn narrow(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
