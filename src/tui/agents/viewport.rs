//! How far the list and the details are scrolled, and how much room the user gave to each.
//!
//! A place in the list holds as long as the selection stays, one in the details as long as the agent does; sizes hold
//! until the program ends. The drawing keeps all of it within bounds.

use crate::state::Divider;
use steersman_base::id::AgentId;

/// Where the list and the details are scrolled to, and their room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Viewport {
    pub sizes: Sizes,
    /// What the panes beside the transcript get room for.
    pub room: PaneRoom,
    list: Option<(AgentId, usize)>,
    details: Option<(AgentId, usize)>,
    drawn: AgentsDrawn,
}

/// The sizes that the user chose; `None` is the usual one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Columns of the list beside the transcript.
    pub tree_columns: Option<u16>,
    /// Rows of the list above the transcript.
    pub tree_rows: Option<u16>,
    /// Columns of the details beside the transcript.
    pub details_columns: Option<u16>,
    /// Rows of the details above the transcript.
    pub details_rows: Option<u16>,
}

impl Sizes {
    /// Gives the panes beside a line this room; `None` is the usual one.
    pub fn set(&mut self, divider: Divider, size: Option<u16>) {
        let place = match divider {
            Divider::TreeColumn => &mut self.tree_columns,
            Divider::TreeRow => &mut self.tree_rows,
            Divider::DetailsColumn => &mut self.details_columns,
            Divider::DetailsRow => &mut self.details_rows,
        };
        *place = size.map(|size| size.max(1));
    }
}

/// What the panes beside the transcript get room for, as it was when nobody was reading further up: whatever comes later
/// moves no text under the reader's eyes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PaneRoom {
    /// Rows of the list; `None` is as many as it has.
    pub agents: Option<usize>,
    /// Whether the details have something to say beyond what stands elsewhere.
    pub details: bool,
}

/// The first rows that a frame has shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentsDrawn {
    pub list: usize,
    pub details: usize,
}

impl Viewport {
    /// Takes what a frame has shown.
    pub fn drawn(&mut self, drawn: AgentsDrawn) {
        self.drawn = drawn;
    }

    /// Returns the first row of the list, when it was scrolled with this agent selected.
    pub fn list_top(&self, selected: &AgentId) -> Option<usize> {
        self.list.as_ref().filter(|(agent, _)| agent == selected).map(|(_, top)| *top)
    }

    /// Returns the first line of an agent's details.
    pub fn details_top(&self, agent: &AgentId) -> usize {
        self.details.as_ref().filter(|(known, _)| known == agent).map_or(0, |(_, top)| *top)
    }

    /// Shows the selected agent again.
    pub fn follow_selection(&mut self) {
        self.list = None;
    }

    /// Leaves the list where it is although this agent is selected now: it was chosen where it stands.
    pub fn keep_list(&mut self, selected: &AgentId) {
        self.list = Some((selected.clone(), self.drawn.list));
    }

    /// Scrolls the list by rows, up when there are fewer than none.
    pub fn scroll_list(&mut self, selected: &AgentId, rows: isize) {
        self.list = Some((selected.clone(), self.drawn.list.saturating_add_signed(rows)));
    }

    /// Scrolls the details by lines, up when there are fewer than none.
    pub fn scroll_details(&mut self, agent: &AgentId, lines: isize) {
        self.details = Some((agent.clone(), self.drawn.details.saturating_add_signed(lines)));
    }
}
