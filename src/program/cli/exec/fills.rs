//! Texts that call a custom command or a skill, in the prompt, in lines and in requests: filled in before they are sent, as on
//! the screen.
//!
//! Called by `steering` and `input`. Always holds: what waits for its shell lines is sent, refused with its reason, or listed
//! as unsent; a text that calls nothing goes out as it is.

use std::collections::VecDeque;

use serde_json::Value;

use super::prompt::Prompt;
use super::steering::{ExecRun, start_of};
use crate::program::cli::exit::Exit;
use steersman_base::event::UserText;
use steersman_base::id::AgentId;
use steersman_base::protocol::{PromptTemplate, Request, ScriptText};

/// What is to be sent once the session has run its shell lines.
#[derive(Debug)]
pub(super) enum FilledText {
    Prompt(Prompt),
    /// A line, for the main agent.
    Line(UserText),
    /// A request with its `id`.
    Request(Value, AgentId, UserText),
}

impl FilledText {
    fn call(&self) -> &str {
        match self {
            Self::Prompt(prompt) => &prompt.text,
            Self::Line(message) | Self::Request(_, _, message) => &message.text,
        }
    }
}

/// The commands of a run, and the texts that wait for the shell lines in them.
#[derive(Debug, Default)]
pub(super) struct Fills {
    pub templates: Vec<PromptTemplate>,
    /// Whether the session can fill in.
    is_ready: bool,
    waiting: VecDeque<FilledText>,
}

/// What is sent for a text.
pub(super) enum Expanded {
    /// It calls nothing; this is the text.
    Text(String),
    /// What the command that it calls says.
    Filled(String),
    /// It calls a command with shell lines.
    WithCommands,
}

impl Fills {
    /// Returns what is sent for a text.
    pub(super) fn expand(&self, text: &str) -> Expanded {
        match PromptTemplate::script_text(&self.templates, text) {
            ScriptText::Text(text) => Expanded::Text(text.to_owned()),
            ScriptText::Command(template, _) if template.has_commands() => Expanded::WithCommands,
            ScriptText::Command(template, words) => Expanded::Filled(template.fill(words)),
        }
    }

    /// Returns whether a text calls something.
    pub(super) fn calls(&self, text: &str) -> bool {
        matches!(PromptTemplate::script_text(&self.templates, text), ScriptText::Command(..))
    }
}

impl ExecRun<'_> {
    /// Lets the session fill a text in, once it can; the text is sent then.
    pub(super) fn fill_in(&mut self, text: FilledText) {
        self.unanswered += 1;
        if self.fills.is_ready {
            self.client.send(Request::Fill { call: text.call().to_owned() });
        }
        self.fills.waiting.push_back(text);
    }

    /// Lets the session fill in what waited for it.
    pub(super) fn can_fill_in(&mut self) {
        self.fills.is_ready = true;
        for text in &self.fills.waiting {
            self.client.send(Request::Fill { call: text.call().to_owned() });
        }
    }

    /// Sends a text that was filled in, or says why it is not.
    pub(super) fn filled_in(&mut self, call: &str, outcome: &Result<String, String>) {
        let Some(place) = self.fills.waiting.iter().position(|text| text.call() == call) else { return };
        let Some(waited) = self.fills.waiting.remove(place) else { return };
        match (waited, outcome) {
            // Each of these has its own reply, which is waited for in place of this one.
            (FilledText::Prompt(prompt), Ok(text)) => self.send_prompt(Prompt { text: text.clone(), ..prompt }),
            (FilledText::Line(message), Ok(text)) => {
                let message = UserText { text: text.clone(), ..message };
                self.client.send(Request::Inject { to: AgentId::main(), message });
            }
            (FilledText::Request(id, to, message), Ok(text)) => {
                self.unanswered = self.unanswered.saturating_sub(1);
                let message = UserText { text: text.clone(), ..message };
                let reply = self.carry_out(id, Request::Inject { to, message });
                self.reply(&reply);
            }
            (FilledText::Prompt(prompt), Err(why)) => {
                self.unanswered = self.unanswered.saturating_sub(1);
                let sentence = format!("{}: {why}", start_of(&prompt.text));
                self.err.say(&sentence);
                self.reason = Some(sentence);
                self.keep(UserText::from(prompt.text));
                self.stop(Exit::Failed);
            }
            (FilledText::Line(message), Err(why)) => {
                self.unanswered = self.unanswered.saturating_sub(1);
                self.refuse(why, &message.text);
            }
            (FilledText::Request(id, ..), Err(why)) => {
                self.unanswered = self.unanswered.saturating_sub(1);
                self.refuse_request(id, why.clone());
            }
        }
    }

    /// Keeps what waits for its shell lines: nothing is sent any more.
    pub(super) fn keep_unfilled(&mut self) {
        for text in std::mem::take(&mut self.fills.waiting) {
            self.unanswered = self.unanswered.saturating_sub(1);
            match text {
                FilledText::Prompt(prompt) => self.keep(UserText::from(prompt.text)),
                FilledText::Line(message) => self.keep(message),
                FilledText::Request(id, _, message) => {
                    self.refuse_request(id, "the run has ended".to_owned());
                    self.keep(message);
                }
            }
        }
    }
}
