//! The tools, and what they work on: the workspace with its sandbox, and the web. Their interface is `src/core/tool/mod.rs`.
//!
//! # Where things are
//!
//! - `fetch`: a text word for word, under caps on bytes and time: `fetch.rs`, `src/tools/web/body.rs`; tests:
//!   `fetch.rs`
//! - `web_scrape`: the readable part of a page, PDF documents: `web_scrape.rs`, `src/tools/web/readable.rs`,
//!   `src/tools/web/parse.rs`; tests: `web_scrape.rs`
//! - `web_search`: the cascade of services, what is kept: `web_search.rs`, `src/tools/web/search/mod.rs`,
//!   `src/tools/web/search/cache.rs`; tests: `web_search.rs`
//! - `read`, `grep`, `glob`, `calculator`: `read.rs`, `grep.rs`, `glob.rs`, `calculator/mod.rs`; tests:
//!   `read.rs`, `grep.rs`, `glob.rs`, `calculator.rs`
//! - `write` and `edit`: asked with the whole change, on what was read: `write.rs`, `edit/mod.rs`, `change.rs`,
//!   `src/tools/workspace/files.rs`; tests: `write.rs`, `edit.rs`
//! - files that are no ordinary text: `kind.rs`, `walk.rs`; tests: `odd_files.rs`
//! - `git_clone`: what git is told, what it may ask: `git_clone.rs`, `checkout.rs`; tests: `git_clone/mod.rs`
//! - `plan`: the steps of an agent's work, shared with the user: `plan.rs`, `src/base/plan/mod.rs`, `src/core/control/plans.rs`;
//!   tests: `tests/agent/plan/told.rs`
//! - `ask_user`: what an agent asks the user, and what it is told: `ask_user.rs`; tests: `tests/session/agent_questions.rs`
//! - `bash`: what the model gets, what is shown live, what is kept: `bash.rs`, `command_run.rs`, `live.rs`,
//!   `src/core/tool/capture.rs`; tests: `bash.rs`, `output_bombs.rs`, `tests/bench/output.rs`
//! - commands in the background, and their tools: `jobs/mod.rs`; tests: `jobs/mod.rs`
//! - file work of a tool, off the async threads: `blocking.rs`
//! - how the text of a file is written down: in UTF-8, or in UTF-16 with a mark at its start: `encoding.rs`
//! - what `fetch` and `web_scrape` share: `page.rs`
//! - the text of a PDF document, by `pdftotext`: `pdf.rs`

mod ask_user;
mod bash;
mod blocking;
mod calculator;
mod change;
mod checkout;
mod command_run;
mod edit;
mod encoding;
mod fetch;
mod git_clone;
mod glob;
mod grep;
mod jobs;
mod kind;
mod live;
mod page;
mod pdf;
mod plan;
mod read;
mod walk;
pub mod web;
mod web_scrape;
mod web_search;
pub mod workspace;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::workspace::{Spawner, Workspace};
use steersman_base::error::BuildError;
use steersman_core::approval::UseOperation;
use steersman_core::tool::{Tool, ToolContext, ToolDirectory, ToolError};

pub use ask_user::{AnswerSender, AskBeside, AskUserTool, questions_of};
pub use bash::BashTool;
pub use calculator::Calculator;
pub use edit::EditTool;
pub use fetch::FetchTool;
pub use git_clone::{CloneBounds, GitCloneTool};
pub use glob::GlobTool;
pub use grep::GrepTool;
pub use jobs::{Jobs, UserLine, job_tools};
pub use plan::PlanTool;
pub use read::ReadTool;
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

/// Directories of programs that file tools may need; readable from the directory of every sub-agent.
const READABLE: [&str; 2] = ["/usr", "/opt"];

/// Returns the workspace that the tools of a sub-agent share in a directory of its own.
fn workspace_in(directory: &ToolDirectory) -> Result<Arc<Workspace>, String> {
    directory.shared(|path| {
        let readable = READABLE.iter().map(Path::new).filter(|path| path.is_dir());
        let workspace = Workspace::new(path).and_then(|workspace| workspace.temporary().with_readable(readable));
        workspace.map(Arc::new).map_err(|error| error.to_string())
    })
}

/// Resolves what a tool is to read, and asks for leave where a rule wants that.
///
/// # Errors
/// [`ToolError::Failed`] for a path outside the workspace, and with the refusal.
async fn approve_reading(
    context: &ToolContext,
    workspace: &Arc<Workspace>,
    tool: &'static str,
    path: &str,
) -> Result<PathBuf, ToolError> {
    let (within, named) = (Arc::clone(workspace), path.to_owned());
    let path = blocking::run(context, move |_| within.resolve_read(&named).map_err(ToolError::Failed)).await?;
    context
        .approve(UseOperation { tool: tool.into(), shown: workspace.display(&path), path: Some(path.clone()) })
        .await?;
    Ok(path)
}
