//! The status line: the state of the turn, figures and short messages; below it directory, branch, model, context and the
//! approval mode.
//!
//! # Where things are
//!
//! - the turn, its figures, directory and model: `mod.rs`, `view/mod.rs`; tests: `tui_shell.rs`
//! - short messages and how long they stand: `mod.rs`, `src/tui/state.rs`; tests: `commands.rs`, `approval_popups/mod.rs`
//! - the wait before the next attempt, counted down: `view/mod.rs`; tests: `retry_countdown.rs`
//! - the approval mode and the sandbox in a few words: `view/badge.rs`; tests: `modes.rs`

pub mod view;

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};

use crate::state::Cause;
use steersman_base::limits;
use steersman_base::protocol::LocalServer;
use steersman_session::model::agents::AgentNode;

/// The sentence after the first of two Ctrl+C.
const QUITS: &str = "Ctrl+C again quits";

/// Where the answers come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelSource {
    /// The model that is built into the program; the status line says so and how to connect a real one.
    Embedded,
    /// A model that the user configured.
    #[default]
    Configured,
}

/// How far the host is with the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HostState {
    /// The agent is being built; what is typed waits.
    #[default]
    Starting,
    /// The agent takes turns.
    Ready,
    /// The agent could not be built, for this reason (untrusted).
    Failed(String),
    /// The session is shown and takes nothing, for this reason (untrusted).
    ReadOnly(String),
}

/// What the status line needs.
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// The provider and model as configured, until the session says which model it is.
    pub label: String,
    /// Where the answers come from.
    pub source: ModelSource,
    pub host: HostState,
    /// The model server of this machine that one key uses in place of the embedded model.
    pub offer: Option<LocalServer>,
    /// What the user's own command says, in place of directory, branch, model and context (untrusted); empty without one.
    pub own_line: String,
    message: Option<(String, Timestamp)>,
    /// What the message is about, where that can end before its time.
    cause: Option<Cause>,
    /// How many sentences there were.
    count: usize,
    quit_armed: Option<Timestamp>,
    /// Whether the user was told about the Option key.
    pub option_hinted: bool,
    /// When an Esc last closed something, gave something up, or came too soon behind one that did.
    pub escaped: Option<Timestamp>,
}

impl Status {
    /// Makes the status of a program that starts.
    pub fn new(label: impl Into<String>, source: ModelSource) -> Self {
        Self { label: label.into(), source, ..Self::default() }
    }

    /// Returns the name of the model: the one that was chosen, with the one that the server says answers where that is
    /// another; where none was chosen, what the server says.
    pub fn model(&self, main: &AgentNode) -> Cow<'_, str> {
        let named = self.label.split(" · ").next().unwrap_or_default();
        let is_label = |model: &str| self.label.contains(model) || model.contains(named);
        let chosen = main.chosen_model.as_deref();
        let name = match chosen.filter(|chosen| !is_label(chosen)) {
            Some(chosen) => Cow::Owned(chosen.to_owned()),
            None => Cow::Borrowed(self.label.as_str()),
        };
        let is_name = |model: &&str| {
            is_label(model) || chosen.is_some_and(|chosen| chosen.contains(*model) || model.contains(chosen))
        };
        match main.model.as_deref().filter(|model| !is_name(model)) {
            None => name,
            Some(answers) if chosen.is_none() => Cow::Owned(answers.to_owned()),
            Some(answers) => Cow::Owned(format!("{name}, answered by {answers}")),
        }
    }

    /// Takes over another model, and says where it is when that is another kind of server.
    pub fn switched(&mut self, to: Option<&str>, provider: Option<&str>) {
        self.offer = None;
        let model = to.unwrap_or("unknown");
        match provider {
            Some("demo") => self.source = ModelSource::Embedded,
            Some(_) => self.source = ModelSource::Configured,
            None => {}
        }
        self.label = provider.map_or_else(|| model.to_owned(), |provider| format!("{model} · {provider}"));
    }

    /// Shows a sentence for a while.
    pub fn say(&mut self, sentence: impl Into<String>, now: Timestamp) {
        self.say_until(sentence.into(), later(now, limits::MESSAGE_TIME));
    }

    /// Shows a sentence for a while, but not longer than its cause lasts.
    pub fn say_while(&mut self, cause: impl Into<Option<Cause>>, sentence: impl Into<String>, now: Timestamp) {
        self.say(sentence, now);
        self.cause = cause.into();
    }

    pub fn cause(&self) -> Option<&Cause> {
        self.cause.as_ref().filter(|_| self.message.is_some())
    }

    /// Takes the sentence back: what it was about is over.
    pub fn quiet(&mut self) {
        self.message = None;
    }

    /// Returns the sentence that is to be shown now.
    pub fn message(&self, now: Timestamp) -> Option<&str> {
        self.message.as_ref().filter(|(_, until)| now < *until).map(|(text, _)| text.as_str())
    }

    /// Returns the last sentence and how many there were; `None` when there was none, or what it was about is over.
    pub fn last_message(&self) -> Option<(usize, &str)> {
        self.message.as_ref().map(|(text, _)| (self.count, text.as_str()))
    }

    /// Returns when the sentence is to go.
    pub fn message_ends(&self, now: Timestamp) -> Option<Timestamp> {
        self.message.as_ref().map(|(_, until)| *until).filter(|until| now < *until)
    }

    /// Counts a Ctrl+C; true when it is the second within the window.
    pub fn arm_quit(&mut self, now: Timestamp) -> bool {
        let window = SignedDuration::try_from(limits::QUIT_WINDOW).unwrap_or(SignedDuration::ZERO);
        let second = self.quit_armed.is_some_and(|armed| {
            let since = now.duration_since(armed);
            !since.is_negative() && since <= window
        });
        self.quit_armed = Some(now);
        if !second {
            self.say_until(QUITS.to_owned(), later(now, limits::QUIT_WINDOW));
        }
        second
    }

    /// Forgets a Ctrl+C: another key came after it.
    pub fn disarm_quit(&mut self) {
        if self.quit_armed.take().is_some() && self.message.as_ref().is_some_and(|(text, _)| text == QUITS) {
            self.quiet();
        }
    }

    fn say_until(&mut self, text: String, until: Timestamp) {
        self.message = Some((text, until));
        self.cause = None;
        self.count += 1;
    }
}

/// Returns a moment that comes so much later.
pub fn later(now: Timestamp, by: std::time::Duration) -> Timestamp {
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}
