//! The transcript of one agent as a page.

use jiff::tz::TimeZone;

use crate::export::markdown::{fenced, plain, tamed};
use crate::pause::editable;
use crate::transcript::cell::{Body, CallCell, CallStatus, Cell, ChildCell, ChildState, Level, Stage};
use crate::transcript::reduce::Transcript;
use crate::transcript::result::Shown;
use crate::widgets::diff::DiffLine;
use steersman_base::event::JobOwner;
use steersman_base::summary::{seconds, took};
use steersman_base::target::name_of;
use steersman_base::text;

/// Writes all cells of a transcript, collapsed or not, with their times in a zone.
pub fn transcript_markdown(transcript: &Transcript, zone: &TimeZone) -> String {
    let mut page = format!("# Transcript of {}\n", plain(&name_of(transcript.agent())));
    if let Some(first) = transcript.cells().iter().find_map(Cell::at) {
        let from = first.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %:z").to_string();
        page.extend(["\nFrom ", &from, ".\n"]);
    }
    for cell in transcript.cells() {
        page.push('\n');
        page.push_str(&block(cell, zone));
    }
    page
}

/// Says when a block came, and of a text how long it took.
fn when(cell: &Cell, zone: &TimeZone) -> String {
    let Some(at) = cell.at() else { return String::new() };
    let took = cell.took().filter(|_| !matches!(cell.body(), Body::Call(_)));
    let took = took.map(|millis| format!(", {}", seconds(millis))).unwrap_or_default();
    format!(" · {}{took}", zone.to_datetime(at).strftime("%H:%M:%S"))
}

fn block(cell: &Cell, zone: &TimeZone) -> String {
    let when = when(cell, zone);
    match cell.body() {
        Body::User { text, receipt, .. } => {
            let how = cell.body().label();
            let how = if how.is_empty() { how } else { format!(" ({how})") };
            let receipt = receipt.as_ref().map(|receipt| format!("{}\n\n", plain(&receipt.line()))).unwrap_or_default();
            format!("## User{how}{when}\n\n{receipt}{}", tamed(text))
        }
        Body::Thinking { text, stage } => {
            format!("## Thinking{}{when}\n\n{}", stage_note(*stage), fenced(text, "text"))
        }
        Body::Assistant { text, stage } => format!("## Assistant{}{when}\n\n{}", stage_note(*stage), tamed(text)),
        Body::Call(tool) => call(tool, &when),
        Body::Child(child) => format!("## Agent {}{when}\n", agent(child)),
        Body::Compaction { head, summary } if summary.is_empty() => format!("_{head}_\n"),
        Body::Compaction { head, summary } => format!("_{head}_\n\n{}", fenced(summary, "text")),
        Body::Notice { level, text } => {
            let mark = match level {
                Level::Info => "-",
                Level::Warning => "!",
                Level::Error => "✗",
            };
            format!("> {} {}\n", plain(mark), text.lines().map(plain).collect::<Vec<_>>().join("\n> "))
        }
    }
}

fn stage_note(stage: Stage) -> &'static str {
    match stage {
        Stage::Interrupted => " (interrupted)",
        Stage::Live => " (not finished)",
        Stage::Done => "",
    }
}

fn call(call: &CallCell, when: &str) -> String {
    let time = took(call.took().unwrap_or(0), call.waited_ms);
    let (mark, how) = match (call.status(), &call.shown) {
        (CallStatus::Running, _) if call.waits => ("▸", "waits for the calls before it".to_owned()),
        (CallStatus::Running, _) => ("▸", "running".to_owned()),
        (CallStatus::Interrupted, _) => ("▪", "interrupted".to_owned()),
        (CallStatus::Failed, Some(Shown::Command { words, .. })) => ("✗", format!("failed, {words}, {time}")),
        (CallStatus::Failed, _) => ("✗", format!("error, {time}")),
        (CallStatus::Succeeded, _) => ("✓", time),
    };
    let name = match call.owner {
        JobOwner::Agent => plain(&call.name),
        JobOwner::User => "Your command".to_owned(),
    };
    let mut block = format!("## {mark} {name} ({how}){when}\n\n", how = plain(&how));
    if let Some(child) = &call.child {
        block.extend(["Agent ", &agent(child), "\n\n"]);
    }
    match call.owner {
        JobOwner::Agent => block.push_str(&fenced(&text::visible(&editable(&call.arguments)), "json")),
        JobOwner::User => block.push_str(&fenced(&call.summary, "sh")),
    }
    block.push('\n');
    if let Some(Shown::Diff(diff)) = &call.shown {
        let line = |line: &DiffLine| format!("{}{}\n", line.kind.sign(), text::visible_line(&line.text));
        block.extend([fenced(&diff.lines.iter().map(line).collect::<String>(), "diff"), "\n".to_owned()]);
    }
    block.push_str(&fenced(call.output(), "text"));
    block
}

fn agent(child: &ChildCell) -> String {
    let state = match &child.state {
        ChildState::Ended { message: Some(message), .. } => {
            format!("{}: {}", child.state.label(), text::visible_line(message))
        }
        state @ (ChildState::Running | ChildState::Interrupted | ChildState::Ended { message: None, .. }) => {
            state.label().to_owned()
        }
    };
    format!("{} ({})", plain(&child.name), plain(&state))
}
