//! A server in one directory: started at its first call, shared by every agent that works there, started again after a
//! failure, ended when nobody has it any more.
//!
//! Always holds: there is one process at a time, however many calls want one. A call that may have had an effect is never
//! sent a second time, unless the server says that it may be; one that the server has not taken always is.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::mcp::catalog::Hints;
use crate::mcp::connection::{Connection, EndedBy, ListKind, Listener, Patience, RequestError};
use crate::mcp::definition::Reached;
use crate::mcp::elicitation::elicit;
use crate::mcp::message::RpcError;
use crate::mcp::process::server_job;
use crate::mcp::progress::Progress;
use crate::mcp::server::Server;
use crate::mcp::session::Session;
use crate::mcp::transport::{ErrorOutput, HttpTransport, SendError, StdioTransport, Transport};
use steersman_base::limits;
use steersman_base::sync::lock;
use steersman_base::text::{clip, visible_line};

/// A server in one directory.
pub struct Instance {
    server: Arc<Server>,
    directory: PathBuf,
    /// Where its agents work.
    workspace: PathBuf,
    /// Held while it is started.
    live: tokio::sync::Mutex<Live>,
    /// The conversation, for those who only look.
    session: Mutex<Option<Arc<Session>>>,
    closed: AtomicBool,
}

#[derive(Default)]
struct Live {
    /// How often in a row it failed.
    failures: u32,
    /// When it may be started again, and why not before.
    rest: Option<(Instant, String)>,
}

/// What is asked of a server, so that it can be asked again.
#[derive(Debug, Clone, Copy)]
pub enum ServerRequest<'a> {
    /// A call of a tool.
    Call {
        /// The tool, by the server's name.
        tool: &'a str,
        /// Its arguments.
        arguments: &'a Map<String, Value>,
        /// What the server says about its effects.
        hints: Hints,
    },
    /// The content of a resource.
    Resource {
        /// Its address.
        uri: &'a str,
    },
    /// A prompt, filled in.
    Prompt {
        /// Its name.
        name: &'a str,
        /// What it is filled in with.
        arguments: &'a Map<String, Value>,
    },
}

impl ServerRequest<'_> {
    /// Tells whether it may be sent again when nobody knows what became of it.
    fn may_repeat(&self) -> bool {
        match self {
            Self::Call { hints, .. } => hints.may_repeat(),
            Self::Resource { .. } | Self::Prompt { .. } => true,
        }
    }
}

impl Instance {
    pub(super) fn new(server: Arc<Server>, directory: PathBuf, workspace: PathBuf) -> Self {
        let (live, session) = (tokio::sync::Mutex::default(), Mutex::default());
        Self { server, directory, workspace, live, session, closed: AtomicBool::new(false) }
    }

    /// Returns the server.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Tells whether it runs.
    pub fn is_running(&self) -> bool {
        self.current().is_some()
    }

    /// Asks the server; starts it where it does not run.
    ///
    /// # Errors
    /// One sentence.
    pub async fn ask(
        &self,
        wanted: ServerRequest<'_>,
        progress: &(dyn Fn(&Progress) + Send + Sync),
    ) -> Result<Value, String> {
        let name = &self.server.definition().name;
        let time = self.server.definition().call_time;
        let patience = Patience { idle: time, most: limits::MCP_CALL_MOST_TIME.max(time) };
        let mut is_first = true;
        loop {
            let session = self.session().await?;
            self.server.called();
            let asked = match wanted {
                ServerRequest::Call { tool, arguments, .. } => session.call(tool, arguments, patience, progress).await,
                ServerRequest::Resource { uri } => session.read_resource(uri, patience).await,
                ServerRequest::Prompt { name, arguments } => session.prompt(name, arguments, patience).await,
            };
            let error = match asked {
                Ok(result) => {
                    self.live.lock().await.failures = 0;
                    return Ok(result);
                }
                Err(error) => error,
            };
            let again = std::mem::take(&mut is_first);
            match error {
                // It has not taken the request: nothing can have happened.
                RequestError::Send(SendError::SessionGone) if again => {
                    self.leave(&session);
                    session.connection().close("the server has ended the session");
                }
                error @ (RequestError::Lost(_) | RequestError::Send(SendError::Broken(_))) => {
                    let is_lost = session.connection().is_lost();
                    if is_lost && self.leave(&session) {
                        self.note_loss(&error.to_string()).await;
                    }
                    if again && wanted.may_repeat() {
                        continue;
                    }
                    let effect = match wanted {
                        ServerRequest::Call { .. } => "; what it did by then is not known, and it was not sent again",
                        ServerRequest::Resource { .. } | ServerRequest::Prompt { .. } => "",
                    };
                    let what = if is_lost { "was lost during the call" } else { "gave no whole answer to the call" };
                    return Err(format!("the server {name} {what}: {error}{effect}"));
                }
                RequestError::TimedOut(time) => {
                    let noise = session.connection().noise().map(|noise| format!("; {noise}")).unwrap_or_default();
                    let seconds = time.as_secs_f32();
                    return Err(format!(
                        "the server {name} gave no answer within {seconds} s, the call was cancelled{noise}"
                    ));
                }
                RequestError::Send(SendError::LoginWanted) => {
                    let why = login_needed(name);
                    self.server.failed(&why, &ErrorOutput::default());
                    return Err(format!("the server {name} did not take the call: {why}"));
                }
                RequestError::Send(error @ (SendError::Unreachable(_) | SendError::SessionGone)) => {
                    // The next call begins another conversation.
                    if self.leave(&session) {
                        self.note_loss(&error.to_string()).await;
                    }
                    return Err(self.not_taken(&error));
                }
                RequestError::Send(error @ SendError::Refused(_)) => return Err(self.not_taken(&error)),
                RequestError::Rpc(error) | RequestError::Send(SendError::Answered(error)) => {
                    return Err(self.error_sentence(&error));
                }
            }
        }
    }

    /// Notes that the server did not take a call, and says so.
    fn not_taken(&self, error: &SendError) -> String {
        self.server.failed(&error.to_string(), &ErrorOutput::default());
        format!("the server {} did not take the call: {error}", self.server.definition().name)
    }

    /// Words an error of the server.
    fn error_sentence(&self, error: &RpcError) -> String {
        // The user has to open an address first, which the server names.
        let wanted = error.data.get("elicitations").and_then(Value::as_array).filter(|_| error.code == -32042);
        let addresses: Vec<&str> =
            wanted.into_iter().flatten().filter_map(|one| one.get("url").and_then(Value::as_str)).collect();
        let more = if addresses.is_empty() {
            String::new()
        } else {
            format!("; the user has to open {} first", addresses.join(" and "))
        };
        format!("the server {} says: {}{more}", self.server.definition().name, error.message)
    }

    /// Asks the server for what it offers, so that it is known.
    ///
    /// # Errors
    /// One sentence.
    pub async fn discover(&self) -> Result<(), String> {
        self.session().await.map(|_| ())
    }

    /// Returns the conversation; begins one where there is none.
    async fn session(&self) -> Result<Arc<Session>, String> {
        let name = &self.server.definition().name;
        let mut live = self.live.lock().await;
        if let Some(session) = self.current() {
            return Ok(session);
        }
        if self.closed.load(Ordering::SeqCst) {
            return Err(format!("the server {name} was ended with the session"));
        }
        if let Some((until, why)) = live.rest.clone().filter(|(until, _)| *until > Instant::now()) {
            let seconds = (until - Instant::now()).as_secs() + 1;
            return Err(format!(
                "the server {name} does not run: {why}; it is started again in {seconds} s at the soonest"
            ));
        }
        let errors = ErrorOutput::default();
        let dirty = Arc::new(Notify::new());
        match self.start(&errors, &dirty).await {
            Ok(session) => {
                live.rest = None;
                let session = Arc::new(session);
                *self.slot() = Some(Arc::clone(&session));
                self.watch(&session, dirty, errors.clone());
                self.server.started(session.about().line(), &errors);
                // Closed while it started.
                if self.closed.load(Ordering::SeqCst) {
                    self.close();
                }
                Ok(session)
            }
            Err(error) => {
                let why = match error {
                    // It may be made at any time.
                    StartError::LoginWanted => login_needed(name),
                    StartError::Failed(why) => {
                        live.failures = live.failures.saturating_add(1);
                        live.rest = Some((Instant::now() + pause(live.failures), why.clone()));
                        with_errors(&why, &errors) + &self.server.hint()
                    }
                };
                self.server.failed(&why, &errors);
                Err(format!("the server {name} does not start: {why}"))
            }
        }
    }

    fn current(&self) -> Option<Arc<Session>> {
        self.slot().clone().filter(|session| !session.connection().is_lost())
    }

    /// Leaves a conversation, so that the next call begins another; tells whether it was still the current one, which is
    /// so once, however many calls it had.
    fn leave(&self, session: &Arc<Session>) -> bool {
        let mut slot = self.slot();
        let is_current = slot.as_ref().is_some_and(|current| Arc::ptr_eq(current, session));
        if is_current {
            *slot = None;
        }
        is_current
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Arc<Session>>> {
        lock(&self.session)
    }

    /// Starts the server, and asks what it offers.
    async fn start(&self, errors: &ErrorOutput, dirty: &Arc<Notify>) -> Result<Session, StartError> {
        let definition = self.server.definition();
        let listener: Arc<dyn Listener> =
            Arc::new(InstanceListener { server: Arc::downgrade(&self.server), dirty: Arc::clone(dirty) });
        let connection = self.connect(errors, &listener).map_err(StartError::Failed)?;
        let began = Session::begin(connection, listener, definition.start_time).await;
        let session = began.map_err(|error| not_begun(&error, definition.start_time))?;
        // What has changed before the answer came is in these lists.
        dirty.notified().now_or_never();
        let mut notes = Vec::new();
        let catalog = session.catalog(&mut notes).await;
        let catalog = catalog.map_err(|error| StartError::Failed(format!("it does not list its tools: {error}")))?;
        self.server.offers(catalog, notes);
        session.listen();
        Ok(session)
    }

    fn connect(&self, errors: &ErrorOutput, listener: &Arc<dyn Listener>) -> Result<Connection, String> {
        let definition = self.server.definition();
        match &definition.reached {
            Reached::Process(process) => {
                let spawner = &self.server.around().spawner;
                let job = server_job(process, &self.directory, &self.workspace, spawner)?;
                let opened = Connection::open(Arc::clone(listener), |inbox| {
                    let started = StdioTransport::start(spawner, &job, errors, inbox);
                    started.map(|transport| Box::new(transport) as Box<dyn Transport>)
                });
                opened.map_err(|error| error.to_string())
            }
            Reached::Address(address) => Connection::open(Arc::clone(listener), |inbox| {
                let http = self.server.around().http.clone();
                let login = Arc::clone(self.server.login());
                let transport = HttpTransport::new(http, address.url.clone(), &address.headers, login, inbox);
                transport.map(|transport| Box::new(transport) as Box<dyn Transport>)
            }),
        }
    }

    /// Asks for the lists again when they have changed, and says when the conversation ends; ends with it.
    fn watch(&self, session: &Arc<Session>, dirty: Arc<Notify>, errors: ErrorOutput) {
        let lost = session.connection().until_lost();
        let (server, session) = (Arc::downgrade(&self.server), Arc::downgrade(session));
        tokio::spawn(async move {
            let mut lost = std::pin::pin!(lost);
            let mut listed = Instant::now();
            loop {
                tokio::select! {
                    biased;
                    lost = &mut lost => {
                        match (server.upgrade(), lost.by) {
                            (Some(server), EndedBy::Server) => server.failed(&with_errors(&lost.why, &errors), &errors),
                            (Some(server), EndedBy::Client) => server.ended(),
                            (None, _) => {}
                        }
                        return;
                    }
                    () = async { sleep_until(listed).await; dirty.notified().await } => {}
                }
                let (Some(server), Some(session)) = (server.upgrade(), session.upgrade()) else { return };
                let mut notes = Vec::new();
                // One that cannot be had now is as it was.
                if let Ok(catalog) = session.catalog(&mut notes).await {
                    server.offers(catalog, notes);
                }
                listed = Instant::now() + limits::MCP_LIST_DISTANCE;
            }
        });
    }

    /// Counts a loss: a second one in a row has to wait before the next start.
    async fn note_loss(&self, why: &str) {
        let mut live = self.live.lock().await;
        live.failures = live.failures.saturating_add(1);
        if live.failures > 1 {
            live.rest = Some((Instant::now() + pause(live.failures - 1), why.to_owned()));
        }
    }

    /// Ends it, for good.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        if let Some(session) = self.slot().take() {
            session.connection().close("the session has ended");
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns how long a server rests after so many failures in a row.
fn pause(failures: u32) -> Duration {
    (limits::MCP_REST * 2_u32.saturating_pow(failures.saturating_sub(1).min(16))).min(limits::MCP_REST_MOST)
}

/// Why a server is not started.
enum StartError {
    /// The user has to log in.
    LoginWanted,
    /// It failed; a sentence says how.
    Failed(String),
}

/// Says why the handshake did not come to its end.
fn not_begun(error: &RequestError, time: Duration) -> StartError {
    StartError::Failed(match error {
        RequestError::Send(SendError::LoginWanted) => return StartError::LoginWanted,
        RequestError::TimedOut(_) => format!("it did not answer within {} s", time.as_secs_f32()),
        other => other.to_string(),
    })
}

fn login_needed(name: &str) -> String {
    format!("it wants a login; the user logs in with: steersman mcp login {name}")
}

/// Adds the last line of the error output.
fn with_errors(why: &str, errors: &ErrorOutput) -> String {
    let errors = errors.text();
    match errors.lines().next_back().map(str::trim) {
        Some(line) if !line.is_empty() => format!("{why}; its last words: {}", clip(&visible_line(line), 200)),
        Some(_) | None => why.to_owned(),
    }
}

/// What a server asks of the user, and tells of its lists.
struct InstanceListener {
    server: Weak<Server>,
    dirty: Arc<Notify>,
}

impl Listener for InstanceListener {
    fn elicit(&self, params: Value) -> BoxFuture<'static, Result<Value, RpcError>> {
        let server = self.server.upgrade();
        async move {
            match server {
                Some(server) => elicit(&server.definition().name, &server.around().approvals, &params).await,
                None => Ok(json!({"action": "cancel"})),
            }
        }
        .boxed()
    }

    fn changed(&self, list: ListKind) {
        // All are asked for again: they are short, and some servers tell of one and mean another.
        match list {
            ListKind::Tools | ListKind::Resources | ListKind::Prompts => self.dirty.notify_one(),
        }
    }
}
