//! Hooks: commands of the user, or of a project that the user trusts, that run at points of the agent's loop.
//!
//! The files are those of Claude Code (`hooks` in `settings.json`) and of codex (`hooks.json`, `[hooks]`), read as they are.
//! Sources of the format: the hooks reference of Claude Code (code.claude.com/docs/en/hooks) and of codex
//! (developers.openai.com/codex/hooks; `codex-rs/hooks/src` of openai/codex for matchers and outputs).
//! Always holds: a hook runs only while it is exactly what was trusted; it runs in the sandbox unless the user's
//! own file says otherwise, outside of every lock; a failing hook changes nothing but is reported; what may be a hook before
//! calls and cannot be read stops them.
//!
//! # Where things are
//!
//! - the files, what of them is not run and why: `file.rs`, `matcher.rs`, `condition.rs`; tests: `hooks/files.rs`
//! - hooks before calls that cannot be read: `broken.rs`, `src/program/cli/hooks/broken.rs`; tests: `tests/program/hooks/broken.rs`
//! - what a hook gets and what it answers: `input.rs`, `tool_names.rs`, `answer.rs`, `output.rs`; tests: `hooks/answers.rs`
//! - a run: time, output, its end: `run.rs`; tests: `tests/program/hooks/runs.rs`
//! - what was trusted, and that only this runs: `content.rs`, `src/tools/workspace/private_copy.rs`,
//!   `src/program/cli/hooks`; tests: `tests/program/hooks/trust.rs`,
//!   `tests/program/outside.rs`
//! - the points of the loop: `engine.rs`, `src/agent/hooks.rs`; tests: `hooks/points.rs`
//! - those that nobody waits for: `background.rs`; tests: `tests/program/hooks/background.rs`

mod answer;
mod background;
mod broken;
mod condition;
mod content;
mod engine;
mod file;
mod input;
mod matcher;
mod output;
mod run;
mod tool_names;

pub use answer::{HookReply, read_output};
pub use broken::{BrokenGuard, GuardedHooks};
pub use condition::HookCondition;
pub use content::{HookPin, HookPlaces, scripts};
pub use engine::{HookSession, HookTrust, Hooks, TrustedHook};
pub use file::{Hook, HookFile, HookWaiting, read_json, read_value};
pub use input::permission_mode;
pub use matcher::Matcher;
pub use run::{HookRunner, RunEnd};
pub use tool_names::{names_of_tool, their_name, to_theirs};
