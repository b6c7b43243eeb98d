//! What was sent before, over all sessions, as Up and the search bring it back.
//!
//! Always holds: no text is in it twice, and what is written after a recalled text was changed does not change it.

use std::sync::Arc;

use steersman_base::limits;
use steersman_base::text::visible_line;

/// One text that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    pub text: Arc<str>,
    /// Its beginning as one line, for lists.
    pub line: Arc<str>,
}

impl Sent {
    pub fn new(text: &str) -> Self {
        let end = text.char_indices().nth(limits::HISTORY_SEARCH_CHARS).map_or(text.len(), |(at, _)| at);
        let line = visible_line(text.get(..end).unwrap_or_default());
        Self { text: text.into(), line: line.as_ref().into() }
    }
}

/// What was sent, the oldest first.
#[derive(Debug, Default)]
pub struct History {
    entries: Vec<Sent>,
    /// True once what earlier sessions sent is here.
    is_loaded: bool,
    /// True while Up was pressed before it was, and nothing since.
    pub awaited: bool,
    /// True once it was said that nothing can be written.
    pub complained: bool,
}

/// Where a text comes from that stands in place of the draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The history, so many texts back; the newest is 0.
    History(usize),
    /// A key that begins this command.
    Key(&'static str),
}

impl History {
    /// Takes what earlier sessions sent, the oldest first; it is older than all that is here.
    pub fn begin(&mut self, older: Vec<Sent>) {
        self.is_loaded = true;
        let present = std::mem::replace(&mut self.entries, older);
        for sent in present {
            self.add(sent);
        }
    }

    /// Tells whether older texts may still come.
    pub fn is_loading(&self) -> bool {
        !self.is_loaded
    }

    pub fn add(&mut self, sent: Sent) {
        self.entries.retain(|known| known.text != sent.text);
        if self.entries.len() >= limits::HISTORY_ENTRIES {
            self.entries.remove(0);
        }
        self.entries.push(sent);
    }

    /// Returns the text of this age; the newest has the age 0.
    pub fn get(&self, age: usize) -> Option<&Sent> {
        self.entries.iter().nth_back(age)
    }

    pub fn newest_first(&self) -> Vec<Sent> {
        self.entries.iter().rev().cloned().collect()
    }

    pub fn age(&self, text: &str) -> Option<usize> {
        self.entries.iter().rev().position(|sent| &*sent.text == text)
    }
}
