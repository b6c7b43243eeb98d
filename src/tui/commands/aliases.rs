//! Names that people know from other programs, and the command that an unknown word most resembles.

use super::COMMANDS;
use crate::text::distance;

/// Names from other programs, with the command that does the same here.
pub(super) const ALIASES: &[(&str, &str)] = &[
    ("approvals", "mode"),
    ("bashes", "jobs"),
    ("clear", "new"),
    ("cost", "budget"),
    ("exit", "quit"),
    ("models", "model"),
    ("pause", "hold"),
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
