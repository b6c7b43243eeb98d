//! The files with hooks: each hook with its event, matcher, command and time, and one line for all that is not run.
//!
//! Pure: what is read from where is decided elsewhere. A fault of one hook leaves the others in place; what is unknown (an
//! event, a type, a condition) is never run without it. Always holds: what may have been a hook before calls and is not run
//! is a broken guard (`broken.rs`), never only a sentence.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::hooks::broken::{is_event_elsewhere, is_misplaced, repeated_name};
use crate::hooks::tool_names::{is_rule, nearest_tool};
use crate::hooks::{BrokenGuard, HookCondition, Matcher};
use steersman_base::event::HookEvent;
use steersman_base::limits;
use steersman_base::protocol::{HookState, HookStatus};
use steersman_base::text::{QuestionText, clip, is_blank, visible_line};
use steersman_tools::workspace::{Network, Placement, Script};

/// One hook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The file that it is in, for display.
    pub file: String,
    /// The point of the loop.
    pub event: HookEvent,
    /// What it is for there.
    pub matcher: Matcher,
    /// Which calls it is for beside that.
    pub condition: Option<HookCondition>,
    /// What the shell gets, or the program when there are arguments (untrusted).
    pub command: String,
    /// The arguments of a program that runs without a shell.
    pub arguments: Option<Vec<String>>,
    /// How long it may take.
    pub time: Duration,
    /// Whether the agent waits for it.
    pub waiting: HookWaiting,
    /// Whether it runs in the sandbox (`sandbox` in its file, which counts in files of the user's own only).
    pub placement: Placement,
    /// Whether it has a network there that commands have not (`network` in its file).
    pub network: Network,
    /// The root of the plugin that it belongs to.
    pub plugin: Option<PathBuf>,
}

/// Whether the agent waits for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookWaiting {
    /// It does: what the hook says decides.
    Waits,
    /// The hook runs in the background (`async` in its file): what it says for the model comes later, and it decides nothing.
    Background,
}

impl HookWaiting {
    /// Returns what a line about a hook says of it; nothing of a usual one.
    pub fn label(self) -> &'static str {
        match self {
            Self::Waits => "",
            Self::Background => ", in the background",
        }
    }
}

/// What a file has.
#[derive(Debug, Clone, Default)]
pub struct HookFile {
    /// Its hooks, in its order.
    pub hooks: Vec<Hook>,
    /// What of it is not run, and why; each the end of a sentence.
    pub faults: Vec<String>,
    /// Which calls it may have been about.
    pub broken: Vec<BrokenGuard>,
}

impl HookFile {
    /// Returns one line about what is not run; `None` when everything is.
    pub fn error_line(&self, file: &str) -> Option<String> {
        (!self.faults.is_empty()).then(|| format!("{file}: hooks that are not run: {}", self.faults.join("; ")))
    }

    /// Makes one of which nothing can be read.
    pub fn unreadable(file: &str, content: &str, why: &str) -> Self {
        let mut read = Self::default();
        read.leave_out("all", why);
        read.broken.push(BrokenGuard::new(file, Matcher::everything(), why, content));
        read
    }

    /// Leaves out what may have been a hook before the calls that a matcher means.
    fn break_guard(&mut self, file: &str, name: &str, matcher: Matcher, why: &str, content: &Value) {
        self.leave_out(name, why);
        self.broken.push(BrokenGuard::new(file, matcher, &format!("{name}: {why}"), &content.to_string()));
    }

    fn leave_out(&mut self, what: &str, why: &str) {
        let sentence = format!("{} ({})", visible_line(what), clip(&visible_line(why), limits::HOOK_LINE_COLUMNS));
        if !self.faults.contains(&sentence) {
            self.faults.push(sentence);
        }
    }
}

impl Hook {
    /// Returns what clients see of it.
    pub fn status(&self, state: HookState) -> HookStatus {
        HookStatus {
            file: self.file.clone(),
            event: self.event,
            matcher: self.matcher.text().to_owned(),
            command: self.whole_command(),
            state,
            in_background: self.waiting == HookWaiting::Background,
        }
    }

    /// Returns where it runs, for a sentence.
    pub fn place(&self) -> &'static str {
        match (self.placement, self.network) {
            (Placement::Sandboxed, Network::Off) => "in the sandbox",
            (Placement::Sandboxed, Network::On) => "in the sandbox, with a network",
            (Placement::Outside, _) => "outside of the sandbox",
        }
    }

    /// Describes exactly what it runs, with the text of each of these scripts.
    pub fn describe(&self, text: &mut QuestionText, scripts: &[Script]) {
        let matcher = self.matcher.text();
        let matcher = if matcher.is_empty() { String::new() } else { format!(" {matcher}") };
        let place = match (self.placement, self.network) {
            (Placement::Sandboxed, Network::Off) => String::new(),
            (Placement::Sandboxed, Network::On) | (Placement::Outside, _) => format!(", {}", self.place()),
        };
        let condition =
            self.condition.as_ref().map(|condition| format!(", if {}", condition.text())).unwrap_or_default();
        text.part(&format!("{}: {}{matcher}{condition}{}{place}", self.file, self.event, self.waiting.label()));
        text.quote(&self.whole_command());
        for script in scripts {
            text.quote(&format!("# {}", script.path.display()));
            text.quote(&script.shown());
        }
    }

    /// Returns whether it can forbid a call.
    pub fn is_guard(&self) -> bool {
        self.event == HookEvent::PreToolUse && self.waiting == HookWaiting::Waits
    }

    /// Returns the whole command in one text: that of the shell, or the program with its arguments.
    pub fn whole_command(&self) -> String {
        let arguments = self.arguments.iter().flatten().map(|argument| format!(" {argument:?}"));
        format!("{}{}", self.command, arguments.collect::<String>())
    }
}

/// Reads a file in JSON. One without hooks is empty.
pub fn read_json(file: &str, text: &str) -> HookFile {
    let why = match serde_json::from_str::<Value>(text) {
        Ok(value) if !value.is_object() => "the file must hold an object".to_owned(),
        Ok(value) => match repeated_name(text) {
            None => return read_value(file, &value),
            Some(name) => format!("it has {name:?} twice"),
        },
        Err(error) => format!("the file is not valid JSON: {error}"),
    };
    // The settings of another program need not have hooks.
    if file.ends_with("hooks.json") || text.to_ascii_lowercase().contains("hook") {
        return HookFile::unreadable(file, text, &why);
    }
    let mut read = HookFile::default();
    read.leave_out("all", &why);
    read
}

/// Reads the hooks of a whole file: its member `hooks`.
pub fn read_value(file: &str, value: &Value) -> HookFile {
    let mut read = HookFile::default();
    let members = value.as_object();
    if let Some((name, content)) = members.and_then(|members| members.iter().find(|(name, _)| is_misplaced(name))) {
        read.break_guard(file, name, Matcher::everything(), "hooks stand in the object `hooks`", content);
    }
    let Some(events) = value.get("hooks").filter(|hooks| !hooks.is_null()) else { return read };
    let Some(events) = events.as_object() else {
        read.break_guard(file, "all", Matcher::everything(), "`hooks` must be an object", events);
        return read;
    };
    if value.get("disableAllHooks").and_then(Value::as_bool) == Some(true) {
        if !events.is_empty() {
            read.leave_out("all", "the file has disableAllHooks");
        }
        return read;
    }
    let mut unknown = Vec::new();
    for (name, groups) in events {
        // Codex keeps there which hooks it trusts.
        if name == "state" || groups.is_null() {
            continue;
        }
        let event = HookEvent::named(name);
        if event.is_none() && is_event_elsewhere(name) {
            unknown.push(name.as_str());
            continue;
        }
        let Some(groups) = groups.as_array() else {
            read.leave_out_entry(file, event, name, groups, "it must be a list");
            continue;
        };
        for group in groups {
            match event {
                Some(event) => read_group(&mut read, file, event, group),
                None => read.leave_out_entry(file, None, name, group, "this event is not known"),
            }
        }
    }
    match unknown.as_slice() {
        [] => {}
        [one] => read.leave_out(one, "this event is not known here"),
        several => read.leave_out(&several.join(", "), "these events are not known here"),
    }
    if read.hooks.len() > limits::HOOKS_PER_FILE {
        let why = format!("there are more than {}", limits::HOOKS_PER_FILE);
        for hook in read.hooks.split_off(limits::HOOKS_PER_FILE) {
            if hook.is_guard() {
                read.broken.push(BrokenGuard::new(file, hook.matcher.clone(), &why, &hook.whole_command()));
            }
        }
        read.leave_out("the others", &why);
    }
    read
}

impl HookFile {
    /// Leaves out an entry of an event; without one its name is not known, and may have meant any.
    fn leave_out_entry(&mut self, file: &str, event: Option<HookEvent>, name: &str, entry: &Value, why: &str) {
        if event.is_some_and(|event| event != HookEvent::PreToolUse) {
            return self.leave_out(name, why);
        }
        let matcher = match entry.get("matcher") {
            Some(Value::String(text)) if !is_rule(text) => Matcher::parse(Some(text)).ok(),
            _ => None,
        };
        self.break_guard(file, name, matcher.unwrap_or_else(Matcher::everything), why, entry);
    }
}

fn read_group(read: &mut HookFile, file: &str, event: HookEvent, entry: &Value) {
    let mut leave_out = |why: &str| read.leave_out_entry(file, Some(event), event.name(), entry, why);
    let Some(group) = entry.as_object() else { return leave_out("an entry must be an object") };
    let matcher = match (event, group.get("matcher")) {
        (HookEvent::UserPromptSubmit | HookEvent::Stop, _) | (_, None | Some(Value::Null)) => Ok(None),
        (HookEvent::PreToolUse, Some(Value::String(text))) if is_rule(text) => {
            Err(format!("the matcher {text:?} is a rule; a matcher has only names"))
        }
        (_, Some(Value::String(text))) => Ok(Some(text.as_str())),
        (_, Some(_)) => Err("its matcher must be a string".to_owned()),
    };
    let matcher = match matcher.and_then(Matcher::parse) {
        Ok(matcher) => matcher,
        Err(why) => return leave_out(&why),
    };
    let Some(hooks) = group.get("hooks").and_then(Value::as_array) else {
        return leave_out("an entry has no list of hooks");
    };
    let misspelt = matcher.names().iter().find_map(|name| Some((name, nearest_tool(name)?)));
    if let Some((name, meant)) = misspelt.filter(|_| event == HookEvent::PreToolUse) {
        let why = format!("no tool is called {:?}; the nearest is {meant}", visible_line(name));
        let meant = Matcher::parse(Some(meant)).unwrap_or_else(|_| Matcher::everything());
        read.break_guard(file, event.name(), meant, &why, entry);
    }
    for hook in hooks {
        match read_hook(event, hook) {
            Ok(HookBody { condition, command, arguments, time, waiting, placement, network }) => {
                let (file, matcher) = (file.to_owned(), matcher.clone());
                read.hooks.push(Hook {
                    file,
                    event,
                    matcher,
                    condition,
                    command,
                    arguments,
                    time,
                    waiting,
                    placement,
                    network,
                    plugin: None,
                });
            }
            // One in the background would have forbidden nothing.
            Err(why) if is_set(hook, "async") || is_set(hook, "asyncRewake") => read.leave_out(event.name(), &why),
            Err(why) => read.leave_out_entry(file, Some(event), event.name(), entry, &why),
        }
    }
}

/// What stands in a hook itself.
struct HookBody {
    condition: Option<HookCondition>,
    command: String,
    arguments: Option<Vec<String>>,
    time: Duration,
    waiting: HookWaiting,
    placement: Placement,
    network: Network,
}

/// Reads one hook.
///
/// # Errors
/// Why it is not run.
fn read_hook(event: HookEvent, whole: &Value) -> Result<HookBody, String> {
    let hook = whole.as_object().ok_or("a hook must be an object")?;
    match hook.get("type") {
        Some(Value::String(kind)) if kind == "command" => {}
        Some(Value::String(kind)) => return Err(format!("type {kind:?}; Steersman runs only commands")),
        Some(_) | None => return Err("it has no type".to_owned()),
    }
    let command = text_of(hook, "command")?.ok_or("it has no command")?;
    if is_blank(&command) {
        return Err("its command is empty".to_owned());
    }
    if command.contains("CLAUDE_PLUGIN_ROOT") || command.contains("PLUGIN_ROOT}") {
        return Err("it names the directory of a plugin".to_owned());
    }
    let condition = text_of(hook, "if")?.map(|text| HookCondition::parse(&text)).transpose()?;
    if condition.is_some() && !event.is_about_call() {
        return Err("`if` needs an event about a call".to_owned());
    }
    if is_set(whole, "asyncRewake") {
        return Err("it would wake the agent; only you can do that".to_owned());
    }
    let waiting = if is_set(whole, "async") { HookWaiting::Background } else { HookWaiting::Waits };
    let placement =
        if hook.get("sandbox") == Some(&Value::Bool(false)) { Placement::Outside } else { Placement::Sandboxed };
    let network = if is_set(whole, "network") { Network::On } else { Network::Off };
    if let Some(shell) = text_of(hook, "shell")?
        && shell != "bash"
    {
        return Err(format!("its shell is {shell:?}"));
    }
    let arguments = match hook.get("args") {
        None | Some(Value::Null) => None,
        Some(Value::Array(words)) => {
            let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            Some(words.ok_or("each argument must be a string")?)
        }
        Some(_) => return Err("its arguments must be a list".to_owned()),
    };
    let time = match hook.get("timeout") {
        None | Some(Value::Null) => limits::HOOK_TIME,
        Some(time) => {
            let seconds =
                time.as_f64().filter(|seconds| *seconds > 0.0).ok_or("its timeout must be a number of seconds")?;
            Duration::try_from_secs_f64(seconds).unwrap_or(limits::HOOK_MOST_TIME).min(limits::HOOK_MOST_TIME)
        }
    };
    Ok(HookBody { condition, command, arguments, time, waiting, placement, network })
}

fn is_set(hook: &Value, member: &str) -> bool {
    hook.get(member).and_then(Value::as_bool) == Some(true)
}

fn text_of(hook: &Map<String, Value>, member: &str) -> Result<Option<String>, String> {
    match hook.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("its {member} must be a string")),
    }
}
