//! Doubles for tests of the agent, its sub-agents and the host: a scripted model, gates, spies, and a rig of them all.
//!
//! Whatever a test does with a [`Rig`], its end checks every request that was made (each call has its result directly
//! behind it, D7) and every event (seq rises; what started has ended, D13).

mod model;
mod parts;
mod tools;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use steersman_agent::{Agent, AgentBuilder, Configurator};
use steersman_base::error::{BuildError, RunError};
use steersman_base::event::{Event, Outcome};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::steering::TextKind;
use steersman_core::control::{Cancellable, Interloper, StepLimit};
use steersman_core::listener::{InMemoryEventList, Listener};
use steersman_core::provider::{ChatTransport, Connector, Played, Streaming};
use steersman_core::tool::Tool;
use tokio::task::JoinHandle;

pub use model::*;
pub use parts::*;
pub use tools::*;

/// What the main agent of a [`Rig`] is told.
pub const PROMPT: &str = "You are the main agent.";

/// Everything around one agent: its model, recorder, cancel flag and queue.
pub struct Rig {
    pub model: Arc<Model>,
    pub recorder: Arc<InMemoryEventList>,
    pub cancellable: Cancellable,
    pub interloper: Arc<Interloper>,
}

impl Rig {
    pub fn new(script: impl IntoIterator<Item = Played>) -> Self {
        Self {
            model: Model::new(script),
            recorder: Arc::default(),
            cancellable: Cancellable::new(),
            interloper: Arc::default(),
        }
    }

    pub fn transport() -> ChatTransport {
        ChatTransport { model: Some("test-model".to_owned()), ..ChatTransport::default() }
    }

    pub fn connector(&self) -> Arc<dyn Connector> {
        Arc::new(Line(Arc::clone(&self.model)))
    }

    /// Returns a builder with the rig's cancel flag and queue, without a budget, without streaming.
    pub fn builder(&self) -> AgentBuilder {
        Agent::builder(Self::transport(), PROMPT, self.connector())
            .cancellable(self.cancellable.clone())
            .interloper(Arc::clone(&self.interloper))
    }

    /// Builds out of a builder, with these tools and the recorder.
    pub async fn build(&self, builder: AgentBuilder, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Agent {
        self.try_build(builder, |c| c.add_tools(tools)).await.unwrap()
    }

    pub async fn try_build(
        &self,
        builder: AgentBuilder,
        block: impl FnOnce(&mut Configurator) -> Result<(), BuildError>,
    ) -> Result<Agent, BuildError> {
        let recorder: Arc<dyn Listener> = self.recorder.clone();
        builder
            .build(|configurator| {
                configurator.add_listener(recorder);
                block(configurator)
            })
            .await
    }

    /// Builds the agent of most tests.
    pub async fn agent(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Agent {
        self.build(self.builder(), tools).await
    }

    /// Builds it with a budget.
    pub async fn limited(&self, max: u32, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Agent {
        self.build(self.builder().step_limit(StepLimit::new(max).unwrap()), tools).await
    }

    /// Builds it with replies in pieces.
    pub async fn streaming(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Agent {
        self.build(self.builder().streaming(Streaming::On), tools).await
    }

    pub fn requests(&self) -> Vec<Request> {
        self.model.requests()
    }

    pub fn last_request(&self) -> Request {
        self.requests().pop().expect("no request was made")
    }

    /// Injects a steer of a kind.
    pub fn send(&self, text: &str, kind: TextKind) -> MessageId {
        self.interloper.inject_user_message((text, kind)).unwrap().id
    }

    /// Injects a steer.
    pub fn inject(&self, text: &str) {
        self.interloper.inject_user_message(text).unwrap();
    }

    pub fn events(&self) -> Vec<Event> {
        self.recorder.events()
    }

    /// Returns the events of one agent, one short line each, without rounds and context sizes.
    pub fn event_lines_of(&self, agent: &str) -> Vec<String> {
        let agent = AgentId::new(agent);
        self.recorder.envelopes().iter().filter(|e| e.agent == agent).filter_map(|e| brief(&e.event)).collect()
    }

    /// Returns the events of the main agent.
    pub fn event_lines(&self) -> Vec<String> {
        self.event_lines_of("")
    }

    fn check_events(&self) {
        let mut seq = 0;
        let mut open: HashMap<AgentId, Vec<String>> = HashMap::new();
        for envelope in self.recorder.envelopes() {
            assert!(envelope.seq > seq, "seq {} stands behind {seq}", envelope.seq);
            seq = envelope.seq;
            let open = open.entry(envelope.agent.clone()).or_default();
            match &envelope.event {
                Event::TurnStarted { turn } => open.push(format!("turn {turn}")),
                Event::RoundStarted { turn, round } => open.push(format!("round {turn}.{round}")),
                Event::RoundEnded { turn, round } => assert_eq!(open.pop(), Some(format!("round {turn}.{round}"))),
                Event::TurnEnded { turn, .. } => assert_eq!(open.pop(), Some(format!("turn {turn}"))),
                Event::AgentSpawned { child, .. } => open.push(child.to_string()),
                Event::AgentFinished { child, .. } => {
                    let at = open.iter().position(|id| *id == child.to_string());
                    open.remove(at.expect("an agent that never began has ended"));
                }
                // It may go on behind the turn.
                Event::AgentBackgrounded { child } => {
                    let at = open.iter().position(|id| *id == child.to_string());
                    let agent = open.remove(at.expect("an agent that does not run goes on in the background"));
                    open.insert(0, agent);
                }
                _ => {}
            }
        }
        for (agent, open) in open {
            assert!(open.is_empty(), "agent {agent:?} never ended {open:?}");
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.model.check();
            self.check_events();
        }
    }
}

/// Writes an event in a few words; `None` for rounds and context sizes.
pub fn brief(event: &Event) -> Option<String> {
    Some(match event {
        Event::TurnStarted { turn } => format!("turn {turn}"),
        Event::UserTurn { content, mid_loop, injection, .. } => {
            let place = if *mid_loop { "mid" } else { "start" };
            let id = injection.as_ref().map_or(String::new(), |id| format!(" {id}"));
            format!("user {place}{id}: {content}")
        }
        Event::ThinkingDelta { text } => format!("~thinking: {text}"),
        Event::AssistantDelta { text } => format!("~assistant: {text}"),
        Event::Thinking { text } => format!("thinking: {text}"),
        Event::Assistant { text, interrupted: false } => format!("assistant: {text}"),
        Event::Assistant { text, interrupted: true } => format!("interrupted: {text}"),
        Event::Tokens(_) => "tokens".to_owned(),
        Event::ToolCall { id, name, .. } => format!("call {id} {name}"),
        Event::ToolProgress { id, text } => format!("progress {id}: {text}"),
        Event::ToolResult { id, content, .. } => format!("result {id}: {content}"),
        Event::AgentSpawned { child, .. } => format!("spawned {child}"),
        Event::AgentFinished { child, outcome, .. } => format!("finished {child} {outcome:?}"),
        Event::FallbackNotice { reason } => format!("fallback: {reason}"),
        Event::Cancelled {} => "cancelled".to_owned(),
        Event::TurnEnded { turn, outcome: Outcome::Failed, message } => {
            format!("ended {turn} failed: {}", message.as_deref().unwrap_or("without a message"))
        }
        Event::TurnEnded { turn, outcome, message } => {
            assert_eq!(*message, None, "only a failure has a message");
            format!("ended {turn} {outcome:?}").to_lowercase()
        }
        Event::TaskClosed {} => "task closed".to_owned(),
        Event::Reset {} => "reset".to_owned(),
        Event::Extension { name, payload } => format!("extension {name}: {payload}"),
        Event::RoundStarted { .. }
        | Event::RoundEnded { .. }
        | Event::ContextCap { .. }
        | Event::ContextSize { .. }
        | Event::Seen { .. } => {
            return None;
        }
        other => format!("{other:?}"),
    })
}

/// A turn on a task of its own, which hands the agent back.
pub struct Running(JoinHandle<(Agent, Result<(), RunError>)>);

/// Starts a turn on a task.
pub fn run(mut agent: Agent, text: &str) -> Running {
    let text = text.to_owned();
    Running(tokio::spawn(async move {
        let result = agent.run_loop(&text).await;
        (agent, result)
    }))
}

/// Starts turns with what is pending, on a task.
pub fn run_queue(mut agent: Agent) -> Running {
    Running(tokio::spawn(async move {
        let result = agent.run_queue().await.map(|_| ());
        (agent, result)
    }))
}

impl Running {
    /// Waits for the end, at most a second: the promise after a cancel (D6).
    pub async fn end(self) -> (Agent, Result<(), RunError>) {
        within(Duration::from_secs(1), "the turn ends", self.0).await.unwrap()
    }

    /// Waits for the end, where real processes take their time.
    pub async fn end_within(self, time: Duration) -> (Agent, Result<(), RunError>) {
        within(time, "the turn ends", self.0).await.unwrap()
    }

    /// Waits for an end with an answer.
    pub async fn answered(self) -> Agent {
        let (agent, result) = self.end().await;
        result.unwrap();
        assert_sendable(&agent);
        agent
    }

    /// Waits for an end by cancel; what is left can be sent.
    pub async fn cancelled(self) -> Agent {
        let (agent, result) = self.end().await;
        assert!(matches!(result, Err(RunError::Cancelled(_))), "{result:?}");
        assert_sendable(&agent);
        agent
    }

    /// Waits for an end by failure; returns its sentence.
    pub async fn failed(self) -> (Agent, String) {
        let (agent, result) = self.end().await;
        let error = result.unwrap_err();
        assert!(!matches!(error, RunError::Cancelled(_)), "{error:?}");
        assert_sendable(&agent);
        (agent, error.to_string())
    }
}

/// Returns the texts that are pending, in order.
pub fn texts_of(queue: &Interloper) -> Vec<String> {
    queue.peek().into_iter().map(|entry| entry.message.text).collect()
}

/// Waits for something, and fails the test by name when it does not come. Under paused time that costs nothing.
pub async fn within<T>(time: Duration, what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(time, future).await.unwrap_or_else(|_| panic!("waited in vain: {what}"))
}

/// Lets every other task run until each of them waits.
pub async fn settle() {
    // Paused time moves on only when nothing else can run.
    tokio::time::sleep(Duration::from_nanos(1)).await;
}
