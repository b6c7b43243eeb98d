//! What keys, pastes and the mouse do with the text on top, and how the screen draws it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::Message;
use super::composer::{Expanded, Pasted};
use super::vim::Typed;
use crate::keymap::Edit;
use steersman_base::steering::TextKind;
use steersman_base::target;
use steersman_base::text::is_blank;

impl Message {
    /// Returns the text that the keys change, as it is sent.
    pub fn text(&self) -> String {
        self.top().text()
    }

    /// Returns the text as it is shown: a collapsed paste is one word. Cheap whatever was pasted.
    pub fn shown(&self) -> String {
        self.top().shown()
    }

    /// Returns what a part of the shown text stands for.
    pub fn whole(&self, shown: &str) -> String {
        self.top().whole(shown)
    }

    pub fn kind(&self) -> TextKind {
        self.top().kind()
    }

    /// Lets what is written be of this kind.
    pub fn set_kind(&mut self, kind: TextKind) {
        self.top_mut().set_kind(kind);
    }

    pub fn next_kind(&mut self) -> TextKind {
        let next = self.kind().next();
        self.top_mut().set_kind(next);
        next
    }

    pub fn is_empty(&self) -> bool {
        self.top().is_empty()
    }

    /// Returns the text before the cursor, and the text behind it.
    pub fn around_cursor(&self) -> (String, String) {
        self.top().around_cursor()
    }

    /// Returns the number of the cursor's line, and the line as far as it stands before the cursor.
    pub fn before_cursor(&self) -> (usize, &str) {
        self.top().before_cursor()
    }

    /// Types one character; a control character is passed over.
    pub fn type_char(&mut self, c: char) {
        self.images.note_paste(false);
        if self.is_empty() {
            self.begins_rule = c == '#' && self.is_draft();
        }
        self.top_mut().type_char(c);
        self.vim_note(Some(Typed::Char(c)));
    }

    /// Types many characters as one undo step.
    pub fn type_text(&mut self, text: &str) {
        self.begins_rule &= !self.is_empty();
        self.top_mut().type_text(text);
        self.vim_note(Some(Typed::Text(text.to_owned())));
    }

    /// Inserts what many keys typed before the program could read the first of them: not a paste, as far as that is known.
    pub fn type_burst(&mut self, text: &str) -> Pasted {
        let begins_rule = self.is_empty() && self.is_draft() && text.starts_with('#');
        let pasted = self.paste(text);
        self.begins_rule |= begins_rule;
        pasted
    }

    /// Inserts a line break.
    pub fn newline(&mut self) {
        self.top_mut().newline();
        self.vim_note(Some(Typed::Newline));
    }

    /// Returns what was typed as one line behind a `#` that was the first key of the message; `None` for any other text.
    pub fn rule_typed(&self) -> Option<String> {
        if !self.begins_rule || !self.is_draft() {
            return None;
        }
        let text = self.text();
        let rule = text.strip_prefix('#').filter(|rule| !rule.starts_with('#') && !rule.contains('\n'))?.trim();
        (!is_blank(rule)).then(|| rule.to_owned())
    }

    /// Makes a line break of the backslash at the end; false where there is none, or where it stands behind another one.
    pub fn break_line(&mut self) -> bool {
        let breaks = self.breaks_line();
        if breaks {
            self.top_mut().complete(1, "\n");
        }
        breaks
    }

    /// Tells whether Enter makes a line break of the backslash at the end.
    pub fn breaks_line(&self) -> bool {
        let (_, line) = self.before_cursor();
        let backslashes = line.chars().rev().take_while(|c| *c == '\\').count();
        backslashes % 2 == 1 && self.around_cursor().1.is_empty()
    }

    /// Inserts what came at once; never sends, whatever it contains.
    pub fn paste(&mut self, text: &str) -> Pasted {
        self.images.note_paste(true);
        self.begins_rule &= !self.is_empty();
        let pasted = self.top_mut().paste(text);
        if pasted != Pasted::TooLong && self.vim.is_some() {
            self.vim_note(Some(Typed::Text(text.to_owned())));
        }
        pasted
    }

    /// Puts the text of a collapsed paste in its place.
    pub fn expand(&mut self) -> Expanded {
        self.top_mut().expand()
    }

    /// Moves the cursor or deletes; tells whether anything changed.
    pub fn edit(&mut self, edit: Edit) -> bool {
        let edit = self.vim_edit(edit);
        let changed = self.top_mut().edit(edit);
        self.vim_note(edit.deletes().then_some(Typed::Delete(edit)));
        changed
    }

    /// Replaces so many characters before the cursor as one undo step.
    pub fn complete(&mut self, chars: usize, with: &str) {
        self.images.note_paste(false);
        self.vim_forget_change();
        self.top_mut().complete(chars, with);
    }

    /// Names the running sub-agents at the start of the draft in place of its agent, then both, then neither.
    pub fn forward(&mut self) {
        let [subtree, tree] = [target::SUBTREE, target::TREE].map(|name| format!("@{name} "));
        let draft = self.shown();
        let (chars, with) = if draft.starts_with(&subtree) {
            (subtree.len(), tree.as_str())
        } else if draft.starts_with(&tree) {
            (tree.len(), "")
        } else {
            (0, subtree.as_str())
        };
        self.top_mut().put_at_start(chars, with);
    }

    /// Replaces the whole text; undo never leads back behind it.
    pub fn load(&mut self, text: &str) {
        self.begins_rule = false;
        self.vim_begin_text();
        self.top_mut().load(text);
    }

    /// Takes the last edit back, unless a removal is newer; false when there is nothing to take back here.
    pub fn undo(&mut self) -> bool {
        self.vim_note(None);
        !self.removed.is_newest(&self.text()) && self.top_mut().undo()
    }

    /// Does again what was taken back last; false when there is nothing.
    pub fn redo(&mut self) -> bool {
        self.vim_note(None);
        self.top_mut().redo()
    }

    /// Puts the cursor where a place of the screen is, as the text was drawn last.
    pub fn point(&mut self, place: Position) {
        self.vim_note(None);
        self.top_mut().point(place);
    }

    /// Scrolls by rows, up when there are fewer than none, by moving the cursor.
    pub fn scroll(&mut self, rows: i16) {
        self.top_mut().scroll(rows);
    }

    /// Lays the text out in this width, in columns; without text one of the placeholders is shown.
    pub fn fit(&mut self, width: u16, placeholders: &[&'static str]) {
        self.vim_settle();
        self.top_mut().fit(width, placeholders);
    }

    /// Shows as much of the text as there is room for.
    pub fn unscroll(&mut self) {
        self.top_mut().unscroll();
    }

    /// Returns the rows that the text took when it was laid out last; at least 1.
    pub fn rows(&self) -> u16 {
        self.top().rows()
    }

    /// Draws the text and returns where the terminal's cursor belongs.
    pub fn render(&self, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        self.top().render(area, buffer)
    }
}
