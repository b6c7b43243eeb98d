//! The answers that are no report on files: to plain requests, from pages of the web, from evidence, without tools.
//! They are sections of the scripts.

use crate::demo::markdown::{all_joined, code, cut, inline_quote, list, number};
use crate::demo::plan::conversation::Call;
use crate::demo::plan::report::{HITS, each_once, hit_list};
use crate::demo::plan::requests::Intent;
use crate::demo::plan::results;
use crate::demo::plan::view::View;
use crate::demo::plan::{intents, steps};

/// Characters of a summary.
const SUMMARY: usize = 600;
/// Characters of a line of a page.
const PAGE_LINE: usize = 240;

/// Answers each thing that a plain request asks for.
pub fn plain_requests(view: &View) -> String {
    all_joined(view.request.intents.iter().map(|intent| intents::answer(view, intent)))
}

/// Reports what pages of the web say.
pub fn pages(view: &View) -> String {
    let addresses = addresses(view);
    let question = inline_quote(&steps::question(view));
    if addresses.is_empty() {
        return format!("On {question}: the search gave no page, so I have no answer.");
    }
    let said = |(address, call): (&String, Call)| {
        let prose = |line: &&str| line.chars().filter(|c| c.is_alphabetic()).count() > 30 && !results::failed(line);
        let line = view.result(Some(call)).lines().find(prose);
        format!(
            "<{address}>: {}",
            line.map_or("nothing readable".to_owned(), |line| inline_quote(&cut(line, PAGE_LINE)))
        )
    };
    let pages = list(addresses.iter().zip(steps::open_pages(view)).map(said));
    format!("On {question}: {}.\n\n{pages}", number(addresses.len(), "address"))
}

/// Returns the addresses that a search of the web found, each once.
pub fn addresses(view: &View) -> Vec<String> {
    let found = steps::search_web(view).pop().and_then(|call| view.talk.turn.result_of(&call)).unwrap_or_default();
    let words = found.split(|c: char| c.is_whitespace() || "()<>[]\"'`".contains(c));
    let words = words.map(|word| word.trim_end_matches(['.', ',', ';', ':']));
    let mut addresses: Vec<String> = Vec::new();
    for address in words.filter(|word| word.starts_with("https://") || word.starts_with("http://")) {
        if !addresses.iter().any(|known| known == address) {
            addresses.push(address.to_owned());
        }
    }
    addresses
}

/// Answers from the evidence that another agent gathered before it ran out of steps.
pub fn evidence(view: &View) -> String {
    let (head, evidence) = view.request.text.split_once("Evidence gathered:").unwrap_or_default();
    let question = inline_quote(head.trim().trim_start_matches("Question:").trim());
    let named = results::references(evidence).into_iter().chain(results::hits(evidence));
    let places = each_once(named.filter(|hit| !hit.path.contains([' ', '`', '"', '{'])));
    let lines: Vec<&str> =
        evidence.lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric)).collect();
    let shown = match places.as_slice() {
        _ if lines.is_empty() || evidence.trim() == "(none)" => {
            "Nothing was gathered, so there is no answer yet.".to_owned()
        }
        [] => list(lines.iter().take(HITS / 2).map(|line| code(line))),
        places => hit_list(places),
    };
    let missing = "Missing: the step budget ended before the rest was looked at. Ask again with a narrower question, or a higher \
                   `--max-steps`.";
    format!("On {question}, from the evidence gathered ({}):\n\n{shown}\n\n{missing}", number(lines.len(), "line"))
}

/// Answers without tools: small talk, a summary of a text, or that nothing can be looked up.
pub fn without_tools(view: &View) -> String {
    let prompt = &view.request.text;
    if let Some(Intent::SmallTalk(answer)) = view.request.intents.first() {
        return view.fill(answer);
    }
    let sentences = prompt.split("\n\n").skip(1).filter_map(|paragraph| paragraph.split_inclusive(". ").next());
    let summary = sentences.map(str::trim).collect::<Vec<_>>().join(" ");
    if cut(prompt, 200).to_lowercase().contains("summar") && prompt.lines().count() > 1 {
        return cut(if summary.is_empty() { prompt } else { &summary }, SUMMARY);
    }
    view.fill(
        "You asked {request}. I am the embedded model, a fixed script that answers from the results of tools. No tool is on \
         offer in this request, so I cannot look anything up.",
    )
}
