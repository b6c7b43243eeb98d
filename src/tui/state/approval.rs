//! What tools want to do and wait for leave for, in the screen's own words, and how a question tells it.
//!
//! `run` puts the host's requests into these; `update` makes questions of them. Always holds: what a question shows is
//! made of the very value that runs, every part of it, and nothing else.

use std::borrow::Cow;
use std::time::Duration;

use super::clock::clock;
use super::composer::Composer;
use crate::id::{AgentId, CallId};
use crate::limits;
use crate::summary::calls_made;

/// Most characters that are named one by one.
const NAMED: usize = 8;

/// Most lines of a text whose size is not told.
const USUAL_LINES: usize = 3;
/// Most characters of such a text.
const USUAL_CHARACTERS: usize = 200;
/// Most bytes of a file whose size is not told beside its change.
const USUAL_FILE: usize = 64 * 1024;
/// How long a command may run unless it is given another time.
const USUAL_TIME: Duration = limits::COMMAND_TIME;

/// Names one open approval of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApprovalId(pub u64);

/// Is one act that waits for leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Names it.
    pub id: ApprovalId,
    /// Who wants it; none when the program itself asks.
    pub agent: Option<AgentId>,
    /// The call that waits; none when it is no call.
    pub call: Option<CallId>,
    /// What exactly would happen.
    pub wanted: Wanted,
    /// Why it is asked although the mode might allow it; empty when that is plain.
    pub why: String,
    /// What an answer for the session would cover; none is taken without.
    pub session: Option<String>,
    /// The pattern of the rule that an answer for good would keep; none is taken without.
    pub rule: Option<String>,
}

/// Says what exactly would happen (untrusted).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// A shell command runs.
    Command {
        /// Exactly what the shell gets.
        command: String,
        /// Where.
        cwd: String,
        /// How long at most.
        timeout: Duration,
    },
    /// A file is created or changed.
    Write {
        /// The file.
        path: String,
        /// Bytes that it holds; none when there is no file.
        before: Option<usize>,
        /// Bytes that it is to hold.
        after: usize,
        /// The change as a unified diff.
        diff: String,
    },
    /// An address is asked.
    Page {
        /// The whole address.
        url: String,
    },
    /// A query goes to search services.
    Search {
        /// The words.
        query: String,
        /// Who may get them.
        services: Vec<String>,
    },
    /// A repository is copied.
    Clone {
        /// Its address.
        url: String,
        /// Where it goes.
        into: String,
    },
    /// A tool reads something, or is used at all.
    Use {
        /// The tool.
        tool: &'static str,
        /// The path, or the words that the tool gets.
        what: String,
    },
    /// The turn has made all its tool calls and would make more.
    MoreCalls {
        /// The calls that it made.
        made: u32,
        /// The calls that a yes allows.
        more: u32,
    },
    /// Something of the program itself.
    Plain {
        /// What is asked.
        title: String,
        /// What exactly would happen.
        detail: String,
    },
}

/// Says what the user decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Yes, this once.
    Once,
    /// Yes, and what was offered for the rest of the session.
    Session,
    /// Yes, and the rule that was offered is kept for later sessions.
    Always,
    /// No, with words for the model or without.
    No(Option<String>),
}

/// What is done about the kept rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleAct {
    /// They are listed.
    List,
    /// The rule of this number is removed, counted from 1.
    Remove(usize),
}

/// Is a no whose words are being written.
#[derive(Debug)]
pub struct Declining {
    /// What is declined.
    pub id: ApprovalId,
    /// The composer as it was, with its undo history.
    pub draft: Composer,
}

/// Is one part of what a question tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
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

impl Approval {
    /// Returns the question, in one line; nothing in it comes from a tool or a model.
    pub fn title(&self) -> Cow<'_, str> {
        Cow::Borrowed(match &self.wanted {
            Wanted::Command { .. } => "Run this command?",
            Wanted::Write { before: None, .. } => "Create this file?",
            Wanted::Write { before: Some(_), .. } => "Change this file?",
            Wanted::Page { .. } => "Get this address?",
            Wanted::Search { .. } => "Search the web for this?",
            Wanted::Clone { .. } => "Clone this repository?",
            Wanted::Use { .. } => "Use this tool?",
            Wanted::MoreCalls { made, more } => {
                return format!("{}: go on for {more} more, or answer from what was found?", calls_made(*made)).into();
            }
            Wanted::Plain { title, .. } => title,
        })
    }

    /// Returns everything that there is to know before an answer.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        match &self.wanted {
            Wanted::Command { command, cwd, timeout } => {
                exact(command, &mut parts);
                parts.push(Part::Fact("in", cwd.clone()));
                if *timeout != USUAL_TIME {
                    parts.push(Part::Fact("at most", clock(timeout.as_secs())));
                }
            }
            Wanted::Write { path, before, after, diff } => {
                let size = match before {
                    None => format!("new, {after} bytes"),
                    Some(before) => format!("{before} → {after} bytes"),
                };
                parts.push(Part::Fact("file", path.clone()));
                parts.extend(foreign(path));
                if diff.is_empty() || (*after).max(before.unwrap_or(0)) > USUAL_FILE {
                    parts.push(Part::Fact("size", size));
                }
                if diff.is_empty() {
                    parts.push(Part::Note("the change cannot be shown as text".to_owned()));
                } else {
                    parts.push(Part::Diff(diff.clone()));
                }
            }
            Wanted::Page { url } => exact(url, &mut parts),
            Wanted::Search { query, services } => {
                parts.push(Part::Exact(query.clone()));
                parts.push(Part::Fact("goes to", services.join(", ")));
            }
            Wanted::Clone { url, into } => {
                exact(url, &mut parts);
                parts.push(Part::Fact("into", into.clone()));
            }
            Wanted::Use { tool, what } => {
                parts.push(Part::Fact("tool", (*tool).to_owned()));
                exact(what, &mut parts);
            }
            Wanted::MoreCalls { .. } => {}
            Wanted::Plain { detail, .. } => parts.push(Part::Exact(detail.clone())),
        }
        if !self.why.is_empty() {
            parts.push(Part::Fact("asked", self.why.clone()));
        }
        if let Some(session) = &self.session {
            parts.push(Part::Fact("session", session.clone()));
        }
        if let Some(rule) = &self.rule {
            parts.push(Part::Fact("always", format!("{rule} in this project, also in later sessions")));
        }
        parts
    }
}

/// Tells a text whole, with its size before it when that is unusual, and its letters that are none of ASCII behind it.
fn exact(text: &str, parts: &mut Vec<Part>) {
    if text.split('\n').count() > USUAL_LINES || text.chars().count() > USUAL_CHARACTERS {
        parts.push(Part::Note(size(text)));
    }
    parts.push(Part::Exact(text.to_owned()));
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
fn foreign(text: &str) -> Option<Part> {
    let mut named = Vec::new();
    let mut count = 0;
    for c in text.chars().filter(|c| !c.is_ascii()) {
        count += 1;
        let name = format!("{c} (U+{:04X})", u32::from(c));
        if named.len() < NAMED && !named.contains(&name) {
            named.push(name);
        }
    }
    (count > 0).then(|| Part::Fact("not ASCII", format!("{count}: {}", named.join(" "))))
}
