//! Which rows the list has, in which order: made anew only after the agents, a collapsed row, the filter or the selection changed. And the
//! filter itself.
//!
//! Always holds: a child stands behind its parent and its elder siblings' subtrees; the selected agent has a row; the
//! ancestors of every row have rows.

use super::state::{Expansion, Expansions};
use steersman_session::model::agents::{AgentNode, AgentStatus, Agents};

const NOWHERE: usize = usize::MAX;

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The place of the agent in [`Agents::nodes`]; for [`RowKind::Past`] that of the parent.
    pub agent: usize,
    pub kind: RowKind,
    pub depth: usize,
    /// Whether no later row hangs on the same parent.
    pub last: bool,
}

/// What a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    Agent,
    /// An agent, and the sums of everything beneath it.
    Collapsed,
    /// The children of an agent that ended a while ago.
    Past {
        /// All of them.
        children: usize,
        /// Those among them that the user stopped.
        cancelled: usize,
    },
}

impl RowKind {
    /// Returns whether the row stands for one agent, so that it can be selected.
    pub fn is_agent(self) -> bool {
        match self {
            Self::Agent | Self::Collapsed => true,
            Self::Past { .. } => false,
        }
    }
}

/// What the rows are made from besides the agents.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowSource<'a> {
    pub selected: usize,
    pub expansions: &'a Expansions,
    pub filter: &'a Filter,
}

/// The rows, and where each agent's row is.
#[derive(Debug, Default)]
pub struct Rows {
    /// The rows, from the first to the last.
    pub rows: Vec<Row>,
    places: Vec<usize>,
    /// Which agents match the filter; empty where nothing is filtered.
    matches: Vec<bool>,
}

impl Rows {
    /// Lays the rows out.
    pub(super) fn new(agents: &Agents, source: RowSource<'_>) -> Self {
        let nodes = agents.nodes();
        let matches: Vec<bool> = if source.filter.is_active() {
            nodes.iter().map(|node| source.filter.lets_through(node)).collect()
        } else {
            Vec::new()
        };
        let path = agents.path(source.selected);
        let kept = source.filter.is_active().then(|| kept(nodes, &matches, source.selected));
        let is_kept = |child: &usize| kept.as_ref().is_none_or(|kept| kept.get(*child) == Some(&true));
        let mut rows = Self { rows: Vec::new(), places: vec![NOWHERE; nodes.len()], matches };
        let mut left = vec![Row { agent: 0, kind: RowKind::Agent, depth: 0, last: true }];
        while let Some(mut row) = left.pop() {
            let Some(node) = nodes.get(row.agent) else { continue };
            if row.kind == RowKind::Agent {
                if let Some(place) = rows.places.get_mut(row.agent) {
                    *place = rows.rows.len();
                }
                let expansion = source.expansions.get(row.agent);
                if source.filter.is_active() {
                    push_children(&row, node.children().iter().copied().filter(is_kept), &mut left);
                } else if expansion == Expansion::Closed && !node.children().is_empty() {
                    row.kind = RowKind::Collapsed;
                } else {
                    expand(nodes, &row, node.children(), expansion, &path, &mut left);
                }
            }
            rows.rows.push(row);
        }
        rows
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are none; the main agent always has one.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the place of an agent's row.
    pub fn place(&self, agent: usize) -> Option<usize> {
        self.places.get(agent).copied().filter(|place| *place != NOWHERE)
    }

    /// Returns whether the filter matches an agent itself; one that is shown for others' sake does not match.
    pub fn matches(&self, agent: usize) -> bool {
        self.matches.is_empty() || self.matches.get(agent) == Some(&true)
    }

    /// Counts the agents that match the filter.
    pub fn matching(&self) -> usize {
        self.rows.iter().filter(|row| self.matches(row.agent)).count()
    }

    /// Returns for a row and each of its ancestors but the root whether no later row hangs on the same parent, the
    /// outermost first: what its guide lines are drawn from.
    pub fn guide(&self, agents: &Agents, row: &Row) -> Vec<bool> {
        let above = |agent: usize| agents.nodes().get(agent).and_then(AgentNode::above);
        let mut lasts = Vec::with_capacity(row.depth);
        let mut at = match row.kind {
            RowKind::Agent | RowKind::Collapsed => {
                if row.depth > 0 {
                    lasts.push(row.last);
                }
                above(row.agent)
            }
            RowKind::Past { .. } => {
                lasts.push(row.last);
                Some(row.agent)
            }
        };
        while let Some(agent) = at {
            at = above(agent);
            if at.is_some() {
                lasts.push(self.place(agent).and_then(|place| self.rows.get(place)).is_none_or(|row| row.last));
            }
        }
        lasts.reverse();
        lasts
    }
}

/// Lays out the children of an agent that is not closed, those that are past as one row behind the others.
fn expand(
    nodes: &[AgentNode],
    row: &Row,
    children: &[usize],
    expansion: Expansion,
    path: &[usize],
    left: &mut Vec<Row>,
) {
    let hides = |child: &usize| {
        expansion == Expansion::Brief && nodes.get(*child).is_some_and(AgentNode::is_past) && !path.contains(child)
    };
    let (mut past, mut cancelled) = (0, 0);
    for child in children.iter().filter(|child| hides(child)) {
        past += 1;
        cancelled += usize::from(nodes.get(*child).is_some_and(|node| node.status() == AgentStatus::Cancelled));
    }
    if past == 0 {
        return push_children(row, children.iter().copied(), left);
    }
    let kind = RowKind::Past { children: past, cancelled };
    left.push(Row { agent: row.agent, kind, depth: row.depth + 1, last: true });
    let shown = children.iter().rev().filter(|child| !hides(child));
    left.extend(shown.map(|child| Row { agent: *child, kind: RowKind::Agent, depth: row.depth + 1, last: false }));
}

/// Puts children onto the stack so that the eldest comes off it first.
fn push_children(row: &Row, children: impl DoubleEndedIterator<Item = usize>, left: &mut Vec<Row>) {
    let depth = row.depth + 1;
    let rows = children.rev().enumerate();
    left.extend(rows.map(|(behind, agent)| Row { agent, kind: RowKind::Agent, depth, last: behind == 0 }));
}

/// Returns for each agent whether the filter keeps it: it matches, it is selected, or one beneath it is kept.
fn kept(nodes: &[AgentNode], matches: &[bool], selected: usize) -> Vec<bool> {
    let mut kept = vec![false; nodes.len()];
    if let Some(main) = kept.first_mut() {
        *main = true;
    }
    let wanted = matches.iter().enumerate().filter(|(index, matches)| **matches || *index == selected);
    for (index, _) in wanted {
        let mut at = Some(index);
        while let Some(place) = at {
            match kept.get_mut(place) {
                Some(kept) if !*kept => *kept = true,
                Some(_) | None => break,
            }
            at = nodes.get(place).and_then(AgentNode::above);
        }
    }
    kept
}

/// The filter's text.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    text: String,
    words: Vec<String>,
}

impl Filter {
    pub fn new(text: String) -> Self {
        Self { words: text.split_whitespace().map(str::to_lowercase).collect(), text }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_active(&self) -> bool {
        !self.words.is_empty()
    }

    pub(super) fn lets_through(&self, node: &AgentNode) -> bool {
        let status = node.status();
        let in_tool = |word: &String| {
            status == AgentStatus::Tools && node.open.iter().any(|call| call.name.contains(word.as_str()))
        };
        let found = |word: &String| node.search_text().contains(word.as_str()) || status.word().contains(word.as_str());
        self.words.iter().all(|word| found(word) || in_tool(word))
    }
}
