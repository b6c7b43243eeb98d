//! MCP servers for tests: a transport that a test plays, and the scripted server as a process.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use steersman_core::approval::{Answerer, Approvals, Mode, Policy, Sandboxed};
use steersman_core::tool::{Outputs, ToolContext, Traits};
use steersman_extensions::mcp::Servers;
use steersman_extensions::mcp::connection::{Connection, ListKind, Listener};
use steersman_extensions::mcp::definition::{ProcessDefinition, Reached, ServerDefinition};
use steersman_extensions::mcp::message::{Incoming, RpcError};
use steersman_extensions::mcp::server::Surroundings;
use steersman_extensions::mcp::store::Store;
use steersman_extensions::mcp::transport::{Arrival, Inbox, Outgoing, Transport};
use steersman_provider::Http;
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc};

use super::processes::spawner;
use super::skip::{Need, skip};

/// A transport whose other end the test is.
#[derive(Debug)]
struct PlayedTransport {
    sent: mpsc::UnboundedSender<Value>,
}

impl Transport for PlayedTransport {
    fn send(&self, message: Outgoing) {
        let _ = self.sent.send(message.message);
    }

    fn close(&self) {
        let _ = self.sent.send(json!("closed"));
    }
}

/// The other end of a connection.
pub struct PlayedServer {
    sent: mpsc::UnboundedReceiver<Value>,
    inbox: Inbox,
}

impl PlayedServer {
    /// Waits for the next message of the client.
    pub async fn next(&mut self) -> Value {
        self.sent.recv().await.unwrap()
    }

    /// Returns the next message of the client, if there is one.
    pub fn try_next(&mut self) -> Option<Value> {
        self.sent.try_recv().ok()
    }

    /// Says something to the client.
    pub async fn say(&self, message: Value) {
        let text = message.to_string();
        for message in steersman_extensions::mcp::message::parse(text.as_bytes()).unwrap() {
            self.arrive(Arrival::Message(message)).await;
        }
    }

    /// Answers a request.
    pub async fn answer(&self, request: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    /// Lets something arrive.
    pub async fn arrive(&self, arrival: Arrival) {
        self.inbox.send(arrival).await.unwrap();
    }

    /// Lets a response arrive that no text could hold.
    pub async fn respond(&self, id: u64, outcome: Result<Value, RpcError>) {
        self.arrive(Arrival::Message(Incoming::Response { id, outcome })).await;
    }
}

/// A listener that notes what it hears; a question waits until the test answers.
#[derive(Default)]
pub struct Heard {
    pub changed: Mutex<Vec<ListKind>>,
    pub asked: Mutex<Vec<Value>>,
    pub answer: Notify,
}

impl Listener for Heard {
    fn elicit(&self, params: Value) -> BoxFuture<'static, Result<Value, RpcError>> {
        self.asked.lock().unwrap().push(params);
        // The test's permit is taken when it is given.
        let answered = async { std::future::pending::<Result<Value, RpcError>>().await };
        answered.boxed()
    }

    fn changed(&self, list: ListKind) {
        self.changed.lock().unwrap().push(list);
    }
}

/// Opens a connection whose other end the test is.
pub fn played(listener: Arc<dyn Listener>) -> (Connection, PlayedServer) {
    let (sender, sent) = mpsc::unbounded_channel();
    let mut inbox = None;
    let connection = Connection::open(listener, |given| {
        inbox = Some(given);
        Ok::<_, std::convert::Infallible>(Box::new(PlayedTransport { sent: sender }) as Box<dyn Transport>)
    })
    .unwrap();
    (connection, PlayedServer { sent, inbox: inbox.unwrap() })
}

/// A directory in which scripted servers work, with what is known about them.
pub struct Yard {
    pub dir: TempDir,
    pub approvals: Arc<Approvals>,
    pub outputs: Arc<Outputs>,
}

impl Yard {
    /// Makes one whose acts all run; `None` where there is no Python.
    pub fn new(what: &str) -> Option<Self> {
        Self::with(what, Mode::AutoWithoutSandbox)
    }

    /// Makes one with a mode, where the user is there to answer.
    pub fn with(what: &str, mode: Mode) -> Option<Self> {
        if std::process::Command::new("python3").arg("-V").output().is_err() {
            skip(Need::Program("python3"), what);
            return None;
        }
        Some(Self::bare(mode))
    }

    /// Makes one for servers at addresses, which need no Python.
    pub fn bare(mode: Mode) -> Self {
        let dir = TempDir::new().unwrap();
        let policy = Policy { answerer: Answerer::User, sandboxed: Some(Sandboxed::No), ..Policy::default() };
        let outputs = Arc::new(Outputs::new(dir.path()).unwrap());
        Self { approvals: Arc::new(Approvals::new(policy, mode)), outputs, dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// Returns the definition of a scripted server, whose log is `NAME.log`. It is said to send nothing away: else each call
    /// of an agent that has read one of its results would be asked about.
    pub fn server(&self, name: &str, arguments: &[&str]) -> ServerDefinition {
        let script = crate::root().join("tests/fixtures/mcp_server.py");
        let log = self.path(&format!("{name}.log")).display().to_string();
        let words = ["-u", script.to_str().unwrap(), "--log", &log];
        let process = ProcessDefinition {
            command: "python3".to_owned(),
            args: words.iter().chain(arguments).map(|word| (*word).to_owned()).collect(),
            ..ProcessDefinition::default()
        };
        let usual = ServerDefinition::new(name, Reached::Process(process));
        ServerDefinition { traits: Traits { egress: false, ..usual.traits }, ..usual }
    }

    /// Makes the servers of a session that works here.
    pub fn servers(&self, definitions: Vec<ServerDefinition>) -> Arc<Servers> {
        self.servers_within(definitions, 10)
    }

    /// As [`Self::servers`], with a share of the window for definitions.
    pub fn servers_within(&self, definitions: Vec<ServerDefinition>, percent: u8) -> Arc<Servers> {
        let around = Surroundings {
            spawner: spawner(),
            http: Http::default(),
            approvals: Arc::clone(&self.approvals),
            store: Store::at(&self.path("state")),
        };
        let outputs = Some(Arc::clone(&self.outputs));
        Servers::new(definitions, around, self.path(""), outputs, percent)
    }

    /// Returns the lines of a server's log.
    pub fn log(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the methods that a server was asked for, in order.
    pub fn methods(&self, name: &str) -> Vec<String> {
        let method = |line: String| serde_json::from_str::<Value>(&line).ok()?["method"].as_str().map(str::to_owned);
        self.log(name).into_iter().filter_map(method).collect()
    }

    /// Returns how often a server was started.
    pub fn starts(&self, name: &str) -> usize {
        self.log(name).iter().filter(|line| line.starts_with("start ")).count()
    }

    /// Returns the context of a call.
    pub fn context(&self) -> ToolContext {
        ToolContext::with_approvals(Arc::clone(&self.approvals))
    }
}
