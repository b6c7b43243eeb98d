//! A scripted model server on 127.0.0.1 for tests of everything above or on the wire.
//!
//! It runs on a thread of its own (so plain, async and pty tests can use it), takes one [`Reply`] per chat request,
//! records every request and checks each one: a tool call without its result directly behind it makes the test fail
//! when the server is dropped. Do not use it under paused tokio time: sockets know nothing of that clock.
//!
//! ```ignore
//! let server = Server::start([Reply::calls(&[("call_1", "glob", r#"{"pattern":"*"}"#)]), Reply::text("Done.")]);
//! // … run something against server.url() …
//! assert_eq!(server.chats().len(), 2);
//! ```

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

use super::family::Family;
pub use super::family::{Counts, End, Move};
use super::reply::{Body, block_on, wait};
pub use super::reply::{Gate, Reply, Step};

/// A running server. Dropping it stops it, and panics if any chat request was invalid.
pub struct Server {
    origin: String,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

type Route = dyn Fn(&Request) -> Option<Reply> + Send + Sync;

struct Shared {
    route: Box<Route>,
    /// Answers what is no chat request.
    others: Box<Route>,
    script: Mutex<VecDeque<Reply>>,
    fixed: Mutex<Vec<(String, Reply)>>,
    requests: Mutex<Vec<Request>>,
    chats: watch::Sender<usize>,
    hang_ups: watch::Sender<usize>,
    connections: AtomicUsize,
}

impl Server {
    /// Starts with replies for the chat requests, in order. Without a further reply it answers 400.
    pub fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        Self::run(script.into_iter().collect(), |_| None)
    }

    /// Starts with a function that makes the reply out of each chat request: for agents that run at the same time.
    pub fn routed(route: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::run(VecDeque::new(), move |request| Some(route(request)))
    }

    /// Starts at an address that is free.
    pub fn start_at(address: SocketAddr, script: impl IntoIterator<Item = Reply>) -> Self {
        Self::listen(std::net::TcpListener::bind(address).unwrap(), script.into_iter().collect(), |_| None, |_| None)
    }

    /// Starts with a function that answers every request, whatever its path: for servers that are no models.
    pub fn answering(route: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        Self::listen(listener, VecDeque::new(), |_| None, move |request| Some(route(request)))
    }

    fn run(script: VecDeque<Reply>, route: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static) -> Self {
        Self::listen(std::net::TcpListener::bind("127.0.0.1:0").unwrap(), script, route, |_| None)
    }

    fn listen(
        listener: std::net::TcpListener,
        script: VecDeque<Reply>,
        route: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
        others: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            route: Box::new(route),
            others: Box::new(others),
            script: Mutex::new(script),
            fixed: Mutex::default(),
            requests: Mutex::default(),
            chats: watch::channel(0).0,
            hang_ups: watch::channel(0).0,
            connections: AtomicUsize::new(0),
        });
        listener.set_nonblocking(true).unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let in_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                let accept = async {
                    while let Ok((socket, _)) = listener.accept().await {
                        in_thread.connections.fetch_add(1, Ordering::Relaxed);
                        tokio::spawn(serve(socket, Arc::clone(&in_thread)));
                    }
                };
                tokio::select! { () = accept => {}, _ = stopped => {} }
            });
        });
        Self { origin, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// Returns the base URL with `/v1`.
    pub fn url(&self) -> String {
        format!("{}/v1", self.origin)
    }

    /// Returns `http://127.0.0.1:port`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Adds a reply behind the ones there are.
    pub fn reply(&self, reply: Reply) {
        self.shared.script.lock().unwrap().push_back(reply);
    }

    /// Adds a text reply.
    pub fn reply_text(&self, text: &str) {
        self.reply(Reply::text(text));
    }

    /// Adds a reply of calls `(id, name, arguments as JSON)`.
    pub fn reply_calls(&self, calls: &[(&str, &str, &str)]) {
        self.reply(Reply::calls(calls));
    }

    /// Adds a reply that waits for the returned gate before its first byte.
    pub fn reply_gated(&self, reply: Reply) -> Gate {
        let gate = Gate::new();
        self.reply(reply.gated(&gate));
        gate
    }

    /// Answers every request whose path and query starts with `path` and is no chat request (`/v1/models`, `/props`).
    /// The longest match wins.
    pub fn on(&self, path: &str, reply: Reply) {
        self.shared.fixed.lock().unwrap().push((path.to_owned(), reply));
    }

    /// Returns every request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Returns the chat requests so far.
    pub fn chats(&self) -> Vec<Request> {
        self.requests().into_iter().filter(Request::is_chat).collect()
    }

    /// Waits until `count` chat requests came.
    pub async fn requested(&self, count: usize) {
        wait(self.shared.chats.subscribe(), "chat requests", |seen| *seen >= count).await;
    }

    /// Blocking form of [`Server::requested`], for tests without a runtime.
    pub fn wait_requested(&self, count: usize) {
        block_on(self.requested(count));
    }

    /// Waits until the newest chat request has this text of the user.
    pub fn wait_said(&self, text: &str) {
        let is_said = || {
            let requests = self.shared.requests.lock().unwrap();
            let newest = requests.iter().rev().find(|request| request.is_chat());
            newest.is_some_and(|request| request.texts("user").iter().any(|said| said == text))
        };
        block_on(wait(self.shared.chats.subscribe(), "a request with a text", |_| is_said()));
    }

    /// Waits until the client has closed `count` connections before their replies were whole.
    pub async fn hung_up(&self, count: usize) {
        wait(self.shared.hang_ups.subscribe(), "hang-ups", |seen| *seen >= count).await;
    }

    /// Blocking form of [`Server::hung_up`].
    pub fn wait_hung_up(&self, count: usize) {
        block_on(self.hung_up(count));
    }

    /// Counts the connections that were made.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Returns what is wrong with the chat requests so far: nothing, in a good program.
    pub fn violations(&self) -> Vec<String> {
        let check = |(index, chat): (usize, &Request)| {
            chat.family()?.violation(chat).map(|fault| format!("request {index}: {fault}"))
        };
        self.chats().iter().enumerate().filter_map(check).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if !std::thread::panicking() {
            let violations = self.violations();
            assert!(violations.is_empty(), "invalid requests were sent: {violations:#?}");
        }
    }
}

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The JSON body, null without one.
    pub body: Value,
    /// The body as it came.
    pub text: String,
    /// The other end of its connection.
    pub peer: Option<SocketAddr>,
}

impl Request {
    /// Tells whether it asks for a reply of the model.
    pub fn is_chat(&self) -> bool {
        self.family().is_some()
    }

    /// Returns the dialect in which it asks for a reply.
    pub fn family(&self) -> Option<Family> {
        Family::of(&self.method, &self.path)
    }

    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the messages of a chat request.
    pub fn messages(&self) -> Vec<Value> {
        self.body["messages"].as_array().cloned().unwrap_or_default()
    }

    /// Returns the roles of the messages, in order.
    pub fn roles(&self) -> Vec<String> {
        self.messages().iter().map(|message| message["role"].as_str().unwrap_or("?").to_owned()).collect()
    }

    /// Returns the texts of the messages with a role, in order, without the frames around those of the user.
    pub fn texts(&self, role: &str) -> Vec<String> {
        let words =
            |text: String| steersman_core::wrapper::parse(&text).map_or(text.clone(), |framed| framed.words.to_owned());
        self.contents(role).into_iter().map(words).collect()
    }

    /// Returns the messages with a role as they were sent, in order.
    pub fn contents(&self, role: &str) -> Vec<String> {
        let of_role = |message: &Value| message["role"] == role;
        let text = |message: Value| message["content"].as_str().unwrap_or_default().to_owned();
        self.messages().into_iter().filter(of_role).map(text).collect()
    }

    /// Returns the names of the tools on offer.
    pub fn tools(&self) -> Vec<String> {
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap_or("?").to_owned();
        self.body["tools"].as_array().map(|tools| tools.iter().map(name).collect()).unwrap_or_default()
    }

    /// Tells whether the reply shall come as a stream.
    pub fn streams(&self) -> bool {
        self.family().is_some_and(|family| family.streams(self))
    }
}

async fn serve(socket: TcpStream, shared: Arc<Shared>) {
    let _ = socket.set_nodelay(true);
    let peer = socket.peer_addr().ok();
    let (mut reader, mut writer) = socket.into_split();
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut reader, &mut buffer).await {
        let request = Request { peer, ..request };
        let chat = request.is_chat();
        let streams = request.streams();
        shared.requests.lock().unwrap().push(request.clone());
        let reply = choose(&request, &shared);
        if chat {
            shared.chats.send_modify(|count| *count += 1);
        }
        let outcome = tokio::select! {
            outcome = answer(&mut writer, reply, request.family(), streams) => outcome,
            () = closed(&mut reader, &mut buffer) => Err(Ended::HungUp),
        };
        match outcome {
            Ok(()) => {}
            Err(Ended::Cut) => return,
            Err(Ended::HungUp) => {
                shared.hang_ups.send_modify(|count| *count += 1);
                return;
            }
        }
    }
}

fn choose(request: &Request, shared: &Shared) -> Reply {
    if request.is_chat() {
        return (shared.route)(request)
            .or_else(|| shared.script.lock().unwrap().pop_front())
            .unwrap_or_else(|| Reply::json(400, json!({"error": {"message": "the script has no further reply"}})));
    }
    if let Some(reply) = (shared.others)(request) {
        return reply;
    }
    let fixed = shared.fixed.lock().unwrap();
    let matching = fixed.iter().filter(|(path, _)| request.path.starts_with(path));
    let best = matching.max_by_key(|(path, _)| path.len()).map(|(_, reply)| reply.clone());
    best.unwrap_or_else(|| Reply::json(404, json!({"error": {"message": "no such path"}})))
}

async fn read_request(reader: &mut OwnedReadHalf, buffer: &mut Vec<u8>) -> Option<Request> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if reader.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    buffer.drain(..head_end + 4);
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let split = |line: &str| line.split_once(':').map(|(k, v)| (k.trim().to_lowercase(), v.trim().to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(split).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    while buffer.len() < length {
        if reader.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let body: Vec<u8> = buffer.drain(..length).collect();
    let text = String::from_utf8_lossy(&body).into_owned();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Request { method, path, headers, body, text, peer: None })
}

/// Returns when the client has closed the connection.
async fn closed(reader: &mut OwnedReadHalf, buffer: &mut Vec<u8>) {
    while matches!(reader.read_buf(buffer).await, Ok(read) if read > 0) {}
}

enum Ended {
    Cut,
    HungUp,
}

impl From<std::io::Error> for Ended {
    fn from(_: std::io::Error) -> Self {
        Self::HungUp
    }
}

async fn answer(writer: &mut OwnedWriteHalf, reply: Reply, family: Option<Family>, streams: bool) -> Result<(), Ended> {
    if let Some(gate) = &reply.gate {
        gate.pass().await;
    }
    let mut headers = reply.headers;
    let moves = reply.body.as_moves();
    let steps = match (reply.body, moves) {
        (_, Some((moves, counts))) => {
            let family = family.unwrap_or(Family::Chat);
            let kind = if streams { "text/event-stream" } else { "application/json" };
            if !headers.iter().any(|(name, _)| name == "content-type") {
                headers.push(("content-type".to_owned(), kind.to_owned()));
            }
            if streams {
                Err(family.stream(&moves, counts))
            } else {
                Ok(family.whole(&moves, counts).to_string().into_bytes())
            }
        }
        (Body::Fixed(body), _) => Ok(body),
        (Body::Steps(steps), _) => Err(steps),
        (Body::HangUp | Body::Model { .. } | Body::Moves(..), _) => return Err(Ended::Cut),
    };
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
    for (name, value) in &headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    let steps = match steps {
        Ok(_) if reply.status == 204 => return Ok(writer.write_all((head + "\r\n").as_bytes()).await?),
        Ok(body) => {
            head.extend(["content-length: ", &body.len().to_string(), "\r\n\r\n"]);
            let whole = [head.as_bytes(), &body].concat();
            return Ok(writer.write_all(&whole).await?);
        }
        Err(steps) => steps,
    };
    writer.write_all((head + "transfer-encoding: chunked\r\n\r\n").as_bytes()).await?;
    for step in steps {
        match step {
            Step::Bytes(bytes) if bytes.is_empty() => {}
            Step::Bytes(bytes) => {
                let mut piece = format!("{:x}\r\n", bytes.len()).into_bytes();
                piece.extend_from_slice(&bytes);
                piece.extend_from_slice(b"\r\n");
                writer.write_all(&piece).await?;
            }
            Step::Wait(gate) => gate.pass().await,
            Step::Pause(pause) => tokio::time::sleep(pause).await,
            Step::Cut => return Err(Ended::Cut),
        }
    }
    Ok(writer.write_all(b"0\r\n\r\n").await?)
}
