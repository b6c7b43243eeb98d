//! Hold and step: which agents are held, and where each waits.
//!
//! Fed by the answers to effects (a gate is closed or open) and by the agents' events (one waits, or goes on). Always
//! holds: a decision names the call that was on the screen when its key was pressed, and can meet no other.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::event::{Envelope, Event};
use crate::id::{AgentId, CallId};
use crate::limits;
use crate::message::{Arguments, ToolCall};
use crate::protocol::PauseState;

/// What is known of every gate.
#[derive(Debug, Default)]
pub struct Holds {
    /// True while the whole tree is held, also who comes later.
    all: bool,
    /// Agents whose gate differs from that.
    gates: HashMap<AgentId, bool>,
    parked: HashMap<AgentId, Place>,
    /// The first row of the shown call's arguments that is shown.
    pub top: usize,
    /// What the last frame has shown.
    drawn: Option<Waiting>,
    /// When Enter last ended a text.
    entered: Option<Timestamp>,
}

/// Where an agent waits.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// Behind the results of a batch, before the next request.
    Boundary,
    /// Before this call (untrusted).
    Call(ToolCall),
}

/// An agent that waits, and where: what a decision is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The agent.
    pub agent: AgentId,
    /// The call before which it waits; `None` at a boundary.
    pub call: Option<CallId>,
}

/// What a frame has shown of the panel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// Who waits where, when the keys about it are on the screen.
    pub waiting: Option<Waiting>,
    /// The first row of the arguments that is shown.
    pub top: usize,
}

impl Place {
    /// Returns the call's id; `None` at a boundary.
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Self::Boundary => None,
            Self::Call(call) => Some(&call.id),
        }
    }
}

impl Holds {
    /// Tells whether an agent's gate is closed: it waits, or will where it next comes by.
    pub fn is_held(&self, agent: &AgentId) -> bool {
        self.gates.get(agent).copied().unwrap_or(self.all)
    }

    /// Returns where an agent waits; `None` while it runs.
    pub fn parked(&self, agent: &AgentId) -> Option<&Place> {
        self.parked.get(agent)
    }

    /// Tells whether any agent waits.
    pub fn any_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Returns who waits where, as a decision names it.
    pub fn waiting(&self, agent: &AgentId) -> Option<Waiting> {
        let place = self.parked(agent)?;
        Some(Waiting { agent: agent.clone(), call: place.call().cloned() })
    }

    /// Notes what a frame has shown.
    pub fn drawn(&mut self, shown: Shown) {
        self.drawn = shown.waiting;
        self.top = shown.top;
    }

    /// Forgets what the last frame has shown: no key is about it any more.
    pub fn hide(&mut self) {
        self.drawn = None;
    }

    /// Tells whether this was on the screen: only then a key can be about it.
    pub fn was_drawn(&self, waiting: &Waiting) -> bool {
        self.drawn.as_ref() == Some(waiting)
    }

    /// Notes that Enter ended a text at this moment.
    pub fn entered(&mut self, at: Timestamp) {
        self.entered = Some(at);
    }

    /// Notes that another key was pressed: an Enter behind it is no echo.
    pub fn other_key(&mut self) {
        self.entered = None;
    }

    /// Tells whether Enter ended a text so shortly before that another one may only be its echo.
    pub fn has_just_entered(&self, at: Timestamp) -> bool {
        let quiet = |entered: Timestamp| entered.checked_add(limits::QUESTION_QUIET).unwrap_or(Timestamp::MAX);
        self.entered.is_some_and(|entered| (entered..quiet(entered)).contains(&at))
    }

    /// Notes that it was decided about an agent: it does not wait any more, though nobody has said so yet.
    pub fn decided(&mut self, agent: &AgentId) {
        self.parked.remove(agent);
    }

    /// Tells whether every agent is held, also who comes later.
    pub fn all_held(&self) -> bool {
        self.all && self.gates.values().all(|held| *held)
    }

    /// Notes that one agent's gate was closed or opened.
    pub fn set(&mut self, agent: &AgentId, state: PauseState) {
        self.gates.insert(agent.clone(), state == PauseState::Paused);
    }

    /// Notes that every gate was closed or opened.
    pub fn set_all(&mut self, state: PauseState) {
        self.all = state == PauseState::Paused;
        self.gates.clear();
    }

    /// Folds one event in.
    pub fn apply(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::Parked { call } => {
                let place = call.clone().map_or(Place::Boundary, Place::Call);
                self.parked.insert(envelope.agent.clone(), place);
                self.top = 0;
            }
            Event::Unparked { .. } | Event::TurnEnded { .. } => {
                self.parked.remove(&envelope.agent);
            }
            Event::AgentFinished { child, .. } => {
                self.parked.remove(child);
                self.gates.remove(child);
            }
            _ => {}
        }
    }

    /// Tells whether what is written is still about the call before which its agent waits.
    pub fn is_current(&self, agent: &AgentId, call: &CallId) -> bool {
        self.parked(agent).and_then(Place::call) == Some(call)
    }
}

/// Writes arguments as the user edits them: JSON with line breaks, or the text that is none.
pub fn editable(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Object(map) => serde_json::to_string_pretty(map).unwrap_or_default(),
        Arguments::Raw(text) => text.clone(),
    }
}

/// Reads edited arguments.
///
/// # Errors
/// One sentence, when the text is no JSON object.
pub fn read_arguments(text: &str) -> Result<Arguments, String> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(map)) => Ok(Arguments::Object(map)),
        Ok(_) => Err("arguments must be a JSON object: { … }".to_owned()),
        Err(error) => Err(format!("invalid JSON: {error}")),
    }
}
