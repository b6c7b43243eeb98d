//! What a client can ask of a run.
//!
//! Always holds: a request names what it is about by ids, and what its user had seen (the call before which an agent waits,
//! the entry of a queue), so that it can meet nothing else.

use serde::{Deserialize, Serialize};

use crate::event::{Delivery, Pending, UserText};
use crate::id::{AgentId, CallId, ClientId, JobId, MessageId};
use crate::image::{Image, ImageDigest};
use crate::message::{Arguments, ToolCall};
use crate::mode::Mode;
use crate::plan::PlanEdit;
use crate::price::Money;
use crate::protocol::{Answer, ApprovalId, ContextOperation};
use crate::steering::{RuleChange, RuleScope, TextKind, Trigger};

/// A request with its sender and number: the same one, sent twice, is carried out once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Numbered {
    /// Who asks.
    pub client: ClientId,
    /// Counted by the client, from 1.
    pub number: u64,
    /// What is asked for.
    pub request: Request,
}

/// One thing that a client asks for. What comes of it is a [`super::Reply`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// Put a text into the queue of an agent.
    Inject {
        /// The agent that it is for.
        to: AgentId,
        /// What the user sends; the host says who the sender is.
        #[serde(flatten)]
        message: UserText,
    },
    /// Change a rule that holds, or withdraw it.
    ChangeRule {
        /// The text that set it.
        id: MessageId,
        /// What is to become of it.
        change: RuleChange,
    },
    /// Change the plan of an agent.
    EditPlan {
        /// The agent.
        agent: AgentId,
        /// What is to be changed.
        edit: PlanEdit,
    },
    /// Stop the turn and take every pending text back.
    Stop,
    /// Stop the turn and take the conversation back to its system prompt.
    Reset,
    /// Change something about one pending text.
    Queue {
        /// The agent whose queue it is in.
        agent: AgentId,
        /// The entry.
        id: MessageId,
        /// What is to be done with it.
        #[serde(rename = "act")]
        operation: QueueOperation,
    },
    /// Send every text that is held for its age, and hold none for it any more.
    NeverAskIfTrue,
    /// Start a turn with what a failed turn holds back.
    Resume,
    /// Pause an agent at its next boundary or call, or let it go on.
    Pause {
        /// The agent; `None` for all, also those that come later.
        agent: Option<AgentId>,
        /// What it is to do.
        state: PauseState,
    },
    /// Say how a paused agent goes on.
    Decide {
        /// The agent.
        agent: AgentId,
        /// The call before which it waits; `None` at a boundary.
        call: Option<CallId>,
        /// How it goes on.
        decision: Decision,
    },
    /// Run a shell line of the user, outside of the sandbox.
    RunLine {
        /// The agent that gets its output.
        to: AgentId,
        /// Exactly what the shell gets.
        line: String,
        /// What becomes of its output.
        output: ShellOutput,
    },
    /// Add a line to the end of `AGENTS.md` in the session's directory.
    AddInstruction {
        /// Exactly the line, without its end.
        line: String,
    },
    /// End a command in the background, or a shell line of the user.
    StopJob {
        /// Which.
        job: JobId,
    },
    /// Let a running command go on in the background; its call ends with that.
    ToBackground {
        /// The agent that waits for it.
        agent: AgentId,
        /// The call.
        call: CallId,
    },
    /// Cancel these sub-agents; whoever spawned them goes on.
    Cancel {
        /// The one that was selected, or it and everything beneath it.
        agents: Vec<AgentId>,
    },
    /// Answer an approval request.
    Answer {
        /// Its number.
        id: ApprovalId,
        /// The answer.
        answer: Answer,
    },
    /// Nobody answers any more: what is open and what would be asked later is refused.
    UserLeft,
    /// Decide how much runs without a question.
    SetMode {
        /// The mode.
        choice: ModeChoice,
    },
    /// List the files that tools changed, and what an undo would do to each.
    PreviewUndo {
        /// What would be taken back.
        #[serde(default)]
        scope: UndoScope,
    },
    /// Compare every file that tools changed with what it was before the first change.
    ListChanges,
    /// Look at what fills the context windows, or say what is to become of a result in one.
    Context {
        /// Which of both.
        #[serde(rename = "act")]
        operation: ContextOperation,
    },
    /// Take these changes back.
    Undo {
        /// Which.
        #[serde(default)]
        scope: UndoScope,
    },
    /// List the kept rules, or remove one.
    Rules {
        /// Which of both.
        request: RuleRequest,
    },
    /// Look at the MCP servers, or start one.
    Servers {
        /// Which of both.
        request: ServerRequest,
    },
    /// Get a prompt of an MCP server, filled in.
    Prompt {
        /// The server.
        server: String,
        /// The prompt.
        prompt: String,
        /// What it is filled in with: a word for each argument, and for the last one everything that is left.
        words: String,
    },
    /// Fill in a custom command or a skill whose text has shell lines, which run before anything is sent.
    Fill {
        /// What was typed: the command and the words behind it.
        call: String,
    },
    /// Stop the shell lines of this client's [`Request::Fill`].
    StopFill,
    /// Set what the session may spend.
    SetBudget {
        /// The limits.
        limits: BudgetLimits,
    },
    /// Summarise older rounds.
    Compact {
        /// What the summary is to keep in mind.
        words: Option<String>,
    },
    /// Use this model from the next request to the server on.
    SwitchModel {
        /// Its name.
        name: String,
    },
    /// Send the request again that failed, in a turn without a new message.
    Retry,
    /// Close the task of the main agent that has no answer; the next text begins one.
    CloseTask,
    /// List the files that tools changed since this message, and what would become of each before a branch from there.
    PreviewRewind {
        /// The message.
        to: MessageId,
    },
    /// Ask the server for its models; they come as a notice.
    ListModels,
    /// Find out whether the model takes images; that comes as a notice.
    CheckImages,
    /// Give an image of the conversation, so that the screen can show it.
    ReadImage {
        /// By what it is found.
        digest: ImageDigest,
    },
    /// Keep what this client's user is writing, everything at once, so that it is there when the session is resumed.
    KeepDrafts {
        /// The texts, none of which was sent.
        drafts: Vec<DraftText>,
    },
}

/// What becomes of the output of a shell line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellOutput {
    /// The agent gets it at its next boundary.
    Deliver,
    /// Only the user sees it.
    Show,
}

/// Which changes of tools an undo takes back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoScope {
    /// Those of the last turn that made any.
    #[default]
    LastTurn,
    /// Those of the turn of this number.
    Turn(u32),
    /// All of this file, by its path as it is shown: it becomes what it was before the first.
    File(String),
}

/// A text that the user is writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftText {
    /// The agent that it is for.
    pub to: AgentId,
    /// The text as it stands.
    pub text: String,
    /// What it is to be to that agent.
    #[serde(default)]
    pub kind: TextKind,
    /// The pending text that these are newer words of; absent for one that is not sent yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<MessageId>,
    /// The images in it, by the files that they were read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<DraftImage>,
    /// The client in which it is written, as the run knows it; absent for the one that the run was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<ClientId>,
}

/// An image of a text that the user is writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftImage {
    /// What stands for it in the text.
    pub label: String,
    /// The path that the user named.
    pub path: String,
}

impl Request {
    /// Makes the request to put a text that adds to the task into the queue of an agent.
    pub fn inject(to: AgentId, text: impl Into<String>, delivery: Delivery) -> Self {
        Self::Inject { to, message: UserText::from((text, delivery)) }
    }

    /// Returns whether it looks at files, writes some or asks a server, so that a client must not wait for it.
    pub fn takes_a_moment(&self) -> bool {
        matches!(
            self,
            Self::PreviewUndo { .. }
                | Self::ListChanges
                | Self::Context { .. }
                | Self::PreviewRewind { .. }
                | Self::Undo { .. }
                | Self::Rules { .. }
                | Self::Servers { .. }
                | Self::Prompt { .. }
                | Self::Fill { .. }
                | Self::RunLine { .. }
        )
    }
}

/// One change of a pending text. Each is one step: the agent takes the text before it or after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum QueueOperation {
    /// Keep it from being delivered while it is edited.
    Hold {
        /// What to go on with when an edit that was left is taken up again; `None` begins with the entry's own text.
        text: Option<String>,
    },
    /// End the edit and leave the text as it was.
    Release,
    /// End the edit with this text.
    Commit {
        /// The new text.
        text: String,
        /// Where it is to enter from now on; `None` leaves that as it was.
        delivery: Option<Delivery>,
        /// What it is from now on; `None` leaves that as it was.
        #[serde(default)]
        kind: Option<TextKind>,
        /// What it waits for from now on; `None` leaves that as it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trigger: Option<TriggerChange>,
        /// What goes with it from now on; `None` leaves that as it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        images: Option<Vec<Image>>,
    },
    /// Take it out of the queue.
    Withdraw {
        /// What the client does with the text.
        to: Withdrawn,
        /// The entries that stand before it, so that it can be put back.
        before: Vec<MessageId>,
    },
    /// Put it back behind the last of these that still waits, or to the front.
    Restore {
        /// As it was withdrawn.
        entry: Box<Pending>,
        /// The entries that stood before it.
        before: Vec<MessageId>,
    },
    /// Change places with its neighbour.
    Move {
        /// Which neighbour.
        shift: Shift,
    },
    /// Change where it will enter.
    Deliver {
        /// Where.
        delivery: Delivery,
    },
    /// Change what it is to the agent.
    SetKind {
        /// What.
        kind: TextKind,
        /// The agents that it holds for, if it is a rule.
        #[serde(default, skip_serializing_if = "RuleScope::is_usual")]
        scope: RuleScope,
    },
    /// Join it with the one behind it.
    Merge,
    /// Make two of it again.
    Split {
        /// The first as it was.
        first: Box<Pending>,
        /// The second as it was.
        second: Box<Pending>,
    },
    /// Say that it still holds, however long it has waited.
    Confirm,
}

/// A change of what a pending text waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerChange {
    /// It waits for this, from now on.
    Set(Trigger),
    /// It waits for nothing any more.
    Clear,
}

/// What a client does with a text that it takes out of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawn {
    /// It is removed; it can be brought back.
    Removed,
    /// It goes into the message being written, before the draft.
    Message,
}

/// The neighbour with which an entry changes places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shift {
    /// The one that is delivered before it.
    Earlier,
    /// The one that is delivered after it.
    Later,
}

/// Whether an agent is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseState {
    /// It waits before its next call or at its next boundary.
    Paused,
    /// It runs on.
    Running,
}

/// The place where a paused agent waits.
#[derive(Debug, Clone, PartialEq)]
pub enum PausePlace {
    /// Behind the results of a batch, before the next request.
    Boundary,
    /// Before this call (untrusted).
    Call(ToolCall),
}

impl PausePlace {
    /// Returns the call's id; `None` at a boundary.
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Self::Boundary => None,
            Self::Call(call) => Some(&call.id),
        }
    }
}

impl From<Option<&ToolCall>> for PausePlace {
    fn from(call: Option<&ToolCall>) -> Self {
        call.map_or(Self::Boundary, |call| Self::Call(call.clone()))
    }
}

/// How a paused agent goes on. It stays paused: it waits again before its next call or at its next boundary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// As it would have.
    Run,
    /// With other arguments for the call.
    Edited(Arguments),
    /// Without the call; the model is told this reason.
    Skip(String),
}

/// The mode that is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeChoice {
    /// The one behind the present one, of those that a key may switch to.
    Next,
    /// This one.
    Named(Mode),
}

/// What is done about the kept rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleRequest {
    /// They are listed.
    List,
    /// The rule of this number is removed, counted from 1.
    Remove(usize),
}

/// What is done about the MCP servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerRequest {
    /// They are listed.
    List,
    /// The server of this name is started, unless it runs, and asked what it offers.
    Start(String),
}

/// What the session may spend; no limit unless set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetLimits {
    /// US dollars.
    pub max_cost: Option<Money>,
    /// Tokens.
    pub max_tokens: Option<u64>,
}
