//! The interface of tools: the trait, its context and its contract.
//!
//! What goes wrong because of the model (bad arguments, a missing file) is never an exception: it is an observation
//! that starts with `Error: ` (D14). Only [`ToolError::Cancelled`] passes through.
//!
//! # Where things are
//!
//! - tools that come and go while agents run: `source.rs`, `toolbox.rs`; tests: `tests/extensions/mcp/lists.rs`
//! - what a tool says about itself, its parameters and the check of its arguments: `spec.rs`, `params.rs`; tests:
//!   `params.rs`
//! - tools whose arguments are a Rust type: `typed.rs`, `schema.rs`; tests: `tests/agent/typed_tools.rs`
//! - calls that are asked about first, around any tool: `with_approval.rs`; tests: `tests/session/library/parts.rs`
//! - what a command printed, for a model and on disk: `capture.rs`, `terminal_text.rs`, `outputs.rs`; tests: `tests/tools/output_bombs.rs`
//! - commands in the background, as the loop sees them: `jobs.rs`; the directory of a sub-agent: `directory.rs`
//! - arguments that passed the check: what a tool's `execute` reads: `args.rs`
//! - the error of a tool: what a call has in place of a result: `error.rs`
//! - a tool made of a closure: `fn_tool.rs`
//! - calls that return before what they wait for has ended: `release.rs`; tests: `tests/session/background_agents.rs`
//! - images that calls return beside their text: `images.rs`
//! - arguments as strict modes of servers and tags of models write them: `lenient.rs`

mod args;
pub mod capture;
mod directory;
mod error;
mod fn_tool;
mod images;
mod jobs;
pub mod lenient;
pub mod outputs;
mod params;
mod release;
mod schema;
mod source;
mod spec;
pub mod terminal_text;
mod toolbox;
mod typed;
mod with_approval;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::approval::{ApprovalRecord, Approvals, Approved, Asker, Proposal, Taint, UseOperation};
use crate::control::Cancellable;
use steersman_base::details::Details;
use steersman_base::event::CallFailure;
use steersman_base::id::{AgentId, CallId};
use steersman_base::message::Arguments;
use steersman_base::plan::PlanChanged;

pub use args::Args;
pub use capture::shorten;
pub use directory::ToolDirectory;
pub use error::ToolError;
pub use fn_tool::FnTool;
pub use images::ResultImages;
pub use jobs::{BackgroundJobs, JobNews, JobNote, NoJobs};
pub use outputs::{Outputs, SavedOutput};
pub use params::{Choices, Parameters, ParametersBuilder};
pub use release::{CallRelease, CallStage, ReleasedBy};
pub use source::{ToolScope, ToolSource, WITHOUT};
pub use spec::ToolSpec;
pub use toolbox::{Additions, FoundTool, Toolbox, WeakAdditions};
pub use typed::typed;
pub use with_approval::WithApproval;

/// The name of the tool that asks the user.
pub const ASK_TOOL: &str = "ask_user";

/// The name of the tool that changes the plan.
pub const PLAN_TOOL: &str = "plan";

/// A tool. Instances are shared: a sub-agent gets the very instance that its parent has.
///
/// ```
/// use futures_util::future::BoxFuture;
/// use steersman_core::tool::{Args, Parameters, Tool, ToolContext, ToolError, ToolSpec};
///
/// /// Counts the bytes of texts; it keeps what it says of itself.
/// struct Length(ToolSpec);
///
/// impl Length {
///     fn new() -> Self {
///         let parameters = Parameters::strings([("text", "What to measure.")]);
///         Self(ToolSpec::new("length", "Measures a text.", parameters))
///     }
/// }
///
/// impl Tool for Length {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///
///     fn execute<'a>(&'a self, args: Args, _: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
///         Box::pin(async move { Ok(args.str("text").len().to_string()) })
///     }
/// }
/// # assert_eq!(Length::new().spec().name, "length");
/// ```
pub trait Tool: Send + Sync {
    /// Returns what it is called, what it does and takes, and how its calls run.
    fn spec(&self) -> &ToolSpec;

    /// Does the work with arguments that passed [`Parameters::validate`].
    ///
    /// # Errors
    /// [`ToolError::Failed`] becomes an `Error: …` observation; [`ToolError::Cancelled`] ends the turn.
    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>>;

    /// Returns whether a call with these arguments may run at the same time as its neighbours of the same tool; what
    /// [`ToolSpec::concurrency`] says goes further, and counts for neighbours of other tools too.
    fn concurrency_of(&self, arguments: &Arguments, asker: &Asker, approvals: &Approvals) -> Concurrency {
        let _ = (arguments, asker, approvals);
        self.spec().concurrency
    }

    /// Returns the same tool bound to the directory of a sub-agent; `None` when it uses none.
    ///
    /// # Errors
    /// One sentence when nothing can work there.
    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        let _ = directory;
        None
    }

    /// Returns a new list for the commands that it starts in the background, for an agent that was given none; `None` when
    /// it starts no command.
    fn background_jobs(&self) -> Option<Arc<dyn BackgroundJobs>> {
        None
    }
}

impl dyn Tool {
    /// Returns the name that the model calls it by.
    pub fn name(&self) -> &str {
        &self.spec().name
    }
}

/// A tool that brings its own schema and takes arguments unchecked (the seed's raw tool).
///
/// Added by `Agent::internal_add_tool`, by a [`ToolSource`], and within a turn by [`ToolContext::additions`]; no sub-agent
/// gets one of its parent's.
pub trait RawTool: Send + Sync {
    /// Returns the name that the model calls it by.
    fn name(&self) -> &str;

    /// Returns what it does, for the model.
    fn description(&self) -> &str;

    /// Returns the JSON Schema of its arguments.
    fn schema(&self) -> Value;

    /// Does the work.
    ///
    /// # Errors
    /// As [`Tool::execute`].
    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<String, ToolError>>;

    /// As [`ToolSpec::concurrency`].
    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    /// As [`ToolSpec::traits`].
    fn traits(&self) -> Traits {
        Traits::NONE
    }

    /// As [`ToolSpec::on_cancel`].
    fn on_cancel(&self) -> OnCancel {
        OnCancel::Drop
    }
}

/// What the calls of a tool bring and send. An agent that got private data and untrusted content is asked about
/// before it sends anything more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traits {
    /// Its results hold the user's files, or what a command said about them. Not so in a temporary workspace.
    pub private: bool,
    /// Its results hold text that strangers wrote.
    pub untrusted: bool,
    /// It can send something out of this machine.
    pub egress: bool,
}

impl Traits {
    /// Brings and sends nothing.
    pub const NONE: Self = Self { private: false, untrusted: false, egress: false };

    /// Returns what both bring and send.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            private: self.private || other.private,
            untrusted: self.untrusted || other.untrusted,
            egress: self.egress || other.egress,
        }
    }

    /// Tells whether private data can be sent on behalf of a stranger.
    pub fn is_everything(self) -> bool {
        self.private && self.untrusted && self.egress
    }

    /// Returns what an agent holds after a call.
    pub fn taint(self) -> Taint {
        Taint { private: self.private, untrusted: self.untrusted }
    }
}

/// Whether a tool may run beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// Neighbouring calls of this kind run at the same time.
    Parallel,
    /// It runs by itself, in order.
    Exclusive,
}

/// What a cancel does to a running call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCancel {
    /// The call is dropped at once.
    Drop,
    /// The call sees the flag itself and ends within a moment (an atomic write; a sub-agent).
    Wait,
}

/// What a running call can use.
#[derive(Clone)]
pub struct ToolContext {
    /// The agent and its call.
    pub asker: Asker,
    /// The cancel flag of the tree.
    pub cancellable: Cancellable,
    /// Decides what may be done.
    pub approvals: Arc<Approvals>,
    /// Takes what there is to tell of the running call, in order.
    pub report: Arc<dyn Fn(ToolReport) + Send + Sync>,
    /// Takes tools that the call brings, as one does that connects to something: they are on offer from the next request.
    pub additions: Additions,
    /// Takes images that belong to the result.
    pub images: ResultImages,
    /// The commands in the background.
    pub jobs: Arc<dyn BackgroundJobs>,
    /// The agent that spawned this one.
    pub parent: Option<AgentId>,
    /// How the call is released before its end.
    pub release: CallRelease,
    /// Takes what becomes of a question that is open longer than the call, for the record.
    pub late_report: LateReport,
}

/// Takes what becomes of a question that is open longer than the call which asked it.
pub type LateReport = Arc<dyn Fn(ApprovalRecord) + Send + Sync>;

/// One thing that a running call tells.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolReport {
    /// A piece of output, shown live.
    Progress(String),
    /// What a screen shows of the result; the last one counts.
    Details(Details),
    /// A question to the user, for the record.
    Approval(ApprovalRecord),
    /// The call changed the plan of its agent.
    Plan(Box<PlanChanged>),
    /// An operation of the call is not carried out.
    Refused(CallFailure),
}

impl ToolContext {
    /// Makes a context that belongs to no agent, for a tool called by itself. Nobody is there to approve anything.
    pub fn detached() -> Self {
        Self::with_approvals(Arc::default())
    }

    /// Makes a context that belongs to no agent, with somebody who approves.
    pub fn with_approvals(approvals: Arc<Approvals>) -> Self {
        let asker = Asker { agent: AgentId::main(), call: CallId::new("detached") };
        let additions = Additions::default();
        Self {
            asker,
            cancellable: Cancellable::new(),
            approvals,
            report: Arc::new(|_| {}),
            additions,
            images: ResultImages::default(),
            jobs: Arc::new(NoJobs),
            parent: None,
            release: CallRelease::default(),
            late_report: Arc::new(|_| {}),
        }
    }

    /// Shows a piece of output live.
    pub fn progress(&self, text: impl Into<String>) {
        (self.report)(ToolReport::Progress(text.into()));
    }

    /// Says what a screen shows of the result.
    pub fn details(&self, details: Details) {
        (self.report)(ToolReport::Details(details));
    }

    /// Asks for leave to use a tool that changes and sends nothing, where a rule wants that; `what` is what it gets.
    ///
    /// # Errors
    /// [`ToolError::Failed`] with the refusal.
    pub async fn approve_use(&self, tool: &'static str, what: &str) -> Result<(), ToolError> {
        self.approve(UseOperation { tool: tool.into(), path: None, shown: what.to_owned() }).await.map(|_| ())
    }

    /// Asks for leave to do this; waits for the user where that is needed.
    ///
    /// # Errors
    /// [`ToolError::Failed`] with the refusal, for the model.
    pub async fn approve<A: Proposal>(&self, operation: A) -> Result<Approved<A>, ToolError> {
        let report = |record| (self.report)(ToolReport::Approval(record));
        self.approvals.decide(&self.asker, operation, &report).await.map_err(|refusal| {
            (self.report)(ToolReport::Refused(refusal.fault));
            ToolError::Failed(refusal.words)
        })
    }
}
