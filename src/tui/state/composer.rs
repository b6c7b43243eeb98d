//! The message being written: the only file that touches the text area crate.
//!
//! `update` edits it, `view` draws it. Always holds: no control character but line breaks and tabs is in the text, and
//! the cursor never stands inside a grapheme. The text leaves only when the queue has taken it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;
use tui_textarea::{AtomicRange, CursorMove, CursorRenderMode, TextArea, WrapMode};
use unicode_segmentation::UnicodeSegmentation;

use crate::limits;
use crate::text::{is_blank, is_invisible};
use crate::tui::keymap::Edit;

/// What an empty composer shows, the longest first.
const PLACEHOLDERS: [&str; 3] =
    ["Type a message. Enter sends, F1 shows the keys", "Type a message. F1 shows the keys", "Type a message"];

/// What stands between two texts that came back.
const GAP: &str = "\n\n";

/// Edits that can be undone.
const UNDO_STEPS: usize = 500;

/// Holds the text of the message, its cursor and its undo history.
#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    rows: u16,
}

/// Says what became of a paste.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pasted {
    /// It is in the text as it came.
    Whole,
    /// It is in the text without this many control and invisible characters.
    Cleaned(usize),
    /// It is longer than a message may be; the text is as it was.
    TooLong,
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
        Self { area, rows: 1 }
    }
}

impl Composer {
    /// Returns the text with `\n` between lines.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Returns the text before the cursor, and the text behind it.
    pub fn around_cursor(&self) -> (String, String) {
        let (row, column) = self.area.cursor();
        let lines = self.area.lines();
        let line = lines.get(row).map(String::as_str).unwrap_or_default();
        let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
        let (left, right) = line.split_at(at);
        let before = lines.iter().take(row).map(String::as_str).chain([left]).collect::<Vec<_>>();
        let after = [right].into_iter().chain(lines.iter().skip(row + 1).map(String::as_str)).collect::<Vec<_>>();
        (before.join("\n"), after.join("\n"))
    }

    /// Tells whether there is no character at all.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Types one character; a control character is passed over.
    pub fn type_char(&mut self, c: char) {
        if !c.is_control() {
            self.keep_graphemes();
            self.area.insert_char(c);
        }
    }

    /// Types many characters as one undo step; what would be invisible is passed over, as in a paste.
    pub fn type_text(&mut self, text: &str) {
        self.keep_graphemes();
        self.area.insert_str(clean(text).0);
    }

    /// Inserts a line break.
    pub fn newline(&mut self) {
        self.area.insert_newline();
    }

    /// Inserts pasted text as one undo step. Never sends, whatever it contains.
    pub fn paste(&mut self, text: &str) -> Pasted {
        if text.len() > limits::MESSAGE_BYTES {
            return Pasted::TooLong;
        }
        let (clean, removed) = clean(text);
        self.keep_graphemes();
        self.area.insert_str(clean);
        if removed == 0 { Pasted::Whole } else { Pasted::Cleaned(removed) }
    }

    /// Moves the cursor or deletes.
    pub fn edit(&mut self, edit: Edit) {
        self.keep_graphemes();
        let area = &mut self.area;
        match edit {
            Edit::Left => area.move_cursor(CursorMove::Back),
            Edit::Right => area.move_cursor(CursorMove::Forward),
            Edit::Up => area.move_cursor(CursorMove::Up),
            Edit::Down => area.move_cursor(CursorMove::Down),
            Edit::WordLeft => area.move_cursor(CursorMove::WordBack),
            Edit::WordRight => area.move_cursor(CursorMove::WordForward),
            Edit::LineStart => area.move_cursor(CursorMove::Head),
            Edit::LineEnd => area.move_cursor(CursorMove::End),
            Edit::Backspace => {
                area.delete_char();
            }
            Edit::Delete => {
                area.delete_next_char();
            }
            Edit::DeleteWord => {
                area.delete_word();
            }
            Edit::DeleteNextWord => {
                area.delete_next_word();
            }
            Edit::DeleteToStart => {
                area.delete_line_by_head();
            }
            Edit::DeleteToEnd => {
                area.delete_line_by_end();
            }
            Edit::Yank => {
                area.paste();
            }
        }
        // A move may have ended inside a grapheme of another line.
        self.keep_graphemes();
    }

    /// Puts the cursor where a place of the screen is, as the text was drawn last.
    pub fn point(&mut self, place: Position) {
        if let Some((row, column)) = self.area.cursor_at_position(place) {
            let to = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
            self.area.move_cursor(CursorMove::Jump(to(row), to(column)));
            self.keep_graphemes();
        }
    }

    /// Scrolls the text by rows, up when there are fewer than none; the cursor stays in view.
    pub fn scroll(&mut self, rows: i16) {
        self.area.scroll((rows, 0));
    }

    /// Takes the last edit back; false when there is none.
    pub fn undo(&mut self) -> bool {
        self.area.undo()
    }

    /// Forgets the text and its history: the queue has it now, or what was removed remembers it.
    pub fn forget(&mut self) {
        self.area.set_lines(vec![String::new()], (0, 0));
    }

    /// Replaces the text, with the cursor at its end and no history: undo never leads back behind it.
    pub fn load(&mut self, text: &str) {
        let lines = lines(&clean(text).0);
        let last = lines.len().saturating_sub(1);
        let column = lines.last().map_or(0, |line| line.chars().count());
        self.area.set_lines(lines, (last, column));
    }

    /// Replaces the text with the cursor at its end, as an edit that can be undone.
    pub fn rewrite(&mut self, text: &str) {
        // The farthest place that the text area can name.
        if self.area.lines().len() > usize::from(u16::MAX) {
            return self.load(text);
        }
        self.area.select_all();
        self.area.delete_str(0);
        self.area.insert_str(clean(text).0);
    }

    /// Puts texts that came back before the draft, with a blank line between each two. The cursor stays where it was in
    /// the draft. The history is forgotten, as an undo would remove what came back.
    pub fn put_before(&mut self, texts: &[String]) {
        let draft = self.text();
        if texts.is_empty() {
            return;
        }
        let block = clean(&texts.join(GAP)).0;
        if is_blank(&draft) {
            self.load(&block);
            return;
        }
        let (row, column) = self.area.cursor();
        let above = lines(&block).len() + 1;
        self.area.set_lines(lines(&format!("{block}{GAP}{draft}")), (row + above, column));
    }

    /// Puts texts behind the draft, as [`Composer::put_before`] puts them before it.
    pub fn put_behind(&mut self, texts: &[String]) {
        let draft = self.text();
        let block = clean(&texts.join(GAP)).0;
        if is_blank(&block) {
            return;
        }
        if is_blank(&draft) {
            self.load(&block);
            return;
        }
        let cursor = self.area.cursor();
        self.area.set_lines(lines(&format!("{draft}{GAP}{block}")), cursor);
    }

    /// Takes a text off again that [`Composer::put_before`] has put there; false when it does not stand there any more.
    pub fn take_front(&mut self, text: &str) -> bool {
        let front = clean(text).0;
        let whole = self.text();
        if whole == front {
            self.forget();
            return true;
        }
        let Some(draft) = whole.strip_prefix(&front).and_then(|rest| rest.strip_prefix(GAP)) else { return false };
        let (row, column) = self.area.cursor();
        let above = lines(&front).len() + 1;
        self.area.set_lines(lines(draft), (row.saturating_sub(above), column));
        true
    }

    /// Lays the text out in this width, in columns.
    pub fn fit(&mut self, width: u16) {
        let shown = PLACEHOLDERS.iter().find(|text| text.len() <= width.into());
        let shown = shown.copied().unwrap_or_default();
        // Setting it forgets the measures of the whole text.
        if self.area.placeholder_text() != shown {
            self.area.set_placeholder_text(shown);
        }
        self.rows = self.area.measure(width).content_rows.max(1);
    }

    /// Returns the rows that the text took when it was laid out last; at least 1.
    pub fn rows(&self) -> u16 {
        self.rows
    }

    /// Draws the text and returns where the terminal's cursor belongs.
    pub fn render(&self, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        if area.is_empty() {
            return None;
        }
        (&self.area).render(area, buffer);
        self.area.rendered_cursor_position()
    }

    /// Makes every grapheme of several characters on the cursor's line one step for cursor and deletion.
    fn keep_graphemes(&mut self) {
        let (row, _) = self.area.cursor();
        let Some(line) = self.area.lines().get(row) else { return };
        if line.is_ascii() {
            return;
        }
        let mut column = 0;
        let mut ranges = Vec::new();
        for grapheme in line.graphemes(true) {
            let end = column + grapheme.chars().count();
            if end > column + 1 {
                ranges.push(AtomicRange { row, start_col: column, end_col: end });
            }
            column = end;
        }
        // Refused ranges leave steps by character, which is no more than a nuisance.
        let _ = self.area.try_set_atomic_ranges(ranges);
    }
}

fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

/// Makes every line end `\n` and removes what would be invisible; returns how many characters went.
///
/// Joiners and variation selectors stay: emoji are made of them. Tags do not: they can hide whole sentences.
fn clean(text: &str) -> (String, usize) {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut removed = 0;
    let clean = text
        .chars()
        .filter(|&c| {
            let kept = match c {
                '\n' | '\t' | '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}' => true,
                c => !is_invisible(c),
            };
            removed += usize::from(!kept);
            kept
        })
        .collect();
    (clean, removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> Composer {
        let mut composer = Composer::default();
        assert_eq!(composer.paste(text), Pasted::Whole);
        composer
    }

    #[test]
    fn a_family_is_one_step_and_one_backspace() {
        let mut composer = with("a👨‍👩‍👧‍👦b");
        composer.edit(Edit::Left);
        composer.edit(Edit::Backspace);
        assert_eq!(composer.text(), "ab");
        let mut composer = with("é👨‍👩‍👧‍👦");
        composer.edit(Edit::Left);
        composer.edit(Edit::Left);
        composer.type_char('x');
        assert_eq!(composer.text(), "xé👨‍👩‍👧‍👦");
    }

    #[test]
    fn a_paste_is_one_undo_step_with_plain_line_ends() {
        let mut composer = with("one\rtwo\r\nthree\nfour");
        assert_eq!(composer.text(), "one\ntwo\nthree\nfour");
        assert!(composer.undo());
        assert_eq!(composer.text(), "");
    }

    #[test]
    fn escape_sequences_and_bidi_marks_do_not_get_into_the_text() {
        let mut composer = Composer::default();
        assert_eq!(composer.paste("a\u{1b}[31mb\u{202e}c\u{9b}"), Pasted::Cleaned(3));
        assert_eq!(composer.text(), "a[31mbc");
        assert_eq!(composer.paste(&"x".repeat(limits::MESSAGE_BYTES + 1)), Pasted::TooLong);
        assert_eq!(composer.text(), "a[31mbc");
    }

    #[test]
    fn texts_come_back_in_order_before_the_draft() {
        let mut composer = with("draft");
        composer.put_before(&["one".into(), "two".into()]);
        assert_eq!(composer.text(), "one\n\ntwo\n\ndraft");
        composer.type_char('!');
        assert_eq!(composer.text(), "one\n\ntwo\n\ndraft!");
        let mut empty = Composer::default();
        empty.put_before(&["one".into()]);
        assert_eq!(empty.text(), "one");
    }

    #[test]
    fn the_cursor_stays_in_the_draft_when_texts_come_back_around_it() {
        let mut composer = with("draft");
        composer.edit(Edit::Left);
        composer.put_before(&["one\nline".into()]);
        composer.put_behind(&["two".into()]);
        composer.type_char('f');
        assert_eq!(composer.text(), "one\nline\n\ndraff\n\ntwo".replace("draff", "drafft"));
    }

    #[test]
    fn undo_never_removes_a_text_that_came_back() {
        let mut composer = with("draft");
        composer.put_before(&["one".into()]);
        assert!(!composer.undo());
        composer.load("another");
        assert!(!composer.undo());
        assert_eq!(composer.text(), "another");
    }

    #[test]
    fn a_text_that_came_back_can_be_taken_off_again_unless_it_was_changed() {
        let mut composer = with("draft");
        composer.put_before(&["one".into()]);
        assert!(composer.take_front("one"));
        assert_eq!(composer.text(), "draft");
        composer.type_char('!');
        assert_eq!(composer.text(), "draft!");
        assert!(!composer.take_front("one") && !composer.take_front("dra"));
        composer.load("one");
        assert!(composer.take_front("one"));
        assert!(composer.is_empty());
    }

    #[test]
    fn what_was_sent_is_forgotten() {
        let mut composer = with("first\nsecond");
        composer.forget();
        assert!(!composer.undo());
        assert!(composer.is_empty());
    }

    #[test]
    fn rows_follow_the_width() {
        let mut composer = with("aaaa bbbb cccc");
        composer.fit(5);
        assert!(composer.rows() >= 3);
        composer.fit(80);
        assert_eq!(composer.rows(), 1);
        composer.fit(0);
        assert!(composer.rows() >= 1);
    }
}
