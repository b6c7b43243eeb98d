//! What the command line sets for one run: settings of the configuration (`-c KEY=VALUE`), MCP servers from a file, agents,
//! more directories.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;
use toml::Table;

use crate::program::cli::args::Flags;
use crate::program::config::{Config, Layer, parse, read_project};
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_base::text::visible_line;

/// The settings whose tables have names of the user's: they add to those of the file.
const NAMED: [&str; 3] = ["mcp", "profile", "prices"];

/// A setting of the configuration on the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    table: Table,
    layer: Layer,
}

impl Setting {
    /// Reads `KEY=VALUE`: a key of the configuration file, and a value as there; one that is none is a text.
    ///
    /// # Errors
    /// One sentence, as about the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("it must be a key and a value, as max_steps=20")?;
        let is_value = format!("value = {value}").parse::<Table>().is_ok();
        let value = if is_value { value.to_owned() } else { toml::Value::String(value.to_owned()).to_string() };
        let line = format!("{} = {value}", key.trim());
        let layer = parse(&line).map_err(|error| error.message)?;
        let table = line.parse::<Table>().map_err(|error| error.message().to_owned())?;
        Ok(Self { table, layer })
    }

    /// Returns it as a layer of its own; what has a name of the user's is added to the file instead.
    pub fn layer(&self) -> Layer {
        Layer { mcp: None, profile: None, prices: None, ..self.layer.clone() }
    }

    /// Adds what has a name of the user's to the text of a configuration file.
    ///
    /// # Errors
    /// One sentence, when the text is none.
    pub fn added_to(settings: &[Self], text: String) -> Result<String, String> {
        let is_named = |setting: &Self| NAMED.iter().any(|name| setting.table.contains_key(*name));
        let named: Vec<&Self> = settings.iter().filter(|setting| is_named(setting)).collect();
        if named.is_empty() {
            return Ok(text);
        }
        let mut whole = text.parse::<Table>().map_err(|error| error.message().to_owned())?;
        for setting in named {
            add(&mut whole, &setting.table);
        }
        toml::to_string(&whole).map_err(|error| error.to_string())
    }
}

/// Adds the members of a table to another, and replaces those that are there.
fn add(to: &mut Table, from: &Table) {
    for (name, value) in from {
        match (to.get_mut(name), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(value)) => add(inner, value),
            _ => {
                to.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Returns the arguments with `--set` in place of a `-c` before `KEY=VALUE`, as other hosts have it.
pub(super) fn with_settings(mut args: Vec<OsString>) -> Vec<OsString> {
    let own = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let is_setting = |arg: &OsString| {
        let key = arg.to_str().and_then(|arg| arg.split_once('=')).map(|(key, _)| key);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-\"".contains(c);
        key.is_some_and(|key| key.starts_with(|c: char| c.is_ascii_lowercase()) && key.chars().all(is_plain))
    };
    for place in 1..own {
        if args[place] == "-c" && args.get(place + 1).is_some_and(is_setting) {
            args[place] = "--set".into();
        }
    }
    args
}

/// Adds the directories and the servers of the command line to a configuration; returns sentences about what is left out.
///
/// # Errors
/// One sentence, when one cannot be used.
pub(super) fn add_to(config: &mut Config, flags: &Flags) -> Result<Vec<String>, String> {
    for directory in &flags.add_dir {
        let real = directory.canonicalize().ok().filter(|real| real.is_dir());
        let real = real.ok_or_else(|| format!("--add-dir {}: there is no such directory", directory.display()))?;
        config.sandbox.writable.push(real.clone());
        config.sandbox.added.push(real);
    }
    let mut notes = Vec::new();
    for path in &flags.mcp_config {
        let fault = |why: String| format!("--mcp-config {}: {why}", path.display());
        let found = read_project(&read_file(path).map_err(fault)?).map_err(fault)?;
        config.servers.extend(found.servers);
        notes.extend(found.notes.into_iter().map(fault));
    }
    Ok(notes)
}

/// Returns the agents of `--agents`, each as the text of an agent file.
///
/// # Errors
/// One sentence, when that is none.
pub(super) fn agents(named: &str) -> Result<Vec<String>, String> {
    let text = if named.trim_start().starts_with('{') { named.to_owned() } else { read_file(Path::new(named))? };
    let agents: serde_json::Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| format!("--agents is no JSON object of agents: {error}"))?;
    agents.iter().map(|(name, agent)| agent_file(name, agent)).collect()
}

/// Returns an agent as the text of a file.
fn agent_file(name: &str, agent: &Value) -> Result<String, String> {
    let prompt = agent.get("prompt").and_then(Value::as_str);
    let prompt = prompt.ok_or_else(|| format!("--agents: {} has no prompt", visible_line(name)))?;
    let mut header = format!("name: {}\n", Value::from(name));
    for key in ["description", "tools", "disallowedTools", "maxTurns"] {
        if let Some(value) = agent.get(key) {
            header.extend([key, ": ", &value.to_string(), "\n"]);
        }
    }
    Ok(format!("---\n{header}---\n{prompt}\n"))
}

fn read_file(path: &Path) -> Result<String, String> {
    read_own_text(path, limits::OWN_FILE_BYTES).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
