//! How far the tree and the details are scrolled, and how much room the user gave to each.
//!
//! A place in the tree holds as long as the selection stays, one in the details as long as the agent does; sizes hold
//! until the program ends. The drawing keeps all of it within bounds.

use crate::id::AgentId;

/// What is scrolled where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sight {
    /// The sizes that the user chose.
    pub sizes: Sizes,
    /// What the panes beside the transcript get room for.
    pub settled: Settled,
    tree: Option<(AgentId, usize)>,
    details: Option<(AgentId, usize)>,
    drawn: Tops,
}

/// The sizes that the user chose; `None` is the usual one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Columns of the tree beside the transcript.
    pub tree_columns: Option<u16>,
    /// Rows of the tree above the transcript.
    pub tree_rows: Option<u16>,
    /// Columns of the details beside the transcript.
    pub details_columns: Option<u16>,
    /// Rows of the details above the transcript.
    pub details_rows: Option<u16>,
}

/// What the panes beside the transcript get room for, as it was when nobody was reading further up: whatever comes later
/// moves no text under somebody's eyes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// Rows of the tree.
    pub agents: usize,
    /// Whether the details have something to say beyond what stands elsewhere.
    pub details: bool,
}

impl Default for Settled {
    fn default() -> Self {
        Self { agents: 1, details: false }
    }
}

/// The first rows that a frame has shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tops {
    /// Of the tree.
    pub tree: usize,
    /// Of the details.
    pub details: usize,
}

impl Sight {
    /// Notes what a frame has shown.
    pub fn drawn(&mut self, tops: Tops) {
        self.drawn = tops;
    }

    /// Returns the first row of the tree, when it was scrolled with this agent selected.
    pub fn tree_top(&self, selected: &AgentId) -> Option<usize> {
        self.tree.as_ref().filter(|(agent, _)| agent == selected).map(|(_, top)| *top)
    }

    /// Returns the first line of an agent's details.
    pub fn details_top(&self, agent: &AgentId) -> usize {
        self.details.as_ref().filter(|(known, _)| known == agent).map_or(0, |(_, top)| *top)
    }

    /// Shows the selected agent again.
    pub fn follow_selection(&mut self) {
        self.tree = None;
    }

    /// Leaves the tree where it is although this agent is selected now: it was chosen where it stands.
    pub fn keep_tree(&mut self, selected: &AgentId) {
        self.tree = Some((selected.clone(), self.drawn.tree));
    }

    /// Scrolls the tree by rows, up when there are fewer than none.
    pub fn scroll_tree(&mut self, selected: &AgentId, rows: isize) {
        self.tree = Some((selected.clone(), self.drawn.tree.saturating_add_signed(rows)));
    }

    /// Scrolls the details by lines, up when there are fewer than none.
    pub fn scroll_details(&mut self, agent: &AgentId, lines: isize) {
        self.details = Some((agent.clone(), self.drawn.details.saturating_add_signed(lines)));
    }
}
