//! What is searched for: literal text, in any case unless it has a capital letter, and where it stands in a text.
//!
//! Used by `matches` for the whole transcript and by the drawing for what is visible. Pure.

use std::ops::Range;

use memchr::{memchr2, memchr2_iter, memmem};

use crate::transcript::cell::{Body, Cell};

/// Words of the program that stand in rows beside the texts of a cell.
const PROGRAM_WORDS: &str = "thinking interrupted image summary running completed by its synthesizer cancelled failed \
    error lines more ms min s no output the whole new synthesized of B KiB MiB GiB matches paths results editor and an \
    export have them all waits waited for you waiting approval model got first last";

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    text: String,
    case: Case,
}

/// Whether capital and small letters differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Case {
    #[default]
    Differs,
    Same,
}

impl Query {
    /// Takes what was typed; `None` when that is nothing. A capital letter in it makes the case count.
    pub fn new(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let case = if text.chars().any(char::is_uppercase) { Case::Differs } else { Case::Same };
        Some(Self { text: text.to_owned(), case })
    }

    /// Finds the first place from a byte on; the bytes of the text that it takes.
    pub fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let rest = text.get(from..)?;
        match self.case {
            Case::Differs => {
                let at = memmem::find(rest.as_bytes(), self.text.as_bytes())? + from;
                Some(at..at + self.text.len())
            }
            Case::Same if self.text.is_ascii() => {
                let at = find_ascii(rest.as_bytes(), self.text.as_bytes())? + from;
                Some(at..at + self.text.len())
            }
            Case::Same => rest.char_indices().find_map(|(at, _)| {
                let length = same_beginning(rest.get(at..)?, &self.text)?;
                Some(from + at..from + at + length)
            }),
        }
    }

    /// Returns every place in a text, in order; none overlaps another.
    pub fn all<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.find(text, from)?;
            from = found.end;
            Some(found)
        })
    }

    /// Tells whether it may be in the rows of a cell, without laying them out, and how many bytes were looked at. A cell
    /// that may have it may still have none.
    pub fn may_be_in(&self, cell: &Cell) -> (bool, usize) {
        let anchor = self.anchor().unwrap_or_default().as_bytes();
        // Numbers stand in many rows that no text has: times, counts, the numbers of a list or of lines.
        let is_everywhere = anchor.iter().all(u8::is_ascii_digit) || is_shown(PROGRAM_WORDS, anchor);
        let is_markdown = matches!(cell.body(), Body::Assistant { .. });
        let (mut may_be, mut bytes) = (is_everywhere, 0);
        cell.texts(&mut |text| {
            bytes += text.len();
            // What is written as an entity may be any letter.
            may_be = may_be || is_shown(text, anchor) || is_markdown && text.contains('&');
        });
        (may_be, bytes)
    }

    /// Returns its longest run of ASCII letters and digits: where that is not, the whole is not.
    pub fn anchor(&self) -> Option<&str> {
        let runs = self.text.split(|c: char| !c.is_ascii_alphanumeric());
        runs.max_by_key(|run| run.len()).filter(|run| !run.is_empty())
    }
}

/// Finds ASCII text, letters of both cases being the same.
pub fn find_ascii(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted.first()?;
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let mut from = 0;
    loop {
        let at = from + memchr2(lower, upper, text.get(from..)?)?;
        let stretch = text.get(at..at + wanted.len())?;
        if stretch.eq_ignore_ascii_case(wanted) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Tells whether ASCII letters stand in a text as it is shown: marks of emphasis within a word are no part of it.
fn is_shown(text: &str, wanted: &[u8]) -> bool {
    let Some(first) = wanted.first() else { return true };
    let text = text.as_bytes();
    memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text).any(|at| {
        let is_mark = |byte: &&u8| matches!(byte, b'*' | b'_' | b'~' | b'`');
        let mut shown = text.get(at..).unwrap_or_default().iter().filter(|byte| !is_mark(byte));
        wanted.iter().all(|wanted| shown.next().is_some_and(|byte| byte.eq_ignore_ascii_case(wanted)))
    })
}

/// Returns the bytes at the start of a text that are the wanted ones but for their case.
fn same_beginning(text: &str, wanted: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    for wanted in wanted.chars() {
        let (_, c) = chars.next()?;
        if c != wanted && small(c) != small(wanted) {
            return None;
        }
    }
    Some(chars.next().map_or(text.len(), |(at, _)| at))
}

/// Returns a letter as a small one, where that is one character of the same kind.
fn small(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) if !one.is_ascii() => one,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;
    use crate::transcript::reduce::Transcript;
    use crate::transcript::view::rows::Rows;
    use steersman_base::event::{Envelope, Event, Outcome};
    use steersman_base::id::AgentId;
    use steersman_base::message::Arguments;

    fn found(query: &str, text: &str) -> Vec<(usize, usize)> {
        Query::new(query).unwrap().all(text).map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn case_counts_only_when_a_capital_is_typed() {
        assert_eq!(found("error", "Error ERROR error"), [(0, 5), (6, 11), (12, 17)]);
        assert_eq!(found("Error", "Error ERROR error"), [(0, 5)]);
        assert_eq!(found("größe", "GRÖSSE GRÖßE größe"), [(8, 15), (16, 23)]);
        assert_eq!(found("ÖL", "öl ÖL"), [(4, 7)]);
        assert_eq!(found("aa", "aaaa a"), [(0, 2), (2, 4)]);
        assert_eq!(found("日本", "日本語と日本"), [(0, 6), (12, 18)]);
        assert_eq!(found(".*", "a.*b a.b"), [(1, 3)]);
        assert!(found("k", "\u{212A}").is_empty(), "a Kelvin sign is no letter");
        assert!(Query::new("").is_none());
    }

    #[test]
    fn the_anchor_is_the_longest_run_of_plain_letters() {
        let anchor = |text| Query::new(text).unwrap().anchor().map(str::to_owned);
        assert_eq!(anchor("let x_value = 1").as_deref(), Some("value"));
        assert_eq!(anchor("→ ü"), None);
    }

    /// Every kind of cell, in every state that has words of its own.
    fn cells() -> Transcript {
        let mut transcript = Transcript::new(AgentId::main());
        let arguments = Arguments::parse(r#"{"command":"ls -l\ncat x","deep":{"list":["alpha",17]}}"#);
        let call = |id: &str| Event::ToolCall { id: id.into(), name: "bash".into(), arguments: arguments.clone() };
        let result = |id: &str, content: &str, is_error: bool| Event::ToolResult {
            id: id.into(),
            content: content.into(),
            is_error,
            elapsed_ms: 61_500,
        };
        let answer = "# Head\n\nSome **bo**ld, `code`, [link](http://x.example/y) ![picture](z.png)\n\n1. one\n1. two\n\n\
                      - [x] done\n\n| a | b |\n|---|---|\n| cell | other |\n\n```rust\nfn main() {}\n```\n\n&amp; &eacute;t&eacute;";
        let events = [
            Event::UserTurn {
                content: "a question".into(),
                mid_loop: true,
                injection: None,
                step: 0,
                after: None,
                sender: None,
                kind: steersman_base::steering::TextKind::Add,
                met: None,
                images: Vec::new(),
            },
            Event::Thinking { text: "thoughts\nof two lines".into() },
            Event::Assistant { text: answer.into(), interrupted: true },
            call("1"),
            result("1", "file one\nfile two", false),
            call("2"),
            result("2", "Error: broken", true),
            call("3"),
            Event::AgentSpawned {
                child: "file_miner 0".into(),
                persona: "file_miner".into(),
                task: "look around".into(),
                call: None,
                model: None,
                max_steps: None,
                tools: Vec::new(),
            },
            Event::AgentFinished {
                child: "file_miner 0".into(),
                outcome: Outcome::Failed,
                message: Some("why".into()),
            },
            Event::Compacted { before: Some(1_000), after: Some(10), messages: 4, summary: "in short".into() },
            Event::Notice { text: "a word".into() },
            Event::TurnEnded { turn: 1, outcome: Outcome::Cancelled, message: None },
        ];
        let at = "2026-11-21T09:30:00Z".parse().unwrap();
        for event in events {
            transcript.apply(&Envelope { seq: 1, at, agent: AgentId::main(), parent: None, event });
        }
        transcript
    }

    #[test]
    fn no_cell_is_passed_over_that_shows_the_word() {
        let transcript = cells();
        for columns in [30, 100] {
            for cell in transcript.cells() {
                let rows = Rows::opened(cell, columns, &Theme::dark());
                for word in rows.iter().flat_map(|row| row.text_after_lead().split_whitespace()) {
                    let query = Query::new(&word.to_lowercase()).unwrap();
                    assert!(query.may_be_in(cell).0, "{word:?} of {cell:?}");
                }
            }
        }
        let nowhere = Query::new("zebra").unwrap();
        let held = transcript.cells().iter().filter(|cell| nowhere.may_be_in(cell).0).count();
        assert_eq!(held, 1, "only the answer, whose entities stand for letters");
    }
}
