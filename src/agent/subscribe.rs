//! Truffle's surface (D18): `agent.on(kind, f)` and `agent.on_any(f)` beside listeners.
//!
//! For an event the functions of its kind run first, then the ones for any kind, each in the order of subscription.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::agent::Agent;
use crate::error::BuildError;
use crate::event::{Envelope, Event};
use crate::listener::Listener;

/// Names the seven events of Truffle's agent, and what carries them here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// `agent_start`: [`Event::TurnStarted`]; the input follows as [`Event::UserTurn`].
    AgentStart,
    /// `turn_start`: [`Event::RoundStarted`].
    TurnStart,
    /// `message`: [`Event::Assistant`] for the text and [`Event::Tokens`] for the usage.
    Message,
    /// `tool_call`: [`Event::ToolCall`].
    ToolCall,
    /// `tool_result`: [`Event::ToolResult`].
    ToolResult,
    /// `turn_end`: [`Event::RoundEnded`].
    TurnEnd,
    /// `agent_end`: [`Event::TurnEnded`], also when the turn failed or was cancelled (D13).
    AgentEnd,
}

impl EventKind {
    /// All kinds, in the order of a run.
    pub const ALL: [Self; 7] = [
        Self::AgentStart,
        Self::TurnStart,
        Self::Message,
        Self::ToolCall,
        Self::ToolResult,
        Self::TurnEnd,
        Self::AgentEnd,
    ];

    /// Returns Truffle's name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::AgentStart => "agent_start",
            Self::TurnStart => "turn_start",
            Self::Message => "message",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::TurnEnd => "turn_end",
            Self::AgentEnd => "agent_end",
        }
    }

    /// Returns the kind of an event; `None` for events that Truffle does not have.
    pub fn of(event: &Event) -> Option<Self> {
        Some(match event {
            Event::TurnStarted { .. } => Self::AgentStart,
            Event::RoundStarted { .. } => Self::TurnStart,
            Event::Assistant { .. } | Event::Tokens(_) => Self::Message,
            Event::ToolCall { .. } => Self::ToolCall,
            Event::ToolResult { .. } => Self::ToolResult,
            Event::RoundEnded { .. } => Self::TurnEnd,
            Event::TurnEnded { .. } => Self::AgentEnd,
            _ => return None,
        })
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EventKind {
    type Err = BuildError;

    /// Reads Truffle's name; an unknown name is an argument error that lists the known ones.
    fn from_str(name: &str) -> Result<Self, BuildError> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            BuildError::argument(format!("unknown event '{name}', expected one of {known}"))
        })
    }
}

type OnKind = Arc<dyn Fn(&Envelope) + Send + Sync>;
type OnAny = Arc<dyn Fn(EventKind, &Envelope) + Send + Sync>;

/// Holds the functions of one agent; joins its listeners with the first of them.
#[derive(Default)]
pub(crate) struct Subscribers {
    functions: Mutex<Functions>,
}

#[derive(Clone, Default)]
struct Functions {
    specific: Vec<(EventKind, OnKind)>,
    any: Vec<OnAny>,
}

impl Subscribers {
    fn lock(&self) -> MutexGuard<'_, Functions> {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Subscribers {
    fn on_event(&self, envelope: &Envelope) {
        let Some(kind) = EventKind::of(&envelope.event) else { return };
        let Functions { specific, any } = self.lock().clone();
        for (_, function) in specific.iter().filter(|(wanted, _)| *wanted == kind) {
            function(envelope);
        }
        for function in any {
            function(kind, envelope);
        }
    }

    fn label(&self) -> String {
        "Subscribers".to_owned()
    }
}

impl Agent {
    /// Calls `function` for every event of one kind. Returns the agent, so that calls can be chained.
    pub fn on(&mut self, kind: EventKind, function: impl Fn(&Envelope) + Send + Sync + 'static) -> &mut Self {
        self.subscribed().lock().specific.push((kind, Arc::new(function)));
        self
    }

    /// Calls `function` for every event that has a kind, behind the specific ones.
    pub fn on_any(&mut self, function: impl Fn(EventKind, &Envelope) + Send + Sync + 'static) -> &mut Self {
        self.subscribed().lock().any.push(Arc::new(function));
        self
    }

    fn subscribed(&mut self) -> &Subscribers {
        let empty = {
            let functions = self.subscribers.lock();
            functions.specific.is_empty() && functions.any.is_empty()
        };
        if empty {
            let subscribers: Arc<dyn Listener> = self.subscribers.clone();
            self.listeners = self.listeners.with(&[subscribers]);
        }
        &self.subscribers
    }
}
