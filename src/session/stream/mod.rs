//! A run as a stream of lines, for programs: what each line says beside its event, and the result at the end.
//!
//! # Where things are
//!
//! - the reducer that knows it: `record.rs`; tests: `tests/program/headless/output.rs`
//! - the types of what is added: `fields.rs`
//! - what a question says of itself, and the program that decides: `permission.rs`; tests:
//!   `tests/program/headless/permission_command.rs`
//! - the same in the shape of Claude Code: `stream_json.rs`; tests: `tests/program/headless/stream_json.rs`
//! - what a program may send, and the schema of both directions: `request.rs`, `schema.rs`; tests:
//!   `tests/program/headless/input.rs`, `tests/program/headless/schema.rs`

mod fields;
mod permission;
mod record;
mod request;
#[cfg(test)]
mod schema;
mod stream_json;

pub use fields::{
    AgentFinishedFields, AgentSpawnedFields, AnswerFields, CallError, ChangedFile, CompactedFields, FilesChanged,
    LineFields, ModelUsage, QuestionFields, RefusedCall, ReplyLine, RunResult, SeenFields, ToolResultFields,
    TurnEndedFields, UnsentText, UsageSum, UserTurnFields,
};
pub use permission::{PermissionAnswer, PermissionQuestion};
pub use record::{LastTurn, RunRecord};
pub use request::{InputAnswer, InputDecision, InputLine, InputRequest};
pub use stream_json::{StreamJson, StreamLines};
