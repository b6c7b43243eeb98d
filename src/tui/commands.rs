//! The one table of slash commands, and the rule that says which texts are commands.
//!
//! Only a known command at the very start is one, and only when its arguments fit; everything else is text for an agent.
//! Names that people know from other programs are aliases. Always holds: no text is changed but by `//`, which sends a
//! text that starts like a command without its first slash.
//!
//! # Where things are
//!
//! - line output: its commands, what a line means, questions: `lines.rs`, `src/tui/update/line.rs`,
//!   `src/tui/lines/asks.rs`; stories: `lines_ask.rs`, `lines_lives.rs`

mod aliases;
mod lines;

use crate::steering::{Recurrence, TextKind};

use aliases::ALIASES;

pub use aliases::nearest;
pub use lines::{LINE_COMMANDS, LineVerb, only_drawn};

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// What it does.
    pub verb: Verb,
    /// Its name, without the slash.
    pub name: &'static str,
    /// Its name with what it takes, as help shows it.
    pub usage: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it does, in words.
    pub help: &'static str,
    /// The key that does the same; empty where none does.
    pub key: &'static str,
}

impl Command {
    /// Returns what it does, and behind that its key as it is spelled in the keymap in force.
    pub fn help_with_key(&self, key: &str) -> String {
        if key.is_empty() { self.help.to_owned() } else { format!("{} ({key})", self.help) }
    }
}

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Shows help, or a page of the manual.
    Help,
    /// Chooses the model, or lists what there is.
    Model,
    /// Starts a new conversation on an empty screen.
    New,
    /// Takes the conversation back to its system prompt.
    Reset,
    /// Stops the turn.
    Cancel,
    /// Holds the shown agent or all, or lets them go on.
    Hold,
    /// Writes the transcript or the ledger into a file.
    Export,
    /// Goes to the agents.
    Agents,
    /// Goes to the pending texts.
    Pending,
    /// Shows the ledger.
    Ledger,
    /// Shows the files that tools changed.
    Changes,
    /// Shows the commands in the background.
    Jobs,
    /// Sends the command that the shown agent waits for to the background.
    Background,
    /// Goes to the details of the shown agent.
    Details,
    /// Lets a pane fill the screen, or ends that.
    Zoom,
    /// Chooses the theme.
    Theme,
    /// Chooses the approval mode.
    Mode,
    /// Lists the kept rules, or removes one.
    Rules,
    /// Shows the MCP servers.
    Servers,
    /// Goes on with another session.
    Resume,
    /// Searches all saved sessions.
    Search,
    /// Compares this session with another, or two others.
    Compare,
    /// Replays the session as far as it has come.
    Replay,
    /// Branches from just before one of the user's messages.
    Branch,
    /// Sends the request again that failed.
    Retry,
    /// Takes back what the tools of the last turn changed.
    Undo,
    /// Sends a text to be delivered now.
    Now,
    /// Sends a text of this kind.
    Send(TextKind),
    /// Sends a text when a condition is met.
    When(Recurrence),
    /// Summarises older rounds.
    Compact,
    /// Shows or sets what the session may spend.
    Budget,
    /// Searches the transcript.
    Find,
    /// Folds or opens all blocks of the transcript.
    Fold,
    /// Shows or hides the times of the blocks.
    Times,
    /// Gives the mouse to the terminal, or takes it.
    Mouse,
    /// Leaves a run that goes on without this screen.
    Detach,
    /// Ends the program.
    Quit,
    /// Does what only the line output has a command for.
    Line(LineVerb),
}

/// What a command takes behind its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// One word, which may be left out.
    Word,
    /// A text.
    Text,
    /// Anything, or nothing.
    Any,
}

const fn row(
    verb: Verb,
    name: &'static str,
    usage: &'static str,
    takes: Takes,
    key: &'static str,
    help: &'static str,
) -> Command {
    Command { verb, name, usage, takes, help, key }
}

use Takes::{Any, Nothing, Text, Word};

/// Holds every command, in the order in which help and completion show them.
pub const COMMANDS: &[Command] = &[
    row(
        Verb::Help,
        "help",
        "/help [TOPIC]",
        Any,
        "F1",
        "the keys, the commands and the manual: the page of a topic, or a search",
    ),
    row(
        Verb::Model,
        "model",
        "/model [NAME]",
        Word,
        "F6",
        "use this model from the next request on; without a name: list them",
    ),
    row(Verb::New, "new", "/new", Nothing, "F9", "new conversation on an empty screen; asks first"),
    row(Verb::Reset, "reset", "/reset", Nothing, "F10", "back to the system prompt; asks first"),
    row(Verb::Cancel, "cancel", "/cancel", Nothing, "Esc", "stop the turn; pending texts come back"),
    row(
        Verb::Line(LineVerb::Yes),
        "yes",
        "/yes [N]",
        Word,
        "Alt+Y",
        "answer the question, or question N: yes, this once",
    ),
    row(Verb::Line(LineVerb::Session), "session", "/session [N]", Word, "Alt+S", "answer it: yes, for this session"),
    row(
        Verb::Line(LineVerb::Always),
        "always",
        "/always [N]",
        Word,
        "Alt+A",
        "answer it: yes, and keep the rule that it shows for later sessions",
    ),
    row(Verb::Line(LineVerb::No), "no", "/no [N] [WORDS]", Any, "Alt+N", "answer it: no; the words are for the model"),
    row(Verb::Now, "now", "/now TEXT", Text, "F5", "deliver this text now, in place of the answer being written"),
    row(
        Verb::Send(TextKind::Instead),
        "instead",
        "/instead TEXT",
        Text,
        "Alt+V",
        "send this text in place of the task: what is open of that is dropped",
    ),
    row(
        Verb::Send(TextKind::Note),
        "note",
        "/note TEXT",
        Text,
        "Alt+V",
        "send this text as information that needs no reply; it starts no turn",
    ),
    row(
        Verb::Send(TextKind::Rule),
        "rule",
        "/rule TEXT",
        Text,
        "Alt+V",
        "send this text as a rule that holds from now on, for the agent and its sub-agents",
    ),
    row(
        Verb::When(Recurrence::Once),
        "when",
        "/when CONDITION: TEXT",
        Text,
        "",
        "send this text when a condition is met, such as bash cargo test* fails; until then it is pending",
    ),
    row(
        Verb::When(Recurrence::Every),
        "every",
        "/every CONDITION: TEXT",
        Text,
        "",
        "send this text each time that a condition is met, such as 20 steps",
    ),
    row(Verb::Agents, "agents", "/agents", Nothing, "F3", "go to the agents"),
    row(Verb::Pending, "pending", "/pending", Nothing, "F2", "go to the pending texts"),
    row(
        Verb::Ledger,
        "ledger",
        "/ledger",
        Nothing,
        "F4",
        "the ledger: every text that was sent, and what became of it",
    ),
    row(Verb::Hold, "hold", "/hold [all]", Word, "Alt+H", "pause the shown agent, or all; again: let them go on"),
    row(
        Verb::Export,
        "export",
        "/export [WHAT] [FILE]",
        Any,
        "F7",
        "write the transcript, all of them, or the ledger as .md or .csv",
    ),
    row(
        Verb::Mode,
        "mode",
        "/mode [NAME]",
        Word,
        "Shift+Tab",
        "how much runs without a question; without a name: say which mode holds",
    ),
    row(
        Verb::Rules,
        "rules",
        "/rules [WHAT]",
        Any,
        "Alt+K",
        "your rules and those of /always; withdraw M, change M WORDS, for M tree; remove N for one of /always",
    ),
    row(
        Verb::Servers,
        "mcp",
        "/mcp",
        Nothing,
        "",
        "the MCP servers: how they stand, their tools, their last error; start one",
    ),
    row(Verb::Resume, "resume", "/resume [ID]", Word, "", "go on with another session; without its ID: choose one"),
    row(
        Verb::Branch,
        "branch",
        "/branch",
        Nothing,
        "b",
        "a new session from just before one of your messages, its text to be edited",
    ),
    row(Verb::Replay, "replay", "/replay", Nothing, "", "replay this session event by event, while the run goes on"),
    row(
        Verb::Search,
        "search",
        "/search WORDS",
        Text,
        "",
        "search all saved sessions for texts that hold these words; Enter opens one there",
    ),
    row(
        Verb::Compare,
        "compare",
        "/compare ID [ID]",
        Text,
        "",
        "this session and another, or two others, side by side from where they part: calls, files, tokens, cost, answers",
    ),
    row(Verb::Retry, "retry", "/retry", Nothing, "Alt+T", "send the request again that failed"),
    row(
        Verb::Compact,
        "compact",
        "/compact [WORDS]",
        Any,
        "Alt+C",
        "summarise older rounds; the words say what to keep in mind",
    ),
    row(
        Verb::Budget,
        "budget",
        "/budget [DOLLARS]",
        Any,
        "Alt+M",
        "what the session may spend; with an amount, N tokens, or off: set it",
    ),
    row(Verb::Undo, "undo", "/undo", Nothing, "Alt+Z", "undo the changes of files of the last turn; asks first"),
    row(
        Verb::Changes,
        "diff",
        "/diff",
        Nothing,
        "Alt+G",
        "the files that tools changed, with diffs; undo one file or one turn",
    ),
    row(
        Verb::Jobs,
        "jobs",
        "/jobs [ID|stop ID]",
        Any,
        "Alt+J",
        "the commands in the background and your own !COMMANDs, with their output; stop one",
    ),
    row(
        Verb::Background,
        "background",
        "/background",
        Nothing,
        "Alt+X",
        "send the command that the shown agent waits for to the background",
    ),
    row(Verb::Details, "details", "/details", Nothing, "Alt+I", "go to the details of the shown agent"),
    row(Verb::Zoom, "zoom", "/zoom", Nothing, "Alt+L", "the transcript alone above the message; again: back"),
    row(Verb::Theme, "theme", "/theme [NAME]", Word, "F8", "use this theme; without a name: the next one"),
    row(Verb::Find, "find", "/find [WORDS]", Any, "Alt+/", "search the transcript that is shown"),
    row(Verb::Fold, "fold", "/fold", Nothing, "Alt+O", "fold or open all blocks of the transcript that is shown"),
    row(Verb::Times, "times", "/times", Nothing, "t", "show when each block of a transcript came, or hide it"),
    row(Verb::Help, "keys", "/keys", Nothing, "F1", "the keys and commands"),
    row(
        Verb::Mouse,
        "mouse",
        "/mouse [on|off]",
        Word,
        "Alt+P",
        "off: the terminal selects with it; on: it clicks and scrolls here",
    ),
    row(Verb::Detach, "detach", "/detach", Nothing, "", "leave this screen; the session runs on (after attach)"),
    row(Verb::Quit, "quit", "/quit", Nothing, "F12", "quit; a running turn is stopped"),
];

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
    /// A command that cannot be carried out with what stands behind it.
    Misfit(Command),
}

/// Reads a draft.
pub fn read(text: &str) -> Draft<'_> {
    read_by(text, &[COMMANDS])
}

/// Reads a draft where there are commands for everything, as the line output has them.
pub fn read_line(text: &str) -> Draft<'_> {
    read_by(text, &[COMMANDS, LINE_COMMANDS])
}

fn read_by<'a>(text: &'a str, tables: &[&[Command]]) -> Draft<'a> {
    let Some(rest) = text.strip_prefix('/') else { return Draft::Text(text) };
    if let Some(word) = rest.strip_prefix('/') {
        return if word.starts_with(|c: char| c.is_alphanumeric()) { Draft::Escaped(rest) } else { Draft::Text(text) };
    }
    let name = rest.split([' ', '\n', '\t']).next().unwrap_or_default();
    let behind = rest.get(name.len()..).unwrap_or_default();
    let named = |name: &str| tables.iter().copied().flatten().find(|command| command.name == name);
    let alias = || ALIASES.iter().find(|(alias, _)| *alias == name).and_then(|(_, command)| named(command));
    let known = named(name).or_else(alias);
    match known {
        Some(command) if behind.is_empty() || behind.starts_with(' ') => {
            let argument = behind.trim();
            let fits = match command.takes {
                Nothing => argument.is_empty(),
                Word => !argument.contains(char::is_whitespace),
                Text => !argument.is_empty(),
                Any => true,
            };
            if fits { Draft::Command(*command, argument) } else { Draft::Misfit(*command) }
        }
        _ if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '-') => {
            Draft::NoCommand { word: text.get(..=name.len()).unwrap_or(text) }
        }
        _ => Draft::Text(text),
    }
}

impl Command {
    /// Says why it cannot be carried out with what stands behind it.
    pub fn misfit(&self) -> String {
        let name = self.name;
        match self.takes {
            Nothing => format!("/{name} takes no words; //{name} sends it as text"),
            Word | Any => format!("write {}; //{name} sends it as text", self.usage),
            Text => format!("/{name} needs a text after it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verb(text: &str) -> Option<(Verb, &str)> {
        match read(text) {
            Draft::Command(command, argument) => Some((command.verb, argument)),
            Draft::Text(_) | Draft::Escaped(_) | Draft::NoCommand { .. } | Draft::Misfit(_) => None,
        }
    }

    #[test]
    fn only_a_known_word_at_the_very_start_is_a_command() {
        assert_eq!(verb("/help"), Some((Verb::Help, "")));
        assert_eq!(verb("/help  "), Some((Verb::Help, "")));
        assert_eq!(verb("/model qwen3-35b"), Some((Verb::Model, "qwen3-35b")));
        assert_eq!(verb("/now stop\nand look"), Some((Verb::Now, "stop\nand look")));
        for text in ["", "help", " /help", "/etc/hosts is short", "/help/me", "/", "/ help", "/Help", "/help\nme", "/1"]
        {
            assert_eq!(verb(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_path_is_text_and_an_unknown_word_is_text_with_a_warning() {
        assert_eq!(read("/etc/hosts is short"), Draft::Text("/etc/hosts is short"));
        assert_eq!(read("/foo"), Draft::NoCommand { word: "/foo" });
        assert_eq!(read("/modle gpt"), Draft::NoCommand { word: "/modle" });
    }

    #[test]
    fn two_slashes_before_a_word_send_one_and_a_comment_stays_as_it_is() {
        assert_eq!(read("//help me"), Draft::Escaped("/help me"));
        assert_eq!(read("//etc/hosts"), Draft::Escaped("/etc/hosts"));
        assert_eq!(read("// a comment"), Draft::Text("// a comment"));
        assert_eq!(read("///"), Draft::Text("///"));
    }

    #[test]
    fn a_sentence_that_begins_with_a_command_is_not_carried_out() {
        assert!(matches!(read("/reset the counter in main.rs"), Draft::Misfit(_)));
        assert!(matches!(read("/model a b"), Draft::Misfit(_)));
        assert!(matches!(read("/now"), Draft::Misfit(_)));
    }

    #[test]
    fn a_name_from_another_program_is_the_command_that_does_the_same() {
        assert_eq!(verb("/clear"), Some((Verb::New, "")));
        assert_eq!(verb("/exit"), Some((Verb::Quit, "")));
        assert_eq!(verb("/cost 5"), Some((Verb::Budget, "5")));
        for (alias, name) in ALIASES {
            assert!(COMMANDS.iter().any(|command| command.name == *name), "{alias}");
            assert!(COMMANDS.iter().all(|command| command.name != *alias), "{alias}");
        }
        assert_eq!(nearest("/nwe"), "new");
        assert_eq!(nearest("/modell"), "model");
    }

    #[test]
    fn no_name_stands_twice() {
        for (i, one) in COMMANDS.iter().enumerate() {
            assert!(one.usage.starts_with(&format!("/{}", one.name)));
            assert!(COMMANDS[i + 1..].iter().all(|two| two.name != one.name), "{}", one.name);
        }
    }
}
