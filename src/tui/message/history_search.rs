//! The history search: what is typed for it, and what it has found so far.
//!
//! The message is not touched before a text is taken. The matching is done away from the screen; until its answer comes,
//! what was found before and still matches is shown.

use std::sync::Arc;

use super::history::Sent;
use crate::tui::fuzzy::{Hits, Kind, Quest, narrow};

/// A history search that is open.
#[derive(Debug)]
pub struct HistorySearch {
    /// What was typed.
    pub query: String,
    /// What is searched, the newest first, as it was when the search was opened.
    entries: Vec<Sent>,
    lines: Arc<[Arc<str>]>,
    found: Hits,
    chosen: usize,
}

impl HistorySearch {
    /// Opens a search among these, the newest first.
    pub fn new(entries: Vec<Sent>, query: String) -> Self {
        let lines = entries.iter().map(|sent| Arc::clone(&sent.line)).collect();
        Self { query, entries, lines, found: Hits::default(), chosen: 0 }
    }

    /// Returns what is to be searched for now; its answer counts from here on.
    pub fn search(&mut self, number: u64) -> Quest {
        let hits = narrow(&self.found.hits, &self.query, Kind::Lines);
        self.found = Hits { number, count: hits.len(), hits };
        self.chosen = 0;
        Quest {
            number,
            kind: Kind::Lines,
            query: self.query.clone(),
            among: Arc::clone(&self.lines),
            first: self.lines.len(),
        }
    }

    /// Takes an answer, unless it is to an older question.
    pub fn take(&mut self, found: Hits) {
        if found.number == self.found.number {
            self.found = found;
        }
    }

    /// Returns what matches.
    pub fn found(&self) -> &Hits {
        &self.found
    }

    /// Returns how many texts there are.
    pub fn total(&self) -> usize {
        self.entries.len()
    }

    /// Returns the place of the chosen match.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Returns the text of the chosen match.
    pub fn text(&self) -> Option<&Arc<str>> {
        let hit = self.found.hits.get(self.chosen)?;
        self.entries.get(hit.index).map(|sent| &sent.text)
    }

    /// Chooses the match before, which matches better.
    pub fn previous(&mut self) {
        self.chosen = self.chosen.saturating_sub(1);
    }

    /// Chooses the match at this place of the list.
    pub fn choose(&mut self, place: usize) {
        self.chosen = place.min(self.found.hits.len().saturating_sub(1));
    }

    /// Chooses the match behind.
    pub fn next(&mut self) {
        self.chosen = (self.chosen + 1).min(self.found.hits.len().saturating_sub(1));
    }
}
