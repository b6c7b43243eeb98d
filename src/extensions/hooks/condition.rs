//! The condition `if` of a hook: a permission rule of Claude Code that the call must match, such as `Bash(git push *)`.
//!
//! Read widely: where nobody can tell what a command does, the hook runs.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::hooks::tool_names::names_of_tool;
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::paths::without_dots;
use steersman_core::approval::{
    CommandOperation, Content, FetchOperation, Operation, Rules, UseOperation, WriteOperation, right_form,
};

/// Which calls a hook is for, beside its matcher.
#[derive(Debug, Clone)]
pub struct HookCondition {
    text: String,
    kind: ConditionKind,
}

#[derive(Debug, Clone)]
enum ConditionKind {
    /// Calls of the tool, by its name in the condition.
    Tool(String),
    /// Calls that this rule would deny.
    Rule(Box<Rules>),
}

impl HookCondition {
    /// Reads a condition.
    ///
    /// # Errors
    /// Why it is no rule.
    pub fn parse(text: &str) -> Result<Self, String> {
        let of = |kind| Self { text: text.to_owned(), kind };
        if text.starts_with("mcp__") || !text.contains('(') {
            return Ok(of(ConditionKind::Tool(text.trim_end_matches('*').trim_end_matches("__").to_owned())));
        }
        let no_rule = || format!("its condition `if` must be a rule: {text:?}");
        let rule = right_form(text).ok_or_else(no_rule)?;
        let rule = match rule.split_once(": ") {
            // A path begins at the project, and a name alone is one at any depth.
            Some((tool @ ("read" | "grep" | "glob" | "edit" | "write"), path)) => {
                let below = path.trim_start_matches("./").trim_start_matches('/');
                let start = if below.contains('/') { "" } else { "**/" };
                format!("{tool}: {start}{below}")
            }
            _ => rule,
        };
        let rules = Rules::parse(&[], &[], &[rule.as_str()]).map_err(|_| no_rule())?;
        Ok(of(ConditionKind::Rule(Box::new(rules))))
    }

    /// Returns it as it was written (untrusted).
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether a call matches; `cwd` is where tools work.
    pub fn matches(&self, call: &ToolCall, cwd: &Path) -> bool {
        match &self.kind {
            ConditionKind::Tool(name) => names_of_tool(&call.name).iter().any(|tool| {
                tool == name || tool.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with("__"))
            }),
            ConditionKind::Rule(rules) => {
                act_of(call, cwd).is_none_or(|operation| rules.may_deny(&operation, Some(cwd)))
            }
        }
    }
}

/// Returns what a call would do, as a rule sees it; `None` where its arguments cannot be read.
fn act_of(call: &ToolCall, cwd: &Path) -> Option<Operation> {
    let Arguments::Object(arguments) = &call.arguments else { return None };
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
    let tool = call.name.clone();
    let path = without_dots(&cwd.join(text("path").unwrap_or_default()));
    Some(match call.name.as_str() {
        "bash" => Operation::Command(CommandOperation {
            command: text("command")?,
            cwd: cwd.to_owned(),
            timeout: Duration::ZERO,
            outside: false,
        }),
        "write" | "edit" => Operation::Write(WriteOperation {
            tool: tool.into(),
            path,
            shown: text("path")?,
            before: None,
            after: Content::from(&b""[..]),
            diff: String::new(),
        }),
        "fetch" | "web_scrape" => Operation::Fetch(FetchOperation { tool: tool.into(), url: text("url")? }),
        _ => Operation::Use(UseOperation {
            tool: tool.into(),
            path: Some(path),
            shown: text("name").unwrap_or_default(),
        }),
    })
}
