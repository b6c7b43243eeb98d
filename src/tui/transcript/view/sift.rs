//! Passes over cells that cannot hold what is searched for, without laying them out.
//!
//! Used by `finds`. Always holds: a cell that is passed over has no place of it. A cell that is not may still have none.

use crate::message::Arguments;
use crate::tui::transcript::cell::{Body, CallCell, CallStatus, Cell, ChildCell, ChildState};
use crate::tui::transcript::result::Shown;
use crate::tui::transcript::view::query::{Needle, find_ascii};

/// Words of the program beside the text of an answer, of thoughts, of a summary.
const BESIDE_TEXT: &str = "thinking interrupted image summary";
/// Words of the program beside what an agent was told.
const BESIDE_AGENT: &str = "running interrupted completed by its synthesizer cancelled failed";
/// Words of the program beside a call, however it stands.
const BESIDE_CALL: &str = "lines more than ms min s no output the whole new synthesized of B KiB MiB GiB matches paths \
                           results editor and an export have them all waited for you the model got first last";
/// Words of the program beside a call that has not ended well.
const BESIDE_OPEN_CALL: &str = "error failed interrupted running waits for you waiting for approval";

/// Tells whether a cell may hold it.
pub fn may_hold(cell: &Cell, needle: &Needle) -> bool {
    let Some(anchor) = needle.anchor().map(str::as_bytes) else { return true };
    // Numbers stand in many rows that no text has: times, counts, the numbers of a list or of lines.
    if anchor.iter().all(u8::is_ascii_digit) {
        return true;
    }
    let has = |text: &str| find_ascii(text.as_bytes(), anchor).is_some();
    match cell.body() {
        Body::Notice { text, .. } => has(text),
        Body::User { text, receipt, .. } => {
            has(text) || receipt.as_ref().is_some_and(|told| told.parts.iter().any(|part| has(part)))
        }
        Body::Thinking { text, .. } => has(text) || has(BESIDE_TEXT),
        Body::Compaction { head, summary } => has(head) || has(summary) || has(BESIDE_TEXT),
        Body::Assistant { text, .. } => has_shown(text.as_bytes(), anchor) || text.contains('&') || has(BESIDE_TEXT),
        Body::Child(agent) => has(BESIDE_AGENT) || child(agent, &has),
        Body::Call(call) => {
            let is_well = call.status() == CallStatus::Succeeded;
            has(BESIDE_CALL) || (!is_well && has(BESIDE_OPEN_CALL)) || call_has(call, &has)
        }
    }
}

/// Returns roughly how many bytes were looked at.
pub fn weight(cell: &Cell) -> usize {
    match cell.body() {
        Body::User { text, .. }
        | Body::Thinking { text, .. }
        | Body::Assistant { text, .. }
        | Body::Notice { text, .. } => text.len(),
        Body::Compaction { head, summary } => head.len() + summary.len(),
        Body::Child(agent) => agent.task.len(),
        Body::Call(call) => {
            let shown = match &call.shown {
                Some(Shown::Diff(diff)) => diff.lines.iter().map(|line| line.text.len() + 16).sum(),
                Some(Shown::Command { .. } | Shown::Page(_)) | None => 0,
            };
            call.output().len() + shown + call.summary.len()
        }
    }
}

fn child(agent: &ChildCell, has: &impl Fn(&str) -> bool) -> bool {
    let told = match &agent.state {
        ChildState::Ended { message: Some(message), .. } => has(message),
        ChildState::Ended { message: None, .. } | ChildState::Running | ChildState::Interrupted => false,
    };
    told || has(&agent.name) || has(&agent.task)
}

fn call_has(call: &CallCell, has: &impl Fn(&str) -> bool) -> bool {
    let arguments = || match &call.arguments {
        Arguments::Raw(raw) => has(raw),
        Arguments::Object(map) => map.iter().any(|(name, value)| has(name) || value_has(value, has)),
    };
    let shown = || match &call.shown {
        Some(Shown::Diff(diff)) => has(&diff.words) || diff.lines.iter().any(|line| has(&line.text)),
        Some(Shown::Command { words, saved, .. }) => has(words) || saved.as_deref().is_some_and(has),
        Some(Shown::Page(words)) => has(words),
        None => false,
    };
    let asked = || call.asked.iter().filter_map(|asked| asked.answer.as_ref()).any(|answer| has(&answer.words));
    has(&call.name)
        || has(&call.summary)
        || has(call.output())
        || arguments()
        || shown()
        || asked()
        || call.child.as_ref().is_some_and(|agent| child(agent, has))
}

fn value_has(value: &serde_json::Value, has: &impl Fn(&str) -> bool) -> bool {
    match value {
        serde_json::Value::String(text) => has(text),
        other => has(&other.to_string()),
    }
}

/// Finds a run of letters in Markdown as it would be shown: marks of emphasis within a word are no part of it.
fn has_shown(text: &[u8], anchor: &[u8]) -> bool {
    let Some(first) = anchor.first() else { return true };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, text).any(|at| {
        let is_mark = |byte: &&u8| matches!(byte, b'*' | b'_' | b'~' | b'`');
        let mut shown = text.get(at..).unwrap_or_default().iter().filter(|byte| !is_mark(byte));
        anchor.iter().all(|wanted| shown.next().is_some_and(|byte| byte.eq_ignore_ascii_case(wanted)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Envelope, Event, Outcome};
    use crate::id::AgentId;
    use crate::tui::theme::Theme;
    use crate::tui::transcript::fold::Transcript;
    use crate::tui::transcript::view::rows::Rows;

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
            Event::UserTurn { content: "a question".into(), mid_loop: true, injection: None, step: 0, after: None },
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
                for word in rows.iter().flat_map(|row| row.words().split_whitespace()) {
                    let needle = Needle::new(&word.to_lowercase()).unwrap();
                    assert!(may_hold(cell, &needle), "{word:?} of {cell:?}");
                }
            }
        }
        let nowhere = Needle::new("zebra").unwrap();
        let held = transcript.cells().iter().filter(|cell| may_hold(cell, &nowhere)).count();
        assert_eq!(held, 1, "only the answer, whose entities stand for letters");
    }
}
