//! Requests without tools: a plain, honest answer.

use crate::demo::plan::Step;
use crate::demo::plan::markdown::{cut, inline_quote};
use crate::demo::plan::talk::Talk;
use crate::demo::words::{self, Intent};

/// Characters of a summary.
const SUMMARY: usize = 600;

/// Answers without tools.
pub fn step(talk: &Talk) -> Step {
    let prompt = talk.turn.asks.last().map(String::as_str).unwrap_or_default();
    let intents = words::understand(prompt);
    let text = match intents.first() {
        Some(Intent::Greeting) => "Hello! I am the model that is built into this program.".to_owned(),
        Some(Intent::Thanks) => "You are welcome.".to_owned(),
        _ if wants_summary(prompt) => summary(prompt),
        _ => format!(
            "You asked {}. I am the embedded model, a planner that answers from the results of tools. No tool is on offer in \
             this request, so I cannot look anything up.",
            inline_quote(prompt),
        ),
    };
    Step::Answer { thinking: "There are no tools in this request; a plain answer has to do.".to_owned(), text }
}

fn wants_summary(prompt: &str) -> bool {
    let head = cut(prompt, 200).to_lowercase();
    head.contains("summar") && prompt.lines().count() > 1
}

/// Takes the first sentence of each paragraph behind the instruction.
fn summary(prompt: &str) -> String {
    let paragraphs = prompt.split("\n\n").skip(1).filter_map(|paragraph| paragraph.split_inclusive(". ").next());
    let sentences: Vec<&str> = paragraphs.map(str::trim).filter(|sentence| !sentence.is_empty()).collect();
    if sentences.is_empty() { cut(prompt, SUMMARY) } else { cut(&sentences.join(" "), SUMMARY) }
}
