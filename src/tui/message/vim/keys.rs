//! What the message does with the keys of vim: which text they change, and when they are keys at all.

use super::{EditorKeys, Typed, Vim, VimMode, VimOutcome};
use crate::commands::{CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::keymap::Edit;
use crate::message::Message;

pub const COMMAND: CommandEntry = CommandEntry::new(
    "/vim",
    Takes::Nothing,
    "",
    "vim keys in the message, or the usual ones again; editor.keys keeps them",
    |_, _| vec![PaneEffect::call(|app| vec![toggle(&mut app.message)])],
)
.only_drawing();

/// Gives the message the keys of vim, or the usual ones again.
fn toggle(message: &mut Message) -> PaneEffect {
    let (keys, sentence) = match message.editor_keys() {
        EditorKeys::Usual => (EditorKeys::Vim, "vim keys in the message until you quit; editor.keys keeps them"),
        EditorKeys::Vim => (EditorKeys::Usual, "the usual keys in the message"),
    };
    message.set_editor_keys(keys);
    PaneEffect::Say(sentence.to_owned())
}

impl Message {
    pub fn editor_keys(&self) -> EditorKeys {
        if self.vim.is_some() { EditorKeys::Vim } else { EditorKeys::Usual }
    }

    /// Takes these keys from now on.
    pub fn set_editor_keys(&mut self, keys: EditorKeys) {
        self.with_vim(Vim::escape);
        self.vim = match keys {
            EditorKeys::Usual => None,
            EditorKeys::Vim => Some(Vim::default()),
        };
        self.top_mut().select(None);
    }

    /// Returns what letters do; `None` with the usual keys.
    pub fn vim_mode(&self) -> Option<VimMode> {
        self.vim.as_ref().map(Vim::mode)
    }

    /// Tells whether letters are commands now.
    pub fn takes_commands(&self) -> bool {
        self.vim_mode().is_some_and(|mode| mode != VimMode::Insert)
    }

    /// Tells whether Esc goes to normal mode, or drops what was begun there.
    pub fn takes_escape(&self) -> bool {
        self.vim.as_ref().is_some_and(Vim::takes_escape)
    }

    /// Takes a character; `None` where it is text.
    pub fn vim_key(&mut self, c: char) -> Option<VimOutcome> {
        self.with_vim(|vim, composer| vim.key(c, composer)).flatten()
    }

    /// Goes to normal mode.
    pub fn vim_escape(&mut self) {
        self.with_vim(Vim::escape);
    }

    /// Begins another text: what is typed is text.
    pub(in crate::message) fn vim_begin_text(&mut self) {
        if let Some(vim) = &mut self.vim {
            vim.begin_text();
        }
    }

    /// Returns what a key that moves or deletes does to the text.
    pub(in crate::message) fn vim_edit(&self, edit: Edit) -> Edit {
        if edit == Edit::Backspace && self.takes_commands() { Edit::Left } else { edit }
    }

    /// Notes what a key did to the text.
    pub(in crate::message) fn vim_note(&mut self, typed: Option<Typed>) {
        self.with_vim(|vim, composer| vim.note(typed, composer));
    }

    /// Ends a selection: another text takes the place of the one that it is in.
    pub(in crate::message) fn vim_end_selection(&mut self) {
        if self.vim_mode().is_some_and(VimMode::selects) {
            self.vim_escape();
        }
    }

    pub(in crate::message) fn vim_forget_change(&mut self) {
        if let Some(vim) = &mut self.vim {
            vim.forget_change();
        }
    }

    /// Brings cursor and selection to where they may be.
    pub(in crate::message) fn vim_settle(&mut self) {
        self.with_vim(Vim::settle);
    }

    fn with_vim<T>(&mut self, act: impl FnOnce(&mut Vim, &mut crate::message::Composer) -> T) -> Option<T> {
        let mut vim = self.vim.take()?;
        let done = act(&mut vim, self.top_mut());
        self.vim = Some(vim);
        Some(done)
    }
}
