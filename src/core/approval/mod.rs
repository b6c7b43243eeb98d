//! Approvals: what a tool may do unasked, what the user is asked about, and what never runs.
//!
//! A tool puts what it is about to do into an [`Operation`], asks with it, and gets it back as [`Approved`], which nothing else
//! can make: what was decided about is what runs. Every rule lives in `policy`; who waits for an answer in `approvals`.
//!
//! # Where things are
//!
//! - rules that "yes, always" keeps: `kept.rs`, `src/program/cli/project/rules.rs`; tests: `tests/program/kept_rules.rs`,
//!   `tests/pty/approvals.rs`
//! - approvals: the desk, its questions and answers, the mode: `approvals/mod.rs`; tests:
//!   `tests/agent/approvals.rs`
//! - private data and strangers' text in one agent: `policy.rs`, `src/agent/batch.rs`; tests: `tests/agent/taint.rs`
//! - what runs unasked: modes, rules, grants, in which order: `policy.rs`, `rules.rs`, `grant.rs`, `address.rs`; tests:
//!   `rules/mod.rs`, `rules/patterns.rs`, `rules/addresses.rs`
//! - the patterns of rules: `pattern.rs`
//! - what a question to the user is, what can be answered, and what became of it: `request.rs`

mod address;
mod approvals;
mod grant;
mod kept;
mod pattern;
mod policy;
mod request;
mod rules;
mod shell;

pub use approvals::{Approvals, Approved, CallPermission, CallPermit, Proposal};
pub use grant::Grant;
pub use kept::{KeptRule, RuleReach, RuleStore};
pub use policy::{Answerer, Circumstances, HiddenFiles, MainWeb, NOBODY, Network, Policy, Taint, Verdict, only_reads};
pub use request::{AgentAnswer, ApprovalRecord, FormAnswer, PlainAnswer, PlanAnswer, Refusal, Unanswered};
pub use rules::{RuleError, Rules, right_form};
pub use shell::{Shape, outside_arguments, steers};
pub use steersman_base::mode::{Mode, ModeRefused, Sandboxed};
pub use steersman_base::protocol::{
    AgentQuestion, Answer, AnswerOption, ApprovalId, ApprovalRequest, ApprovalSubject, Asker, CloneOperation,
    CommandOperation, Content, CustomOperation, FetchOperation, FormField, InputOperation, OfferedRule, Operation,
    SearchOperation, ServerToolOperation, UseOperation, WriteOperation,
};
