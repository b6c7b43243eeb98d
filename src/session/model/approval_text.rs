//! What a tool wants to do, in the words of a question.
//!
//! Always holds: what a question shows is made of the very value that runs, every part of it, and nothing else.

use std::time::Duration;

use steersman_base::clock::clock;
use steersman_base::error::spell;
use steersman_base::limits;
use steersman_base::plan::PlanStep;
use steersman_base::protocol::{
    AnswerOption, ApprovalRequest, ApprovalSubject, CloneOperation, CommandOperation, Content, CustomOperation,
    FetchOperation, InputOperation, Operation, SearchOperation, ServerToolOperation, UseOperation, WriteOperation,
    form_lines,
};
use steersman_base::text::visible_line;

/// Most characters that are named one by one.
const NAMED: usize = 8;

/// Most characters of an option's label that is shown whole beside its number.
const SHORT_LABEL: usize = 24;
/// Most lines of a text whose size is not told.
const USUAL_LINES: usize = 3;
/// Most characters of such a text.
const USUAL_CHARACTERS: usize = 200;
/// Most bytes of a file whose size is not told beside its change.
const USUAL_FILE: usize = 64 * 1024;
/// How long a command may run unless it is given another time.
const USUAL_TIME: Duration = limits::COMMAND_TIME;

/// One part of what a question tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DetailPart {
    /// Words of the program, or of the user.
    Text(String),
    /// A sentence of the program about what stands below it.
    Note(String),
    /// A label of the program with what it says (untrusted).
    Fact(&'static str, String),
    /// A text in which every character counts (untrusted).
    Exact(String),
    /// A unified diff (untrusted).
    Diff(String),
}

/// Returns everything that there is to know before an answer.
pub fn approval_parts(request: &ApprovalRequest) -> Vec<DetailPart> {
    let mut parts = Vec::new();
    match &request.subject {
        ApprovalSubject::Operation { operation } => act_parts(operation, &mut parts),
        ApprovalSubject::Plain { detail, .. } => parts.push(DetailPart::Exact(detail.clone())),
        ApprovalSubject::Form { server, message, fields } => {
            parts.push(DetailPart::Fact("server", server.clone()));
            parts.push(DetailPart::Exact(message.clone()));
            parts.push(DetailPart::Note("it asks for:".to_owned()));
            parts.push(DetailPart::Exact(form_lines(fields)));
            parts.push(DetailPart::Note("Give no password, key or other secret here.".to_owned()));
        }
        ApprovalSubject::Plan { plan } => {
            let step = |step: &PlanStep| format!("{} {} {}", step.state.mark(), step.id, step.text);
            parts.extend(plan.steps.iter().map(|of| DetailPart::Exact(visible_line(&step(of)).into_owned())));
        }
        ApprovalSubject::MoreCalls { .. } => {}
        ApprovalSubject::AgentQuestion { question } => {
            parts.push(DetailPart::Exact(question.text.clone()));
            let is_told =
                |option: &AnswerOption| option.description.is_empty() && option.label.chars().count() <= SHORT_LABEL;
            if !question.options.iter().all(is_told) {
                let option = |(number, option): (usize, &AnswerOption)| {
                    DetailPart::Exact(format!(
                        "{number} {}: {}",
                        visible_line(&option.label),
                        visible_line(&option.description)
                    ))
                };
                parts.extend((1..).zip(&question.options).map(option));
            }
            if let (Some(default), Some(seconds)) = (&question.default, question.default_after) {
                parts.push(DetailPart::Fact(
                    "default",
                    format!("{default}, after {}", spell(seconds.saturating_mul(1000))),
                ));
            } else if let Some(default) = &question.default {
                parts.push(DetailPart::Fact("default", default.clone()));
            }
        }
    }
    if !request.why.is_empty() {
        parts.push(DetailPart::Fact("asked", request.why.clone()));
    }
    if let Some(session) = &request.session {
        parts.push(DetailPart::Fact("session", session.clone()));
    }
    if let Some(rule) = &request.rule {
        let scope = format!("{} in this project, also in later sessions", rule.pattern);
        parts.push(DetailPart::Fact("always", scope));
    }
    parts
}

fn act_parts(operation: &Operation, parts: &mut Vec<DetailPart>) {
    match operation {
        Operation::Command(operation @ CommandOperation { command, cwd, timeout, outside }) => {
            exact(command, parts);
            parts.push(DetailPart::Fact("in", cwd.to_string_lossy().into_owned()));
            if *outside {
                parts.push(DetailPart::Fact(
                    "sandbox",
                    "none: git runs as you, without a shell, its hooks, its pager and its editor".to_owned(),
                ));
            }
            if operation.is_in_background() {
                parts.push(DetailPart::Fact("runs", "in the background, until it ends or is stopped".to_owned()));
            } else if *timeout != USUAL_TIME {
                parts.push(DetailPart::Fact("at most", clock(timeout.as_secs())));
            }
        }
        Operation::Write(WriteOperation { tool: _, path: _, shown, before, after, diff }) => {
            let (before, after) = (before.as_ref().map(Content::size), after.size());
            let size = match before {
                None => format!("new, {after} bytes"),
                Some(before) => format!("{before} → {after} bytes"),
            };
            parts.push(DetailPart::Fact("file", shown.clone()));
            parts.extend(foreign(shown));
            if diff.is_empty() || after.max(before.unwrap_or(0)) > USUAL_FILE {
                parts.push(DetailPart::Fact("size", size));
            }
            if diff.is_empty() {
                parts.push(DetailPart::Note("the change cannot be shown as text".to_owned()));
            } else {
                parts.push(DetailPart::Diff(diff.clone()));
            }
        }
        // Both tools get the address.
        Operation::Fetch(FetchOperation { tool: _, url }) => exact(url, parts),
        Operation::Search(SearchOperation { query, services }) => {
            parts.push(DetailPart::Exact(query.clone()));
            parts.push(DetailPart::Fact("goes to", services.join(", ")));
        }
        Operation::Clone(CloneOperation { url, into }) => {
            exact(url, parts);
            parts.push(DetailPart::Fact("into", into.to_string_lossy().into_owned()));
        }
        Operation::Use(UseOperation { tool, path: _, shown }) => {
            parts.push(DetailPart::Fact("tool", tool.clone().into_owned()));
            exact(shown, parts);
        }
        Operation::Input(InputOperation { job, command, text }) => {
            parts.push(DetailPart::Fact("job", job.to_string()));
            parts.push(DetailPart::Fact("command", command.clone()));
            exact(text, parts);
        }
        Operation::Custom(CustomOperation { tool, action, detail, sends }) => {
            parts.push(DetailPart::Fact("tool", tool.clone()));
            parts.push(DetailPart::Fact("does", action.clone()));
            exact(detail, parts);
            parts.extend(keeps_here(*sends));
        }
        Operation::ServerTool(ServerToolOperation { server, reached, tool, arguments, hints, sends }) => {
            parts.push(DetailPart::Fact("server", server.clone()));
            parts.push(DetailPart::Fact("reached by", reached.clone()));
            parts.push(DetailPart::Fact("tool", tool.clone()));
            parts.extend(foreign(tool));
            exact(arguments, parts);
            if !hints.is_empty() {
                let said = format!("{} (nobody has checked that)", hints.join(", "));
                parts.push(DetailPart::Fact("says it", said));
            }
            parts.extend(keeps_here(*sends));
        }
    }
}

/// Says of an operation for which that is configured that it sends nothing.
fn keeps_here(sends: bool) -> Option<DetailPart> {
    (!sends).then(|| DetailPart::Fact("sends", "nothing out of this machine, as it is configured".to_owned()))
}

/// Tells a text whole, with its size before it when that is unusual, and its letters that are none of ASCII behind it.
fn exact(text: &str, parts: &mut Vec<DetailPart>) {
    if text.split('\n').count() > USUAL_LINES || text.chars().count() > USUAL_CHARACTERS {
        parts.push(DetailPart::Note(size(text)));
    }
    parts.push(DetailPart::Exact(text.to_owned()));
    parts.extend(foreign(text));
}

/// Returns how much a text is: `3 lines, 812 characters`.
pub fn size(text: &str) -> String {
    let count = |number: usize, noun: &str| {
        if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
    };
    format!("{}, {}", count(text.split('\n').count(), "line"), count(text.chars().count(), "character"))
}

/// Names the characters that are not ASCII: some look like others.
fn foreign(text: &str) -> Option<DetailPart> {
    let mut named = Vec::new();
    let mut count = 0;
    for c in text.chars().filter(|c| !c.is_ascii()) {
        count += 1;
        let name = format!("{c} (U+{:04X})", u32::from(c));
        if named.len() < NAMED && !named.contains(&name) {
            named.push(name);
        }
    }
    (count > 0).then(|| DetailPart::Fact("not ASCII", format!("{count}: {}", named.join(" "))))
}
