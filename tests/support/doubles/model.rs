//! The scripted model: plays replies by script or by system prompt, and checks every request that it gets.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use steersman_agent::Agent;
use steersman_base::message::Message;
use steersman_core::provider::{
    Answering, ApiKey, ChatProvider, ChatRequest, ChatTransport, Connector, Played, ProviderError, Reply,
    ScriptedProvider, Sink, Streaming, ToolSchema,
};
use steersman_provider::{self};
use steersman_provider::{ContextWindowDetector, Http};

/// One request as the model saw it.
#[derive(Debug, Clone)]
pub struct Request {
    pub model: String,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSchema>,
    pub streaming: Streaming,
    pub answering: Answering,
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
            Message::User { content, .. } => format!("user: {content}"),
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

/// A model with one script per conversation; records and checks every request.
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

    pub(super) fn check(&self) {
        let faults = self.faults.lock().unwrap();
        assert!(faults.is_empty(), "requests that a server refuses: {faults:#?}");
    }
}

fn fits(messages: &[Message], key: &str) -> bool {
    messages.iter().take(2).any(|message| match message {
        Message::System { content } | Message::User { content, .. } => content.contains(key),
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
    steersman_core::provider::validate(messages).err().map(|error| error.to_string())
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
            answering: request.answering,
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

    // Asks as the connector over HTTP does.
    fn find_context_window<'a>(
        &'a self,
        transport: &'a ChatTransport,
        set: Option<u64>,
        probe: Option<(String, Option<ApiKey>)>,
    ) -> BoxFuture<'a, Option<u64>> {
        let known = self.window_of(transport);
        let detector = ContextWindowDetector::new(Http::default()).with_override(set).with_registry(move |_| known);
        let detector = match probe {
            Some((url, key)) => detector.with_probe(url, key),
            None => detector,
        };
        Box::pin(async move { detector.detect(transport.model_name()).await })
    }
}
