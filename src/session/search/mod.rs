//! Search in the journals of all sessions: every text that holds all the words, once per session and agent.
//!
//! Called by `steersman search`. The files are scanned as bytes on all cores; only a line with a match is read as a
//! record. What another program is writing at the time can be searched too.
//!
//! # Where things are
//!
//! - files in pieces, on all cores: `scan.rs`
//! - a matching line into what is told of it: `hit.rs`
//! - all of it: `mod.rs`; tests: `tests/program/sessions/search.rs`

mod hit;
mod scan;

use std::collections::HashMap;
use std::io;

use grep_matcher::{Match, Matcher as _};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::journal::SessionFile;

pub use hit::Hit;

/// How often the same text is expected in one session.
const SAME_TEXT: usize = 4;

/// Words and phrases that a text is to hold, all of them, in any case of letters.
#[derive(Debug, Clone)]
pub struct SearchQuery {
    /// One for each word, on texts.
    each: Vec<RegexMatcher>,
    /// For the longest word, on the lines of a file.
    line: RegexMatcher,
}

/// What a search has found.
#[derive(Debug, Default)]
pub struct SearchResults {
    /// The matches; the newest session first, within one in their order.
    pub hits: Vec<Hit>,
    /// Files that could not be read, each with the reason.
    pub failed: Vec<(SessionFile, io::Error)>,
    /// True when older sessions, or the rest of one, were not searched, because enough was found.
    pub is_cut: bool,
}

impl SearchQuery {
    /// Takes the words. Several between double quotes stand together, in this order.
    ///
    /// # Errors
    /// One sentence, when there is nothing to search for.
    pub fn new(words: &[String]) -> Result<Self, String> {
        let words: Vec<&str> = words.iter().flat_map(|words| phrases(words)).collect();
        let longest = words.iter().max_by_key(|word| word.len()).ok_or("there is nothing to search for")?;
        // In the file a text is a JSON string.
        let written = serde_json::to_string(longest).map_err(|error| error.to_string())?;
        let line = matcher(written.trim_start_matches('"').strip_suffix('"').unwrap_or(longest))?;
        let each = words.iter().map(|word| matcher(word)).collect::<Result<_, _>>()?;
        Ok(Self { each, line })
    }

    /// Tells whether a line can hold a text with all of them.
    fn may_be_in(&self, line: &[u8]) -> bool {
        self.line.is_match(line).unwrap_or(false)
    }

    /// Returns where the first word stands in a text that holds all of them.
    fn place_in(&self, text: &str) -> Option<Match> {
        let mut places = self.each.iter().map(|word| word.find(text.as_bytes()).ok().flatten());
        let first = places.next()??;
        places.all(|place| place.is_some()).then_some(first)
    }
}

/// Returns the words of a text, and several between double quotes as one. Quotes around a single word belong to it.
fn phrases(mut text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return found;
        }
        let quoted = text.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let together = quoted.filter(|(words, rest)| {
            words.split_whitespace().count() > 1 && rest.chars().next().is_none_or(char::is_whitespace)
        });
        let (word, rest) = match together {
            Some((words, rest)) => (words.trim(), rest),
            None => text.split_at(text.find(char::is_whitespace).unwrap_or(text.len())),
        };
        found.push(word);
        text = rest;
    }
}

fn matcher(word: &str) -> Result<RegexMatcher, String> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(true).fixed_strings(true);
    builder.build(word).map_err(|error| error.to_string())
}

/// Searches these journals, in their order, until at least so many matches are found.
pub fn search(files: &[SessionFile], words: &SearchQuery, most: usize) -> SearchResults {
    // A text stands there several times: as it was accepted, as an event and in the conversation.
    let mut enough = most.saturating_mul(SAME_TEXT);
    loop {
        let scanned = scan::scan(files.to_vec(), words, enough);
        let mut found = SearchResults { is_cut: scanned.is_cut, ..SearchResults::default() };
        for (file, outcome) in scanned.files {
            match outcome {
                Ok(hits) => found.hits.extend(each_once(hits)),
                Err(error) => found.failed.push((file, error)),
            }
        }
        if !found.is_cut || found.hits.len() >= most {
            return found;
        }
        enough = enough.saturating_mul(8);
    }
}

/// Leaves one of the hits in the same text; one that tells of an event is preferred.
fn each_once(hits: Vec<Hit>) -> Vec<Hit> {
    let mut places: HashMap<_, usize> = HashMap::new();
    let mut once: Vec<Hit> = Vec::new();
    for hit in hits {
        match places.get(&(hit.agent.clone(), hit.text_hash)).and_then(|place| once.get_mut(*place)) {
            Some(known) if !known.is_event && hit.is_event => *known = hit,
            Some(_) => {}
            None => {
                places.insert((hit.agent.clone(), hit.text_hash), once.len());
                once.push(hit);
            }
        }
    }
    once
}
