//! The settings of Claude Code that count here: `permissions` as rules of this program, `env` and `model`.
//!
//! Pure but for where links lead. Always holds: what restricts is read widely, so that nothing that its author denied is
//! open here, and what allows narrowly. What cannot be read is named. Source: the settings reference of Claude Code,
//! "Permission rule syntax".

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::program::config::RuleLists;
use steersman_base::paths::without_dots;
use steersman_base::text::visible_line;
use steersman_core::approval::{Mode, Rules, right_form, steers};
use steersman_tools::workspace::is_secret;

/// The directories that paths of permissions begin at.
#[derive(Debug, Clone, Copy)]
pub struct PermissionPlaces<'a> {
    pub home: Option<&'a Path>,
    /// The root of the project.
    pub project: &'a Path,
    /// The directory that tools work in.
    pub cwd: &'a Path,
}

/// What a settings file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClaudeSettings {
    pub rules: RuleLists,
    /// The mode to start in.
    pub mode: Option<Mode>,
    /// Directories besides the working directory.
    pub directories: Vec<PathBuf>,
    /// Variables for commands.
    pub variables: BTreeMap<String, String>,
    /// The model that answers.
    pub model: Option<String>,
    /// Whether it cannot be read and may deny something.
    pub is_broken: bool,
    /// What counts for nothing here, or for something else, in a few words each.
    pub left_out: Vec<String>,
}

/// Beginnings of the names of variables that configure Claude Code itself.
const OWN: [&str; 4] = ["ANTHROPIC_", "CLAUDE_", "DISABLE_", "MCP_"];
/// Members of the settings that are read, here or where hooks and plugins are.
const READ: [&str; 8] =
    ["$schema", "permissions", "env", "model", "hooks", "disableAllHooks", "enabledPlugins", "extraKnownMarketplaces"];
/// Members that this program has another way for.
const ELSEWHERE: [(&str, &str); 3] = [
    ("statusLine", "status.command of your own configuration sets one"),
    ("outputStyle", "--append-system-prompt adds a text to the system prompt"),
    ("defaultMode", "it belongs into permissions"),
];
/// Tools of Claude Code that read files.
const READING: [&str; 5] = ["Read", "Grep", "Glob", "LS", "NotebookRead"];
/// Tools of Claude Code that change files.
const WRITING: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

/// Tools of Claude Code whose work here nobody is asked about, so that to allow them needs no rule; with the rule that is about
/// each, where there is one.
const UNASKED: [(&str, Option<&str>); 16] = [
    ("AskUserQuestion", Some("ask_user")),
    ("BashOutput", Some("job_output")),
    ("EnterPlanMode", None),
    ("ExitPlanMode", Some("plan: submit")),
    ("KillBash", Some("job_stop")),
    ("KillShell", Some("job_stop")),
    ("ListMcpResourcesTool", None),
    ("ReadMcpResourceTool", None),
    ("Skill", Some("skill")),
    ("SlashCommand", None),
    ("TaskOutput", Some("job_output")),
    ("TaskStop", Some("job_stop")),
    ("TodoRead", Some("plan")),
    ("TodoWrite", Some("plan")),
    ("ToolSearch", None),
    ("exit_plan_mode", Some("plan: submit")),
];

/// The list that an entry stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Allow,
    Ask,
    Deny,
}

impl ClaudeSettings {
    /// Returns what of a project's permissions restricts, which needs no trust. Its other settings are named.
    #[must_use]
    pub fn restrictions(mut self) -> Self {
        self.rules.allow.clear();
        self.variables.clear();
        if self.model.take().is_some() {
            self.left_out.push("model (only your own configuration sets it)".to_owned());
        }
        if self.mode.take_if(|mode| *mode != Mode::Plan).is_some() {
            self.left_out.push("defaultMode (only your own configuration sets it)".to_owned());
        }
        if !std::mem::take(&mut self.directories).is_empty() {
            self.left_out.push("additionalDirectories (only your own configuration sets them)".to_owned());
        }
        self
    }

    /// Says in one line what of a file counts for nothing here; `None` when all counts.
    pub fn left_out_line(&self, file: &str) -> Option<String> {
        if self.left_out.is_empty() {
            return None;
        }
        Some(format!("{file}: not applied as written: {}", self.left_out.join(", ")))
    }

    /// Reads the text of a settings file.
    pub fn parse(text: &str, at: PermissionPlaces<'_>) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(settings) => Self::from_settings(&settings, at),
            // Nobody knows what it denies.
            Err(error) if text.contains("deny") || text.contains("\"ask\"") => Self {
                is_broken: true,
                left_out: vec![format!(
                    "it is not valid JSON ({error}), and may deny something: every call asks first"
                )],
                ..Self::default()
            },
            Err(_) => Self::default(),
        }
    }

    fn from_settings(settings: &Value, at: PermissionPlaces<'_>) -> Self {
        let mut read =
            Self { model: settings.get("model").and_then(Value::as_str).map(str::to_owned), ..Self::default() };
        read.take_variables(settings.get("env"));
        match settings.get("permissions") {
            None | Some(Value::Null) => {}
            Some(Value::Object(permissions)) => read.take_permissions(permissions, at),
            Some(other) => {
                // Nobody knows what it denies.
                read.is_broken = ["deny", "ask"].iter().any(|list| other.to_string().contains(list));
                read.left_out.push("permissions (they must be an object)".to_owned());
            }
        }
        for name in settings.as_object().into_iter().flatten().map(|(name, _)| name.as_str()) {
            if !READ.contains(&name) {
                let why = ELSEWHERE.iter().find(|(other, _)| *other == name).map(|(_, why)| format!(" ({why})"));
                read.left_out.push(format!("{}{}", visible_line(name), why.unwrap_or_default()));
            }
        }
        read
    }

    fn take_permissions(&mut self, permissions: &Map<String, Value>, at: PermissionPlaces<'_>) {
        let read = self;
        for (key, value) in permissions {
            match key.as_str() {
                "allow" => read.add_rules(List::Allow, value, at),
                "ask" => read.add_rules(List::Ask, value, at),
                "deny" => read.add_rules(List::Deny, value, at),
                "defaultMode" => match value.as_str().map(mode) {
                    Some(Ok(mode)) => read.mode = mode,
                    Some(Err(())) | None => {
                        read.left_out.push(format!("defaultMode {} (--mode or mode says it)", shown(value)));
                    }
                },
                "additionalDirectories" => {
                    let named = entries(value).filter_map(|entry| entry.as_str());
                    read.directories.extend(named.filter_map(|path| at.place(path)));
                }
                other => read.left_out.push(visible_line(other).into_owned()),
            }
        }
    }

    fn take_variables(&mut self, variables: Option<&Value>) {
        let mut of_other = Vec::new();
        for (name, value) in variables.and_then(Value::as_object).into_iter().flatten() {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    self.left_out.push(format!("env {} (it is no text)", visible_line(name)));
                    continue;
                }
            };
            // What configures that program is of no use to a command here.
            if OWN.iter().any(|own| name.starts_with(own)) {
                of_other.push(visible_line(name).into_owned());
                continue;
            }
            if name == "PATH" || steers(name) || is_secret(name) || text.contains('\0') {
                let why = "it is a key, or makes programs run something: sandbox.pass_env passes your own";
                self.left_out.push(format!("env {} ({why})", visible_line(name)));
            } else {
                self.variables.insert(name.clone(), text);
            }
        }
        if !of_other.is_empty() {
            self.left_out.push(format!("env {} (for Claude Code alone)", of_other.join(", ")));
        }
    }

    fn add_rules(&mut self, list: List, value: &Value, at: PermissionPlaces<'_>) {
        for entry in entries(value) {
            let Some(text) = entry.as_str() else {
                self.left_out.push(shown(entry));
                continue;
            };
            match rules_of(list, text.trim(), at) {
                Ok(Rule { rules, instead }) => {
                    if instead {
                        let rules = rules.join(", ");
                        self.left_out.push(format!("{} (it is read as {rules:?})", visible_line(text)));
                    }
                    match list {
                        List::Allow => self.rules.allow.extend(rules),
                        List::Ask => self.rules.ask.extend(rules),
                        List::Deny => self.rules.deny.extend(rules),
                    }
                }
                Err(why) => self.left_out.push(format!("{} ({why})", visible_line(text))),
            }
        }
    }
}

/// The rules for one entry.
struct Rule {
    rules: Vec<String>,
    /// Whether they are wider than the entry, which cannot be said here.
    instead: bool,
}

impl From<Vec<String>> for Rule {
    fn from(rules: Vec<String>) -> Self {
        Self { rules, instead: false }
    }
}

/// A single entry stands for a list of one.
fn entries(value: &Value) -> impl Iterator<Item = &Value> {
    match value {
        Value::Array(entries) => entries.iter(),
        other => std::slice::from_ref(other).iter(),
    }
}

fn shown(value: &Value) -> String {
    visible_line(&value.to_string()).into_owned()
}

fn mode(name: &str) -> Result<Option<Mode>, ()> {
    match name {
        "default" => Ok(None),
        "acceptEdits" => Ok(Some(Mode::AutoEdit)),
        "plan" => Ok(Some(Mode::Plan)),
        _ => Err(()),
    }
}

fn rules_of(list: List, text: &str, at: PermissionPlaces<'_>) -> Result<Rule, String> {
    let (name, pattern) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((name, pattern)) => (name.trim(), Some(pattern.trim())),
        None => (text, None),
    };
    let pattern = pattern.filter(|pattern| !matches!(*pattern, "" | "*" | "**"));
    let (reads, writes) = (READING.contains(&name), WRITING.contains(&name));
    if reads || writes {
        // Reading needs no rule that allows it.
        let tools: &[&str] = match (list, reads) {
            (List::Allow, true) => return Ok(Vec::new().into()),
            (List::Allow, false) => &["edit", "write"],
            // What nobody may read, nobody may write: a change shows what was there.
            (List::Deny, true) if pattern.is_some() => &["read", "edit"],
            (List::Deny | List::Ask, true) => &["read"],
            (List::Deny | List::Ask, false) => &["edit"],
        };
        let Some(pattern) = pattern else {
            return Ok(tools.iter().map(|tool| (*tool).to_owned()).collect::<Vec<_>>().into());
        };
        let paths = if list == List::Allow { vec![at.allowed(pattern)?] } else { at.restricted(pattern)? };
        let rules = tools.iter().flat_map(|tool| paths.iter().map(move |path| format!("{tool}: {path}")));
        let rules: Vec<String> = rules.filter(|rule| rule_error(rule).is_none()).collect();
        if rules.is_empty() {
            return Err("it names no path".to_owned());
        }
        return Ok(rules.into());
    }
    if let Some((_, rule)) = UNASKED.iter().find(|(tool, _)| *tool == name) {
        return match (list, rule, pattern) {
            (List::Allow, _, _) => Ok(Vec::new().into()),
            (_, None, _) => Err("no rule is about it here: it needs no permission".to_owned()),
            (_, Some("skill"), Some(skill)) => skill_rules(skill),
            (_, Some(rule), _) => Ok(vec![(*rule).to_owned()].into()),
        };
    }
    if let Some(agent) = pattern.filter(|agent| matches!(name, "Task" | "Agent") && agent.contains(':')) {
        // An agent of a plugin has either name here, as far as it is taken.
        let bare = agent.rsplit(':').next().filter(|_| list != List::Allow);
        let names = [Some(agent.replace(':', "-")), bare.map(str::to_owned)];
        let rules: Vec<String> = names.into_iter().flatten().map(|name| format!("agent: {name}")).collect();
        return if rules.iter().all(|rule| rule_error(rule).is_none()) {
            Ok(rules.into())
        } else {
            Err("it names no agent".to_owned())
        };
    }
    if let Some(rule) = right_form(text) {
        // What may be requested may be read as a page too.
        let page = rule.strip_prefix("fetch").filter(|_| list == List::Allow).map(|rest| format!("web_scrape{rest}"));
        return Ok(std::iter::once(rule).chain(page).collect::<Vec<_>>().into());
    }
    let tool = right_form(name).ok_or("there is no such tool here")?;
    if list == List::Allow {
        // The right form of `for:*` is `for *`, which is no command of its own.
        let faults =
            [":*", " *"].map(|end| rule_error(&format!("{tool}: {}", pattern.unwrap_or_default().replace(":*", end))));
        return Err(faults.into_iter().flatten().next().unwrap_or_else(|| "it is no rule here".to_owned()));
    }
    // As many of the first words as can be said: wider, and nothing that is denied is open.
    let words: Vec<&str> = pattern.unwrap_or_default().split_whitespace().collect();
    let prefixes = (1..=words.len()).rev().filter_map(|most| words.get(..most)).filter(|_| tool == "bash");
    let mut rules = prefixes.map(|words| format!("{tool}: {} *", words.join(" ")));
    let rule = rules.find(|rule| rule_error(rule).is_none()).unwrap_or(tool);
    Ok(Rule { rules: vec![rule], instead: true })
}

/// Returns the rules about a skill, whose plugin may be named before it: its instructions and its files.
fn skill_rules(pattern: &str) -> Result<Rule, String> {
    let name = pattern.trim_end_matches([' ', '*', ':']);
    let own = name.rsplit(':').next().filter(|own| !own.is_empty()).ok_or("it names no skill")?;
    Ok(vec![format!("skill: {own}"), format!("skill: {own}/*")].into())
}

/// Returns why something is no rule.
fn rule_error(rule: &str) -> Option<String> {
    Rules::parse(&[rule], &[], &[]).err().map(|error| error.why)
}

impl PermissionPlaces<'_> {
    /// Returns the path that a pattern names, absolute.
    fn place(self, pattern: &str) -> Option<PathBuf> {
        let path = if let Some(absolute) = pattern.strip_prefix("//") {
            Path::new("/").join(absolute)
        } else if let Some(rest) = pattern.strip_prefix('~') {
            self.home?.join(rest.trim_start_matches('/'))
        } else if let Some(rest) = pattern.strip_prefix('/') {
            self.project.join(rest)
        } else {
            self.cwd.join(pattern)
        };
        // A slash at the end says that it is about a directory.
        let path = without_dots(&path);
        Some(if pattern.ends_with('/') { path.join("") } else { path })
    }

    /// Returns the only path pattern that an entry which allows means.
    fn allowed(self, pattern: &str) -> Result<String, String> {
        if pattern.contains(['[', '{', '\\', '!']) {
            return Err("only * and ? are wildcards in paths here".to_owned());
        }
        let path = self.place(pattern).ok_or("there is no home directory")?;
        let below = path.strip_prefix(self.cwd).ok().and_then(Path::to_str).filter(|below| !below.is_empty());
        below.map(str::to_owned).ok_or_else(|| "it is not in the working directory".to_owned())
    }

    /// Returns every path pattern that an entry which restricts may mean.
    fn restricted(self, pattern: &str) -> Result<Vec<String>, String> {
        if pattern.starts_with('!') {
            return Err("patterns that begin with ! are not supported".to_owned());
        }
        let wide = widened(pattern);
        let mut paths: Vec<PathBuf> = self.place(&wide).into_iter().collect();
        if !wide.starts_with(['/', '~']) {
            paths.push(without_dots(&self.project.join(&wide)));
            // A name alone is one at any depth.
            if !wide.trim_end_matches('/').contains('/') {
                paths.extend([self.cwd, self.project].map(|base| base.join("**").join(&wide)));
            }
        } else if wide.starts_with('/') {
            // Many take it for the root of the file system.
            paths.push(without_dots(Path::new(&wide)));
        }
        let real: Vec<PathBuf> = paths.iter().filter_map(|path| without_links(path)).collect();
        paths.extend(real);
        let mut patterns = Vec::new();
        for path in paths {
            let path = path.to_str().ok_or("it is not UTF-8")?.to_owned();
            // What is denied is denied with all that it holds.
            if !path.ends_with("**") && !path.ends_with('/') {
                patterns.push(format!("{path}/**"));
            }
            patterns.push(path);
        }
        patterns.sort();
        patterns.dedup();
        Ok(patterns)
    }
}

/// Returns a pattern in which `*` and `?` stand for what else has a meaning there.
fn widened(pattern: &str) -> String {
    let mut wide = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
                wide.push('?');
            }
            '[' if chars.as_str().contains(']') => {
                chars.by_ref().find(|c| *c == ']');
                wide.push('?');
            }
            '{' if chars.as_str().contains('}') => {
                let mut depth = 1_usize;
                let is_last = |c: char| {
                    depth = if c == '{' { depth + 1 } else { depth - usize::from(c == '}') };
                    depth == 0
                };
                chars.by_ref().position(is_last);
                wide.push('*');
            }
            c => wide.push(c),
        }
    }
    wide
}

/// Returns what a path pattern leads to by links in its part without wildcards; `None` where there are none.
fn without_links(path: &Path) -> Option<PathBuf> {
    let is_plain = |path: &Path| path.to_str().is_some_and(|text| !text.contains(['*', '?']));
    let plain = path.ancestors().find(|above| is_plain(above) && above.exists())?;
    let real = plain.canonicalize().ok().filter(|real| real != plain)?;
    let rest = path.strip_prefix(plain).ok()?;
    Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
}
