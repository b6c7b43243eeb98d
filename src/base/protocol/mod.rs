//! The protocol between a run and its clients: what a client can ask for ([`Request`]) and everything that it gets
//! ([`Update`]).
//!
//! Plain serde data, so that a client can sit on the other side of a socket; [`VERSION`] counts the incompatible changes.
//! A client never touches a queue, a budget or an approval: it sends requests and applies updates.
//!
//! # Where things are
//!
//! - what a client asks for, each with an id so that sending it twice is one operation: `request.rs`
//! - what a client gets: events, replies, snapshots, notices: `update.rs`
//! - what a tool wants to do, exactly as it is carried out: `operation.rs`
//! - a question about an operation, and what can be answered: `approval.rs`
//! - what fills the context windows: `context.rs`; tests: `tests/tui/context_pane.rs`
//! - what an agent asks the user, and what an answer to it is: `agent_question.rs`; tests: `tests/session/agent_questions.rs`
//! - a form that a server wants filled in: `form.rs`; tests: `tests/tui/mcp_servers.rs`
//! - how an MCP server stands: `servers.rs`; tests: `tests/tui/mcp_servers.rs`
//! - the hooks, and whether each runs: `hooks.rs`; tests: `tests/tui/hooks_list.rs`
//! - the models that can be switched to: `models.rs`; tests: `tests/tui/commands.rs`, `tests/session/model_switch.rs`
//! - texts that a command sends, filled in: `template.rs`; tests: `templates.rs`
//! - what somebody outside sees of a whole session at once: `status.rs`; tests: `tests/session/outside/lines.rs`
//! - the wire form of all of them: `mod.rs`; tests: `tests/session/client.rs`

mod agent_question;
mod approval;
mod context;
mod form;
mod hooks;
mod models;
mod operation;
mod request;
mod servers;
mod status;
mod template;
mod update;

pub use crate::details::{Undo, UndoneFile};
pub use crate::id::ClientId;
pub use agent_question::{ANSWER, AgentQuestion, AnswerOption, answer_of};
pub use approval::{Answer, ApprovalId, ApprovalRequest, ApprovalSubject, Asker, OfferedRule};
pub use context::{ContextItem, ContextKind, ContextOperation, ContextPart, ContextReport, ContextRequest};
pub use form::{FieldKind, FormField, check_form, default_form, form_lines, form_text, read_form};
pub use hooks::{HookState, HookStatus};
pub use models::ModelOption;
pub use operation::{
    CloneOperation, CommandOperation, Content, CustomOperation, FetchOperation, InputOperation, Operation,
    SERVER_TOOLS, SearchOperation, ServerToolOperation, UseOperation, WriteOperation,
};
pub use request::{
    BudgetLimits, Decision, DraftImage, DraftText, ModeChoice, Numbered, PausePlace, PauseState, QueueOperation,
    Request, RuleRequest, ServerRequest, ShellOutput, Shift, TriggerChange, UndoScope, Withdrawn,
};
pub use update::{
    Accepted, BudgetStatus, ImageSupport, LocalServer, Notice, QueueOutcome, Reply, SettledText, Unfinished, Unsaved,
    Update,
};

pub use servers::{ServerState, ServerStatus};
pub use status::{AgentState, AgentStatus, PendingStatus, SessionActivity, SessionStatus, WaitingFor, WaitingStatus};
pub use template::{NO_SUCH_COMMAND, PromptTemplate, SOURCE_FOLDER, ScriptText, TemplateKind};

/// The version of the protocol; another one is not understood.
pub const VERSION: u32 = 5;
