//! What a client knows of a run without a screen, reduced from updates.
//!
//! Screen, line output, a replay and a report of the state go by the same values. Nothing here draws, reads a key or looks
//! at a clock; texts of agents and tools are untrusted until they are put into words.
//!
//! # Where things are
//!
//! - the agents, their sums, what needs attention: `agents/mod.rs`; tests: `tests/tui/tree.rs`
//! - the texts that wait for delivery: `pending.rs`; tests: `tests/tui/pending_list.rs`, `tests/tui/tui_shell.rs`
//! - a condition that can never be met: `never.rs`; tests: `tests/tui/conditions_shown.rs`
//! - what became of each text that was sent: `receipt.rs`, `receipts.rs`, and in words `receipt_text.rs`; tests:
//!   `tests/tui/receipt_marks.rs`, `receipt_lives.rs`
//! - the ledger, a row for each text: `ledger.rs`; tests: `tests/tui/ledger.rs`, `tests/tui/export.rs`
//! - the rules of the user that hold: `rules.rs`; tests: `tests/tui/kinds.rs`
//! - the plans of the agents: `plans.rs`; tests: `tests/tui/plan.rs`
//! - which agents are paused, and where each waits: `pauses.rs`; tests: `tests/tui/pause.rs`
//! - mode, open approvals, sandbox: `permissions.rs`, what is asked in words: `approval_text.rs`; tests:
//!   `tests/tui/approval_popups/mod.rs`, `tests/tui/modes.rs`
//! - the files that tools changed: `changes.rs`; tests: `tests/tui/changes_pane.rs`
//! - the commands that the agents ran: `commands.rs`; tests: `tests/tui/command_runs.rs`
//! - the commands in the background: `jobs.rs`; tests: `tests/tui/jobs_pane.rs`
//! - the hooks: `hooks.rs`; tests: `tests/tui/hooks_list.rs`
//! - the budget in words: `budget.rs`; tests: `tests/tui/long_conversations.rs`

pub mod agents;
mod approval_text;
mod budget;
mod changes;
mod commands;
mod hooks;
mod jobs;
mod ledger;
mod never;
mod pauses;
mod pending;
mod permissions;
mod plans;
mod receipt;
mod receipt_text;
mod receipts;
mod rules;

pub use approval_text::{DetailPart, approval_parts, size};
pub use budget::{budget_sentence, money_left};
pub use changes::{ChangedFile, FileChange, FileChanges};
pub use commands::{CommandList, CommandRun};
pub use hooks::{HookList, LastHookRun};
pub use jobs::{JobList, JobState, shell_line_of_note};
pub(crate) use jobs::{SHELL_NOTE, SHELL_NOTE_ENDED};
pub use ledger::{LedgerRow, ledger_row};
pub use pauses::{Pauses, WaitingAgent};
pub use pending::{PendingStage, PendingText, PendingTexts};
pub use permissions::{Permissions, Sandbox};
pub use plans::{AgentPlan, PlanList};
pub use receipt::{Arrival, Boundary, FirstReply, Receipt, ReceiptAnswer, ReceiptCost, ReceiptState, UnseenReason};
pub use receipt_text::{ReceiptMark, ReceiptText, receipt_text};
pub use receipts::Receipts;
pub use rules::{RuleList, rule_scope_text};

use agents::{AgentNode, Agents};
use jiff::Timestamp;

use steersman_base::event::{Envelope, Event};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{
    Accepted, BudgetStatus, ImageSupport, Notice, PromptTemplate, QueueOperation, QueueOutcome, Reply, ServerStatus,
    Update,
};
use steersman_base::text::visible_line;

/// What is known of a run.
#[derive(Debug, Clone, Default)]
pub struct RunState {
    /// The agents.
    pub agents: Agents,
    /// The texts that wait for delivery.
    pub pending: PendingTexts,
    /// What became of every text that was sent.
    pub receipts: Receipts,
    /// Which agents are paused, and where each waits.
    pub pauses: Pauses,
    /// What keeps tools within bounds.
    pub permissions: Permissions,
    /// What the session may spend and has spent.
    pub budget: BudgetStatus,
    /// What its tools changed.
    pub changes: FileChanges,
    /// The commands that the agents ran.
    pub commands: CommandList,
    /// The commands in the background.
    pub jobs: JobList,
    /// The hooks.
    pub hooks: HookList,
    /// How the MCP servers stand.
    pub servers: Vec<ServerStatus>,
    /// The custom commands and skills that the user can call.
    pub templates: Vec<PromptTemplate>,
    /// Whether the model takes images; `None` until that was asked.
    pub images: Option<ImageSupport>,
    /// The rules of the user that hold.
    pub rules: RuleList,
    /// The plans of the agents.
    pub plans: PlanList,
    /// The finished sub-agents that a text continues.
    pub continuable: Vec<AgentId>,
}

impl RunState {
    /// Tells whether a turn runs: the main agent's, or one that the user gave a finished sub-agent.
    pub fn runs(&self) -> bool {
        self.agents.running() > 0
    }

    /// Tells whether a turn or a command in the background runs: what ends with the session.
    pub fn works(&self) -> bool {
        self.runs() || self.jobs.running() > 0
    }

    /// Tells whether a turn runs or is about to, whoever's it is: until its end files may change.
    pub fn is_under_way(&self) -> bool {
        self.runs() || self.is_busy()
    }

    /// Returns the sub-agents that run while the main agent does not, because the user continued them.
    pub fn run_alone(&self) -> impl Iterator<Item = &AgentNode> {
        self.agents.running_nodes().filter(|_| !self.agents.main().running())
    }

    /// Returns whom a stop of everything stops, in words; `None` when no turn runs.
    pub fn stopped_by_all(&self) -> Option<String> {
        let mut alone = self.run_alone();
        match (alone.next(), alone.count()) {
            (Some(one), 0) => Some(visible_line(one.id.as_str()).into_owned()),
            (Some(_), more) => Some(format!("{} sub-agents", more + 1)),
            (None, _) => self.runs().then(|| "main".to_owned()),
        }
    }

    /// Applies one event; returns the texts whose receipts say something else from now on.
    pub fn apply(&mut self, envelope: &Envelope) -> Vec<MessageId> {
        self.agents.apply(envelope);
        self.pauses.apply(envelope);
        self.changes.apply(envelope);
        self.commands.apply(envelope);
        self.jobs.apply(envelope);
        self.hooks.apply(envelope);
        self.rules.apply(&envelope.event);
        self.plans.apply(envelope);
        if envelope.agent.is_main() {
            self.permissions.apply(&envelope.event);
        }
        match &envelope.event {
            Event::TurnEnded { .. } => {
                let agents = &self.agents;
                self.pauses.forget(|agent| agents.get(agent).is_none_or(|node| !node.running()));
            }
            Event::UserTurn { injection: Some(id), .. } => self.pending.remove(id),
            Event::ModelSwitched { .. } if envelope.agent.is_main() => self.images = None,
            Event::Returned { entries } => entries.iter().for_each(|entry| self.pending.remove(&entry.id)),
            _ => {}
        }
        self.receipts.apply(envelope)
    }

    /// Tells whether a text for this agent is taken: by its queue, or by going on with what a finished sub-agent did.
    pub fn takes_messages(&self, agent: &AgentId) -> bool {
        self.agents.takes_messages(agent) || self.continues(agent)
    }

    /// Tells whether a text continues this finished sub-agent.
    pub fn continues(&self, agent: &AgentId) -> bool {
        !self.agents.takes_messages(agent) && self.continuable.contains(agent)
    }

    /// Returns whether a turn of the main agent runs or is about to: then what is sent to it waits for that.
    pub fn is_busy(&self) -> bool {
        self.agents.main().running() || (self.pending.starts_turn() && !self.pending.paused)
    }

    /// Returns whether an agent waits, or will where it next comes by; one that has ended and a rescue have no gate.
    pub fn is_paused(&self, agent: &AgentId) -> bool {
        let has_gate = |node: &AgentNode| node.ended.is_none() && node.has_queue();
        self.pauses.is_paused(agent) && (agent.is_main() || self.agents.get(agent).is_none_or(has_gate))
    }

    /// Applies anything else that the run says at this moment.
    pub fn apply_update(&mut self, update: &Update, now: Timestamp) {
        self.agents.apply_update(update, now);
        match update {
            Update::Reply(reply) => self.replied(reply, now),
            Update::Queues { queues, paused } => {
                self.receipts.snapshot(queues);
                self.pending.snapshot(queues, *paused);
            }
            Update::Approvals { mode, open } => {
                self.permissions.mode = *mode;
                self.permissions.open.clone_from(open);
            }
            Update::Budget(status) => self.budget = *status,
            Update::Notice(Notice::Servers(servers)) => self.servers.clone_from(servers),
            Update::Notice(Notice::Hooks(hooks)) => self.hooks.known.clone_from(hooks),
            // Another model will answer.
            Update::Notice(Notice::ModelSwitch { outcome: Ok(_), .. }) => self.images = None,
            Update::Notice(Notice::Images(support)) => self.images = Some(*support),
            Update::Notice(Notice::Templates(templates)) => self.templates.clone_from(templates),
            Update::Notice(Notice::Continuable(agents)) => self.continuable.clone_from(agents),
            Update::Notice(Notice::Returned(entries)) => self.returned(entries),
            Update::Notice(Notice::Unfinished(left)) => self.receipts.take_over(left),
            Update::Notice(Notice::Pause { agent, state }) => self.pauses.set(agent.as_ref(), *state),
            Update::Notice(Notice::Withdrawn { entries, .. }) => {
                for entry in entries {
                    self.pending.remove(&entry.id);
                    self.receipts.withdrawn(&entry.id);
                }
            }
            Update::Envelope(_) | Update::Notice(_) => {}
        }
    }

    fn replied(&mut self, reply: &Reply, now: Timestamp) {
        match reply {
            Reply::Injected { to, message, outcome: Ok(id) } => self.receipts.sent(id, to, &message.text, now),
            Reply::Stopped(entries) => self.returned(entries),
            Reply::Queue {
                id,
                operation: QueueOperation::Withdraw { .. },
                outcome: QueueOutcome::Withdrawn(_),
                ..
            } => {
                self.pending.remove(id);
                self.receipts.withdrawn(id);
            }
            Reply::Queue { id, operation: QueueOperation::Merge, outcome: QueueOutcome::Merged(_, second), .. } => {
                self.pending.remove(&second.id);
                self.receipts.merged(&second.id, id);
            }
            Reply::Pause { agent, state, accepted: Accepted::Yes } => self.pauses.set(agent.as_ref(), *state),
            Reply::Decided { agent, accepted: Accepted::Yes, .. } => self.pauses.decided(agent),
            Reply::Mode(Ok(mode)) => self.permissions.mode = *mode,
            Reply::Budget(limits) => self.budget.limits = *limits,
            Reply::Servers { servers, .. } => self.servers.clone_from(servers),
            Reply::Injected { outcome: Err(_), .. }
            | Reply::RuleChanged { .. }
            | Reply::PlanEdited { .. }
            | Reply::Queue { .. }
            | Reply::Pause { accepted: Accepted::No, .. }
            | Reply::Decided { accepted: Accepted::No, .. }
            | Reply::Cancelling(_)
            | Reply::ShellLine { .. }
            | Reply::InstructionAdded { .. }
            | Reply::JobStopped { .. }
            | Reply::Background { .. }
            | Reply::Image { .. }
            | Reply::Answered { .. }
            | Reply::Mode(Err(_))
            | Reply::UndoPreview { .. }
            | Reply::Changes(_)
            | Reply::Context { .. }
            | Reply::RewindPreview { .. }
            | Reply::Undone { .. }
            | Reply::Prompt { .. }
            | Reply::Filled { .. }
            | Reply::Rules(_) => {}
        }
    }

    /// Notes that no queue holds these texts any more: they are the user's again.
    fn returned(&mut self, entries: &[steersman_base::event::Pending]) {
        self.receipts.returned(entries);
        for entry in entries {
            self.pending.remove(&entry.id);
        }
    }
}
