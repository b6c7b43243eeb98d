//! The tool `write`: a file with its whole content (spec 2.14, faults F1 to F3).
//!
//! What is there already, byte for byte, is said before anybody is asked. What is written is what was approved, in one
//! step; a file that changed while the question was open is not touched.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::blocking;
use crate::change::{self, Proposal, Target};
use crate::workspace::Workspace;
use crate::workspace_in;
use steersman_base::limits;
use steersman_base::text::visible_line;
use steersman_core::tool::{Args, OnCancel, Parameters, Tool, ToolContext, ToolDirectory, ToolError, ToolSpec};

/// Creates and replaces files of a workspace.
pub struct WriteTool {
    workspace: Arc<Workspace>,
    spec: ToolSpec,
}

impl WriteTool {
    /// Makes the tool for a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        let parameters = Parameters::build(|p| {
            p.required_string("path", "The file, relative to the workspace. Missing directories are made.");
            p.required_string("content", "The whole content of the file.");
        });
        let description = format!(
            "Creates a file, or replaces all of its content; at most {} MiB. To change a part of a file use edit. The user \
             may be asked before a file is replaced.",
            limits::CHANGED_FILE_BYTES >> 20,
        );
        let spec = ToolSpec::new("write", description, parameters).on_cancel(OnCancel::Wait);
        Self { workspace, spec }
    }
}

impl Tool for WriteTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            let workspace = Arc::clone(&self.workspace);
            let proposal =
                blocking::run(context, move |_| propose(&workspace, args.str("path"), args.str("content"))).await?;
            let done = change::carry_out(&self.workspace, context, proposal).await?;
            let (shown, new) = (&done.operation.shown, done.operation.after.size());
            let what = match &done.operation.before {
                None => format!("created {shown}: {new} bytes"),
                Some(old) => format!("replaced {shown}: {} → {new} bytes", old.size()),
            };
            Ok(format!("{what}{}", done.note()))
        }
        .boxed()
    }

    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        Some(workspace_in(directory).map(|workspace| Arc::new(Self::new(workspace)) as _))
    }
}

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

fn propose(workspace: &Workspace, path: &str, content: &str) -> Result<Proposal, ToolError> {
    let target = Target::look(workspace, path)?;
    if workspace.is_through_link(path) {
        let text =
            format!("{} is a symbolic link, or lies behind one: name {} itself", visible_line(path), target.shown);
        return Err(ToolError::Failed(text));
    }
    match &target.held {
        Some(held) if *held.bytes == *content.as_bytes() => {
            workspace.note_seen(&target.path, content.as_bytes());
            return Err(ToolError::failed(format!("{} holds exactly this already", target.shown)));
        }
        Some(_) => {}
        None => {
            let name = target.path.strip_prefix(workspace.root()).unwrap_or(&target.path).to_string_lossy();
            if visible_line(&name) != name {
                let text = format!("{}: the name of a new file must not hold invisible characters", target.shown);
                return Err(ToolError::Failed(text));
            }
        }
    }
    // A byte order mark that a file has is none of what the model sees of it.
    let has_mark = |bytes: &[u8]| bytes.starts_with(MARK);
    let is_marked = target.held.as_ref().is_some_and(|held| has_mark(&held.bytes)) && !has_mark(content.as_bytes());
    let bytes = if is_marked { [MARK, content.as_bytes()].concat() } else { content.as_bytes().to_vec() };
    target.propose(workspace, "write", bytes)
}
