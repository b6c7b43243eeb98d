//! Controls: handles through which a host signals into a running loop.
//!
//! The agent reads them at fixed boundaries; it never waits for one. They know the words, not each other.
//!
//! # Where things are
//!
//! - the pending queue: inject, peek, drain, withdraw, hold: `interloper/mod.rs`, `interloper/edits.rs`, `queue/mod.rs`;
//!   tests: `tests/agent/controls.rs`, `queue_model.rs`, `tests/agent/steering_trials.rs`, `tests/loom/main.rs`
//! - texts that waited too long are held and asked about: `queue/mod.rs`; tests: `tests/agent/staleness.rs`
//! - the rules of the user that hold: `rules.rs`; tests: `tests/agent/steering/rules.rs`
//! - the plans of the agents, and what each model knows of its own: `plans.rs`; tests: `tests/agent/plan/told.rs`
//! - pause and step: an agent that waits before its calls: `gate.rs`, `src/agent/pause.rs`; tests: `tests/agent/pause_gate.rs`
//! - stopping at once, with nothing left behind: `cancellable.rs`, `src/agent/reply.rs`; tests: `tests/agent/cancel.rs`,
//!   `tests/pty/stopping.rs`
//! - what fills the context windows, and requests about single results: `context.rs`; tests: `tests/tui/context_pane.rs`
//! - the budget of a session, children included: `budget.rs`, `src/agent/spending.rs`; tests: `tests/agent/budget.rs`
//! - the newest images of the conversations of a tree: `gallery.rs`

mod agent_controls;
mod agent_notes;
mod budget;
mod cancellable;
mod context;
mod gallery;
mod gate;
mod interloper;
mod plans;
mod queue;
mod rules;
mod step_limit;

pub use agent_controls::{AgentControls, Controls};
pub use agent_notes::{AgentNote, AgentNotes, ReportCause};
pub use budget::{Budget, BudgetStanding, ChargeOutcome, Spending};
pub use cancellable::Cancellable;
pub use context::ContextBook;
pub use gate::{PauseGate, PauseGuard};
pub use interloper::{Interloper, Modes, QueueMode, Staleness, Watcher, check_text};
pub use plans::{PlanUpdate, Plans, WrittenPlan};
pub use rules::{Rules, RulesMembership};
pub use steersman_base::protocol::{Decision, PausePlace, Shift};
pub use step_limit::{OnExhausted, StepLimit};
