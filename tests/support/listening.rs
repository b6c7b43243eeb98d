//! A run without an agent that listens on its socket, and connections to it, line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use steersman_base::clock;
use steersman_base::event::{Delivery, Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::protocol::{Request, Update};
use steersman_core::control::{AgentControls, Cancellable, Controls, Interloper, PauseGate};
use steersman_session::Hub;
use steersman_session::host::{Handle, Mailbox};
use steersman_session::socket::{About, SocketServer, Sockets, listen};
use tempfile::TempDir;

/// A run without an agent: its queues, and its mailbox into which a test puts what an agent would say.
pub fn handle() -> Handle {
    let main = Controls {
        interloper: Arc::new(Interloper::new()),
        cancellable: Cancellable::new(),
        gate: Arc::new(PauseGate::new()),
    };
    Handle::new(Arc::new(AgentControls::new(main)), Arc::new(Mailbox::new()))
}

pub fn inject(text: &str) -> Request {
    Request::inject(AgentId::main(), text, Delivery::Steer)
}

pub fn said(agent: &str, seq: u64, event: Event) -> Update {
    Update::Envelope(Envelope { seq, at: clock::now(), agent: agent.into(), parent: None, event })
}

/// A run that listens.
pub struct Listening {
    pub handle: Handle,
    pub hub: Arc<Hub>,
    pub path: PathBuf,
    pub server: Option<SocketServer>,
    pub directory: TempDir,
}

impl Listening {
    pub fn start() -> Self {
        let (handle, directory) = (handle(), TempDir::new().unwrap());
        let hub = Hub::new(handle.clone());
        let sockets = Sockets::within(directory.path().join("sockets"));
        let about = About { session: "the-session".to_owned(), ..About::default() };
        let server = Some(listen(Arc::clone(&hub), about, &sockets).unwrap());
        Self { handle, hub, path: sockets.path("the-session"), server, directory }
    }

    /// Returns the key that lies beside the socket.
    pub fn key(&self) -> String {
        std::fs::read_to_string(self.path.with_extension("key")).unwrap()
    }

    /// Connects with the key.
    pub fn connect(&self) -> Raw {
        let mut raw = Raw::new(UnixStream::connect(&self.path).unwrap());
        let answer = raw.call(0, "authorize", &json!(self.key()));
        assert!(answer.get("error").is_none(), "{answer}");
        raw
    }

    /// Connects and says hello; again while those that are gone still take all places.
    pub fn client(&self, updates: &str, token: Option<&str>) -> Raw {
        let params =
            json!({"version": steersman_base::protocol::VERSION, "name": "story", "posts": updates, "token": token});
        loop {
            let mut raw = self.connect();
            let answer = raw.call(0, "hello", &params);
            if answer["result"]["client"].is_string() {
                return raw;
            }
            assert_eq!(answer["error"]["message"], "too many clients are connected already", "{answer}");
        }
    }
}

/// A connection that is written and read line by line.
pub struct Raw {
    pub stream: UnixStream,
    pub read: BufReader<UnixStream>,
    pub updates: Vec<Value>,
}

impl Raw {
    pub fn new(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let read = BufReader::new(stream.try_clone().unwrap());
        Self { stream, read, updates: Vec::new() }
    }

    pub fn write(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    pub fn send(&mut self, id: u64, method: &str, params: &Value) -> bool {
        self.write(format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).as_bytes())
    }

    /// Reads the next line; `None` when the connection is closed.
    pub fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.read.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => serde_json::from_str(&line).ok(),
        }
    }

    /// Reads up to an answer; the updates before it are kept.
    pub fn answer(&mut self) -> Option<Value> {
        loop {
            let line = self.line()?;
            if line["method"] == "post" {
                self.updates.push(line["params"].clone());
            } else {
                return Some(line);
            }
        }
    }

    pub fn call(&mut self, id: u64, method: &str, params: &Value) -> Value {
        assert!(self.send(id, method, params));
        self.answer().expect("an answer comes")
    }

    /// Reads updates up to one that fits.
    pub fn wait_for(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.updates.iter().position(&fits) {
            return self.updates.drain(..=index).next_back().unwrap();
        }
        self.updates.clear();
        loop {
            let line = self.line().expect("an update comes");
            if line["method"] == "post" && fits(&line["params"]) {
                return line["params"].clone();
            }
        }
    }
}
