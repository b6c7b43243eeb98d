//! The sub-agents of a journal that can go on: those that had ended, and those that ran when the program did.
//!
//! Filled record by record while a session is resumed. Always holds: what has ended is kept within the bounds of a running
//! session; of what runs only its own conversation is in memory.

use std::collections::BTreeMap;

use steersman_agent::subagent::{FinishedAgent, FinishedAgents};
use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::message::Message;

/// What is known of sub-agents so far.
#[derive(Default)]
pub(super) struct AgentsReducer {
    running: BTreeMap<AgentId, Conversation>,
    finished: FinishedAgents,
}

#[derive(Default)]
struct Conversation {
    persona: String,
    messages: Vec<Message>,
    turns: u32,
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

    /// Takes an event.
    pub(super) fn apply(&mut self, envelope: &Envelope) {
        if let Event::AgentSpawned { child, persona, .. } = &envelope.event {
            if !child.is_synthesizer() {
                self.begin(child, persona);
            }
        } else if let Event::AgentFinished { child, .. } = &envelope.event {
            self.end(child);
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

    /// Returns those that can go on. One that was interrupted is among them: its conversation stands in the journal up to the
    /// last message, and calls that were open in it have the result of an interrupted call.
    pub(super) fn resumed(mut self) -> FinishedAgents {
        while let Some(agent) = self.running.keys().next().cloned() {
            self.end(&agent);
        }
        self.finished
    }

    fn begin(&mut self, agent: &AgentId, persona: &str) {
        let before = self.finished.take_agent(agent);
        let (messages, turns) = before.map(|before| (before.messages, before.turns)).unwrap_or_default();
        self.running.insert(agent.clone(), Conversation { persona: persona.to_owned(), messages, turns });
    }

    fn end(&mut self, agent: &AgentId) {
        // Without its task there is nothing to go on with.
        let has_task = |messages: &[Message]| messages.iter().any(|message| matches!(message, Message::User { .. }));
        if let Some(Conversation { persona, messages, turns }) = self.running.remove(agent)
            && has_task(&messages)
        {
            self.finished.keep(FinishedAgent::recorded(agent.clone(), persona, messages, turns));
        }
    }
}
