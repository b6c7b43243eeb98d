//! What every part of Steersman speaks of: ids, messages, events, errors, the protocol between a session and its clients;
//! and what all need: text, limits, files that are read within bounds.
//!
//! Uses no other crate of the project.
//!
//! # Where things are
//!
//! - the texts that are built into the program: `assets.rs`
//! - the clock for waits and rules: `clock.rs`
//! - the data of a tool's result that a screen shows beyond the model's text: `details.rs`
//! - the dialects that model servers speak, with their names in settings: `dialect.rs`
//! - the errors of the library: `error.rs`
//! - faults that a test requests: a part of the program hangs, breaks down, or is killed: `fault.rs`
//! - newtypes for the ids of agents, messages, clients, jobs and tool calls: `id.rs`
//! - the manual: pages of Markdown by topic: `manual.rs`
//! - the approval modes: how much runs without a question: `mode.rs`
//! - the lock of a workspace: `names_lock.rs`
//! - paths by their names alone: `paths.rs`
//! - prices of tokens by model, and the cost of one round: `price.rs`
//! - bounded reading of regular files: `regular_file.rs`
//! - calls and results of tools in a few words for people, by name and arguments alone: `summary.rs`
//! - what threads share: the mutex around the queue: `sync.rs`

pub mod assets;
pub mod clock;
pub mod details;
pub mod dialect;
pub mod error;
pub mod event;
pub mod fault;
pub mod front_matter;
pub mod id;
pub mod image;
pub mod limits;
pub mod manual;
pub mod message;
pub mod mode;
#[cfg(unix)]
pub mod names_lock;
pub mod paths;
pub mod plan;
pub mod price;
pub mod protected;
pub mod protocol;
pub mod regular_file;
pub mod steering;
pub mod summary;
pub mod sync;
pub mod target;
pub mod text;
