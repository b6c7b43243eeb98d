//! The rescue: an answer from the evidence text alone, when another agent ran out of steps.

use std::fmt::Write as _;

use crate::demo::facts::{self, Hit};
use crate::demo::plan::Step;
use crate::demo::plan::markdown::{code, cut, finding, inline_quote, number};
use crate::demo::plan::talk::Talk;

/// Places shown.
const PLACES: usize = 10;
/// Plain lines shown where no line has a place.
const LINES: usize = 6;

/// Answers from the evidence.
pub fn step(talk: &Talk) -> Step {
    let prompt = talk.turn.asks.last().map(String::as_str).unwrap_or_default();
    let (head, evidence) = prompt.split_once("Evidence gathered:").unwrap_or((prompt, ""));
    let question = head.trim().strip_prefix("Question:").unwrap_or(head).trim();
    let places = places(evidence);
    let lines: Vec<&str> =
        evidence.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric)).collect();
    let mut text =
        format!("On {}, from the evidence gathered ({}):\n\n", inline_quote(question), number(lines.len(), "line"));
    if lines.is_empty() || evidence.trim() == "(none)" {
        text = format!("Nothing was gathered about {}, so there is no answer yet.\n\n", inline_quote(question));
    } else if places.is_empty() {
        text.extend(lines.iter().take(LINES).map(|line| format!("- {}\n", code(&cut(line, 120)))));
    } else {
        text.extend(places.iter().take(PLACES).map(finding));
        if places.len() > PLACES {
            let _ = writeln!(text, "- … and {} more places", places.len() - PLACES);
        }
    }
    text.push_str("\nMissing: the step budget ended before the rest was looked at. Ask again with a narrower question, or a higher `--max-steps`.\n");
    let thinking = format!("The evidence has {} with path and line. I use only that.", number(places.len(), "place"));
    Step::Answer { thinking, text }
}

/// Finds the places that evidence names, each once.
fn places(evidence: &str) -> Vec<Hit> {
    let mut places: Vec<Hit> = Vec::new();
    let searched = evidence.lines().filter_map(|line| facts::hits(line).into_iter().next());
    for hit in facts::references(evidence).into_iter().chain(searched) {
        let path_like = !hit.path.contains([' ', '`', '"', '{']);
        if path_like && !places.iter().any(|other| other.path == hit.path && other.line == hit.line) {
            places.push(hit);
        }
    }
    places
}
