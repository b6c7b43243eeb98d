//! What a client gets of a run: events, replies, snapshots and notices.
//!
//! A reply repeats what was asked for, so that a client needs no table of its own requests.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::details::{FileDiff, UndoneFile};
use crate::error::{Refused, StartError};
use crate::event::{Envelope, Event, Pending, TakenBack, UserText};
use crate::id::{AgentId, CallId, ClientId, JobId, MessageId};
use crate::image::{Image, ImageDigest};
use crate::mode::Mode;
use crate::plan::{PlanEdit, PlanRefused};
use crate::protocol::{
    Answer, ApprovalId, ApprovalRequest, BudgetLimits, ContextReport, Decision, DraftText, HookStatus, ModelOption,
    PauseState, PromptTemplate, QueueOperation, ServerStatus, UndoScope,
};
use crate::steering::RuleChange;

/// One thing that a client gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    /// An event of the agent tree.
    Envelope(Envelope),
    /// What came of a request of this client.
    Reply(Reply),
    /// All pending queues, after a change.
    Queues {
        /// What is pending for whom, each in the order of delivery; agents without anything are left out.
        queues: Vec<(AgentId, Vec<Pending>)>,
        /// True when a failed or stopped turn holds the main agent's back.
        paused: bool,
    },
    /// The approval mode and everything that waits for an answer, after a change of either.
    Approvals {
        /// The mode.
        mode: Mode,
        /// The oldest first.
        open: Vec<ApprovalRequest>,
    },
    /// What the session may spend and has spent, after a change of either.
    Budget(BudgetStatus),
    /// Something about the run itself.
    Notice(Notice),
}

impl Update {
    /// Returns the bytes of a piece of text; 0 for everything else.
    pub fn piece_bytes(&self) -> usize {
        if let Self::Envelope(envelope) = self
            && let Event::AssistantDelta { text }
            | Event::ThinkingDelta { text }
            | Event::ToolProgress { text, .. }
            | Event::JobOutput { text, .. } = &envelope.event
        {
            text.len()
        } else {
            0
        }
    }

    /// Cuts a piece of text that is longer than `most` bytes, and returns what is behind.
    pub fn split_off(&mut self, most: usize) -> Option<Self> {
        if self.piece_bytes() <= most {
            return None;
        }
        let text = self.piece()?;
        let behind = text.split_off(text.floor_char_boundary(most));
        let mut rest = self.clone();
        *rest.piece()? = behind;
        Some(rest)
    }

    fn piece(&mut self) -> Option<&mut String> {
        let Self::Envelope(envelope) = self else { return None };
        match &mut envelope.event {
            Event::AssistantDelta { text }
            | Event::ThinkingDelta { text }
            | Event::ToolProgress { text, .. }
            | Event::JobOutput { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// What the session may spend and has spent, all its conversations together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetStatus {
    /// What it may spend.
    pub limits: BudgetLimits,
    /// Billionths of a US dollar that were spent, as far as prices are known.
    pub nanos: u64,
    /// Tokens that were used.
    pub tokens: u64,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant)] // There are few of them at a time.
pub enum Reply {
    /// A text was put into a queue, or was not.
    Injected {
        /// The agent that it was for.
        to: AgentId,
        /// What was offered, without its images.
        #[serde(flatten)]
        message: UserText,
        /// Its id, or why the queue did not take it.
        outcome: Result<MessageId, Refused>,
    },
    /// A rule was changed or withdrawn, or was not.
    RuleChanged {
        /// The text that set it.
        id: MessageId,
        /// What was asked for.
        change: RuleChange,
        /// Whether it is done; not for a rule that does not hold (any more), nor with blank words.
        accepted: Accepted,
    },
    /// The plan of an agent was changed, or was not.
    PlanEdited {
        /// The agent.
        agent: AgentId,
        /// What was asked for.
        edit: PlanEdit,
        /// Why it was not done.
        outcome: Result<(), PlanRefused>,
    },
    /// The turn is being stopped; what was pending, in order.
    Stopped(Vec<Pending>),
    /// What became of a change of a pending text.
    Queue {
        /// The agent whose queue it was.
        agent: AgentId,
        /// The entry.
        id: MessageId,
        /// What was asked for.
        #[serde(rename = "act")]
        operation: QueueOperation,
        /// What became of it.
        outcome: QueueOutcome,
    },
    /// An agent was paused, or goes on.
    Pause {
        /// The agent; `None` for all.
        agent: Option<AgentId>,
        /// What it was to do.
        state: PauseState,
        /// Whether it does.
        accepted: Accepted,
    },
    /// A paused agent goes on.
    Decided {
        /// The agent.
        agent: AgentId,
        /// What was decided.
        decision: Decision,
        /// Whether it waited there to hear it.
        accepted: Accepted,
    },
    /// A shell line of the user was started, or was not.
    ShellLine {
        /// The line.
        line: String,
        /// Its job, or why there is none.
        outcome: Result<JobId, String>,
    },
    /// A line was added to `AGENTS.md`, or was not.
    InstructionAdded {
        /// The line.
        line: String,
        /// Why it was not.
        outcome: Result<(), String>,
    },
    /// An image of the conversation.
    Image {
        /// By what it was asked for.
        digest: ImageDigest,
        /// The image; `None` where it is not kept any more.
        image: Option<Image>,
    },
    /// A job is being stopped.
    JobStopped {
        /// The job.
        job: JobId,
        /// Whether it ran.
        accepted: Accepted,
    },
    /// A command goes on in the background, or does not.
    Background {
        /// Its call.
        call: CallId,
        /// Why it does not.
        outcome: Result<(), String>,
    },
    /// These agents are being cancelled.
    Cancelling(Vec<AgentId>),
    /// An approval request was answered.
    Answered {
        /// Its number.
        id: ApprovalId,
        /// The answer.
        answer: Answer,
        /// Why it was not taken.
        outcome: Result<(), String>,
    },
    /// The mode that holds now, or why it is as it was.
    Mode(Result<Mode, String>),
    /// The files that tools changed, and what an undo would do to each.
    UndoPreview {
        /// What would be taken back.
        scope: UndoScope,
        /// The newest change first.
        files: Vec<UndoneFile>,
    },
    /// The files that tools changed since a message, and what would become of each.
    RewindPreview {
        /// The message.
        to: MessageId,
        /// The newest change first.
        files: Vec<UndoneFile>,
    },
    /// How the files that tools changed differ from what they were at the start, as far as that is kept.
    Changes(Vec<FileDiff>),
    /// What fills the context windows, and what came of a request about a result.
    Context {
        /// The agents that run, the main agent first.
        reports: Vec<ContextReport>,
        /// Why a request was not taken.
        refused: Option<String>,
    },
    /// What an undo did to each file.
    Undone {
        /// What was taken back.
        scope: UndoScope,
        /// The newest change first.
        files: Vec<UndoneFile>,
    },
    /// The kept rules, or what became of one, in sentences.
    Rules(Vec<String>),
    /// How the MCP servers stand, and what came of the start of one.
    Servers {
        /// The server that was to be started, and why it was not.
        failed: Option<(String, String)>,
        /// In the order of the configuration.
        servers: Vec<ServerStatus>,
    },
    /// The text of a prompt of an MCP server, or why there is none.
    Prompt {
        /// The server.
        server: String,
        /// The prompt.
        prompt: String,
        /// The text (untrusted), or one sentence.
        outcome: Result<String, String>,
    },
    /// The text of a custom command or a skill whose shell lines have run, or why there is none.
    Filled {
        /// What was asked for.
        call: String,
        /// The text to send, with outputs in it (untrusted), or one sentence.
        outcome: Result<String, String>,
    },
    /// The limits are set.
    Budget(BudgetLimits),
}

/// Whether there was anybody to do what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Accepted {
    /// It is done.
    Yes,
    /// The agent has ended, or does not wait there any more.
    No,
}

impl From<bool> for Accepted {
    fn from(done: bool) -> Self {
        if done { Self::Yes } else { Self::No }
    }
}

/// What became of a [`QueueOperation`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueOutcome {
    /// It is done.
    Done,
    /// The entry left the queue, as it was then.
    Withdrawn(Pending),
    /// The two were joined; as they were before.
    Merged(Pending, Box<Pending>),
    /// The agent had taken the entry before: nothing was changed.
    Gone,
    /// The agent has ended: what was pending comes back with [`Event::Returned`].
    Ended,
    /// The queue did not take the text; the entry is as it was.
    Refused(Refused),
}

/// Why a session cannot be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsaved {
    /// A sentence about it.
    pub why: String,
    /// Whether something of the session was saved before.
    pub has_begun: bool,
}

/// What the host says outside the event stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// The agent is built and takes turns.
    Ready,
    /// The agent could not be built; nothing will run.
    BuildFailed(StartError),
    /// The session is shown as it was recorded and takes nothing, for this reason.
    ReadOnly(String),
    /// A sentence for the status line.
    Info(String),
    /// Why the session cannot be saved; `None` once it is saved again.
    Unsaved(Option<Unsaved>),
    /// These texts are the user's again: no agent will take them. Told before [`Notice::BuildFailed`].
    Returned(Vec<Pending>),
    /// Another client took these texts out of their queues.
    Withdrawn {
        /// That client; `None` for the one that the run was started with.
        by: Option<ClientId>,
        /// The texts, in order.
        entries: Vec<Pending>,
    },
    /// An agent was paused, or goes on, whoever asked for it; `None` stands for all, also for those that come later.
    Pause {
        /// The agent.
        agent: Option<AgentId>,
        /// What it does from now on.
        state: PauseState,
    },
    /// The run is over for this client: its program has ended, or does not talk to it any more. The sentence says which.
    Over(String),
    /// A model server answers on this machine while the embedded model is used.
    LocalServer(LocalServer),
    /// What an earlier process of the session left for the user to decide.
    Unfinished(Unfinished),
    /// What came of a request to use another model: it answers from the next request on, or a sentence says why not.
    ModelSwitch {
        /// The name that was asked for.
        name: String,
        /// The model's name, or why the model is the same as before.
        outcome: Result<String, String>,
    },
    /// How the MCP servers stand, after a change.
    Servers(Vec<ServerStatus>),
    /// The hooks, and whether each of them runs.
    Hooks(Vec<HookStatus>),
    /// The custom commands and skills that the user can call.
    Templates(Vec<PromptTemplate>),
    /// The finished sub-agents that can be continued, after a change.
    Continuable(Vec<AgentId>),
    /// The models that can be switched to, those of the server that answers first, or why there is no list.
    Models(Result<Vec<ModelOption>, String>),
    /// Whether the model takes images, as far as anybody knows.
    Images(ImageSupport),
}

/// Whether a model takes images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageSupport {
    /// It does.
    Taken,
    /// It does not.
    Refused,
    /// Nobody knows: the server's answer says it.
    Unknown,
}

impl From<Option<bool>> for ImageSupport {
    fn from(takes: Option<bool>) -> Self {
        match takes {
            Some(true) => Self::Taken,
            Some(false) => Self::Refused,
            None => Self::Unknown,
        }
    }
}

/// What an earlier process of a session left: nothing of it is sent by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// What the user was writing.
    pub drafts: Vec<DraftText>,
    /// The images that stand in it, but those that are read from their files again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Texts that wait, held.
    pub pending: Vec<Pending>,
    /// How many sub-agents were running.
    pub agents: usize,
    /// What became of those that were never delivered and wait no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: Vec<SettledText>,
    /// When the texts of the session were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<(MessageId, Timestamp)>,
}

/// A text that left its queue without being delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledText {
    /// The agent that it was for.
    pub to: AgentId,
    /// The text with its id.
    pub entry: Pending,
    /// Why it left.
    pub why: TakenBack,
}

impl Unfinished {
    /// Returns which sub-agents were interrupted, in words; `None` when none was.
    pub fn interrupted(&self) -> Option<String> {
        match self.agents {
            0 => None,
            1 => Some("1 sub-agent was interrupted".to_owned()),
            count => Some(format!("{count} sub-agents were interrupted")),
        }
    }

    /// Returns what waits and what was interrupted, in words; `None` when neither is.
    pub fn sentence(&self) -> Option<String> {
        let pending = match self.pending.len() {
            0 => None,
            count => Some(format!("{count} pending")),
        };
        let parts: Vec<String> = pending.into_iter().chain(self.interrupted()).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// A model server of this machine that could answer instead of the embedded model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalServer {
    /// What it is.
    pub what: String,
    /// Host and port.
    pub address: String,
    /// The model that it would answer with.
    pub model: String,
    /// The name by which that model is switched to.
    pub name: String,
}
