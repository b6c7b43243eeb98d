//! The texts behind a block of a transcript: what a copy takes of it, and all of it for an editor.

use crate::pause::editable;
use crate::transcript::cell::{Body, CallCell, Cell, ChildState};
use crate::transcript::result::Shown;
use steersman_base::event::JobOwner;
use steersman_base::text;

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
        self.body().call().map_or_else(|| self.source().to_owned(), whole_call)
    }

    /// Calls for every text of it that is not the program's own: a row that shows it shows nothing else but words of the
    /// program.
    pub fn texts(&self, each: &mut impl FnMut(&str)) {
        match self.body() {
            Body::User { text, receipt, .. } => {
                each(text);
                receipt.iter().flat_map(|receipt| &receipt.parts).for_each(|part| each(part));
            }
            Body::Compaction { head, summary } => {
                each(head);
                each(summary);
            }
            Body::Call(call) => {
                each(&call.name);
                each(&call.summary);
                each(&editable(&call.arguments));
                each(call.output());
                if let Some(shown) = &call.shown {
                    each(shown.summary());
                }
                match &call.shown {
                    Some(Shown::Diff(diff)) => diff.lines.iter().for_each(|line| each(&line.text)),
                    Some(Shown::Command { saved, .. }) => saved.iter().for_each(|path| each(path)),
                    Some(Shown::Page(_) | Shown::Images { .. }) | None => {}
                }
                call.asked.iter().filter_map(|asked| asked.answer.as_ref()).for_each(|answer| each(&answer.words));
            }
            Body::Child(_) | Body::Thinking { .. } | Body::Assistant { .. } | Body::Notice { .. } => {
                each(self.source());
            }
        }
        if let Some(child) = self.body().child() {
            each(&child.name);
            each(&child.task);
            if let ChildState::Ended { message: Some(message), .. } = &child.state {
                each(message);
            }
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
    let mut whole = match call.owner {
        JobOwner::Agent => format!("{}\n{}\n", call.name, text::visible(&editable(&call.arguments))),
        JobOwner::User => format!("{} {}\n", call.name, call.summary),
    };
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
