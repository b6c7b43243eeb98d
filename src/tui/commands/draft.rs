//! What a draft is: a text, or a command with what stands behind it; the names of other programs for commands, and the
//! command that an unknown word most resembles.
//!
//! Pure; the tables of commands stand in `mod.rs` and `lines.rs`. Always holds: a text is a command only by its first word,
//! and only where that is the name of one.

use crate::commands::Takes::{Any, Nothing, Text, Word};
use crate::commands::{COMMANDS, Command, LINE_COMMANDS};
use steersman_base::text::distance;

/// What a draft is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draft<'a> {
    /// Text for an agent, exactly as it stands.
    Text(&'a str),
    /// Text that starts like a command; it was written with a second slash, which is left out here.
    Escaped(&'a str),
    /// Text whose first word looks like a command and is none; it is sent only when that was said.
    NoCommand {
        /// The first word, with its slash.
        word: &'a str,
    },
    /// A command with what stands behind it, without blanks around it.
    Command(Command, &'a str),
    /// A command that cannot be carried out with what stands behind it, which is this.
    InvalidArguments(Command, &'a str),
}

pub fn parse(text: &str) -> Draft<'_> {
    read_by(text, &[&COMMANDS])
}

/// Reads a draft where there are commands for everything, as the line output has them.
pub fn read_line(text: &str) -> Draft<'_> {
    read_by(text, &[&COMMANDS, LINE_COMMANDS])
}

fn read_by<'a>(text: &'a str, tables: &[&[Command]]) -> Draft<'a> {
    let Some(rest) = text.strip_prefix('/') else { return Draft::Text(text) };
    if let Some(word) = rest.strip_prefix('/') {
        return if word.starts_with(|c: char| c.is_alphanumeric()) { Draft::Escaped(rest) } else { Draft::Text(text) };
    }
    let name = rest.split([' ', '\n', '\t']).next().unwrap_or_default();
    let behind = rest.get(name.len()..).unwrap_or_default();
    let named = |name: &str| tables.iter().copied().flatten().find(|command| command.name == name);
    // Words behind a name that takes none here would be lost: they are meant for something else.
    let alias = || {
        let alias = ALIASES.iter().find(|alias| alias.name == name)?;
        (behind.trim().is_empty() || alias.takes_argument()).then_some((named(alias.command)?, alias.argument))
    };
    let known = named(name).map(|command| (command, "")).or_else(alias);
    match known {
        Some((command, usual)) if behind.is_empty() || behind.starts_with(' ') => {
            let argument = Some(behind.trim()).filter(|behind| !behind.is_empty()).unwrap_or(usual);
            let fits = match command.takes {
                Nothing => argument.is_empty(),
                Word => !argument.contains(char::is_whitespace),
                Text => !argument.is_empty(),
                Any => true,
            };
            if fits { Draft::Command(*command, argument) } else { Draft::InvalidArguments(*command, argument) }
        }
        _ if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '-') => {
            Draft::NoCommand { word: text.get(..=name.len()).unwrap_or(text) }
        }
        _ => Draft::Text(text),
    }
}

/// A command's name in other programs, with what it is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias {
    /// The name, without the slash.
    pub name: &'static str,
    /// The name of the command that does the same here, or the nearest thing.
    pub command: &'static str,
    /// What stands behind the command where nothing was written behind the name.
    pub argument: &'static str,
    /// What differs here; empty where nothing does.
    pub note: &'static str,
}

impl Alias {
    /// Returns the command with what stands behind it, as it is written here.
    pub fn written(&self) -> String {
        format!("/{} {}", self.command, self.argument).trim_end().to_owned()
    }

    /// Tells whether words behind it are for the command.
    pub fn takes_argument(&self) -> bool {
        let takes = COMMANDS.iter().find(|command| command.name == self.command).map(|command| command.takes);
        self.argument.is_empty() && self.command != "help" && takes.is_some_and(|takes| takes != Nothing)
    }

    /// Returns what it is here: `here /new: new conversation on an empty screen; asks first`.
    pub fn help(&self) -> String {
        let own = COMMANDS.iter().find(|command| command.name == self.command).map_or("", |command| command.help);
        format!("here {}: {}", self.written(), if self.note.is_empty() { own } else { self.note })
    }
}

const fn alias(name: &'static str, command: &'static str) -> Alias {
    Alias { name, command, argument: "", note: "" }
}

const fn noted(name: &'static str, command: &'static str, argument: &'static str, note: &'static str) -> Alias {
    Alias { name, command, argument, note }
}

/// The note of the names for going back in a conversation.
const BACK: &str = "a new session from just before one of your messages; it asks whether the files go back too";

/// The heading of the names from other programs.
pub const OTHER_NAMES: &str = "Names from other programs";

/// Names from other programs, with the command that does the same here, or the page of help about it.
pub const ALIASES: &[Alias] = &[
    alias("abort", "cancel"),
    noted("about", "help", "", "the keys, the commands and the manual; steersman --version says the version"),
    noted(
        "add",
        "help",
        "message",
        "no file is added: @FILE in the message names one, and the agent reads what it needs",
    ),
    noted("add-dir", "help", "configuration", "a directory more is given at the start: steersman --add-dir DIR"),
    alias("agent", "agents"),
    alias("approvals", "mode"),
    alias("bashes", "jobs"),
    noted("bug", "help", "doctor", "nothing is sent from here: steersman doctor writes what a report needs"),
    noted("changelog", "help", "changelog", "what is new"),
    alias("changes", "diff"),
    noted("chat", "resume", "", "every session is saved by itself; this chooses one"),
    noted("checkpoint", "branch", "", BACK),
    alias("clear", "new"),
    alias("compress", "compact"),
    noted("config", "help", "configuration", "settings are in config.toml; this page lists them"),
    alias("continue", "resume"),
    noted("copy", "help", "transcript", "Ctrl+O, v, y: select in the transcript and copy"),
    alias("cost", "budget"),
    noted("doctor", "help", "doctor", "the checks run in a shell: steersman doctor"),
    noted("drop", "context", "", "what fills the context window; d takes a result out of it"),
    noted("editor", "help", "message", "Ctrl+G opens the message in your editor"),
    noted("effort", "help", "models", "reasoning_effort in config.toml, or steersman --reasoning-effort WORD"),
    alias("exit", "quit"),
    noted("extensions", "help", "plugins", "added in a shell: steersman plugin add"),
    noted("feedback", "help", "doctor", "nothing is sent from here: steersman doctor writes what a report needs"),
    noted("fork", "branch", "", "a new session from just before one of your messages; steersman fork takes all of one"),
    alias("hold", "pause"),
    alias("hotkeys", "keys"),
    alias("keybindings", "keys"),
    noted("load", "resume", "", "every session is saved by itself; this chooses one"),
    noted("login", "help", "models", "there is no account: this page says where the key of a server comes from"),
    noted("logout", "help", "models", "there is no account: this page says where the key of a server comes from"),
    noted(
        "memory",
        "rules",
        "",
        "rules that you gave with /rule; those of the project are in AGENTS.md (/init writes it)",
    ),
    alias("models", "model"),
    alias("permissions", "mode"),
    noted("plugin", "help", "plugins", "added in a shell: steersman plugin add"),
    noted("plugins", "help", "plugins", "added in a shell: steersman plugin add"),
    alias("ps", "jobs"),
    alias("q", "quit"),
    noted("read-only", "mode", "read-only", "nothing is changed; /mode ask goes back"),
    noted("release-notes", "help", "changelog", "what is new"),
    noted("rename", "help", "sessions", "a session has the name of its first text"),
    noted("restore", "branch", "", BACK),
    noted("rewind", "branch", "", BACK),
    noted("run", "help", "message", "!COMMAND runs it in your own shell, and the agent gets its output"),
    noted("save", "resume", "", "every session is saved by itself; /export writes a file"),
    alias("sessions", "resume"),
    noted("settings", "help", "configuration", "settings are in config.toml; this page lists them"),
    noted("share", "help", "sessions", "nothing is uploaded: /export writes a file"),
    alias("shortcuts", "keys"),
    alias("skills", "skill"),
    alias("stats", "budget"),
    alias("status", "details"),
    noted("statusline", "help", "looks", "status.command in config.toml is a line of your own"),
    alias("stop", "cancel"),
    alias("subagents", "agents"),
    alias("summarize", "compact"),
    alias("tasks", "jobs"),
    noted("terminal-setup", "help", "keys", "nothing is to be set up: Ctrl+J is a new line everywhere"),
    alias("themes", "theme"),
    alias("todos", "plan"),
    alias("tokens", "context"),
    noted("tools", "help", "tools", "what each tool does; /mcp lists those of servers"),
    noted("update", "help", "install", "it does not update itself"),
    noted("upgrade", "help", "install", "it does not update itself"),
    alias("usage", "budget"),
    noted("version", "help", "", "the keys, the commands and the manual; steersman --version says the version"),
    noted("yolo", "mode", "", "say which mode holds; /mode auto asks nothing"),
];

/// Returns the name of the command, of this program or another, that an unknown word most resembles, without the slash: one that
/// begins with the word, else the one with the fewest letters changed; `None` where half the letters would be others.
pub fn nearest(word: &str) -> Option<&'static str> {
    let word = word.trim_start_matches('/');
    let own = COMMANDS.iter().map(|command| (command.name, command.verb.gives_up()));
    let names = own.chain(ALIASES.iter().map(|alias| (alias.name, false)));
    let changed = |name: &str| if name.starts_with(word) { 0 } else { distance(word, name) };
    let rank = |(name, gives_up): &(&str, bool)| {
        let begins = name.starts_with(word);
        (!begins, begins && *gives_up, changed(name))
    };
    let (name, _) = names.min_by_key(rank)?;
    let longest = word.chars().count().max(name.chars().count());
    (changed(name) * 2 <= longest + 1).then_some(name)
}

/// Says that a word is no command, and which one is near; of a name from another program, what it is here.
pub fn unknown(word: &str) -> String {
    if let Some(alias) = ALIASES.iter().find(|alias| word.strip_prefix('/') == Some(alias.name)) {
        return format!("{word} is {} here, without words behind it", alias.written());
    }
    match nearest(word) {
        Some(nearest) => format!("unknown command {word}; nearest: /{nearest}"),
        None => format!("unknown command {word}; none here is like it"),
    }
}
