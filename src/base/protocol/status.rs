//! What somebody outside sees of a whole session at once: who works, who waits for a person and for what, what is pending.
//!
//! The serde form is that of `status --json`; its fields are documented in the manual and stay.

use serde::{Deserialize, Serialize};

use crate::event::UserText;
use crate::id::{AgentId, ClientId, MessageId};
use crate::protocol::BudgetStatus;
use crate::steering::Rule;

/// A session that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// Its ID.
    pub session: String,
    /// The process that runs it.
    pub pid: u32,
    /// The directory that it works in (untrusted).
    pub directory: String,
    /// The model, as far as it is known (untrusted).
    pub model: Option<String>,
    /// The first text of the user in this process (untrusted).
    pub title: String,
    /// What it does.
    pub state: SessionActivity,
    /// The agents that run; the main agent first, also while it is idle.
    pub agents: Vec<AgentStatus>,
    /// What waits for a person.
    pub waiting: Vec<WaitingStatus>,
    /// The texts that wait for delivery.
    pub pending: Vec<PendingStatus>,
    /// The rules of the user that hold.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// What it has spent, and may spend.
    pub budget: BudgetStatus,
    /// The clients that are connected by now, without the one that the run was started with.
    pub clients: Vec<ClientId>,
}

/// What a session does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionActivity {
    /// The agent is being built.
    #[default]
    Starting,
    /// The agent could not be built.
    Broken,
    /// No turn runs.
    Idle,
    /// A turn runs.
    Working,
    /// Nothing goes on before a person has answered.
    Waiting,
}

/// An agent that runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentStatus {
    /// Its ID; empty for the main agent.
    pub id: AgentId,
    /// The agent that spawned it.
    pub parent: Option<AgentId>,
    /// What it does.
    pub state: AgentState,
    /// The tool that runs, or what else it does, in a few words (untrusted).
    pub doing: String,
    /// Tokens of its conversation, as far as they are known.
    pub context_tokens: Option<u64>,
    /// Tokens that its model can take, as far as that is known.
    pub context_window: Option<u64>,
    /// Tokens of all its replies and their prompts in this process.
    pub tokens: u64,
    /// What they cost, billionths of a US dollar, as far as the server says so.
    pub cost_nanos: Option<u64>,
}

/// What an agent does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It waits for a text.
    #[default]
    Idle,
    /// It waits for its model, or a tool runs.
    Working,
    /// It waits for a person.
    Waiting,
}

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitingStatus {
    /// The agent; empty for the main agent, or for the program itself.
    pub agent: AgentId,
    /// What kind of answer it waits for.
    pub kind: WaitingFor,
    /// The number for `approve` and `decline`; null where neither is an answer.
    pub id: Option<u64>,
    /// The question, in one line.
    pub question: String,
    /// What exactly would happen (untrusted).
    pub detail: String,
}

/// The kind of an answer that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// A yes or a no.
    Approval,
    /// That a paused agent goes on.
    Pause,
    /// That a text which is held is confirmed.
    Confirmation,
}

/// A text that waits for delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingStatus {
    /// The agent that it is for.
    pub to: AgentId,
    /// Its ID.
    pub id: MessageId,
    /// What the user sent, without its images.
    #[serde(flatten)]
    pub message: UserText,
    /// Whether it is held back until a person confirms it, or while it is edited.
    pub held: bool,
}
