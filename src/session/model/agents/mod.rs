//! The agents of a session reduced from the envelopes: who there is, what each does now, and what it has used.
//!
//! Always holds: the main agent is the first node; an agent never goes and never moves. One that was never announced is
//! put beneath the parent that its envelope names. Events cost the depth of their agent.
//!
//! # Where things are
//!
//! - states, sums, what each event changes: `events.rs`, `node.rs`, `status.rs`, `totals.rs`; tests: `tests/tui/tree.rs`,
//!   `tests/tui/tree_model.rs`
//! - what needs attention: `warnings.rs`; tests: `tests/tui/tree_warnings.rs`
//! - the rows, keys and colours of the screen's list: `src/tui/agents/mod.rs`

mod events;
mod node;
mod status;
mod totals;
mod warnings;

use std::collections::{BTreeSet, HashMap, VecDeque};

use jiff::{SignedDuration, Timestamp};

use steersman_base::event::{Outcome, Pending};
use steersman_base::id::AgentId;
use steersman_base::price::Prices;
use steersman_base::protocol::{Notice, Reply, Update};
use warnings::ToolTimes;

pub use node::{Activity, AgentNode, OpenCall};
pub use status::AgentStatus;
pub use totals::Totals;
pub use warnings::Warning;

/// Every agent of the session.
#[derive(Debug, Clone)]
pub struct Agents {
    /// In the order in which they came; parents before their children.
    nodes: Vec<AgentNode>,
    places: HashMap<AgentId, usize>,
    /// Bytes of the longest id.
    longest_id: usize,
    running: BTreeSet<usize>,
    warned: BTreeSet<usize>,
    /// Those with a text that is held because of its age.
    stale: Vec<usize>,
    /// Those that ended, and from when on a list may leave them out.
    ageing: VecDeque<(Timestamp, usize)>,
    /// The second that was last looked at for what only time brings, and from which place on the next look goes.
    second: i64,
    looked_at: usize,
    times: ToolTimes,
    revision: Revision,
    /// What the conversations before this one used, and the part of it that the sums of the agents hold still.
    cleared: Totals,
    cleared_in_sums: Totals,
    /// What tokens cost.
    pub prices: Prices,
}

/// Numbers that rise with what a list of agents is made from, so that it need not be made again for each frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Revision {
    /// Rises when an agent comes, or when another set of them is past.
    pub rows: u64,
    /// Rises when the words of an agent change that a filter looks through.
    pub words: u64,
}

impl Default for Agents {
    fn default() -> Self {
        Self {
            nodes: vec![AgentNode::new(AgentId::main(), None, 0)],
            places: HashMap::from([(AgentId::main(), 0)]),
            longest_id: 0,
            running: BTreeSet::new(),
            warned: BTreeSet::new(),
            stale: Vec::new(),
            ageing: VecDeque::new(),
            second: i64::MIN,
            looked_at: 0,
            times: ToolTimes::default(),
            revision: Revision::default(),
            cleared: Totals::default(),
            cleared_in_sums: Totals::default(),
            prices: Prices::default(),
        }
    }
}

impl Agents {
    /// Forgets every agent and what was done; who the main agent is stays known, and what was used before.
    pub fn begin_again(&mut self) {
        let prices = std::mem::take(&mut self.prices);
        let old = std::mem::take(self);
        (self.prices, self.cleared) = (prices, old.cleared);
        self.revision = Revision { rows: old.revision.rows + 1, words: old.revision.words + 1 };
        if let (Some(main), Some(was)) = (self.nodes.first_mut(), old.nodes.into_iter().next()) {
            main.model = was.model;
            main.max_steps = was.max_steps;
            main.cap = was.cap;
            main.tools = was.tools;
        }
    }

    /// Returns the agents in the order in which they came, the main agent first.
    pub fn nodes(&self) -> &[AgentNode] {
        &self.nodes
    }

    /// Returns the main agent, which is always there.
    pub fn main(&self) -> &AgentNode {
        &self.nodes[0]
    }

    /// Returns the place of an agent in [`Agents::nodes`].
    pub fn place(&self, id: &AgentId) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// Returns the agent with this id.
    pub fn get(&self, id: &AgentId) -> Option<&AgentNode> {
        self.place(id).and_then(|place| self.nodes.get(place))
    }

    /// Returns the agent with this id, else the main agent.
    pub fn get_or_main(&self, id: &AgentId) -> &AgentNode {
        self.get(id).unwrap_or_else(|| self.main())
    }

    /// Returns what a list of the agents is made from, in numbers.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the number of agents that run now.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Returns the agents that run now, in the order in which they came.
    pub fn running_nodes(&self) -> impl Iterator<Item = &AgentNode> {
        self.running.iter().filter_map(|index| self.nodes.get(*index))
    }

    /// Returns the places of the agents with a warning, in the order in which they came.
    pub fn warned(&self) -> impl Iterator<Item = usize> {
        self.warned.iter().copied()
    }

    /// Returns whether an agent takes messages now; the main agent always does.
    pub fn takes_messages(&self, id: &AgentId) -> bool {
        id.is_main() || self.get(id).is_some_and(AgentNode::takes_messages)
    }

    /// Returns the sub-agents of an agent, and theirs, that run and take messages, in the order in which they came.
    pub fn addressed_beneath(&self, top: &AgentId) -> Vec<AgentId> {
        let Some(place) = self.places.get(top).copied() else { return Vec::new() };
        let beneath = self.running_beneath(place).into_iter().filter(|index| *index != place);
        let nodes = beneath.filter_map(|index| self.nodes.get(index)).filter(|node| node.takes_messages());
        nodes.map(|node| node.id.clone()).collect()
    }

    /// Returns the agents whose id stands at the start of a text, up to a blank, a line end or the end of the text.
    pub fn named_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a AgentNode> {
        let ends = text.match_indices([' ', '\n']).map(|(end, _)| end).chain([text.len()]);
        let names = ends.take_while(|end| *end <= self.longest_id).filter_map(|end| text.get(..end));
        names.filter_map(|name| self.get(&AgentId::new(name)))
    }

    /// Returns what this conversation has used, all agents together; only the sums of usage are set.
    pub fn conversation(&self) -> Totals {
        self.main().totals().used().without(&self.cleared_in_sums)
    }

    /// Returns what the session has used: this conversation and those before it that were cleared.
    pub fn session(&self) -> Totals {
        let mut all = self.conversation();
        all.add(&self.cleared);
        all
    }

    /// Begins another conversation: what was used by now is not of it.
    pub(super) fn clear(&mut self) {
        self.cleared = self.session();
        self.cleared_in_sums = self.main().totals().used();
    }

    /// Returns when the agents next change by themselves: at the next second of what runs, or when one that ended may be
    /// left out.
    pub fn changes_at(&self, now: Timestamp) -> Option<Timestamp> {
        let running = self.running.first().and_then(|first| self.nodes.get(*first));
        let second = running.map(|node| {
            let start = node.started.unwrap_or(now);
            let next = SignedDuration::from_secs(now.duration_since(start).as_secs().max(0) + 1);
            start.checked_add(next).unwrap_or(Timestamp::MAX)
        });
        let past = self.ageing.front().map(|(due, _)| *due);
        [second, past].into_iter().flatten().min()
    }

    /// Applies anything else that the run says at this moment.
    pub(crate) fn apply_update(&mut self, update: &Update, now: Timestamp) {
        match update {
            Update::Queues { queues, .. } => self.ask_about(queues, now),
            Update::Reply(Reply::Cancelling(agents)) => self.stopping(agents, now),
            Update::Notice(Notice::BuildFailed(error)) => {
                self.leave_main(Activity::Ended(Outcome::Failed, Some(error.to_string())), now);
            }
            // What was recorded last says nothing of now.
            Update::Notice(Notice::ReadOnly(_)) => self.leave_main(Activity::Idle, now),
            Update::Envelope(_)
            | Update::Reply(_)
            | Update::Approvals { .. }
            | Update::Budget(_)
            | Update::Notice(_) => {}
        }
    }

    /// Takes a snapshot of all queues: agents for which a text is held because of its age ask about it.
    fn ask_about(&mut self, queues: &[(AgentId, Vec<Pending>)], now: Timestamp) {
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

    /// Returns the places of an agent and its ancestors, the main agent last.
    pub fn path(&self, agent: usize) -> Vec<usize> {
        std::iter::successors(Some(agent), |index| self.nodes.get(*index)?.above).collect()
    }

    /// Returns the position of an agent: its place among the siblings at each depth. Positions sort as rows do.
    pub fn position(&self, agent: usize) -> Vec<usize> {
        let mut position: Vec<usize> =
            self.path(agent).iter().filter_map(|index| self.nodes.get(*index)).map(|node| node.order).collect();
        position.reverse();
        position
    }
}
