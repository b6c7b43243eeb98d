//! A tool of a server, as an agent has it: checked, asked about, called, its result made a text.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::mcp::catalog::{ToolDefinition, truncate};
use crate::mcp::instance::{Instance, ServerRequest};
use crate::mcp::server::{ChangeAnswer, OfferedTool};
use crate::mcp::{arguments, results};
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_base::protocol::ServerToolOperation;
use steersman_base::text::visible;
use steersman_core::tool::lenient::in_form;
use steersman_core::tool::{Concurrency, Outputs, RawTool, ToolContext, ToolError, Traits};

/// A tool of a server, for the agents that work in one directory.
pub(super) struct ServerTool {
    instance: Arc<Instance>,
    offered: OfferedTool,
    description: String,
    outputs: Option<Arc<Outputs>>,
}

impl ServerTool {
    /// `instructions` are those of the server where this tool brings them, else empty.
    pub(super) fn new(
        instance: Arc<Instance>,
        offered: OfferedTool,
        instructions: &str,
        outputs: Option<Arc<Outputs>>,
    ) -> Self {
        let server = &instance.server().definition().name;
        let description = description(server, &offered) + &shown_instructions(server, instructions);
        Self { instance, offered, description, outputs }
    }

    /// Returns the definition that was accepted last, which may not be the one that this agent was told.
    fn now(&self) -> Result<ToolDefinition, ToolError> {
        let (server, name) = (self.instance.server(), &self.offered.definition.name);
        let now = server.tools().into_iter().find(|tool| tool.definition.name == *name);
        now.map(|tool| tool.definition).ok_or_else(|| {
            let server = &server.definition().name;
            ToolError::Failed(format!("the server {server} does not offer this tool any more"))
        })
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Result<String, ToolError> {
        let server = self.instance.server();
        let Arguments::Object(arguments) = arguments else {
            return Err(ToolError::failed("the arguments are no JSON object"));
        };
        let name = &server.definition().name;
        let now = self.now()?;
        let arguments = &in_form(arguments, &Value::Object(now.schema.clone()));
        arguments::check(arguments, &now.schema).map_err(ToolError::Failed)?;
        let operation = ServerToolOperation {
            server: name.clone(),
            reached: server.definition().shown.clone(),
            tool: now.name.clone(),
            arguments: serde_json::to_string_pretty(arguments).unwrap_or_default(),
            hints: now.hints.labels().into_iter().map(str::to_owned).collect(),
            sends: server.traits_of(now.hints).egress,
        };
        // The text that was shown is what is sent.
        let operation = context.approve(operation).await?.take();
        let arguments: serde_json::Map<String, Value> =
            serde_json::from_str(&operation.arguments).map_err(|error| ToolError::failed(error.to_string()))?;
        // Only a server that runs says what it says of its tools now.
        self.instance.discover().await.map_err(ToolError::Failed)?;
        server.ask_about_instructions().await;
        let refused = match server.ask_about_change(&now.name).await {
            ChangeAnswer::Accepted => None,
            ChangeAnswer::Declined => Some("the user does not want it so"),
            ChangeAnswer::Nobody => Some("nobody is there to look at it"),
        };
        if let Some(why) = refused {
            let sentence = format!("the server {name} has changed the definition of this tool, and {why}");
            return Err(ToolError::Failed(sentence));
        }
        let now = self.now()?;
        arguments::check(&arguments, &now.schema).map_err(ToolError::Failed)?;
        let wanted = ServerRequest::Call { tool: &operation.tool, arguments: &arguments, hints: now.hints };
        let progress = |made: &crate::mcp::Progress| context.progress(format!("{}\n", made.line()));
        let result = self.instance.ask(wanted, &progress).await.map_err(ToolError::Failed)?;
        let observation = results::observation(&result, self.outputs.as_deref()).await;
        let notes = results::show_images(&result, &self.offered.name, &context.images).await;
        results::with_notes(observation, &notes)
    }
}

impl RawTool for ServerTool {
    fn name(&self) -> &str {
        &self.offered.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> Value {
        schema(&self.offered)
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        self.run(arguments, context).boxed()
    }

    fn concurrency(&self) -> Concurrency {
        // Beside others only what the server says to change nothing.
        match self.offered.definition.hints.read_only {
            Some(true) => Concurrency::Parallel,
            Some(false) | None => Concurrency::Exclusive,
        }
    }

    fn traits(&self) -> Traits {
        let hints = self.now().map_or(self.offered.definition.hints, |now| now.hints);
        self.instance.server().traits_of(hints)
    }
}

/// Returns the description that a model gets, with every invisible character in sight.
pub(super) fn description(server: &str, offered: &OfferedTool) -> String {
    let definition = &offered.definition;
    let title = definition.title.as_deref().filter(|title| *title != definition.name);
    let title = title.map(|title| format!("{}. ", visible(title))).unwrap_or_default();
    let text = format!("{title}{}", visible(definition.description.trim()));
    let text = truncate(text, limits::MCP_DESCRIPTION_BYTES, " […]");
    format!("{text} (a tool of the MCP server {server})").trim().to_owned()
}

/// Returns the instructions of a server as they stand behind the description of one of its tools, with every invisible
/// character in sight.
fn shown_instructions(server: &str, instructions: &str) -> String {
    if instructions.is_empty() {
        return String::new();
    }
    format!("\n\nThe MCP server {server} says how its tools are to be used:\n{}", visible(instructions))
}

/// Returns the schema that a model gets: an object, with every invisible character of its texts in sight.
pub(super) fn schema(offered: &OfferedTool) -> Value {
    let mut schema = shown(&Value::Object(offered.definition.schema.clone()));
    if let Some(map) = schema.as_object_mut() {
        // What no dialect needs, and some refuse.
        map.remove("$schema");
        map.insert("type".to_owned(), json!("object"));
        map.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => visible(text).into_owned().into(),
        Value::Array(list) => list.iter().map(shown).collect(),
        // The names of members are what the server reads.
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), shown(value))).collect(),
        other => other.clone(),
    }
}

/// Returns about how many tokens the definition of a tool takes in each request.
pub(super) fn tokens(server: &str, offered: &OfferedTool) -> u64 {
    let bytes = offered.name.len() + description(server, offered).len() + schema(offered).to_string().len();
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Returns about how many tokens the instructions of a server take in each request.
pub(super) fn instruction_tokens(server: &str, instructions: &str) -> u64 {
    (shown_instructions(server, instructions).len() as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Bytes of a definition that make about one token.
const BYTES_PER_TOKEN: u64 = 4;
