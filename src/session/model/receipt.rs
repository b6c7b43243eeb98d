//! One receipt: what became of one text that the user sent.
//!
//! Always holds: what it says was said by the queue or by the agent; nothing is guessed.

use jiff::Timestamp;

use steersman_base::clock::seconds_between;
use steersman_base::event::Delivery;
use steersman_base::id::{AgentId, ClientId, MessageId};
use steersman_base::steering::TextKind;

/// What became of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Its id.
    pub id: MessageId,
    /// The agent that it is for.
    pub agent: AgentId,
    /// The text, exactly as typed; of a merged entry the whole.
    pub text: String,
    /// Where it was to enter.
    pub delivery: Delivery,
    /// What it is to the agent.
    pub kind: TextKind,
    /// When it was sent; `None` when only its delivery was told.
    pub sent: Option<Timestamp>,
    /// The client that sent it; `None` for the one that the run was started with.
    pub sender: Option<ClientId>,
    /// Where it is.
    pub state: ReceiptState,
    /// What it has cost so far.
    pub spent: ReceiptCost,
    /// What the model says that it did with it; `None` as long as it says nothing.
    pub answer: Option<ReceiptAnswer>,
}

/// The place at which a model says what it did with a text, and the sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptAnswer {
    /// The number of the event of the reply.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The turn of its agent.
    pub turn: u32,
    /// Tool calls of that turn before the reply.
    pub step: u32,
    /// The sentence, sanitized.
    pub sentence: String,
}

/// Where a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptState {
    /// In the queue.
    Pending,
    /// Out of the queue, and nobody has said yet that it is in the conversation.
    Leaving,
    /// In the conversation; no reply to it has begun.
    Delivered(Arrival),
    /// In the conversation of a turn that ended before a reply to it began.
    Unseen(Arrival, UnseenReason),
    /// A reply to a request that carried it has begun.
    Seen(Arrival, FirstReply),
    /// Its agent ended, or was stopped, before it was delivered: it is the user's again.
    Returned,
    /// The user took it back.
    Withdrawn,
    /// The user joined it to another, which carries its words.
    Merged(MessageId),
}

/// When and where a text entered the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The turn of its agent.
    pub turn: u32,
    /// Tool calls of that turn before it.
    pub step: u32,
    /// The boundary.
    pub boundary: Boundary,
    /// When.
    pub at: Timestamp,
}

/// A boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Boundary {
    /// It started the turn.
    TurnStart,
    /// Behind the result of this tool (untrusted).
    After(String),
    /// In place of an answer that gave way.
    Cut,
    /// Behind a whole reply, none of whose calls was started.
    NoCall,
}

/// When the first reply to a text began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstReply {
    /// The turn of its agent.
    pub turn: u32,
    /// Tool calls of that turn before the reply.
    pub step: u32,
    /// When.
    pub at: Timestamp,
}

/// Why no reply began to a text that was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnseenReason {
    /// The turn was stopped.
    Cancelled,
    /// The turn failed.
    Failed,
    /// The turn ended otherwise.
    Ended,
    /// The conversation was cleared.
    Reset,
}

/// Counts what a text has cost; `None` where nothing is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiptCost {
    /// Tokens, prompts and replies together.
    pub tokens: Option<u64>,
    /// Billionths of a US dollar.
    pub nanos: Option<u64>,
}

impl Receipt {
    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        self.agent != other.agent && self.sent.is_some() && self.sent == other.sent && self.text == other.text
    }

    pub(super) fn new(id: MessageId, agent: AgentId, text: String, delivery: Delivery) -> Self {
        let (kind, state, spent) = (TextKind::default(), ReceiptState::Pending, ReceiptCost::default());
        Self { id, agent, text, delivery, kind, sent: None, sender: None, state, spent, answer: None }
    }

    /// Returns how it entered the conversation; `None` when it has not.
    pub fn arrival(&self) -> Option<&Arrival> {
        let (ReceiptState::Delivered(arrival) | ReceiptState::Unseen(arrival, _) | ReceiptState::Seen(arrival, _)) =
            &self.state
        else {
            return None;
        };
        Some(arrival)
    }

    /// Tells whether it is in a queue, or on its way into the conversation.
    pub fn is_pending(&self) -> bool {
        matches!(self.state, ReceiptState::Pending | ReceiptState::Leaving)
    }

    /// Tells whether an answer of this agent counts: it has read the text and has not answered yet.
    pub(super) fn awaits_answer_of(&self, agent: &AgentId) -> bool {
        self.agent == *agent && self.answer.is_none() && matches!(self.state, ReceiptState::Seen(..))
    }

    /// Returns the whole seconds from the sending to the delivery.
    pub fn waited(&self) -> Option<u64> {
        Some(seconds_between(self.sent?, self.arrival()?.at))
    }
}
