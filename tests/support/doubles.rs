//! Doubles for tests of the agent, its sub-agents and the host: a scripted model, gates, spies, and a rig of them all.
//!
//! Whatever a test does with a [`Rig`], its end checks every request that was made (each call has its result directly
//! behind it, D7) and every event (seq rises; what started has ended, D13).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use steersman::agent::{Agent, AgentBuilder, AgentContext, Configurator, Extension, ExtensionError};
use steersman::control::{Cancellable, Interloper, StepLimit};
use steersman::error::{BuildError, RunError};
use steersman::event::{Envelope, Event, Outcome};
use steersman::id::AgentId;
use steersman::listener::{InMemoryEventList, Listener};
use steersman::message::{Arguments, Message};
use steersman::provider::{
    self, ChatProvider, ChatRequest, ChatTransport, Connector, Piece, Played, ProviderError, Reply, ScriptedProvider,
    Sink, Step, Streaming, ToolSchema,
};
use steersman::tool::{Concurrency, FnTool, OnCancel, Parameters, RawTool, Tool, ToolContext, ToolError};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;

/// What the main agent of a [`Rig`] is told.
pub const PROMPT: &str = "You are the main agent.";

/// Is one request as the model saw it.
#[derive(Debug, Clone)]
pub struct Request {
    pub model: String,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSchema>,
    pub streaming: Streaming,
}

impl Request {
    /// Returns the conversation, one short line per message.
    pub fn lines(&self) -> Vec<String> {
        lines(&self.messages)
    }

    /// Returns the names of the tools on offer.
    pub fn tool_names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    pub fn system_prompt(&self) -> &str {
        match self.messages.first() {
            Some(Message::System { content }) => content,
            other => panic!("the first message is {other:?}"),
        }
    }
}

/// Writes each message as `role: content`, calls as `+name#id`, results as `tool#id: content`.
pub fn lines(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .map(|message| match message {
            Message::System { content } => format!("system: {content}"),
            Message::User { content } => format!("user: {content}"),
            Message::Assistant(reply) => {
                let mut line = format!("assistant: {}", reply.content);
                for call in &reply.tool_calls {
                    write!(line, " +{}#{}", call.name, call.id).unwrap();
                }
                if reply.interrupted {
                    line.push_str(" (interrupted)");
                }
                line
            }
            Message::Tool { call_id, content, .. } => format!("tool#{call_id}: {content}"),
        })
        .collect()
}

/// Is a model with one script per conversation; records and checks every request.
#[derive(Default)]
pub struct Model {
    main: ScriptedProvider,
    routes: Mutex<Vec<(String, Arc<ScriptedProvider>)>>,
    requests: Mutex<Vec<Request>>,
    faults: Mutex<Vec<String>>,
    transports: Mutex<Vec<ChatTransport>>,
    pub fallback: Mutex<Option<String>>,
    pub windows: Mutex<HashMap<String, u64>>,
}

impl Model {
    pub fn new(script: impl IntoIterator<Item = Played>) -> Arc<Self> {
        Arc::new(Self { main: ScriptedProvider::new(script), ..Self::default() })
    }

    /// Adds one reply for conversations without a route.
    pub fn push(&self, played: Played) {
        self.main.push(played);
    }

    /// Plays this script to conversations whose first or second message contains `key`; the first route that fits wins.
    pub fn route(&self, key: &str, script: impl IntoIterator<Item = Played>) -> &Self {
        self.routes.lock().unwrap().push((key.to_owned(), Arc::new(ScriptedProvider::new(script))));
        self
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the requests whose first or second message contains `key`.
    pub fn requests_of(&self, key: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| fits(&request.messages, key)).collect()
    }

    /// Returns the transports that providers were made for.
    pub fn transports(&self) -> Vec<ChatTransport> {
        self.transports.lock().unwrap().clone()
    }

    fn check(&self) {
        let faults = self.faults.lock().unwrap();
        assert!(faults.is_empty(), "requests that a server refuses: {faults:#?}");
    }
}

fn fits(messages: &[Message], key: &str) -> bool {
    messages.iter().take(2).any(|message| match message {
        Message::System { content } | Message::User { content } => content.contains(key),
        Message::Assistant(_) | Message::Tool { .. } => false,
    })
}

/// Says what a strict server would refuse, by its own rule: not by the code under test.
pub fn fault(messages: &[Message]) -> Option<String> {
    let mut rest = messages;
    while let Some((message, behind)) = rest.split_first() {
        rest = behind;
        match message {
            Message::Tool { call_id, .. } => return Some(format!("the result of {call_id} stands alone")),
            Message::Assistant(reply) => {
                for call in &reply.tool_calls {
                    match rest.split_first() {
                        Some((Message::Tool { call_id, .. }, behind)) if *call_id == call.id => rest = behind,
                        other => return Some(format!("behind call {} stands {:?}", call.id, other.map(|o| o.0))),
                    }
                }
            }
            Message::System { .. } | Message::User { .. } => {}
        }
    }
    provider::validate(messages).err().map(|error| error.to_string())
}

/// Fails the test when this conversation could not be sent.
pub fn assert_sendable(agent: &Agent) {
    assert_eq!(agent.history().open_calls().count(), 0, "calls are open");
    assert_eq!(fault(agent.history().messages()), None);
}

impl ChatProvider for Model {
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        sink: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        let messages = request.messages().to_vec();
        if let Some(fault) = fault(&messages) {
            self.faults.lock().unwrap().push(format!("{fault} in {:#?}", lines(&messages)));
        }
        let route = {
            let routes = self.routes.lock().unwrap();
            routes.iter().find(|(key, _)| fits(&messages, key)).map(|(_, script)| Arc::clone(script))
        };
        self.requests.lock().unwrap().push(Request {
            model: request.model.to_owned(),
            messages,
            tools: request.tools.to_vec(),
            streaming: request.streaming,
        });
        match route {
            Some(script) => async move { script.complete(request, sink).await }.boxed(),
            None => self.main.complete(request, sink),
        }
    }
}

/// Connects every transport to one model.
pub struct Line(pub Arc<Model>);

impl Connector for Line {
    fn connect(&self, transport: &ChatTransport) -> Result<Arc<dyn ChatProvider>, ProviderError> {
        self.0.transports.lock().unwrap().push(transport.clone());
        Ok(Arc::clone(&self.0) as _)
    }

    fn default_model(&self) -> Option<String> {
        self.0.fallback.lock().unwrap().clone()
    }

    fn context_window(&self, model: &str) -> Option<u64> {
        self.0.windows.lock().unwrap().get(model).copied()
    }
}

/// Holds something up until the test lets it go, and tells the test when it is there.
#[derive(Clone)]
pub struct Gate {
    reached: Arc<Semaphore>,
    open: Arc<Semaphore>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { reached: Arc::new(Semaphore::new(0)), open: Arc::new(Semaphore::new(0)) }
    }
}

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    /// For the held side: says that it is here and waits for one opening.
    pub async fn pass(&self) {
        self.reached.add_permits(1);
        self.open.acquire().await.unwrap().forget();
    }

    /// Waits until one more has come to the gate.
    pub async fn reached(&self) {
        within(Duration::from_secs(5), "somebody comes to the gate", self.reached.acquire()).await.unwrap().forget();
    }

    /// Tells how many came that [`Gate::reached`] has not waited for.
    pub fn waiting(&self) -> usize {
        self.reached.available_permits()
    }

    /// Lets one pass.
    pub fn open(&self) {
        self.open.add_permits(1);
    }
}

/// Holds a reply up between two of its pieces.
#[derive(Clone, Default)]
pub struct Pause {
    reached: Arc<Notify>,
    open: Arc<Notify>,
}

impl Pause {
    pub fn new() -> Self {
        Self::default()
    }

    pub async fn reached(&self) {
        within(Duration::from_secs(5), "the reply comes to the pause", self.reached.notified()).await;
    }

    pub fn open(&self) {
        self.open.notify_one();
    }
}

/// What the tests add to [`Played`].
pub trait PlayedExt {
    /// Holds the reply up here.
    fn paused(self, pause: &Pause) -> Self;
    /// Plays one more piece of text; the reply's content stays as it is.
    fn piece(self, thinking: &str, text: &str) -> Self;
}

impl PlayedExt for Played {
    fn paused(self, pause: &Pause) -> Self {
        self.then(Step::Reached(Arc::clone(&pause.reached))).then(Step::Wait(Arc::clone(&pause.open)))
    }

    fn piece(self, thinking: &str, text: &str) -> Self {
        self.then(Step::Piece(Piece::Chunk { thinking: thinking.to_owned(), text: text.to_owned() }))
    }
}

/// Plays calls of tools without arguments: `("c1", "name")`.
pub fn calls(calls: &[(&str, &str)]) -> Played {
    let calls: Vec<_> = calls.iter().map(|(id, name)| (*id, *name, "{}")).collect();
    Played::calls(&calls)
}

/// Makes a tool without arguments that answers at once.
pub fn tool(name: &str, answer: &str) -> Arc<dyn Tool> {
    let answer = answer.to_owned();
    acting(name, move |_| answer.clone())
}

/// Makes a tool without arguments that does something and answers.
pub fn acting(name: &str, act: impl Fn(ToolContext) -> String + Send + Sync + 'static) -> Arc<dyn Tool> {
    let act = Arc::new(act);
    Arc::new(FnTool::new(name, "Acts.", Parameters::default(), move |_, context| {
        let act = Arc::clone(&act);
        async move { Ok(act(context)) }
    }))
}

/// Makes a tool that says its `text` again.
pub fn echo() -> Arc<dyn Tool> {
    let parameters = Parameters::build(|p| {
        p.required_string("text", "What to say.");
    });
    Arc::new(FnTool::new(
        "echo",
        "Says it again.",
        parameters,
        |args, _| async move { Ok(args.str("text").to_owned()) },
    ))
}

/// Makes a tool that waits at a gate, then answers `<name> done`. It runs alone and a cancel drops it.
pub fn gated(name: &str, gate: &Gate) -> Arc<dyn Tool> {
    Arc::new(gated_fn(name, gate))
}

/// As [`gated`], and neighbours may run beside it.
pub fn gated_beside(name: &str, gate: &Gate) -> Arc<dyn Tool> {
    Arc::new(gated_fn(name, gate).concurrency(Concurrency::Beside))
}

/// As [`gated`], and it finishes its work whatever the cancel flag says.
pub fn gated_stubborn(name: &str, gate: &Gate) -> Arc<dyn Tool> {
    Arc::new(gated_fn(name, gate).on_cancel(OnCancel::Wait))
}

pub fn gated_fn(name: &str, gate: &Gate) -> FnTool {
    let (gate, answer) = (gate.clone(), format!("{name} done"));
    FnTool::new(name, "Waits.", Parameters::default(), move |_, _| {
        let (gate, answer) = (gate.clone(), answer.clone());
        async move {
            gate.pass().await;
            Ok(answer)
        }
    })
}

/// Is a raw tool that answers with the arguments it was given.
pub struct RawEcho(pub &'static str);

impl RawTool for RawEcho {
    fn name(&self) -> &str {
        self.0
    }

    fn description(&self) -> &'static str {
        "Says its arguments again."
    }

    fn schema(&self) -> Value {
        serde_json::json!({"type": "object"})
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, _: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move { Ok(format!("raw {arguments}")) }.boxed()
    }
}

/// Is a list of what happened, in order, that several doubles write to.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn say(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Is a listener out of a closure.
pub struct Spy<F>(pub F);

impl<F: Fn(&Envelope) + Send + Sync> Listener for Spy<F> {
    fn on_event(&self, envelope: &Envelope) {
        (self.0)(envelope);
    }

    fn label(&self) -> String {
        "Spy".to_owned()
    }
}

type Configure = Box<dyn Fn(&mut Configurator) -> Result<(), BuildError> + Send + Sync>;
type Bind = Box<dyn Fn(&mut Agent) -> Result<(), BuildError> + Send + Sync>;
type OnUserMessage = Box<dyn Fn(&AgentContext<'_>, &str) -> Result<Option<String>, ExtensionError> + Send + Sync>;

/// Is an extension out of closures; what is not set does nothing.
#[derive(Default)]
pub struct FnExtension {
    configure: Option<Configure>,
    bind: Option<Bind>,
    on_user_message: Option<OnUserMessage>,
}

impl FnExtension {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn configure(
        mut self,
        f: impl Fn(&mut Configurator) -> Result<(), BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.configure = Some(Box::new(f));
        self
    }

    pub fn bind(mut self, f: impl Fn(&mut Agent) -> Result<(), BuildError> + Send + Sync + 'static) -> Self {
        self.bind = Some(Box::new(f));
        self
    }

    pub fn on_user_message(
        mut self,
        f: impl Fn(&AgentContext<'_>, &str) -> Result<Option<String>, ExtensionError> + Send + Sync + 'static,
    ) -> Self {
        self.on_user_message = Some(Box::new(f));
        self
    }
}

impl Extension for FnExtension {
    fn name(&self) -> &'static str {
        "double"
    }

    fn configure(&self, configurator: &mut Configurator) -> Result<(), BuildError> {
        self.configure.as_ref().map_or(Ok(()), |f| f(configurator))
    }

    fn bind(&self, agent: &mut Agent) -> Result<(), BuildError> {
        self.bind.as_ref().map_or(Ok(()), |f| f(agent))
    }

    fn on_user_message(&self, context: &AgentContext<'_>, words: &str) -> Result<Option<String>, ExtensionError> {
        self.on_user_message.as_ref().map_or(Ok(None), |f| f(context, words))
    }
}

/// Is everything around one agent: its model, recorder, cancel flag and queue.
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

    /// Injects a steer.
    pub fn inject(&self, text: &str) {
        self.interloper.inject_user_message(text).unwrap();
    }

    pub fn events(&self) -> Vec<Event> {
        self.recorder.events()
    }

    /// Returns the events of one agent, one short line each, without rounds and context caps.
    pub fn story_of(&self, agent: &str) -> Vec<String> {
        let agent = AgentId::new(agent);
        self.recorder.envelopes().iter().filter(|e| e.agent == agent).filter_map(|e| brief(&e.event)).collect()
    }

    /// Returns the events of the main agent.
    pub fn story(&self) -> Vec<String> {
        self.story_of("")
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

/// Writes an event in a few words; `None` for rounds and context caps.
pub fn brief(event: &Event) -> Option<String> {
    Some(match event {
        Event::TurnStarted { turn } => format!("turn {turn}"),
        Event::UserTurn { content, mid_loop, injection } => {
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
        Event::Reset {} => "reset".to_owned(),
        Event::Extension { name, payload } => format!("extension {name}: {payload}"),
        Event::RoundStarted { .. } | Event::RoundEnded { .. } | Event::ContextCap { .. } => return None,
        other => format!("{other:?}"),
    })
}

/// Is a turn on a task of its own, which hands the agent back.
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

/// Waits for something, and fails the test by name when it does not come. Under paused time that costs nothing.
pub async fn within<T>(time: Duration, what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(time, future).await.unwrap_or_else(|_| panic!("waited in vain: {what}"))
}

/// Lets every other task run until each of them waits.
pub async fn settle() {
    // Paused time moves on only when nothing else can run.
    tokio::time::sleep(Duration::from_nanos(1)).await;
}
