//! The agent tree as a fold over the envelopes: who there is, what each does now, and what it has used.
//!
//! Always holds: the main agent is the first node; a child stands behind its parent and its elder siblings' subtrees,
//! and never moves. An agent that was never announced is put beneath the parent that its envelope names.

use jiff::Timestamp;

use crate::event::{Envelope, Event, Outcome, Usage};
use crate::id::{AgentId, CallId};

/// Holds every agent of the session, in display order, and which one is selected.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    selected: AgentId,
}

/// Is one agent.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its id; empty for the main agent.
    pub id: AgentId,
    /// Its parent's id.
    pub parent: Option<AgentId>,
    /// How deep it stands; 0 for the main agent.
    pub depth: usize,
    /// What it does now.
    pub activity: Activity,
    /// When the current activity began.
    pub since: Option<Timestamp>,
    /// When the turn began.
    pub started: Option<Timestamp>,
    /// When the turn ended.
    pub ended: Option<Timestamp>,
    /// Calls that have no result yet, in order.
    pub open: Vec<OpenCall>,
    /// Tool calls of this turn.
    pub steps: u32,
    /// Its step budget.
    pub max_steps: Option<u32>,
    /// The tokens of its last round: what the conversation holds.
    pub context: Option<u64>,
    /// The tokens that its model can hold.
    pub cap: Option<u64>,
    /// The tokens of all its rounds together.
    pub spent: u64,
    /// The model, as far as known.
    pub model: Option<String>,
}

/// Is a tool call that still runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The call.
    pub id: CallId,
    /// The tool's name, untrusted.
    pub name: String,
    /// When it began.
    pub since: Timestamp,
}

/// Says what an agent does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// It has not been asked anything yet.
    Idle,
    /// The request is sent and nothing has come back.
    Waiting,
    /// The provider waits before it tries again, for this reason (untrusted).
    Retrying {
        /// The attempt that comes.
        attempt: u32,
        /// Why the last one failed.
        reason: String,
    },
    /// Reasoning comes in.
    Thinking,
    /// The answer comes in.
    Writing,
    /// Tools run; which ones is in [`Node::open`].
    Tools,
    /// The budget is used up and a rescue writes the answer.
    Rescue,
    /// A stop was asked for and the turn is being wound up.
    Cancelling,
    /// The turn ended; for a failure with the reason (untrusted).
    Ended(Outcome, Option<String>),
}

impl Node {
    fn new(id: AgentId, parent: Option<AgentId>, depth: usize) -> Self {
        Self {
            id,
            parent,
            depth,
            activity: Activity::Idle,
            since: None,
            started: None,
            ended: None,
            open: Vec::new(),
            steps: 0,
            max_steps: None,
            context: None,
            cap: None,
            spent: 0,
            model: None,
        }
    }

    /// Tells whether a turn of it runs.
    pub fn running(&self) -> bool {
        match self.activity {
            Activity::Idle | Activity::Ended(..) => false,
            Activity::Waiting
            | Activity::Retrying { .. }
            | Activity::Thinking
            | Activity::Writing
            | Activity::Tools
            | Activity::Rescue
            | Activity::Cancelling => true,
        }
    }

    /// Returns the whole seconds that its turn has run, or ran; `None` before its first one.
    pub fn elapsed(&self, now: Timestamp) -> Option<u64> {
        self.started.map(|started| seconds(started, self.ended.unwrap_or(now)))
    }

    fn set(&mut self, activity: Activity, at: Timestamp) {
        // A stop stays visible until the turn has ended, whatever still trickles in.
        if self.activity == Activity::Cancelling && !matches!(activity, Activity::Ended(..)) {
            return;
        }
        if self.activity != activity {
            self.activity = activity;
            self.since = Some(at);
        }
    }

    fn start(&mut self, at: Timestamp) {
        self.activity = Activity::Waiting;
        self.since = Some(at);
        self.started = Some(at);
        self.ended = None;
        self.steps = 0;
        self.open.clear();
    }

    fn end(&mut self, outcome: Outcome, message: Option<String>, at: Timestamp) {
        self.open.clear();
        self.set(Activity::Ended(outcome, message), at);
        self.ended = Some(at);
    }

    fn count(&mut self, usage: &Usage) {
        self.context = Some(usage.context());
        self.spent = self.spent.saturating_add(usage.context());
        if usage.model.is_some() {
            self.model.clone_from(&usage.model);
        }
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::new(AgentId::main(), None, 0)], selected: AgentId::main() }
    }
}

impl Tree {
    /// Returns the agents in display order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the main agent, which is always there.
    pub fn main(&self) -> &Node {
        &self.nodes[0]
    }

    /// Returns the agent with this id.
    pub fn get(&self, id: &AgentId) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == *id)
    }

    /// Returns the id of the selected agent.
    pub fn selected(&self) -> &AgentId {
        &self.selected
    }

    /// Returns the place of the selected agent in [`Tree::nodes`].
    pub fn selected_index(&self) -> usize {
        self.nodes.iter().position(|node| node.id == self.selected).unwrap_or(0)
    }

    /// Returns the agents that run now.
    pub fn running(&self) -> usize {
        self.nodes.iter().filter(|node| node.running()).count()
    }

    /// Returns the tokens of all agents together.
    pub fn spent(&self) -> u64 {
        self.nodes.iter().fold(0, |sum, node| sum.saturating_add(node.spent))
    }

    /// Selects the agent at this place; past the end means the last.
    pub fn select(&mut self, index: usize) {
        if let Some(node) = self.nodes.get(index).or_else(|| self.nodes.last()) {
            self.selected = node.id.clone();
        }
    }

    /// Tells whether a later node has the same parent as the node at `index`, so that its guide goes on.
    pub fn has_later_sibling(&self, index: usize) -> bool {
        let Some(node) = self.nodes.get(index) else { return false };
        self.nodes.iter().skip(index + 1).any(|later| later.parent == node.parent)
    }

    /// Marks the main agent as being stopped, before its task has answered.
    pub fn cancelling(&mut self, at: Timestamp) {
        for node in self.nodes.iter_mut().filter(|node| node.running()) {
            node.set(Activity::Cancelling, at);
        }
    }

    /// Marks the main agent as one that cannot run, for this reason (untrusted).
    pub fn cannot_run(&mut self, reason: &str, at: Timestamp) {
        if let Some(main) = self.nodes.first_mut() {
            main.set(Activity::Ended(Outcome::Failed, Some(reason.to_owned())), at);
        }
    }

    /// Folds one event in.
    pub fn apply(&mut self, envelope: &Envelope) {
        let at = envelope.at;
        let index = self.index_of(&envelope.agent, envelope.parent.as_ref());
        let Some(node) = self.nodes.get_mut(index) else { return };
        match &envelope.event {
            Event::SessionStarted { model, max_steps, .. } => {
                node.model.clone_from(model);
                node.max_steps = *max_steps;
            }
            Event::TurnStarted { .. } => node.start(at),
            Event::RoundStarted { .. } => node.set(Activity::Waiting, at),
            Event::ThinkingDelta { .. } => node.set(Activity::Thinking, at),
            Event::AssistantDelta { .. } => node.set(Activity::Writing, at),
            Event::Tokens(usage) => node.count(usage),
            Event::ToolCall { id, name, .. } => {
                node.steps = node.steps.saturating_add(1);
                node.open.push(OpenCall { id: id.clone(), name: name.clone(), since: at });
                node.set(Activity::Tools, at);
            }
            Event::ToolResult { id, .. } => {
                node.open.retain(|call| call.id != *id);
                if node.open.is_empty() {
                    node.set(Activity::Waiting, at);
                }
            }
            Event::AgentSpawned { child, model, max_steps, .. } => {
                let child = self.index_of(child, Some(&envelope.agent));
                if let Some(child) = self.nodes.get_mut(child) {
                    child.start(at);
                    child.model.clone_from(model);
                    child.max_steps = *max_steps;
                }
            }
            Event::AgentFinished { child, outcome, message } => {
                let child = self.index_of(child, Some(&envelope.agent));
                if let Some(child) = self.nodes.get_mut(child) {
                    child.end(*outcome, message.clone(), at);
                }
            }
            Event::ContextCap { tokens } => node.cap = *tokens,
            Event::FallbackNotice { .. } => {
                node.open.clear();
                node.set(Activity::Rescue, at);
            }
            Event::Retrying { attempt, reason, .. } => {
                node.set(Activity::Retrying { attempt: *attempt, reason: reason.clone() }, at);
            }
            Event::Cancelled {} => node.set(Activity::Cancelling, at),
            Event::TurnEnded { outcome, message, .. } => {
                node.end(*outcome, message.clone(), at);
                self.end_descendants(index, at);
            }
            Event::ModelSwitched { to, .. } => node.model.clone_from(to),
            Event::Compacted { after, .. } => node.context = *after,
            Event::Reset {} => node.context = None,
            Event::RoundEnded { .. }
            | Event::UserTurn { .. }
            | Event::Thinking { .. }
            | Event::Assistant { .. }
            | Event::ToolProgress { .. }
            | Event::Pending { .. }
            | Event::Seen { .. }
            | Event::Returned { .. }
            | Event::Parked { .. }
            | Event::Unparked { .. }
            | Event::Question { .. }
            | Event::Answer { .. }
            | Event::History { .. }
            | Event::Extension { .. }
            | Event::Unknown => {}
        }
    }

    /// No descendant outlives a turn: one whose end was not told was dropped with it.
    fn end_descendants(&mut self, index: usize, at: Timestamp) {
        let Some(depth) = self.nodes.get(index).map(|node| node.depth) else { return };
        let below = self.nodes.iter_mut().skip(index + 1).take_while(|node| node.depth > depth);
        for node in below.filter(|node| node.running()) {
            node.end(Outcome::Cancelled, None, at);
        }
    }

    /// Finds an agent, or puts it behind its parent's last descendant.
    fn index_of(&mut self, id: &AgentId, parent: Option<&AgentId>) -> usize {
        if let Some(index) = self.nodes.iter().position(|node| node.id == *id) {
            return index;
        }
        let main = AgentId::main();
        let parent = parent.unwrap_or(&main);
        let above = self.nodes.iter().position(|node| node.id == *parent).unwrap_or(0);
        let depth = self.nodes.get(above).map_or(1, |node| node.depth + 1);
        let behind = self.nodes.iter().skip(above + 1).take_while(|node| node.depth >= depth).count();
        let index = above + 1 + behind;
        let parent = self.nodes.get(above).map(|node| node.id.clone());
        self.nodes.insert(index, Node::new(id.clone(), parent, depth));
        index
    }
}

/// Returns the whole seconds from one moment to a later one; 0 when the clock went back.
pub fn seconds(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_secs()).unwrap_or(0)
}
