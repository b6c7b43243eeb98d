//! The texts behind a block of a transcript: what a copy takes of it, and all of it for an editor.

use crate::message::Arguments;
use crate::text;
use crate::tui::transcript::cell::{Body, CallCell, Cell};
use crate::tui::transcript::result::Shown;

impl Cell {
    /// Returns the text as it came: the Markdown of an answer, a message as it was typed, the full output of a call.
    pub fn source(&self) -> &str {
        match self.body() {
            Body::User { text, .. }
            | Body::Thinking { text, .. }
            | Body::Assistant { text, .. }
            | Body::Notice { text, .. } => text,
            Body::Call(call) => call.output(),
            Body::Child(child) => &child.task,
            Body::Compaction { head, summary } if summary.is_empty() => head,
            Body::Compaction { summary, .. } => summary,
        }
    }

    /// Returns all of it: of a call also its arguments and the change that it made.
    pub fn whole(&self) -> String {
        match self.body() {
            Body::Call(call) => whole_call(call),
            Body::User { .. }
            | Body::Thinking { .. }
            | Body::Assistant { .. }
            | Body::Notice { .. }
            | Body::Child(_)
            | Body::Compaction { .. } => self.source().to_owned(),
        }
    }

    /// Returns what it is, in a word or two.
    pub fn noun(&self) -> &'static str {
        match self.body() {
            Body::User { .. } => "message",
            Body::Thinking { .. } => "thoughts",
            Body::Assistant { .. } => "answer",
            Body::Call(_) => "output",
            Body::Child(_) => "task",
            Body::Compaction { .. } => "summary",
            Body::Notice { .. } => "notice",
        }
    }
}

fn whole_call(call: &CallCell) -> String {
    let arguments = match &call.arguments {
        Arguments::Object(map) => serde_json::to_string_pretty(map).unwrap_or_default(),
        Arguments::Raw(raw) => raw.clone(),
    };
    let mut whole = format!("{}\n{}\n", call.name, text::visible(&arguments));
    if let Some(Shown::Diff(diff)) = &call.shown {
        whole.push('\n');
        for line in &diff.lines {
            whole.extend([line.kind.sign(), &text::visible_line(&line.text), "\n"]);
        }
    }
    if !call.output().is_empty() {
        whole.extend(["\n", call.output()]);
    }
    whole
}
