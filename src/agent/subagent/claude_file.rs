//! Agent files in the form of Claude Code: YAML front matter, then the system prompt
//! (<https://code.claude.com/docs/en/sub-agents>).
//!
//! `name`, `description`, `tools`, `disallowedTools` and `maxTurns` count; `model` does not: an agent uses the model of the
//! session. Without `tools` an agent has those of the agent that starts it. Always holds: a file grants nothing.
//! `permissionMode`, hooks and the like count for nothing, which is named, and an agent that reads files gets no tool that
//! reaches the network.

use crate::subagent::{Persona, TempWorkspace};
use steersman_base::error::BuildError;
use steersman_base::front_matter::Document;
use steersman_base::limits;
use steersman_core::tool::{ASK_TOOL, PLAN_TOOL, WITHOUT};

/// An agent file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaudeFile {
    /// The persona in it.
    pub persona: Persona,
    /// The tools of the file that the persona does without.
    pub without: Vec<String>,
    /// The members of its head that count for nothing.
    pub unused: Vec<&'static str>,
}

/// Members of the head of an agent that count for nothing here.
const UNUSED: [&str; 10] = [
    "model",
    "hooks",
    "permissionMode",
    "mcpServers",
    "skills",
    "memory",
    "background",
    "isolation",
    "effort",
    "initialPrompt",
];

/// The beginning of the names of servers' tools.
const SERVERS: &str = "mcp__";
/// The name that denies the tools of all servers.
const EVERY_SERVER: &str = "mcp__*";
/// Tools that reach the network.
const NETWORK: [&str; 4] = ["fetch", "web_scrape", "web_search", "git_clone"];
/// Stands for the tools of the agent that starts this one.
pub(super) const INHERITED: &str = "*";

impl ClaudeFile {
    /// Returns whether a text begins like such a file.
    pub fn is_one(text: &str) -> bool {
        text.trim_start_matches('\u{FEFF}').lines().next().is_some_and(|line| line.trim_end() == "---")
    }

    /// Reads an agent file.
    ///
    /// # Errors
    /// An argument error that says what is wrong with the file.
    pub fn parse(text: &str) -> Result<Self, BuildError> {
        let wrong = |what: String| BuildError::argument(format!("an agent file {what}"));
        let document = Document::parse(text).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let (tool_names, without) = tools(&document);
        let steps = document.text("maxTurns").and_then(|turns| turns.parse().ok()).filter(|steps| *steps > 0);
        let persona = Persona {
            name: fit_name(&document.text("name").unwrap_or_default()),
            description: description(&document),
            tool_names,
            system_prompt: document.body.trim().to_owned(),
            max_steps: steps.unwrap_or(limits::AGENT_FILE_STEPS).min(limits::MAX_STEPS),
            temp_workspace: TempWorkspace::No,
            model: None,
            temperature: None,
        };
        let unused = UNUSED.into_iter().filter(|name| document.has(name)).collect();
        persona.error().map_or(Ok(Self { persona, without, unused }), |fault| Err(wrong(fault)))
    }
}

impl Persona {
    /// Tells whether it has the tools of the agent that starts it.
    pub fn inherits(&self) -> bool {
        self.tool_names.iter().any(|name| name == INHERITED)
    }

    /// Tells whether it uses a tool that the agent which starts it has.
    pub(super) fn uses(&self, tool: &str) -> bool {
        let is_inherited = self.inherits() && !NETWORK.contains(&tool) && !self.is_without(tool);
        is_inherited || self.tool_names.iter().any(|name| name == tool)
    }

    /// Names the tools that it has from the agent that starts it: its own, and those of servers.
    pub(super) fn inherit(&mut self, own: &[&str], of_servers: &[String]) {
        if !self.inherits() {
            return;
        }
        let own: Vec<String> = own.iter().filter(|tool| self.uses(tool)).map(|tool| (*tool).to_owned()).collect();
        let without_servers = self.is_without(EVERY_SERVER);
        self.tool_names.retain(|name| name != INHERITED);
        self.tool_names.extend(own);
        self.tool_names.extend(of_servers.iter().filter(|_| !without_servers).cloned());
    }

    fn is_without(&self, tool: &str) -> bool {
        self.tool_names.iter().any(|name| name.strip_prefix(WITHOUT) == Some(tool))
    }
}

/// Makes a name fit, which is typed after an `@`.
fn fit_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

/// Returns what the agent is for, on one line. Line breaks in a plain value are often written as `\n`.
fn description(document: &Document) -> String {
    let text = document.text("description").unwrap_or_default().replace("\\n", " ");
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limits::SKILL_DESCRIPTION_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// Returns the names of the tools here, and those of the file that have none or that the agent does not get.
fn tools(document: &Document) -> (Vec<String>, Vec<String>) {
    let named = document.list("tools").filter(|named| !is_everything(named));
    let (mut tools, mut without) = (Vec::<String>::new(), Vec::new());
    for name in named.iter().flatten() {
        match here(name) {
            Some(names) => tools.extend(names),
            None => without.push(name.clone()),
        }
    }
    let denied: Vec<String> =
        document.list("disallowedTools").iter().flatten().filter_map(|name| here(name)).flatten().collect();
    if named.is_none() {
        tools.push(INHERITED.to_owned());
        tools.extend(denied.iter().map(|name| format!("{WITHOUT}{name}")));
        return (tools, without);
    }
    tools.retain(|tool| !denied.contains(tool));
    if denied.iter().any(|name| name == EVERY_SERVER) {
        tools.retain(|tool| !tool.starts_with(SERVERS));
    }
    let is_network = |tool: &String| NETWORK.contains(&tool.as_str());
    if tools.iter().any(|tool| !is_network(tool) && !tool.starts_with(SERVERS)) {
        let named = named.iter().flatten().filter(|name| here(name).is_some_and(|names| names.iter().any(is_network)));
        without.extend(named.cloned());
        tools.retain(|tool| !is_network(tool));
    }
    // A denied tool may be one of a server that is named as a whole, and the other way round.
    if tools.iter().any(|tool| tool.starts_with(SERVERS)) {
        tools.extend(denied.iter().filter(|name| name.starts_with(SERVERS)).map(|name| format!("{WITHOUT}{name}")));
    }
    let mut seen = std::collections::HashSet::new();
    tools.retain(|tool| seen.insert(tool.clone()));
    without.sort();
    without.dedup();
    (tools, without)
}

/// Returns whether a list of tools means all of them.
fn is_everything(named: &[String]) -> bool {
    let words = named.join(" ");
    named.iter().any(|name| name == "*") || ["all", "all tools"].iter().any(|all| words.eq_ignore_ascii_case(all))
}

/// Returns what a tool of Claude Code is called here; `None` for one that there is not. A pattern behind its name restricts
/// nothing here: each call is asked about as always.
fn here(name: &str) -> Option<Vec<String>> {
    let bare = name.split('(').next().unwrap_or_default().trim();
    let names: &[&str] = match bare {
        "Read" | "NotebookRead" => &["read"],
        "Grep" => &["grep"],
        "Glob" | "LS" => &["glob"],
        "Edit" | "MultiEdit" => &["edit"],
        "Write" => &["write"],
        "Bash" => &["bash"],
        "WebFetch" => &["web_scrape", "fetch"],
        "WebSearch" => &["web_search"],
        "Skill" => &["skill"],
        "TodoWrite" | "TodoRead" => &[PLAN_TOOL],
        "AskUserQuestion" => &[ASK_TOOL],
        "BashOutput" | "TaskOutput" => &["job_output"],
        "KillShell" | "KillBash" | "TaskStop" => &["job_stop"],
        server if server.starts_with(SERVERS) => &[server],
        _ => return None,
    };
    Some(names.iter().map(|name| (*name).to_owned()).collect())
}
