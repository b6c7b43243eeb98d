//! One agent of the tree: what it is, what it does now, and what it has used.
//!
//! Filled by the fold in `events`; read by the views. What stands in it as text came from outside and is shown only
//! through the sanitiser.

use jiff::Timestamp;

use super::lints::{Lint, Repeats};
use super::rows::Fold;
use super::totals::Totals;
use crate::event::{Outcome, Usage};
use crate::id::{AgentId, CallId};
use crate::tui::state::clock::seconds_between;

/// One agent.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // Facts that have nothing to do with each other.
pub struct Node {
    /// Its id; empty for the main agent.
    pub id: AgentId,
    /// Its parent's id.
    pub parent: Option<AgentId>,
    /// How deep it stands; 0 for the main agent.
    pub depth: usize,
    /// What it was made from; empty for the main agent and where nobody told.
    pub persona: String,
    /// The task it was given; empty where nobody told.
    pub task: String,
    /// The names of its tools.
    pub tools: Vec<String>,
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
    /// The tokens that the conversation holds.
    pub context: Option<u64>,
    /// Whether no server has counted them.
    pub estimated: bool,
    /// The tokens that its model can hold.
    pub cap: Option<u64>,
    /// The tokens of all its rounds together.
    pub spent: u64,
    /// What its rounds cost as far as known, billionths of a US dollar.
    pub cost_nanos: u64,
    /// Rounds whose cost nobody told.
    pub unpriced: u64,
    /// The model, as far as known.
    pub model: Option<String>,
    /// What is odd about it, the most urgent first.
    pub lints: Vec<Lint>,
    /// Whether its children are shown.
    pub fold: Fold,
    /// What it did before older rounds were summarised.
    pub(super) before: Option<Activity>,
    /// The ids of the questions that wait for the user's answer.
    pub(super) questions: Vec<String>,
    /// Whether a text for it was held because of its age.
    pub(super) stale: bool,
    /// When the model was last heard, or last asked.
    pub(super) heard: Option<Timestamp>,
    pub(super) repeats: Repeats,
    /// Whether it ended so long ago that its row may go.
    pub(super) aged: bool,
    /// Whether the filter lets it through.
    pub(super) matches: bool,
    /// The words that the filter looks through, lower case.
    pub(super) words: String,
    /// The place of its parent.
    pub(super) above: Option<usize>,
    /// Its place among its siblings.
    pub(super) order: usize,
    /// The places of its children, the eldest first.
    pub(super) children: Vec<usize>,
    /// What it adds to the sums of its ancestors and its own.
    pub(super) counted: Totals,
    /// The sums of it and everything beneath it.
    pub(super) totals: Totals,
}

/// A tool call that still runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The call.
    pub id: CallId,
    /// The tool's name, untrusted.
    pub name: String,
    /// When it began.
    pub since: Timestamp,
}

/// What an agent does.
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
        /// When it comes.
        until: Timestamp,
    },
    /// The model summarises so many older messages.
    Compacting(usize),
    /// Reasoning comes in.
    Thinking,
    /// The answer comes in.
    Writing,
    /// Tools run; which ones is in [`Node::open`].
    Tools,
    /// The user holds it, before the call of this tool (untrusted) or at a boundary.
    Parked(Option<String>),
    /// The budget is used up and a rescue writes the answer.
    Rescue,
    /// A stop was asked for and the turn is being wound up.
    Cancelling,
    /// The turn ended; for a failure with the reason (untrusted).
    Ended(Outcome, Option<String>),
}

/// What a row shows of an agent: its activity, or that it needs the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It has not been asked anything yet.
    Idle,
    /// It gave its answer.
    Done,
    /// It ended because its budget was used up; a rescue answered.
    OutOfBudget,
    /// The user stopped it.
    Cancelled,
    /// The model was asked and nothing has come back.
    Waiting,
    /// Reasoning comes in.
    Thinking,
    /// The answer comes in.
    Writing,
    /// Tools run.
    Tools,
    /// A rescue writes its answer.
    Rescue,
    /// It is being stopped.
    Stopping,
    /// The provider waits before it tries again.
    Retrying,
    /// Older rounds are summarised.
    Compacting,
    /// The user holds it.
    Parked,
    /// It broke.
    Failed,
    /// The user is to answer a question.
    Asking,
}

impl Node {
    pub(super) fn new(id: AgentId, parent: Option<AgentId>, depth: usize) -> Self {
        let mut node = Self {
            words: id.as_str().to_lowercase(),
            id,
            parent,
            depth,
            persona: String::new(),
            task: String::new(),
            tools: Vec::new(),
            activity: Activity::Idle,
            since: None,
            started: None,
            ended: None,
            open: Vec::new(),
            steps: 0,
            max_steps: None,
            context: None,
            estimated: false,
            cap: None,
            spent: 0,
            cost_nanos: 0,
            unpriced: 0,
            model: None,
            lints: Vec::new(),
            fold: Fold::default(),
            before: None,
            questions: Vec::new(),
            stale: false,
            heard: None,
            repeats: Repeats::default(),
            aged: false,
            matches: true,
            above: None,
            order: 0,
            children: Vec::new(),
            counted: Totals::default(),
            totals: Totals::default(),
        };
        if node.id.is_main() {
            "main".clone_into(&mut node.words);
        }
        node.counted = node.share();
        node.totals = node.counted;
        node
    }

    /// Tells whether a turn of it runs.
    pub fn running(&self) -> bool {
        match self.activity {
            Activity::Idle | Activity::Ended(..) => false,
            Activity::Waiting
            | Activity::Retrying { .. }
            | Activity::Compacting(_)
            | Activity::Thinking
            | Activity::Writing
            | Activity::Tools
            | Activity::Parked(_)
            | Activity::Rescue
            | Activity::Cancelling => true,
        }
    }

    /// Returns the ids of the questions that wait for the user's answer.
    pub fn questions(&self) -> &[String] {
        &self.questions
    }

    /// Tells whether it waits for an answer of the user.
    pub fn asking(&self) -> bool {
        (self.stale || !self.questions.is_empty()) && self.running()
    }

    /// Returns what its row shows.
    pub fn state(&self) -> State {
        if self.asking() && self.activity != Activity::Cancelling {
            return State::Asking;
        }
        match &self.activity {
            Activity::Idle => State::Idle,
            Activity::Waiting => State::Waiting,
            Activity::Retrying { .. } => State::Retrying,
            Activity::Compacting(_) => State::Compacting,
            Activity::Thinking => State::Thinking,
            Activity::Writing => State::Writing,
            Activity::Tools => State::Tools,
            Activity::Parked(_) => State::Parked,
            Activity::Rescue => State::Rescue,
            Activity::Cancelling => State::Stopping,
            Activity::Ended(outcome, _) => match outcome {
                Outcome::Completed => State::Done,
                Outcome::Synthesized => State::OutOfBudget,
                Outcome::Cancelled => State::Cancelled,
                Outcome::Failed => State::Failed,
            },
        }
    }

    /// Returns the whole seconds that its turn has run, or ran; `None` before its first one.
    pub fn elapsed(&self, now: Timestamp) -> Option<u64> {
        self.started.map(|started| seconds_between(started, self.ended.unwrap_or(now)))
    }

    /// Returns the share of its model's window that the conversation takes, per cent.
    pub fn context_percent(&self) -> Option<u64> {
        match (self.context, self.cap) {
            (Some(context), Some(cap)) if cap > 0 => Some(context.saturating_mul(100) / cap),
            _ => None,
        }
    }

    /// Returns the sums of it and everything beneath it.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns the sums of everything beneath it, without itself.
    pub fn beneath(&self) -> Totals {
        let mut totals = self.totals;
        totals.exchange(&self.counted, &Totals::default());
        totals
    }

    /// Returns what it alone brings to the sums.
    pub fn own(&self) -> Totals {
        self.counted
    }

    /// Tells whether other agents stand beneath it.
    pub fn has_children(&self) -> bool {
        !self.children.is_empty()
    }

    /// Returns what it adds to the sums.
    pub(super) fn share(&self) -> Totals {
        Totals {
            agents: 1,
            running: usize::from(self.running()),
            failed: usize::from(self.state() == State::Failed),
            asking: usize::from(self.asking()),
            parked: usize::from(matches!(self.activity, Activity::Parked(_))),
            odd: usize::from(!self.lints.is_empty()),
            tokens: self.spent.into(),
            cost_nanos: self.cost_nanos.into(),
            unpriced: self.unpriced.into(),
        }
    }

    pub(super) fn set(&mut self, activity: Activity, at: Timestamp) {
        // A stop stays visible until the turn has ended, whatever still trickles in.
        if self.activity == Activity::Cancelling && !matches!(activity, Activity::Ended(..)) {
            return;
        }
        if self.activity != activity {
            self.activity = activity;
            self.since = Some(at);
        }
        if self.running() {
            self.ended = None;
        }
    }

    pub(super) fn compacting(&mut self, messages: usize, at: Timestamp) {
        self.before = Some(self.activity.clone());
        self.heard = Some(at);
        self.set(Activity::Compacting(messages), at);
    }

    /// Goes back to what it did before older rounds were summarised; nothing changes when none were.
    pub(super) fn compacted(&mut self, at: Timestamp) {
        let Some(before) = self.before.take() else { return };
        self.heard = Some(at);
        match before {
            // No turn runs: a stop that was asked for has ended this too.
            Activity::Idle | Activity::Ended(..) => {
                self.activity = before;
                self.since = Some(at);
                self.ended = self.ended.or(Some(at));
            }
            before => self.set(before, at),
        }
    }

    pub(super) fn start(&mut self, at: Timestamp) {
        self.before = None;
        self.activity = Activity::Waiting;
        self.since = Some(at);
        self.started = Some(at);
        self.heard = Some(at);
        self.ended = None;
        self.steps = 0;
        self.open.clear();
        self.questions.clear();
        self.repeats = Repeats::default();
    }

    pub(super) fn end(&mut self, outcome: Outcome, message: Option<String>, at: Timestamp) {
        self.before = None;
        self.open.clear();
        self.questions.clear();
        self.set(Activity::Ended(outcome, message), at);
        // Its own event tells the end first, its parent's says how it is to be called.
        self.ended = self.ended.or(Some(at));
    }

    /// Takes a round's figures, and its cost where it is known.
    pub(super) fn count(&mut self, usage: &Usage, cost_nanos: Option<u64>) {
        self.context = Some(usage.context());
        self.estimated = false;
        self.spent = self.spent.saturating_add(usage.context());
        match cost_nanos {
            Some(nanos) => self.cost_nanos = self.cost_nanos.saturating_add(nanos),
            None => self.unpriced = self.unpriced.saturating_add(1),
        }
        if usage.model.is_some() {
            self.model.clone_from(&usage.model);
        }
    }
}

impl State {
    /// Every state, in the order in which help explains their signs.
    pub const ALL: [Self; 15] = [
        Self::Idle,
        Self::Waiting,
        Self::Thinking,
        Self::Writing,
        Self::Tools,
        Self::Asking,
        Self::Parked,
        Self::Retrying,
        Self::Compacting,
        Self::Rescue,
        Self::Stopping,
        Self::Done,
        Self::OutOfBudget,
        Self::Cancelled,
        Self::Failed,
    ];

    /// Returns its sign, which no other state has.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Idle => "·",
            Self::Done => "✓",
            Self::OutOfBudget => "⊘",
            Self::Cancelled => "■",
            Self::Waiting => "○",
            Self::Thinking => "◌",
            Self::Writing => "✎",
            Self::Tools => "●",
            Self::Rescue => "!",
            Self::Stopping => "□",
            Self::Retrying => "↻",
            Self::Compacting => "≡",
            Self::Parked => "‖",
            Self::Failed => "✗",
            Self::Asking => "?",
        }
    }

    /// Says what it means, for the details and help.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Idle => "has nothing to do yet",
            Self::Waiting => "waits for the model's reply",
            Self::Thinking => "the model thinks",
            Self::Writing => "the model writes",
            Self::Tools => "runs tools",
            Self::Asking => "waits for your answer",
            Self::Parked => "is paused by you",
            Self::Retrying => "waits before it asks the model again",
            Self::Compacting => "summarises older rounds",
            Self::Rescue => "is out of steps and writes its answer",
            Self::Stopping => "is being stopped",
            Self::Done => "has ended with an answer",
            Self::OutOfBudget => "has answered at its step limit",
            Self::Cancelled => "was cancelled",
            Self::Failed => "has failed",
        }
    }

    /// Returns the word for it; tools are named by their own names instead.
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Done => "done",
            Self::OutOfBudget => "step limit",
            Self::Cancelled => "cancelled",
            Self::Waiting => "waiting",
            Self::Thinking => "thinking",
            Self::Writing => "writing",
            Self::Tools => "in tool",
            Self::Rescue => "out of steps",
            Self::Stopping => "stopping",
            Self::Retrying => "retrying",
            Self::Compacting => "compacting",
            Self::Parked => "parked",
            Self::Failed => "failed",
            Self::Asking => "asking",
        }
    }
}
