//! What the list of agents adds to what is known of them: the selected one, what is collapsed, the filter, and whether the details are
//! shown. The rows are made when they are looked at, from these and the agents.
//!
//! Always holds: the selected agent is there and has a row.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::rows::{Filter, RowSource, Rows};
use super::viewport::Viewport;
use steersman_base::id::AgentId;
use steersman_session::model::agents::{AgentNode, Agents, Revision};

/// How much of its children an agent shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Expansion {
    /// All but those that ended a while ago; these are counted in a row of their own.
    #[default]
    Brief,
    /// All.
    Full,
    /// None; its row shows the sums.
    Closed,
}

/// How much of its children each agent shows.
#[derive(Debug, Clone, Default)]
pub(super) struct Expansions(HashMap<usize, Expansion>);

impl Expansions {
    /// Returns how much of its children an agent shows.
    pub(super) fn get(&self, agent: usize) -> Expansion {
        self.0.get(&agent).copied().unwrap_or_default()
    }
}

/// Whether the details of the selected agent are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Details {
    /// All where there is room beside the transcript, else collapsed.
    #[default]
    Usual,
    /// As much as stands in the title.
    Collapsed,
    /// All.
    Open,
}

/// What the list shows of the agents, to be gone back to.
#[derive(Debug)]
pub struct AgentsPlace {
    selected: AgentId,
    expansions: Expansions,
    details: Details,
}

/// The list of agents with the details of the selected one.
#[derive(Debug, Default)]
pub struct AgentsPane {
    selected: usize,
    selected_id: AgentId,
    expansions: Expansions,
    filter: Filter,
    /// Whether the details of the selected agent are shown.
    pub details: Details,
    /// How far the list and the details are scrolled, and how much room they have.
    pub viewport: Viewport,
    /// The rows, with what they were made from.
    laid_out: RefCell<Option<(Revision, Arc<Rows>)>>,
}

impl AgentsPane {
    /// Forgets what was selected and collapsed: the agents are others now.
    pub fn begin_again(&mut self) {
        (self.selected, self.selected_id) = (0, AgentId::main());
        self.expansions = Expansions::default();
        self.filter = Filter::default();
        self.forget_rows();
    }

    pub fn selected(&self) -> &AgentId {
        &self.selected_id
    }

    /// Returns how much of its children an agent shows.
    pub fn expansion_of(&self, agent: usize) -> Expansion {
        self.expansions.get(agent)
    }

    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Returns the rows that are shown.
    pub fn rows(&self, agents: &Agents) -> Arc<Rows> {
        let revision = agents.revision();
        // What an agent does matters to a filter only.
        let revision = if self.filter.is_active() { revision } else { Revision { words: 0, ..revision } };
        let mut laid_out = self.laid_out.borrow_mut();
        match &*laid_out {
            Some((known, rows)) if *known == revision => Arc::clone(rows),
            Some(_) | None => {
                let source = RowSource { selected: self.selected, expansions: &self.expansions, filter: &self.filter };
                let rows = Arc::new(Rows::new(agents, source));
                *laid_out = Some((revision, Arc::clone(&rows)));
                rows
            }
        }
    }

    /// Returns the place of the selected agent's row.
    pub fn selected_row(&self, agents: &Agents) -> usize {
        self.rows(agents).place(self.selected).unwrap_or(0)
    }

    /// Selects the agent of the row at this place, or of the nearest row before it; past the end means the last.
    pub fn select(&mut self, row: usize, agents: &Agents) {
        let rows = self.rows(agents);
        let end = row.saturating_add(1).min(rows.len());
        let upto = rows.rows.get(..end).unwrap_or_default();
        if let Some(row) = upto.iter().rev().find(|row| row.kind.is_agent()) {
            self.go(row.agent, agents);
        }
    }

    /// Returns what it shows of the agents.
    pub fn place(&self) -> AgentsPlace {
        AgentsPlace { selected: self.selected_id.clone(), expansions: self.expansions.clone(), details: self.details }
    }

    /// Shows of the agents what it did before.
    pub fn go_back(&mut self, place: AgentsPlace, agents: &Agents) {
        self.expansions = place.expansions;
        self.details = place.details;
        self.forget_rows();
        self.select_agent(&place.selected, agents);
    }

    /// Selects this agent, unfolding what hides it; nothing changes when it is not there.
    pub fn select_agent(&mut self, id: &AgentId, agents: &Agents) {
        if let Some(agent) = agents.place(id) {
            self.reveal(agent, agents);
        }
    }

    /// Selects the agent of the row before the selected one.
    pub fn select_previous(&mut self, agents: &Agents) {
        self.select(self.selected_row(agents).saturating_sub(1), agents);
    }

    /// Selects the agent of the row after the selected one.
    pub fn select_next(&mut self, agents: &Agents) {
        let rows = self.rows(agents);
        let mut after = rows.rows.iter().skip(self.selected_row(agents) + 1);
        if let Some(row) = after.find(|row| row.kind.is_agent()) {
            self.go(row.agent, agents);
        }
    }

    /// Selects the next agent with a warning, from the selected one on and around; false when there is none.
    pub fn select_warned(&mut self, agents: &Agents) -> bool {
        let here = agents.position(self.selected);
        let positions = agents.warned().map(|agent| (agents.position(agent), agent));
        // Those at or before the selected one come last.
        let next = positions.min_by(|(one, _), (other, _)| (*one <= here, one).cmp(&(*other <= here, other)));
        let Some((_, agent)) = next else { return false };
        self.reveal(agent, agents);
        true
    }

    /// Selects the first agent that matches the filter, unless the selected one does.
    pub fn select_match(&mut self, agents: &Agents) {
        let rows = self.rows(agents);
        if rows.matches(self.selected) {
            return;
        }
        if let Some(row) = rows.rows.iter().find(|row| rows.matches(row.agent)) {
            self.go(row.agent, agents);
        }
    }

    /// Filters by another text; an empty one shows everything.
    pub fn filter_by(&mut self, text: impl Into<String>, agents: &Agents) {
        self.filter = Filter::new(text.into());
        self.forget_rows();
        if !self.filter.is_active() {
            // It may have been selected where a collapsed row had hidden it.
            self.reveal(self.selected, agents);
        }
    }

    /// Shows less of the selected agent's children; with nothing to collapse, selects its parent.
    pub fn collapse(&mut self, agents: &Agents) {
        let Some(node) = self.node(agents) else { return };
        let next = match self.expansions.get(self.selected) {
            _ if self.filter.is_active() => None,
            Expansion::Full if has_past(node, agents) => Some(Expansion::Brief),
            Expansion::Full | Expansion::Brief if !node.children().is_empty() => Some(Expansion::Closed),
            Expansion::Full | Expansion::Brief | Expansion::Closed => None,
        };
        match (next, node.above()) {
            (Some(expansion), _) => self.set_expansion(expansion),
            (None, Some(above)) => self.go(above, agents),
            (None, None) => {}
        }
    }

    /// Shows more of the selected agent's children; with everything shown, selects the first of them.
    pub fn expand(&mut self, agents: &Agents) {
        let Some(node) = self.node(agents) else { return };
        match self.expansions.get(self.selected) {
            Expansion::Closed if !node.children().is_empty() && !self.filter.is_active() => {
                self.set_expansion(Expansion::Brief);
            }
            Expansion::Brief if has_past(node, agents) && !self.filter.is_active() => {
                self.set_expansion(Expansion::Full);
            }
            Expansion::Closed | Expansion::Brief | Expansion::Full => {
                let rows = self.rows(agents);
                let next = rows.rows.get(self.selected_row(agents) + 1);
                if let Some(first) = next.filter(|next| next.depth > node.depth && next.kind.is_agent()) {
                    self.go(first.agent, agents);
                }
            }
        }
    }

    /// Collapses the selected agent, or expands it step by step.
    pub fn toggle_expansion(&mut self, agents: &Agents) {
        let Some(node) = self.node(agents).filter(|node| !node.children().is_empty()) else { return };
        if self.filter.is_active() {
            return;
        }
        self.set_expansion(match self.expansions.get(self.selected) {
            Expansion::Closed => Expansion::Brief,
            Expansion::Brief if has_past(node, agents) => Expansion::Full,
            Expansion::Brief | Expansion::Full => Expansion::Closed,
        });
    }

    /// Scrolls the list by rows, up when there are fewer than none.
    pub fn scroll_list(&mut self, rows: isize) {
        self.viewport.scroll_list(&self.selected_id, rows);
    }

    /// Scrolls the details by lines, up when there are fewer than none.
    pub fn scroll_details(&mut self, lines: isize) {
        self.viewport.scroll_details(&self.selected_id, lines);
    }

    fn node<'a>(&self, agents: &'a Agents) -> Option<&'a AgentNode> {
        agents.nodes().get(self.selected)
    }

    /// Opens everything above an agent and selects it.
    fn reveal(&mut self, agent: usize, agents: &Agents) {
        for above in agents.path(agent).into_iter().skip(1) {
            if self.expansions.get(above) == Expansion::Closed {
                self.expansions.0.remove(&above);
                self.forget_rows();
            }
        }
        self.go(agent, agents);
    }

    /// Selects an agent by its place.
    fn go(&mut self, agent: usize, agents: &Agents) {
        let Some(node) = agents.nodes().get(agent) else { return };
        self.selected_id = node.id.clone();
        let before = std::mem::replace(&mut self.selected, agent);
        // The row of the selected agent is always shown, whatever would hide it.
        let is_past = |place: &usize| agents.nodes().get(*place).is_some_and(AgentNode::is_past);
        let hides = |agent: usize| agents.path(agent).iter().any(is_past);
        if self.filter.is_active() || hides(before) || hides(agent) {
            self.forget_rows();
        }
    }

    fn set_expansion(&mut self, expansion: Expansion) {
        self.expansions.0.insert(self.selected, expansion);
        self.forget_rows();
    }

    fn forget_rows(&mut self) {
        self.laid_out.take();
    }
}

/// Returns whether any child of an agent ended so long ago that the list leaves it out.
fn has_past(node: &AgentNode, agents: &Agents) -> bool {
    node.children().iter().any(|child| agents.nodes().get(*child).is_some_and(AgentNode::is_past))
}
