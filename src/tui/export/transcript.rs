//! The transcript of one agent as a page.

use super::markdown::{fenced, plain, tamed};
use crate::message::Arguments;
use crate::text;
use crate::tui::state::cell::{Body, CallCell, CallState, Cell, ChildCell, ChildState, Level, Stage};
use crate::tui::state::told::name_of;
use crate::tui::state::transcript::{Transcript, seconds};

/// Writes all cells of a transcript, folded or not.
pub fn transcript_markdown(transcript: &Transcript) -> String {
    let mut page = format!("# Transcript of {}\n", plain(&name_of(transcript.agent())));
    for cell in transcript.cells() {
        page.push('\n');
        page.push_str(&block(cell));
    }
    page
}

fn block(cell: &Cell) -> String {
    match cell.body() {
        Body::User { text, mid_loop, receipt } => {
            let how = if *mid_loop { " (mid-loop)" } else { "" };
            let receipt = receipt.as_ref().map(|told| format!("{}\n\n", plain(&told.line()))).unwrap_or_default();
            format!("## User{how}\n\n{receipt}{}", tamed(text))
        }
        Body::Thinking { text, stage } => format!("## Thinking{}\n\n{}", cut(*stage), fenced(text, "text")),
        Body::Assistant { text, stage } => format!("## Assistant{}\n\n{}", cut(*stage), tamed(text)),
        Body::Call(tool) => call(tool),
        Body::Child(child) => format!("## Agent {}\n", agent(child)),
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

fn cut(stage: Stage) -> &'static str {
    match stage {
        Stage::Interrupted => " (interrupted)",
        Stage::Live => " (not finished)",
        Stage::Done => "",
    }
}

fn call(call: &CallCell) -> String {
    let (mark, how) = match &call.state {
        CallState::Running { .. } => ("▸", "running".to_owned()),
        CallState::Interrupted { .. } => ("▪", "interrupted".to_owned()),
        CallState::Ended { is_error: true, elapsed_ms, .. } => ("✗", format!("error, {}", seconds(*elapsed_ms))),
        CallState::Ended { is_error: false, elapsed_ms, .. } => ("✓", seconds(*elapsed_ms)),
    };
    let mut block = format!("## {mark} {} ({how})\n\n", plain(&call.name));
    if let Some(child) = &call.child {
        block.extend(["Agent ", &agent(child), "\n\n"]);
    }
    let arguments = match &call.arguments {
        Arguments::Object(map) => serde_json::to_string_pretty(map).unwrap_or_default(),
        Arguments::Raw(raw) => raw.clone(),
    };
    block.push_str(&fenced(&text::visible(&arguments), "json"));
    block.push('\n');
    block.push_str(&fenced(call.output(), "text"));
    block
}

fn agent(child: &ChildCell) -> String {
    let state = match &child.state {
        ChildState::Running => "running".to_owned(),
        ChildState::Interrupted => "interrupted".to_owned(),
        ChildState::Ended { outcome, message } => {
            let outcome = match outcome {
                crate::event::Outcome::Completed => "completed",
                crate::event::Outcome::Synthesized => "completed by its synthesizer",
                crate::event::Outcome::Cancelled => "cancelled",
                crate::event::Outcome::Failed => "failed",
            };
            match message {
                Some(message) => format!("{outcome}: {}", text::visible_line(message)),
                None => outcome.to_owned(),
            }
        }
    };
    format!("{} ({})", plain(&child.name), plain(&state))
}
