//! One conversation with a server: requests and their answers, what the server tells, what it asks for.
//!
//! Always holds: every request ends, with an answer, an error, a time-out, or the end of the connection; one whose future
//! is dropped is cancelled at the server. Nothing of a server is waited for without a limit.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use crate::mcp::message::{self, Incoming, METHOD_NOT_FOUND, RpcError};
use crate::mcp::progress::Progress;
use crate::mcp::transport::{Arrival, Inbox, Outgoing, SendError, Transport};
use steersman_base::limits;
use steersman_base::sync::lock;
use steersman_base::text::visible_line;

/// What a server may ask of its client, and tell it, outside of answers.
pub trait Listener: Send + Sync {
    /// Puts a question of the server to the user; returns the result for the server.
    fn elicit(&self, params: Value) -> BoxFuture<'static, Result<Value, RpcError>>;

    /// Takes that a list of the server has changed.
    fn changed(&self, list: ListKind);
}

/// A list that a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// Its tools.
    Tools,
    /// Its resources.
    Resources,
    /// Its prompts.
    Prompts,
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// The server answered with an error.
    #[error("{0}")]
    Rpc(RpcError),
    /// The transport could not deliver it, or not its answer.
    #[error("{0}")]
    Send(SendError),
    /// The connection ended; a sentence says why.
    #[error("{0}")]
    Lost(String),
    /// No answer came in time.
    #[error("no answer came within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
}

/// How long the answer to a request is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Without any progress.
    pub idle: Duration,
    /// At most.
    pub most: Duration,
}

impl Patience {
    /// Waits so long, whatever progress is made.
    pub fn new(time: Duration) -> Self {
        Self { idle: time, most: time }
    }
}

/// What a dropped request does at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDrop {
    /// It is cancelled.
    Cancel,
    /// Nothing: it must not be cancelled.
    Nothing,
}

/// The end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Why, in one sentence.
    pub why: String,
    /// Who ended it.
    pub by: EndedBy,
}

/// Who ended a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedBy {
    /// This program.
    Client,
    /// The server, or something between.
    Server,
}

/// A conversation with a server. Dropping it ends the transport.
#[derive(Debug)]
pub struct Connection(Arc<Shared>);

struct Shared {
    transport: Box<dyn Transport>,
    listener: Arc<dyn Listener>,
    next: AtomicU64,
    inner: Mutex<Inner>,
    /// Why nothing comes any more.
    lost: watch::Sender<Option<Lost>>,
    /// How many questions of the server are open: its requests do not grow old meanwhile.
    questions: watch::Sender<usize>,
    /// The members of every request's `_meta` (protocol 2026-07-28).
    meta: Mutex<Option<Value>>,
    /// The last text of the server that was no message.
    noise: Mutex<Option<String>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Shared").field(&self.transport).finish()
    }
}

#[derive(Default)]
struct Inner {
    waiting: HashMap<u64, OpenRequest>,
    /// The questions of the server that are open, by their ids.
    asked: HashMap<String, AbortHandle>,
}

/// A request that is not answered yet.
struct OpenRequest {
    answer: oneshot::Sender<Result<Value, RequestError>>,
    progress: watch::Sender<Option<Progress>>,
}

impl Connection {
    /// Begins a conversation over what `open` makes of an inbox.
    ///
    /// # Errors
    /// What `open` returns.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn open<E>(
        listener: Arc<dyn Listener>,
        open: impl FnOnce(Inbox) -> Result<Box<dyn Transport>, E>,
    ) -> Result<Self, E> {
        let (inbox, arrivals) = mpsc::channel(limits::MCP_INBOX);
        let shared = Arc::new(Shared {
            transport: open(inbox)?,
            listener,
            next: AtomicU64::new(1),
            inner: Mutex::default(),
            lost: watch::Sender::new(None),
            questions: watch::Sender::new(0),
            meta: Mutex::default(),
            noise: Mutex::default(),
        });
        tokio::spawn(receive_arrivals(Arc::downgrade(&shared), arrivals));
        Ok(Self(shared))
    }

    /// Sends a request and waits for its result; `progress` is called with what the server tells meanwhile.
    ///
    /// # Errors
    /// [`RequestError`].
    pub async fn request(
        &self,
        method: &str,
        params: Value,
        patience: Patience,
        on_drop: OnDrop,
        progress: &(dyn Fn(&Progress) + Send + Sync),
    ) -> Result<Value, RequestError> {
        let shared = &self.0;
        let id = shared.next.fetch_add(1, Ordering::Relaxed);
        let (answer, mut answered) = oneshot::channel();
        let (sender, mut progressed) = watch::channel(None);
        lock(&shared.inner).waiting.insert(id, OpenRequest { answer, progress: sender });
        let mut open = RequestGuard { shared, id, on_drop };
        if let Some(lost) = shared.lost.borrow().clone() {
            return Err(RequestError::Lost(lost.why));
        }
        let params = shared.with_meta(params, id);
        shared.transport.send(Outgoing { message: message::request(id, method, &params), request: Some(id) });
        let mut questions = shared.questions.subscribe();
        let began = Instant::now();
        let mut until = began + patience.idle.min(patience.most);
        // A server that tells of progress without end is heard at this distance, and its call ends all the same.
        let mut heard = began;
        loop {
            tokio::select! {
                biased;
                answer = &mut answered => {
                    open.on_drop = OnDrop::Nothing;
                    // Without a sender the connection has ended.
                    return answer.unwrap_or_else(|_| Err(RequestError::Lost(shared.why_lost())));
                }
                // The user thinks about a question of the server.
                Ok(()) = questions.changed() => {
                    until = (Instant::now() + patience.idle).min(began + patience.most);
                }
                () = sleep_until(until), if *questions.borrow() == 0 => {
                    return Err(RequestError::TimedOut(until - began));
                }
                Ok(()) = async { sleep_until(heard).await; progressed.changed().await } => {
                    if let Some(made) = progressed.borrow_and_update().clone() {
                        progress(&made);
                    }
                    heard = Instant::now() + limits::MCP_PROGRESS_DISTANCE;
                    until = (Instant::now() + patience.idle).min(began + patience.most);
                }
            }
        }
    }

    /// Sends a request whose answer nobody waits for.
    pub fn begin(&self, method: &str, params: Value) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let params = self.0.with_meta(params, id);
        self.0.transport.send(Outgoing { message: message::request(id, method, &params), request: Some(id) });
    }

    /// Tells the server something.
    pub fn notify(&self, method: &str, params: &Value) {
        self.0.transport.send(Outgoing { message: message::notification(method, params), request: None });
    }

    /// Takes the version that was agreed on, and what goes along with every request from here on.
    pub fn agreed(&self, version: &str, meta: Option<Value>) {
        self.0.transport.agreed(version);
        *lock(&self.0.meta) = meta;
    }

    /// Tells whether nothing comes any more.
    pub fn is_lost(&self) -> bool {
        self.0.lost.borrow().is_some()
    }

    /// Returns the last text of the server that was no message; it belongs into the sentence of a request that found no
    /// answer.
    pub fn noise(&self) -> Option<String> {
        lock(&self.0.noise).clone()
    }

    /// Returns what waits until nothing comes any more, and does not keep the connection.
    pub fn until_lost(&self) -> impl Future<Output = Lost> + Send + 'static {
        let mut lost = self.0.lost.subscribe();
        async move {
            let lost = lost.wait_for(Option::is_some).await.ok().and_then(|lost| lost.clone());
            lost.unwrap_or(Lost { why: "the connection has ended".to_owned(), by: EndedBy::Client })
        }
    }

    /// Ends it for this reason: every request that waits ends with it.
    pub fn close(&self, why: &str) {
        self.0.lose(why, EndedBy::Client);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.lose("it was ended", EndedBy::Client);
    }
}

/// A request that waits. Dropping it cancels it at the server, unless it was answered.
struct RequestGuard<'a> {
    shared: &'a Shared,
    id: u64,
    on_drop: OnDrop,
}

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        let mut inner = lock(&self.shared.inner);
        inner.waiting.remove(&self.id);
        if inner.waiting.is_empty() {
            // Nobody needs an answer any more that a question of the server would lead to.
            inner.asked.drain().for_each(|(_, asked)| asked.abort());
        }
        drop(inner);
        if self.on_drop == OnDrop::Cancel && self.shared.lost.borrow().is_none() {
            let params = json!({"requestId": self.id, "reason": "the user or a time-out ended it"});
            let message = message::notification("notifications/cancelled", &params);
            self.shared.transport.send(Outgoing { message, request: None });
        }
    }
}

impl Shared {
    fn why_lost(&self) -> String {
        let lost = self.lost.borrow();
        lost.as_ref().map_or_else(|| "the connection has ended".to_owned(), |lost| lost.why.clone())
    }

    /// Ends everything that waits.
    fn lose(&self, why: &str, by: EndedBy) {
        let is_news = self.lost.send_if_modified(|lost| {
            let is_first = lost.is_none();
            lost.get_or_insert_with(|| Lost { why: why.to_owned(), by });
            is_first
        });
        if !is_news {
            return;
        }
        self.transport.close();
        let mut inner = lock(&self.inner);
        for (_, waiting) in inner.waiting.drain() {
            let _ = waiting.answer.send(Err(RequestError::Lost(why.to_owned())));
        }
        inner.asked.drain().for_each(|(_, asked)| asked.abort());
    }

    /// Adds what goes along with every request: where progress is told, and what the newest protocol wants.
    fn with_meta(&self, params: Value, id: u64) -> Value {
        let mut params = match params {
            Value::Object(map) => map,
            _ => serde_json::Map::new(),
        };
        let mut meta = match lock(&self.meta).clone() {
            Some(Value::Object(meta)) => meta,
            _ => serde_json::Map::new(),
        };
        meta.insert("progressToken".to_owned(), id.into());
        params.insert("_meta".to_owned(), meta.into());
        params.into()
    }

    fn answer(&self, id: u64, outcome: Result<Value, RequestError>) {
        // One that nobody waits for has timed out, or was never made.
        if let Some(waiting) = lock(&self.inner).waiting.remove(&id) {
            let _ = waiting.answer.send(outcome);
        }
    }

    /// Takes an error about a request that the server could not read. Where only one is open it was that one.
    fn unreadable(&self, error: RpcError) {
        let only = {
            let inner = lock(&self.inner);
            let mut open = inner.waiting.keys().copied();
            open.next().filter(|_| open.next().is_none())
        };
        match only {
            Some(id) => self.answer(id, Err(RequestError::Rpc(error))),
            None => *lock(&self.noise) = Some(format!("it could not read a request: {}", visible_line(&error.message))),
        }
    }

    fn on_notification(self: &Arc<Self>, method: &str, params: &Value) {
        match method {
            "notifications/progress" => {
                let token = params.get("progressToken");
                let id = token.and_then(|token| token.as_u64().or_else(|| token.as_str()?.parse().ok()));
                if let Some(waiting) = id.and_then(|id| lock(&self.inner).waiting.get(&id).map(|w| w.progress.clone()))
                {
                    waiting.send_replace(Some(Progress::from_params(params)));
                }
            }
            "notifications/tools/list_changed" => self.listener.changed(ListKind::Tools),
            "notifications/resources/list_changed" => self.listener.changed(ListKind::Resources),
            "notifications/prompts/list_changed" => self.listener.changed(ListKind::Prompts),
            "notifications/cancelled" => {
                let id = params.get("requestId").map(Value::to_string).unwrap_or_default();
                if let Some(asked) = lock(&self.inner).asked.remove(&id) {
                    asked.abort();
                }
            }
            // Logs are for the error output; others are not known.
            _ => {}
        }
    }

    /// Answers a request of the server.
    fn answer_request(self: &Arc<Self>, id: &Value, method: &str, params: Value) {
        let refused = |code, message: String| Err(RpcError { code, message, data: Value::Null });
        let outcome = match method {
            "ping" => Ok(json!({})),
            "elicitation/create" => return self.question(id.clone(), params),
            "sampling/createMessage" => refused(
                METHOD_NOT_FOUND,
                "sampling is not supported: this client lends no model to a server".to_owned(),
            ),
            "roots/list" => refused(
                METHOD_NOT_FOUND,
                "roots are not supported: the server's arguments and working directory say where it works".to_owned(),
            ),
            other => refused(METHOD_NOT_FOUND, format!("there is no method {other}")),
        };
        self.respond(id, outcome);
    }

    fn respond(&self, id: &Value, outcome: Result<Value, RpcError>) {
        self.transport.send(Outgoing { message: message::response(id, outcome), request: None });
    }

    /// Puts a question of the server to the user, beside everything else.
    fn question(self: &Arc<Self>, id: Value, params: Value) {
        if lock(&self.inner).asked.len() >= limits::MCP_QUESTIONS {
            let message = format!("{} questions are open already", limits::MCP_QUESTIONS);
            return self.respond(&id, Err(RpcError { code: -32603, message, data: Value::Null }));
        }
        let (shared, key) = (Arc::clone(self), id.to_string());
        let work = self.listener.elicit(params);
        let open = OpenQuestion::new(&self.questions);
        // Held until it is noted, so that it cannot end before.
        let mut inner = lock(&self.inner);
        let task = tokio::spawn(async move {
            let outcome = work.await;
            drop(open);
            if lock(&shared.inner).asked.remove(&id.to_string()).is_some() {
                shared.respond(&id, outcome);
            }
        });
        inner.asked.insert(key, task.abort_handle());
    }
}

/// Counts an open question as long as it lives.
struct OpenQuestion(watch::Sender<usize>);

impl OpenQuestion {
    fn new(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// Takes what comes, until nothing comes any more or nobody has the connection.
async fn receive_arrivals(shared: Weak<Shared>, mut arrivals: mpsc::Receiver<Arrival>) {
    let (mut second, mut taken) = (Instant::now(), 0);
    while let Some(arrival) = arrivals.recv().await {
        if second.elapsed() >= Duration::from_secs(1) {
            (second, taken) = (Instant::now(), 0);
        }
        taken += 1;
        if taken > limits::MCP_MESSAGES_PER_SECOND {
            // Nothing more is read meanwhile, so that the server waits, too.
            sleep_until(second + Duration::from_secs(1)).await;
        }
        let Some(shared) = shared.upgrade() else { return };
        match arrival {
            Arrival::Message(Incoming::Response { id, outcome }) => {
                shared.answer(id, outcome.map_err(RequestError::Rpc));
            }
            Arrival::Message(Incoming::Notification { method, params }) => shared.on_notification(&method, &params),
            Arrival::Message(Incoming::Request { id, method, params }) => shared.answer_request(&id, &method, params),
            Arrival::Failed(id, SendError::Answered(error)) => shared.answer(id, Err(RequestError::Rpc(error))),
            Arrival::Failed(id, error) => shared.answer(id, Err(RequestError::Send(error))),
            Arrival::Message(Incoming::Unreadable(error)) => shared.unreadable(error),
            Arrival::Noise(text) => *lock(&shared.noise) = Some(text),
            Arrival::Broken(why) if lock(&shared.inner).waiting.is_empty() => *lock(&shared.noise) = Some(why),
            Arrival::Broken(why) | Arrival::Lost(why) => shared.lose(&why, EndedBy::Server),
        }
    }
    if let Some(shared) = shared.upgrade() {
        shared.lose("the connection has ended", EndedBy::Server);
    }
}
