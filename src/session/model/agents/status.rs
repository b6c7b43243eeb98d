//! The status of an agent: one of sixteen words, each with a sign and a meaning.
//!
//! Derived from what the agent does now; tables, status lines, filters and help show the same words.

/// What an agent does in one word, or that it needs the user; the more urgent the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentStatus {
    /// It has not been asked anything yet.
    Idle,
    /// It gave its answer.
    Done,
    /// It ended because its budget was used up; a rescue answered.
    OutOfBudget,
    /// The user stopped it.
    Cancelled,
    /// Its turn has ended, and sub-agents in the background work for it.
    Awaiting,
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
    /// The user paused it.
    Paused,
    /// It broke.
    Failed,
    /// The user is to answer a question.
    Asking,
}

impl AgentStatus {
    /// Every status, in the order in which help explains their signs.
    pub const ALL: [Self; 16] = [
        Self::Idle,
        Self::Waiting,
        Self::Thinking,
        Self::Writing,
        Self::Tools,
        Self::Asking,
        Self::Paused,
        Self::Retrying,
        Self::Compacting,
        Self::Rescue,
        Self::Stopping,
        Self::Awaiting,
        Self::Done,
        Self::OutOfBudget,
        Self::Cancelled,
        Self::Failed,
    ];

    /// Returns its sign, which no other status has.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Idle => "·",
            Self::Done => "✓",
            Self::OutOfBudget => "⊘",
            Self::Cancelled => "■",
            Self::Awaiting => "◇",
            Self::Waiting => "○",
            Self::Thinking => "◌",
            Self::Writing => "✎",
            Self::Tools => "●",
            Self::Rescue => "!",
            Self::Stopping => "□",
            Self::Retrying => "↻",
            Self::Compacting => "≡",
            Self::Paused => "‖",
            Self::Failed => "✗",
            Self::Asking => "?",
        }
    }

    /// Returns a sentence's end that says what it means, for details and help.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Idle => "has nothing to do yet",
            Self::Awaiting => "waits for its sub-agents",
            Self::Waiting => "waits for the model's reply",
            Self::Thinking => "the model thinks",
            Self::Writing => "the model writes",
            Self::Tools => "runs tools",
            Self::Asking => "waits for your answer",
            Self::Paused => "you paused it",
            Self::Retrying => "waits before it asks the model again",
            Self::Compacting => "summarises older rounds",
            Self::Rescue => "is out of steps and writes its answer",
            Self::Stopping => "is stopping",
            Self::Done => "done",
            Self::OutOfBudget => "done, at its step limit",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Returns the word for it; tools are named by their own names instead.
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Done => "done",
            Self::OutOfBudget => "step limit",
            Self::Cancelled => "cancelled",
            Self::Awaiting => "waits",
            Self::Waiting => "model …",
            Self::Thinking => "thinking",
            Self::Writing => "writing",
            Self::Tools => "in tool",
            Self::Rescue => "out of steps",
            Self::Stopping => "stopping",
            Self::Retrying => "retrying",
            Self::Compacting => "compacting",
            Self::Paused => "paused",
            Self::Failed => "failed",
            Self::Asking => "asking",
        }
    }
}
