//! A command as the file that carries it out registers it: `mod.rs` has one row for each.

use super::{Command, Takes, Verb, name_in};
use crate::effect::PaneEffect;
use crate::overlay::Overlays;
use crate::ui_context::UiContext;
use steersman_base::id::AgentId;

/// A command, with what carries it out.
#[derive(Debug, Clone, Copy)]
pub struct CommandEntry {
    /// Its name with what it takes, as help shows it.
    pub usage: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// The key that does the same; empty where none does.
    pub key: &'static str,
    pub help: &'static str,
    /// The words that are offered behind it.
    pub words: &'static [&'static str],
    /// Whether it changes what is drawn and nothing else, so that it does nothing in the line output.
    pub only_draws: bool,
    /// Whether it gives something up: work, a conversation, or the program itself.
    pub gives_up: bool,
    /// Carries it out.
    pub run: RunCommand,
}

/// Carries a command out with what stands behind it.
pub(super) type RunCommand = fn(&mut CommandContext<'_>, argument: &str) -> Vec<PaneEffect>;

/// What a command needs of the rest; for more it asks the root.
pub struct CommandContext<'a> {
    /// The agent that is shown.
    pub agent: &'a AgentId,
    /// What lies over the panes.
    pub overlays: &'a mut Overlays,
    /// The run, and how it is shown.
    pub ui: &'a UiContext,
}

impl CommandEntry {
    /// Makes a command that works on the screen and in the line output.
    pub const fn new(
        usage: &'static str,
        takes: Takes,
        key: &'static str,
        help: &'static str,
        run: RunCommand,
    ) -> Self {
        Self { usage, takes, key, help, words: &[], only_draws: false, gives_up: false, run }
    }

    /// Makes it one that changes what is drawn and nothing else.
    #[must_use]
    pub const fn only_drawing(self) -> Self {
        Self { only_draws: true, ..self }
    }

    /// Makes it one that gives something up.
    #[must_use]
    pub const fn giving_up(self) -> Self {
        Self { gives_up: true, ..self }
    }

    /// Offers these words behind it.
    #[must_use]
    pub const fn offering(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }

    /// Returns its row of the table.
    pub const fn command(&'static self) -> Command {
        let Self { usage, takes, key, help, .. } = *self;
        Command { verb: Verb::Entry(self), name: name_in(usage), usage, takes, help, key }
    }
}

impl PartialEq for CommandEntry {
    /// Compares the names, which are unique.
    fn eq(&self, other: &Self) -> bool {
        self.usage == other.usage
    }
}

impl Eq for CommandEntry {}
