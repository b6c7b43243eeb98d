//! The one table of slash commands, and the rule that says which texts are commands.
//!
//! Only a known command at the very start is one, and only when its arguments fit; everything else is text for an agent.
//! Names that people know from other programs are aliases. Always holds: no text is changed but by `//`, which sends a
//! text that starts like a command without its first slash.
//!
//! # Where things are
//!
//! - how a command registers itself: `entry.rs`; what a draft is: `draft.rs`; tests: `commands.rs`
//! - line output: its commands, what a line means, questions: `lines.rs`, `src/tui/update/line.rs`,
//!   `src/tui/lines/asks/mod.rs`; tests: `lines_ask.rs`, `lines_lives.rs`

mod draft;
mod entry;
mod lines;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use crate::overlay::registry::PaneId;
use steersman_base::steering::{Recurrence, TextKind};
use steersman_base::text::visible_line;

pub use draft::{ALIASES, Alias, Draft, OTHER_NAMES, nearest, parse, read_line, unknown};
pub use entry::{CommandContext, CommandEntry};
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
    Pause,
    Agents,
    /// Goes to the pending texts.
    Pending,
    /// Does what the file says that registers it.
    Entry(&'static CommandEntry),
    /// Goes to the details of the shown agent.
    Details,
    Theme,
    /// Chooses the approval mode.
    Mode,
    /// Sends the instructions of a skill, or lists the skills.
    Skill,
    /// Asks the agent to write an `AGENTS.md`.
    Init,
    /// Sends a text to be delivered now.
    Now,
    Send(TextKind),
    /// Sends a text when a condition is met.
    When(Recurrence),
    /// Searches the transcript.
    Find,
    /// Leaves a run that goes on without this screen.
    Detach,
    /// Ends the program.
    Quit,
    /// Does what only the line output has a command for.
    Line(LineVerb),
}

impl Verb {
    /// Returns whether it gives something up: work, a conversation, or the program itself.
    pub fn gives_up(self) -> bool {
        match self {
            Self::Entry(entry) => entry.gives_up,
            own => matches!(own, Self::New | Self::Reset | Self::Cancel | Self::Detach | Self::Quit),
        }
    }
}

/// What a command takes behind its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// One word, which may be left out.
    Word,
    Text,
    /// Anything, or nothing.
    Any,
}

pub(crate) const fn row(
    verb: Verb,
    usage: &'static str,
    takes: Takes,
    key: &'static str,
    help: &'static str,
) -> Command {
    Command { verb, name: name_in(usage), usage, takes, help, key }
}

/// Returns the word between the slash and the first blank.
const fn name_in(usage: &'static str) -> &'static str {
    let (_, rest) = usage.split_at(1);
    let mut end = 0;
    while end < rest.len() && rest.as_bytes()[end] != b' ' {
        end += 1;
    }
    rest.split_at(end).0
}

use Takes::{Any, Nothing, Text, Word};

/// Holds every command, in the order in which help and completion show them.
pub static COMMANDS: LazyLock<Vec<Command>> = LazyLock::new(|| {
    let panes: Vec<Command> = PaneId::all().map(|pane| pane.entry().command.command()).collect();
    let (before, behind) = OWN.split_at(OWN.iter().position(|own| own.name == BEHIND_PANES).unwrap_or_default());
    [before, panes.as_slice(), behind].concat()
});

/// The command before which those of the panes of the registry stand.
const BEHIND_PANES: &str = "background";

/// The commands that no pane registers.
const OWN: &[Command] = &[
    row(
        Verb::Help,
        "/help [TOPIC]",
        Any,
        "F1",
        "the keys, the commands and the manual: the page of a topic, or a search",
    ),
    row(Verb::Model, "/model [NAME]", Word, "F6", "use this model from the next request on; without a name: list them"),
    row(Verb::New, "/new", Nothing, "F9", "new conversation on an empty screen; asks first"),
    row(Verb::Reset, "/reset", Nothing, "F10", "clear the conversation, keep the screen; asks first"),
    row(Verb::Cancel, "/cancel", Nothing, "Esc", "stop the turn; pending texts come back"),
    row(Verb::Line(LineVerb::Yes), "/yes [N]", Word, "Alt+Y", "answer the question, or question N: yes, this once"),
    row(Verb::Line(LineVerb::Session), "/session [N]", Word, "Alt+S", "answer it: yes, for this session"),
    row(
        Verb::Line(LineVerb::Always),
        "/always [N]",
        Word,
        "Alt+A",
        "answer it: yes, and keep the rule that it shows for later sessions",
    ),
    row(
        Verb::Line(LineVerb::Everywhere),
        "/everywhere [N]",
        Word,
        "Alt+U",
        "answer it: yes, and keep the rule for later sessions of every project",
    ),
    row(Verb::Line(LineVerb::No), "/no [N] [WORDS]", Any, "Alt+N", "answer it: no; the words are for the model"),
    row(Verb::Now, "/now TEXT", Text, "F5", "deliver this text now, in place of the answer being written"),
    row(
        Verb::Send(TextKind::Instead),
        "/instead TEXT",
        Text,
        "Alt+V",
        "send this text in place of the task: what is open of that is dropped",
    ),
    row(
        Verb::Send(TextKind::Note),
        "/note TEXT",
        Text,
        "Alt+V",
        "send this text as information that needs no reply; it starts no turn",
    ),
    row(
        Verb::Send(TextKind::Rule),
        "/rule TEXT",
        Text,
        "Alt+V",
        "send this text as a rule that holds from now on, for the agent and its sub-agents",
    ),
    row(
        Verb::When(Recurrence::Once),
        "/when CONDITION: TEXT",
        Text,
        "",
        "send this text when a condition is met, such as bash cargo test* fails; until then it is pending",
    ),
    row(
        Verb::When(Recurrence::Every),
        "/every CONDITION: TEXT",
        Text,
        "",
        "send this text each time that a condition is met, such as 20 steps",
    ),
    row(Verb::Agents, "/agents", Nothing, "F3", "go to the agents"),
    row(Verb::Pending, "/pending", Nothing, "F2", "go to the pending texts"),
    row(Verb::Pause, "/pause [all]", Word, "Alt+H", "pause the shown agent, or all; again: let them go on"),
    crate::export::COMMAND.command(),
    row(
        Verb::Mode,
        "/mode [NAME]",
        Word,
        "Shift+Tab",
        "how much runs without a question; without a name: say which mode holds",
    ),
    crate::approval::ANSWER_COMMAND.command(),
    crate::approval::QUESTIONS_COMMAND.command(),
    crate::rules::COMMAND.command(),
    crate::servers::COMMAND.command(),
    crate::hooks::COMMAND.command(),
    row(
        Verb::Skill,
        "/skill [NAME [WORDS]]",
        Any,
        "",
        "send the instructions of a skill, with your words before them; without a name: list the skills",
    ),
    row(
        Verb::Init,
        "/init [WORDS]",
        Any,
        "",
        "let the agent look at the project and write an AGENTS.md; the words say what to keep in mind",
    ),
    crate::sessions::RESUME.command(),
    crate::branch::COMMAND.command(),
    crate::tour::COMMAND.command(),
    crate::sessions::REPLAY.command(),
    crate::sessions::SEARCH.command(),
    crate::compared::COMMAND.command(),
    crate::conversation::RETRY.command(),
    crate::conversation::DONE.command(),
    crate::conversation::COMPACT.command(),
    crate::conversation::BUDGET.command(),
    crate::undo::COMMAND.command(),
    crate::jobs::BACKGROUND.command(),
    row(Verb::Details, "/details", Nothing, "Alt+I", "go to the details of the shown agent"),
    crate::focus::ZOOM.command(),
    row(Verb::Theme, "/theme [NAME]", Word, "F8", "use this theme; without a name: the next one"),
    row(Verb::Find, "/find [WORDS]", Any, "Alt+/", "search the transcript that is shown"),
    crate::transcript::FOLD.command(),
    crate::transcript::TIMES.command(),
    row(Verb::Help, "/keys", Nothing, "F1", "the keys and commands"),
    crate::update::MOUSE.command(),
    crate::message::VIM.command(),
    row(Verb::Detach, "/detach", Nothing, "", "leave this screen; the session runs on (after attach)"),
    row(Verb::Quit, "/quit", Nothing, "F12", "quit; stops a running turn"),
];

/// Returns whether the program has a command of this name, without the slash. A name that only other programs have is free:
/// `/review` and `/clear` are what a custom command makes of them.
pub fn is_command(name: &str) -> bool {
    let tables = [COMMANDS.as_slice(), LINE_COMMANDS];
    tables.iter().copied().flatten().any(|command| command.name == name)
}

impl Command {
    /// Says why it cannot be carried out with this behind it; a draft names it in one way or another.
    pub fn invalid_arguments(&self, draft: &str, argument: &str) -> String {
        let typed = draft.split_whitespace().next().and_then(|word| word.strip_prefix('/'));
        let name = typed.unwrap_or(self.name);
        let argument = visible_line(argument);
        let called = |what: &str| format!("no {what} is called \"{argument}\"; //{name} sends it as text");
        match (self.takes, self.verb) {
            (Nothing, _) => format!("/{name} takes no words; //{name} sends it as text"),
            (_, Verb::Model) => called("model"),
            (_, Verb::Theme) => called("theme"),
            (_, Verb::Mode) => called("mode"),
            (_, Verb::Entry(entry)) if *entry == crate::sessions::RESUME => called("session"),
            (Word | Any, _) => format!("write {}; //{name} sends it as text", self.usage),
            (Text, _) => format!("/{name} needs a text after it"),
        }
    }
}
