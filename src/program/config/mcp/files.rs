//! The files of other programs that name MCP servers.
//!
//! `.mcp.json` of a project and `~/.claude.json` (<https://code.claude.com/docs/en/mcp>): an object `mcpServers`, whose
//! members have `command`, `args`, `env`, or `type: "http"`, `url`, `headers`; the second one holds them at its top for
//! every project, and under `projects` by directory; `private`, `untrusted` and `egress` are read as in this program's own
//! file. `config.toml` of codex
//! (<https://developers.openai.com/codex/mcp>): tables `mcp_servers.NAME` with `command`, `args`, `env`, `env_vars`,
//! `cwd`, or `url`, `bearer_token_env_var`, `http_headers`, `env_http_headers`; times, tools and `enabled` besides.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::program::config::ServerSection;
use steersman_base::text::visible_line;
use steersman_extensions::mcp::names::{server_name, server_name_error};

/// The servers that a file names, and sentences about those that cannot be used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForeignServers {
    /// The servers by their names, which are those that this program takes.
    pub servers: BTreeMap<String, ServerSection>,
    /// What is left out, and why; what has another name here.
    pub notes: Vec<String>,
}

/// Reads the `.mcp.json` of a project.
///
/// # Errors
/// One sentence when it is no such file.
pub fn read_project(text: &str) -> Result<ForeignServers, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let servers = value.get("mcpServers").and_then(Value::as_object).ok_or("it has no object mcpServers")?;
    Ok(read_json(servers))
}

/// Reads `~/.claude.json`: the servers of every project, and those of this directory before them.
///
/// # Errors
/// One sentence when it is no such file.
pub fn read_claude(text: &str, directory: &Path) -> Result<ForeignServers, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let of_project = value.get("projects").and_then(|projects| projects.get(directory.to_string_lossy().as_ref()));
    let each = [of_project, Some(&value)].into_iter().flatten();
    let mut all = ForeignServers::default();
    for servers in each.filter_map(|place| place.get("mcpServers")?.as_object()) {
        let ForeignServers { servers, notes } = read_json(servers);
        for (name, server) in servers {
            all.servers.entry(name).or_insert(server);
        }
        all.notes.extend(notes);
    }
    Ok(all)
}

/// Reads the `config.toml` of codex.
///
/// # Errors
/// One sentence when it is no such file.
pub fn read_codex(text: &str) -> Result<ForeignServers, String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| format!("it is no TOML: {}", error.message()))?;
    let value = serde_json::to_value(table).map_err(|error| error.to_string())?;
    let none = Map::new();
    let servers = value.get("mcp_servers").and_then(Value::as_object).unwrap_or(&none);
    let mut all = ForeignServers::default();
    for (name, server) in servers {
        all.add(name, of_codex(server));
    }
    Ok(all)
}

fn read_json(servers: &Map<String, Value>) -> ForeignServers {
    let mut all = ForeignServers::default();
    for (name, server) in servers {
        all.add(name, of_json(server));
    }
    all
}

impl ForeignServers {
    fn add(&mut self, name: &str, read: Result<ServerSection, String>) {
        let shown = visible_line(name).into_owned();
        match read {
            Err(why) => self.notes.push(format!("the server {shown} is left out: {why}")),
            Ok(server) => {
                let own = if server_name_error(name).is_none() { name.to_owned() } else { server_name(name) };
                if own != name {
                    self.notes.push(format!("the server {shown} is called {own} here"));
                }
                match self.servers.entry(own) {
                    Entry::Vacant(free) => _ = free.insert(server),
                    Entry::Occupied(taken) => self
                        .notes
                        .push(format!("the server {shown} is left out: there is another one called {}", taken.key())),
                }
            }
        }
    }
}

fn text(server: &Value, name: &str) -> Result<Option<String>, String> {
    match server.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("{name} is no text")),
    }
}

fn texts(server: &Value, name: &str) -> Result<Option<Vec<String>>, String> {
    let wrong = || format!("{name} is no list of texts");
    match server.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(list)) => {
            let list = list.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong));
            list.collect::<Result<_, _>>().map(Some)
        }
        Some(_) => Err(wrong()),
    }
}

fn table(server: &Value, name: &str) -> Result<Option<BTreeMap<String, String>>, String> {
    let value = |(key, value): (&String, &Value)| match value {
        Value::String(text) => Ok((key.clone(), text.clone())),
        Value::Number(_) | Value::Bool(_) => Ok((key.clone(), value.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(format!("{name}.{key} is no text")),
    };
    match server.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(map)) => map.iter().map(value).collect::<Result<_, _>>().map(Some),
        Some(_) => Err(format!("{name} is no table")),
    }
}

fn flag(server: &Value, name: &str) -> Result<Option<bool>, String> {
    match server.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("{name} is neither true nor false")),
    }
}

fn seconds(server: &Value, name: &str, per: f64) -> Option<u32> {
    let seconds = server.get(name)?.as_f64()? / per;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held within a day, above 0")]
    (seconds > 0.0).then(|| seconds.ceil().clamp(1.0, 86_400.0) as u32)
}

fn of_json(server: &Value) -> Result<ServerSection, String> {
    let kind = text(server, "type")?;
    match kind.as_deref() {
        None | Some("stdio" | "http" | "streamable-http") => {}
        Some("sse") => return Err(
            "it speaks HTTP+SSE, which the protocol has given up; most such servers have an address for type http, too"
                .to_owned(),
        ),
        Some(other) => return Err(format!("its type {} is not known", visible_line(other))),
    }
    if server.get("headersHelper").is_some() {
        return Err("its headers come from a command (headersHelper), which is not supported".to_owned());
    }
    let login = server.get("oauth").unwrap_or(&Value::Null);
    let section = ServerSection {
        command: text(server, "command")?,
        args: texts(server, "args")?,
        env: table(server, "env")?,
        cwd: text(server, "cwd")?.map(PathBuf::from),
        network: server.get("network").and_then(Value::as_bool),
        url: text(server, "url")?,
        headers: table(server, "headers")?,
        client_id: text(login, "clientId")?,
        scopes: text(login, "scopes")?.map(|scopes| scopes.split_whitespace().map(str::to_owned).collect()),
        login_port: login.get("callbackPort").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok()),
        call_timeout: seconds(server, "timeout", 1_000.0),
        enabled: server.get("disabled").and_then(Value::as_bool).map(|disabled| !disabled),
        private: flag(server, "private")?,
        untrusted: flag(server, "untrusted")?,
        egress: flag(server, "egress")?,
        ..ServerSection::default()
    };
    reached(section)
}

fn of_codex(server: &Value) -> Result<ServerSection, String> {
    let mut pass_env = Vec::new();
    for variable in server.get("env_vars").and_then(Value::as_array).into_iter().flatten() {
        let name = variable.as_str().or_else(|| variable.get("name")?.as_str());
        pass_env.push(name.ok_or("env_vars holds what is no name")?.to_owned());
    }
    let mut headers = table(server, "http_headers")?.unwrap_or_default();
    for (header, variable) in table(server, "env_http_headers")?.unwrap_or_default() {
        headers.insert(header, format!("${{{variable}}}"));
    }
    let section = ServerSection {
        command: text(server, "command")?,
        args: texts(server, "args")?,
        env: table(server, "env")?,
        pass_env: (!pass_env.is_empty()).then_some(pass_env),
        cwd: text(server, "cwd")?.map(PathBuf::from),
        url: text(server, "url")?,
        headers: (!headers.is_empty()).then_some(headers),
        bearer_token_env: text(server, "bearer_token_env_var")?,
        scopes: texts(server, "scopes")?,
        enabled: server.get("enabled").and_then(Value::as_bool),
        enabled_tools: texts(server, "enabled_tools")?,
        disabled_tools: texts(server, "disabled_tools")?,
        start_timeout: seconds(server, "startup_timeout_sec", 1.0)
            .or_else(|| seconds(server, "startup_timeout_ms", 1_000.0)),
        call_timeout: seconds(server, "tool_timeout_sec", 1.0),
        ..ServerSection::default()
    };
    reached(section)
}

fn reached(section: ServerSection) -> Result<ServerSection, String> {
    match (&section.command, &section.url) {
        (Some(_), None) | (None, Some(_)) => Ok(section),
        (Some(_), Some(_)) => Err("it has a command and an address".to_owned()),
        (None, None) => Err("it has neither a command nor an address".to_owned()),
    }
}

/// Writes servers as sections of this program's own file.
pub fn to_toml(servers: &BTreeMap<String, ServerSection>) -> String {
    let mut text = String::new();
    for (name, server) in servers {
        let ServerSection {
            command,
            args,
            env,
            pass_env,
            cwd,
            sandbox,
            network,
            readable,
            writable,
            url,
            headers,
            bearer_token_env,
            client_id,
            client_secret_env,
            scopes,
            login_port,
            enabled,
            enabled_tools,
            disabled_tools,
            on_main_agent,
            start_timeout,
            call_timeout,
            private,
            untrusted,
            egress,
        } = server;
        let mut table = toml::Table::new();
        let mut put = |key: &str, value: Option<toml::Value>| {
            if let Some(value) = value {
                table.insert(key.to_owned(), value);
            }
        };
        let list = |list: &Option<Vec<String>>| list.clone().map(toml::Value::from);
        let directories = |list: &Option<Vec<PathBuf>>| {
            let list = list.as_ref()?.iter().map(|path| path.to_string_lossy().into_owned());
            Some(toml::Value::from(list.collect::<Vec<_>>()))
        };
        let map = |map: &Option<BTreeMap<String, String>>| {
            let map = map.clone()?.into_iter().map(|(key, value)| (key, toml::Value::from(value)));
            Some(toml::Value::Table(map.collect()))
        };
        let flag = |flag: &Option<bool>| flag.map(toml::Value::from);
        let number = |number: Option<u32>| number.map(|number| toml::Value::from(i64::from(number)));
        let word = |word: &Option<String>| word.clone().map(toml::Value::from);
        put("command", word(command));
        put("args", list(args));
        put("pass_env", list(pass_env));
        put("cwd", cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned().into()));
        put("sandbox", flag(sandbox));
        put("network", flag(network));
        put("readable", directories(readable));
        put("writable", directories(writable));
        put("url", word(url));
        put("bearer_token_env", word(bearer_token_env));
        put("client_id", word(client_id));
        put("client_secret_env", word(client_secret_env));
        put("scopes", list(scopes));
        put("login_port", number(login_port.map(u32::from)));
        put("enabled", flag(enabled));
        put("enabled_tools", list(enabled_tools));
        put("disabled_tools", list(disabled_tools));
        put("on_main_agent", flag(on_main_agent));
        put("start_timeout", number(*start_timeout));
        put("call_timeout", number(*call_timeout));
        put("private", flag(private));
        put("untrusted", flag(untrusted));
        put("egress", flag(egress));
        put("env", map(env));
        put("headers", map(headers));
        let whole = toml::Table::from_iter([(
            "mcp".to_owned(),
            toml::Value::Table(toml::Table::from_iter([(name.clone(), toml::Value::Table(table))])),
        )]);
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&toml::to_string(&whole).unwrap_or_default());
    }
    text
}
