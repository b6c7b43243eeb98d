//! The protocol between a run and its clients: what a client can ask for ([`Request`]) and everything that it is told
//! ([`Post`]).
//!
//! Plain serde data, so that a client can sit on the other side of a socket; [`VERSION`] counts the incompatible changes.
//! A client never touches a queue, a budget or an approval: it sends requests and folds posts.
//!
//! # Where things are
//!
//! - what a client asks for, each with an id so that sending it twice is one act: `request.rs`
//! - what a client is told: events, replies, snapshots, notices: `post.rs`
//! - what a tool wants to do, exactly as it is carried out: `act.rs`
//! - a question about an act, and what can be answered: `approval.rs`
//! - what somebody outside sees of a whole session at once: `status.rs`; stories: `session/outside/lines.rs`
//! - the wire form of all of them: `mod.rs`; stories: `session/client.rs`

mod act;
mod approval;
mod post;
mod request;
mod status;

pub use crate::details::{Undo, UndoneFile};
pub use crate::id::ClientId;
pub use act::{Act, CloneAct, CommandAct, Content, FetchAct, SearchAct, UseAct, WriteAct};
pub use approval::{Answer, ApprovalId, ApprovalRequest, Asker, OfferedRule, Subject};
pub use post::{Accepted, BudgetStatus, LocalServer, Notice, Post, QueueOutcome, Reply, Unfinished};
pub use request::{
    BudgetLimits, Decision, DraftText, ModeChoice, Numbered, PauseState, QueueAct, Request, RuleRequest, Shift,
    TriggerChange, UndoScope, Withdrawn,
};

pub use status::{AgentState, AgentStatus, PendingStatus, SessionActivity, SessionStatus, WaitingFor, WaitingStatus};

/// The version of the protocol; another one is not understood.
pub const VERSION: u32 = 2;
