//! A list to choose from, with a filter and a preview: the saved sessions, or the user's own messages.
//!
//! Its own state and keys; what a choice leads to is decided by whoever opened it.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::tui::keymap::{Action, Chord, Context, Keymap, WriteKey};

/// Most characters of the filter.
const TYPED: usize = 200;

/// What is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChoiceSubject {
    /// A session to go on with.
    #[default]
    Session,
    /// A message of the user, to branch from just before it.
    Message,
}

/// One thing that can be chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The name of the session, or the id of the message.
    pub id: String,
    /// The directory of a session.
    pub directory: String,
    /// What it is about (untrusted).
    pub title: String,
    /// When, where and how much (untrusted).
    pub facts: String,
    /// The beginning of what it holds (untrusted).
    pub preview: String,
}

/// The list, from its opening to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    subject: ChoiceSubject,
    /// `None` until they are known.
    rows: Option<Result<Vec<Choice>, String>>,
    filter: String,
    selected: usize,
    /// The session that was asked for by the beginning of its name, until the list is known.
    wanted: Option<String>,
}

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pressed {
    /// It was for the list.
    Consumed,
    /// It means what it means elsewhere.
    Ignored,
    /// This is chosen.
    Chosen(ChoiceSubject, Choice),
}

impl Choices {
    /// Opens a list that is not known yet.
    pub fn awaited(subject: ChoiceSubject) -> Self {
        Self { subject, ..Self::default() }
    }

    /// Awaits the list for the session of this name alone.
    pub fn wanting(name: &str) -> Self {
        Self { wanted: Some(name.to_owned()), ..Self::default() }
    }

    /// Takes the name of the session that was asked for.
    pub fn take_wanted(&mut self) -> Option<String> {
        self.wanted.take()
    }

    /// Opens a list with its last row selected.
    pub fn of(subject: ChoiceSubject, rows: Vec<Choice>) -> Self {
        Self { subject, selected: rows.len().saturating_sub(1), rows: Some(Ok(rows)), ..Self::default() }
    }

    /// Takes the rows that were waited for, or why there are none.
    pub fn take(&mut self, rows: Result<Vec<Choice>, String>) {
        self.rows = Some(rows);
    }

    /// Returns what is chosen.
    pub fn subject(&self) -> ChoiceSubject {
        self.subject
    }

    /// Returns what the list is filtered by.
    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// Returns the rows, or why there are none; `None` until they are known.
    pub fn rows(&self) -> Option<Result<&[Choice], &str>> {
        self.rows.as_ref().map(|rows| rows.as_deref().map_err(String::as_str))
    }

    /// Returns the rows that the filter leaves, and the place of the selected one among them.
    pub fn found(&self) -> (Vec<&Choice>, usize) {
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let holds = |row: &&Choice| {
            let all = format!("{} {} {} {}", row.id, row.title, row.facts, row.preview).to_lowercase();
            words.iter().all(|word| all.contains(word))
        };
        let found: Vec<&Choice> = self.rows().and_then(Result::ok).unwrap_or_default().iter().filter(holds).collect();
        let selected = self.selected.min(found.len().saturating_sub(1));
        (found, selected)
    }

    /// Carries out a key; a page is so many rows.
    pub fn key(&mut self, key: Chord, keymap: &Keymap, page: usize) -> Pressed {
        let (found, selected) = self.found();
        let last = found.len().saturating_sub(1);
        self.selected = match (keymap.lookup(Context::Choices, key), key.typed()) {
            (Some(Action::Jump), _) => {
                let chosen = found.get(selected).map(|row| Pressed::Chosen(self.subject, (*row).clone()));
                return chosen.unwrap_or(Pressed::Consumed);
            }
            (Some(Action::Previous), _) => selected.saturating_sub(1),
            (Some(Action::Next), _) => last.min(selected + 1),
            (Some(Action::First), _) => 0,
            (Some(Action::Last), _) => last,
            (Some(Action::PageUp), _) => selected.saturating_sub(page),
            (Some(Action::PageDown), _) => last.min(selected + page),
            (Some(Action::Write(key)), _) => {
                self.rub_out(key);
                0
            }
            (None, Some(c)) => {
                self.type_text(c.encode_utf8(&mut [0; 4]));
                0
            }
            (Some(_), _) | (None, None) => return Pressed::Ignored,
        };
        Pressed::Consumed
    }

    /// Types into the filter.
    pub fn type_text(&mut self, text: &str) {
        let room = TYPED.saturating_sub(self.filter.chars().count());
        self.filter.extend(text.chars().filter(|c| !c.is_control()).take(room));
        self.selected = 0;
    }

    fn rub_out(&mut self, key: WriteKey) {
        let kept = match key {
            WriteKey::RubOut => self.filter.grapheme_indices(true).next_back().map_or(0, |(at, _)| at),
            WriteKey::RubOutWord => self.filter.trim_end().rfind(' ').map_or(0, |at| at + 1),
            WriteKey::RubOutAll => 0,
            WriteKey::Redo | WriteKey::Expand | WriteKey::Search | WriteKey::TakeText => return,
        };
        self.filter.truncate(kept);
    }
}
