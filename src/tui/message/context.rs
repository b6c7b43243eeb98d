//! What the message reads of the rest of the screen: the facts, the focus, the agents, and what became of its texts.

use crate::id::AgentId;
use crate::session::fold::RunState;
use crate::tui::facts::Facts;
use crate::tui::focus::Focus;
use crate::tui::state::lines::Medium;
use crate::tui::state::pane::Pane;
use crate::tui::status::HostState;

/// What the message reads and does not change.
#[derive(Debug, Clone, Copy)]
pub struct MessageContext<'a> {
    /// The size, the time, the keys, the medium.
    pub facts: &'a Facts,
    /// Where the keys go.
    pub focus: &'a Focus,
    /// The agent that is shown.
    pub shown: &'a AgentId,
    /// What every client knows of the run: what is pending, what became of every text.
    pub run: &'a RunState,
    /// How far the run is.
    pub host: &'a HostState,
    /// Whether the user types just now.
    pub is_typing: bool,
}

impl MessageContext<'_> {
    /// Tells whether lines are written, and no frames drawn.
    pub fn in_lines(&self) -> bool {
        self.facts.medium == Medium::Lines
    }

    /// Tells whether the composer has the keys.
    pub fn on_composer(&self) -> bool {
        self.focus.is_on(Pane::Composer)
    }

    /// Tells whether a turn runs or is about to: then what is sent waits for it.
    pub fn busy(&self) -> bool {
        self.run.is_busy()
    }
}
