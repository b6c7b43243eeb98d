//! The history search: what is typed for it, and what it has found so far.
//!
//! The message is not touched before a text is taken. The matching is done away from the screen; until its answer comes,
//! what was found before and still matches is shown.

use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation as _;

use super::history::Sent;
use super::{Message, MessageContext};
use crate::effect::{Effect, PaneEffect};
use crate::fuzzy::{FuzzyMatches, FuzzyQuery, QueryKind, narrow};
use crate::keymap::{Travel, WriteKey};
use crate::state::Pane;

/// A history search that is open.
#[derive(Debug)]
pub struct HistorySearch {
    pub query: String,
    /// What is searched, the newest first, as it was when the search was opened.
    entries: Vec<Sent>,
    lines: Arc<[Arc<str>]>,
    found: FuzzyMatches,
    chosen: usize,
}

impl HistorySearch {
    /// Opens a search among these, the newest first.
    pub fn new(entries: Vec<Sent>, query: String) -> Self {
        let lines = entries.iter().map(|sent| Arc::clone(&sent.line)).collect();
        Self { query, entries, lines, found: FuzzyMatches::default(), chosen: 0 }
    }

    /// Returns what is to be searched for now; its answer counts from here on.
    pub fn search(&mut self, number: u64) -> FuzzyQuery {
        let hits = narrow(&self.found.hits, &self.query, QueryKind::Lines);
        self.found = FuzzyMatches { number, count: hits.len(), hits };
        self.chosen = 0;
        FuzzyQuery {
            number,
            kind: QueryKind::Lines,
            query: self.query.clone(),
            among: Arc::clone(&self.lines),
            first: self.lines.len(),
        }
    }

    /// Takes an answer, unless it is to an older question.
    pub fn set_matches(&mut self, found: FuzzyMatches) {
        if found.number == self.found.number {
            self.found = found;
        }
    }

    pub fn found(&self) -> &FuzzyMatches {
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

/// Opens the search; where it is open, goes to the next match.
pub fn open(message: &mut Message, query: &str, known: &MessageContext<'_>) -> Vec<PaneEffect> {
    if let Some(search) = &mut message.search {
        search.next();
        return Vec::new();
    }
    if known.in_lines() {
        return Vec::new();
    }
    if let Some(busy) = message.blocked() {
        return vec![busy];
    }
    message.search = Some(HistorySearch::new(message.history.newest_first(), query.to_owned()));
    let mut effects = vec![PaneEffect::Focus(Pane::History)];
    effects.extend(seek(message));
    effects
}

/// Types into the search.
pub fn type_text(message: &mut Message, text: &str) -> Vec<PaneEffect> {
    if let Some(search) = &mut message.search {
        search.query.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    }
    seek(message)
}

/// Carries out a key of the search.
pub fn act(message: &mut Message, key: WriteKey) -> Vec<PaneEffect> {
    let Some(search) = &mut message.search else { return Vec::new() };
    let query = &search.query;
    let kept = match key {
        WriteKey::RubOut => query.grapheme_indices(true).next_back().map_or(0, |(at, _)| at),
        WriteKey::RubOutWord => query.trim_end().rfind(' ').map_or(0, |at| at + 1),
        WriteKey::RubOutAll => 0,
        WriteKey::TakeText => return accept(message),
        WriteKey::Redo | WriteKey::Expand | WriteKey::Search => return Vec::new(),
    };
    search.query.truncate(kept);
    seek(message)
}

/// Goes to another match.
pub fn travel(message: &mut Message, to: Travel) {
    let Some(search) = &mut message.search else { return };
    match to {
        Travel::Previous => search.previous(),
        Travel::Next => search.next(),
        Travel::PageUp | Travel::PageDown | Travel::First | Travel::Last => {}
    }
}

/// Takes the match at this place of the list.
pub fn take_at(message: &mut Message, place: usize) -> Vec<PaneEffect> {
    if let Some(search) = &mut message.search {
        search.choose(place);
    }
    accept(message)
}

fn accept(message: &mut Message) -> Vec<PaneEffect> {
    let Some(search) = message.search.take() else { return Vec::new() };
    if let Some(age) = search.text().and_then(|text| message.history.age(text)) {
        message.go(age);
    }
    vec![PaneEffect::Focus(Pane::Composer)]
}

fn seek(message: &mut Message) -> Vec<PaneEffect> {
    message.history_query().map(|query| PaneEffect::Outside(Effect::Match(query))).into_iter().collect()
}
