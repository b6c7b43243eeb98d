//! Functions that are called for events: `agent.on(kind, f)` and `agent.on_any(f)`, beside listeners (D18).
//!
//! For an event the functions of its kind run first, then those for any kind, each in the order of subscription.
//! They get the events of their own agent's loop and of its rescue, which is marked; never those of children.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::{fmt, mem};

use crate::Agent;
use steersman_base::error::BuildError;
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::id::{AgentId, CallId};
use steersman_base::message::{Message, ToolCall};
use steersman_base::sync::lock;
use steersman_core::listener::Listener;

/// The seven kinds of events that a function can subscribe to, with the events behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// `agent_start`: [`Event::TurnStarted`], with its [`EventPayload::Input`]; called when all of the input is in the history.
    AgentStart,
    /// `turn_start`: [`Event::RoundStarted`].
    TurnStart,
    /// `message`: [`Event::Assistant`] for the text and [`Event::Tokens`] for the usage.
    Message,
    /// `tool_call`: [`Event::ToolCall`].
    ToolCall,
    /// `tool_result`: [`Event::ToolResult`].
    ToolResult,
    /// `turn_end`: [`Event::RoundEnded`], with its [`EventPayload::ToolResults`].
    TurnEnd,
    /// `agent_end`: [`Event::TurnEnded`], also when the turn failed or was cancelled (D13), with its [`EventPayload::Output`].
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

    /// Returns the name of the kind.
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

    /// Returns the kind of an event; `None` for events that have none.
    pub fn from_event(event: &Event) -> Option<Self> {
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

    /// Reads the name of a kind; an unknown name is an argument error that lists the known ones.
    fn from_str(name: &str) -> Result<Self, BuildError> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            BuildError::argument(format!("unknown event '{name}', expected one of {known}"))
        })
    }
}

/// An event as a subscribed function gets it.
#[derive(Debug)]
#[non_exhaustive]
pub struct ObservedEvent<'a> {
    /// The event, with who did it and when.
    pub envelope: &'a Envelope,
    /// Data of the kind that the event itself does not have.
    pub payload: EventPayload,
    /// The loop that emitted it.
    pub source: EventSource,
}

/// Data that a kind of event has beyond the event itself.
#[derive(Debug, Clone, PartialEq)]
pub enum EventPayload {
    /// For `agent_start`: the messages that start the turn, with blank lines between them.
    Input(String),
    /// For `turn_end`: the results of the round's finished calls, in call order.
    ToolResults(Vec<Message>),
    /// For `agent_end`: the final answer, which may be empty; `None` when the turn failed or was cancelled.
    Output(Option<String>),
    /// For the others.
    Nothing,
}

/// The loop that an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventSource {
    /// The agent's own.
    Agent,
    /// The rescue's, which answers in the agent's place.
    Rescue,
}

type OnKind = Arc<dyn Fn(&ObservedEvent<'_>) + Send + Sync>;
type OnAny = Arc<dyn Fn(EventKind, &ObservedEvent<'_>) + Send + Sync>;

/// The functions subscribed to one agent; it becomes a listener with the first of them.
pub(crate) struct Subscribers {
    agent: AgentId,
    inner: Mutex<SubscriberState>,
}

#[derive(Default)]
struct SubscriberState {
    functions: SubscribedFunctions,
    own: LoopState,
    rescue: LoopState,
}

#[derive(Clone, Default)]
struct SubscribedFunctions {
    specific: Vec<(EventKind, OnKind)>,
    any: Vec<OnAny>,
}

/// The data of one loop from which payloads are made.
#[derive(Default)]
struct LoopState {
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

    fn lock(&self) -> MutexGuard<'_, SubscriberState> {
        lock(&self.inner)
    }
}

impl LoopState {
    fn observe(&mut self, envelope: &Envelope) {
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

    /// Returns the start that waited for the input, once the input is complete.
    fn started(&mut self, event: &Event) -> Option<(Envelope, EventPayload)> {
        let is_complete = matches!(event, Event::RoundStarted { .. } | Event::TurnEnded { .. });
        let start = self.start.take_if(|_| is_complete)?;
        Some((start, EventPayload::Input(mem::take(&mut self.input).join("\n\n"))))
    }

    fn results(&self) -> Vec<Message> {
        self.calls.iter().filter_map(|(call, result)| Some(Message::tool(call, result.clone()?))).collect()
    }
}

impl SubscriberState {
    /// Takes an event; returns what the functions get, in order.
    fn observe(&mut self, source: EventSource, envelope: &Envelope) -> Vec<(EventKind, Envelope, EventPayload)> {
        let own = match source {
            EventSource::Agent => &mut self.own,
            EventSource::Rescue => &mut self.rescue,
        };
        own.observe(envelope);
        let started = own.started(&envelope.event);
        let mut observed: Vec<_> =
            started.map(|(start, input)| (EventKind::AgentStart, start, input)).into_iter().collect();
        let payload = match &envelope.event {
            Event::TurnStarted { .. } => return observed,
            Event::RoundEnded { .. } => EventPayload::ToolResults(own.results()),
            Event::TurnEnded { outcome: Outcome::Completed, .. } => {
                EventPayload::Output(Some(own.answer.clone().unwrap_or_default()))
            }
            Event::TurnEnded { outcome: Outcome::Synthesized, .. } => {
                EventPayload::Output(Some(self.rescue.answer.clone().unwrap_or_default()))
            }
            Event::TurnEnded { outcome: Outcome::Cancelled | Outcome::Failed, .. } => EventPayload::Output(None),
            _ => EventPayload::Nothing,
        };
        observed.extend(EventKind::from_event(&envelope.event).map(|kind| (kind, envelope.clone(), payload)));
        observed
    }
}

impl Listener for Subscribers {
    fn on_event(&self, envelope: &Envelope) {
        let source = match &envelope.agent {
            agent if *agent == self.agent => EventSource::Agent,
            agent if *agent == self.agent.synthesizer() => EventSource::Rescue,
            _ => return,
        };
        let (observed, functions) = {
            let mut inner = self.lock();
            (inner.observe(source, envelope), inner.functions.clone())
        };
        for (kind, envelope, payload) in observed {
            let observed = ObservedEvent { envelope: &envelope, payload, source };
            for (_, function) in functions.specific.iter().filter(|(wanted, _)| *wanted == kind) {
                contained(|| function(&observed));
            }
            for function in &functions.any {
                contained(|| function(kind, &observed));
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
    /// Calls `function` for every event of one kind, of this agent's loop and of its rescue's. Returns the agent,
    /// so that calls can be chained.
    pub fn on(&mut self, kind: EventKind, function: impl Fn(&ObservedEvent<'_>) + Send + Sync + 'static) -> &mut Self {
        self.subscribed().lock().functions.specific.push((kind, Arc::new(function)));
        self
    }

    /// Calls `function` for every event that has a kind, after the functions of that kind.
    pub fn on_any(&mut self, function: impl Fn(EventKind, &ObservedEvent<'_>) + Send + Sync + 'static) -> &mut Self {
        self.subscribed().lock().functions.any.push(Arc::new(function));
        self
    }

    fn subscribed(&mut self) -> &Subscribers {
        let empty = {
            let SubscribedFunctions { specific, any } = &self.subscribers.lock().functions;
            specific.is_empty() && any.is_empty()
        };
        if empty {
            let subscribers: Arc<dyn Listener> = self.subscribers.clone();
            self.listeners = self.listeners.with(&[subscribers]);
        }
        &self.subscribers
    }
}
