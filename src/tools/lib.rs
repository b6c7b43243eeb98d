//! Tools: what the model can call. This file owns the seam: the trait, its context and its contract.
//!
//! What goes wrong because of the model (bad arguments, a missing file) is never an exception: it is an observation
//! that starts with `Error: ` (D14). Only [`ToolError::Cancelled`] passes through.
//!
//! # Where things are
//!
//! - `fetch`: a text word for word, under caps on bytes and time: `fetch.rs`, `src/tools/web/body.rs`; stories:
//!   `fetch.rs`
//! - `web_scrape`: the readable part of a page, PDF documents: `web_scrape.rs`, `src/tools/web/readable.rs`,
//!   `src/tools/web/parse.rs`; stories: `web_scrape.rs`
//! - `web_search`: the cascade of services, what is kept: `web_search.rs`, `src/tools/web/search/mod.rs`,
//!   `src/tools/web/search/cache.rs`; stories: `web_search.rs`
//! - tools that come and go while agents run: `source.rs`, `toolbox.rs`; stories: `mcp/lists.rs`
//! - what a tool says about itself, its parameters and the check of its arguments: `spec.rs`, `params.rs`; stories:
//!   `params.rs`
//! - tools whose arguments are a Rust type: `typed.rs`, `schema.rs`; stories: `typed_tools.rs`
//! - `read`, `grep`, `glob`, `calculator`: `read.rs`, `grep.rs`, `glob.rs`, `calculator/mod.rs`; stories:
//!   `read.rs`, `grep.rs`, `glob.rs`, `calculator.rs`
//! - `write` and `edit`: asked with the whole change, on what was read: `write.rs`, `edit.rs`, `change.rs`,
//!   `src/tools/workspace/seen.rs`; stories: `write.rs`, `edit.rs`
//! - files that are no ordinary text: `kind.rs`, `walk.rs`; stories: `odd_files.rs`
//! - `git_clone`: what git is told, what it may ask: `git_clone.rs`, `checkout.rs`; stories: `git_clone.rs`
//! - `plan`: the steps of an agent's work, shared with the user: `plan.rs`, `src/base/plan/mod.rs`, `src/base/control/plans.rs`;
//!   stories: `plan/told.rs`
//! - `bash`: what the model gets, what is shown live, what is kept: `bash.rs`, `command_run.rs`, `capture.rs`,
//!   `live.rs`, `outputs.rs`; stories: `bash.rs`, `output_bombs.rs`, `tests/bench/output.rs`
//! - commands in the background, and their tools: `jobs/mod.rs`; stories: `jobs.rs`

pub mod approval;
mod args;
mod bash;
mod blocking;
mod calculator;
mod capture;
mod change;
mod checkout;
mod command_run;
mod edit;
mod error;
mod fetch;
mod fn_tool;
mod git_clone;
mod glob;
mod grep;
mod images;
mod jobs;
mod kind;
pub mod lenient;
mod live;
mod outputs;
mod page;
mod params;
mod pdf;
mod plan;
mod read;
mod schema;
mod source;
mod spec;
mod terminal_text;
mod toolbox;
mod typed;
mod walk;
pub mod web;
mod web_scrape;
mod web_search;
pub mod workspace;
mod write;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::approval::{Approvals, Approved, Asker, Proposal, Taint, UseAct};
use crate::workspace::Spawner;
use crate::workspace::Workspace;
use steersman_base::control::Cancellable;
use steersman_base::details::Details;
use steersman_base::error::BuildError;
use steersman_base::event::CallFault;
use steersman_base::id::{AgentId, CallId};
use steersman_base::message::Arguments;
use steersman_base::plan::PlanChanged;

pub use args::Args;
pub use bash::BashTool;
pub use calculator::Calculator;
pub use capture::shorten;
pub use edit::EditTool;
pub use error::ToolError;
pub use fetch::FetchTool;
pub use fn_tool::FnTool;
pub use git_clone::{CloneBounds, GitCloneTool};
pub use glob::GlobTool;
pub use grep::GrepTool;
pub use images::ResultImages;
pub use jobs::{AgentJobs, JobNews, JobNote, Jobs, UserLine, job_tools};
pub use outputs::{Outputs, SavedOutput};
pub use params::{Choices, Parameters, ParametersBuilder};
pub use plan::{PLAN_TOOL, PlanTool};
pub use read::ReadTool;
pub use source::{ToolScope, ToolSource, WITHOUT};
pub use spec::ToolSpec;
pub use toolbox::{Additions, FoundTool, Toolbox, WeakAdditions};
pub use typed::typed;
pub use web_scrape::WebScrapeTool;
pub use web_search::WebSearchTool;
pub use write::WriteTool;

/// Makes the tools that read a workspace: `read`, `grep` and `glob`, in this order. The calculator needs no workspace.
pub fn file_tools(workspace: &Arc<Workspace>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ReadTool::new(Arc::clone(workspace))),
        Arc::new(GrepTool::new(Arc::clone(workspace))),
        Arc::new(GlobTool::new(Arc::clone(workspace))),
    ]
}

/// Makes the tools that reach the web: `web_search`, `web_scrape` and `fetch`, in this order. Without a spawner they
/// read no PDF documents.
///
/// # Errors
/// [`BuildError::Argument`] when a setting cannot be used.
pub fn web_tools(settings: &web::WebOptions, spawner: Option<&Spawner>) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
    let client = web::Client::new(settings).map_err(BuildError::argument)?;
    let search = web::search::Search::new(settings).map_err(BuildError::argument)?;
    Ok(vec![
        Arc::new(WebSearchTool::new(search)),
        Arc::new(WebScrapeTool::new(client.clone(), spawner.cloned())),
        Arc::new(FetchTool::new(client)),
    ])
}

/// Makes the tools that change a workspace: `write` and `edit`, in this order. They go by what the `read` of the same
/// workspace has shown.
pub fn change_tools(workspace: &Arc<Workspace>) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(WriteTool::new(Arc::clone(workspace))), Arc::new(EditTool::new(Arc::clone(workspace)))]
}

/// A tool. Instances are shared: a sub-agent gets the very instance that its parent has.
///
/// ```
/// use futures_util::future::BoxFuture;
/// use steersman_tools::{Args, Parameters, Tool, ToolContext, ToolError, ToolSpec};
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

    /// Returns the same tool bound to another workspace; `None` when it uses none.
    fn with_workspace(&self, workspace: &Arc<Workspace>) -> Option<Arc<dyn Tool>> {
        let _ = workspace;
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
        Concurrency::Alone
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
    Beside,
    /// It runs by itself, in order.
    Alone,
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
    pub jobs: AgentJobs,
}

/// One thing that a running call tells.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolReport {
    /// A piece of output, shown live.
    Progress(String),
    /// What a screen shows of the result; the last one counts.
    Details(Details),
    /// A question to the user, for the record.
    Approval(approval::ApprovalRecord),
    /// The call changed the plan of its agent.
    Plan(Box<PlanChanged>),
    /// An act of the call is not carried out.
    Refused(CallFault),
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
            jobs: AgentJobs::default(),
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
        self.approve(UseAct { tool: tool.into(), path: None, shown: what.to_owned() }).await.map(|_| ())
    }

    /// Resolves what a tool is to read, and asks for leave where a rule wants that.
    ///
    /// # Errors
    /// [`ToolError::Failed`] for a path outside the workspace, and with the refusal.
    async fn approve_reading(
        &self,
        workspace: &Arc<Workspace>,
        tool: &'static str,
        path: &str,
    ) -> Result<PathBuf, ToolError> {
        let (within, named) = (Arc::clone(workspace), path.to_owned());
        let path = blocking::run(self, move |_| within.resolve_read(&named).map_err(ToolError::Failed)).await?;
        self.approve(UseAct { tool: tool.into(), shown: workspace.display(&path), path: Some(path.clone()) }).await?;
        Ok(path)
    }

    /// Asks for leave to do this; waits for the user where that is needed.
    ///
    /// # Errors
    /// [`ToolError::Failed`] with the refusal, for the model.
    pub async fn approve<A: Proposal>(&self, act: A) -> Result<Approved<A>, ToolError> {
        let report = |record| (self.report)(ToolReport::Approval(record));
        self.approvals.decide(&self.asker, act, &report).await.map_err(|refusal| {
            (self.report)(ToolReport::Refused(refusal.fault));
            ToolError::Failed(refusal.words)
        })
    }
}
