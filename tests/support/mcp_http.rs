//! An MCP server at an address of this machine, for tests: it keeps sessions, and a test says what else it does.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use steersman_core::tool::Traits;
use steersman_extensions::mcp::definition::{AddressDefinition, LoginSettings, Reached, ServerDefinition};

use super::server::{Reply, Request, Server};

/// A running server. What a test does not answer, it answers as a server with the tool `echo` would.
pub struct HttpServer {
    pub server: Server,
    sessions: Arc<Sessions>,
}

#[derive(Default)]
struct Sessions {
    made: Mutex<usize>,
    live: Mutex<HashSet<String>>,
}

impl HttpServer {
    /// Starts with what the test answers.
    pub fn start(own: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let sessions = Arc::new(Sessions::default());
        let shared = Arc::clone(&sessions);
        let server = Server::answering(move |request| {
            if let Some(session) = request.header("mcp-session-id")
                && !shared.live.lock().unwrap().contains(session)
            {
                return Reply::body(404, "");
            }
            own(request).unwrap_or_else(|| shared.answer(request))
        });
        Self { server, sessions }
    }

    /// Returns its definition.
    pub fn definition(&self, name: &str) -> ServerDefinition {
        at(name, &format!("{}/mcp", self.server.origin()))
    }

    /// Forgets every session, as after a restart.
    pub fn forget_sessions(&self) {
        self.sessions.live.lock().unwrap().clear();
    }

    /// Returns the requests of a method of the protocol.
    pub fn asked(&self, method: &str) -> Vec<Request> {
        self.server.requests().into_iter().filter(|request| request.body["method"] == method).collect()
    }

    /// Returns the requests of a method of HTTP.
    pub fn requested(&self, method: &str) -> Vec<Request> {
        self.server.requests().into_iter().filter(|request| request.method == method).collect()
    }
}

impl Sessions {
    fn answer(&self, request: &Request) -> Reply {
        match (request.method.as_str(), request.body["method"].as_str()) {
            ("POST", Some("initialize")) => {
                let session = {
                    let mut made = self.made.lock().unwrap();
                    *made += 1;
                    format!("session-{made}")
                };
                self.live.lock().unwrap().insert(session.clone());
                let capabilities = json!({"tools": {"listChanged": true}});
                let info = json!({"name": "at an address", "version": "1"});
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info});
                whole(request, result).header("mcp-session-id", &session)
            }
            ("POST", Some("tools/list")) => whole(request, json!({"tools": [tool("echo")]})),
            ("POST", Some("tools/call")) => whole(request, text(&request.body["params"]["arguments"].to_string())),
            ("POST", _) if request.body["id"].is_null() => Reply::body(202, ""),
            ("DELETE", _) => Reply::body(200, ""),
            _ => Reply::body(405, ""),
        }
    }
}

/// Returns the definition of a server at an address, which is said to send nothing away.
pub fn at(name: &str, url: &str) -> ServerDefinition {
    let url = url.parse().unwrap();
    let address = AddressDefinition { url, headers: Vec::new(), login: LoginSettings::default() };
    let usual = ServerDefinition::new(name, Reached::Address(address));
    ServerDefinition { traits: Traits { egress: false, ..usual.traits }, ..usual }
}

/// Returns the definition of a tool without arguments.
pub fn tool(name: &str) -> Value {
    json!({"name": name, "description": "A tool.", "inputSchema": {"type": "object"}})
}

/// Returns the result of a call.
pub fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// Returns a message that answers a request.
#[allow(clippy::needless_pass_by_value)] // Callers write `json!` in place.
pub fn message(request: &Request, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result})
}

/// Answers a request with one message.
pub fn whole(request: &Request, result: Value) -> Reply {
    Reply::json(200, message(request, result))
}

/// Tells whether a request calls a tool.
pub fn calls(request: &Request, tool: &str) -> bool {
    request.body["method"] == "tools/call" && request.body["params"]["name"] == tool
}
