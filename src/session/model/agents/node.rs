//! One agent: what it is, what it does now, and what it has used.
//!
//! Filled by `events`; read by every client. The texts in it came from outside: they are shown only through
//! the sanitiser.

use jiff::Timestamp;

use super::status::AgentStatus;
use super::totals::Totals;
use super::warnings::{Repeats, Warning};
use steersman_base::clock::seconds_between;
use steersman_base::event::{Outcome, Usage};
use steersman_base::id::{AgentId, CallId};
use steersman_base::limits;
use steersman_base::steering::TextKind;

/// One agent.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // Facts that have nothing to do with each other.
pub struct AgentNode {
    /// Its id; empty for the main agent.
    pub id: AgentId,
    /// Its parent's id.
    pub parent: Option<AgentId>,
    /// How deep it stands; 0 for the main agent.
    pub depth: usize,
    /// What it was made from; empty for the main agent and where it is not known.
    pub persona: String,
    /// The task it was given; empty where it is not known.
    pub task: String,
    /// The first words of the task that waits for an answer: its turn runs, was cancelled, failed or lost its process.
    pub open_task: Option<String>,
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
    /// Rounds whose cost is not known.
    pub unpriced: u64,
    /// The model, as far as known.
    pub model: Option<String>,
    /// The model that was chosen for it; `None` where the server decides.
    pub chosen_model: Option<String>,
    /// Reasons to look at it, the most urgent first.
    pub warnings: Vec<Warning>,
    /// What it did before older rounds were summarised.
    pub(super) before: Option<Activity>,
    /// The ids of the questions whose answers it waits for, with the calls that asked them.
    pub(super) questions: Vec<(String, Option<CallId>)>,
    /// Whether a text for it was held because of its age.
    pub(super) stale: bool,
    /// When the model was last heard, or last asked.
    pub(super) last_activity: Option<Timestamp>,
    pub(super) repeats: Repeats,
    /// Whether its turn is the user's and no part of its parent's.
    pub(super) has_own_turn: bool,
    /// Whether whoever spawned it goes on without waiting for it, and gets its answer as a message.
    pub is_in_background: bool,
    /// The sub-agents in the background that work for it.
    pub awaited: usize,
    /// Whether it ended so long ago that a list may leave it out.
    pub(super) aged: bool,
    /// Its id, persona and task in lower case, for filters.
    pub(super) words: String,
    /// Its status and the number of its open calls when its [`Revision`](super::Revision) last changed.
    pub(super) known: (AgentStatus, usize),
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
    /// Whether it is a command outside of the sandbox, which stays where it is.
    pub is_outside: bool,
    /// When it began; the time in which the user was asked about it does not count.
    pub since: Timestamp,
    /// The question that it waits for, and when that was asked.
    pub(super) asked: Option<(String, Timestamp)>,
}

impl OpenCall {
    pub(super) fn ask(&mut self, question: &str, at: Timestamp) {
        self.asked = Some((question.to_owned(), at));
    }

    pub(super) fn answer(&mut self, question: &str, at: Timestamp) {
        if let Some((_, asked)) = self.asked.take_if(|(open, _)| open == question) {
            self.since = self.since.checked_add(at.duration_since(asked)).unwrap_or(at).min(at);
        }
    }
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
    /// Tools run; which ones is in [`AgentNode::open`].
    Tools,
    /// The user paused it, before the call of this tool (untrusted) or at a boundary.
    Paused(Option<String>),
    /// The budget is used up and a rescue writes the answer.
    Rescue,
    /// A stop was asked for and the turn is being wound up.
    Cancelling,
    /// The turn ended; for a failure with the reason (untrusted).
    Ended(Outcome, Option<String>),
}

impl AgentNode {
    pub(super) fn new(id: AgentId, parent: Option<AgentId>, depth: usize) -> Self {
        let mut node = Self {
            words: id.as_str().to_lowercase(),
            id,
            parent,
            depth,
            persona: String::new(),
            task: String::new(),
            open_task: None,
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
            chosen_model: None,
            warnings: Vec::new(),
            before: None,
            questions: Vec::new(),
            stale: false,
            last_activity: None,
            repeats: Repeats::default(),
            has_own_turn: false,
            is_in_background: false,
            awaited: 0,
            aged: false,
            known: (AgentStatus::Idle, 0),
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

    /// Returns whether a turn of it runs.
    pub fn running(&self) -> bool {
        !matches!(self.activity, Activity::Idle | Activity::Ended(..))
    }

    /// Returns the ids of the questions whose answers it waits for.
    pub fn questions(&self) -> impl Iterator<Item = &str> {
        self.questions.iter().map(|(id, _)| id.as_str())
    }

    /// Tells whether it waits for the answer to a question.
    pub fn has_questions(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Returns whether it waits for an answer of the user.
    pub fn asking(&self) -> bool {
        (self.stale || !self.questions.is_empty()) && self.running()
    }

    /// Returns what it does in one word, or that it needs the user.
    pub fn status(&self) -> AgentStatus {
        if self.asking() && self.activity != Activity::Cancelling {
            return AgentStatus::Asking;
        }
        match &self.activity {
            Activity::Idle => AgentStatus::Idle,
            Activity::Waiting => AgentStatus::Waiting,
            Activity::Retrying { .. } => AgentStatus::Retrying,
            Activity::Compacting(_) => AgentStatus::Compacting,
            Activity::Thinking => AgentStatus::Thinking,
            Activity::Writing => AgentStatus::Writing,
            Activity::Tools => AgentStatus::Tools,
            Activity::Paused(_) => AgentStatus::Paused,
            Activity::Rescue => AgentStatus::Rescue,
            Activity::Cancelling => AgentStatus::Stopping,
            Activity::Ended(outcome, _) => match outcome {
                Outcome::Completed | Outcome::Synthesized if self.awaited > 0 => AgentStatus::Awaiting,
                Outcome::Completed => AgentStatus::Done,
                Outcome::Synthesized => AgentStatus::OutOfBudget,
                Outcome::Cancelled => AgentStatus::Cancelled,
                Outcome::Failed => AgentStatus::Failed,
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

    /// Returns what its rounds cost, billionths of a US dollar, as far as that is known of any.
    pub fn known_cost(&self) -> Option<u64> {
        let is_known = self.cost_nanos > 0 || (self.unpriced == 0 && self.spent > 0);
        is_known.then_some(self.cost_nanos)
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

    /// Returns the places of its children in [`Agents::nodes`](super::Agents::nodes), the eldest first.
    pub fn children(&self) -> &[usize] {
        &self.children
    }

    /// Returns the place of its parent in [`Agents::nodes`](super::Agents::nodes).
    pub fn above(&self) -> Option<usize> {
        self.above
    }

    /// Returns its id, persona and the beginning of its task in lower case, for filters.
    pub fn search_text(&self) -> &str {
        &self.words
    }

    /// Returns whether it ended a while ago and nothing beneath it needs the user, so that a list may leave it out.
    pub fn is_past(&self) -> bool {
        self.aged && self.totals.quiet()
    }

    /// Returns whether it runs and takes messages.
    pub fn takes_messages(&self) -> bool {
        self.running() && self.has_queue()
    }

    /// Returns whether it takes messages while it runs: a rescue has no queue.
    pub fn has_queue(&self) -> bool {
        self.parent.as_ref().is_none_or(|parent| parent.synthesizer() != self.id)
    }

    /// Returns what it adds to the sums.
    pub(super) fn share(&self) -> Totals {
        Totals {
            agents: 1,
            running: usize::from(self.running()),
            failed: usize::from(self.status() == AgentStatus::Failed),
            asking: usize::from(self.asking()),
            paused: usize::from(matches!(self.activity, Activity::Paused(_))),
            warned: usize::from(!self.warnings.is_empty()),
            tokens: self.spent.into(),
            cost_nanos: self.cost_nanos.into(),
            unpriced: self.unpriced.into(),
        }
    }

    /// Takes its id, persona and task as the words that filters look through.
    pub(super) fn update_search_text(&mut self) {
        let task: String = self.task.chars().take(limits::FILTER_CHARS).collect();
        self.words = format!("{}\n{}\n{task}", self.id, self.persona).to_lowercase();
    }

    /// Takes over what it does from something that arrived of the model.
    pub(super) fn on_activity(&mut self, activity: Activity, at: Timestamp) {
        self.last_activity = Some(at);
        self.set(activity, at);
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
        self.last_activity = Some(at);
        self.set(Activity::Compacting(messages), at);
    }

    /// Goes back to what it did before older rounds were summarised; nothing changes when none were.
    pub(super) fn compacted(&mut self, at: Timestamp) {
        let Some(before) = self.before.take() else { return };
        self.last_activity = Some(at);
        match before {
            // No turn runs: a stop that was asked for has ended this too.
            Activity::Idle | Activity::Ended(..) => {
                self.activity = before;
                self.since = Some(at);
                self.ended = self.ended.or(Some(at));
            }
            before @ (Activity::Waiting
            | Activity::Retrying { .. }
            | Activity::Compacting(_)
            | Activity::Thinking
            | Activity::Writing
            | Activity::Tools
            | Activity::Paused(_)
            | Activity::Rescue
            | Activity::Cancelling) => self.set(before, at),
        }
    }

    pub(super) fn start(&mut self, at: Timestamp) {
        self.before = None;
        self.activity = Activity::Waiting;
        self.since = Some(at);
        self.started = Some(at);
        self.last_activity = Some(at);
        self.ended = None;
        self.steps = 0;
        self.open.clear();
        self.questions.clear();
        self.repeats = Repeats::default();
    }

    /// Takes a text that was delivered: one that asks for work adds to the open task, or begins one.
    pub(super) fn take_task(&mut self, text: &str, kind: TextKind) {
        let begins = match kind {
            TextKind::Add => self.open_task.is_none(),
            TextKind::Instead => true,
            TextKind::Note | TextKind::Rule => false,
        };
        if begins {
            self.open_task = Some(text.chars().take(limits::FILTER_CHARS).collect());
        }
    }

    pub(super) fn end(&mut self, outcome: Outcome, message: Option<String>, at: Timestamp) {
        // An answer that was cut says why. A second end, that of the sub-agent behind that of its turn, tells nothing new.
        if outcome == Outcome::Completed && message.is_none() && self.running() {
            self.open_task = None;
        }
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
