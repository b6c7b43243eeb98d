//! One entry of a transcript as lines: short when it is first written, whole when it is asked for.
//!
//! Called by the printer. The number of an entry is its place, from 1; it never changes within a conversation.

use super::page::Page;
use super::speech::Speech;
use crate::transcript::cell::{Body, CallCell, CallState, CallStatus, Cell, ChildState, Level, Stage};
use crate::transcript::result::Shown;
use crate::widgets::diff::LineKind;
use steersman_base::event::JobOwner;
use steersman_base::steering::TextKind;
use steersman_base::summary::{count, took};

/// Lines of a user's text or a thought that are written at once.
const TEXT: usize = 8;
/// Lines of output that are written whole.
const WHOLE: usize = 3;
/// Lines of the beginning and the end of a command's output.
const COMMAND: [usize; 2] = [2, 4];
const FAILED: [usize; 2] = [3, 10];
/// Changed lines of a diff that are written at once.
const DIFF: usize = 12;

pub(super) fn number(cell: &Cell) -> usize {
    cell.id().index() + 1
}

/// Returns the word at the margin for a call.
pub(super) fn tool(call: &CallCell) -> String {
    match call.owner {
        JobOwner::Agent => format!("tool {}", call.name),
        JobOwner::User => "your command".to_owned(),
    }
}

pub(super) fn arguments_of(call: &CallCell) -> &str {
    call.summary.strip_prefix("$ ").unwrap_or(&call.summary)
}

/// Names the user, with the kind of the text where that is not the usual one.
fn you(kind: TextKind) -> String {
    if kind == TextKind::Add { "you".to_owned() } else { format!("you, {kind}") }
}

/// Writes an entry that has ended, except answers, which are written while they come.
pub(super) fn write(cell: &Cell, page: &mut Page) {
    let number = number(cell);
    let more = format!("say /show {number}");
    match cell.body() {
        Body::User { text, kind, mid_loop, receipt, images: _ } => {
            let first = receipt.as_ref().and_then(|receipt| receipt.parts.first()).filter(|_| *mid_loop);
            let you = you(*kind);
            let word = first.map_or_else(|| you.clone(), |first| format!("{you}, {first}"));
            page.text(&word, text, TEXT, &more);
        }
        Body::Thinking { text, .. } => {
            let mut lines = text.lines().filter(|line| !line.trim().is_empty());
            let first = lines.next().unwrap_or_default().trim();
            let rest = match lines.count() {
                0 => String::new(),
                rest => format!(" ({}, {more})", count(rest, "more line")),
            };
            page.say("thinking", &format!("{}{rest}", super::page::named(first)));
        }
        Body::Assistant { .. } | Body::Child(_) => {}
        Body::Call(call) => tell_call(call, &more, page),
        Body::Compaction { head, summary } => {
            let summary = if summary.is_empty() { String::new() } else { format!("; the summary: {more}") };
            page.say("notice", &format!("{head}{summary}"));
        }
        Body::Notice { level, text } => page.text(level_word(*level), text, TEXT, &more),
    }
}

/// Writes an entry whole.
pub(super) fn whole(cell: &Cell, page: &mut Page) {
    let number = number(cell);
    match cell.body() {
        Body::User { text, kind, receipt, .. } => {
            page.text(&format!("{number}, {}", you(*kind)), text, usize::MAX, "");
            if let Some(receipt) = receipt {
                page.say("receipt", &receipt.parts.join(", "));
            }
        }
        Body::Thinking { text, .. } => page.text(&format!("{number}, thinking"), text, usize::MAX, ""),
        Body::Assistant { text, stage } => {
            let word = format!("{number}, answer");
            for line in Speech::default().end(text) {
                page.write(&word, &line);
            }
            if *stage != Stage::Done {
                page.say("answer", if *stage == Stage::Live { "not at its end yet" } else { "interrupted" });
            }
        }
        Body::Call(call) => {
            page.say(&format!("{number}, {}", tool(call)), &format!("{}, {}", arguments_of(call), ending(call)));
            for line in crate::pause::editable(&call.arguments).lines() {
                page.add(&format!("argument: {line}"));
            }
            diff(call, usize::MAX, "", page);
            for line in call.output().lines() {
                page.add(line);
            }
            page.say("end", &format!("entry {number}"));
        }
        Body::Child(child) => {
            page.text(&format!("{number}, agent {}", child.name), &child.task, usize::MAX, "");
            page.say("agent", child_state(&child.state));
        }
        Body::Compaction { head, summary } => {
            page.text(&format!("{number}, notice"), &format!("{head}\n{summary}"), usize::MAX, "");
        }
        Body::Notice { level, text } => {
            page.text(&format!("{number}, {}", level_word(*level)), text, usize::MAX, "");
        }
    }
}

/// Returns an entry in one line, for lists.
pub(super) fn head(cell: &Cell) -> String {
    let number = number(cell);
    let first = |text: &str| super::page::named(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    match cell.body() {
        Body::User { text, kind, .. } => format!("{number}, {}: {}", you(*kind), first(text)),
        Body::Thinking { text, .. } => format!("{number}, thinking: {}", first(text)),
        Body::Assistant { text, .. } => format!("{number}, answer: {}", first(text)),
        Body::Call(call) => {
            format!("{number}, {}: {}, {}", tool(call), super::page::named(arguments_of(call)), ending(call))
        }
        Body::Child(child) => format!("{number}, agent {}: {}", child.name, first(&child.task)),
        Body::Compaction { head, .. } => format!("{number}, notice: {head}"),
        Body::Notice { level, text } => format!("{number}, {}: {}", level_word(*level), first(text)),
    }
}

/// Returns everything that an entry says, to be searched and copied.
pub(super) fn text_of(cell: &Cell) -> String {
    match cell.body() {
        Body::Call(call) => format!("{}: {}\n{}", tool(call), arguments_of(call), call.output()),
        Body::Compaction { head, summary } => format!("{head}\n{summary}"),
        Body::User { .. } | Body::Thinking { .. } | Body::Assistant { .. } | Body::Child(_) | Body::Notice { .. } => {
            cell.source().to_owned()
        }
    }
}

/// Says how far a call has come, or how it ended.
pub(super) fn ending(call: &CallCell) -> String {
    match &call.state {
        CallState::Running { .. } if call.is_asking() => "waits for your answer".to_owned(),
        CallState::Running { .. } => match call.lines() {
            0 if call.waits => "waits for the calls before it".to_owned(),
            0 => "running".to_owned(),
            lines => format!("running, {} so far", count(lines, "line")),
        },
        // It did not run.
        CallState::Ended { is_error: true, .. } if call.refusal().is_some() => {
            call.refusal().unwrap_or_default().to_owned()
        }
        CallState::Ended { is_error, .. } => {
            let mut words = Vec::new();
            match (is_error, call.status()) {
                (true, _) => words.push("error".to_owned()),
                (false, CallStatus::Failed) => words.push("failed,".to_owned()),
                (false, _) => {}
            }
            match &call.shown {
                Some(Shown::Diff(diff)) => {
                    let of = |kind: LineKind| diff.lines.iter().filter(|line| line.kind == kind).count();
                    words.push(format!(
                        "{} added, {} removed",
                        count(of(LineKind::Added), "line"),
                        of(LineKind::Removed)
                    ));
                }
                Some(shown) => words.push(shown.summary().to_owned()),
                None => {}
            }
            words.push(format!("in {}", took(call.took().unwrap_or(0), call.waited_ms)));
            words.join(" ")
        }
        CallState::Interrupted { .. } => "interrupted".to_owned(),
    }
}

fn tell_call(call: &CallCell, more: &str, page: &mut Page) {
    if let (Some(child), CallStatus::Succeeded) = (&call.child, call.status()) {
        // Its task was written at its start, its time at its end.
        let lines = count(call.output().lines().count(), "line");
        return page.say(&tool(call), &format!("{} reports {lines}, {more}", child.name));
    }
    let head = format!("{}, {}", arguments_of(call), ending(call));
    let has_failed = call.status() == CallStatus::Failed;
    if matches!(call.shown, Some(Shown::Diff(_))) && !has_failed {
        page.say(&tool(call), &head);
        return diff(call, DIFF, more, page);
    }
    if call.refusal().is_some() {
        return page.say(&tool(call), &head);
    }
    let is_command = matches!(call.shown, Some(Shown::Command { .. })) || call.name == "bash";
    let [first, last] = match (has_failed, is_command) {
        (true, _) => FAILED,
        (false, true) => COMMAND,
        (false, false) => [0, 0],
    };
    let lines: Vec<&str> = call.output().lines().collect();
    let size = match call.left_out() {
        0 => count(call.lines(), "line"),
        left_out => format!("{}, the model got {}", count(call.lines(), "line"), call.lines().saturating_sub(left_out)),
    };
    if lines.len() <= WHOLE.max(first + last) {
        page.say(&tool(call), &head);
        for line in lines {
            page.add(line);
        }
    } else if first + last == 0 {
        page.say(&tool(call), &format!("{head}, {size}, {more}"));
    } else {
        page.say(&tool(call), &format!("{head}, {size}"));
        let end = lines.len() - last;
        lines.iter().take(first).for_each(|line| page.add(line));
        page.say("more", &format!("{}, {more}", count(end - first + call.left_out().saturating_sub(1), "line")));
        lines.iter().skip(end).for_each(|line| page.add(line));
    }
}

/// Writes the changed lines of a file, each with its number.
fn diff(call: &CallCell, most: usize, more: &str, page: &mut Page) {
    let Some(Shown::Diff(diff)) = &call.shown else { return };
    let changed: Vec<_> =
        diff.lines.iter().filter(|line| matches!(line.kind, LineKind::Added | LineKind::Removed)).collect();
    for line in changed.iter().take(most) {
        let word = if line.kind == LineKind::Added { "added" } else { "removed" };
        let number = line.number.map(|number| format!(" {number}")).unwrap_or_default();
        page.add(&format!("{word}{number}: {}", line.text));
    }
    if changed.len() > most {
        page.say("more", &format!("{}, {more}", count(changed.len() - most, "changed line")));
    }
}

fn level_word(level: Level) -> &'static str {
    match level {
        Level::Info => "notice",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

fn child_state(state: &ChildState) -> &'static str {
    match state {
        ChildState::Running => "it works",
        ChildState::Ended { .. } => "it has ended",
        ChildState::Interrupted => "interrupted",
    }
}
