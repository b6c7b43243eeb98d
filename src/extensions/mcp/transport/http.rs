//! A server at an address: each message is a request of its own, answered with one message or with a stream of them
//! (streamable HTTP).
//!
//! Both eras: with a session that the server names and may end (then a request is not taken, and nothing has happened),
//! and without. A stream that breaks before its answer is taken up again where the server numbers its events; else what
//! became of the request is not known. Redirects are not followed, and every body has a cap.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Method, Response, StatusCode, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep, timeout};

use crate::mcp::login::Login;
use crate::mcp::message::{self, Incoming, MessageError};
use crate::mcp::transport::sse::{Gone, Stream};
use crate::mcp::transport::{Arrival, Inbox, Outgoing, SendError, Transport};
use steersman_base::limits;
use steersman_base::sync::lock;
use steersman_base::text::{clip, visible_line};
use steersman_provider::Http;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const LAST_EVENT: &str = "last-event-id";

/// A way to a server at an address.
#[derive(Debug)]
pub struct HttpTransport {
    shared: Arc<Shared>,
    queue: Mutex<Option<mpsc::Sender<Outgoing>>>,
    sender: JoinHandle<()>,
}

struct Shared {
    http: Http,
    url: Url,
    headers: HeaderMap,
    login: Arc<Login>,
    inbox: Inbox,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The session that the server has named.
    session: Option<HeaderValue>,
    version: Option<String>,
    /// The requests that are not answered yet.
    requests: HashMap<u64, AbortHandle>,
    listener: Option<AbortHandle>,
    is_closed: bool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Its headers may be secrets.
        f.debug_tuple("Shared").field(&self.url.as_str()).finish()
    }
}

impl HttpTransport {
    /// Makes a transport; nothing is sent.
    ///
    /// # Errors
    /// One sentence for a header that is none.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn new(
        http: Http,
        url: Url,
        headers: &[(String, SecretString)],
        login: Arc<Login>,
        inbox: Inbox,
    ) -> Result<Self, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let wrong = || format!("the header {} cannot be sent", visible_line(name));
            let value = HeaderValue::from_str(value.expose_secret()).map_err(|_| wrong())?;
            map.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?, value);
        }
        let shared = Arc::new(Shared { http, url, headers: map, login, inbox, state: Mutex::default() });
        let (queue, waiting) = mpsc::channel(limits::MCP_OUTBOX);
        let sender = tokio::spawn(send_all(Arc::clone(&shared), waiting));
        Ok(Self { shared, queue: Mutex::new(Some(queue)), sender })
    }
}

impl Transport for HttpTransport {
    fn send(&self, message: Outgoing) {
        if message.message.get("method").and_then(Value::as_str) == Some("notifications/cancelled") {
            let id = message.message.pointer("/params/requestId").and_then(Value::as_u64);
            let mut state = lock(&self.shared.state);
            if let Some(request) = id.and_then(|id| state.requests.remove(&id)) {
                request.abort();
            }
            // In the newer era the end of its stream says it.
            if is_stateless(state.version.as_deref()) {
                return;
            }
        }
        if let Some(queue) = &*lock(&self.queue) {
            // What finds no room is not sent: a request ends with its time, and what no request is nobody waits for.
            let _ = queue.try_send(message);
        }
    }

    fn agreed(&self, version: &str) {
        lock(&self.shared.state).version = Some(version.to_owned());
    }

    fn close(&self) {
        *lock(&self.queue) = None;
        self.sender.abort();
        let session = {
            let mut state = lock(&self.shared.state);
            state.is_closed = true;
            state.requests.drain().for_each(|(_, request)| request.abort());
            if let Some(listener) = state.listener.take() {
                listener.abort();
            }
            state.session.take()
        };
        // Said where there is still time for it.
        if let (Some(session), Ok(runtime)) = (session, tokio::runtime::Handle::try_current()) {
            let shared = Arc::clone(&self.shared);
            runtime.spawn(async move {
                let _ = timeout(limits::MCP_END_TIME, shared.end(session)).await;
            });
        }
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        self.close();
    }
}

/// Sends messages in their order: what is no request must have arrived before the next one goes out.
async fn send_all(shared: Arc<Shared>, mut waiting: mpsc::Receiver<Outgoing>) {
    while let Some(message) = waiting.recv().await {
        let Some(id) = message.request else {
            let _ = timeout(limits::MCP_NOTE_TIME, shared.notify(&message.message)).await;
            let method = message.message.get("method").and_then(Value::as_str);
            if method == Some("notifications/initialized") {
                let listening = tokio::spawn(listen(Arc::clone(&shared)));
                lock(&shared.state).listener = Some(listening.abort_handle());
            }
            continue;
        };
        let sending = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            if let Err(error) = sending.ask(id, &message.message).await {
                let _ = sending.inbox.send(Arrival::Failed(id, error)).await;
            }
            lock(&sending.state).requests.remove(&id);
        });
        let mut state = lock(&shared.state);
        if !task.is_finished() {
            state.requests.insert(id, task.abort_handle());
        }
    }
}

impl Shared {
    /// Sends a request and reads what comes of it, until its answer has come.
    async fn ask(&self, id: u64, message: &Value) -> Result<(), SendError> {
        let response = self.post(message).await?;
        if content_type(&response) == "text/event-stream" {
            return self.read_stream(id, response).await;
        }
        let body = read_body(response).await.map_err(SendError::Broken)?;
        if body.trim_ascii().is_empty() {
            return Err(no_answer());
        }
        let messages = message::parse(&body).map_err(|fault| SendError::Broken(fault.to_string()))?;
        if self.deliver(messages, Some(id)).await { Ok(()) } else { Err(no_answer()) }
    }

    async fn notify(&self, message: &Value) -> Result<(), SendError> {
        self.post(message).await.map(drop)
    }

    /// Sends a message; returns a response that may hold an answer.
    async fn post(&self, message: &Value) -> Result<Response, SendError> {
        let id = message.get("id").and_then(Value::as_u64).filter(|_| message.get("method").is_some());
        let mut token = self.login.token(&self.http).await;
        for is_first in [true, false] {
            let (had_session, response) = self.send(Method::POST, Some(message), token.as_ref(), None).await?;
            let status = response.status();
            if let Some(session) = response.headers().get(SESSION).filter(|_| status.is_success()) {
                let is_hello = message.get("method").and_then(Value::as_str) == Some("initialize");
                if is_hello {
                    lock(&self.state).session = Some(session.clone());
                }
            }
            if status.is_success() {
                return Ok(response);
            }
            if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
                let wanted = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
                let wanted = wanted.unwrap_or_default().to_owned();
                if status == StatusCode::FORBIDDEN && !wanted.contains("insufficient_scope") {
                    return Err(self.refused(id, response).await);
                }
                // One that another process has renewed meanwhile is taken, too.
                let renewed = if is_first { self.login.renew(&self.http, token.as_ref()).await } else { None };
                let Some(renewed) = renewed else {
                    self.login.challenged(&wanted);
                    return Err(SendError::LoginWanted);
                };
                token = Some(renewed);
                continue;
            }
            let is_gone = |words: &str| {
                // Some servers say it with the other status, but most mean the request.
                status == StatusCode::NOT_FOUND || status == StatusCode::BAD_REQUEST && names_lost_session(words)
            };
            return match self.refused(id, response).await {
                SendError::Refused(words) if had_session && is_gone(&words) => Err(SendError::SessionGone),
                error => Err(error),
            };
        }
        Err(SendError::LoginWanted)
    }

    /// Sends one HTTP request; returns also whether it named a session.
    async fn send(
        &self,
        method: Method,
        message: Option<&Value>,
        token: Option<&SecretString>,
        last_event: Option<&str>,
    ) -> Result<(bool, Response), SendError> {
        let client = self.http.client(&self.url).map_err(|error| SendError::Refused(error.to_string()))?;
        let mut headers = self.headers.clone();
        let accept = if message.is_some() { "application/json, text/event-stream" } else { "text/event-stream" };
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        let (session, version) = {
            let state = lock(&self.state);
            (state.session.clone(), state.version.clone())
        };
        let put = |headers: &mut HeaderMap, name: &'static str, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        if let Some(version) = &version {
            put(&mut headers, VERSION, version);
        }
        if let Some(message) = message.filter(|_| is_stateless(version.as_deref())) {
            let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
            put(&mut headers, "mcp-method", text("/method").unwrap_or_default());
            if let Some(name) = text("/params/name").or_else(|| text("/params/uri")) {
                put(&mut headers, "mcp-name", &header_text(name));
            }
        }
        if let Some(token) = token {
            put(&mut headers, "authorization", &format!("Bearer {}", token.expose_secret()));
        }
        if let Some(event) = last_event {
            put(&mut headers, LAST_EVENT, event);
        }
        let had_session = session.is_some();
        if let Some(session) = session {
            headers.insert(SESSION, session);
        }
        let mut request = client.request(method, self.url.clone()).headers(headers);
        if let Some(message) = message {
            request = request.header(CONTENT_TYPE, "application/json").body(message.to_string());
        }
        match request.send().await {
            Ok(response) => Ok((had_session, response)),
            Err(error) if error.is_connect() => Err(SendError::Unreachable(causes(&error))),
            Err(error) => Err(SendError::Broken(format!("the connection broke: {}", causes(&error)))),
        }
    }

    /// Says why a response is none; an error of the protocol in it is delivered as such.
    async fn refused(&self, id: Option<u64>, response: Response) -> SendError {
        let status = response.status();
        if status.is_redirection() {
            let place = response.headers().get(LOCATION).and_then(|place| place.to_str().ok()).unwrap_or("elsewhere");
            return SendError::Refused(format!(
                "it redirects to {}; a redirect is not followed, so configure that address if you trust it",
                clip(&visible_line(place), 200)
            ));
        }
        let body = read_body(response).await.unwrap_or_default();
        let mut words = String::from_utf8_lossy(&body).into_owned();
        for message in message::parse(&body).unwrap_or_default() {
            match message {
                Incoming::Response { id: of, outcome: Err(error) } if Some(of) == id => {
                    return SendError::Answered(error);
                }
                Incoming::Unreadable(error) => words = error.message,
                Incoming::Response { .. } | Incoming::Request { .. } | Incoming::Notification { .. } => {}
            }
        }
        let words = visible_line(words.trim());
        let words = if words.is_empty() { String::new() } else { format!(": {}", clip(&words, 200)) };
        SendError::Refused(format!("it answered with HTTP {}{words}", status.as_u16()))
    }

    /// Reads a stream until it has brought the answer; takes it up again where it breaks and can be.
    async fn read_stream(&self, id: u64, response: Response) -> Result<(), SendError> {
        let mut stream = Stream::new(response);
        let mut resumed = 0;
        loop {
            let why = loop {
                match stream.next().await {
                    Ok(data) => {
                        resumed = 0;
                        match message::parse(data.as_bytes()) {
                            // The server logs.
                            Err(fault @ MessageError::NoJson(_)) => {
                                let _ = self.inbox.send(Arrival::Noise(fault.to_string())).await;
                            }
                            Err(fault @ MessageError::Broken(_)) => return Err(SendError::Broken(fault.to_string())),
                            Ok(messages) => {
                                if self.deliver(messages, Some(id)).await {
                                    return Ok(());
                                }
                            }
                        }
                    }
                    Err(why) => break why,
                }
            };
            let event = stream.last_event().to_owned();
            let can_resume = !event.is_empty() && !is_stateless(lock(&self.state).version.as_deref());
            if !can_resume || resumed >= limits::MCP_RESUMES {
                return Err(match why {
                    Gone::Ended => SendError::Broken("it ended its answer before it was whole".to_owned()),
                    Gone::Broken(why) => SendError::Broken(why),
                });
            }
            resumed += 1;
            sleep(stream.retry()).await;
            let token = self.login.token(&self.http).await;
            let (_, response) = self.send(Method::GET, None, token.as_ref(), Some(&event)).await?;
            if !response.status().is_success() {
                return Err(SendError::Broken("it does not go on with an answer that broke off".to_owned()));
            }
            stream.resume(response);
        }
    }

    /// Delivers messages; tells whether the answer to this request was among them.
    async fn deliver(&self, messages: Vec<Incoming>, id: Option<u64>) -> bool {
        let mut is_answered = false;
        for message in messages {
            is_answered |= matches!(&message, Incoming::Response { id: of, .. } if Some(*of) == id);
            // Nobody waits for it any more.
            let _ = self.inbox.send(Arrival::Message(message)).await;
        }
        is_answered
    }

    /// Tells the server that the session is over.
    async fn end(&self, session: HeaderValue) {
        let token = self.login.token(&self.http).await;
        let Ok(client) = self.http.client(&self.url) else { return };
        let mut request = client.request(Method::DELETE, self.url.clone()).headers(self.headers.clone());
        request = request.header(SESSION, session);
        if let Some(token) = token {
            request = request.bearer_auth(token.expose_secret());
        }
        let _ = request.send().await;
    }
}

/// Takes what the server says outside of answers, as long as it has a stream for that.
async fn listen(shared: Arc<Shared>) {
    let mut failures: u32 = 0;
    let mut event = String::new();
    while failures < limits::MCP_RESUMES {
        let token = shared.login.token(&shared.http).await;
        let last = Some(event.as_str()).filter(|event| !event.is_empty());
        match shared.send(Method::GET, None, token.as_ref(), last).await {
            Ok((_, response)) if response.status().is_success() && content_type(&response) == "text/event-stream" => {
                let mut stream = Stream::new(response);
                while let Ok(data) = stream.next().await {
                    failures = 0;
                    // What is no message is the server's log.
                    shared.deliver(message::parse(data.as_bytes()).unwrap_or_default(), None).await;
                }
                stream.last_event().clone_into(&mut event);
            }
            // It has none.
            Ok(_) => return,
            Err(_) => {}
        }
        failures += 1;
        sleep(limits::MCP_REST * 2_u32.saturating_pow(failures.saturating_sub(1))).await;
    }
}

/// What servers say of a session that they do not know.
const LOST: [&str; 22] = [
    "no valid session",
    "invalid session",
    "unknown session",
    "no such session",
    "missing session",
    "expired session",
    "no session",
    "session not found",
    "session id not found",
    "session was not found",
    "session expired",
    "session has expired",
    "session is expired",
    "session terminated",
    "session has been terminated",
    "session does not exist",
    "session id is missing",
    "session id is required",
    "session id header is required",
    "session is invalid",
    "session not initialized",
    "session id is invalid",
];

/// Tells whether the words of a refusal say that the server does not know the session: of it itself, not of something that the
/// call is about.
fn names_lost_session(words: &str) -> bool {
    let words = words.to_lowercase().replace(['-', '_'], " ");
    LOST.iter().any(|phrase| words.contains(phrase))
}

fn is_stateless(version: Option<&str>) -> bool {
    version.is_some_and(|version| version >= "2026-07-28")
}

/// Writes a text as the value of a header, as the protocol wants it where it is not plain.
fn header_text(text: &str) -> String {
    use base64::Engine as _;

    let is_plain = text.bytes().all(|byte| (0x21..=0x7e).contains(&byte) || byte == b' ') && text.trim() == text;
    if is_plain && !text.starts_with("=?") {
        return text.to_owned();
    }
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(text))
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Reads a body up to the cap.
pub(in crate::mcp) async fn read_body(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(piece)) if body.len() + piece.len() > limits::MCP_LINE_BYTES => {
                return Err(format!(
                    "it answered with more than {}",
                    steersman_base::summary::bytes(limits::MCP_LINE_BYTES as u64)
                ));
            }
            Ok(Some(piece)) => body.extend_from_slice(&piece),
            Ok(None) => return Ok(body),
            Err(error) => return Err(format!("the connection broke: {}", causes(&error))),
        }
    }
}

/// Returns the causes of an error, without its address.
pub(in crate::mcp) fn causes(error: &reqwest::Error) -> String {
    let mut causes = Vec::new();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    causes.pop().unwrap_or_else(|| "no reason is known".to_owned())
}

fn no_answer() -> SendError {
    SendError::Broken("its answer is missing".to_owned())
}

/// The pause before a broken stream is taken up again, unless the server says how long.
pub(super) const RETRY: Duration = Duration::from_secs(1);
