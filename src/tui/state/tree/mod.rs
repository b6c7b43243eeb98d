//! The agent tree as a fold over the envelopes: who there is, what each does now, and what it has used.
//!
//! Always holds: the main agent is the first node; an agent never goes and never moves. One that was never announced is
//! put beneath the parent that its envelope names. Events cost the depth of their agent; rows are made when they are
//! looked at.
//!
//! # Where things are
//!
//! - the agent tree: sums, states: `events.rs`, `node.rs`; stories: `tree.rs`
//! - folding and cancelling in it: `rows.rs`, `src/tui/update/tree.rs`; stories: `tree_fold.rs`
//! - its filter: `filter.rs`; stories: `tree_filter.rs`
//! - what needs attention: `lints.rs`; stories: `tree_lints.rs`
//! - a tree of 1,000 agents, 16 of them streaming: `mod.rs`, `src/tui/view/tree/mod.rs`; stories:
//!   `tree_model.rs`, `tests/bench/crew.rs`, `tests/bench/screen.rs`

mod events;
mod filter;
mod lints;
mod node;
mod rows;
mod totals;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, VecDeque};

use jiff::{SignedDuration, Timestamp};

use crate::event::Pending;
use crate::id::AgentId;
use crate::price::Prices;
use lints::ToolTimes;
use rows::Rows;

pub use filter::Filter;
pub use lints::Lint;
pub use node::{Activity, Node, OpenCall, State};
pub use rows::{Fold, Kind, Row};
pub use totals::Totals;

/// Every agent of the session, which rows show them, and which one is selected.
#[derive(Debug)]
pub struct Tree {
    /// In the order in which they came; parents before their children.
    nodes: Vec<Node>,
    places: HashMap<AgentId, usize>,
    /// Bytes of the longest id.
    longest_id: usize,
    selected: usize,
    /// Those that run.
    running: BTreeSet<usize>,
    /// Those with something odd about them.
    odd: BTreeSet<usize>,
    /// Those with a text that is held because of its age.
    stale: Vec<usize>,
    /// Those that ended, and when their rows may go.
    ageing: VecDeque<(Timestamp, usize)>,
    /// The second that was last looked at for what only time brings.
    second: i64,
    filter: Filter,
    times: ToolTimes,
    /// What tokens cost.
    pub prices: Prices,
    /// Whether the details of the selected agent are shown.
    pub details: Details,
    laid_out: OnceCell<Rows>,
}

/// Whether the details of the selected agent are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Details {
    /// All where there is room beside the transcript, else folded.
    #[default]
    Usual,
    /// As much as stands in the title.
    Folded,
    /// All.
    Open,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            nodes: vec![Node::new(AgentId::main(), None, 0)],
            places: HashMap::from([(AgentId::main(), 0)]),
            longest_id: 0,
            selected: 0,
            running: BTreeSet::new(),
            odd: BTreeSet::new(),
            stale: Vec::new(),
            ageing: VecDeque::new(),
            second: i64::MIN,
            filter: Filter::default(),
            times: ToolTimes::default(),
            prices: Prices::default(),
            details: Details::default(),
            laid_out: OnceCell::new(),
        }
    }
}

impl Tree {
    /// Forgets every agent and what was done; who the main agent is stays known.
    pub fn begin_again(&mut self) {
        let prices = std::mem::take(&mut self.prices);
        let old = std::mem::take(self);
        self.prices = prices;
        if let (Some(main), Some(was)) = (self.nodes.first_mut(), old.nodes.into_iter().next()) {
            main.model = was.model;
            main.max_steps = was.max_steps;
            main.cap = was.cap;
            main.tools = was.tools;
        }
    }

    /// Returns the agents in the order in which they came, the main agent first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the main agent, which is always there.
    pub fn main(&self) -> &Node {
        &self.nodes[0]
    }

    /// Returns the agent with this id.
    pub fn get(&self, id: &AgentId) -> Option<&Node> {
        self.places.get(id).and_then(|place| self.nodes.get(*place))
    }

    /// Returns the id of the selected agent.
    pub fn selected(&self) -> &AgentId {
        &self.nodes[self.selected].id
    }

    /// Returns the selected agent.
    pub fn selected_node(&self) -> &Node {
        &self.nodes[self.selected]
    }

    /// Returns the number of agents that run now.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Returns the agents that run now, in the order in which they came.
    pub fn running_nodes(&self) -> impl Iterator<Item = &Node> {
        self.running.iter().filter_map(|index| self.nodes.get(*index))
    }

    /// Returns the agents whose id stands at the start of a text, up to a blank, a line end or the end of the text.
    pub fn named_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a Node> {
        let ends = text.match_indices([' ', '\n']).map(|(end, _)| end).chain([text.len()]);
        let names = ends.take_while(|end| *end <= self.longest_id).filter_map(|end| text.get(..end));
        names.filter_map(|name| self.get(&AgentId::new(name)))
    }

    /// Returns the tokens of all agents together.
    pub fn spent(&self) -> u64 {
        self.nodes[0].totals.tokens()
    }

    /// Returns when the tree next changes by itself: at the next second of what runs, or when an ended row goes.
    pub fn changes_at(&self, now: Timestamp) -> Option<Timestamp> {
        let running = self.running.first().and_then(|first| self.nodes.get(*first));
        let second = running.map(|node| {
            let start = node.started.unwrap_or(now);
            let next = SignedDuration::from_secs(now.duration_since(start).as_secs().max(0) + 1);
            start.checked_add(next).unwrap_or(Timestamp::MAX)
        });
        let folds = self.ageing.front().map(|(due, _)| *due);
        [second, folds].into_iter().flatten().min()
    }

    /// Selects the agent of the row at this place, or of the nearest row before it; past the end means the last.
    pub fn select(&mut self, row: usize) {
        let rows = self.rows();
        let last = rows.len().saturating_sub(1);
        let agent = rows.iter().take(row.min(last) + 1).rev().find(|row| row.kind.is_agent()).map(|row| row.agent);
        if let Some(agent) = agent {
            self.go(agent);
        }
    }

    /// Selects this agent, unfolding what hides it; nothing changes when it is not there.
    pub fn select_agent(&mut self, id: &AgentId) {
        if let Some(index) = self.places.get(id).copied() {
            self.reveal(index);
        }
    }

    /// Selects the agent of the row before the selected one.
    pub fn select_previous(&mut self) {
        self.select(self.selected_row().saturating_sub(1));
    }

    /// Selects the agent of the row after the selected one.
    pub fn select_next(&mut self) {
        let after = self.rows().iter().skip(self.selected_row() + 1);
        if let Some(agent) = after.filter(|row| row.kind.is_agent()).map(|row| row.agent).next() {
            self.go(agent);
        }
    }

    /// Selects the next agent with something odd about it, from the selected one on and around; false when there is none.
    pub fn select_odd(&mut self) -> bool {
        let here = self.way(self.selected);
        let ways = self.odd.iter().map(|index| (self.way(*index), *index));
        // Those at or before the selected one come last.
        let next = ways.min_by(|(one, _), (other, _)| (*one <= here, one).cmp(&(*other <= here, other)));
        let Some((_, index)) = next else { return false };
        self.reveal(index);
        true
    }

    /// Takes a snapshot of all queues: agents for which a text is held because of its age ask about it.
    pub fn ask_about(&mut self, queues: &[(AgentId, Vec<Pending>)], now: Timestamp) {
        let stale = queues.iter().filter(|(_, entries)| entries.iter().any(|entry| entry.stale));
        let asking: Vec<usize> = stale.filter_map(|(id, _)| self.places.get(id)).copied().collect();
        if asking == self.stale {
            return;
        }
        for index in std::mem::replace(&mut self.stale, asking) {
            self.nodes[index].stale = false;
            self.settle(index, now);
        }
        for at in 0..self.stale.len() {
            let index = self.stale[at];
            self.nodes[index].stale = true;
            self.settle(index, now);
        }
    }

    /// Returns which agents run, of this one and everything beneath it.
    pub fn running_of(&self, id: &AgentId) -> Vec<AgentId> {
        let top = self.places.get(id).copied();
        let running = top.map(|top| self.running_beneath(top)).unwrap_or_default();
        running.iter().filter_map(|index| self.nodes.get(*index)).map(|node| node.id.clone()).collect()
    }

    /// Selects an agent by its place.
    fn go(&mut self, agent: usize) {
        let before = std::mem::replace(&mut self.selected, agent);
        // The row of the selected agent is always shown, whatever would hide it.
        let hides = |agent: usize| self.path(agent).iter().any(|index| self.nodes[*index].aged);
        if self.filter.is_active() || hides(before) || hides(agent) {
            self.forget_rows();
        }
    }

    /// Returns an agent and its ancestors, the root last.
    fn path(&self, agent: usize) -> Vec<usize> {
        std::iter::successors(Some(agent), |index| self.nodes[*index].above).collect()
    }

    /// Returns the way from the root to an agent: its place among the siblings at each depth. Ways sort as rows do.
    fn way(&self, agent: usize) -> Vec<usize> {
        let mut way: Vec<usize> = self.path(agent).iter().map(|index| self.nodes[*index].order).collect();
        way.reverse();
        way
    }

    fn forget_rows(&mut self) {
        self.laid_out.take();
    }
}
