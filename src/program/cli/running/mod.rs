//! Sessions that run, from other terminals: what they do, texts for them, answers, and a second screen.
//!
//! Each command talks to one session over its socket. Nothing here reads a journal or starts an agent, except `serve`,
//! which is a start without a screen.
//!
//! # Where things are
//!
//! - the flags: `args.rs`; which session is meant: `choose.rs`; tests: `sessions/outside_commands.rs`
//! - letting a session listen: `listen.rs`; tests: `tests/session/outside/place.rs`
//! - `status`: `status.rs`; `inject` with its receipt: `inject.rs`; `watch`: `watch.rs`; `cancel`, `approve`, `decline`:
//!   `steer.rs`; tests: `sessions/outside_commands.rs`
//! - a second screen: `attach.rs`; a session without one: `serve.rs`; tests: `tests/pty/outside.rs`

pub(super) mod args;
mod attach;
mod choose;
mod inject;
pub(super) mod listen;
mod serve;
mod status;
mod steer;
mod watch;

pub(super) use attach::run as attach;
pub(super) use inject::run as inject;
pub(super) use serve::run as serve;
pub(super) use status::run as status;
pub(super) use steer::{Decided, run_answer as answer, run_cancel as cancel};
pub(super) use watch::run as watch;
