//! The sub-agents of a journal that can go on: those that had ended, and those that ran when the program did; and the answers
//! of those in the background that did not reach the main agent.
//!
//! Filled record by record while a session is resumed. Always holds: what has ended is kept within the bounds of a running
//! session; of what runs only its own conversation is in memory.

use std::collections::{BTreeMap, VecDeque};

use steersman_agent::subagent::{FinishedAgent, FinishedAgents};
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::id::AgentId;
use steersman_base::message::{Message, UserAbout};
use steersman_core::control::{AgentNote, ReportCause};

/// Why an agent has no answer that the user stopped.
const CANCELLED: &str = "cancelled by the user";

/// What is known of sub-agents so far.
#[derive(Default)]
pub(super) struct AgentsReducer {
    running: BTreeMap<AgentId, Conversation>,
    finished: FinishedAgents,
    /// Answers that are not in the conversation of the main agent, in the order in which they came.
    answers: VecDeque<AgentNote>,
}

#[derive(Default)]
struct Conversation {
    persona: String,
    task: String,
    messages: Vec<Message>,
    turns: u32,
    is_in_background: bool,
}

impl AgentsReducer {
    /// Takes a change of the conversation of a sub-agent.
    pub(super) fn say(&mut self, agent: &AgentId, replaced: bool, messages: Vec<Message>) {
        let Some(known) = self.running.get_mut(agent) else { return };
        if replaced {
            known.messages.clear();
        }
        known.messages.extend(messages);
    }

    /// Takes new messages of the main agent: an answer that is among them has reached it.
    pub(super) fn main_says(&mut self, messages: &[Message]) {
        for message in messages {
            let Message::User { about: Some(about), .. } = message else { continue };
            if let UserAbout::Agent(report) = &**about
                && let Some(place) = self.answers.iter().position(|note| note.agent == report.agent)
            {
                self.answers.remove(place);
            }
        }
    }

    /// Takes an event.
    pub(super) fn apply(&mut self, envelope: &Envelope) {
        if let Event::AgentSpawned { child, persona, task, .. } = &envelope.event {
            if !child.is_synthesizer() {
                self.begin(child, persona, task);
            }
        } else if let Event::AgentBackgrounded { child } = &envelope.event {
            if let Some(known) = self.running.get_mut(child) {
                known.is_in_background = true;
            }
        } else if let Event::AgentFinished { child, outcome, message } = &envelope.event {
            self.end(child, *outcome, message.as_deref().unwrap_or(CANCELLED));
        } else if let Event::TurnStarted { turn } = &envelope.event {
            if let Some(known) = self.running.get_mut(&envelope.agent) {
                known.turns = known.turns.max(*turn);
            }
        } else if let Event::Reset {} = &envelope.event
            && envelope.agent.is_main()
        {
            *self = Self::default();
        }
    }

    /// Returns those that can go on, and the answers that the main agent is still to get; `why` is why what runs has none. One
    /// that was interrupted is among those that can: its conversation stands in the journal up to the last message, and calls
    /// that were open in it have the result of an interrupted call.
    pub(super) fn resumed(mut self, why: &str) -> (FinishedAgents, Vec<AgentNote>) {
        while let Some(agent) = self.running.keys().next().cloned() {
            self.end(&agent, Outcome::Failed, why);
        }
        (self.finished, self.answers.into())
    }

    fn begin(&mut self, agent: &AgentId, persona: &str, task: &str) {
        let before = self.finished.take_agent(agent);
        let (messages, turns) = before.map(|before| (before.messages, before.turns)).unwrap_or_default();
        let (persona, task) = (persona.to_owned(), task.to_owned());
        self.running.insert(agent.clone(), Conversation { persona, task, messages, turns, is_in_background: false });
    }

    /// Ends an agent; `why` is why it has no answer, where it has none.
    fn end(&mut self, agent: &AgentId, outcome: Outcome, why: &str) {
        let Some(known) = self.running.remove(agent) else { return };
        let Conversation { persona, task, messages, turns, is_in_background } = known;
        if is_in_background {
            let answer = match outcome {
                Outcome::Completed | Outcome::Synthesized => last_answer(&messages),
                Outcome::Cancelled | Outcome::Failed => why.to_owned(),
            };
            let cause = ReportCause::Background { task, elapsed_ms: None };
            let note = AgentNote { agent: agent.clone(), cause, outcome, answer, starts_turn: false };
            self.answers.push_back(note);
        }
        // Without its task there is nothing to go on with.
        if messages.iter().any(|message| matches!(message, Message::User { .. })) {
            self.finished.keep(FinishedAgent::recorded(agent.clone(), persona, messages, turns));
        }
    }
}

/// Returns the last text that an agent wrote.
fn last_answer(messages: &[Message]) -> String {
    let text = |message: &Message| match message {
        Message::Assistant(said) => Some(said.content.clone()),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
    };
    messages.iter().rev().find_map(text).unwrap_or_default()
}
