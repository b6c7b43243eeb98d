//! What a draft is: a text, or a command with what stands behind it; the names of other programs for commands, and the
//! command that an unknown word most resembles.
//!
//! Pure; the tables of commands stand in `mod.rs` and `lines.rs`. Always holds: a text is a command only by its first word,
//! and only where that is the name of one.

use crate::text::distance;
use crate::tui::commands::Takes::{Any, Nothing, Text, Word};
use crate::tui::commands::{COMMANDS, Command, LINE_COMMANDS};

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

/// Names from other programs, with the command that does the same here.
pub(super) const ALIASES: &[(&str, &str)] = &[
    ("approvals", "mode"),
    ("bashes", "jobs"),
    ("clear", "new"),
    ("cost", "budget"),
    ("exit", "quit"),
    ("hold", "pause"),
    ("models", "model"),
    ("permissions", "mode"),
    ("q", "quit"),
    ("status", "details"),
    ("stop", "cancel"),
    ("usage", "budget"),
];

/// Returns the name of the command that an unknown word most resembles, without the slash.
pub fn nearest(word: &str) -> &'static str {
    let word = word.trim_start_matches('/');
    COMMANDS.iter().map(|command| command.name).min_by_key(|name| distance(word, name)).unwrap_or_default()
}
