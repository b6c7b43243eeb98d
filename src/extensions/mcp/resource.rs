//! Resources of servers: named by the user as `@server:uri`, read by the tool `mcp_resource`.
//!
//! What the user names in a message the agent may read without a question; anything else is asked about.

use std::sync::{Arc, Weak};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::mcp::instance::ServerRequest;
use crate::mcp::results;
use crate::mcp::servers::{Agent, Servers};
use steersman_base::message::Arguments;
use steersman_base::protocol::ServerToolOperation;
use steersman_core::tool::{Concurrency, Parameters, RawTool, ToolContext, ToolError, ToolScope, Traits};

pub(super) const NAME: &str = "mcp_resource";

/// Returns the note about the resources that a message names; `None` when it names none. They are noted as named.
pub(super) fn mentions(servers: &Servers, message: &str) -> Option<String> {
    let words =
        message.split(|c: char| c.is_whitespace()).filter_map(|word| word.trim_start_matches('(').strip_prefix('@'));
    let mut named = Vec::new();
    for word in words {
        let Some((server, uri)) = word.split_once(':') else { continue };
        if uri.is_empty() || servers.get(server).is_none() {
            continue;
        }
        let listed = servers.get(server).map(|server| server.catalog().resources).unwrap_or_default();
        // A full stop or a comma ends the sentence, not the address, unless there is such a resource.
        let bare = uri.trim_end_matches([',', '.', ';', ')', '?', '!']);
        let uri = if listed.iter().any(|resource| resource.uri == uri) { uri } else { bare };
        servers.note_named(server, uri);
        named.push(format!("server {server}, uri {uri}"));
    }
    if named.is_empty() {
        return None;
    }
    Some(format!(
        "The user's message names these resources of MCP servers; read them with {NAME} where you need them:\n{}",
        named.join("\n")
    ))
}

/// The tool that reads a resource.
pub(super) struct ResourceTool {
    servers: Weak<Servers>,
    agent: Arc<Agent>,
    parameters: Parameters,
}

impl ResourceTool {
    pub(super) fn new(servers: &Arc<Servers>, agent: Arc<Agent>) -> Self {
        let parameters = Parameters::build(|p| {
            p.required_string("server", "The name of the server.");
            p.optional_string("uri", "The address of the resource at that server. Without it: a list of them.");
        });
        Self { servers: Arc::downgrade(servers), agent, parameters }
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Result<String, ToolError> {
        let args = self.parameters.validate(arguments).map_err(ToolError::Failed)?;
        let Some(servers) = self.servers.upgrade() else { return Err(ToolError::failed("the session has ended")) };
        let name = args.str("server");
        let server = servers.whole_in_scope(&self.agent.scope).find(|server| server.definition().name == name).cloned();
        let Some(server) = server else {
            return Err(ToolError::Failed(format!("there is no server {name} for this agent")));
        };
        let instance = servers.instance(&server, &self.agent.directory);
        let Some(uri) = args.opt_str("uri").filter(|uri| !uri.is_empty()) else {
            let may_start = servers.starts(&[&server]).await;
            may_start.into_iter().collect::<Result<(), String>>().map_err(ToolError::Failed)?;
            instance.discover().await.map_err(ToolError::Failed)?;
            let each = server.catalog().resources.into_iter().map(|one| {
                let about = [one.name, one.description].into_iter().filter(|text| !text.is_empty());
                format!("{} {}", one.uri, about.collect::<Vec<_>>().join(": ")).trim().to_owned()
            });
            let list = each.collect::<Vec<_>>().join("\n");
            return Ok(if list.is_empty() { "the server lists no resources".to_owned() } else { list });
        };
        if !(self.agent.scope == ToolScope::Main && servers.is_named(name, uri)) {
            let operation = ServerToolOperation {
                server: name.to_owned(),
                reached: server.definition().shown.clone(),
                tool: NAME.to_owned(),
                arguments: serde_json::to_string_pretty(&json!({"uri": uri})).unwrap_or_default(),
                hints: Vec::new(),
                sends: server.definition().traits.egress,
            };
            context.approve(operation).await?;
        }
        let result = instance.ask(ServerRequest::Resource { uri }, &|_| {}).await.map_err(ToolError::Failed)?;
        let text = results::resource(&result, servers.outputs()).await;
        let notes = results::show_images(&result, NAME, &context.images).await;
        results::with_notes(Ok(text), &notes)
    }
}

impl RawTool for ResourceTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Reads a resource of an MCP server, or lists the resources that it has."
    }

    fn schema(&self) -> Value {
        self.parameters.to_schema()
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        self.run(arguments, context).boxed()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Parallel
    }

    fn traits(&self) -> Traits {
        Traits { private: true, untrusted: true, egress: true }
    }
}
