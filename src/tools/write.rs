//! The tool `write`: a file with its whole content.
//!
//! What is there already, byte for byte, is said before anybody is asked. What is written is what was approved, in one
//! step; a file that changed while the question was open is not touched.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::blocking;
use crate::change::{self, Proposal, Target};
use crate::encoding::{MARK, TextEncoding, is_crlf, text_of};
use crate::kind;
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
            let (proposal, kept) =
                blocking::run(context, move |_| propose(&workspace, args.str("path"), args.str("content"))).await?;
            let done = change::carry_out(&self.workspace, context, proposal).await?;
            let (shown, new) = (&done.operation.shown, done.operation.after.size());
            let what = match &done.operation.before {
                None => format!("created {shown}: {new} bytes"),
                Some(old) => format!("replaced {shown}: {} → {new} bytes", old.size()),
            };
            Ok(format!("{what}{kept}{}", done.note()))
        }
        .boxed()
    }

    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        Some(workspace_in(directory).map(|workspace| Arc::new(Self::new(workspace)) as _))
    }
}

fn propose(workspace: &Workspace, path: &str, content: &str) -> Result<(Proposal, String), ToolError> {
    let target = Target::look(workspace, path)?;
    if workspace.is_through_link(path) {
        let text =
            format!("{} is a symbolic link, or lies behind one: name {} itself", visible_line(path), target.shown);
        return Err(ToolError::Failed(text));
    }
    let (bytes, kept) = match &target.held {
        Some(held) => as_held(&target.shown, &held.bytes, content)?,
        None => (content.as_bytes().to_vec(), String::new()),
    };
    match &target.held {
        Some(held) if *held.bytes == *bytes => {
            workspace.note_seen(&target.path, &bytes);
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
    Ok((target.propose(workspace, "write", bytes)?, kept))
}

/// Returns a new content as the file has its old one: in its encoding, with its mark, with CRLF where all its lines end so;
/// and what is said of that.
fn as_held(shown: &str, held: &[u8], content: &str) -> Result<(Vec<u8>, String), ToolError> {
    let encoding = TextEncoding::detect(held);
    let sample = held.get(..kind::SAMPLE_BYTES).unwrap_or(held);
    let kind = if encoding == TextEncoding::Utf8 { kind::not_text(sample) } else { None };
    let is_text = kind.is_none();
    if let Some(kind) = kind.filter(|kind| kind.is_text()) {
        return Err(ToolError::failed(format!(
            "{shown} is {}, and would be UTF-8: convert it first, such as with iconv, or remove it",
            kind.name()
        )));
    }
    if is_text && encoding == TextEncoding::Utf8 && !content.is_ascii() && std::str::from_utf8(held).is_err() {
        return Err(ToolError::failed(format!(
            "{shown} is not UTF-8, and would be: convert it first, such as with iconv, or remove it"
        )));
    }
    let old = text_of(held);
    let mut text = content.to_owned();
    let mut kept = String::new();
    if is_text && is_crlf(&old) && text.contains('\n') && !text.contains("\r\n") {
        text = text.replace('\n', "\r\n");
        kept.push_str("\n[its lines end in CRLF, as before]");
    }
    // A byte order mark that a file has is none of what the model sees of it.
    if old.starts_with(MARK.as_bytes()) && !text.starts_with(MARK) {
        text.insert_str(0, MARK);
    }
    if encoding != TextEncoding::Utf8 {
        kept.push_str("\n[it is UTF-16, as before]");
    }
    Ok((encoding.encode(text.into_bytes()), kept))
}
