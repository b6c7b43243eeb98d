//! The sub-agent `researcher`: searches, opens the first pages, reports what they say with their addresses.

use std::fmt::Write as _;

use crate::demo::facts;
use crate::demo::plan::Step;
use crate::demo::plan::markdown::{cut, inline_quote, number};
use crate::demo::plan::steering::Steering;
use crate::demo::plan::talk::{Call, Talk};

/// Pages that are opened.
const PAGES: usize = 2;
/// Characters shown of a page.
const SHOWN: usize = 240;

/// Plans the next step of a task.
pub fn step(talk: &Talk, steering: &Steering) -> Step {
    let question = cut(steering.primary.text.lines().next().unwrap_or_default(), SHOWN);
    let search = talk.offer.web_search(&question);
    let found = search.as_ref().and_then(|call| talk.turn.result_of(call)).unwrap_or_default();
    let addresses = addresses(found);
    let pages: Vec<Call> = addresses.iter().take(PAGES).filter_map(|address| talk.offer.open_page(address)).collect();
    let stages = [
        (search.into_iter().collect(), "First a search for the question."),
        (pages.clone(), "Two of the pages look right; I open them together."),
    ];
    for (calls, thinking) in stages {
        let calls = talk.turn.missing(calls);
        if !calls.is_empty() && !steering.stop {
            return Step::Work { thinking: thinking.to_owned(), say: String::new(), calls };
        }
    }
    let mut text = format!("On {}: {}.\n\n", inline_quote(&question), number(addresses.len(), "address"));
    for (address, call) in addresses.iter().zip(&pages) {
        let page = talk.turn.result_of(call).unwrap_or_default();
        let line =
            page.lines().find(|line| line.chars().filter(|c| c.is_alphabetic()).count() > 30 && !facts::failed(line));
        let _ = writeln!(
            text,
            "- <{address}>: {}",
            line.map_or("nothing readable".to_owned(), |line| inline_quote(&cut(line, SHOWN)))
        );
    }
    if addresses.is_empty() {
        text.push_str("The search gave no page, so I have no answer.\n");
    }
    Step::Answer { thinking: "I report what the pages say, with their addresses.".to_owned(), text }
}

/// Finds web addresses in a text, each once.
fn addresses(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || "()<>[]\"'`".contains(c)) {
        let address = word.trim_end_matches(['.', ',', ';', ':']);
        let web = address.starts_with("https://") || address.starts_with("http://");
        if web && !found.iter().any(|other| other == address) {
            found.push(address.to_owned());
        }
    }
    found
}
