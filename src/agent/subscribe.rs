//! Truffle's surface (D18): `agent.on(kind, f)` and `agent.on_any(f)` beside listeners.
//!
//! For an event the functions of its kind run first, then the ones for any kind, each in the order of subscription. They
//! hear the loop of their own agent and that of its rescue, which is marked; what children do they never hear.

use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::agent::Agent;
use crate::error::BuildError;
use crate::event::{Envelope, Event, Outcome};
use crate::id::{AgentId, CallId};
use crate::listener::Listener;
use crate::message::{Message, ToolCall};

/// Names the seven events of Truffle's agent, and what carries them here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// `agent_start`: [`Event::TurnStarted`], with its [`Payload::Input`]; called when all of the input is in the history.
    AgentStart,
    /// `turn_start`: [`Event::RoundStarted`].
    TurnStart,
    /// `message`: [`Event::Assistant`] for the text and [`Event::Tokens`] for the usage.
    Message,
    /// `tool_call`: [`Event::ToolCall`].
    ToolCall,
    /// `tool_result`: [`Event::ToolResult`].
    ToolResult,
    /// `turn_end`: [`Event::RoundEnded`], with its [`Payload::ToolResults`].
    TurnEnd,
    /// `agent_end`: [`Event::TurnEnded`], also when the turn failed or was cancelled (D13), with its [`Payload::Output`].
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

/// What a function hears.
#[derive(Debug)]
pub struct Heard<'a> {
    /// The event, with who did it and when.
    pub envelope: &'a Envelope,
    /// What Truffle's event carries beyond it.
    pub payload: Payload,
    /// Whether it is of the agent itself or of its rescue.
    pub speaker: Speaker,
}

/// What Truffle's event carries and ours does not.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    /// Of `agent_start`: what the turn starts with; several messages with a blank line between.
    Input(String),
    /// Of `turn_end`: the results of the round's calls that came to their end, in call order.
    ToolResults(Vec<Message>),
    /// Of `agent_end`: the final answer, which may be empty; `None` when the turn failed or was cancelled.
    Output(Option<String>),
    /// Of the others: nothing, the event has it all.
    Nothing,
}

/// Whose loop it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The agent's own.
    Agent,
    /// That of the rescue which answers in its place.
    Rescue,
}

type OnKind = Arc<dyn Fn(&Heard<'_>) + Send + Sync>;
type OnAny = Arc<dyn Fn(EventKind, &Heard<'_>) + Send + Sync>;

/// Holds the functions of one agent; joins its listeners with the first of them.
pub(crate) struct Subscribers {
    agent: AgentId,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    functions: Functions,
    own: Loop,
    rescue: Loop,
}

#[derive(Clone, Default)]
struct Functions {
    specific: Vec<(EventKind, OnKind)>,
    any: Vec<OnAny>,
}

/// What the payloads of one loop are made of.
#[derive(Default)]
struct Loop {
    /// The start of a turn whose input is not complete.
    start: Option<Envelope>,
    input: Vec<String>,
    calls: Vec<(ToolCall, Option<String>)>,
    answer: Option<String>,
}

impl Subscribers {
    pub(crate) fn new(agent: AgentId) -> Self {
        Self { agent, inner: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loop {
    fn take(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::TurnStarted { .. } => *self = Self { start: Some(envelope.clone()), ..Self::default() },
            Event::UserTurn { content, mid_loop: false, .. } => self.input.push(content.clone()),
            Event::RoundStarted { .. } => {
                self.calls.clear();
                self.answer = None;
            }
            Event::Assistant { text, interrupted: false } => self.answer = Some(text.clone()),
            Event::ToolCall { id, name, arguments } => {
                let call = ToolCall { id: id.clone(), name: name.clone(), arguments: arguments.clone() };
                self.calls.push((call, None));
            }
            Event::ToolResult { id, content, .. } => self.end(id, content),
            _ => {}
        }
    }

    fn end(&mut self, id: &CallId, content: &str) {
        if let Some((_, result)) = self.calls.iter_mut().find(|(call, _)| call.id == *id) {
            *result = Some(content.to_owned());
        }
    }

    /// Returns the start that waited for the input, once that is complete.
    fn started(&mut self, event: &Event) -> Option<(Envelope, Payload)> {
        let is_complete = matches!(event, Event::RoundStarted { .. } | Event::TurnEnded { .. });
        let start = self.start.take_if(|_| is_complete)?;
        Some((start, Payload::Input(mem::take(&mut self.input).join("\n\n"))))
    }

    fn results(&self) -> Vec<Message> {
        self.calls.iter().filter_map(|(call, result)| Some(Message::tool(call, result.clone()?))).collect()
    }
}

impl Inner {
    /// Takes an event in; returns what is to be heard of it, in order.
    fn take(&mut self, speaker: Speaker, envelope: &Envelope) -> Vec<(EventKind, Envelope, Payload)> {
        let own = match speaker {
            Speaker::Agent => &mut self.own,
            Speaker::Rescue => &mut self.rescue,
        };
        own.take(envelope);
        let started = own.started(&envelope.event);
        let mut heard: Vec<_> =
            started.map(|(start, input)| (EventKind::AgentStart, start, input)).into_iter().collect();
        let payload = match &envelope.event {
            Event::TurnStarted { .. } => return heard,
            Event::RoundEnded { .. } => Payload::ToolResults(own.results()),
            Event::TurnEnded { outcome: Outcome::Completed, .. } => {
                Payload::Output(Some(own.answer.clone().unwrap_or_default()))
            }
            Event::TurnEnded { outcome: Outcome::Synthesized, .. } => {
                Payload::Output(Some(self.rescue.answer.clone().unwrap_or_default()))
            }
            Event::TurnEnded { outcome: Outcome::Cancelled | Outcome::Failed, .. } => Payload::Output(None),
            _ => Payload::Nothing,
        };
        heard.extend(EventKind::of(&envelope.event).map(|kind| (kind, envelope.clone(), payload)));
        heard
    }
}

impl Listener for Subscribers {
    fn on_event(&self, envelope: &Envelope) {
        let speaker = match &envelope.agent {
            agent if *agent == self.agent => Speaker::Agent,
            agent if *agent == self.agent.synthesizer() => Speaker::Rescue,
            _ => return,
        };
        let (heard, functions) = {
            let mut inner = self.lock();
            (inner.take(speaker, envelope), inner.functions.clone())
        };
        for (kind, envelope, payload) in heard {
            let heard = Heard { envelope: &envelope, payload, speaker };
            for (_, function) in functions.specific.iter().filter(|(wanted, _)| *wanted == kind) {
                contained(|| function(&heard));
            }
            for function in &functions.any {
                contained(|| function(kind, &heard));
            }
        }
    }

    fn label(&self) -> String {
        "Subscribers".to_owned()
    }
}

fn contained(function: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(function)).is_err() {
        tracing::error!("a function subscribed to events panicked; the run goes on");
    }
}

impl Agent {
    /// Calls `function` for every event of one kind, of this agent's loop and of its rescue's. Returns the agent, so that calls can be chained.
    pub fn on(&mut self, kind: EventKind, function: impl Fn(&Heard<'_>) + Send + Sync + 'static) -> &mut Self {
        self.subscribed().lock().functions.specific.push((kind, Arc::new(function)));
        self
    }

    /// Calls `function` for every event that has a kind, behind the specific ones.
    pub fn on_any(&mut self, function: impl Fn(EventKind, &Heard<'_>) + Send + Sync + 'static) -> &mut Self {
        self.subscribed().lock().functions.any.push(Arc::new(function));
        self
    }

    fn subscribed(&mut self) -> &Subscribers {
        let empty = {
            let Functions { specific, any } = &self.subscribers.lock().functions;
            specific.is_empty() && any.is_empty()
        };
        if empty {
            let subscribers: Arc<dyn Listener> = self.subscribers.clone();
            self.listeners = self.listeners.with(&[subscribers]);
        }
        &self.subscribers
    }
}
