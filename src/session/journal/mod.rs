//! The journal: one append-only file of JSON lines per session, the whole tree in it.
//!
//! A listener hands records to a thread of its own, which alone touches the file; neither the agent nor a screen waits
//! for it, but where something must be kept before it counts. A write that fails is told once, kept in memory and tried
//! again. Reading passes over what is damaged and counts it.
//!
//! # Where things are
//!
//! - what a line says: `record.rs`; texts that were written before, and secrets: `texts.rs`
//! - the thread, retries, what is missing: `writer.rs`; what hands it records: `recording.rs`; tests: `journal/writing.rs`
//! - the directory, names, rights, locks: `files.rs`; tests: `journal/files.rs`
//! - in which order sessions were used: `use_log.rs`; tests: `tests/program/sessions/uses.rs`
//! - what a list says of a session: `outline.rs`; tests: `tests/program/sessions/command.rs`
//! - what is known of all of them without reading them again: `index.rs`; tests: `journal/index.rs`
//! - back into a conversation and its transcript: `restore.rs`; tests: `tests/program/sessions/resume.rs`
//! - the sub-agents that can go on: `restore_agents.rs`; tests: `tests/program/sessions/continued.rs`
//! - the questions of the main agent that are asked again: `restore_questions.rs`; tests: `tests/session/agent_questions.rs`
//! - a session that another program wrote: `importing.rs`; tests: `tests/program/sessions/import.rs`
//! - the part of a session before one of its messages, for a branch: `branch.rs`; tests: `tests/tui/session_branch.rs`
//! - lines back into records, whatever happened to them: `reader.rs`, `lines.rs`; tests: `journal/damage.rs`

mod branch;
mod files;
mod importing;
mod index;
mod lines;
mod outline;
mod reader;
mod record;
mod recording;
mod restore;
mod restore_agents;
mod restore_questions;
mod texts;
mod use_log;
mod writer;

pub use branch::{before, carried_over, images_of};
pub use files::{OpenFile, SessionFile, SessionFiles, SessionId};
pub use importing::Import;
pub use index::{IndexedSession, SessionIndex};
pub use lines::{Lines, NextLine, ReadAt};
pub use outline::{Digest, LeftOpen, Outline, Preview, SessionState};
pub use reader::{Damage, Reading, Records, highest_text, read_records};
pub use record::{Header, Origin, Parent, Record, SCHEMA};
pub use recording::Journal;
pub use restore::{PreviousRun, restore, restore_left};
pub(super) use texts::written_out;
pub use writer::{Opening, Store};
