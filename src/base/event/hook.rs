//! What a hook did: a command that the user, or a project that the user trusts, has put at a point of the loop.
//!
//! Emitted by the agent whose loop came to that point. The words are untrusted: a program wrote them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::CallId;
use crate::limits;
use crate::summary;
use crate::text::{clip, visible_line};

/// A point of the loop at which hooks run, by its name in the files of Claude Code and codex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HookEvent {
    /// A conversation begins, is resumed, emptied or compacted.
    SessionStart,
    /// A text of the user is about to enter the conversation.
    UserPromptSubmit,
    /// A tool is about to run.
    PreToolUse,
    /// A call waits for a yes of the user.
    PermissionRequest,
    /// The user is asked something.
    Notification,
    /// A tool ended without an error.
    PostToolUse,
    /// A tool failed.
    PostToolUseFailure,
    /// Older rounds are about to be summarised.
    PreCompact,
    /// A sub-agent begins.
    SubagentStart,
    /// A sub-agent has its answer.
    SubagentStop,
    /// The main agent has its answer.
    Stop,
    /// A conversation ends.
    SessionEnd,
}

impl HookEvent {
    /// All of them, in the order of a run.
    pub const ALL: [Self; 12] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::Notification,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::PreCompact,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::Stop,
        Self::SessionEnd,
    ];

    /// Returns its name in the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::Notification => "Notification",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PreCompact => "PreCompact",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::Stop => "Stop",
            Self::SessionEnd => "SessionEnd",
        }
    }

    /// Tells whether it is about a call of a tool.
    pub fn is_about_call(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest | Self::PostToolUse | Self::PostToolUseFailure)
    }

    /// Tells whether a hook there can forbid what comes next, or say something against what came.
    pub fn can_forbid(self) -> bool {
        !matches!(self, Self::SessionStart | Self::Notification | Self::SubagentStart | Self::SessionEnd)
    }

    /// Returns the point of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The outcome of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookOutcome {
    /// Nobody waits for it: it runs beside the agent, and what comes of it is reported later.
    Started,
    /// It ended well, with or without words for the model.
    Done,
    /// It allows the call.
    Allowed,
    /// It wants the user to be asked about the call.
    Asked,
    /// It forbids what was about to happen.
    Blocked,
    /// It failed, or its output was none; nothing came of it.
    Failed,
    /// It took too long and was ended; nothing came of it.
    TimedOut,
    /// It did not run: it is no longer what was trusted.
    Changed,
}

impl HookOutcome {
    /// Returns whether nothing came of the hook.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Failed | Self::TimedOut | Self::Changed => true,
            Self::Started | Self::Done | Self::Allowed | Self::Asked | Self::Blocked => false,
        }
    }

    /// Returns it in a word or two.
    pub fn label(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Done => "done",
            Self::Allowed => "allows it",
            Self::Asked => "asks",
            Self::Blocked => "forbids it",
            Self::Failed => "failed",
            Self::TimedOut => "took too long",
            Self::Changed => "not run",
        }
    }
}

/// One run of a hook, or the beginning of one in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookRun {
    /// The point of the loop.
    pub hook: HookEvent,
    /// The command.
    pub command: String,
    /// The call that it is about; null where it is about none.
    pub call: Option<CallId>,
    /// What came of it.
    pub outcome: HookOutcome,
    /// What it said, for the model or the user; null without words.
    pub words: Option<String>,
    /// How long it ran, milliseconds.
    pub elapsed_ms: u64,
}

impl HookRun {
    /// Tells whether it let everything go its way and said nothing, or has only begun: transcripts do not show it.
    pub fn is_silent(&self) -> bool {
        self.is_start() || (self.outcome == HookOutcome::Done && self.words.is_none())
    }

    /// Tells whether it is the beginning of one in the background.
    pub fn is_start(&self) -> bool {
        self.outcome == HookOutcome::Started
    }

    /// Returns it in one line, made safe to show.
    pub fn line(&self) -> String {
        let Self { hook, command, outcome, words, elapsed_ms, call: _ } = self;
        let shown = |text: &str| clip(&visible_line(text.trim()), limits::HOOK_LINE_COLUMNS).into_owned();
        let words = words.as_ref().map(|words| format!(": {}", shown(words))).unwrap_or_default();
        let command = shown(command);
        format!("hook {hook} · {command} · {} · {}{words}", outcome.label(), summary::seconds(*elapsed_ms))
    }
}
