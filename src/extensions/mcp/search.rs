//! `tool_search`: finds tools of servers whose definitions would take too much of the window, or that are not known yet,
//! and gives them to the agent that asked: from its next request on, so that what was sent before stays as it was.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Weak};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::mcp::server::OfferedTool;
use crate::mcp::servers::{Agent, Servers};
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_base::text::{clip, visible_line};
use steersman_core::tool::{Concurrency, Parameters, RawTool, ToolContext, ToolError};

/// The tool that finds tools.
pub(super) struct ToolSearch {
    servers: Weak<Servers>,
    agent: Arc<Agent>,
    description: String,
    parameters: Parameters,
}

impl ToolSearch {
    pub(super) const NAME: &'static str = "tool_search";

    pub(super) fn new(servers: &Arc<Servers>, agent: Arc<Agent>) -> Self {
        // The names only: what changes would change every request.
        let names = servers.in_scope(&agent.scope).map(|server| server.definition().name.clone());
        let names: Vec<String> = names.collect();
        let description = format!(
            "Finds tools of MCP servers and makes them callable from your next reply on. Servers: {}. Use it before you \
             say that you have no tool for something. The user may be asked whether a server that never ran is started for that.",
            names.join(", ")
        );
        let parameters = Parameters::build(|p| {
            p.required_string("query", "Words about what the tool does, or the name of a server or a tool.");
            p.optional_integer("limit", "How many tools at most. Default 5.");
        });
        Self { servers: Arc::downgrade(servers), agent, description, parameters }
    }

    async fn run(&self, arguments: &Arguments) -> Result<String, ToolError> {
        let args = self.parameters.validate(arguments).map_err(ToolError::Failed)?;
        let Some(servers) = self.servers.upgrade() else { return Err(ToolError::failed("the session has ended")) };
        let mut text = String::new();
        for (server, outcome) in servers.discover(&self.agent).await {
            if let Err(why) = outcome {
                let _ = writeln!(text, "[{server} cannot be searched: {}]", visible_line(&why));
            }
        }
        let known: Vec<(String, OfferedTool)> = servers.offered(&self.agent.scope);
        let most = args.opt_int("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(5);
        let found = best(args.str("query"), &known, most.clamp(1, limits::MCP_FOUND));
        if found.is_empty() {
            let _ = writeln!(text, "No tool fits these words. There are:");
            for (_, tool) in known.iter().take(200) {
                let _ = writeln!(text, "{}", tool.name);
            }
            return Ok(text);
        }
        let _ = writeln!(text, "These can be called now:");
        for (server, tool) in &found {
            let said = visible_line(&tool.definition.description).into_owned();
            let _ = writeln!(text, "{}: {} ({server})", tool.name, clip(&said, 200));
        }
        servers.load(&self.agent, found.iter().map(|(_, tool)| tool.name.clone()).collect::<BTreeSet<_>>());
        Ok(text)
    }
}

impl RawTool for ToolSearch {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> Value {
        self.parameters.to_schema()
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, _: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        self.run(arguments).boxed()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Parallel
    }
}

/// Returns the tools that fit a query best, the best first.
fn best(query: &str, tools: &[(String, OfferedTool)], most: usize) -> Vec<(String, OfferedTool)> {
    let query = query.to_lowercase();
    // A whole name asks for that tool alone.
    if let Some(named) = tools.iter().find(|(_, tool)| query == tool.name.to_lowercase()) {
        return vec![named.clone()];
    }
    let words: Vec<&str> = query.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).collect();
    let score = |server: &str, tool: &OfferedTool| {
        let definition = &tool.definition;
        let name = definition.name.to_lowercase();
        let title = definition.title.as_deref().unwrap_or_default().to_lowercase();
        let description = definition.description.to_lowercase();
        let properties = definition.schema.get("properties").and_then(Value::as_object);
        let arguments = properties.into_iter().flat_map(|map| map.keys()).map(|name| name.to_lowercase());
        let arguments: Vec<String> = arguments.collect();
        let whole = u32::from(query == name) * 100;
        let each = words.iter().map(|word| {
            4 * u32::from(name.contains(word))
                + 3 * u32::from(server.to_lowercase() == *word)
                + 2 * u32::from(title.contains(word))
                + u32::from(description.contains(word))
                + u32::from(arguments.iter().any(|argument| argument.contains(word)))
        });
        whole + each.sum::<u32>()
    };
    let mut scored: Vec<(u32, &(String, OfferedTool))> =
        tools.iter().map(|pair| (score(&pair.0, &pair.1), pair)).filter(|(score, _)| *score > 0).collect();
    // Those that fit alike stay in their order.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().take(most).map(|(_, pair)| pair.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::catalog::ToolDefinition;

    fn tool(name: &str, description: &str) -> (String, OfferedTool) {
        let entry = json!({"name": name, "description": description, "inputSchema": {"properties": {"timezone": {}}}});
        let definition = ToolDefinition::parse(&entry).unwrap();
        ("clock".to_owned(), OfferedTool { name: format!("mcp__clock__{name}"), definition })
    }

    #[test]
    fn the_tool_whose_name_fits_comes_before_one_whose_description_does() {
        let tools =
            [tool("convert", "converts the current time"), tool("current_time", "tells it"), tool("alarm", "rings")];
        let names =
            |query: &str| best(query, &tools, 5).into_iter().map(|(_, tool)| tool.definition.name).collect::<Vec<_>>();
        // The last one takes a timezone.
        assert_eq!(names("current time"), ["current_time", "convert", "alarm"]);
        assert_eq!(names("mcp__clock__alarm"), ["alarm"]);
        assert_eq!(names("clock").len(), 3);
        assert_eq!(names("timezone").len(), 3);
        assert!(names("weather").is_empty());
    }
}
