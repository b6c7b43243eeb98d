//! The screen as lines that are only ever added, for a screen reader or a very plain terminal.
//!
//! The second view of the same state: `src/tui/run/lines/mod.rs` applies messages to the [`App`] and then lets the [`Printer`]
//! look at it; what has changed since the last look comes out as lines. Pure. Always holds: every line is written once and
//! never changed, and what is written does not depend on how often the printer looked.
//!
//! # Where things are
//!
//! - line output for screen readers: what is written, and when: `mod.rs`, `transcript.rs`; tests: `lines.rs`
//! - line output: Markdown read aloud: `speech.rs`, `inline.rs`; tests: `lines_speech.rs`
//! - one entry of a transcript as lines: short when it is first written, whole when it is asked for: `entry.rs`
//! - names of commands in the sentences that name keys: `names.rs`
//! - the lines that are to be written: `page.rs`
//! - the pending texts as lines: `pending.rs`
//! - what is written on demand: `report.rs`

mod asks;
mod echo;
mod entry;
mod inline;
mod names;
mod page;
mod pending;
mod report;
mod speech;
mod transcript;

use jiff::Timestamp;

use crate::agents::view::{longest, tools};
use crate::approval::ShownQuestion;
use crate::pause::PauseDrawn;
use crate::state::{App, Report};
use crate::status::{HostState, ModelSource};
use asks::WrittenQuestion;
use page::{Page, named};
use pending::AnnouncedTexts;
use steersman_base::clock::clock;
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::id::AgentId;
use steersman_base::protocol::{ModelOption, PausePlace};
use steersman_base::summary::count;
use steersman_base::target::name_of;
use steersman_base::text::visible_line;
use steersman_session::model::agents::{Activity, AgentNode, AgentStatus};
use steersman_session::model::{RuleList, WaitingAgent, rule_scope_text};
use transcript::Reading;

pub use asks::rows as question_rows;
pub use echo::Echo;
pub use inline::plain;
pub use speech::Speech;

/// Who shows the line that is being typed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Typing {
    Echoed,
    /// Whole lines come: what commands put into the line is written.
    #[default]
    Whole,
}

/// Turns changes of the state into lines.
#[derive(Debug, Default)]
pub struct Printer {
    typing: Typing,
    /// What was written to be in the line.
    kept: String,
    page: Page,
    reading: Reading,
    known: AnnouncedTexts,
    asked: Option<WrittenQuestion>,
    waiting: Option<WaitingAgent>,
    paused: bool,
    messages: usize,
    models: Vec<ModelOption>,
    rules: RuleList,
    host: HostState,
    /// The name of the model that was written last; empty while nothing needs to be written.
    model: String,
}

impl Printer {
    /// Makes a printer that begins with who it is and how to get help.
    pub fn new(app: &App, typing: Typing) -> Self {
        let mut printer = Self { typing, ..Self::default() };
        printer
            .page
            .say("steersman", "line output: lines are only added, nothing is drawn. Type a message, Enter sends it.");
        printer.page.say("help", "/help reads the commands, /status what is going on, /quit ends.");
        match app.status.source {
            ModelSource::Embedded => printer.page.say("model", "the embedded model answers; /model lists others"),
            ModelSource::Configured => {
                printer.model.clone_from(&app.status.label);
                printer.page.say("model", &app.status.label);
            }
        }
        printer
    }

    /// Looks at the state: writes what is new since the last look.
    pub fn look(&mut self, app: &App) {
        self.host(app);
        self.model(app);
        self.reading.look(app, &mut self.page);
        self.known.look(app, &mut self.page);
        self.rules(app);
        if let Some((count, sentence)) = app.status.last_message()
            && count != self.messages
        {
            self.messages = count;
            self.page.say("notice", &names::with_names(sentence));
        }
        if !app.palette.models.is_empty() && app.palette.models != self.models {
            self.models.clone_from(&app.palette.models);
            let each = self.models.iter().map(|model| match model.details() {
                ui if ui.is_empty() => model.name.clone(),
                details => format!("{} ({details})", model.name),
            });
            let list = each.collect::<Vec<_>>().join(", ");
            self.page.say("models", &format!("{list}; /model NAME uses one"));
        }
        self.question(app);
        self.pause(app);
        self.line(app);
    }

    /// Writes which rules hold that did not, which have changed, and which hold no more.
    fn rules(&mut self, app: &App) {
        let now = &app.ui.run.rules;
        for rule in now.all().iter().filter(|rule| self.rules.get(&rule.id) != Some(*rule)) {
            let id = pending::number(&rule.id);
            self.page.say(&format!("rule {id}"), &format!("holds {}: {}", rule_scope_text(rule), named(&rule.text)));
        }
        for gone in self.rules.all().iter().filter(|rule| now.get(&rule.id).is_none()) {
            self.page.say(&format!("rule {}", pending::number(&gone.id)), "no longer holds");
        }
        if self.rules != *now {
            self.rules.clone_from(now);
        }
    }

    /// Writes what an event says about the run as a whole and about agents that are not read; the state has it already.
    pub fn write_event(&mut self, app: &App, envelope: &Envelope) {
        let is_read = envelope.agent == *app.tree.selected();
        match &envelope.event {
            Event::AgentSpawned { child, task, .. } => {
                let above = if envelope.agent.is_main() { String::new() } else { by_agent(&envelope.agent) };
                self.page.say(&agent(child), &format!("started{above}: {}", named(task)));
            }
            Event::AgentFinished { child, outcome, message } => {
                let figures = app.ui.run.agents.get(child).map(|node| figures(app, node)).unwrap_or_default();
                let end = ending(*outcome, message.as_deref());
                self.page.say(&agent(child), &format!("{end}{figures}"));
            }
            Event::Paused { call } if !is_read => {
                let place = call.as_ref().map_or("the next request".into(), |call| visible_line(&call.name));
                let name = name_of(&envelope.agent);
                self.page.say(&agent(&envelope.agent), &format!("paused before {place}; /agent {name} goes there"));
            }
            Event::Answer { answer, words, .. } => {
                let words = words.as_ref().map(|words| format!(": {words}")).unwrap_or_default();
                self.page.say("answered", &format!("{}{words}", answered(answer)));
            }
            Event::Compacting { messages } => {
                let who = if is_read { String::new() } else { by_agent(&envelope.agent) };
                self.page.say("notice", &format!("{} are being summarised{who}", count(*messages, "older message")));
            }
            Event::Assistant { text, .. } if envelope.agent.is_main() && !is_read => {
                self.page.say(&agent(&envelope.agent), &format!("answers: {}", named(text)));
            }
            Event::TurnEnded { outcome, .. } if envelope.agent.is_main() => {
                let node = app.ui.run.agents.main();
                let how = match outcome {
                    Outcome::Completed => "",
                    Outcome::Synthesized => ", the step limit was reached",
                    Outcome::Cancelled => ", cancelled",
                    Outcome::Failed => ", failed",
                };
                self.page.say("turn ended", &format!("{}{how}", figures(app, node).trim_start_matches(", ")));
            }
            _ => {}
        }
    }

    pub fn report(&mut self, app: &App, report: &Report) {
        match (report, &mut self.asked) {
            (Report::More, Some(asked)) if Some(asked.id()) == app.questions.current_id() => asked.more(&mut self.page),
            (Report::More, _) => self.page.say("notice", "nothing is asked"),
            (Report::Arguments, _) => match app.ui.run.pauses.place(app.tree.selected()) {
                Some(PausePlace::Call(call)) => asks::arguments(call, &mut self.page),
                Some(PausePlace::Boundary) | None => self.page.say("notice", "no call waits here"),
            },
            (other, _) => report::write(app, other, &mut self.page),
        }
    }

    pub fn say(&mut self, word: &str, sentence: &str) {
        self.page.say(word, sentence);
    }

    pub fn has_lines(&self) -> bool {
        !self.page.is_empty()
    }

    pub fn take_lines(&mut self) -> Vec<String> {
        self.page.take_lines()
    }

    /// Returns the question and the place where the read agent waits, as far as they were written.
    pub fn written(&self) -> (Option<ShownQuestion>, PauseDrawn) {
        (self.asked.as_ref().map(WrittenQuestion::seen), PauseDrawn { waiting: self.waiting.clone(), top: 0 })
    }

    /// Returns when something must be written because time passes: a tool runs long.
    pub fn due(&self) -> Option<Timestamp> {
        self.reading.due()
    }

    fn host(&mut self, app: &App) {
        if app.status.host == self.host {
            return;
        }
        self.host = app.status.host.clone();
        if self.host == HostState::Ready && app.ui.run.permissions.mode != steersman_base::mode::Mode::default() {
            self.page.say(
                "mode",
                &format!("{}, {}", app.ui.run.permissions.mode.name(), app.ui.run.permissions.mode.help()),
            );
        }
    }

    /// Writes which model answers, where only its server was known.
    fn model(&mut self, app: &App) {
        let model = app.status.model(app.ui.run.agents.main());
        if self.model.is_empty() || self.model == model {
            return;
        }
        // A switch is written by the transcript.
        if model != app.status.label {
            self.page.say("model", &model);
        }
        self.model = model.into_owned();
    }

    fn question(&mut self, app: &App) {
        let current = app.questions.current_id();
        if current == self.asked.as_ref().map(WrittenQuestion::id) {
            return;
        }
        let written = current.zip(app.questions.current());
        self.asked = written.map(|(id, question)| WrittenQuestion::write(app, id, question, &mut self.page));
    }

    /// Writes what is in the line where nobody else shows it.
    fn line(&mut self, app: &App) {
        if self.typing == Typing::Echoed {
            return;
        }
        let text = app.message.text();
        if text == self.kept {
            return;
        }
        if !text.is_empty() {
            self.page.text("in the line", &text, usize::MAX, "");
            let then = if app.message.editing().is_some() { "the next line replaces it, " } else { "" };
            self.page.say("notice", &format!("{then}an empty line sends it as it is, /drop drops it"));
        }
        self.kept = text;
    }

    fn pause(&mut self, app: &App) {
        let agent = app.tree.selected();
        let paused = app.ui.run.is_paused(agent);
        let waiting = app.ui.run.pauses.waiting(agent);
        if paused != self.paused && (waiting.is_none() || !paused) {
            let name = name_of(agent);
            let sentence = if paused {
                format!("{name} waits before its next call or request")
            } else {
                format!("{name} goes on by itself")
            };
            self.page.say(if paused { "paused" } else { "notice" }, &sentence);
        }
        self.paused = paused;
        if waiting != self.waiting {
            if let Some(waiting) = &waiting {
                asks::paused(app, waiting, &mut self.page);
            }
            self.waiting = waiting;
        }
    }
}

/// Returns the word at the margin for an agent.
fn agent(id: &AgentId) -> String {
    format!("agent {}", name_of(id))
}

fn by_agent(id: &AgentId) -> String {
    format!(" by {}", name_of(id))
}

fn ending(outcome: Outcome, message: Option<&str>) -> String {
    let why = message.map(|message| format!(": {}", named(message))).unwrap_or_default();
    match outcome {
        Outcome::Completed => "finished".to_owned(),
        Outcome::Synthesized => "finished, its step limit was reached".to_owned(),
        Outcome::Cancelled => "cancelled".to_owned(),
        Outcome::Failed => format!("failed{why}"),
    }
}

/// Returns the calls and the time of an agent's turn, and its tokens.
fn figures(app: &App, node: &AgentNode) -> String {
    let calls = count(node.steps as usize, "tool call");
    let time = node.elapsed(app.ui.now).map(|seconds| format!(", {}", duration(seconds))).unwrap_or_default();
    format!(", {calls}{time}")
}

/// Writes seconds as they are read aloud.
fn duration(seconds: u64) -> String {
    if seconds < 60 { format!("{seconds} s") } else { format!("{} minutes", clock(seconds)) }
}

fn state_text(node: &AgentNode, now: Timestamp) -> String {
    match (node.status(), &node.activity) {
        (AgentStatus::Tools, _) => {
            let time = duration(longest(&node.open, now));
            format!("in {} for {time}", visible_line(&tools(&node.open)))
        }
        (AgentStatus::Retrying, Activity::Retrying { attempt, .. }) => format!("waits to try again, attempt {attempt}"),
        (AgentStatus::Awaiting, _) => "waits for its sub-agents".to_owned(),
        (AgentStatus::Waiting, _) => "waits for the model".to_owned(),
        (state, _) => state.word().to_owned(),
    }
}

/// Returns so many entries in words.
fn entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

fn answered(answer: &str) -> &str {
    match answer {
        "yes" => "approved once",
        "session" => "approved for this session",
        "always" => "approved, and the rule is kept",
        "no" => "declined",
        "allowed" => "allowed meanwhile, no answer is needed",
        "denied" => "refused meanwhile",
        "withdrawn" => "withdrawn, nobody answered",
        other => other,
    }
}
