//! A conversation that has begun: the handshake, the lists, the calls.
//!
//! Both eras of the protocol: versions with a handshake, and 2026-07-28, where every request says what it needs. The
//! handshake is tried first: a server of either era answers it, those of the newer with an error.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::mcp::catalog::{Catalog, PromptEntry, ResourceEntry, ToolDefinition, truncate};
use crate::mcp::connection::{Connection, ListKind, Listener, OnDrop, Patience, RequestError};
use crate::mcp::message::RpcError;
use crate::mcp::progress::Progress;
use steersman_base::limits;
use steersman_base::summary::bytes;
use steersman_base::text::{clip, visible_line};

/// The versions with a handshake, the newest first.
const HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The version without one.
const STATELESS: &str = "2026-07-28";

/// A conversation that has begun.
#[derive(Debug)]
pub struct Session {
    connection: Connection,
    listener: Shared,
    /// Whether the server asks for more input by its results.
    asks_by_result: bool,
    about: About,
}

/// The listener, which has nothing to print.
struct Shared(Arc<dyn Listener>);

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

/// What a server said about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// Its own name and version (untrusted).
    pub name: String,
    /// The version of the protocol that is spoken.
    pub protocol: String,
    /// How its tools are to be used (untrusted); empty when it says nothing of it.
    instructions: String,
    lists: Vec<ListKind>,
    tells_changes: bool,
}

impl Session {
    /// Begins a conversation.
    ///
    /// # Errors
    /// [`RequestError`]; for a server that speaks no known version the sentence says so.
    pub async fn begin(
        connection: Connection,
        listener: Arc<dyn Listener>,
        patience: Duration,
    ) -> Result<Self, RequestError> {
        let capabilities = json!({"elicitation": {"form": {}, "url": {}}});
        let client = json!({"name": "steersman", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"protocolVersion": HANDSHAKE[0], "capabilities": capabilities, "clientInfo": client});
        // It must not be cancelled.
        let asked = ask(&connection, "initialize", params, patience, OnDrop::Nothing).await;
        let (about, asks_by_result) = match asked {
            Ok(result) => {
                let about = About::from_result(&result, &result, result.get("protocolVersion"))?;
                connection.agreed(&about.protocol, None);
                connection.notify("notifications/initialized", &Value::Null);
                (about, false)
            }
            Err(error @ RequestError::Rpc(_)) => {
                let meta = json!({
                    "io.modelcontextprotocol/protocolVersion": STATELESS,
                    "io.modelcontextprotocol/clientCapabilities": capabilities,
                    "io.modelcontextprotocol/clientInfo": client,
                });
                connection.agreed(STATELESS, Some(meta));
                let discovered = ask(&connection, "server/discover", Value::Null, patience, OnDrop::Cancel).await;
                // Its first answer is the one about what the server speaks.
                let Ok(result) = discovered else { return Err(error) };
                let version = result.get("supportedVersions").and_then(Value::as_array);
                let version = version.and_then(|all| all.iter().find(|version| *version == STATELESS));
                let info = result.pointer("/_meta/io.modelcontextprotocol~1serverInfo").cloned().unwrap_or_default();
                (About::from_result(&result, &json!({"serverInfo": info}), version)?, true)
            }
            Err(error) => return Err(error),
        };
        Ok(Self { connection, listener: Shared(listener), asks_by_result, about })
    }

    /// Returns what the server said about itself.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Returns the connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Lets the server tell of changes where it must be asked to; ends with the connection.
    pub fn listen(&self) {
        if self.asks_by_result && self.about.tells_changes {
            let all = json!({"toolsListChanged": true, "resourcesListChanged": true, "promptsListChanged": true});
            self.connection.begin("subscriptions/listen", json!({"notifications": all}));
        }
    }

    /// Asks for everything that the server offers; sentences about what is left out go to `notes`.
    ///
    /// # Errors
    /// [`RequestError`], of the list of tools only: a server whose other lists fail can be used.
    pub async fn catalog(&self, notes: &mut Vec<String>) -> Result<Catalog, RequestError> {
        let mut catalog = Catalog { instructions: self.about.instructions.clone(), ..Catalog::default() };
        if self.about.lists.contains(&ListKind::Tools) {
            for entry in self.list("tools", notes).await? {
                match ToolDefinition::parse(&entry) {
                    Ok(tool) if catalog.tools.iter().any(|known| known.name == tool.name) => {
                        notes.push(format!("a second tool {} is left out", visible_line(&tool.name)));
                    }
                    Ok(tool) => catalog.tools.push(tool),
                    Err(sentence) => notes.push(sentence),
                }
            }
        }
        if self.about.lists.contains(&ListKind::Resources) {
            let listed = self.list("resources", notes).await.unwrap_or_default();
            catalog.resources = listed.iter().filter_map(ResourceEntry::parse).collect();
        }
        if self.about.lists.contains(&ListKind::Prompts) {
            let listed = self.list("prompts", notes).await.unwrap_or_default();
            catalog.prompts = listed.iter().filter_map(PromptEntry::parse).collect();
        }
        Ok(catalog)
    }

    async fn list(&self, what: &str, notes: &mut Vec<String>) -> Result<Vec<Value>, RequestError> {
        let mut entries: Vec<Value> = Vec::new();
        let mut cursor = Value::Null;
        let mut cursors: Vec<Value> = Vec::new();
        for _ in 0..limits::MCP_PAGES {
            let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
            let method = format!("{what}/list");
            let mut result = ask(&self.connection, &method, params, limits::MCP_LIST_TIME, OnDrop::Cancel).await?;
            match result.get_mut(what).map(Value::take) {
                // Some servers give every page again, whatever they are asked for.
                Some(Value::Array(page)) if !page.is_empty() && entries.ends_with(&page) => break,
                Some(Value::Array(page)) => entries.extend(page),
                Some(_) | None => return Err(broken(&format!("its list of {what} is no list"))),
            }
            if entries.len() > limits::MCP_LIST_ENTRIES {
                entries.truncate(limits::MCP_LIST_ENTRIES);
                notes.push(format!("of more than {} {what} the first are used", limits::MCP_LIST_ENTRIES));
                break;
            }
            cursor = result.get_mut("nextCursor").map(Value::take).unwrap_or_default();
            // One that is empty or was there before leads nowhere.
            if cursor.is_null() || cursor == "" || cursors.contains(&cursor) {
                break;
            }
            cursors.push(cursor.clone());
        }
        Ok(entries)
    }

    /// Calls a tool; returns the result as the server sent it.
    ///
    /// # Errors
    /// [`RequestError`].
    pub async fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        patience: Patience,
        progress: &(dyn Fn(&Progress) + Send + Sync),
    ) -> Result<Value, RequestError> {
        self.ask_for("tools/call", json!({"name": tool, "arguments": arguments}), patience, progress).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// [`RequestError`].
    pub async fn read_resource(&self, uri: &str, patience: Patience) -> Result<Value, RequestError> {
        self.ask_for("resources/read", json!({"uri": uri}), patience, &|_| {}).await
    }

    /// Fills in a prompt.
    ///
    /// # Errors
    /// [`RequestError`].
    pub async fn prompt(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        patience: Patience,
    ) -> Result<Value, RequestError> {
        self.ask_for("prompts/get", json!({"name": name, "arguments": arguments}), patience, &|_| {}).await
    }

    /// Sends a request that the server may answer by asking for more input first.
    async fn ask_for(
        &self,
        method: &str,
        params: Value,
        patience: Patience,
        progress: &(dyn Fn(&Progress) + Send + Sync),
    ) -> Result<Value, RequestError> {
        let mut more = params.clone();
        for _ in 0..limits::MCP_ROUND_TRIPS {
            let result = self.connection.request(method, more, patience, OnDrop::Cancel, progress).await?;
            if !self.asks_by_result || result.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok(result);
            }
            let responses = self.input(result.get("inputRequests")).await?;
            more = params.clone();
            if let Some(more) = more.as_object_mut() {
                if let Some(state) = result.get("requestState") {
                    more.insert("requestState".to_owned(), state.clone());
                }
                more.insert("inputResponses".to_owned(), responses.into());
            }
        }
        Err(broken(&format!("it asked for more input {} times", limits::MCP_ROUND_TRIPS)))
    }

    /// Gets what a result asks for.
    async fn input(&self, requests: Option<&Value>) -> Result<Map<String, Value>, RequestError> {
        let mut responses = Map::new();
        for (key, request) in requests.and_then(Value::as_object).into_iter().flatten() {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            if method != "elicitation/create" {
                let method = clip(&visible_line(method), 60).into_owned();
                return Err(broken(&format!("it asks for {method}, which is not supported")));
            }
            let asked: BoxFuture<'_, _> = self.listener.0.elicit(request.get("params").cloned().unwrap_or_default());
            responses.insert(key.clone(), asked.await.map_err(RequestError::Rpc)?);
        }
        Ok(responses)
    }
}

impl About {
    /// Returns it in one line (untrusted).
    pub fn line(&self) -> String {
        let parts = [self.name.as_str(), self.protocol.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
    }

    /// Reads the answer of the handshake.
    fn from_result(result: &Value, named: &Value, version: Option<&Value>) -> Result<Self, RequestError> {
        let version = version.and_then(Value::as_str).unwrap_or_default();
        if !HANDSHAKE.contains(&version) && version != STATELESS {
            let shown = clip(&visible_line(version), 40).into_owned();
            let words =
                if shown.is_empty() { "no version that is known here".to_owned() } else { format!("version {shown}") };
            return Err(broken(&format!("it speaks {words} of the protocol; this program speaks {}", HANDSHAKE[0])));
        }
        let text = |pointer: &str| named.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let instructions = result.get("instructions").and_then(Value::as_str).unwrap_or_default().trim();
        let note = format!(" [cut here: the server's instructions have {}]", bytes(instructions.len() as u64));
        let has = |name: &str| result.pointer(&format!("/capabilities/{name}")).is_some_and(Value::is_object);
        let kinds = [("tools", ListKind::Tools), ("resources", ListKind::Resources), ("prompts", ListKind::Prompts)];
        let tells = |name: &str| {
            let changes = result.pointer(&format!("/capabilities/{name}/listChanged"));
            changes.and_then(Value::as_bool).unwrap_or(false)
        };
        Ok(Self {
            name: format!("{} {}", text("/serverInfo/name"), text("/serverInfo/version")).trim().to_owned(),
            protocol: version.to_owned(),
            instructions: truncate(instructions.to_owned(), limits::MCP_INSTRUCTIONS_BYTES, &note),
            lists: kinds.into_iter().filter(|(name, _)| has(name)).map(|(_, kind)| kind).collect(),
            tells_changes: ["tools", "resources", "prompts"].into_iter().any(tells),
        })
    }
}

async fn ask(
    connection: &Connection,
    method: &str,
    params: Value,
    patience: Duration,
    on_drop: OnDrop,
) -> Result<Value, RequestError> {
    connection.request(method, params, Patience::new(patience), on_drop, &|_| {}).await
}

fn broken(what: &str) -> RequestError {
    RequestError::Rpc(RpcError { code: 0, message: what.to_owned(), data: Value::Null })
}
